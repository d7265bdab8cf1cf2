"""Reads and writes named arrays in the safetensors format: a JSON header followed by the bytes of the arrays.

Arrays are mapped, not copied. The header is validated before it is used: every array lies inside the file, none
overlaps another, and its size is that of its type and shape. Source: safetensors format description.

Limits: `Limits.max_text_bytes` for the header, `Limits.max_rank` for arrays.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from itertools import pairwise
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from commonir.base.arrays import dtype_of, name_of
from commonir.base.limits import DEFAULT_LIMITS, Limits
from commonir.base.safe_paths import open_regular
from commonir.base.strict_json import JsonError, parse
from commonir.base.tuples import NamedTuple

Array = NDArray[np.generic]

_LENGTH_BYTES = 8
_ALIGNMENT = 8
_METADATA = "__metadata__"
_TYPES = {
    "BOOL": "i1",
    "I8": "i8",
    "I16": "i16",
    "I32": "i32",
    "I64": "i64",
    "U8": "ui8",
    "U16": "ui16",
    "U32": "ui32",
    "U64": "ui64",
    "F16": "f16",
    "BF16": "bf16",
    "F32": "f32",
    "F64": "f64",
    "F8_E4M3": "f8E4M3FN",
    "F8_E5M2": "f8E5M2",
}
_NAMES = {element: name for name, element in _TYPES.items()}


class Entry(NamedTuple):
    """Where an array lies in a file: its element type, shape, and the range of bytes from the start of the file."""

    element: str
    shape: tuple[int, ...]
    begin: int
    end: int


def read_safetensors(path: str | os.PathLike[str], limits: Limits = DEFAULT_LIMITS) -> dict[str, Array]:
    """Returns the arrays of a file by name. Raises: OSError; ValueError with the reason when it is not a valid file."""
    entries, status = read_layout(path, limits)
    has_bytes = any(entry.end > entry.begin for entry in entries.values())
    content = np.memmap(path, np.uint8, "r") if has_bytes else np.empty(status.st_size, np.uint8)
    return {
        name: np.asarray(content[begin:end]).view(dtype_of(element)).reshape(shape)
        for name, (element, shape, begin, end) in entries.items()
    }


def read_layout(
    path: str | os.PathLike[str], limits: Limits = DEFAULT_LIMITS
) -> tuple[dict[str, Entry], os.stat_result]:
    """Returns where the arrays of a file lie, by name, and the status of the file that was read.

    Raises: OSError; ValueError with the reason when it is not a valid file.
    """
    with open_regular(path) as stream:
        status = os.fstat(stream.fileno())
        size_bytes = status.st_size
        header, start = _header(stream, size_bytes, limits)
    out: dict[str, Entry] = {}
    used: list[tuple[int, int, str]] = []
    for name, entry in header.items():
        if name == _METADATA:
            continue
        dtype, shape, begin, end = _entry(name, entry)
        if len(shape) > limits.max_rank:
            raise ValueError(f"'{name}' has {len(shape):,} dimensions, and at most {limits.max_rank} are read")
        if not 0 <= begin <= end <= size_bytes - start:
            raise ValueError(f"'{name}' lies outside of the file")
        if end - begin != math.prod(shape) * dtype.itemsize:
            raise ValueError(f"'{name}' has {end - begin} bytes, which is not the size of its shape")
        used.append((begin, end, name))
        out[name] = Entry(name_of(dtype), shape, start + begin, start + end)
    used.sort()
    for (_, end, first), (begin, _, second) in pairwise(used):
        if begin < end:
            raise ValueError(f"'{first}' and '{second}' overlap")
    return out, status


def _header(stream: BinaryIO, size_bytes: int, limits: Limits) -> tuple[dict[str, object], int]:
    """Returns the header as JSON, and the offset of the arrays."""
    length = int.from_bytes(stream.read(_LENGTH_BYTES), "little")
    if size_bytes < _LENGTH_BYTES or length > min(size_bytes - _LENGTH_BYTES, limits.max_text_bytes):
        raise ValueError("its header is longer than the file, or than is allowed")
    try:
        header = parse(stream.read(length))
    except JsonError as error:
        raise ValueError(f"its header is not JSON: {error}") from None
    if not isinstance(header, dict):
        raise ValueError("its header is not a JSON object")
    return {**header}, _LENGTH_BYTES + length


def _entry(name: str, entry: object) -> tuple[np.dtype[np.generic], tuple[int, ...], int, int]:
    """Returns the dtype, shape, begin and end of an array from its entry in the header."""
    fields: dict[object, object] = entry if isinstance(entry, dict) else {}  # pyright: ignore[reportUnknownVariableType]  JSON
    element = _TYPES.get(str(fields.get("dtype")))
    if element is None:
        raise ValueError(f"'{name}' has the unknown type '{fields.get('dtype')}'")
    shape, offsets = _numbers(fields.get("shape")), _numbers(fields.get("data_offsets"))
    if shape is None or offsets is None or len(offsets) != 2:
        raise ValueError(f"'{name}' has no shape, or no place in the file")
    return dtype_of(element), shape, offsets[0], offsets[1]


def _numbers(value: object) -> tuple[int, ...] | None:
    items: list[object] = value if isinstance(value, list) else [None]  # pyright: ignore[reportUnknownVariableType]  JSON
    numbers = [n for n in items if isinstance(n, int) and not isinstance(n, bool) and n >= 0]
    return tuple(numbers) if len(numbers) == len(items) else None


def write_safetensors(stream: BinaryIO, arrays: Mapping[str, Array]) -> None:
    """Writes arrays by name.

    Raises: ValueError for a type that the format does not have.
    """
    write_header(stream, {name: (name_of(a.dtype), a.shape, a.nbytes) for name, a in arrays.items()})
    stream.writelines(np.ascontiguousarray(array).tobytes() for array in arrays.values())


def write_header(stream: BinaryIO, types: Mapping[str, tuple[str, tuple[int, ...], int]]) -> None:
    """Writes what stands before the bytes of arrays: their element types, shapes and numbers of bytes by name.

    Raises: ValueError for a type that the format does not have.
    """
    header: dict[str, object] = {}
    offset = 0
    for name, (type, shape, size_bytes) in types.items():
        element = _NAMES.get(type)
        if element is None:
            raise ValueError(f"'{name}' has the type {type}, which safetensors files do not have")
        header[name] = {"dtype": element, "shape": list(shape), "data_offsets": [offset, offset + size_bytes]}
        offset += size_bytes
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % _ALIGNMENT)
    stream.write(len(text).to_bytes(_LENGTH_BYTES, "little") + text)
