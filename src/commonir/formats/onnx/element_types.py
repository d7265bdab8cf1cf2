"""Element types and value types as ONNX files number and nest them.

Source: onnx.proto of ONNX 1.23, `TensorProto.DataType` and `TypeProto`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from commonir.dialects.onnx.data_types import DATA_TYPES as KNOWN_TYPES
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
)
from commonir.symbolic import symbol
from commonir.symbolic.dims import symbols_in

UNDEFINED = 0

DATA_TYPES: Mapping[ElementType, int] = MappingProxyType({d.element: n for n, d in enumerate(KNOWN_TYPES, 1)})
"""Numbers of element types."""

DATA_TYPE_NAMES = ("UNDEFINED", *[d.name for d in KNOWN_TYPES])
"""The names of element types in the format, by number."""


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
            result = symbols_in(d)
            alone = len(result) == 1 and d == symbol(result[0].name, result[0].least)
            into.dim_param = result[0].name if alone else str(d)


def data_type(element: ElementType) -> int:
    """The number of an element type.

    Raises: ValueError for a type that ONNX does not have.
    """
    result = DATA_TYPES.get(element)
    if result is None:
        raise ValueError(f"ONNX has no element type {element}")
    return result
