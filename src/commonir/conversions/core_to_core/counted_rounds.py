"""A scan as a loop that counts its rounds, for dialects that have loops of any number of rounds only."""

from __future__ import annotations

from collections.abc import Sequence

from commonir.conversions.operands import dims_of
from commonir.dialects import core
from commonir.dialects.core.base import tensor_type
from commonir.ir.operation import Region, Value
from commonir.ir.types import ElementType, TensorType
from commonir.rewrite.legalize import Mismatch, Result


def counted(
    op: core.Scan, body: Region, initial: tuple[Value, ...], sequences: tuple[Value, ...], positions: ElementType
) -> Result:
    """A loop with a counter: slices are read at it, and values put into stacks. `body` is the body as legalized."""
    count = len(initial)
    first = op.sequences[0].type
    length = (first.shape or (None,))[0] if isinstance(first, TensorType) else None
    if length is None:
        return Mismatch("the number of rounds is not known")
    if not all(isinstance(v.type, TensorType) for v in (*sequences, *initial, *op.ys)):
        return Mismatch("a loop goes round with values that are not tensors")
    stacks = [core.broadcast_to(core.splat(_nothing(y), y), dims_of(y)) for y in op.ys[count:]]
    start, one = core.scalar(0, positions), core.scalar(1, positions)
    states = [*[v.type for v in initial], *[s.type for s in stacks]]
    limit = core.dims((length,), positions, True)

    def condition(*operands: Value) -> list[Value]:
        return [core.less(operands[0], limit)]

    def step(*operands: Value) -> list[Value]:
        at, values, piles = operands[0], operands[1 : 1 + count], operands[1 + count :]
        place = core.sub(core.sub(limit, one), at) if op.reverse else at
        slices = [core.gather(s, place, 0) for s in sequences]
        result = _inlined(body, (*values, *slices))
        row = core.reshape(place, (1, 1))
        grown = [core.scatter_nd(p, row, core.unsqueeze(v, (0,))) for p, v in zip(piles, result[count:], strict=True)]
        return [core.add(at, one), *result[:count], *grown]

    types = [start.type, *states]
    built = core.while_((start, *initial, *stacks), core.nested(types, condition), core.nested(types, step))
    return tuple(built[1:])


def _inlined(region: Region, values: Sequence[Value]) -> tuple[Value, ...]:
    """Returns the results of a nested program for some values; its operations are not in a block yet."""
    block = region.block
    last = block.last
    assert last is not None
    for argument, value in zip(block.arguments, values, strict=True):
        argument.replace_all_uses_with(value)
    result = last.operands
    last.erase()
    for op in list(block.operations):
        op.detach()
    return result


def _nothing(y: Value) -> float | bool:
    element_type = tensor_type(y).element
    return False if element_type.kind == "bool" else 0.0 if element_type.is_float else 0
