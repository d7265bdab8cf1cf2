"""Reads and writes results of runs: arrays by name, with the inputs they are computed from, of one or several runs.

| file | content |
|-|-|
| `.npz`, `.safetensors` | values and outputs by name, inputs as `inputs/NAME`; of several runs, after `setN/` |
| `.json` | what polygraphy saves of inputs or of outputs, of several runs too; read are also nested arrays by name |

Imports numpy, so use it through `Session.stored`. Arrays of polygraphy are numpy's own format in base64; objects in it,
which would run code, are refused.
"""

from __future__ import annotations

import base64
import binascii
import io
import json
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from commonir.base import codes, strict_json
from commonir.base.arrays import array_of_texts
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.files import atomic_file
from commonir.base.limits import DEFAULT_LIMITS
from commonir.base.safe_paths import open_regular
from commonir.base.strict_json import Json
from commonir.base.text import plural
from commonir.base.tuples import NamedTuple
from commonir.cli.arrays import INPUTS, UNREADABLE, bad_file, read_archive, storable, system_error

Array = NDArray[np.generic]
T = TypeVar("T")

SUFFIXES = (".npz", ".safetensors")
_OUTPUTS = "outputs/"
_SET = re.compile(r"set([0-9]{1,6})/")
_CLASS = "polygraphy_class"
_END_BYTES = 1 << 16
_MOST_AXES = 32
"""The axes of an array of numpy in all of its versions."""


class StoredRun(NamedTuple):
    """The inputs and the values of a run by name. Numbers of JSON are f64 and i64, whatever they were."""

    inputs: Mapping[str, Array]
    values: Mapping[str, Array]

    @property
    def as_inputs(self) -> Mapping[str, Array]:
        """The inputs; of a file without inputs the values, which are then inputs."""
        return self.inputs or self.values

    @property
    def all_values(self) -> Mapping[str, Array]:
        """The values, and the inputs as `inputs/NAME`."""
        return dict(in_one_archive(self.inputs, self.values.items()))


def is_polygraphy(path: str) -> bool:
    """Returns whether a file has inputs or outputs that polygraphy saved."""
    return path.lower().endswith(".json") and _CLASS in _ends(path)


def has_sets(path: str) -> bool:
    """Returns whether a file has one or several sets of inputs: one of polygraphy, or names such as `set0/x`."""
    if path.lower().endswith(".safetensors"):
        return re.search(rf'"{_SET.pattern}', _ends(path)) is not None
    if not path.lower().endswith(".npz"):
        return is_polygraphy(path)
    try:
        with open_regular(path) as stream, zipfile.ZipFile(stream) as archive:
            return any(_SET.match(name) for name in archive.namelist())
    except (OSError, zipfile.BadZipFile):
        return False


def is_stored(path: str) -> bool:
    """Returns whether a file has arrays by name and is not a model: by its suffix, of JSON by its content."""
    if not path.lower().endswith(".json"):
        return path.lower().endswith(SUFFIXES)
    ends = _ends(path).lstrip()
    # A program is an object of objects, and arrays by name are nested lists of numbers and texts.
    return _CLASS in ends or (ends.startswith("{") and "{" not in ends[1:])


def _ends(path: str) -> str:
    """Returns the beginning and the end of a file, between which an array may be long; nothing of one that cannot be
    read, about which its reader says more.
    """
    try:
        with open_regular(path) as stream:
            content = stream.read(_END_BYTES)
            stream.seek(max(len(content), stream.seek(0, io.SEEK_END) - _END_BYTES))
            return (content + stream.read()).decode("utf-8", "replace")
    except OSError:
        return ""


def read_stored(path: str) -> list[StoredRun]:
    """Returns the runs in a file.

    Raises: DiagnosticError for files that cannot be read, are not such a file, or have Python objects.
    """
    if path.lower().endswith(".json"):
        return _runs_of_json(path, _json_of(path))
    if not path.lower().endswith(SUFFIXES):
        help = "`cir compare` compares a model with another one"
        raise bad_file(path, "stored results are .npz, .safetensors and .json files", help)
    sets: dict[int, tuple[dict[str, Array], dict[str, Array]]] = {}
    for name, array in read_archive(path, None, DEFAULT_LIMITS).items():
        match = _SET.match(name)
        inputs, values = sets.setdefault(int(match[1]) if match else 0, ({}, {}))
        rest = name[match.end() :] if match else name
        if rest.startswith(INPUTS):
            inputs[rest.removeprefix(INPUTS)] = array
        else:
            values[rest.removeprefix(_OUTPUTS)] = array
    if not sets:
        raise bad_file(path, "it has none")
    return [StoredRun(*sets[number]) for number in sorted(sets)]


