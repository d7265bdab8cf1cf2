"""Core operations that gather and scatter by index, and that sort elements."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any

from commonir.dialects.core.base import (
    ANYTHING,
    ELEMENTS,
    REALS,
    CoreOp,
    axis_of,
    function,
    function_of_several,
    tensor_type,
)
from commonir.dialects.core.ordering import order_of
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, Shape, TensorType, Type, are_known, boolean, i32, i64
from commonir.notation import (
    Access,
    Constraint,
    Expr,
    Index,
    Indices,
    Kernel,
    NotationError,
    Relation,
    Tensor,
    call,
    cast,
    fold,
    identity,
    indices,
    lift,
    require,
    select,
    total,
    updated,
)
from commonir.ods import (
    SizedByData,
    all_integers,
    attr_types,
    attribute,
    constraint,
    element_type,
    known_dims,
    non_negative,
    operand,
    result,
    traits,
)
from commonir.symbolic import Dim, element_count, floor_div, index, symbol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.generic]

_MOST_ONE_BY_ONE = 1 << 15
"""Elements up to which positions are found one after another; numpy passes over many zeros at once."""

_POSITIONS = element_type(i32, i64)


def from_start(position: Expr, size: Dim) -> Expr:
    """A position counted from the front: a negative one counts from the end."""
    if isinstance(size, int) and size > position.dtype.integer_limits[1]:
        position = cast(position, i64)
        if size > i64.integer_limits[1]:
            # No array is as long.
            return position
    return select(position < 0, position + lift(size, position.dtype), position)


def _position(position: Access, size: Dim) -> Expr:
    """A position counted from the front, of a type that may have no negative numbers."""
    return from_start(position, size) if position.dtype.kind == "int" else position


class CheckedPositions(CoreOp, name="core.checked_positions", traits=(traits.Pure,)):
    """Returns indices after checking them: a negative one, or one not below its limit, is a runtime error.

    There is one limit for all indices, or one for each along the last axis.
    """

    positions: Value = operand("P[i*]", by_value=True)
    limits: Value = operand("i64[*]")
    y: Value = result("P[i*]")
    P = all_integers

    def infer(self) -> tuple[Type, ...]:
        return (self.positions.type,)

    def reference(self, positions: Array, limits: Array) -> Array:
        xp: Any = positions.__array_namespace__()  # numpy, whose stubs do not type comparisons of these
        wide, whole = xp.broadcast_arrays(positions.astype(xp.int64), limits)
        outside = (wide < 0) | (wide >= whole)
        if outside.any():
            raise IndexError(f"position {wide[outside][0]} is not one of an axis of size {whole[outside][0]}")
        return positions

    def constant_dims(self) -> tuple[Dim, ...] | None:
        return known_dims(self.positions)

    def fold(self) -> Value | None:
        known, limits = known_dims(self.positions), known_dims(self.limits)
        if known is None or limits is None or tensor_type(self.positions).rank not in (0, 1):
            return None
        least = min((n for n in limits if isinstance(n, int)), default=0)
        fit = len(limits) == 1 or len(limits) == len(known)
        inside = all(isinstance(p, int) and 0 <= p < least for p in known)
        return self.positions if fit and inside and all(isinstance(n, int) for n in limits) else None


class Gather(CoreOp, name="core.gather", traits=(traits.Pure,)):
    """Gathers slices of a tensor along an axis by index; a negative index counts from the end.

    An index out of range is a runtime error.
    """

    x: Value = operand("T[s*]")
    positions: Value = operand("P[i*]", by_value=True)
    axis: int = attribute(attr_types.integer, default=0)
    y: Value = result("T[*]")
    T = ELEMENTS
    P = all_integers

    def reference(self, x: Tensor, positions: Tensor, *, s: Indices, i: Indices) -> Kernel:
        a = axis_of(self.axis, len(s))
        p = _position(positions[i], x.shape[a])
        return x[(*s[:a], p, *s[a + 1 :])].by(*s[:a], *i, *s[a + 1 :])

    def constant_dims(self) -> tuple[Dim, ...] | None:
        source, at = known_dims(self.x), known_dims(self.positions)
        if source is None or at is None or tensor_type(self.x).rank != 1:
            return None
        inside = [p for p in at if isinstance(p, int) and -len(source) <= p < len(source)]
        return tuple([source[p] for p in inside]) if len(inside) == len(at) else None


class GatherElements(CoreOp, name="core.gather_elements", traits=(traits.Pure,), same_rank="s i"):
    """Gathers elements of x by index along an axis; coordinates along the other axes are those of the index.

    C1: the other axes of positions are not longer than those of x.
    """

    x: Value = operand("T[s*]")
    positions: Value = operand("P[i*]")
    axis: int = attribute(attr_types.integer, default=0)
    y: Value = result("T[i*]")
    T = ELEMENTS
    P = all_integers

    def reference(self, x: Tensor, positions: Tensor, *, i: Indices) -> Kernel:
        a = axis_of(self.axis, len(i))
        p = _position(positions[i], x.shape[a])
        sizes = dict(zip(i, positions.shape, strict=True))
        needed = ()
        for n, (m, w) in enumerate(zip(x.shape, positions.shape, strict=True)):
            needed += () if n == a else require(w, "<=", m, f"axis {n} of positions", label="C1")
        return x[(*i[:a], p, *i[a + 1 :])].by(*i).where(sizes, needed)


class GatherNd(CoreOp, name="core.gather_nd", traits=(traits.Pure,)):
    """Gathers slices of x; each row of the last axis of `positions` is an index tuple, after `batch` shared leading
    axes.

    C1: the last axis of positions has a static size of at most rank(x) - batch. C2: positions have the batch axes and
    one more.
    """

    x: Value = operand("T[*]")
    positions: Value = operand("P[*]")
    batch: int = attribute(attr_types.integer, default=0, check=non_negative)
    y: Value = result("T[*]")
    T = ELEMENTS
    P = all_integers

    def reference(self, x: Tensor, positions: Tensor) -> Kernel:
        if positions.rank <= self.batch:
            raise NotationError(f"positions of rank {positions.rank} after {self.batch} axes", label="C2")
        depth = positions.shape[-1]
        if not isinstance(depth, int) or depth > x.rank - self.batch:
            raise NotationError(f"rows of {depth} positions into rank {x.rank} after {self.batch} axes", label="C1")
        at = indices("i", positions.rank - 1)
        rest = indices("r", x.rank - self.batch - depth)
        where = [_position(positions[(*at, d)], x.shape[self.batch + d]) for d in range(depth)]
        return x[(*at[: self.batch], *where, *rest)].by(*at, *rest)


class Reduction(Enum):
    """Combinations of an update with the element at its position."""

    NONE = "none"
    ADD = "add"
    SUB = "sub"
    MUL = "mul"
    DIV = "div"
    MAX = "max"
    MIN = "min"


_FUNCTIONS = {
    Reduction.NONE: None,
    Reduction.ADD: "add",
    Reduction.SUB: "subtract",
    Reduction.MUL: "multiply",
    Reduction.DIV: "divide",
    Reduction.MAX: "maximum",
    Reduction.MIN: "minimum",
}


def _scattered(
    x: Tensor, s: Indices, over: Sequence[Index], at: Sequence[Dim | Expr], update: Expr, reduction: Reduction
) -> Kernel:
    """Updates combined with elements at some positions; integers are divided toward zero."""
    fn = _FUNCTIONS[reduction]
    if fn == "divide" and x.dtype.is_integer:
        fn = "truncated_divide"
    return updated(x[s], over, at, update, fn).by(*s)


class Scatter(CoreOp, traits=(traits.Pure,)):
    """Updates combined into a copy of a tensor."""

    x: Value = operand("T[s*]")
    positions: Value = operand("P[i*]")
    updates: Value = operand("T[*]")
    y: Value = result("T[s*]")
    T = ELEMENTS
    P = all_integers

    @constraint("C2")
    def bools_are_replaced(self) -> object:
        """Bools are only replaced."""
        reduction = self.field_value(self.layout.by_name["reduction"])  # declared last, by the subclasses
        return reduction is Reduction.NONE or tensor_type(self.x).element is not boolean

    def shapes(self) -> tuple[Shape, Shape, Shape] | None:
        """The shapes of the operands, when all ranks are known."""
        x, positions, updates = [tensor_type(v).shape for v in (self.x, self.positions, self.updates)]
        return None if x is None or positions is None or updates is None else (x, positions, updates)


def _sizes(
    sizes: Iterable[Dim | None], relation: Relation, others: Iterable[Dim | None], why: str
) -> tuple[Constraint, ...]:
    """Returns the constraints that a relation between dims needs; none for dynamic dims."""
    out: tuple[Constraint, ...] = ()
    for n, m in zip(sizes, others, strict=True):
        out += () if n is None or m is None else require(n, relation, m, why)
    return out


class ScatterElements(Scatter, name="core.scatter_elements", same_rank="s i"):
    """A copy of x with updates combined into the elements at indices along an axis.

    Updates of one element are applied in row-major order of `positions`, so of several that replace it the last one
    wins. An index out of range is a runtime error. Integers are divided toward zero.
    """

    updates: Value = operand("T[i*]")
    axis: int = attribute(attr_types.integer, default=0)
    reduction: Reduction = attribute(attr_types.enumeration(Reduction), default=Reduction.NONE)

    @constraint("C1")
    def positions_fit(self) -> object:
        """The other axes of positions are not longer than those of x."""
        shapes = self.shapes()
        if shapes is None:
            return True
        a = axis_of(self.axis, len(shapes[0]))
        x, positions = [[n for k, n in enumerate(s) if k != a] for s in shapes[:2]]
        return _sizes(positions, "<=", x, "size of positions")

    def reference(self, x: Tensor, positions: Tensor, updates: Tensor, *, s: Indices, i: Indices) -> Kernel:
        a = axis_of(self.axis, len(s))
        at = (*i[:a], _position(positions[i], x.shape[a]), *i[a + 1 :])
        return _scattered(x, s, i, at, updates[i], self.reduction)


class ScatterNd(Scatter, name="core.scatter_nd"):
    """A copy of x with updates combined into slices; each row of the last axis of `positions` is an index tuple.

    Updates of one slice are applied in row-major order of `positions`, so of several that replace it the last one wins.
    An index out of range is a runtime error. Integers are divided toward zero.
    """

    reduction: Reduction = attribute(attr_types.enumeration(Reduction), default=Reduction.NONE)

    @constraint("C1")
    def rows_fit(self) -> object:
        """The last axis of positions has a fixed size of at most rank(x)."""
        shapes = self.shapes()
        if shapes is None:
            return True
        x, positions, _ = shapes
        depth = positions[-1] if positions else None
        return isinstance(depth, int) and depth <= len(x)

    @constraint("C3")
    def updates_fit(self) -> object:
        """Updates have the leading sizes of positions and then the remaining ones of x."""
        shapes = self.shapes()
        if shapes is None:
            return True
        x, positions, updates = shapes
        depth = positions[-1] if positions else None
        if not isinstance(depth, int):
            return True
        expected = (*positions[:-1], *x[depth:])
        return len(expected) == len(updates) and _sizes(updates, "==", expected, "size of updates")

    def reference(self, x: Tensor, positions: Tensor, updates: Tensor, *, s: Indices) -> Kernel:
        depth = positions.shape[-1]
        assert isinstance(depth, int)  # C1
        i, rest = indices("i", positions.rank - 1), indices("r", x.rank - depth)
        at = [_position(positions[(*i, d)], x.shape[d]) for d in range(depth)]
        return _scattered(x, s, (*i, *rest), (*at, *rest), updates[(*i, *rest)], self.reduction)


class OneHot(CoreOp, name="core.one_hot", traits=(traits.Pure,)):
    """One-hot encoding: a new axis of size depth that is `on` at the index and `off` elsewhere.

    An index out of range gives only `off`.
    """

    positions: Value = operand("P[i*]")
    on: Value = operand("T[]")
    off: Value = operand("T[]")
    depth: Dim = attribute(attr_types.dim, check=non_negative)
    axis: int = attribute(attr_types.integer, default=-1)
    y: Value = result("T[*]")
    T = ELEMENTS
    P = all_integers

    def reference(self, positions: Tensor, on: Tensor, off: Tensor, *, i: Indices, d: Index) -> Kernel:
        a = axis_of(self.axis, len(i) + 1)
        hot = call("equal", positions[i], lift(d, positions.dtype))
        return select(hot, on[()], off[()]).by(*i[:a], d, *i[a:]).where({d: self.depth})


class BandPart(CoreOp, name="core.band_part", traits=(traits.Pure,)):
    """Keeps a diagonal band of the matrices of the last two axes; the other elements become zero.

    The band reaches from `lower` below to `upper` above the diagonal; a negative number means no limit.
    """

    x: Value = operand("T[b*, m, n]")
    lower: int = attribute(attr_types.integer, default=-1)
    upper: int = attribute(attr_types.integer, default=-1)
    y: Value = result("T[b*, m, n]")
    T = ANYTHING

    def reference(self, x: Tensor, *, b: Indices, m: Index, n: Index) -> Expr:
        out: Expr = x[(*b, m, n)]
        zero = lift(False if x.dtype is boolean else 0, x.dtype)
        if self.lower >= 0:
            out = select(lift(m - n) <= self.lower, out, zero)
        if self.upper >= 0:
            out = select(lift(n - m) <= self.upper, out, zero)
        return out


class NonZero(CoreOp, name="core.non_zero", traits=(traits.Pure,)):
    """Indices of the nonzero elements, one row for each, in row-major order."""

    x: Value = operand("T[*]")
    y: Value = result("i64[count, rank]")
    T = ELEMENTS

    def infer(self) -> tuple[Type, ...]:
        return (TensorType(i64, (None, tensor_type(self.x).rank)),)

    def reference(self, x: Array) -> Array:
        xp = x.__array_namespace__()
        if x.ndim == 0:
            return xp.argwhere(x).astype(xp.int64)
        # Much faster than along several axes, and contiguous.
        return xp.stack(xp.unravel_index(xp.flatnonzero(x), x.shape), axis=-1).astype(xp.int64, copy=False)

    def sized_by_data(self, prefix: str, *operands: Tensor) -> SizedByData | None:
        (x,) = operands
        elements = element_count(x.shape)
        if x.rank == 0 or elements == 0 or (isinstance(elements, int) and elements > _MOST_ONE_BY_ONE):
            return None
        n, k, row, axis = [index(name) for name in ("n", "k", "row", "axis")]

        def is_nonzero(i: Index) -> Expr:
            element: Expr = x.flat[i]
            return element if x.dtype is boolean else call("not_equal", element, lift(0, x.dtype))

        # Positions up to the last nonzero one, of which each goes where the next nonzero one will be, and so that one
        # is the last that goes there.
        last = fold("maximum", n, select(is_nonzero(n), lift(n, i64), -1))
        numbers = {
            f"{prefix} count": (total(n, select(is_nonzero(n), lift(1, i64), 0)), elements),
            f"{prefix} stop": (call("maximum", last, -1) + 1, elements),
        }
        count, stop = [symbol(name, 0) for name in numbers]
        before = total(k, select(call("less", lift(k, i64), lift(n, i64)), select(is_nonzero(k), lift(1, i64), 0), 0))
        steps = [element_count(x.shape[a + 1 :]) for a in range(x.rank)]
        positions = [lift(floor_div(n, step) % size, i64) for step, size in zip(steps, x.shape, strict=True)]
        position = positions[-1]
        for a in reversed(range(x.rank - 1)):
            position = select(call("equal", lift(axis, i64), a), positions[a], position)
        kernel = updated(lift(0, i64), [n, axis], [before, axis], position).by(row, axis)
        return SizedByData(numbers, kernel.where({n: stop, k: stop}), (count, x.rank))


class ArgReduce(CoreOp, traits=(traits.Pure,)):
    """The index of an extreme element along an axis; of equal ones, the first. NaN is extreme only if it is first.

    C1: the axis is not empty.
    """

    x: Value = operand("T[s*]")
    axis: int = attribute(attr_types.integer)
    keep_dims: bool = attribute(attr_types.flag, default=False)
    element: ElementType = attribute(attr_types.element, default=i64)
    y: Value = result("P[*]")
    T = REALS
    P = all_integers

    def position(self, x: Tensor, s: Indices, k: Index, fn: str) -> Kernel:
        a = axis_of(self.axis, len(s))
        of_others: Expr = x[(*s[:a], k, *s[a + 1 :])]
        if x.dtype.is_float:
            of_others = select(call("is_nan", of_others), lift(identity(fn, x.dtype), x.dtype), of_others)
        size = lift(x.shape[a] - 1, self.element)
        result = select(call("equal", x[s], fold(fn, k, of_others)), lift(s[a], self.element), size)
        if x.dtype.is_float:
            first = (*s[:a], 0, *s[a + 1 :])
            result = select(call("is_nan", x[first]), lift(0, self.element), result)
        kept = [1 if n == a else i for n, i in enumerate(s) if self.keep_dims or n != a]
        needed = require(x.shape[a], ">=", 1, "size of the axis", label="C1")
        return fold("minimum", s[a], result).by(*kept).where({}, needed)


class ArgMax(ArgReduce, name="core.arg_max"):
    """The index of the largest element along an axis; the first among equal ones, or among all if that is NaN.

    C1: the axis is not empty.
    """

    def reference(self, x: Tensor, *, s: Indices, k: Index) -> Kernel:
        return self.position(x, s, k, "maximum")


class ArgMin(ArgReduce, name="core.arg_min"):
    """The index of the smallest element along an axis; the first among equal ones, or among all if that is NaN.

    C1: the axis is not empty.
    """

    def reference(self, x: Tensor, *, s: Indices, k: Index) -> Kernel:
        return self.position(x, s, k, "minimum")


class TopK(CoreOp, name="core.top_k", traits=(traits.Pure,)):
    """The k largest or smallest elements along an axis in sorted order, and their indices; of equal ones, the first.

    NaN counts as larger than every number. C1: k is at most the size of the axis.
    """

    x: Value = operand("T[s*]")
    k: Dim = attribute(attr_types.dim, check=non_negative)
    axis: int = attribute(attr_types.integer, default=-1)
    largest: bool = attribute(attr_types.flag, default=True)
    values: Value = result("T[*]")
    positions: Value = result("i64[*]")
    T = REALS

    @constraint("C1")
    def k_fits(self) -> object:
        """K is not larger than the axis."""
        shape = tensor_type(self.x).shape
        size = None if shape is None else shape[axis_of(self.axis, len(shape))]
        return True if size is None else require(self.k, "<=", size, "k")

    def infer(self) -> tuple[Type, ...]:
        type = tensor_type(self.x)
        if type.shape is None:
            return type, TensorType(i64, None)
        a = axis_of(self.axis, len(type.shape))
        shape = (*type.shape[:a], self.k, *type.shape[a + 1 :])
        return type.with_shape(shape), TensorType(i64, shape)

    def reference(self, x: Array) -> tuple[Array, ...]:
        if not isinstance(self.k, int):
            raise NotationError("the number of elements that are kept is a number when it runs")
        xp = x.__array_namespace__()
        order = order_of(x, self.axis, self.largest, self.k)
        return xp.take_along_axis(x, order, axis=self.axis), order


class ArgSort(CoreOp, name="core.argsort", traits=(traits.Pure,)):
    """Indices that sort the elements along an axis.

    Equal elements keep their order, NaN is larger than every number.
    """

    x: Value = operand("T[s*]")
    axis: int = attribute(attr_types.integer, default=-1)
    descending: bool = attribute(attr_types.flag, default=False)
    y: Value = result("i64[s*]")
    T = REALS

    def infer(self) -> tuple[Type, ...]:
        type = tensor_type(self.x)
        if type.shape is not None:
            axis_of(self.axis, len(type.shape))
        return (type.with_element(i64),)

    def reference(self, x: Array) -> Array:
        return order_of(x, self.axis, self.descending)


class Unique(CoreOp, name="core.unique", traits=(traits.Pure,)):
    """The distinct slices along an axis, or the distinct elements if no axis is given.

    They are in ascending order, slices in lexicographic order, or in order of first occurrence. Also returns the index
    of the first occurrence of each, for each slice of x its index among them, and the number of occurrences of each.
    NaN equals NaN and is larger than every number.
    """

    x: Value = operand("T[*]")
    axis: int | None = attribute(attr_types.integer, default=None)
    ascending: bool = attribute(attr_types.flag, default=True)
    values: Value = result("T[*]")
    first: Value = result("i64[*]")
    inverse: Value = result("i64[*]")
    counts: Value = result("i64[*]")
    T = ELEMENTS

    def infer(self) -> tuple[Type, ...]:
        type = tensor_type(self.x)
        shape = type.shape
        result: Shape | None = None if shape is None else (None,)
        whole: Dim | None = None
        if self.axis is None:
            result, whole = (None,), element_count(shape) if are_known(shape) else None
        elif shape is not None:
            a = axis_of(self.axis, len(shape))
            result, whole = (*shape[:a], None, *shape[a + 1 :]), shape[a]
        some = TensorType(i64, (None,))
        return type.with_shape(result), some, TensorType(i64, (whole,)), some

    def reference(self, x: Array) -> tuple[Array, ...]:
        xp: Any = x.__array_namespace__()  # numpy, whose stubs do not type sorting by several keys
        rows = x.reshape(-1, 1) if self.axis is None else xp.moveaxis(x, self.axis, 0)
        count = len(rows)
        # Numbers of the different elements, which have their order.
        keys = xp.unique(rows.reshape(-1), return_inverse=True)[1].reshape(count, -1)
        order = xp.lexsort(keys.T[::-1]) if keys.size else xp.arange(count)
        is_new = xp.ones(count, bool)
        is_new[1:] = (keys[order[1:]] != keys[order[:-1]]).any(axis=1)
        group = xp.cumsum(is_new) - 1
        inverse = xp.empty(count, xp.int64)
        inverse[order] = group
        first, counts = order[is_new].astype(xp.int64), xp.bincount(group).astype(xp.int64)
        if not self.ascending:
            place = xp.argsort(first)
            rank = xp.empty(len(first), xp.int64)
            rank[place] = xp.arange(len(first))
            first, counts, inverse = first[place], counts[place], rank[inverse]
        values = xp.take(x.reshape(-1) if self.axis is None else x, first, axis=self.axis or 0)
        return values, first, inverse, counts


checked_positions = function(CheckedPositions)
gather = function(Gather)
gather_elements = function(GatherElements)
gather_nd = function(GatherNd)
scatter_elements = function(ScatterElements)
scatter_nd = function(ScatterNd)
one_hot = function(OneHot)
band_part = function(BandPart)
non_zero = function(NonZero)
arg_max = function(ArgMax)
arg_min = function(ArgMin)
top_k = function_of_several(TopK)
argsort = function(ArgSort)
unique = function_of_several(Unique)
