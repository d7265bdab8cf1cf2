"""Rules about operations that repeat or undo the one before them, and about selections. Results are the same bits."""

from __future__ import annotations

from math import inf

from commonir.dialects import core
from commonir.ir.operation import Value
from commonir.passes.core_forms import CoreForm, inner_form, shared_form

INVOLUTIONS = (core.Neg, core.LogicalNot, core.BitwiseNot)
"""Operations that undo themselves."""
PROJECTIONS = (core.Abs, core.Sign, core.Floor, core.Ceil, core.Round, core.Truncate)
"""Operations that leave their results as they are."""
LIMITS = (core.Relu, core.Clip)


def undone(form: CoreForm, result: Value) -> Value | None:
    """The operand of an operation that undoes the one before."""
    inner = shared_form(form.x, type(form.op))
    return inner.x if inner is not None and inner.x.type is result.type else None


def repeated(form: CoreForm, result: Value) -> Value | None:
    """The result of the operation before, which leaves nothing to do."""
    inner = shared_form(form.x, type(form.op))
    return form.x if inner is not None and form.x.type is result.type else None


def limited_once(form: CoreForm, result: Value) -> Value | None:
    """Of two ranges that have values in common, these."""
    inner = shared_form(form.x, *LIMITS)
    if inner is None:
        return None
    (a, b), (c, d) = _range(inner), _range(form)
    low, high = max(a, c), min(b, d)
    if not (a <= b and c <= d and low <= high):
        return None
    if (low, high) == (a, b):
        return form.x if form.x.type is result.type else None
    return core.clip(inner.x, low, high) if inner_form(form.x, *LIMITS) is not None else None


def _range(form: CoreForm) -> tuple[float, float]:
    return (form.op.low, form.op.high) if isinstance(form.op, core.Clip) else (0, inf)


def selected_once(form: CoreForm, result: Value) -> Value | None:
    """A selection between two equal values is this value; one by a negated condition selects the other way."""
    condition, a, b = form.operands
    assert isinstance(condition, Value)
    assert isinstance(a, Value)
    assert isinstance(b, Value)
    if a is b and a.type is result.type:
        return a
    inner = inner_form(condition, core.LogicalNot)
    return None if inner is None else core.select(inner.x, b, a)
