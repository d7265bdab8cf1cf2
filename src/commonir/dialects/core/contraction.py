"""Core operations that multiply and sum: matrix products, convolutions, windows.

Products of half-precision elements are formed and summed in single precision and rounded once.
"""

from __future__ import annotations

from typing import TypeVar

from commonir.base.text import plural
from commonir.dialects.core.base import FLOATS, NUMBERS, CoreOp, accumulator, function, function_of_several
from commonir.ir.operation import Value
from commonir.ir.types import i64
from commonir.notation import (
    Constraint,
    Expr,
    Index,
    Indices,
    Kernel,
    NotationError,
    Tensor,
    broadcast_shape,
    cast,
    fold,
    indices,
    lift,
    limits,
    require,
    select,
    total,
)
from commonir.notation import linear as row_major
from commonir.ods import attr_types, attribute, non_negative, operand, positive, result, traits
from commonir.symbolic import Dim, ceil_div, element_count, floor_div, index, largest, smallest

T = TypeVar("T")
Pairs = tuple[tuple[int, int], ...]


class MatMul(CoreOp, name="core.matmul", traits=(traits.Pure,)):
    """Product of matrices; leading axes are broadcast, and a vector is a matrix of one row (left) or column (right).

    C1: the operands have rank 1 or more. C2: the contracted axes have the same size. C3: a vector is not transposed.
    """

    a: Value = operand("T[*]")
    b: Value = operand("T[*]")
    transpose_a: bool = attribute(attr_types.flag, default=False)
    transpose_b: bool = attribute(attr_types.flag, default=False)
    y: Value = result("T[*]")
    T = NUMBERS

    def reference(self, a: Tensor, b: Tensor, *, m: Index, n: Index, k: Index) -> Kernel:
        if not a.shape or not b.shape:
            raise NotationError("an operand has rank 0", label="C1")
        if (self.transpose_a and a.rank == 1) or (self.transpose_b and b.rank == 1):
            raise NotationError("a vector cannot be transposed", label="C3")
        batch, constraints = broadcast_shape(a.shape[:-2], b.shape[:-2], names=("the batch of a", "the batch of b"))
        c = indices("c", len(batch))
        left = [k] if a.rank == 1 else [k, m] if self.transpose_a else [m, k]
        right = [k] if b.rank == 1 else [n, k] if self.transpose_b else [k, n]
        depths = (a.shape[-1 - (self.transpose_a and 1)], b.shape[-1 if self.transpose_b or b.rank == 1 else -2])
        constraints += require(depths[0], "==", depths[1], "size of the summed axes", label="C2")
        wide = accumulator(a.dtype)
        lhs = cast(a[(*_batch_position(a, c), *left)], wide)
        rhs = cast(b[(*_batch_position(b, c), *right)], wide)
        axes = (*c, *((m,) if a.rank > 1 else ()), *((n,) if b.rank > 1 else ()))
        return cast(total(k, lhs * rhs), a.dtype).by(*axes).where(dict(zip(c, batch, strict=True)), constraints)


def _batch_position(x: Tensor, at: Indices) -> list[Dim]:
    """Returns the indices of an operand's leading axes, broadcast against those of the result."""
    leading = x.shape[:-2]
    return [0 if n == 1 else i for n, i in zip(leading, at[len(at) - len(leading) :], strict=True)]


_MOST_FACTORS = 64


