"""Rules for ONNX operators whose axes an input gives, for versions in which axes are known before running.

There is a branch for each choice of axes, in which they are known, and a number that selects the branch. What only
inserts or removes axes is a reshape.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

from commonir.conversions.operands import dims_of, rank_of, shape_of
from commonir.dialects import core, onnx
from commonir.dialects.onnx.indexing import Cumulative
from commonir.dialects.onnx.reduction import Reduction
from commonir.ir.operation import Block, Region, Value
from commonir.ir.types import i64
from commonir.ods import known_dims, operations_behind
from commonir.ods.fields import FieldKind
from commonir.ods.patterns import version_number
from commonir.rewrite.legalize import Context, Mismatch, Result, rule

MOST_CASES = 16
"""Choices of axes up to which there are branches for all: of any axes of four, of one axis of sixteen."""

_KNOWN = Mismatch("the version takes the axes")
_MAY_BE_EMPTY = "Reshape copies dims for those of size 0 in these versions, and one may be"
# The first opset in which branches may return values of different shapes.
_ANY_SHAPES = 11


@rule(Reduction)
def reduction_by_cases(op: Reduction, context: Context, data: Value, axes: Value | None) -> Result:
    """A branch for each set of as many axes as are given, or of any number."""
    if axes is None or known_dims(axes) is not None or _is_operand(op, "axes", context):
        return _KNOWN
    if rank_of(axes) != 1:
        return Mismatch("the axes are not a vector")
    rank, (count,) = rank_of(data), shape_of(axes)
    # One axis may be named several times.
    counts = range(min(count, 1), min(count, rank) + 1) if isinstance(count, int) else range(rank + 1)
    choices = [chosen for n in counts for chosen in combinations(range(rank), n)]
    if not 0 < len(choices) <= MOST_CASES:
        return Mismatch(f"there are {len(choices)} choices of axes")

    def reduced(chosen: tuple[int, ...]) -> Value:
        everything = None if op.noop_with_empty_axes else tuple(range(rank))
        return type(op).combine(data, chosen or everything, op.keepdims)

    # As bits the axes make one number.
    bits = core.vector(tuple([1 << n for n in range(rank)]), i64)
    places = _from_start(axes, rank)
    code = core.reduce_sum(core.mul(bits, _axes_among(places, rank)[0]), (0,))
    codes = [sum(1 << a for a in chosen) for chosen in choices]
    if (
        version_number(context.target.version) >= _ANY_SHAPES
        or len({shape_of(reduced(chosen)) for chosen in choices}) == 1
    ):
        return _by_cases(code, codes, lambda n: reduced(choices[n]))
    if not isinstance(count, int) or not count:
        return Mismatch(f"branches have one shape before opset {_ANY_SHAPES}, and the number of axes is not known")
    dims = dims_of(data)
    if not op.keepdims and not all(isinstance(d, int) and d > 0 for d in dims):
        return Mismatch(_MAY_BE_EMPTY)
    spread = _by_cases(code, codes, lambda n: core.broadcast_to(type(op).combine(data, choices[n], True), dims))
    return _without_axes(spread, places, op.keepdims)


def _without_axes(x: Value, axes: Value, keepdims: bool) -> Value:
    """Leaves one element along some axes, or none of these axes."""
    rank = rank_of(x)
    is_axis, _ = _axes_among(axes, rank)
    lengths = core.dims(dims_of(x), i64)
    stops = core.add(is_axis, core.mul(_inverse(is_axis), lengths))
    whole = core.dynamic_slice(x, core.vector((0,) * rank, i64), stops, (1,) * rank)
    return whole if keepdims else _reshaped_without(whole, lengths, axes, rank)


def _reshaped_without(x: Value, lengths: Value, axes: Value, rank: int) -> Value:
    """Reshapes a tensor to the lengths of the axes that are not named; several names may be of one axis."""
    is_axis, _ = _axes_among(axes, rank)
    left = core.squeeze(core.non_zero(_inverse(is_axis)), (1,))
    if _count(axes) == 1:
        left = core.reshape(left, (rank - 1,))
    return onnx.Reshape(x, core.gather(lengths, left, 0)).reshaped


def _axes_among(axes: Value, rank: int) -> tuple[Value, Value]:
    """Returns 1 for each axis that is named and else 0, and the place of each axis among those that are not named."""
    numbers = core.iota((1, rank), 1, i64)
    count = core.reduce_sum(core.cast(core.equal(core.unsqueeze(axes, (1,)), numbers), i64), (0,))
    is_axis = core.minimum(count, core.splat(1, count))
    earlier = core.vector(tuple([int(a < b) for b in range(rank) for a in range(rank)]), i64)
    return is_axis, core.reduce_sum(core.mul(core.reshape(earlier, (rank, rank)), _inverse(is_axis)), (1,))


def _inverse(flags: Value) -> Value:
    return core.sub(core.splat(1, flags), flags)


def _count(axes: Value) -> int:
    (count,) = shape_of(axes)
    assert isinstance(count, int)
    return count


def _is_reshaped(data: Value, axes: Value) -> Mismatch | None:
    """Returns why a tensor is not reshaped to a computed shape."""
    if shape_of(axes) == (0,) or not all(isinstance(n, int) for n in shape_of(axes)):
        return Mismatch("the number of axes is not known")
    if not all(isinstance(d, int) and d > 0 for d in shape_of(data)):
        return Mismatch(_MAY_BE_EMPTY)
    return None


@rule(onnx.Squeeze)
def squeezed_by_shape(op: onnx.Squeeze, context: Context, data: Value, axes: Value | None) -> Result:
    """A reshape to a computed shape."""
    if axes is None or known_dims(axes) is not None or _is_operand(op, "axes", context):
        return _KNOWN
    rank = rank_of(data)
    refused = _is_reshaped(data, axes)
    return refused or _reshaped_without(data, core.dims(dims_of(data), i64), _from_start(axes, rank), rank)


@rule(onnx.Unsqueeze)
def unsqueezed_by_shape(op: onnx.Unsqueeze, context: Context, data: Value, axes: Value) -> Result:
    """A reshape to a computed shape."""
    if known_dims(axes) is not None or _is_operand(op, "axes", context):
        return _KNOWN
    refused = _is_reshaped(data, axes)
    if refused:
        return refused
    rank = rank_of(data) + _count(axes)
    is_axis, places = _axes_among(_from_start(axes, rank), rank)
    read = core.minimum(places, core.splat(max(rank_of(data) - 1, 0), places))
    lengths = core.gather(core.dims((*dims_of(data), *((1,) if not rank_of(data) else ())), i64), read, 0)
    return onnx.Reshape(data, core.add(is_axis, core.mul(_inverse(is_axis), lengths))).reshaped


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
