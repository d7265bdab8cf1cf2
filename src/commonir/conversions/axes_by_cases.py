"""Rules for ONNX operators whose axes an input gives, for versions in which axes are known before running.

There is a branch for each choice of axes, in which they are known, and a number that selects the branch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

from commonir.conversions.operands import rank_of, shape_of
from commonir.dialects import core, onnx
from commonir.dialects.onnx.indexing import Cumulative
from commonir.dialects.onnx.reduction import Reduction
from commonir.ir.operation import Block, Region, Value
from commonir.ir.types import i64
from commonir.ods import known_dims, operations_behind
from commonir.ods.fields import FieldKind
from commonir.rewrite.legalize import Context, Mismatch, Result, rule

MOST_CASES = 16
"""Choices of axes up to which there are branches for all: of any axes of four, of one axis of sixteen."""

_KNOWN = Mismatch("the version takes the axes")


@rule(Reduction)
def reduction_by_cases(op: Reduction, context: Context, data: Value, axes: Value | None) -> Result:
    """A branch for each set of as many axes as are given, or of any number."""
    if axes is None or known_dims(axes) is not None or _is_operand(op, "axes", context):
        return _KNOWN
    if rank_of(axes) != 1:
        return Mismatch("the axes are not a vector")
    rank, (count,) = rank_of(data), shape_of(axes)
    counts = (count,) if isinstance(count, int) else range(rank + 1)
    choices = [chosen for n in counts for chosen in combinations(range(rank), n)]
    if not 0 < len(choices) <= MOST_CASES:
        return Mismatch(f"there are {len(choices)} choices of axes")

    def reduced(chosen: tuple[int, ...]) -> Value:
        everything = None if op.noop_with_empty_axes else tuple(range(rank))
        return type(op).combine(data, chosen or everything, op.keepdims)

    # Axes are named once: as bits they make one number. Negative ones count from the end of the table, too.
    bits = core.vector(tuple([1 << n for n in range(rank)]), i64)
    code = core.reduce_sum(core.gather(bits, _from_start(axes, rank), 0), (0,))
    return _by_cases(code, [sum(1 << a for a in chosen) for chosen in choices], lambda n: reduced(choices[n]))


@rule(Cumulative)
def running_by_cases(op: Cumulative, context: Context, x: Value, axis: Value) -> Result:
    """A branch for each axis."""
    rank = rank_of(x)
    if known_dims(axis) is not None or _is_operand(op, "axis", context):
        return _KNOWN
    if not 0 < rank <= MOST_CASES:
        return Mismatch(f"there are {rank} choices of axes")
    code = core.reshape(_from_start(axis, rank), ())
    return _by_cases(code, range(rank), lambda n: type(op).combine(x, n, op.exclusive, op.reverse))


def _is_operand(op: onnx.OnnxOp, name: str, context: Context) -> bool:
    """Returns whether the version has the operator with an operand, which may be computed."""
    definition = onnx.DIALECT.find(op.name, context.target.version)
    return definition is not None and definition.layout.by_name[name].kind is not FieldKind.ATTRIBUTE


def _from_start(axes: Value, rank: int) -> Value:
    """Axes counted from the front, as i64."""
    wide = core.cast(axes, i64)
    return core.select(core.less(wide, core.splat(0, wide)), core.add(wide, core.splat(rank, wide)), wide)


def _by_cases(code: Value, codes: Sequence[int], build: Callable[[int], Value]) -> Value:
    """Builds a value for each of some codes and returns the one at the position of `code`."""
    conditions = [core.equal(code, core.splat(n, code)) for n in codes]
    *others, last = range(len(codes))
    value = build(last)
    for n in reversed(others):
        # The condition of a choice within another branch is computed there, from the number outside.
        value = core.if_(conditions[n], _branch(build(n), code), _branch(value, code))[0]
    return value


def _branch(value: Value, code: Value) -> Region:
    """A region that computes a value, except for the number that selects the choice."""
    block = Block()
    for op in operations_behind((value,), frozenset([code])):
        block.append(op)
    block.append(core.Yield((value,)))
    return Region([block])
