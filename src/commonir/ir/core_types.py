"""The types that values of MLIR programs have in the core, where every value is a tensor.

A scalar becomes a tensor of rank 0, a vector a tensor of its shape, an `index` a 64-bit integer, and a signed integer
a signless one where the core has no other. Shapes of TOSA and of the shape dialect become tensors of their dims.
"""

from __future__ import annotations

from commonir.ir.data import Data, DeferredData, InlineData
from commonir.ir.types import (
    ELEMENT_TYPES,
    DialectType,
    ElementType,
    TensorType,
    Type,
    VectorType,
    boolean,
    i64,
    index,
    integer_type,
)

_NUMBERS = frozenset({"bool", "int", "uint", "index", "float", "complex"})

_SHAPES = {"shape": TensorType(i64, (None,)), "size": TensorType(i64, ()), "witness": TensorType(boolean, ())}


def core_element_type(element: ElementType) -> ElementType:
    """Returns the element type that the core computes with for elements of a type."""
    if element is index:
        return i64
    if element.kind == "int" and element.name not in ELEMENT_TYPES:
        return integer_type(element.bits)
    return element


def core_type(type: Type) -> Type:
    """Returns the tensor type of values of a type in the core; the type itself where the core has no tensor for it."""
    match type:
        case VectorType():
            return TensorType(core_element_type(type.element), type.shape)
        case TensorType(element=VectorType() as inner, shape=shape):
            return TensorType(core_element_type(inner.element), None if shape is None else (*shape, *inner.shape))
        case TensorType(element=element, shape=shape):
            element_type = core_element_type(element)
            return type if element_type is element and type.encoding is None else TensorType(element_type, shape)
        case DialectType(dialect="tosa", mnemonic="shape", body=str(rank)) if rank.isdecimal():
            return TensorType(i64, (int(rank),))
        case DialectType(dialect="shape", mnemonic=mnemonic, body=None) if mnemonic in _SHAPES:
            return _SHAPES[mnemonic]
        case ElementType() if type.kind in _NUMBERS:
            return TensorType(core_element_type(type), ())
        case _:
            return type


def core_data(data: Data) -> Data:
    """Returns contents with the element type of the core."""
    type = core_type(data.type)
    if type is data.type or not isinstance(type, TensorType):
        return data
    return DeferredData(type, lambda: InlineData(type, data.buffer()))
