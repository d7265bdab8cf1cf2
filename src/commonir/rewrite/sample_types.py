"""Sample types and attributes, one for each case that constraints distinguish, and whether definitions infer types.

Rules are compared by the samples that their constraints admit. If a definition infers no result types for any sample,
its operations cannot be built without them.
"""

from __future__ import annotations

from functools import cache
from math import prod
from typing import Any

from commonir.ir.attributes import (
    ArrayAttr,
    Attribute,
    BoolAttr,
    DataAttr,
    DenseArrayAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    TypeAttr,
    UnitAttr,
)
from commonir.ir.data import data_of
from commonir.ir.types import (
    ComplexType,
    DialectType,
    ElementType,
    FunctionType,
    MemRefType,
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
    none,
)
from commonir.ods import MlirOp, Op
from commonir.ods.fields import Check, Field
from commonir.ods.mlir_op import single_types
from commonir.ods.patterns import TypeConstraint
from commonir.ods.terms import StorageCheck
from commonir.ods.type_rules import Typing, deduce

_INTEGERS = ("i1", "i4", "i8", "i16", "i32", "i64", "si8", "si32", "ui8", "ui16", "ui32", "index")
_FLOATS = ("f8E4M3FN", "f8E5M2", "f16", "bf16", "f32", "f64", "f80")
_LARGEST_RANK = 5


@cache
def samples() -> tuple[Type, ...]:
    """Returns a type for each case that constraints distinguish."""
    scalars = [e for name in (*_INTEGERS, *_FLOATS) if (e := element_named(name)) is not None]
    elements: list[ElementType] = [*scalars, ComplexType(scalars[-2]), DialectType("sample", "sample")]
    out: list[Type] = [*elements, none, TupleType(()), FunctionType((), ())]
    for e in elements:
        out += [TensorType(e, None), MemRefType(e, None)]
        for rank in range(_LARGEST_RANK + 1):
            out += [TensorType(e, (2,) * rank), TensorType(e, (None,) * rank), MemRefType(e, (2,) * rank)]
            if e.kind not in ("complex", "dialect"):
                out.append(VectorType(e, (2,) * rank))
                if rank:
                    out.append(VectorType(e, (2,) * rank, (*[False] * (rank - 1), True)))
    return tuple(out)


@cache
def sampled(constraint: TypeConstraint) -> frozenset[int]:
    """Returns which of the sample types a constraint admits."""
    return frozenset([n for n, t in enumerate(samples()) if constraint.admits(t)])


@cache
def _attribute_samples() -> tuple[Attribute, ...]:
    """Returns attributes of the forms that constraints distinguish, with small numbers of each type."""
    numbers = (*range(-2, 9), 16, 31, 32, 64, 127)
    integers = [IntegerAttr(n, e) for name in _INTEGERS if (e := element_named(name)) is not None for n in numbers]
    floats = [FloatAttr(n, e) for name in _FLOATS if (e := element_named(name)) is not None for n in (-1, 0, 0.5, 1, 2)]
    single: list[Attribute] = [BoolAttr(False), BoolAttr(True), UnitAttr(), StringAttr(""), StringAttr("a")]
    single += [SymbolRefAttr("a"), SymbolRefAttr("a", "b"), *[TypeAttr(t) for t in samples()]]
    out: list[Attribute] = [*integers, *floats, *single, ArrayAttr(()), DictionaryAttr(())]
    out += [ArrayAttr((a,) * n) for a in (*single[:7], *integers, *floats) for n in (1, 2)]
    out.append(DictionaryAttr((("a", UnitAttr()),)))
    for element in (boolean, i8, i16, i32, i64, f32, f64):
        out += [DenseArrayAttr(element, ((element.is_float and 1.0) or 1,) * n) for n in range(4)]
        for shape in ((), (1,), (2,), (2, 2)):
            out.append(DataAttr(data_of(element, shape, (1,) * prod(shape))))
    return tuple(out)


@cache
def sampled_attributes(check: Check) -> frozenset[int]:
    """Returns which of the sample attributes satisfy a check; none if it is on Python values."""
    if not isinstance(check, StorageCheck):
        return frozenset()
    return frozenset([n for n, a in enumerate(_attribute_samples()) if check.holds(a)])


@cache
def accepted_attributes(field: Field) -> frozenset[int]:
    """Returns which of the sample attributes the type of a field accepts."""
    return frozenset(_converted(field))


@cache
def stored_attributes(field: Field) -> frozenset[int]:
    """Returns which of the sample attributes a field has: those that its type accepts and stores unchanged."""
    attr_type, check = field.type, field.check
    all_samples = _attribute_samples()
    out: list[int] = []
    for n, value in _converted(field).items():
        stored = all_samples[n] if attr_type is None else attr_type.to_attribute(value)
        tested = stored if isinstance(check, StorageCheck) else value
        if stored is all_samples[n] and (check is None or check.holds(tested)):
            out.append(n)
    return frozenset(out)


def _converted(field: Field) -> dict[int, Any]:
    """Returns the value in a field of each sample attribute that its type accepts."""
    out: dict[int, Any] = {}
    for n, sample in enumerate(_attribute_samples()):
        try:
            out[n] = sample if field.type is None else field.type.from_attribute(sample)
        except ValueError:
            continue
    return out


@cache
def infers_its_types(definition: type[Op]) -> bool:
    """Returns whether a definition infers result types from operands and attributes, at least for some samples."""
    if not issubclass(definition, MlirOp) or not definition.layout.results:
        return True
    own = [c for c in definition.__mro__ if issubclass(c, MlirOp) and c is not MlirOp]
    if any(name in vars(c) for c in own for name in ("infer", "infer_results")):
        return True
    only = single_types([*definition.layout.inputs, *definition.layout.results])
    expected = [f.name for f in definition.layout.results if not f.optional]
    if all(name in only for name in expected):
        return True
    rules = [rule for rule in definition.type_rules if rule.deduce is not None]
    if not rules:
        return False
    for type in samples():
        typing = _typed(definition, type)
        deduce(rules, only, typing)
        if all(name in typing.types for name in expected):
            return True
    return False


def _typed(definition: type[Op], type: Type) -> Typing:
    """Returns the types of an operation with operands and attributes of a sample type, if it admits that."""
    layout = definition.layout

    def given(field: Field) -> Type:
        pattern = field.pattern
        return type if not isinstance(pattern, TypeConstraint) or pattern.admits(type) else _first(pattern) or type

    counts = {f.name: 1 for f in (*layout.inputs, *layout.results)}
    types = {f.name: (given(f),) for f in (*layout.inputs, *layout.attributes)}
    return Typing([f.name for f in layout.inputs], [f.name for f in layout.results], counts, types)


@cache
def _first(constraint: TypeConstraint) -> Type | None:
    """Returns the first of the sample types that a constraint admits."""
    return next((t for t in samples() if constraint.admits(t)), None)
