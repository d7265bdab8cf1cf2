"""Reads and writes results of runs: arrays by name, with the inputs they are computed from.

| file | content |
|-|-|
| `.npz`, `.safetensors` | values and outputs by name, inputs as `inputs/NAME`; of several runs, after `setN/` |
| `.json` | nested arrays by name, as `cir run --save` writes them, or what polygraphy saves of inputs and outputs |

Imports numpy, so use it through `Session.stored`. Arrays of polygraphy are numpy's own format in base64; objects in it,
which would run code, are refused.
"""

from __future__ import annotations

import base64
import binascii
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from commonir.base import codes, strict_json
from commonir.base.arrays import array_of_texts
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.limits import DEFAULT_LIMITS
from commonir.base.strict_json import Json
from commonir.base.tuples import NamedTuple
from commonir.cli.arrays import INPUTS, bad_file, read_archive, system_error

Array = NDArray[np.generic]

SUFFIXES = (".npz", ".safetensors")
_OUTPUTS = "outputs/"
_SET = re.compile(r"set([0-9]{1,6})/")
_CLASS = "polygraphy_class"
_END_BYTES = 1 << 16


class StoredRun(NamedTuple):
    """The inputs and the values of a run by name. Numbers of JSON are f64 and i64, whatever they were."""

    inputs: Mapping[str, Array]
    values: Mapping[str, Array]

    @property
    def all_values(self) -> Mapping[str, Array]:
        """The values, and the inputs as `inputs/NAME`."""
        return dict(in_one_archive(self.inputs, self.values.items()))


def is_polygraphy(path: str) -> bool:
    """Returns whether a file has inputs or outputs that polygraphy saved."""
    return path.lower().endswith(".json") and _CLASS in _ends(path)


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
        with open(path, "rb") as stream:
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


def _json_of(path: str) -> Json:
    limit = DEFAULT_LIMITS.max_text_bytes
    try:
        with open(path, "rb") as stream:
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
            except (binascii.Error, ValueError, EOFError, MemoryError) as error:
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


def _flatten(value: Json, leaves: list[object]) -> list[int] | None:
    """Adds the elements of nested lists; returns their shape, None for lists of different lengths."""
    if not isinstance(value, list):
        leaves.append(value)
        return []
    shapes = [_flatten(part, leaves) for part in value]
    if any(shape is None or shape != shapes[0] for shape in shapes):
        return None
    return [len(value), *(shapes[0] or [] if shapes else [])]


def single_run(path: str) -> StoredRun:
    """Returns the run in a file. Raises: WRONG_INPUT_ARGUMENT for a file with several."""
    runs = read_stored(path)
    if len(runs) == 1:
        return runs[0]
    message = f"the file has {len(runs)} runs, and one is expected here"
    help = "`cir compare MODEL FILE` compares all of them"
    raise DiagnosticError(Diagnostic(codes.WRONG_INPUT_ARGUMENT, message, file=path, help=help))
