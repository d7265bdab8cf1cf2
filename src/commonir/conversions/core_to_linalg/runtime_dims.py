"""Rules for operations whose sizes are data: what they need is read from tensors as positions."""

from __future__ import annotations

from collections.abc import Sequence

from commonir.conversions.core_to_linalg.scalars import Scalars
from commonir.conversions.core_to_linalg.tensors import generic, padded_with
from commonir.conversions.operands import element_of, rank_of, shape_of
from commonir.conversions.to_mlir.dims import axis_size, index_constant
from commonir.conversions.to_mlir.finish import signless
from commonir.dialects import core
from commonir.dialects.core.base import axis_of, tensor_type
from commonir.dialects.mlir import arith, tensor
from commonir.dialects.mlir.linalg.base import Index_
from commonir.ir.affine import AffineDim
from commonir.ir.operation import Block, Value
from commonir.ir.types import DYNAMIC, TensorType, i64, index
from commonir.ods import Op
from commonir.rewrite.legalize import Context, Mismatch, Result, rule


class Loose(Scalars):
    """Operations on scalars that are in no block yet."""

    def __init__(self, context: Context) -> None:
        super().__init__(context, Block())

    def make(self, op: Op) -> Value:
        return op.results[0]

    def element(self, x: Value, *at: int) -> Value:
        """An element of a tensor."""
        where = tuple([index_constant(self.context, n) for n in at])
        return self.make(tensor.Extract.build({"tensor": x, "indices": where}, [signless(element_of(x))]))

    def position(self, x: Value, *at: int) -> Value:
        """An element of a tensor of integers, as a position."""
        return self.to_index(self.element(x, *at), element_of(x))

    def larger(self, a: Value, b: Value) -> Value:
        """The larger of two positions."""
        return self.make(arith.MaxSI(a, b))

    def smaller(self, a: Value, b: Value) -> Value:
        """The smaller of two positions."""
        return self.make(arith.MinSI(a, b))

    def counted(self, position: Value, dim: Value) -> Value:
        """A position from the start: one below zero counts from the end."""
        zero = index_constant(self.context, 0)
        is_below = self.make(arith.CmpI(predicate=arith.CmpIPredicate.SLT, lhs=position, rhs=zero))
        return self.make(arith.Select(is_below, self.make(arith.AddI(position, dim)), position))


def measured(context: Context, type: TensorType, dims: Sequence[Value]) -> tuple[tuple[int, ...], tuple[Value, ...]]:
    """The sizes of a type, with values in place of those that it leaves open."""
    del context
    shape = type.shape or ()
    static = tuple([d if isinstance(d, int) else DYNAMIC for d in shape])
    return static, tuple([v for v, d in zip(dims, shape, strict=True) if not isinstance(d, int)])


@rule(core.Dimension)
def dimension(op: core.Dimension, context: Context, x: Value) -> Result:
    s = Loose(context)
    dim = axis_size(context, x, axis_of(op.axis, rank_of(op.x)))
    return tensor.FromElements.build({"elements": (s.of_index(dim, op.element),)}, [op.y.type])


@rule(core.ShapeOf)
def sizes(op: core.ShapeOf, context: Context, x: Value) -> Result:
    s = Loose(context)
    result = [s.of_index(axis_size(context, x, a), op.element) for a in range(rank_of(op.x))]
    return tensor.FromElements.build({"elements": tuple(result)}, [op.y.type])


@rule(core.Range)
def numbers(op: core.Range, context: Context, start: Value, limit: Value, step: Value) -> Result:
    s = Loose(context)
    type = tensor_type(op.y)
    element = type.element
    first, last, by = [s.element(v) for v in (start, limit, step)]
    span = s.apply("subtract", (last, first), element)
    if element.is_float:
        quotient = s.apply("ceil", (s.apply("divide", (span, by), element),), element)
        count = s.to_index(s.cast(quotient, element, i64), i64)
    else:
        count = s.make(arith.CeilDivSI(s.to_index(span, element), s.to_index(by, element)))
    count = s.larger(count, index_constant(context, 0))
    dynamic = measured(context, type, [count])[1]
    target = tensor.Empty.build({"dynamic_sizes": dynamic}, [type]).results[0]

    def body(inner: Scalars, arguments: Sequence[Value]) -> Sequence[Value]:
        del arguments
        at = inner.of_index(inner.make(Index_(0)), element)
        return (inner.apply("add", (first, inner.apply("multiply", (at, by), element)), element),)

    return generic(context, [], [(target, [AffineDim(0)])], [False], body)


