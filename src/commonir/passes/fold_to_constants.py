"""The rewrite step that replaces an operation on constants by a constant, in any dialect.

The reference of the operation computes the values; its dialect defines the constant operation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from commonir.ir.core_types import core_type
from commonir.ir.data import Data, data_of, rounded
from commonir.ir.module import Function
from commonir.ir.operation import Block, Value
from commonir.ir.types import ElementType, TensorType, Type, f32, f64
from commonir.ods import Dialects, Form, Op, may_be_known, traits
from commonir.ods.mlir_op import FromData
from commonir.ods.type_rules import element_of
from commonir.passes.named_values import constant_definition
from commonir.passes.simplify import Evaluate
from commonir.passes.taken_branches import constant_data
from commonir.rewrite.greedy import Definers, RewriteStep, Rewritten, SelectiveRewriteStep

_MAX_EXAMINED = 1 << 10
"""Elements up to which contents are looked at one by one."""
_LOW_32_BITS = (1 << 32) - 1


def constant_step(definition: type[Op], evaluate: Evaluate, dialects: Dialects) -> RewriteStep | None:
    """Returns the step that folds operations on constants; None for a definition without one."""
    definers = constant_definitions(definition, dialects)
    if not definers or not is_computed(definition):
        return None

    return _Computing(definers, evaluate)


class _Computing(SelectiveRewriteStep):
    """The rewrite step for operations whose operands are all constants."""

    __slots__ = ("_definitions", "_evaluate")

    def __init__(self, definers: Sequence[type[Op]], evaluate: Evaluate) -> None:
        self._definitions = definers
        self._evaluate = evaluate

    def __call__(self, op: Op) -> Rewritten | None:
        operands = _known_operands(op)
        result = None if operands is None else computed(op, operands, self._evaluate)
        if result is None:
            return None
        values = [build_constant(self._definitions, data, r.type) for data, r in zip(result, op.results, strict=True)]
        built = [v for v in values if v is not None]
        return (op.name, built) if len(built) == len(values) else None

    def may_apply(self, definers: Definers) -> bool:
        return bool(definers) and all(map(may_be_known, definers))


def is_computed(definition: type[Op]) -> bool:
    """Returns whether operations of a definition are deterministic functions of constants, and not constants
    themselves.
    """
    if definition.form is not Form.COMPOSITE or definition.layout.regions or not definition.layout.results:
        return False
    if definition.has_trait(traits.Random) or definition.has_trait(traits.ConstantLike):
        return False
    return definition.has_trait(traits.Pure) and not definition.has_trait(traits.Terminator)


def computed(op: Op, operands: Sequence[Data], evaluate: Evaluate) -> Sequence[Data] | None:
    """Returns the contents of the results of an operation on constants; None if they are not known."""
    if not op.folds(operands):
        return None
    if not op.folds_in_double or not any(d.element is f32 for d in operands):
        result = evaluate(op, operands)
        if result is None or not _is_same_in_32_bits(op, operands, result, evaluate):
            return None
        return [_with_positive_nan(d, operands) for d in result]
    block = Block([_widened(v.type) for v in op.operands])
    wide = op.clone_shallow(block.arguments, ())
    for r in wide.results:
        r.type = _widened(r.type)
    result = evaluate(wide, [_in_element(d, f64) if d.element is f32 else d for d in operands])
    wide.erase()
    if result is None:
        return None
    singles = [element_of(r.type) is f32 for r in op.results]
    return [_in_element(d, f32) if is_single else d for d, is_single in zip(result, singles, strict=True)]


def _is_same_in_32_bits(op: Op, operands: Sequence[Data], results: Sequence[Data], evaluate: Evaluate) -> bool:
    narrow = op.in_32_bits(operands)
    if narrow is None or all(a is b for a, b in zip(narrow, operands, strict=True)):
        return True
    result = evaluate(op, narrow) if op.folds(narrow) else None
    return result is not None and all(
        [int(v) & _LOW_32_BITS for v in a.values()] == [int(v) & _LOW_32_BITS for v in b.values()]
        for a, b in zip(result, results, strict=True)
    )


def _with_positive_nan(data: Data, operands: Sequence[Data]) -> Data:
    """Returns data in which NaNs computed from numbers have no sign, as in MLIR; processors differ in that."""
    if not data.element.is_float or data.count > _MAX_EXAMINED:
        return data
    values = data.values()
    floats = [d for d in operands if d.element.is_float]
    if not floats or not any(v != v for v in values) or any(v != v for d in floats for v in d.values()):  # noqa: PLR0124
        return data
    return data_of(data.element, data.shape, [math.nan if v != v else v for v in values])  # noqa: PLR0124


def _widened(type: Type) -> Type:
    """Returns a type with f64 in place of f32 elements."""
    if type is f32:
        return f64
    core = core_type(type)
    return TensorType(f64, core.shape) if isinstance(core, TensorType) and core.element is f32 else type


def _in_element(data: Data, element: ElementType) -> Data:
    """Returns the same numbers rounded to another element type."""
    return data_of(element, data.shape, [rounded(float(v), element) for v in data.values()])


def _known_operands(op: Op) -> list[Data] | None:
    out: list[Data] = []
    for v in op.operands:
        data = constant_data(v)
        if data is None:
            return None
        out.append(data)
    return out or None


def constant_definitions(definition: type[Op], dialects: Dialects) -> tuple[type[Op], ...]:
    """Returns the constant operations of a definition's dialect."""
    dialect = dialects.get(definition.name.partition(".")[0])
    names = () if dialect is None else dialect.constants
    return tuple([built for name in names if (built := dialects.find(name)) is not None])


def constant_of(function: Function, like: Op, data: Data, type: Type, dialects: Dialects) -> Value | None:
    """Returns a constant with some contents: that of a function, or of the dialect of an operation of it; None if it
    has none.
    """
    definition = constant_definition(function)
    if definition is not None:
        return definition(data).results[0]
    return build_constant(constant_definitions(like.__class__, dialects), data, type)


def build_constant(definers: Sequence[type[Op]], data: Data, type: Type) -> Value | None:
    """Returns a constant with some contents, of the first definition that can store them; None if none can."""
    for definition in definers:
        result = definition.from_data(data, type) if issubclass(definition, FromData) else None
        if isinstance(result, Op):
            return result.results[0]
    return None
