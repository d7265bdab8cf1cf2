"""The C++ classes that predicates name, as tests of types and attributes here.

Source: MLIR builtin dialect and its type interfaces; names as predicates spell them without `mlir`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from commonir.ir.affine import AffineMapAttr, IntegerSetAttr
from commonir.ir.attributes import (
    ArrayAttr,
    Attribute,
    BoolAttr,
    DataAttr,
    DenseArrayAttr,
    DialectAttr,
    DictionaryAttr,
    EnumAttr,
    FloatAttr,
    IntegerAttr,
    SparseAttr,
    StringAttr,
    SymbolRefAttr,
    TypeAttr,
    UnitAttr,
)
from commonir.ir.data import ResourceData
from commonir.ir.locations import LocationAttr
from commonir.ir.types import (
    MORE_FLOATS,
    ComplexType,
    DialectType,
    ElementType,
    FunctionType,
    MemRefType,
    NoneType,
    TensorType,
    TupleType,
    Type,
    VectorType,
    boolean,
    element_named,
    f32,
    f64,
    i8,
    i16,
    i32,
    i64,
    index,
)
from commonir.ods.type_constraints import (
    NARROW_FLOATS,
    is_float,
    is_integer,
    is_memref,
    is_ranked_tensor,
    is_tensor,
    is_vector,
)
from commonir.ods.type_rules import NO_SHAPE, element_of, shape_of, type_of_attribute

Test = Callable[[object], bool]

_MNEMONIC = re.compile(r"[\w$.]+")


def _instance(*classes: type) -> Test:
    return lambda v: isinstance(v, classes)


def _of_type(test: Callable[[Type], bool]) -> Test:
    return lambda v: isinstance(v, Type) and test(v)


def of_dialect(dialect: str, *mnemonics: str) -> Test:
    """Returns the test for types or attributes of a dialect with one of the mnemonics, by default any."""

    def test(value: object) -> bool:
        if not isinstance(value, DialectType | DialectAttr) or value.dialect != dialect:
            return False
        # In the form `!dialect<mnemonic ...>`, the mnemonic is the first word of the body.
        match = None if value.mnemonic else _MNEMONIC.match(value.body or "")
        return not mnemonics or (value.mnemonic if match is None else match[0]) in mnemonics

    return test


def _array(element: ElementType | None) -> Test:
    return lambda v: isinstance(v, DenseArrayAttr) and (element is None or v.element is element)


def _is_dense(value: object) -> bool:
    return isinstance(value, DataAttr) and not isinstance(value.data, ResourceData)


def _elements(test: Callable[[Type], bool]) -> Test:
    def holds(value: object) -> bool:
        return isinstance(value, DataAttr) and _is_dense(value) and test(element_of(value.type))

    return holds


def _float(name: str) -> Test:
    only = element_named(name)
    return lambda v: v is only


is_shaped = _of_type(lambda t: shape_of(t) is not NO_SHAPE)
_is_index = _of_type(lambda t: t is index)

BUILTIN: Mapping[str, Test] = MappingProxyType(
    {
        "Type": _instance(Type),
        "RankedTensorType": _of_type(is_ranked_tensor),
        "UnrankedTensorType": lambda v: isinstance(v, TensorType) and v.shape is None,
        "TensorType": _of_type(is_tensor),
        "MemRefType": _of_type(is_memref),
        "UnrankedMemRefType": lambda v: isinstance(v, MemRefType) and v.shape is None,
        "BaseMemRefType": _instance(MemRefType),
        "VectorType": _of_type(is_vector),
        "FixedVectorType": lambda v: isinstance(v, VectorType) and not any(v.scalable),
        "ScalableVectorType": lambda v: isinstance(v, VectorType) and any(v.scalable),
        "ShapedType": is_shaped,
        "FloatType": _of_type(is_float),
        "IntegerType": _of_type(is_integer),
        "IndexType": _is_index,
        "ComplexType": _instance(ComplexType),
        "FunctionType": _instance(FunctionType),
        "TupleType": _instance(TupleType),
        "NoneType": _instance(NoneType),
        **{f"{name.replace('f', 'Float', 1)}Type": _float(name) for name in NARROW_FLOATS},
        "BFloat16Type": _float("bf16"),
        "Float16Type": _float("f16"),
        "Float32Type": _float("f32"),
        "Float64Type": _float("f64"),
        **{f"Float{name.upper()}Type": _float(name) for name in MORE_FLOATS},
        "ml_program::TokenType": of_dialect("ml_program", "token"),
        "quant::QuantizedType": of_dialect("quant", "uniform", "calibrated", "any", "quantile"),
        "quant::UniformQuantizedType": of_dialect("quant", "uniform"),
        "bufferization::TensorLikeType": _of_type(is_tensor),
        "bufferization::BufferLikeType": _instance(MemRefType),
        "Attribute": _instance(Attribute),
        "IntegerAttr": _instance(IntegerAttr, BoolAttr),
        "BoolAttr": lambda v: isinstance(v, BoolAttr) or (isinstance(v, IntegerAttr) and v.type is boolean),
        "FloatAttr": _instance(FloatAttr),
        "StringAttr": _instance(StringAttr, EnumAttr),
        "ArrayAttr": _instance(ArrayAttr),
        "DictionaryAttr": _instance(DictionaryAttr),
        "UnitAttr": _instance(UnitAttr),
        "TypeAttr": _instance(TypeAttr),
        "SymbolRefAttr": _instance(SymbolRefAttr),
        "FlatSymbolRefAttr": lambda v: isinstance(v, SymbolRefAttr) and len(v.path) == 1,
        "AffineMapAttr": _instance(AffineMapAttr),
        "IntegerSetAttr": _instance(IntegerSetAttr),
        "LocationAttr": _instance(LocationAttr),
        "DenseArrayAttr": _array(None),
        "DenseBoolArrayAttr": _array(boolean),
        "DenseI8ArrayAttr": _array(i8),
        "DenseI16ArrayAttr": _array(i16),
        "DenseI32ArrayAttr": _array(i32),
        "DenseI64ArrayAttr": _array(i64),
        "DenseF32ArrayAttr": _array(f32),
        "DenseF64ArrayAttr": _array(f64),
        "ElementsAttr": _instance(DataAttr, SparseAttr),
        "DenseElementsAttr": _is_dense,
        "DenseIntElementsAttr": _elements(lambda t: is_integer(t) or t is index),
        "DenseFPElementsAttr": _elements(is_float),
        "DenseIntOrFPElementsAttr": _is_dense,
        "DenseResourceElementsAttr": lambda v: isinstance(v, DataAttr) and isinstance(v.data, ResourceData),
        "TypedAttr": lambda v: type_of_attribute(v) is not None,
        "ub::PoisonAttrInterface": of_dialect("ub", "poison"),
    }
)
"""Tests by the names of classes."""
