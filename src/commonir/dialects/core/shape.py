"""Core operations that move elements without changing them."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from commonir.dialects.core.base import ELEMENTS, CoreOp, axes_of, axis_of, function, function_of_several, tensor_type
from commonir.dialects.core.constants import MOST_KNOWN
from commonir.dialects.core.indexing import from_start
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, TensorType, Type, are_numbers, i32, i64
from commonir.notation import (
    Constraint,
    Expr,
    Index,
    Kernel,
    Kernels,
    NotationError,
    OutOfRangeError,
    Tensor,
    call,
    cast,
    indices,
    join,
    lift,
    limits,
    linear,
    require,
)
from commonir.ods import (
    SizedByData,
    attr_types,
    attribute,
    constraint,
    element_type,
    known_dims,
    operand,
    positive,
    result,
    traits,
)
from commonir.symbolic import Dim, at_least, ceil_div, element_count, floor_div, largest, smallest, symbol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.generic]

_POSITIONS = element_type(i32, i64)


class Movement(CoreOp, traits=(traits.Pure,)):
    """Elements of one tensor at other positions."""

    x: Value = operand("T[*]")
    T = ELEMENTS


class Reshape(Movement, name="core.reshape"):
    """Reshapes a tensor, in row-major order; one dim of -1 is inferred.

    C1: the number of elements stays the same. C2: at most one dim is -1, and no other one is then 0.
    """

    shape: tuple[Dim, ...] = attribute(attr_types.dims)
    y: Value = result("T[*]")

    def reference(self, x: Tensor) -> Kernel:
        shape = resolved_shape(self.shape, x.shape)
        at = indices("i", len(shape))
        same = require(element_count(shape), "==", element_count(x.shape), "number of elements", label="C1")
        return x.flat[linear(at, shape)].by(*at).where(dict(zip(at, shape, strict=True)), same)

    def constant_dims(self) -> tuple[Dim, ...] | None:
        return known_dims(self.x)

    def fold(self) -> Value | None:
        return self.x if self.x.type is self.y.type and is_known(self.x) else None

    def canonicalize(self) -> tuple[Value, ...] | None:
        """Of two in a row only the last shape counts."""
        inner = self.x.owner
        return (Reshape(inner.x, self.shape).y,) if isinstance(inner, Reshape) else None


def resolved_shape(shape: tuple[Dim, ...], source: tuple[Dim, ...]) -> tuple[Dim, ...]:
    """A shape with its -1 replaced by what remains of the elements of a source.

    Raises: NotationError when that is not determined.
    """
    if -1 not in shape:
        return shape
    if sum(n == -1 for n in shape) > 1:
        raise NotationError("more than one size is -1", label="C2")
    given = element_count([n for n in shape if n != -1])
    if given == 0:
        raise NotationError("one size is -1 and another 0", label="C2")
    return tuple([floor_div(element_count(source), given) if n == -1 else n for n in shape])


def _by_place(elements: tuple[Dim, ...], shape: tuple[int, ...]) -> dict[tuple[int, ...], Dim]:
    """Known elements by their positions along all axes."""
    return dict(zip(product(*map(range, shape)), elements, strict=True))


class DynamicReshape(Movement, name="core.dynamic_reshape"):
    """Reshapes a tensor, in row-major order, to a shape known at run time; one dim may be -1."""

    shape: Value = operand("P[r]", by_value=True)
    y: Value = result("T[*]")
    P = _POSITIONS

    def infer(self) -> tuple[Type, ...]:
        type, known = tensor_type(self.x), known_dims(self.shape)
        if known is not None:
            return (type.with_shape(tuple([_rest(type, known) if d == -1 else d for d in known])),)
        (rank,) = tensor_type(self.shape).shape or (None,)
        return (type.with_shape((None,) * rank if isinstance(rank, int) else None),)

    def reference(self, x: Array, shape: Array) -> Array:
        sizes: tuple[int, ...] = tuple(shape.tolist())
        if any(n < -1 for n in sizes):
            raise ValueError(f"{min(sizes)} is not a size")
        return x.reshape(sizes)


def _rest(type: TensorType, known: Sequence[Dim]) -> int | None:
    """Returns the inferred dim for -1 in a reshape; None if it is not known."""
    others = [d for d in known if isinstance(d, int) and d > 0]
    if not type.is_static or len(others) != len(known) - 1 or type.count % prod(others):
        return None
    return type.count // prod(others)


class BroadcastTo(Movement, name="core.broadcast_to"):
    """Broadcasts a tensor to a shape: repeats it along axes of size 1 and along new leading axes.

    C1: each dim is 1 or that of the shape, and the rank is at most that of the shape.
    """

    shape: tuple[Dim, ...] = attribute(attr_types.dims)
    y: Value = result("T[*]")

    def reference(self, x: Tensor) -> Kernel:
        spare = len(self.shape) - x.rank
        if spare < 0:
            raise NotationError(f"rank {x.rank} cannot be broadcast to rank {len(self.shape)}", label="C1")
        at = indices("i", len(self.shape))
        where: list[Dim] = []
        needed: tuple[Constraint, ...] = ()
        for i, n, m in zip(at[spare:], x.shape, self.shape[spare:], strict=True):
            where.append(0 if n == 1 else i)
            needed += () if n == 1 else require(n, "==", m, "broadcast axis", label="C1")
        return x[where].by(*at).where(dict(zip(at, self.shape, strict=True)), needed)

    def constant_dims(self) -> tuple[Dim, ...] | None:
        known, count = known_dims(self.x), element_count(self.shape)
        if known is None or len(self.shape) > 1 or not isinstance(count, int) or count > MOST_KNOWN:
            return None
        return known * count if len(known) == 1 else known

    def fold(self) -> Value | None:
        return self.x if self.x.type is self.y.type and is_known(self.x) else None


def is_known(value: Value) -> bool:
    """Returns whether every dimension is known at least by a symbol: two unknown ones of one type may differ."""
    shape = tensor_type(value).shape
    return shape is not None and None not in shape


class Squeeze(Movement, name="core.squeeze"):
    """Removes axes of size 1. C1: the axes have size 1. C2: axes are distinct."""

    axes: tuple[int, ...] = attribute(attr_types.integers)
    y: Value = result("T[*]")

    def reference(self, x: Tensor) -> Kernel:
        gone = axes_of(self.axes, x.rank, "C2")
        at = indices("i", x.rank)
        needed: tuple[Constraint, ...] = ()
        for a in gone:
            needed += require(x.shape[a], "==", 1, f"axis {a}", label="C1")
        where = [0 if a in gone else i for a, i in enumerate(at)]
        return x[where].by(*(i for a, i in enumerate(at) if a not in gone)).where({}, needed)

    def constant_dims(self) -> tuple[Dim, ...] | None:
        return known_dims(self.x)


class Unsqueeze(Movement, name="core.unsqueeze"):
    """Inserts axes of size 1; positions are those in the result. C1: axes are distinct."""

    axes: tuple[int, ...] = attribute(attr_types.integers)
    y: Value = result("T[*]")

    def reference(self, x: Tensor) -> Kernel:
        rank = x.rank + len(self.axes)
        new = axes_of(self.axes, rank)
        at = indices("i", x.rank)
        old = iter(at)
        return x[at].by(*(1 if a in new else next(old) for a in range(rank)))

    def constant_dims(self) -> tuple[Dim, ...] | None:
        return known_dims(self.x)


class Transpose(Movement, name="core.transpose"):
    """Permutes the axes: axis `n` of the result is axis `perm[n]` of the operand. C1: perm names every axis once."""

    perm: tuple[int, ...] = attribute(attr_types.integers)
    y: Value = result("T[*]")

    def reference(self, x: Tensor) -> Kernel:
        rank = x.rank
        perm = [axis_of(p, rank) for p in self.perm]
        if sorted(perm) != list(range(rank)):
            raise NotationError(f"perm {list(self.perm)} does not name each of {rank} axes once", label="C1")
        at = indices("i", rank)
        return x[at].by(*(at[p] for p in perm))

    def constant_dims(self) -> tuple[Dim, ...] | None:
        shape, known = tensor_type(self.x).shape, known_dims(self.x)
        if known is None or not are_numbers(shape):
            return None
        order = [axis_of(p, len(shape)) for p in self.perm]
        axes = [order.index(n) for n in range(len(shape))]
        element = _by_place(known, shape)
        return tuple([element[tuple([at[n] for n in axes])] for at in product(*[range(shape[p]) for p in order])])

    def fold(self) -> Value | None:
        return self.x if all(p == n for n, p in enumerate(self.perm)) else None

    def canonicalize(self) -> tuple[Value, ...] | None:
        """Two in a row are one."""
        inner = self.x.owner
        if not isinstance(inner, Transpose):
            return None
        return (Transpose(inner.x, tuple([inner.perm[p] for p in self.perm])).y,)


class Slice(Movement, name="core.slice"):
    """Strided slice of each axis; negative bounds count from the end, and bounds out of range are clamped.

    With a negative step, a stop before the first element includes that one.

    C1: starts, stops and steps have one entry for each axis. C2: no step is 0. C3: a symbolic bound is not negative.
    """

    starts: tuple[Dim, ...] = attribute(attr_types.dims)
    stops: tuple[Dim, ...] = attribute(attr_types.dims)
    steps: tuple[int, ...] = attribute(attr_types.integers)
    y: Value = result("T[*]")

    def reference(self, x: Tensor) -> Kernel:
        at = indices("i", x.rank)
        if not len(self.starts) == len(self.stops) == len(self.steps) == len(at):
            raise NotationError(f"bounds of {len(self.starts)} axes for a tensor of rank {len(at)}", label="C1")
        where: list[Dim] = []
        extents: dict[Index, Dim] = {}
        needed: tuple[Constraint, ...] = ()
        for i, n, start, stop, step in zip(at, x.shape, self.starts, self.stops, self.steps, strict=True):
            if step == 0:
                raise NotationError("a step is 0", label="C2")
            for bound in (start, stop):
                if not isinstance(bound, int) and not at_least(-1, bound):
                    needed += require(bound, ">=", 0, "bound of a slice", label="C3")
            first, size = slice_range(n, start, stop, step)
            extents[i] = size
            where.append(first + i * step)
        return x[where].by(*at).where(extents, needed)

    def constant_dims(self) -> tuple[Dim, ...] | None:
        known = known_dims(self.x)
        if known is None or not (are_numbers(self.starts) and are_numbers(self.stops)):
            return None
        shape = (len(known),) if len(self.steps) == 1 else tensor_type(self.x).shape
        if not are_numbers(shape):
            return None
        bounds = zip(shape, self.starts, self.stops, self.steps, strict=True)
        kept = [range(n)[a : None if s < 0 and b < -n else b : s] for n, a, b, s in bounds]
        element = _by_place(known, shape)
        return tuple([element[at] for at in product(*kept)])

    def fold(self) -> Value | None:
        whole = self.x.type is self.y.type and is_known(self.x) and all(s == 1 for s in self.steps)
        return self.x if whole else None


def slice_range(n: Dim, start: Dim, stop: Dim, step: int) -> tuple[Dim, Dim]:
    """The first position and the number of positions of a slice of an axis of size `n`."""
    low, high = (0, n) if step > 0 else (-1, n - 1)

    def clamp(v: Dim) -> Dim:
        return smallest(largest(v + n if at_least(-1, v) else v, low), high)

    first, last = clamp(start), clamp(stop)
    return first, largest(ceil_div(last - first, step) if step > 0 else ceil_div(first - last, -step), 0)


class DynamicSlice(Movement, name="core.dynamic_slice"):
    """Slice between bounds computed at run time; steps are static."""

    starts: Value = operand("P[r]", by_value=True)
    stops: Value = operand("P[r]", by_value=True)
    steps: tuple[int, ...] = attribute(attr_types.integers)
    y: Value = result("T[*]")
    P = _POSITIONS

    @constraint("C1")
    def bounds_fit(self) -> object:
        """Starts, stops and steps have one entry for each axis."""
        rank, (count,) = tensor_type(self.x).rank, tensor_type(self.starts).shape or (None,)
        if rank is None:
            rank = len(self.steps)
        return len(self.steps) == rank and (count is None or require(count, "==", rank, "number of bounds"))

    @constraint("C2")
    def steps_are_not_zero(self) -> object:
        """No step is 0."""
        return 0 not in self.steps

    def infer(self) -> tuple[Type, ...]:
        type = tensor_type(self.x)
        starts, stops = known_dims(self.starts), known_dims(self.stops)
        if type.shape is None:
            return (type,)
        if starts is None or stops is None:
            return (type.with_shape((None,) * len(type.shape)),)
        sizes = zip(type.shape, starts, stops, self.steps, strict=True)
        return (type.with_shape(tuple([None if n is None else slice_range(n, a, b, s)[1] for n, a, b, s in sizes])),)

    def reference(self, x: Array, starts: Array, stops: Array) -> Array:
        cuts: list[slice] = []
        for n, a, b, step in zip(x.shape, starts.tolist(), stops.tolist(), self.steps, strict=True):
            cuts.append(slice(a, None if step < 0 and b < -n else b, step))
        return x[tuple(cuts)]

    def sized_by_data(self, prefix: str, *operands: Tensor) -> SizedByData | None:
        x, *bounds = operands
        if any(step < 0 for step in self.steps):
            return None
        numbers: dict[str, tuple[Expr, Dim]] = {}
        where: list[Dim] = []
        sizes: list[Dim] = []
        at = indices("i", x.rank)
        for axis, (i, n, step) in enumerate(zip(at, x.shape, self.steps, strict=True)):
            names = [f"{prefix}{axis} {bound}" for bound in ("start", "stop")]
            for name, bound in zip(names, bounds, strict=True):
                p = from_start(cast(bound[(axis,)], i64), n)
                numbers[name] = call("minimum", call("maximum", p, 0), lift(n, i64)), n
            first, last = [symbol(name, 0) for name in names]
            where.append(first + i * step)
            sizes.append(largest(ceil_div(last - first, step), 0))
        return SizedByData(numbers, x[tuple(where)].by(*at), tuple(sizes))


class Reverse(Movement, name="core.reverse"):
    """Reverses the order of the elements along some axes. C1: axes are distinct."""

    axes: tuple[int, ...] = attribute(attr_types.integers)
    y: Value = result("T[*]")

    def reference(self, x: Tensor) -> Kernel:
        turned = axes_of(self.axes, x.rank)
        at = indices("i", x.rank)
        where = [n - 1 - i if a in turned else i for a, (n, i) in enumerate(zip(x.shape, at, strict=True))]
        return x[where].by(*at).where(dict(zip(at, x.shape, strict=True)))


class PadMode(Enum):
    """Values outside of a tensor."""

    CONSTANT = "constant"
    EDGE = "edge"
    REFLECT = "reflect"
    WRAP = "wrap"


class Pad(Movement, name="core.pad"):
    """Pads each axis on both sides; negative amounts remove elements.

    `reflect` mirrors about the border element, without repeating it; `wrap` repeats the tensor. The value is converted
    to the element type.

    C1: before and after have one entry for each axis. C2: the value is representable in the element type. C3: reflected
    amounts are less than the size of the axis, and a wrapped axis is not empty.
    """

    before: tuple[int, ...] = attribute(attr_types.integers)
    after: tuple[int, ...] = attribute(attr_types.integers)
    mode: PadMode = attribute(attr_types.enumeration(PadMode), default=PadMode.CONSTANT)
    value: float = attribute(attr_types.number, default=0.0)
    y: Value = result("T[*]")

    def reference(self, x: Tensor) -> Kernel:
        if not len(self.before) == len(self.after) == x.rank:
            raise NotationError(f"amounts for {len(self.before)} axes of a tensor of rank {x.rank}", label="C1")
        at = indices("i", x.rank)
        needed: tuple[Constraint, ...] = ()
        match self.mode:
            case PadMode.CONSTANT:
                wide = x.padded(self.before, self.after, "constant", self._fill(x.dtype))
            case PadMode.EDGE:
                wide = x.padded(self.before, self.after, "edge")
            case PadMode.REFLECT:
                for n, before, after in zip(x.shape, self.before, self.after, strict=True):
                    longest = max(before, after)
                    needed += require(longest, "<", n, "amount to mirror", label="C3") if longest > 0 else ()
                wide = x.padded(self.before, self.after, "reflect")
            case PadMode.WRAP:
                for n, before, after in zip(x.shape, self.before, self.after, strict=True):
                    needed += require(n, ">=", 1, "axis to repeat", label="C3") if max(before, after) > 0 else ()
                wide = x.padded(self.before, self.after, "wrap")
        return wide[at].by(*at).where({}, needed)

    def _fill(self, element: ElementType) -> bool | float:
        """The value as one of the element type."""
        if element.kind == "bool":
            return bool(self.value)
        if element.is_integer:
            low, high = limits(element)
            if not low <= self.value <= high:
                raise OutOfRangeError(self.value, element, label="C2")
            return int(self.value)
        return self.value

    def fold(self) -> Value | None:
        return self.x if not any(self.before) and not any(self.after) else None


class DynamicPad(Movement, name="core.dynamic_pad"):
    """Pads a tensor by amounts computed at run time."""

    before: Value = operand("P[r]", by_value=True)
    after: Value = operand("P[r]", by_value=True)
    mode: PadMode = attribute(attr_types.enumeration(PadMode), default=PadMode.CONSTANT)
    value: float = attribute(attr_types.number, default=0.0)
    y: Value = result("T[*]")
    P = _POSITIONS

    @constraint("C1")
    def amounts_fit(self) -> object:
        """Before and after have one entry for each axis."""
        rank, (count,) = tensor_type(self.x).rank, tensor_type(self.before).shape or (None,)
        return rank is None or count is None or require(count, "==", rank, "number of amounts")

    def infer(self) -> tuple[Type, ...]:
        type = tensor_type(self.x)
        if type.shape is None:
            return (type,)
        unknown = (None,) * len(type.shape)
        amounts = zip(type.shape, known_dims(self.before) or unknown, known_dims(self.after) or unknown, strict=True)
        sizes = [None if n is None or b is None or a is None else n + b + a for n, b, a in amounts]
        return (type.with_shape(tuple(sizes)),)

    def reference(self, x: Array, before: Array, after: Array) -> Array:
        xp: Any = x.__array_namespace__()  # numpy, whose stubs do not type the modes of `pad` as one
        amounts: list[tuple[int, int]] = list(zip(before.tolist(), after.tolist(), strict=True))
        if any(n + b + a < 0 for n, (b, a) in zip(x.shape, amounts, strict=True)):
            raise ValueError(f"amounts {amounts} cut more than there is of a tensor of shape {list(x.shape)}")
        cut = x[tuple([slice(max(-b, 0), max(n - max(-a, 0), 0)) for n, (b, a) in zip(x.shape, amounts, strict=True)])]
        pairs = [(max(b, 0), max(a, 0)) for b, a in amounts]
        if self.mode is not PadMode.CONSTANT:
            return xp.pad(cut, pairs, self.mode.value)
        return xp.pad(cut, pairs, constant_values=x.dtype.type(self.value))

    def canonicalize(self) -> tuple[Value, ...] | None:
        """Amounts that are known are attributes."""
        before, after = _numbers(self.before), _numbers(self.after)
        return None if before is None or after is None else (Pad(self.x, before, after, self.mode, self.value).y,)


def _numbers(value: Value) -> tuple[int, ...] | None:
    """The elements of a vector when all are known numbers."""
    known = known_dims(value)
    numbers = tuple([d for d in known or () if isinstance(d, int)])
    return numbers if known is not None and len(numbers) == len(known) else None


class Concat(CoreOp, name="core.concat", traits=(traits.Pure,)):
    """Concatenates tensors along an axis.

    C1: there is a tensor. C2: the tensors have the same rank, and the same dims along the other axes.
    """

    xs: tuple[Value, ...] = operand("T[*]", variadic=True)
    axis: int = attribute(attr_types.integer)
    y: Value = result("T[*]")
    T = ELEMENTS

    def reference(self, xs: tuple[Tensor, ...]) -> Kernel:
        if not xs:
            raise NotationError("no tensors", label="C1")
        at = indices("i", xs[0].rank)
        a = axis_of(self.axis, len(at))
        needed: tuple[Constraint, ...] = ()
        for x in xs[1:]:
            if x.rank != len(at):
                raise NotationError(f"tensors of rank {len(at)} and {x.rank}", label="C2")
            for k, (n, m) in enumerate(zip(xs[0].shape, x.shape, strict=True)):
                needed += () if k == a else require(n, "==", m, f"axis {k}", label="C2")
        return join(at[a], [x[at] for x in xs]).by(*at).where({}, needed)

    def constant_dims(self) -> tuple[Dim, ...] | None:
        known = [dims for x in self.xs if (dims := known_dims(x)) is not None]
        shape = tensor_type(self.xs[0]).shape if self.xs else None
        if len(known) < len(self.xs) or shape is None or not -len(shape) <= self.axis < len(shape):
            return None
        before = shape[: self.axis % len(shape)]
        if not are_numbers(before):
            return None
        rows = prod(before)
        # In order of memory: for each position before the axis, a row of each part.
        return tuple([d for n in range(rows) for p in known for d in p[n * len(p) // rows : (n + 1) * len(p) // rows]])

    def fold(self) -> Value | None:
        """The only tensor that has elements, or the only one."""
        axis = slice(self.axis, self.axis + 1 or None)
        # Nothing is empty along an axis that it does not have.
        sizes = [(tensor_type(x).shape or ())[axis] for x in self.xs]
        kept = [x for x, size in zip(self.xs, sizes, strict=True) if size != (0,) or len(sizes) == 1]
        return kept[0] if len(kept) == 1 and kept[0].type is self.y.type else None


class Split(CoreOp, name="core.split", traits=(traits.Pure,)):
    """Splits a tensor along an axis. C1: the sizes of the parts add up to the size of the axis."""

    x: Value = operand("T[*]")
    axis: int = attribute(attr_types.integer)
    sizes: tuple[Dim, ...] = attribute(attr_types.dims)
    ys: tuple[Value, ...] = result("T[*]", variadic=True)
    T = ELEMENTS

    def reference(self, x: Tensor) -> Kernels:
        a = axis_of(self.axis, x.rank)
        whole: Dim = 0
        for n in self.sizes:
            whole = whole + n
        needed = require(whole, "==", x.shape[a], "sum of the sizes", label="C1")
        out: list[Kernel] = []
        first: Dim = 0
        for n in self.sizes:
            at = indices("i", x.rank)
            where = [i + first if k == a else i for k, i in enumerate(at)]
            out.append(x[where].by(*at).where({at[a]: n}, needed))
            first = first + n
        return tuple(out)


class Tile(Movement, name="core.tile"):
    """Repeats a tensor along each axis. C1: repeats has one entry for each axis."""

    repeats: tuple[Dim, ...] = attribute(attr_types.dims)
    y: Value = result("T[*]")

    def reference(self, x: Tensor) -> Kernel:
        if len(self.repeats) != x.rank:
            raise NotationError(f"repeats for {len(self.repeats)} axes of a tensor of rank {x.rank}", label="C1")
        at = indices("i", x.rank)
        # An empty axis stays empty: nothing is read there.
        where = [i if r == 1 or n == 0 else i % n for i, n, r in zip(at, x.shape, self.repeats, strict=True)]
        sizes = {i: n * r for i, n, r in zip(at, x.shape, self.repeats, strict=True)}
        return x[where].by(*at).where(sizes)


class BlockOrder(Enum):
    """The part of the channel index that is the position within a block.

    DCR: the leading one. CRD: the trailing one.
    """

    DCR = "DCR"
    CRD = "CRD"


class DepthToSpace(CoreOp, name="core.depth_to_space", traits=(traits.Pure,)):
    """Rearranges blocks of channels into blocks of rows and columns.

    C1: the number of channels is a multiple of block^2.
    """

    x: Value = operand("T[n, c, h, w]")
    block: int = attribute(attr_types.integer, check=positive)
    order: BlockOrder = attribute(attr_types.enumeration(BlockOrder), default=BlockOrder.DCR)
    y: Value = result("T[n, o, i, j]")
    T = ELEMENTS

    def reference(self, x: Tensor, *, n: Index, o: Index, i: Index, j: Index) -> Kernel:
        b = self.block
        depth = floor_div(x.shape[1], b * b)
        inner = i % b * b + j % b
        channel = inner * depth + o if self.order is BlockOrder.DCR else o * (b * b) + inner
        whole = require(x.shape[1] % (b * b), "==", 0, "channels of x modulo block squared", label="C1")
        sizes: dict[Index, Dim] = {o: depth, i: x.shape[2] * b, j: x.shape[3] * b}
        return x[n, channel, i // b, j // b].by(n, o, i, j).where(sizes, whole)


class SpaceToDepth(CoreOp, name="core.space_to_depth", traits=(traits.Pure,)):
    """Rearranges blocks of rows and columns into blocks of channels: the inverse of `depth_to_space`.

    C1: height and width are multiples of block.
    """

    x: Value = operand("T[n, c, h, w]")
    block: int = attribute(attr_types.integer, check=positive)
    order: BlockOrder = attribute(attr_types.enumeration(BlockOrder), default=BlockOrder.DCR)
    y: Value = result("T[n, o, i, j]")
    T = ELEMENTS

    def reference(self, x: Tensor, *, n: Index, o: Index, i: Index, j: Index) -> Kernel:
        b, depth = self.block, x.shape[1]
        if depth == 0:  # nothing is read
            inner, channel = 0, 0
        else:
            inner, channel = (o // depth, o % depth) if self.order is BlockOrder.DCR else (o % (b * b), o // (b * b))
        whole = require(x.shape[2] % b, "==", 0, "height modulo block", label="C1")
        whole += require(x.shape[3] % b, "==", 0, "width modulo block", label="C1")
        sizes: dict[Index, Dim] = {o: depth * b * b, i: floor_div(x.shape[2], b), j: floor_div(x.shape[3], b)}
        return x[n, channel, i * b + inner // b, j * b + inner % b].by(n, o, i, j).where(sizes, whole)


reshape = function(Reshape)
dynamic_reshape = function(DynamicReshape)
broadcast_to = function(BroadcastTo)
squeeze = function(Squeeze)
unsqueeze = function(Unsqueeze)
transpose = function(Transpose)
slice_ = function(Slice)
dynamic_slice = function(DynamicSlice)
reverse = function(Reverse)
pad = function(Pad)
dynamic_pad = function(DynamicPad)
concat = function(Concat)
split = function_of_several(Split)
tile = function(Tile)
depth_to_space = function(DepthToSpace)
space_to_depth = function(SpaceToDepth)


def fill(value: Value, shape: tuple[Dim, ...]) -> Value:
    """A tensor of one value, given as a scalar."""
    return broadcast_to(value, shape)


def stack(xs: tuple[Value, ...], axis: int) -> Value:
    """Tensors of one shape along a new axis."""
    return concat(tuple([unsqueeze(x, (axis,)) for x in xs]), axis)
