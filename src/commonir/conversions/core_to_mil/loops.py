"""The rule for loops that go on while a condition holds.

What a loop stacks goes into lists that grow by an element in each round, beside a number that counts the rounds. A loop
that ends before its first round would stack no elements, which Core ML has no tensors for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from commonir.conversions.core_to_mil.building import DATA_TYPES
from commonir.conversions.operands import element_of, shape_of
from commonir.dialects import core
from commonir.dialects.mil import elementwise, lists
from commonir.dialects.mil.control import WhileLoop
from commonir.dialects.mil.generation import Range1d
from commonir.dialects.mil.operands import DataType
from commonir.dialects.mil.program import Const, Return
from commonir.dialects.mil.shape import Reshape
from commonir.ir.data import data_of
from commonir.ir.operation import Block, Value
from commonir.ir.types import ListType, TensorType, Type, boolean, i32
from commonir.ods import Op
from commonir.rewrite.legalize import Context, Mismatch, Result, rule


@rule(core.While)
def while_(op: core.While, context: Context, initial: tuple[Value, ...]) -> Result:
    condition, body = context.regions
    count, last = len(initial), body.block.last
    if any(_rank(v.type) != _rank(a.type) for v, a in zip(initial, body.block.arguments, strict=False)):
        return Mismatch("what a loop carries has another rank after a round")
    if len(op.ys) == count:
        return WhileLoop(initial, condition, body).outputs
    values = last.values if isinstance(last, Return) else ()
    # What goes on to the next round as well has the type that it has there.
    states = {v: a.type for v, a in zip(values[:count], body.block.arguments, strict=False)}
    stacked = [states.get(v, v.type) for v in values[count:]]
    kinds = [_held(kind) for kind in stacked if isinstance(kind, TensorType) and kind.is_static]
    if len(kinds) < len(op.ys) - count:
        return Mismatch("what a loop stacks has no fixed shape")
    built = [_empty(kind) for kind in kinds]
    variables = (*initial, _whole(0).output, *built)
    for block in (condition.block, body.block):
        block.add_arguments([v.type for v in variables[count:]])
    _write(context, body.block, count, kinds)
    result = WhileLoop(variables, condition, body).outputs
    zero, one = (_whole(n).output for n in (0, 1))
    every = Range1d(result[count], zero, one).output
    return (*result[:count], *[_joined(v, every, s) for v, s in zip(result[count + 1 :], stacked, strict=True)])


def _rank(type: Type) -> int | None:
    return type.rank if isinstance(type, TensorType) else None


def _whole(value: int) -> Const:
    """An integer."""
    return Const(data_of(i32, (), (value,)))


def _held(type: TensorType) -> TensorType:
    """The type of the elements of a list: no scalars, no bools."""
    element = i32 if type.element is boolean else type.element
    return TensorType(element, type.shape or (1,))


def _empty(type: TensorType) -> Value:
    """A list whose elements are still to be written, of a length that changes."""
    lengths = tuple([_whole(n).output for n in type.static_shape])
    result = lists.MakeList(_whole(1).output, True, lengths, DATA_TYPES[type.element]).output
    result.retype(ListType(type))
    return result


def _write(context: Context, block: Block, count: int, kinds: Sequence[TensorType]) -> None:
    """Writes what a round stacks to its place in the lists, and counts the round."""
    last = block.last
    assert isinstance(last, Return)

    def put(op: Op) -> Value:
        return block.insert_before(last, context.legal(op)).results[0]

    number, *before = block.arguments[count:]
    after = [
        put(lists.ListWrite(ls, number, _as_element(put, v, kind)))
        for ls, v, kind in zip(before, last.values[count:], kinds, strict=True)
    ]
    following = put(elementwise.Add(number, put(_whole(1))))
    values = (*last.values[:count], following, *after)
    block.append(Return.build({"values": values, "names": ("",) * len(values)}, ()))
    last.erase()


def _as_element(put: Callable[[Op], Value], value: Value, type: TensorType) -> Value:
    stored = put(elementwise.Cast(value, DataType.INT32)) if element_of(value) is boolean else value
    if shape_of(value) == type.shape:
        return stored
    dims = put(Const(data_of(i32, (len(type.static_shape),), type.static_shape)))
    return put(Reshape(stored, dims))


def _joined(value: Value, every: Value, like: Type) -> Value:
    """All elements of a list along a new axis."""
    result = lists.ListGather(value, every).output
    if not isinstance(like, TensorType):
        return result
    if not like.shape:
        result = core.squeeze(result, (1,))
    return core.cast(result, boolean) if like.element is boolean else result