def in_one_archive(inputs: Mapping[str, Array], values: Iterable[tuple[str, Array]]) -> Iterator[tuple[str, Array]]:
    """Yields the arrays of a run under the names that they have in an archive."""
    yield from ((f"{INPUTS}{name}", array) for name, array in inputs.items())
    yield from values


def numbered(sets: Sequence[Mapping[str, T]]) -> dict[str, T]:
    """Returns values of several sets by name, each with the number of its set; those of a single set as they are."""
    return dict(numbered_items((values.items() for values in sets), len(sets)))


def numbered_items(sets: Iterable[Iterable[tuple[str, T]]], count: int) -> Iterator[tuple[str, T]]:
    """Yields the values of each set one after another, as `numbered` names them."""
    for n, values in enumerate(sets):
        yield from values if count == 1 else ((f"set{n}/{name}", value) for name, value in values)


def save_inputs_json(path: str, sets: Sequence[Mapping[str, Array]]) -> tuple[str, ...]:
    """Writes sets of inputs as polygraphy does with `--save-inputs`; returns the names of widened arrays.

    Raises: CANNOT_WRITE, DISK_FULL, OUTPUT_IN_THE_WAY.
    """
    return _save_polygraphy(path, sets, lambda arrays: arrays)


def save_outputs_json(path: str, sets: Sequence[Mapping[str, Array]], runner: str) -> tuple[str, ...]:
    """Writes the outputs of runs as polygraphy does with `--save-outputs`; returns the names of widened arrays. The
    time of a run, which polygraphy stores too, is 0.

    Raises: CANNOT_WRITE, DISK_FULL, OUTPUT_IN_THE_WAY.
    """

    def results(arrays: Json) -> Json:
        assert isinstance(arrays, list)
        runs: list[Json] = [
            {
                "outputs": {n: {"values": a, _CLASS: "LazyArray"} for n, a in part.items()},
                "runtime": 0.0,
                "runner_name": runner,
                _CLASS: "IterationResult",
            }
            for part in arrays
            if isinstance(part, dict)
        ]
        return {"lst": [[runner, runs]], _CLASS: "RunResults"}

    return _save_polygraphy(path, sets, results)


def _save_polygraphy(path: str, sets: Sequence[Mapping[str, Array]], form: Callable[[Json], Json]) -> tuple[str, ...]:
    widened = [n for arrays in sets for n, a in arrays.items() if storable(a) is not a and a.dtype.kind == "V"]
    encoded: list[Json] = [{name: _encoded(array) for name, array in arrays.items()} for arrays in sets]
    with atomic_file(path) as stream:
        stream.write(json.dumps(form(encoded)).encode())
    return tuple(dict.fromkeys(widened))


def _encoded(array: Array) -> Json:
    stream = io.BytesIO()
    np.save(stream, storable(array), allow_pickle=False)
    return {"array": base64.b64encode(stream.getvalue()).decode(), _CLASS: "ndarray"}


def _json_of(path: str) -> Json:
    limit = DEFAULT_LIMITS.max_text_bytes
    try:
        with open_regular(path) as stream:
            content = stream.read(limit + 1)
    except OSError as error:
        raise system_error(path, error) from error
    if len(content) > limit:
        raise bad_file(path, f"it has more than {limit:,} bytes; save an .npz archive instead")
    try:
        # polygraphy writes NaN and Infinity as Python does.
        return json.loads(content) if b"NaN" in content or b"Infinity" in content else strict_json.parse(content)
    except (ValueError, RecursionError) as error:
        raise bad_file(path, f"it is not JSON: {error}") from None


def _runs_of_json(path: str, value: Json) -> list[StoredRun]:
    match value:
        case {"lst": [[str(), list()], [str() as other, list()], *_]}:
            help = "save those of one at a time: `polygraphy run MODEL --onnxrt --save-outputs FILE`"
            raise bad_file(path, f"it has results of several runners, also of '{other}'", help)
        case {"lst": [[str(), list() as iterations]]}:
            return [StoredRun({}, _polygraphy_arrays(path, _outputs_of(path, part))) for part in iterations]
        case [dict(), *_]:
            return [StoredRun(_polygraphy_arrays(path, part), {}) for part in value]
        case dict():
            return [StoredRun({}, {name: _array(path, name, v) for name, v in value.items()})]
        case _:
            raise bad_file(path, "it is neither an object of arrays by name nor a file of polygraphy")


