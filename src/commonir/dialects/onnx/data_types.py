"""The element types of ONNX by their numbers in files.

Source: onnx.proto of ONNX 1.23, `TensorProto.DataType`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from commonir.base.tuples import NamedTuple
from commonir.ir.types import (
    ElementType,
    bf16,
    boolean,
    complex64,
    complex128,
    f4e2m1fn,
    f6e2m3fn,
    f6e3m2fn,
    f8e4m3fn,
    f8e4m3fnuz,
    f8e5m2,
    f8e5m2fnuz,
    f8e8m0fnu,
    f16,
    f32,
    f64,
    i2,
    i4,
    i8,
    i16,
    i32,
    i64,
    string,
    u2,
    u4,
    u8,
    u16,
    u32,
    u64,
)


class DataType(NamedTuple):
    """An element type: its name in files, and the first version of the operator set that has it."""

    name: str
    element: ElementType
    since: int


DATA_TYPES = (
    DataType("FLOAT", f32, 1),
    DataType("UINT8", u8, 1),
    DataType("INT8", i8, 1),
    DataType("UINT16", u16, 1),
    DataType("INT16", i16, 1),
    DataType("INT32", i32, 1),
    DataType("INT64", i64, 1),
    DataType("STRING", string, 1),
    DataType("BOOL", boolean, 1),
    DataType("FLOAT16", f16, 1),
    DataType("DOUBLE", f64, 1),
    DataType("UINT32", u32, 1),
    DataType("UINT64", u64, 1),
    DataType("COMPLEX64", complex64, 1),
    DataType("COMPLEX128", complex128, 1),
    DataType("BFLOAT16", bf16, 13),
    DataType("FLOAT8E4M3FN", f8e4m3fn, 19),
    DataType("FLOAT8E4M3FNUZ", f8e4m3fnuz, 19),
    DataType("FLOAT8E5M2", f8e5m2, 19),
    DataType("FLOAT8E5M2FNUZ", f8e5m2fnuz, 19),
    DataType("UINT4", u4, 21),
    DataType("INT4", i4, 21),
    DataType("FLOAT4E2M1", f4e2m1fn, 23),
    DataType("FLOAT8E8M0", f8e8m0fnu, 24),
    DataType("UINT2", u2, 25),
    DataType("INT2", i2, 25),
    DataType("FLOAT6E2M3", f6e2m3fn, 28),
    DataType("FLOAT6E3M2", f6e3m2fn, 28),
)
"""Element types in the order of their numbers, from 1 on."""

ELEMENTS: Mapping[int, ElementType] = MappingProxyType({n: d.element for n, d in enumerate(DATA_TYPES, 1)})
"""Element types by number."""
