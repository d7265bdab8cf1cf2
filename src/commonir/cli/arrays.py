"""Reads command-line inputs as arrays, and shows and saves arrays. Imports numpy, so use it through `Session.arrays`.

Inputs are `NAME=@file.npy`, `NAME=@file.npz:KEY`, `@file.npz` (all arrays in it, by name), the same with
`.safetensors`, `NAME=@file.json`, `@file.json` (all inputs, by name), JSON, `NAME=@image.png`,
`NAME=TYPE[SHAPE]:GENERATOR`, and a number, `true` or `false` for a scalar. Python objects in numpy files are refused;
shapes are checked before anything is allocated.
"""

from __future__ import annotations

import json
import math
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from tokenize import TokenError
from typing import IO, cast

import numpy as np
from numpy.typing import NDArray

from commonir.base import codes, file_codes
from commonir.base.arrays import dtype_of, name_of
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.base.files import atomic_file, unread_file
from commonir.base.images import READ
from commonir.base.lazy import lazy_pattern
from commonir.base.limits import DEFAULT_LIMITS, Limits
from commonir.base.safe_paths import open_regular
from commonir.base.suggestions import did_you_mean
from commonir.base.text import escape
from commonir.base.tuples import NamedTuple
from commonir.reports import Report

Array = NDArray[np.generic]
Arrays = dict[str, Array]

INPUTS = "inputs/"
"""The prefix of the names of inputs in an archive that also has values of the run."""

_SAFETENSORS = ".safetensors"
_ARCHIVES = (".npz", _SAFETENSORS)
_IMAGE = lazy_pattern(rf"(?P<path>.*(?:{'|'.join(map(re.escape, READ))}))(?::(?P<form>.*))?", re.IGNORECASE | re.DOTALL)
_JSON = ".json"
_FILES = (".npy", *_ARCHIVES, _JSON)
_JSON_STARTS = ("[", "{", '"')

_SYNTAX = (
    "write `NAME=@file.npy`, `@file.npz`, `NAME=@file.json`, a type and a generator: `NAME=f32[1,3,8,8]:randn`, or its "
    "value: `NAME=3`, `NAME=true`, `NAME=[1, 2]`"
)
_SCALAR = lazy_pattern(r"true|false|[+-]?(?:inf|nan|0x[0-9A-Fa-f]+|[0-9.][0-9.eE+-]*j?)")