def _outputs_of(path: str, iteration: Json) -> Json:
    match iteration:
        case {"outputs": dict() as outputs}:
            return outputs
        case _:
            raise bad_file(path, "a run of polygraphy has no outputs")


def _polygraphy_arrays(path: str, arrays: Json) -> dict[str, Array]:
    if not isinstance(arrays, dict):
        raise bad_file(path, "inputs of polygraphy are objects of arrays by name")
    return {name: _polygraphy_array(path, name, value) for name, value in arrays.items()}


def _polygraphy_array(path: str, name: str, value: Json) -> Array:
    match value:
        case {"values": inner, "polygraphy_class": str()}:
            return _polygraphy_array(path, name, inner)
        case {"array": str() as text, "polygraphy_class": "ndarray"}:
            try:
                content = base64.b64decode(text, validate=True)
                if not content.startswith(b"\x93NUMPY"):
                    raise bad_file(path, f"'{name}' is not an array of numpy")
                result: Array = np.load(io.BytesIO(content), allow_pickle=False)
            except (binascii.Error, *UNREADABLE) as error:
                raise bad_file(path, f"'{name}': {error}") from None
            return result
        case {"polygraphy_class": str() as other}:
            raise bad_file(path, f"'{name}' is of polygraphy's class {other}, only arrays of numpy are read")
        case _:
            return _array(path, name, value)


def _array(path: str, name: str, value: Json) -> Array:
    """Returns nested lists as an array of f64, i64, bool or texts; the texts nan, inf and -inf are numbers."""
    leaves: list[object] = []
    shape = _flatten(value, leaves)
    if shape is None or any(isinstance(v, dict) or v is None for v in leaves):
        raise bad_file(path, f"'{name}' is not an array of numbers, bools or texts")
    if any(isinstance(v, str) for v in leaves):
        if not all(v in ("nan", "inf", "-inf") or isinstance(v, (int, float)) for v in leaves):
            return array_of_texts([str(v) for v in leaves], tuple(shape))
        leaves = [float(v) if isinstance(v, str) else v for v in leaves]
    result: Array = np.asarray(leaves or np.zeros(0)).reshape(shape)
    return result


def _flatten(value: Json, leaves: list[object], depth: int = 0) -> list[int] | None:
    """Adds the elements of nested lists; returns their shape, None for lists of different lengths, or too deep ones."""
    if not isinstance(value, list):
        leaves.append(value)
        return []
    if depth == _MOST_AXES:
        return None
    shapes = [_flatten(part, leaves, depth + 1) for part in value]
    if any(shape is None or shape != shapes[0] for shape in shapes):
        return None
    return [len(value), *(shapes[0] or [] if shapes else [])]


def side_by_side(runs: Sequence[Sequence[StoredRun]], paths: Sequence[str]) -> list[tuple[StoredRun, ...]]:
    """Returns the runs of several files side by side; one empty tuple without files.

    Raises: WRONG_USAGE for files with different numbers of runs.
    """
    if len({len(part) for part in runs}) > 1:
        listed = ", ".join(f"{path} has {len(part)}" for path, part in zip(paths, runs, strict=True))
        message = f"the files have different numbers of runs: {listed}"
        raise DiagnosticError(Diagnostic(codes.WRONG_USAGE, message, help="give files of as many runs"))
    return list(zip(*runs, strict=True)) if runs else [()]


def of_each_set(
    runs: Sequence[tuple[StoredRun, ...]], sets: Sequence[Mapping[str, Array]]
) -> Iterator[tuple[tuple[StoredRun, ...], dict[str, Array], Mapping[str, Array]]]:
    """Yields stored runs, the inputs stored with them, and those of `sets`, which is one for all runs or one for each.

    Raises: WRONG_USAGE for different numbers of runs and sets.
    """
    if runs[0] and len(sets) not in (1, len(runs)):
        message = f"the inputs have {plural(len(sets), 'set')}, and {plural(len(runs), 'run')} are stored"
        raise DiagnosticError(Diagnostic(codes.WRONG_USAGE, message, help="give a set for each run, or one for all"))
    for n in range(max(len(runs), len(sets))):
        parts = runs[n % len(runs)]
        stored = {name: array for part in parts for name, array in part.inputs.items()}
        yield parts, stored, sets[n % len(sets)]
