"""The one place where numpy arrays and packed bytes meet. Import it lazily: it loads numpy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

_NUMPY_NAMES = {
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
    "bf16": ml_dtypes.bfloat16,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
    "f8E8M0FNU": ml_dtypes.float8_e8m0fnu,
    "f4E2M1FN": ml_dtypes.float4_e2m1fn,
    "i2": ml_dtypes.int2,
    "i4": ml_dtypes.int4,
    "ui1": np.uint8,
    "ui2": ml_dtypes.uint2,
    "ui3": np.uint8,
    "ui4": ml_dtypes.uint4,
    "ui6": np.uint8,
    "!builtin.string": np.object_,
}


@cache
def dtype_of(name: str) -> np.dtype[np.generic]:
    """The numpy dtype that holds one element of the element type of this name, unpacked.

    Raises: KeyError for types numpy cannot hold.
    """
    return np.dtype(_NUMPY_NAMES[name])


@cache
def name_of(dtype: np.dtype[np.generic]) -> str:
    """The name of the element type that a numpy dtype stands for.

    Raises: KeyError when there is none.
    """
    if dtype.kind in "US":
        return "!builtin.string"
    for name, found in _NUMPY_NAMES.items():
        if np.dtype(found) == dtype:
            return name
    raise KeyError(dtype)


def array_of_bytes(content: memoryview, name: str, bits: int, shape: tuple[int, ...]) -> NDArray[np.generic]:
    """Unpacks bytes into an array; a view of them where elements are whole bytes."""
    dtype = dtype_of(name)
    if bits >= 8:
        return np.frombuffer(content, dtype).reshape(shape)
    count = int(np.prod(shape, dtype=np.int64))
    digits = np.unpackbits(np.frombuffer(content, np.uint8), bitorder="little")[: count * bits].reshape(count, bits)
    codes = digits @ (1 << np.arange(bits, dtype=np.uint8)).astype(np.uint8)
    if name in ("i2", "i4"):
        codes = np.where(codes >> (bits - 1), codes.astype(np.int16) - (1 << bits), codes).astype(np.int8)
    if name == "f4E2M1FN":
        return codes.view(dtype).reshape(shape)
    return codes.astype(dtype).reshape(shape)


def bytes_of_array(array: NDArray[np.generic], bits: int) -> bytes:
    """Packs an array into bytes, row-major and little-endian."""
    if bits >= 8:
        return np.ascontiguousarray(array).tobytes()
    flat = np.ascontiguousarray(array).reshape(-1)
    # The codes of floats are their bytes; integers are their own codes.
    codes = flat.view(np.uint8) if flat.dtype == dtype_of("f4E2M1FN") else flat.astype(np.int8).astype(np.uint8)
    digits = (codes[:, None] >> np.arange(bits, dtype=np.uint8)) & 1
    return np.packbits(digits.reshape(-1).astype(np.uint8), bitorder="little").tobytes()


def array_of_texts(texts: Sequence[str], shape: tuple[int, ...]) -> NDArray[np.generic]:
    """An array of Python strings."""
    out = np.empty(len(texts), np.object_)
    out[:] = texts
    return out.reshape(shape)


def bytes_of_values(values: Iterable[object], name: str, bits: int) -> bytes:
    """Python numbers as the packed bytes of an element type."""
    return bytes_of_array(np.asarray(list(values)).astype(dtype_of(name)), bits)


def values_of_bytes(content: memoryview, name: str, bits: int, count: int) -> list[float]:
    """The elements of a floating-point or complex type without a `struct` code, as Python numbers."""
    found = array_of_bytes(content, name, bits, (count,))
    return found.astype(np.complex128 if found.dtype.kind == "c" else np.float64).tolist()
