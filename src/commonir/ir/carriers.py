"""The types that values of MLIR programs have in the core, whose values are all tensors.

A scalar is carried by a tensor of rank 0, a vector by a tensor of its shape, a position by a 64-bit integer, and an
integer that states its sign by one that does not where the core knows no other. Lists of sizes, of TOSA and of the
shape dialect, are carried by tensors of them.
"""

from __future__ import annotations

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


def carrier_element(element: ElementType) -> ElementType:
    """Returns the element type under which the core computes with elements of a type."""
    if element is index:
        return i64
    if element.kind == "int" and element.name not in ELEMENT_TYPES:
        return integer_type(element.bits)
    return element


def carrier(type: Type) -> Type:
    """Returns the type of the tensor that carries values of a type; the type itself where the core has no tensor for
    it.
    """
    match type:
        case VectorType():
            return TensorType(carrier_element(type.element), type.shape)
        case TensorType(element=VectorType() as inner, shape=shape):
            return TensorType(carrier_element(inner.element), None if shape is None else (*shape, *inner.shape))
        case TensorType(element=element, shape=shape):
            held = carrier_element(element)
            return type if held is element and type.encoding is None else TensorType(held, shape)
        case DialectType(dialect="tosa", mnemonic="shape", body=str(rank)) if rank.isdecimal():
            return TensorType(i64, (int(rank),))
        case DialectType(dialect="shape", mnemonic=mnemonic, body=None) if mnemonic in _SHAPES:
            return _SHAPES[mnemonic]
        case ElementType() if type.kind in _NUMBERS:
            return TensorType(carrier_element(type), ())
        case _:
            return type


__all__ = ["carrier", "carrier_element"]