class Einsum(CoreOp, name="core.einsum", traits=(traits.Pure,)):
    """Einstein summation: `ij,jk->ik` names the axes of operands and result; axes that are not in the result are summed
    over.

    C1: the equation has one term for each operand and one letter for each of its axes. C2: the result has each letter
    once, and only letters of the operands. C3: there are up to 64 operands, as numpy's einsum takes.
    """

    xs: tuple[Value, ...] = operand("T[*]", variadic=True)
    equation: str = attribute(attr_types.string)
    y: Value = result("T[*]")
    T = NUMBERS

    def reference(self, xs: tuple[Tensor, ...]) -> Kernel:
        left, arrow, right = self.equation.replace(" ", "").partition("->")
        terms = left.split(",")
        if len(xs) > _MOST_FACTORS:
            raise NotationError(f"there are {len(xs)} operands, at most {_MOST_FACTORS} are allowed", label="C3")
        if not arrow or len(terms) != len(xs) or any(len(t) != x.rank for t, x in zip(terms, xs, strict=True)):
            raise NotationError(f"equation '{self.equation}' does not fit the operands", label="C1")
        named = "".join(terms)
        if any(not c.isalpha() for c in named):
            raise NotationError(f"equation '{self.equation}' names axes otherwise than by letters", label="C1")
        if len(set(right)) != len(right) or not set(right) <= set(named):
            raise NotationError(f"equation '{self.equation}' has no result '{right}'", label="C2")
        wide = accumulator(xs[0].dtype)
        body: Expr | None = None
        for x, t in zip(xs, terms, strict=True):
            factor = cast(x[tuple(map(index, t))], wide)
            body = factor if body is None else body * factor
        summed = [index(i) for i in dict.fromkeys(named) if i not in right]
        return cast(total(summed, lift(1, wide) if body is None else body), xs[0].dtype).by(*map(index, right))


def _spread(values: tuple[T, ...], what: str, rank: int, default: T, label: str) -> tuple[T, ...]:
    """One entry for each spatial axis. Raises: NotationError for another number of them, but none."""
    if values and len(values) != rank:
        raise NotationError(f"{len(values)} {what} for {rank} spatial axes", label=label)
    return values or (default,) * rank


class Conv(CoreOp, name="core.conv", traits=(traits.Pure,), same_rank="s k o"):
    """Convolution over any number of spatial axes (without mirroring the filter), with zeros as padding.

    C1: x has groups times the channels of weight. C2: the number of filters is a multiple of groups. C3: the filter
    fits into the padded input. C4: strides, dilations and pads have one entry for each spatial axis, or none.
    """

    x: Value = operand("T[n, cin, s*]")
    weight: Value = operand("T[f, c, k*]")
    bias: Value | None = operand("T[f]", default=None)
    strides: tuple[int, ...] = attribute(attr_types.integers, default=(), check=positive)
    dilations: tuple[int, ...] = attribute(attr_types.integers, default=(), check=positive)
    pads: Pairs = attribute(attr_types.pairs, default=())
    groups: int = attribute(attr_types.integer, default=1, check=positive)
    y: Value = result("T[n, f, o*]")
    T = NUMBERS

    def reference(
        self, x: Tensor, weight: Tensor, bias: Tensor | None, *, n: Index, f: Index, c: Index, o: Indices, k: Indices
    ) -> Kernel:
        rank = len(o)
        strides = _spread(self.strides, "strides", rank, 1, "C4")
        dilations = _spread(self.dilations, "dilations", rank, 1, "C4")
        pads = _spread(self.pads, "pads", rank, (0, 0), "C4")
        filters, channels = weight.shape[:2]
        padded = x.padded((0, 0, *(p for p, _ in pads)), (0, 0, *(p for _, p in pads)))
        at = [i * s + j * d for s, d, i, j in zip(strides, dilations, o, k, strict=True)]
        whole = require(x.shape[1], "==", channels * self.groups, "channels of x", label="C1")
        whole += require(filters % self.groups, "==", 0, "filters modulo groups", label="C2")
        for n_in, m, d, (lo, hi) in zip(x.shape[2:], weight.shape[2:], dilations, pads, strict=True):
            whole += require((m - 1) * d + 1, "<=", n_in + lo + hi, "size of the filter", label="C3")
        # Without filters nothing is read.
        group = 0 if self.groups == 1 or filters == 0 else f // floor_div(filters, self.groups)
        wide = accumulator(x.dtype)
        summed = total((c, *k), cast(padded[(n, group * channels + c, *at)], wide) * cast(weight[(f, c, *k)], wide))
        y = summed if bias is None else summed + cast(bias[f], wide)
        return cast(y, x.dtype).by(n, f, *o).where({}, whole)


