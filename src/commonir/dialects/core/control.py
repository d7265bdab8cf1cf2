"""Core operations with nested programs, and calls."""

from __future__ import annotations

from collections.abc import Iterable

from commonir.base.codes import MALFORMED_REGION, UNKNOWN_SYMBOL
from commonir.base.diagnostics import Diagnostic
from commonir.dialects.core.base import CoreOp, function_of_several
from commonir.ir.module import Function, Module
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


def received(nested: Region) -> tuple[Value, ...]:
    """What a region is given."""
    return nested.blocks[0].arguments if nested.blocks else ()


def _without_sizes(values: Iterable[Value]) -> list[Type]:
    """The types of values, shapes of tensors forgotten."""
    return [v.type.with_shape(None) if isinstance(v.type, TensorType) else v.type for v in values]


def _differences(what: str, found: Iterable[Type], expected: Iterable[Type]) -> Iterable[Diagnostic]:
    found, expected = tuple(found), tuple(expected)
    if len(found) != len(expected):
        yield Diagnostic(MALFORMED_REGION, f"{what}: expected {len(expected)} values, found {len(found)}")
        return
    for n, (f, e) in enumerate(zip(found, expected, strict=True)):
        if not are_compatible(f, e):
            yield Diagnostic(MALFORMED_REGION, f"{what}: value {n} has type {f}, expected {e}")


class If(CoreOp, name="core.if", traits=(traits.SingleBlock,)):
    """Runs one of two nested programs and gives what it yields; both yield values of the same element types.

    Sizes in which the branches differ are unknown before running.
    """

    __slots__ = ()

    condition: Value = operand("i1[]")
    then: Region = region()
    orelse: Region = region()
    ys: tuple[Value, ...] = result(any_type, variadic=True)

    def infer(self) -> tuple[Type, ...]:
        return tuple([_common(a.type, b.type) for a, b in zip(yielded(self.then), yielded(self.orelse), strict=False)])

    def verify(self) -> Iterable[Diagnostic]:
        first, second = _without_sizes(yielded(self.then)), _without_sizes(yielded(self.orelse))
        yield from _differences("the second branch", second, first)


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
        return tuple([_common(v.type, a.type) for v, a in zip(self.initial, received(self.body), strict=False)])

    def verify(self) -> Iterable[Diagnostic]:
        types = [v.type for v in self.initial]
        for what, nested in (("the condition", self.condition), ("the body", self.body)):
            yield from _differences(f"arguments of {what}", [a.type for a in received(nested)], types)
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

    def function(self) -> Function | None:
        """The function it runs; None when no module around it has one of this name."""
        for holder in self.ancestors():
            if isinstance(holder, Module) and self.callee in holder.functions:
                return holder.functions[self.callee]
        return None

    def verify(self) -> Iterable[Diagnostic]:
        called = self.function()
        if called is None:
            yield Diagnostic(UNKNOWN_SYMBOL, f"{self.name}: the program has no function '{self.callee}'")
            return
        here = f"{self.name}: '{self.callee}'"
        yield from _differences(f"{here}, arguments", [v.type for v in self.arguments], [v.type for v in called.inputs])
        yield from _differences(f"{here}, results", self.types, [v.type for v in called.outputs])


if_ = function_of_several(If)
while_ = function_of_several(While)
call = function_of_several(Call)
