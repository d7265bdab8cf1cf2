"""Element types and value types as ONNX files number and nest them.

Source: onnx.proto of ONNX 1.23, `TensorProto.DataType` and `TypeProto`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from commonir.formats.onnx.messages import TensorShapeProto, TypeProto
from commonir.ir.types import (
    DialectType,
    ElementType,
    ListType,
    MapType,
    OptionalType,
    Shape,
    SparseTensorType,
    TensorType,
    Type,
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
from commonir.symbolic import symbol
from commonir.symbolic.dims import symbols_in

UNDEFINED = 0

DATA_TYPES: Mapping[ElementType, int] = MappingProxyType(
    {
        f32: 1,
        u8: 2,
        i8: 3,
        u16: 4,
        i16: 5,
        i32: 6,
        i64: 7,
        string: 8,
        boolean: 9,
        f16: 10,
        f64: 11,
        u32: 12,
        u64: 13,
        complex64: 14,
        complex128: 15,
        bf16: 16,
        f8e4m3fn: 17,
        f8e4m3fnuz: 18,
        f8e5m2: 19,
        f8e5m2fnuz: 20,
        u4: 21,
        i4: 22,
        f4e2m1fn: 23,
        f8e8m0fnu: 24,
        u2: 25,
        i2: 26,
        f6e2m3fn: 27,
        f6e3m2fn: 28,
    }
)
"""Numbers of element types."""

DATA_TYPE_NAMES = (
    "UNDEFINED",
    "FLOAT",
    "UINT8",
    "INT8",
    "UINT16",
    "INT16",
    "INT32",
    "INT64",
    "STRING",
    "BOOL",
    "FLOAT16",
    "DOUBLE",
    "UINT32",
    "UINT64",
    "COMPLEX64",
    "COMPLEX128",
    "BFLOAT16",
    "FLOAT8E4M3FN",
    "FLOAT8E4M3FNUZ",
    "FLOAT8E5M2",
    "FLOAT8E5M2FNUZ",
    "UINT4",
    "INT4",
    "FLOAT4E2M1",
    "FLOAT8E8M0",
    "UINT2",
    "INT2",
    "FLOAT6E2M3",
    "FLOAT6E3M2",
)
"""What the format calls element types, by number."""


def write_type(type: Type, proto: TypeProto) -> None:
    """Fills in a value type.

    Raises: ValueError for a type that ONNX does not have.
    """
    pending: list[tuple[Type, TypeProto]] = [(type, proto)]
    while pending:
        at, into = pending.pop()
        match at:
            case TensorType(element=element, shape=shape):
                into.tensor_type.elem_type = data_type(element)
                if shape is not None:
                    write_shape(shape, into.tensor_type.shape)
            case ListType(element=element):
                pending.append((element, into.sequence_type.elem_type))
            case OptionalType(element=element):
                pending.append((element, into.optional_type.elem_type))
            case MapType(key=ElementType() as key, value=value):
                into.map_type.key_type = data_type(key)
                pending.append((value, into.map_type.value_type))
            case SparseTensorType(element=element, shape=shape):
                into.sparse_tensor_type.elem_type = data_type(element)
                if shape is not None:
                    write_shape(shape, into.sparse_tensor_type.shape)
            case DialectType(dialect="onnx", mnemonic="opaque", body=str(body)):
                domain, _, name = body.partition("::")
                into.opaque_type.domain, into.opaque_type.name = domain, name
            case _:
                raise ValueError(f"ONNX has no type {at}")


def write_shape(shape: Shape, proto: TensorShapeProto) -> None:
    """Fills in a shape; symbolic dimensions become names, expressions of them their text."""
    # Says that the rank is known, also when it is 0.
    proto.SetInParent()
    for d in shape:
        into = proto.dim.add()
        if isinstance(d, int):
            into.dim_value = d
        elif d is not None:
            # A name alone is written as it is; in the text of an expression it may be quoted.
            found = symbols_in(d)
            alone = len(found) == 1 and d == symbol(found[0].name, found[0].least)
            into.dim_param = found[0].name if alone else str(d)


def data_type(element: ElementType) -> int:
    """The number of an element type.

    Raises: ValueError for a type that ONNX does not have.
    """
    result = DATA_TYPES.get(element)
    if result is None:
        raise ValueError(f"ONNX has no element type {element}")
    return result