class ConvTranspose(CoreOp, name="core.conv_transpose", traits=(traits.Pure,), same_rank="s k o"):
    """Transposed convolution: the gradient of a convolution by its input; each element spreads the filter over the
    result.

    C1: x and weight have the same number of channels, a multiple of groups. C2: pads remove less than the whole result.
    C3: strides, dilations, pads and output_padding have one entry for each spatial axis, or none.
    """

    x: Value = operand("T[n, c, s*]")
    weight: Value = operand("T[c, g, k*]")
    bias: Value | None = operand("T[f]", default=None)
    strides: tuple[int, ...] = attribute(attr_types.integers, default=(), check=positive)
    dilations: tuple[int, ...] = attribute(attr_types.integers, default=(), check=positive)
    pads: Pairs = attribute(attr_types.pairs, default=())
    output_padding: tuple[int, ...] = attribute(attr_types.integers, default=(), check=non_negative)
    groups: int = attribute(attr_types.integer, default=1, check=positive)
    y: Value = result("T[n, f, o*]")
    T = NUMBERS

    def reference(
        self, x: Tensor, weight: Tensor, bias: Tensor | None, *, n: Index, f: Index, c: Index, o: Indices, k: Indices
    ) -> Kernel:
        rank = len(o)
        strides = _spread(self.strides, "strides", rank, 1, "C3")
        dilations = _spread(self.dilations, "dilations", rank, 1, "C3")
        pads = _spread(self.pads, "pads", rank, (0, 0), "C3")
        extra = _spread(self.output_padding, "output paddings", rank, 0, "C3")
        reach = [(m - 1) * d for d, m in zip(dilations, weight.shape[2:], strict=True)]
        before = [e - p for e, (p, _) in zip(reach, pads, strict=True)]
        after = [e - p + q for e, (_, p), q in zip(reach, pads, extra, strict=True)]
        spread = x.dilated((1, 1, *strides)).padded((0, 0, *before), (0, 0, *after))
        whole = require(x.shape[1] % self.groups, "==", 0, "channels modulo groups", label="C1")
        channels, filters = floor_div(x.shape[1], self.groups), weight.shape[1]
        # Without filters nothing is read.
        group = 0 if self.groups == 1 or filters == 0 else f // filters
        at = [i + e - j * d for i, e, d, j in zip(o, reach, dilations, k, strict=True)]
        wide = accumulator(x.dtype)
        channel = c if self.groups == 1 else group * channels + c
        inner = f if self.groups == 1 or filters == 0 else f % filters
        summed = total((c, *k), cast(spread[(n, channel, *at)], wide) * cast(weight[(channel, inner, *k)], wide))
        y = summed if bias is None else summed + cast(bias[f], wide)
        sizes = zip(x.shape[2:], strides, reach, pads, extra, strict=True)
        extents: dict[Index, Dim] = {
            i: (m - 1) * s + e + 1 - p - q + r for i, (m, s, e, (p, q), r) in zip(o, sizes, strict=True)
        }
        for i in o:
            whole += require(extents[i], ">=", 1, "size of the result", label="C2")
        extents |= {f: filters * self.groups, c: channels}
        extents |= dict(zip(k, weight.shape[2:], strict=True))
        return cast(y, x.dtype).by(n, f, *o).where(extents, whole)


class Pool(CoreOp, traits=(traits.Pure,), same_rank="s o"):
    """One value for each window of the spatial axes.

    With `ceil_mode` there are also windows that reach beyond the padded input, as long as they start before its right
    padding.

    C1: a window fits into the padded input. C2: strides, dilations and pads have one entry for each spatial axis, or
    none, and kernel has one.
    """

    x: Value = operand("T[n, c, s*]")
    kernel: tuple[int, ...] = attribute(attr_types.integers, check=positive)
    strides: tuple[int, ...] = attribute(attr_types.integers, default=(), check=positive)
    dilations: tuple[int, ...] = attribute(attr_types.integers, default=(), check=positive)
    pads: Pairs = attribute(attr_types.pairs, default=(), check=non_negative)
    ceil_mode: bool = attribute(attr_types.flag, default=False)
    y: Value = result("T[n, c, o*]")
    T = NUMBERS