@rule(core.DynamicReshape)
def reshape(op: core.DynamicReshape, context: Context, x: Value, shape: Value) -> Result:
    """All axes made one, which is divided; a size of -1 is what the others leave."""
    s = Loose(context)
    (rank,) = shape_of(op.shape)
    if not isinstance(rank, int):
        return Mismatch("the rank of the result is not known before running")
    one = index_constant(context, 1)
    arguments = [s.position(shape, n) for n in range(rank)]
    is_inferred = [
        s.make(arith.CmpI(predicate=arith.CmpIPredicate.SLT, lhs=g, rhs=index_constant(context, 0))) for g in arguments
    ]
    known = one
    for g, o in zip(arguments, is_inferred, strict=True):
        known = s.make(arith.MulI(known, s.make(arith.Select(o, one, g))))
    whole = one
    for a in range(rank_of(op.x)):
        whole = s.make(arith.MulI(whole, axis_size(context, x, a)))
    rest = s.make(arith.DivSI(whole, s.larger(known, one)))
    expected = [s.make(arith.Select(o, rest, g)) for g, o in zip(arguments, is_inferred, strict=True)]
    type = tensor_type(op.y)
    if type.shape is None:
        type = type.with_shape((None,) * rank)
    elements = tensor.FromElements.build({"elements": tuple(expected)}, [TensorType(index, (rank,))]).results[0]
    return tensor.Reshape.build({"source": x, "shape": elements}, [type])


@rule(core.DynamicSlice)
def slice_(op: core.DynamicSlice, context: Context, x: Value, starts: Value, stops: Value) -> Result:
    s = Loose(context)
    type = tensor_type(op.y)
    zero = index_constant(context, 0)
    offsets: list[Value] = []
    counts: list[Value] = []
    for a, step in enumerate(op.steps):
        dim = axis_size(context, x, a)
        low, high = zero, dim
        if step < 0:
            low, high = index_constant(context, -1), s.make(arith.SubI(dim, index_constant(context, 1)))
        first, last = [s.smaller(s.larger(s.counted(s.position(v, a), dim), low), high) for v in (starts, stops)]
        span = s.make(arith.SubI(last, first) if step > 0 else arith.SubI(first, last))
        count = s.make(arith.CeilDivSI(span, index_constant(context, abs(step))))
        offsets.append(first)
        counts.append(s.larger(count, zero))
    if min(op.steps, default=1) > 0:
        static, dynamic = measured(context, type, counts)
        arguments = {
            "source": x,
            "static_offsets": (DYNAMIC,) * len(offsets),
            "offsets": tuple(offsets),
            "static_sizes": static,
            "sizes": dynamic,
            "static_strides": op.steps,
        }
        return tensor.ExtractSlice.build(arguments, [type])
    target = tensor.Empty.build({"dynamic_sizes": measured(context, type, counts)[1]}, [type]).results[0]

    def body(inner: Scalars, arguments: Sequence[Value]) -> Sequence[Value]:
        del arguments
        places: list[Value] = []
        for a, step in enumerate(op.steps):
            moved = inner.make(arith.MulI(inner.make(Index_(a)), index_constant(context, step)))
            places.append(inner.make(arith.AddI(offsets[a], moved)))
        element = signless(type.element)
        return (inner.make(tensor.Extract.build({"tensor": x, "indices": tuple(places)}, [element])),)

    rank = len(op.steps)
    return generic(context, [], [(target, [AffineDim(a) for a in range(rank)])], [False] * rank, body)


@rule(core.DynamicPad)
def pad(op: core.DynamicPad, context: Context, x: Value, before: Value, after: Value) -> Result:
    if op.mode is not core.PadMode.CONSTANT:
        return Mismatch("tensor.pad does not repeat elements")
    s = Loose(context)
    rank = rank_of(op.x)
    zero = index_constant(context, 0)
    low, high = [[s.position(v, a) for a in range(rank)] for v in (before, after)]
    gone = [[s.larger(s.make(arith.SubI(zero, n)), zero) for n in side] for side in (low, high)]
    more = [[s.larger(n, zero) for n in side] for side in (low, high)]
    left: list[Value] = []
    for a in range(rank):
        length = s.make(arith.SubI(axis_size(context, x, a), s.make(arith.AddI(gone[0][a], gone[1][a]))))
        left.append(s.larger(length, zero))
    open_ = (DYNAMIC,) * rank
    arguments = {
        "source": x,
        "static_offsets": open_,
        "offsets": tuple(gone[0]),
        "static_sizes": open_,
        "sizes": tuple(left),
        "static_strides": (1,) * rank,
    }
    type = tensor_type(op.x)
    cut = tensor.ExtractSlice.build(arguments, [type.with_shape((None,) * rank)]).results[0]
    element = type.element
    number: float = bool(op.value) if element.kind == "bool" else int(op.value) if element.is_integer else op.value
    fill = s.constant(number, element)
    return padded_with(cut, tensor_type(op.y), (open_, tuple(more[0])), (open_, tuple(more[1])), fill)


@rule(core.CheckedPositions)
def checked(op: core.CheckedPositions, context: Context, positions: Value, limits: Value) -> Result:
    """As they are: compilers take positions for inside."""
    return positions
