"""Core operations with nested programs, and calls."""

from __future__ import annotations

from collections.abc import Iterable

from commonir.base.codes import MALFORMED_REGION
from commonir.base.diagnostics import Diagnostic
from commonir.dialects.core.base import CoreOp, function_of_several
from commonir.ir.operation import Region, Value
from commonir.ir.types import TensorType, Type, boolean
from commonir.ods import any_type, are_compatible, attribute, kinds, operand, region, result, traits


class Yield(CoreOp, name="core.yield", traits=(traits.Pure, traits.Terminator)):
    """Ends a nested block and hands values to the operation around it."""

    __slots__ = ()

    values: tuple[Value, ...] = operand(any_type, variadic=True)


def yielded(nested: Region) -> tuple[Value, ...]:
    """What a region hands to the operation around it; nothing when it does not end as it should."""
    last = nested.blocks[0].last if nested.blocks else None
    return last.values if isinstance(last, Yield) else ()


def _differences(what: str, found: Iterable[Type], expected: Iterable[Type]) -> Iterable[Diagnostic]:
    found, expected = tuple(found), tuple(expected)
    if len(found) != len(expected):
        yield Diagnostic(MALFORMED_REGION, f"{what}: expected {len(expected)} values, found {len(found)}")
        return
    for n, (f, e) in enumerate(zip(found, expected, strict=True)):
        if not are_compatible(f, e):
            yield Diagnostic(MALFORMED_REGION, f"{what}: value {n} has type {f}, expected {e}")


class If(CoreOp, name="core.if", traits=(traits.SingleBlock,)):
    """Runs one of two nested programs and gives what it yields."""

    __slots__ = ()

    condition: Value = operand("i1[]")
    then: Region = region()
    orelse: Region = region()
    ys: tuple[Value, ...] = result(any_type, variadic=True)

    def infer(self) -> tuple[Type, ...]:
        return tuple([_common(a.type, b.type) for a, b in zip(yielded(self.then), yielded(self.orelse), strict=False)])

    def verify(self) -> Iterable[Diagnostic]:
        types = [v.type for v in yielded(self.then)]
        yield from _differences("the second branch", [v.type for v in yielded(self.orelse)], types)


def _common(a: Type, b: Type) -> Type:
    """A type for values of either type: dimensions that differ are unknown."""
    if a is b or not isinstance(a, TensorType) or not isinstance(b, TensorType):
        return a
    if a.shape is None or b.shape is None or len(a.shape) != len(b.shape):
        return a.with_shape(None)
    return a.with_shape(tuple([x if x == y else None for x, y in zip(a.shape, b.shape, strict=True)]))


class While(CoreOp, name="core.while", traits=(traits.SingleBlock,)):
    """Runs a nested program again and again on its own results while a condition on them holds.

    `condition` and `body` receive the current values; the condition, which is asked first, yields one truth value.
    """

    __slots__ = ()

    initial: tuple[Value, ...] = operand(any_type, variadic=True)
    condition: Region = region()
    body: Region = region()
    ys: tuple[Value, ...] = result(any_type, variadic=True)

    def infer(self) -> tuple[Type, ...]:
        return tuple([_common(v.type, a.type) for v, a in zip(self.initial, self.body.block.arguments, strict=False)])

    def verify(self) -> Iterable[Diagnostic]:
        types = [v.type for v in self.initial]
        for what, nested in (("the condition", self.condition), ("the body", self.body)):
            arguments = nested.blocks[0].arguments if nested.blocks else ()
            yield from _differences(f"arguments of {what}", [a.type for a in arguments], types)
        yield from _differences("results of the body", [v.type for v in yielded(self.body)], types)
        answer = [v.type for v in yielded(self.condition)]
        yield from _differences("the condition", answer, [TensorType(boolean, ())])


class Call(CoreOp, name="core.call"):
    """Runs a function of the module."""

    __slots__ = ()

    callee: str = attribute(kinds.symbol)
    types: tuple[Type, ...] = attribute(kinds.types)
    arguments: tuple[Value, ...] = operand(any_type, variadic=True)
    ys: tuple[Value, ...] = result(any_type, variadic=True)

    def infer(self) -> tuple[Type, ...]:
        return self.types


if_ = function_of_several(If)
while_ = function_of_several(While)
call = function_of_several(Call)