class _Window:
    """Windows of a pooling operation: the padded input, where it is read, and the ranges of the indices."""

    def __init__(self, op: Pool, x: Tensor, o: Indices, fill: float, name: str = "k") -> None:
        rank = len(o)
        if len(op.kernel) != rank:
            kernel = plural(len(op.kernel), "axis", "axes")
            raise NotationError(f"a kernel of {kernel} for {plural(rank, 'spatial axis', 'spatial axes')}", label="C2")
        self.k = indices(name, rank)
        self.strides = _spread(op.strides, "strides", rank, 1, "C2")
        self.dilations = _spread(op.dilations, "dilations", rank, 1, "C2")
        self.pads = _spread(op.pads, "pads", rank, (0, 0), "C2")
        self.kernel, self.sizes, self.o, self.is_cut = op.kernel, x.shape[2:], o, op.ceil_mode
        self.extents: dict[Index, Dim] = dict(zip(self.k, op.kernel, strict=True))
        extra: list[int] = []
        for i, n, m, s, d, (lo, hi) in zip(
            o, self.sizes, op.kernel, self.strides, self.dilations, self.pads, strict=True
        ):
            reach = (m - 1) * d
            slack = s - 1 if op.ceil_mode else 0
            count = floor_div(n + (lo + hi - reach - 1 + slack), s) + 1
            # With ceil_mode a window must still start inside the input or its left padding.
            self.extents[i] = smallest(count, floor_div(n + (lo - 1), s) + 1) if op.ceil_mode else count
            extra.append(slack)
        before = (0, 0, *(lo for lo, _ in self.pads))
        after = (0, 0, *(hi + e for (_, hi), e in zip(self.pads, extra, strict=True)))
        self.padded = x.padded(before, after, "constant", fill)
        self.at = [i * s + j * d for i, j, s, d in zip(o, self.k, self.strides, self.dilations, strict=True)]

    def constraints(self) -> tuple[Constraint, ...]:
        out: tuple[Constraint, ...] = ()
        for n, m, d, (lo, hi) in zip(self.sizes, self.kernel, self.dilations, self.pads, strict=True):
            out += require((m - 1) * d + 1, "<=", n + lo + hi, "size of the window", label="C1")
        return out

    def count(self, include_pad: bool) -> Dim:
        """Number of elements that a window covers: those of its points that lie in the input, or in its padding too."""
        parts: list[Dim] = []
        for i, n, m, s, d, (lo, hi) in zip(
            self.o, self.sizes, self.kernel, self.strides, self.dilations, self.pads, strict=True
        ):
            first, end = (0, n + lo + hi) if include_pad else (lo, n + lo)
            # Points i s + j d from `first` on and before `end`, for j below m.
            after = smallest(ceil_div(end - i * s, d), m)
            parts.append(after - largest(ceil_div(first - i * s, d), 0) if first != 0 else after)
        return element_count(tuple(parts))

    def position(self) -> tuple[Dim, tuple[Dim, ...]]:
        """Returns the position in the input of a point of a window: flat in row-major order of the spatial axes, and by
        axis.
        """
        places = tuple([p - lo for p, (lo, _) in zip(self.at, self.pads, strict=True)])
        return row_major(places, self.sizes), places

    def covers_padding(self) -> bool:
        """Returns whether a window may reach beyond the input."""
        return any(lo or hi for lo, hi in self.pads) or self.is_cut


class MaxPool(Pool, name="core.max_pool"):
    """Max pooling: the largest element of each window; padding counts as the least value.

    C1: a window fits into the padded input. C2: strides, dilations and pads have one entry for each spatial axis, or
    none, and kernel has one.
    """

    def reference(self, x: Tensor, *, n: Index, c: Index, o: Indices) -> Kernel:
        w = _Window(self, x, o, limits(x.dtype)[0])
        return fold("maximum", w.k, w.padded[(n, c, *w.at)]).by(n, c, *o).where(w.extents, w.constraints())


