"""Rules that go through a tensor in rounds, as many as its length has bits: in a loop, each for all elements at once.

A short axis, or one whose length is data-dependent, is done with all pairs, which takes the square of its length.
Source: W. D. Hillis and G. L. Steele, Data parallel algorithms (1986).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from commonir.conversions.core_to_core.all_pairs import traced
from commonir.conversions.core_to_linalg.kernels import kernel_value
from commonir.conversions.operands import dims_of
from commonir.conversions.to_mlir.dims import index_constant
from commonir.dialects import core
from commonir.dialects.core.base import accumulator, axis_of, tensor_type
from commonir.dialects.mlir import arith, scf, tensor
from commonir.ir.attributes import DataAttr
from commonir.ir.data import data_of
from commonir.ir.operation import Block, Region, Value
from commonir.ir.types import TensorType, i64
from commonir.ir.types import index as index_type
from commonir.notation import Expr, Index, Indices, Kernel, call, cast, identity, indices, lift, ranges, select
from commonir.ods import operations_behind
from commonir.rewrite.legalize import Context, Mismatch, Result, rule

COUNTED = 128
"""The length of an axis up to which all pairs are less work than rounds."""


def computed(context: Context, kernel: Kernel, operands: Mapping[str, Value]) -> Value:
    """The result of a kernel."""
    return kernel_value(context, kernel, ranges(kernel)[0], operands)


def in_rounds(context: Context, first: Value, numbers: Sequence[int], after: Callable[[Value, Value], Value]) -> Value:
    """Returns the value after one round per number; `after` receives the number as a tensor of one element."""
    table = context.hoist(arith.Constant(DataAttr(data_of(i64, (len(numbers),), numbers))))
    block = Block([index_type, first.type])
    at, state = block.arguments
    number = tensor.Extract.build({"tensor": table, "indices": (at,)}, [i64]).result_
    count = tensor.FromElements.build({"elements": (number,)}, [TensorType(i64, ())]).result_
    result = after(state, count)
    # What is the same in all rounds is left outside, where other operations may need it, too.
    changing: set[Value] = {at, state}
    for built in operations_behind((result,)):
        if not changing.isdisjoint(built.values_used):
            changing.update(built.results)
            block.append(built)
    block.append(scf.Yield((result,)))
    bounds = [index_constant(context, n) for n in (0, len(numbers), 1)]
    arguments = dict(zip(("lowerBound", "upperBound", "step"), bounds, strict=True))
    return scf.For.build({**arguments, "initArgs": (first,), "region": Region([block])}, [first.type]).results[0]


def cumulated(context: Context, x: Value, axis: int, fn: str, *, reverse: bool = False) -> Value:
    """The elements up to each position along an axis of known length, or from it on, added or multiplied."""
    dims = dims_of(x)
    length = dims[axis]
    assert isinstance(length, int)
    s = indices("s", len(dims))
    extents = dict(zip(s, dims, strict=True))

    def after(state: Value, reach: Value) -> Value:
        t = traced("state", state)
        is_there, at = _beside(s, axis, length, traced("reach", reach)[()], reverse=reverse)
        kernel = select(is_there, t[at] + t[s] if fn == "add" else t[at] * t[s], t[s]).by(*s).where(extents)
        return computed(context, kernel, {"state": state, "reach": reach})

    return in_rounds(context, x, [1 << n for n in range((length - 1).bit_length())], after)


def _beside(
    s: Indices, axis: int, length: int, distance: Expr, *, reverse: bool
) -> tuple[Expr, tuple[Index | Expr, ...]]:
    """Whether an axis has a position at a distance before another, or behind it in reverse, and its indices; where it
    has none, those of the other.
    """
    here = lift(s[axis], i64)
    there = here + distance if reverse else here - distance
    is_there = call("less", there, lift(length, i64)) if reverse else call("less_equal", lift(0, i64), there)
    return is_there, (*s[:axis], select(is_there, there, here), *s[axis + 1 :])


@rule(core.Cumulative)
def cumulative(op: core.Cumulative, context: Context, x: Value) -> Result:
    dims, element_type = dims_of(op.x), tensor_type(op.x).element
    axis = axis_of(op.axis, len(dims))
    length = dims[axis]
    if not isinstance(length, int) or length <= COUNTED:
        return Mismatch("a short axis, or one of a length that is not known, is a kernel")
    wide, t = accumulator(element_type), traced("x", x)
    s = indices("s", t.rank)
    extents = dict(zip(s, dims, strict=True))
    element = cast(t[s], wide)
    if op.exclusive:
        is_there, at = _beside(s, axis, length, lift(1, i64), reverse=op.reverse)
        element = select(is_there, cast(t[at], wide), lift(identity(op.fn, wide), wide))
    first = computed(context, element.by(*s).where(extents), {"x": x})
    result = cumulated(context, first, axis, op.fn, reverse=op.reverse)
    return computed(context, cast(traced("y", result)[s], element_type).by(*s).where(extents), {"y": result})
