"""Sample types, one for each case that constraints distinguish, and whether definitions infer types from them.

Rules are compared by the samples that their constraints admit. If a definition infers no result types for any sample,
its operations cannot be built without them.
"""

from __future__ import annotations

from functools import cache

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
    element_named,
    none,
)
from commonir.ods import MlirOp, Op
from commonir.ods.fields import Field
from commonir.ods.mlir_op import single_types
from commonir.ods.patterns import TypeConstraint
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