class MaxPoolWithPositions(Pool, name="core.max_pool_with_positions"):
    """Max pooling with positions: the largest element of each window, and its position in row-major order of the
    spatial axes: of equal ones the first. Padding counts as the least value and has no position.

    C1: a window fits into the padded input. C2: strides, dilations and pads have one entry for each spatial axis, or
    none, and kernel has one.
    """

    position: Value = result("i64[n, c, o*]")

    def reference(self, x: Tensor, *, n: Index, c: Index, o: Indices) -> tuple[Kernel, Kernel]:
        w = _Window(self, x, o, limits(x.dtype)[0])
        most = fold("maximum", w.k, w.padded[(n, c, *w.at)])
        inner = _Window(self, x, o, limits(x.dtype)[0], "j")
        at, places = inner.position()
        passed = inner.padded[(n, c, *inner.at)] < most
        if inner.covers_padding():
            for p, size in zip(places, x.shape[2:], strict=True):
                passed = passed | (lift(p, i64) < 0) | (lift(p, i64) >= lift(size, i64))
        none = lift(element_count(x.shape[2:]), i64)
        found = fold("minimum", inner.k, select(passed, none, lift(at, i64)))
        extents = w.extents | inner.extents
        return tuple([k.by(n, c, *o).where(extents, w.constraints()) for k in (most, found)])  # pyright: ignore[reportReturnType]  # as many as there are results


class SumPool(Pool, name="core.sum_pool"):
    """Sum pooling: the sum of each window.

    C1: a window fits into the padded input. C2: strides, dilations and pads have one entry for each spatial axis, or
    none, and kernel has one.
    """

    def reference(self, x: Tensor, *, n: Index, c: Index, o: Indices) -> Kernel:
        w = _Window(self, x, o, 0)
        wide = accumulator(x.dtype)
        summed = total(w.k, cast(w.padded[(n, c, *w.at)], wide))
        return cast(summed, x.dtype).by(n, c, *o).where(w.extents, w.constraints())


class AveragePool(Pool, name="core.average_pool"):
    """Average pooling: the mean of each window; `count_include_pad` includes padding. A window of padding only gives
    NaN.

    C1: a window fits into the padded input. C2: strides, dilations and pads have one entry for each spatial axis, or
    none, and kernel has one.
    """

    count_include_pad: bool = attribute(attr_types.flag, default=False)
    T = FLOATS

    def reference(self, x: Tensor, *, n: Index, c: Index, o: Indices) -> Kernel:
        w = _Window(self, x, o, 0)
        wide = accumulator(x.dtype)
        summed = total(w.k, cast(w.padded[(n, c, *w.at)], wide))
        return (
            cast(summed / lift(w.count(self.count_include_pad), wide), x.dtype)
            .by(n, c, *o)
            .where(w.extents, w.constraints())
        )


matmul = function(MatMul)
einsum = function(Einsum)
conv = function(Conv)
conv_transpose = function(ConvTranspose)
max_pool = function(MaxPool)
max_pool_with_positions = function_of_several(MaxPoolWithPositions)
sum_pool = function(SumPool)
average_pool = function(AveragePool)


class Linear(CoreOp, name="core.linear", traits=(traits.Pure,)):
    """Fully connected layer: rows times the transposed weight, plus a bias."""

    x: Value = operand("T[b*, k]")
    weight: Value = operand("T[n, k]")
    bias: Value | None = operand("T[n]", default=None)
    y: Value = result("T[b*, n]")
    T = NUMBERS

    def reference(self, x: Tensor, weight: Tensor, bias: Tensor | None, *, b: Indices, n: Index, k: Index) -> Expr:
        wide = accumulator(x.dtype)
        summed = total(k, cast(x[(*b, k)], wide) * cast(weight[n, k], wide))
        return cast(summed if bias is None else summed + cast(bias[n], wide), x.dtype)


linear = function(Linear)
