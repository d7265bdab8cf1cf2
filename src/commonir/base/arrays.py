"""Converts between numpy arrays and packed bytes. Import it lazily: it loads numpy."""

from __future__ import annotations

import mmap
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from math import lcm, prod
from typing import TypeGuard

import numpy as np
from numpy.typing import DTypeLike, NDArray

from commonir.base.codes import UNSUPPORTED_EXECUTION
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.sparse import SparseArray

_NUMPY_NAMES: Mapping[str, DTypeLike] = {
    "i1": np.bool_,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "ui8": np.uint8,
    "ui16": np.uint16,
    "ui32": np.uint32,
    "ui64": np.uint64,
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "complex<f32>": np.complex64,
    "complex<f64>": np.complex128,
    "ui1": np.uint8,
    "ui3": np.uint8,
    "ui6": np.uint8,
    "!builtin.string": np.object_,
    "!builtin.handle": np.int64,
}


@cache
def _narrow_names() -> Mapping[str, DTypeLike]:
    """Returns the dtypes that numpy lacks, by the names of element types."""
    # Takes as long as a tenth of numpy, and few programs have such elements.
    import ml_dtypes  # noqa: PLC0415

    return {
        "bf16": ml_dtypes.bfloat16,
        "f8E4M3FN": ml_dtypes.float8_e4m3fn,
        "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
        "f8E5M2": ml_dtypes.float8_e5m2,
        "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
        "f8E8M0FNU": ml_dtypes.float8_e8m0fnu,
        "f4E2M1FN": ml_dtypes.float4_e2m1fn,
        "f6E2M3FN": ml_dtypes.float6_e2m3fn,
        "f6E3M2FN": ml_dtypes.float6_e3m2fn,
        "i2": ml_dtypes.int2,
        "i4": ml_dtypes.int4,
        "ui2": ml_dtypes.uint2,
        "ui4": ml_dtypes.uint4,
    }


class NoDtypeError(DiagnosticError, KeyError):
    """No numpy dtype holds the elements of a type."""

    __str__ = Exception.__str__


@cache
def dtype_of(name: str) -> np.dtype[np.generic]:
    """Returns the numpy dtype of one unpacked element of an element type.

    Raises: NoDtypeError (E0709, also a KeyError) for types without a dtype.
    """
    dtype = _NUMPY_NAMES.get(name) or _narrow_names().get(name)
    if dtype is None:
        raise NoDtypeError(Diagnostic(UNSUPPORTED_EXECUTION, f"no array has elements of type {name}"))
    return np.dtype(dtype)


def known_dtype(name: str) -> np.dtype[np.generic]:
    """Returns the numpy dtype of an element type of a program. Raises: DiagnosticError (E0709) if there is none."""
    try:
        return dtype_of(name)
    except KeyError:
        message = f"numpy has no elements of type {name}, in which values are computed"
        raise DiagnosticError(Diagnostic(UNSUPPORTED_EXECUTION, message)) from None


@cache
def name_of(dtype: np.dtype[np.generic]) -> str:
    """Returns the name of the element type of a numpy dtype. Raises: KeyError when there is none."""
    if dtype.kind in "US":
        return "!builtin.string"
    name = _name_among(_NUMPY_NAMES, dtype) or _name_among(_narrow_names(), dtype)
    if name is None:
        raise KeyError(dtype)
    return name


def _name_among(names: Mapping[str, DTypeLike], dtype: np.dtype[np.generic]) -> str | None:
    return next((name for name, element in names.items() if np.dtype(element) == dtype), None)


def array_of_bytes(content: memoryview, name: str, bits: int, shape: tuple[int, ...]) -> NDArray[np.generic]:
    """Returns packed bytes as an array, a view of them if elements are whole bytes.

    Raises: DiagnosticError (E0709) for types without a dtype, and shapes that numpy has not even without elements.
    """
    dtype = known_dtype(name)
    if prod([max(n, 1) for n in shape]) * dtype.itemsize > sys.maxsize:
        message = f"numpy has no array of shape {list(shape)}, whose strides exceed the address space"
        raise DiagnosticError(Diagnostic(UNSUPPORTED_EXECUTION, message))
    if bits >= 8:
        return np.frombuffer(content, dtype).reshape(shape)
    count = int(np.prod(shape, dtype=np.int64))
    codes = _unpacked(np.frombuffer(content, np.uint8), bits, count)
    if name in ("i2", "i4"):
        # The sign of a code is extended over its byte, as ml_dtypes holds it.
        signed = codes.view(np.int8)
        codes = signed << (8 - bits) >> (8 - bits)
    return codes.view(dtype).reshape(shape)


def _group(bits: int) -> tuple[int, int]:
    """Returns the smallest numbers of elements and bytes that have the same size."""
    common_bits = lcm(bits, 8)
    return common_bits // bits, common_bits // 8