# Other spellings of the element types' names.
_ALIASES = {
    "bool": "i1",
    "float16": "f16",
    "fp16": "f16",
    "float32": "f32",
    "fp32": "f32",
    "float64": "f64",
    "fp64": "f64",
    "bfloat16": "bf16",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "uint8": "ui8",
    "uint16": "ui16",
    "uint32": "ui32",
    "uint64": "ui64",
    "u8": "ui8",
    "u16": "ui16",
    "u32": "ui32",
    "u64": "ui64",
}
_FLOATS = ("bf16", "f16", "f32", "f64")
_TYPES = ("i1", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64", "bf16", "f16", "f32", "f64")


# -- inputs


ReadImage = Callable[[str, str, str], Array]
"""Reads the image for an input by the name of the input, the path of the file and its form."""

ReadScalar = Callable[[str, str], Array]
"""Reads a number or bool for an input by the name of the input and the text."""

ReadJson = Callable[[str | None, str | bytes], Arrays]
"""Reads an input by its name from JSON, or all inputs if there is no name."""


class InputReaders(NamedTuple):
    """Readers of inputs whose declared types they need; without one, such inputs are refused."""

    image: ReadImage | None = None
    scalar: ReadScalar | None = None
    json: ReadJson | None = None


def parse_inputs(
    texts: Sequence[str],
    *,
    seed: int,
    limits: Limits = DEFAULT_LIMITS,
    readers: InputReaders = InputReaders(),  # noqa: B008  immutable
) -> Arrays:
    """Returns the values of command-line inputs by name.

    Random values depend on the seed and the input's name, not on the order of inputs.

    Raises: WRONG_INPUT_ARGUMENT, FILE_NOT_FOUND, FILE_NOT_ACCESSIBLE, CODE_REFUSED, LIMIT_EXCEEDED; all inputs at once.
    """
    out: Arrays = {}
    diagnostics = Diagnostics()
    for text in texts:
        try:
            arrays = _parse_input(text, seed, limits, readers)
        except DiagnosticError as error:
            diagnostics.extend(error.diagnostics)
            continue
        for name in arrays.keys() & out.keys():
            diagnostics.add(codes.WRONG_INPUT_ARGUMENT, f"input '{escape(name)}' is given twice")
        out |= arrays
    diagnostics.raise_errors()
    return out


def _parse_input(text: str, seed: int, limits: Limits, readers: InputReaders) -> Arrays:
    if text.startswith("@"):
        path = text[1:]
        if path.lower().endswith(_JSON):
            return _read_json(path, None, text, limits, readers)
        if not path.lower().endswith(_ARCHIVES):
            raise _refusal(text, "a file without NAME= must be an .npz or .safetensors archive, or a .json file")
        arrays = read_archive(path, None, limits)
        # An archive with expected outputs has the inputs under names of their own.
        inputs = {n.removeprefix(INPUTS): array for n, array in arrays.items() if n.startswith(INPUTS)}
        return inputs or arrays
    name, equals, value = text.partition("=")
    if not equals or not name:
        if _is_file_name(text):
            return _parse_input(f"@{text}", seed, limits, readers)
        raise _refusal(text, "NAME= is missing")
    if _is_file_name(value):
        # Only a file has such a name: the `@` was forgotten.
        value = f"@{value}"
    if readers.scalar is not None and _SCALAR.fullmatch(value):
        return {name: readers.scalar(name, value)}
    if readers.json is not None and value.startswith(_JSON_STARTS):
        return readers.json(name, value)
    if not value.startswith("@"):
        return {name: _generate(name, value, text, seed, limits)}
    path, key = _split_key(value[1:])
    photo = _IMAGE.fullmatch(path)
    if photo is not None:
        if readers.image is None:
            raise _refusal(text, "this command does not take images")
        return {name: readers.image(name, photo["path"], photo["form"] or "")}
    if path.lower().endswith(_JSON):
        return _read_json(path, name, text, limits, readers)
    if not path.lower().endswith(_ARCHIVES):
        return {name: _read_array_file(path)}
    arrays = read_archive(path, key, limits)
    if len(arrays) != 1:
        names = ", ".join(f"'{escape(known)}'" for known in arrays)
        raise _refusal(text, f"the archive has {len(arrays)} arrays ({names}): add `:KEY`")
    return {name: next(iter(arrays.values()))}


def _is_file_name(text: str) -> bool:
    path, _ = _split_key(text)
    return not text.startswith(("@", *_JSON_STARTS)) and (
        path.lower().endswith(_FILES) or _IMAGE.fullmatch(path) is not None
    )


def _read_json(path: str, name: str | None, text: str, limits: Limits, readers: InputReaders) -> Arrays:
    if readers.json is None:
        raise _refusal(text, "this command does not take JSON")
    try:
        with open_regular(path) as stream:
            content = stream.read(limits.max_text_bytes + 1)
    except OSError as error:
        raise system_error(path, error) from error
    if len(content) > limits.max_text_bytes:
        message = f"the file has more than {limits.max_text_bytes:,} bytes"
        raise DiagnosticError(Diagnostic(file_codes.LIMIT_EXCEEDED, message, file=path))
    try:
        return readers.json(name, content)
    except DiagnosticError as error:
        raise DiagnosticError(*[d.located(file=path) for d in error.diagnostics]) from None


def _split_key(value: str) -> tuple[str, str | None]:
    path, colon, key = value.rpartition(":")
    return (path, key) if colon and path.lower().endswith(_ARCHIVES) else (value, None)


def _refusal(text: str, reason: str, help: str = _SYNTAX) -> DiagnosticError:
    return DiagnosticError(
        Diagnostic(codes.WRONG_INPUT_ARGUMENT, f"cannot read the input '{escape(text)}': {reason}", help=help)
    )


# -- generated values

# Dims and counts with more digits are beyond every limit.
_DIM = r"[0-9]{1,20}"
_SHAPE = rf"\s*(?:{_DIM}\s*(?:,\s*{_DIM}\s*)*,?\s*)?"
_USUAL_GENERATOR = "randn"
_GENERATED = lazy_pattern(
    rf"(?P<type>\w+)(?:\[(?P<shape>{_SHAPE})\])?:(?P<generator>[^()]*)(?:\((?P<arguments>[^()]*)\))?"
)


def _generate(name: str, value: str, text: str, seed: int, limits: Limits) -> Array:
    match = _GENERATED.fullmatch(value)
    if not match:
        # Floats without a generator are drawn; integers may be positions, which have to be chosen.
        drawn = _GENERATED.fullmatch(f"{value}:{_USUAL_GENERATOR}")
        is_float = drawn is not None and _ALIASES.get(drawn["type"].lower(), drawn["type"]) in _FLOATS
        match = drawn if is_float else None
    if not match:
        raise _refusal(text, f"'{escape(value)}' is neither `@FILE` nor `TYPE[SHAPE]:GENERATOR` nor a number")
    spelt = match["type"]
    element = _ALIASES.get(spelt.lower(), spelt)
    if element not in _TYPES:
        raise _refusal(
            text, f"unknown type '{spelt}'", did_you_mean(spelt, [*_TYPES, *_ALIASES]) or "types: " + ", ".join(_TYPES)
        )
    shape = tuple(int(part) for part in (match["shape"] or "").split(",") if part.strip())
    dtype = dtype_of(element)
    if len(shape) > limits.max_rank or math.prod(shape) * dtype.itemsize > limits.max_tensor_bytes:
        message = f"input '{escape(name)}' of shape {list(shape)} is larger than {limits.max_tensor_bytes:,} bytes"
        raise DiagnosticError(Diagnostic(file_codes.LIMIT_EXCEEDED, message))
    generator = np.random.default_rng([seed, *name.encode("utf-8", "replace")])
    name_of_generator, arguments = match["generator"].strip(), match["arguments"]
    try:
        return _converted(_values(name_of_generator, arguments, shape, generator), dtype)
    except (ValueError, OverflowError) as error:
        raise _refusal(text, str(error)) from error


def _converted(values: Array, dtype: np.dtype[np.generic]) -> Array:
    """Returns values in an element type: truncated for integers, rounded for floats.

    Raises: ValueError if a value is out of range.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        result = values.astype(dtype)
    # Integers that double precision cannot represent are rounded equally on both sides.
    back, expected = result.astype(np.float64), values.astype(np.float64)
    if dtype.kind in "iu":
        expected = np.trunc(expected)
        lost = back != expected
    else:
        lost = np.isfinite(back) != np.isfinite(expected)
    if dtype.kind != "b" and lost.any():
        raise ValueError(f"{expected[lost].flat[0]:g} is not a value of type {name_of(dtype)}")
    return result


def _values(name: str, arguments: str | None, shape: tuple[int, ...], generator: np.random.Generator) -> Array:
    plain: dict[str, Callable[[], Array]] = {
        "randn": lambda: np.asarray(generator.standard_normal(shape)),
        "rand": lambda: np.asarray(generator.random(shape)),
        "zeros": lambda: np.zeros(shape),
        "ones": lambda: np.ones(shape),
        "iota": lambda: np.arange(math.prod(shape)).reshape(shape),
        "true": lambda: np.ones(shape),
        "false": lambda: np.zeros(shape),
    }
    if name == "randint":
        bounds = (arguments or "").split(",")
        if len(bounds) != 2:
            raise ValueError("give both bounds: `randint(0,100)`; the upper one is not included")
        return np.asarray(generator.integers(int(bounds[0]), int(bounds[1]), shape))
    if arguments is not None:
        raise ValueError(f"'{escape(name)}' takes no arguments")
    if name in plain:
        return plain[name]()
    try:
        number = int(name) if name.lstrip("+-").isdecimal() else float(name)
    except ValueError:
        near = did_you_mean(name, [*plain, "randint"])
        known = "the generators are " + ", ".join(plain) + ", randint(low,high) and numbers"
        raise ValueError(f"unknown generator '{escape(name)}'; {near or known}") from None
    return np.full(shape, number)


# -- files

_NUMPY_MAGIC = b"\x93NUMPY"
UNREADABLE = (
    ValueError,
    EOFError,
    KeyError,
    zipfile.BadZipFile,
    zlib.error,
    NotImplementedError,
    RuntimeError,
    MemoryError,
    TypeError,
    OverflowError,
    # numpy reads a header as an expression of Python.
    SyntaxError,
    TokenError,
)


def _read_array_file(path: str) -> Array:
    """Maps an .npy file; pages are read on first use."""
    try:
        with open_regular(path) as stream:
            _check_magic(stream)
        # numpy multiplies the dims of a header without overflow checks, then finds that the file is too short.
        with np.errstate(over="ignore"):
            result: Array = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as error:
        raise system_error(path, error) from error
    except UNREADABLE as error:
        raise bad_file(path, str(error)) from error
    return result


def read_archive(path: str, key: str | None, limits: Limits) -> Arrays:
    """Returns the arrays of an archive by name, or the one of a name. Raises: as `parse_inputs`."""
    if path.lower().endswith(_SAFETENSORS):
        return _read_safetensors(path, key, limits)
    try:
        with open_regular(path) as stream, zipfile.ZipFile(stream) as archive:
            members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
            if key is not None and key not in members:
                help = did_you_mean(key, members)
                raise bad_file(path, f"it has no array '{escape(key)}'", help)
            expected = members if key is None else {key: members[key]}
            total = sum(info.file_size for info in expected.values())
            if total > limits.max_tensor_bytes:
                message = f"the arrays unpack to {total:,} bytes; the limit is {limits.max_tensor_bytes:,}"
                raise DiagnosticError(Diagnostic(file_codes.LIMIT_EXCEEDED, message, file=path))
            return {name: _read_member(archive, info) for name, info in expected.items()}
    except OSError as error:
        raise system_error(path, error) from error
    except UNREADABLE as error:
        raise bad_file(path, str(error)) from error


def _read_safetensors(path: str, key: str | None, limits: Limits) -> Arrays:
    from commonir.base.safetensors import read_safetensors  # noqa: PLC0415  runs start without it

    try:
        result = read_safetensors(path, limits)
    except OSError as error:
        raise system_error(path, error) from error
    except ValueError as error:
        raise bad_file(path, str(error)) from error
    if key is None:
        return result
    if key not in result:
        raise bad_file(path, f"it has no array '{escape(key)}'", did_you_mean(key, result))
    return {key: result[key]}


# The compressions that numpy writes. Damaged files with others fail with other exceptions.
_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def _read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Array:
    if info.compress_type not in _COMPRESSIONS:
        raise ValueError(f"'{info.filename}' is compressed in a way that numpy does not write")
    with archive.open(info) as stream:
        _check_magic(stream)
    with archive.open(info) as stream:
        # A header that declares more data than the member has is an error before the memory is touched.
        result: Array = np.load(stream, allow_pickle=False)
    return result


def _check_magic(stream: IO[bytes]) -> None:
    """Raises: ValueError if a stream is not an array. numpy would read it as a pickle or an archive."""
    if stream.read(len(_NUMPY_MAGIC)) != _NUMPY_MAGIC:
        raise ValueError("it is not a numpy array")


def bad_file(path: str, reason: str, help: str | None = None) -> DiagnosticError:
    """Returns the error of a file that has no arrays."""
    if "allow_pickle" in reason or "Python objects" in reason:
        message = "the file contains Python objects, which run code when they are read"
        help = "save the arrays without objects: `numpy.save(path, array, allow_pickle=False)`"
        return DiagnosticError(Diagnostic(file_codes.CODE_REFUSED, message, file=path, help=help))
    message = f"cannot read arrays from the file: {escape(reason)}"
    return DiagnosticError(Diagnostic(codes.WRONG_INPUT_ARGUMENT, message, file=path, help=help))


def system_error(path: str, error: OSError) -> DiagnosticError:
    """Returns the error of a file of inputs that cannot be read."""
    return unread_file(path, error, "an input")


# -- outputs

_SHOWN_VALUES = 6


class ArraySummary(Report):
    """An array in one line. Statistics are over finite elements, in double precision; None if there are none."""

    name: str
    type: str
    shape: tuple[int, ...]
    min: float | None
    max: float | None
    mean: float | None
    nan_count: int
    inf_count: int
    first: tuple[float | int | bool | str, ...]


def summarize_array(name: str, array: Array) -> ArraySummary:
    """Summarizes an array."""
    first = tuple(_python_value(value) for value in array.reshape(-1)[:_SHOWN_VALUES])
    low = high = mean = None
    nan_count = inf_count = 0
    if array.dtype.kind not in "OUSc":
        wide = array.astype(np.float64)
        nan_count, inf_count = int(np.count_nonzero(np.isnan(wide))), int(np.count_nonzero(np.isinf(wide)))
        finite = wide[np.isfinite(wide)]
        if finite.size:
            low, high, mean = float(finite.min()), float(finite.max()), float(finite.mean())
    return ArraySummary(name, type_text(array), array.shape, low, high, mean, nan_count, inf_count, first)


def type_text(array: Array) -> str:
    """Returns the type of an array in the syntax of inputs: `f32[1,10]`."""
    return f"{name_of(array.dtype)}[{','.join(str(dim) for dim in array.shape)}]"


def save_arrays(path: str, arrays: Mapping[str, Array] | Iterable[tuple[str, Array]]) -> tuple[str, ...]:
    """Writes arrays to an .npz or .safetensors archive atomically; returns the names of widened arrays. An .npz archive
    is written one array after another.

    numpy's format cannot name the types of ml_dtypes. They are widened to f32, which is exact.

    Raises: CANNOT_WRITE, DISK_FULL, OUTPUT_IN_THE_WAY.
    """
    pairs = cast("Iterable[tuple[str, Array]]", arrays.items() if isinstance(arrays, Mapping) else arrays)
    if path.lower().endswith(_SAFETENSORS):
        from commonir.base.safetensors import write_safetensors  # noqa: PLC0415  as above

        try:
            with atomic_file(path) as stream:
                write_safetensors(stream, dict(pairs))
        except ValueError as error:
            help = "an .npz archive has more types"
            raise DiagnosticError(Diagnostic(codes.CANNOT_WRITE, str(error), file=path, help=help)) from None
        return ()
    widened: list[str] = []
    with atomic_file(path) as stream, zipfile.ZipFile(stream, "w") as archive:
        for name, array in pairs:
            stored = storable(array)
            if array.dtype.kind == "V":
                widened.append(name)
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.save(member, stored, allow_pickle=False)
    return tuple(widened)


def storable(array: Array) -> Array:
    """Returns an array of a type that numpy's format has: strings of fixed width, f32 for narrower floats."""
    match array.dtype.kind:
        case "V":
            return array.astype(np.float32)
        case "O":
            return array.astype(np.str_)
        case _:
            return array


def save_json(path: str, values: Mapping[str, object]) -> None:
    """Writes JSON values to a file atomically, each on a line. Raises: CANNOT_WRITE, DISK_FULL, OUTPUT_IN_THE_WAY."""
    lines = [f" {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}" for name, value in values.items()]
    with atomic_file(path) as stream:
        stream.write(("{\n" + ",\n".join(lines) + "\n}\n").encode())


def _python_value(value: np.generic | str) -> float | int | bool | str:
    match value:
        case str():
            return value
        case np.bool_():
            return bool(value)
        case np.integer():
            return int(value)
        case np.complexfloating():
            return str(value)
        case _:
            return float(value)
