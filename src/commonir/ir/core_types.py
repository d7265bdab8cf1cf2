"""The types that values of MLIR programs have in the core, where every value is a tensor.

A scalar becomes a tensor of rank 0, a vector a tensor of its shape, an `index` a 64-bit integer, and a signed integer
a signless one where the core has no other. Shapes of TOSA and of the shape dialect become tensors of their dims.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod

from commonir.ir.attributes import Attribute, BoolAttr, DataAttr, FloatAttr, IntegerAttr, SparseAttr
from commonir.ir.data import TEXT_KINDS, Data, DeferredData, InlineData, codes_of, data_of, packed_codes
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


def core_contents(value: Attribute) -> Data | None:
    """Returns the contents of an attribute as the core stores them; None for an attribute without elements."""
    match value:
        case DataAttr(data=data):
            return core_data(data)
        case SparseAttr(type=TensorType(element=element) | VectorType(element=element) as type):
            dense = TensorType(element, type.shape)
            is_number = element.kind not in TEXT_KINDS
            return core_data(DeferredData(dense, lambda: _dense(value, dense))) if is_number else None
        case _:
            return _number(value)


# Programs ask for the same few numbers again and again.
@lru_cache(maxsize=1024)
def _number(value: Attribute) -> Data | None:
    match value:
        case BoolAttr(value=flag):
            return data_of(boolean, (), (flag,))
        case IntegerAttr(value=number, type=type) | FloatAttr(value=number, type=type):
            return data_of(core_element_type(type), (), (number,))
        case _:
            return None


def _dense(value: SparseAttr, type: TensorType) -> Data:
    """Returns all elements of a sparse attribute. The first of equal positions counts, as in MLIR."""
    shape, bits = type.static_shape, type.element.bits
    positions = value.indices.values()
    codes = codes_of(value.values.buffer(), bits, value.values.count)
    out = [0] * prod(shape)
    for n, code in reversed(tuple(enumerate(codes))):
        flat = 0
        for k, dim in enumerate(shape):
            flat = flat * dim + int(positions[n * len(shape) + k])
        out[flat] = code
    return InlineData(type, packed_codes(out, bits))