def _unpacked(packed: NDArray[np.uint8], bits: int, count: int) -> NDArray[np.uint8]:
    """Returns one byte for each code of a few bits, the first in the least significant bits."""
    elements, group_bytes = _group(bits)
    groups = -(-count // elements)
    if packed.size < groups * group_bytes:
        packed = np.concatenate([packed, np.zeros(groups * group_bytes - packed.size, np.uint8)])
    rows = packed[: groups * group_bytes].reshape(groups, group_bytes)
    out = np.empty((groups, elements), np.uint8)
    for n in range(elements):
        byte, shift = divmod(n * bits, 8)
        code = rows[:, byte] >> shift
        if shift + bits > 8:
            code |= rows[:, byte + 1] << (8 - shift)
        np.bitwise_and(code, (1 << bits) - 1, out=out[:, n])
    return out.reshape(-1)[:count]


def _packed(codes: NDArray[np.uint8], bits: int) -> NDArray[np.uint8]:
    """Returns the inverse of `_unpacked`; bits beyond the last code are 0."""
    elements, group_bytes = _group(bits)
    groups = -(-codes.size // elements)
    padded = np.zeros(groups * elements, np.uint8)
    np.bitwise_and(codes, (1 << bits) - 1, out=padded[: codes.size])
    rows = padded.reshape(groups, elements)
    out = np.zeros((groups, group_bytes), np.uint8)
    for n in range(elements):
        byte, shift = divmod(n * bits, 8)
        out[:, byte] |= rows[:, n] << shift
        if shift + bits > 8:
            out[:, byte + 1] |= rows[:, n] >> (8 - shift)
    return out.reshape(-1)[: -(-codes.size * bits // 8)]


def bytes_of_array(array: NDArray[np.generic], bits: int) -> bytes:
    """Returns the packed bytes of an array, row-major and little-endian."""
    if bits >= 8:
        return np.ascontiguousarray(array).tobytes()
    flat = np.ascontiguousarray(array).reshape(-1)
    # What ml_dtypes holds in a byte is the code; other integers are their own codes.
    codes = flat.view(np.uint8) if flat.dtype.itemsize == 1 else flat.astype(np.int8).view(np.uint8)
    return _packed(codes, bits).tobytes()


def converted(array: NDArray[np.generic], name: str) -> NDArray[np.generic]:
    """Returns an array converted to an element type; floats overflow to infinity."""
    with np.errstate(over="ignore", invalid="ignore"):
        return array.astype(dtype_of(name))


def array_of_texts(texts: Sequence[str], shape: tuple[int, ...]) -> NDArray[np.generic]:
    """Returns an array of Python strings."""
    out = np.empty(len(texts), np.object_)
    out[:] = texts
    return out.reshape(shape)


def bytes_of_values(values: Iterable[object], name: str, bits: int) -> bytes:
    """Returns Python numbers as the packed bytes of an element type."""
    return bytes_of_array(np.asarray(list(values)).astype(dtype_of(name)), bits)


def values_of_bytes(content: memoryview, name: str, bits: int, count: int) -> list[float]:
    """Returns the elements of a floating-point or complex type without a `struct` code, as Python numbers."""
    result = array_of_bytes(content, name, bits, (count,))
    return result.astype(np.complex128 if result.dtype.kind == "c" else np.float64).tolist()


def flat_values(values: Mapping[str, object]) -> tuple[dict[str, NDArray[np.generic]], list[str]]:
    """Returns the arrays in values that may be lists, tuples, maps or sparse tensors, under names such as `scores[0]`,
    and the names of absent values and empty lists.
    """
    arrays: dict[str, NDArray[np.generic]] = {}
    empty: list[str] = []
    pending: list[tuple[str, object]] = [*reversed(list(values.items()))]
    while pending:
        name, value = pending.pop()
        members = _members(value)
        if members is None:
            arrays[name] = np.asarray(value)
        elif members:
            pending.extend((f"{name}[{key}]", v) for key, v in reversed(members))
        else:
            empty.append(name)
    return arrays, empty


def _members(value: object) -> list[tuple[object, object]] | None:
    """Returns the members of a list, tuple, map or sparse tensor by position, key or name; None for anything else."""
    if value is None:
        return []
    if isinstance(value, SparseArray):
        return [("values", value.values), ("indices", value.indices), ("shape", np.asarray(value.shape, np.int64))]
    if _is_list(value):
        return [*enumerate(value)]
    return [*value.items()] if _is_map(value) else None


def _is_list(value: object) -> TypeGuard[list[object] | tuple[object, ...]]:
    return isinstance(value, list | tuple)


def _is_map(value: object) -> TypeGuard[dict[object, object]]:
    return isinstance(value, dict)


def release_pages(array: NDArray[np.generic]) -> None:
    """Lets the system take back the memory of what was read from a mapped file, which it reads again when needed.

    Other arrays stay as they are, and so do pages that the array shares with its neighbours.
    """
    owner = _owner_of(array)
    if isinstance(owner, memoryview):
        owner = owner.obj
    if not isinstance(owner, mmap.mmap) or not hasattr(mmap, "MADV_DONTNEED") or not memoryview(owner).readonly:
        return
    first = array.__array_interface__["data"][0] - np.frombuffer(owner, np.uint8).__array_interface__["data"][0]
    start, stop = -(-first // mmap.PAGESIZE) * mmap.PAGESIZE, (first + array.nbytes) // mmap.PAGESIZE * mmap.PAGESIZE
    if start < stop:
        owner.madvise(mmap.MADV_DONTNEED, start, stop - start)


def _owner_of(array: NDArray[np.generic]) -> object:
    """Returns the object whose memory an array shows."""
    base = array.base
    return _owner_of(base) if isinstance(base, np.ndarray) else base
