"""Core operations with regions, and calls."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from commonir.base.codes import MALFORMED_REGION, UNKNOWN_SYMBOL
from commonir.base.diagnostics import Diagnostic
from commonir.base.text import plural
from commonir.dialects.core.base import CoreOp, function_of_several
from commonir.dialects.core.sequences import common_type
from commonir.ir.module import Function, Module
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.types import TensorType, Type, boolean, symbols_of
from commonir.notation import Constraint, NotationError, require
from commonir.ods import (
    Op,
    any_type,
    are_compatible,
    attr_types,
    attribute,
    constraint,
    operand,
    operations_behind,
    region,
    result,
    traits,
)
from commonir.ods.branching import Conditional
from commonir.ods.data_dependent_dims import defined_dims, dims_introduced
from commonir.ods.specialize import specialize
from commonir.symbolic import Dim, DimExpr, plain_symbol, symbols


class Yield(CoreOp, name="core.yield", traits=(traits.Pure, traits.Terminator)):
    """Yields values from a region to the enclosing operation."""

    values: tuple[Value, ...] = operand(any_type, variadic=True)


def yielded(nested: Region) -> tuple[Value, ...]:
    """Returns the values that a region yields; none when its terminator is not the expected one."""
    last = nested.blocks[0].last if nested.blocks else None
    return last.values if isinstance(last, Yield) else ()


def received(nested: Region) -> tuple[Value, ...]:
    """Returns the arguments of a region."""
    return nested.blocks[0].arguments if nested.blocks else ()


def _without_sizes(values: Iterable[Value]) -> list[Type]:
    """The types of values, shapes of tensors forgotten."""
    return [v.type.with_shape(None) if isinstance(v.type, TensorType) else v.type for v in values]


def _differences(what: str, actual: Iterable[Type], expected: Iterable[Type]) -> Iterable[Diagnostic]:
    actual, expected = tuple(actual), tuple(expected)
    if len(actual) != len(expected):
        yield Diagnostic(MALFORMED_REGION, f"{what}: expected {plural(len(expected), 'value')}, found {len(actual)}")
        return
    for n, (f, e) in enumerate(zip(actual, expected, strict=True)):
        if not are_compatible(f, e):
            yield Diagnostic(MALFORMED_REGION, f"{what}: value {n} has type {f}, expected {e}")


class If(CoreOp, Conditional, name="core.if", traits=(traits.SingleBlock,)):
    """Executes one of two regions and returns what it yields; both yield values of the same element types.

    Dims in which the branches differ are dynamic.
    """

    condition: Value = operand("i1[]")
    then: Region = region(doc="runs if the condition is true")
    orelse: Region = region(doc="runs if the condition is false")
    ys: tuple[Value, ...] = result(any_type, variadic=True)

    def infer(self) -> tuple[Type, ...]:
        return tuple(
            [common_type(a.type, b.type) for a, b in zip(yielded(self.then), yielded(self.orelse), strict=False)]
        )

    def choices(self) -> tuple[Region, Region]:
        return self.then, self.orelse

    def verify(self) -> Iterable[Diagnostic]:
        first, second = _without_sizes(yielded(self.then)), _without_sizes(yielded(self.orelse))
        yield from _differences("the second branch", second, first)


class While(CoreOp, name="core.while", traits=(traits.SingleBlock,)):
    """While loop: runs a region on loop-carried values while a condition on them is true.

    `condition` and `body` receive the current values; the condition, evaluated first, yields one bool. Further values
    that the body yields are stacked along a new first axis, one slice per iteration; all slices of one stack have the
    same shape.
    """

    initial: tuple[Value, ...] = operand(any_type, variadic=True)
    condition: Region = region(doc="returns whether there is another iteration")
    body: Region = region(doc="returns the next values")
    ys: tuple[Value, ...] = result(any_type, variadic=True)

    def infer(self) -> tuple[Type, ...]:
        kept = [common_type(v.type, a.type) for v, a in zip(self.initial, received(self.body), strict=False)]
        inside = block_sizes(self.body, self.initial)
        return (*kept, *[_stacked(_outside(v.type, inside), None) for v in yielded(self.body)[len(self.initial) :]])

    def verify(self) -> Iterable[Diagnostic]:
        types = [v.type for v in self.initial]
        for what, nested in (("the condition", self.condition), ("the body", self.body)):
            yield from _differences(f"arguments of {what}", [a.type for a in received(nested)], types)
        result = [v.type for v in yielded(self.body)]
        yield from _differences("results of the body", result[: len(types)], types)
        answer = [v.type for v in yielded(self.condition)]
        yield from _differences("the condition", answer, [TensorType(boolean, ())])


class Scan(CoreOp, name="core.scan", traits=(traits.SingleBlock,)):
    """Runs a region for each slice of sequences along their first axis, in order or reversed.

    The region receives the current states and then a slice of each sequence; it yields the next states and then the
    values that are stacked along a new first axis, at the index of the slices. Returns the last states and the stacked
    values.
    """

    initial: tuple[Value, ...] = operand(any_type, variadic=True)
    sequences: tuple[Value, ...] = operand(any_type, variadic=True)
    body: Region = region(doc="one step: from states and slices, the next states and slices of the outputs")
    reverse: bool = attribute(attr_types.flag, default=False)
    ys: tuple[Value, ...] = result(any_type, variadic=True)

    @constraint("C1")
    def sequences_have_one_length(self) -> object:
        """There is a sequence, and all have the same first size."""
        if not self.sequences:
            return False
        first, *rest = [_length(v) for v in self.sequences]
        needed: tuple[Constraint, ...] = ()
        for n in rest:
            needed += () if n is None or first is None else require(n, "==", first, "length of a sequence", label="C1")
        return needed

    def infer(self) -> tuple[Type, ...]:
        count = len(self.initial)
        given = yielded(self.body)
        states = [common_type(v.type, a.type) for v, a in zip(self.initial, received(self.body), strict=False)]
        inside = block_sizes(self.body, (*self.initial, *self.sequences))
        length = _length(self.sequences[0])
        return (*states, *[_stacked(_outside(v.type, inside), length) for v in given[count:]])

    def verify(self) -> Iterable[Diagnostic]:
        states = [v.type for v in self.initial]
        types = [*states, *[_slice_type(v.type) for v in self.sequences]]
        yield from _differences("arguments of the body", [a.type for a in received(self.body)], types)
        result = [v.type for v in yielded(self.body)]
        yield from _differences("states from the body", result[: len(states)], states)


def _length(sequence: Value) -> Dim | None:
    """The first size of a sequence. Raises: NotationError when it has no axis."""
    shape = sequence.type.shape if isinstance(sequence.type, TensorType) else None
    if shape == ():
        raise NotationError("a sequence has no axis", label="C1")
    return None if shape is None else shape[0]


def _slice_type(type: Type) -> Type:
    if not isinstance(type, TensorType) or type.shape is None:
        return type
    return type.with_shape(type.shape[1:])


def block_sizes(nested: Region, operands: Sequence[Value]) -> frozenset[str]:
    """The symbols that only a nested program knows: its arguments or results in it bring them in.

    Those that what it is given has are known outside, too.
    """
    if not any(isinstance(v.type, TensorType) and not v.type.is_static for v in yielded(nested)):
        return frozenset()
    result = {s.name for s in dims_introduced(received(nested), ())}
    for op in nested.block.operations:
        result.update(s.name for inner in op.walk() for s in defined_dims(inner))
    return frozenset(result.difference(symbols_of([v.type for v in operands])))


def _outside(type: Type, inside: frozenset[str]) -> Type:
    """A type without what only a nested program knows."""
    if not inside or not isinstance(type, TensorType) or type.shape is None:
        return type
    return type.with_shape(tuple([None if _mentions(d, inside) else d for d in type.shape]))


def _mentions(dim: Dim | None, names: frozenset[str]) -> bool:
    return isinstance(dim, DimExpr) and any(n in names for n in symbols(dim))


def _stacked(type: Type, count: Dim | None) -> Type:
    if not isinstance(type, TensorType) or type.shape is None:
        return type
    return type.with_shape((count, *type.shape))


def nested(types: Sequence[Type], build: Callable[..., Sequence[Value]]) -> Region:
    """A region that receives values of some types and yields the results of a function of them.

    Of the operations behind that, those that depend on what is received or draw random numbers become part of the
    region; the others stay outside and are computed once.
    """
    block = Block(types)
    values = tuple(build(*block.arguments))
    inside: set[Operation] = set()
    for op in operations_behind(values):
        used = [v.owner for inner in op.walk() for v in inner.operands]
        draws = isinstance(op, Op) and op.has_trait(traits.Random)
        if draws or any(owner is block or owner in inside for owner in used):
            inside.add(op)
            block.append(op)
    block.append(Yield(values))
    return Region([block])


def inlined(nested_: Region, values: Sequence[Value]) -> tuple[Value, ...]:
    """Returns the yielded values of a nested program for some inputs; its operations are detached and use these values.

    Sizes that its arguments name are those of the values. Raises: NotationError when it does not end as it should.
    """
    block = nested_.block
    last = block.last
    if not isinstance(last, Yield):
        raise NotationError("a nested program does not end as it should")
    sizes: dict[str, Dim] = {}
    for argument, value in zip(block.arguments, values, strict=True):
        for name, size in _named_sizes(argument.type, value.type):
            sizes.setdefault(name, size)
    if sizes:
        specialize(block, sizes)
    for argument, value in zip(block.arguments, values, strict=True):
        argument.replace_all_uses_with(value)
    last = block.last
    result = last.values if isinstance(last, Yield) else ()
    for op in list(block.operations):
        op.detach()
    return result


def _named_sizes(named: Type, actual: Type) -> Iterable[tuple[str, Dim]]:
    """The symbols that are sizes of one type, with the sizes that another has in their place."""
    if not isinstance(named, TensorType) or not isinstance(actual, TensorType):
        return
    for d, size in zip(named.shape or (), actual.shape or (), strict=False):
        name = plain_symbol(d)
        if name is not None and size is not None:
            yield name, size


class Require(CoreOp, name="core.require"):
    """Aborts execution with a message if a condition is false. `{0}`, `{1}` in the message are the first and the second
    of `values`; without values, braces are text.
    """

    condition: Value = operand("i1[]")
    message: str = attribute(attr_types.string)
    values: tuple[Value, ...] = operand(any_type, variadic=True)

    def message_with(self, values: Sequence[object]) -> str:
        """Returns its message with values in their places."""

        def shown(place: re.Match[str]) -> str:
            number = int(place[1])
            return str(values[number]) if number < len(values) else place[0]

        return re.sub(r"\{(\d{1,4})\}", shown, self.message) if values else self.message


class Call(CoreOp, name="core.call"):
    """Runs a function of the module."""

    callee: str = attribute(attr_types.symbol)
    types: tuple[Type, ...] = attribute(attr_types.types)
    arguments: tuple[Value, ...] = operand(any_type, variadic=True)
    ys: tuple[Value, ...] = result(any_type, variadic=True)

    def infer(self) -> tuple[Type, ...]:
        return self.types

    def function(self) -> Function | None:
        """The function it runs; None when no module around it has one of this name."""
        for holder in self.ancestors():
            called = holder.symbol(self.callee) if isinstance(holder, Module) else None
            if isinstance(called, Function):
                return called
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
scan = function_of_several(Scan)
call = function_of_several(Call)
