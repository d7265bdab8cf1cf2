"""ONNX operators that move elements.

Source: ONNX operator reference, default domain, versions 1 to 28.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce

from commonir.base.codes import WRONG_ATTRIBUTE
from commonir.base.diagnostics import Diagnostic
from commonir.base.text import plural
from commonir.dialects import core
from commonir.dialects.onnx.base import (
    ANY_1,
    ANY_13,
    ANY_19,
    ANY_21,
    ANY_23,
    ANY_24,
    ANY_25,
    FLOATS_1,
    NUMBERS_1,
    POSITIONS,
    OnnxOp,
    anything,
    axis_from_start,
    element_of,
    fixed,
    known,
    length_of,
    rank_of,
    shape_of,
    tensor_type,
    with_unknown,
)
from commonir.ir.operation import Value
from commonir.ir.types import Type, boolean, i64, string
from commonir.notation import NotationError, NotKnownError, broadcast_shape
from commonir.ods import (
    attr_types,
    attribute,
    by_version,
    element_type,
    known_data,
    known_dims,
    lists,
    one_of,
    operand,
    result,
    types,
)
from commonir.ods.patterns import version_number
from commonir.ods.requiring import Requiring
from commonir.symbolic import Dim, at_least, ceil_div, element_count, floor_div, largest, smallest

MOVED = by_version(opset1=ANY_1, opset13=ANY_13)
MOVED_TO_25 = by_version(
    opset1=ANY_1, opset13=ANY_13, opset19=ANY_19, opset21=ANY_21, opset23=ANY_23, opset24=ANY_24, opset25=ANY_25
)
"""The element types of operators that only move elements; those that use it state their versions."""
SIZES = element_type(i64)


def reshaped(data: Value, shape: Value, *, keep_zero: bool) -> Value:
    """The elements under another shape, in which 0 keeps the size of an axis when `keep_zero`."""
    sizes = known_dims(shape)
    if sizes is not None:
        if keep_zero and 0 in sizes:
            source = shape_of(data)
            if any(d == 0 and n >= len(source) for n, d in enumerate(sizes)):
                raise NotationError(f"a size to be kept lies beyond the {len(source)} axes of the operand")
            sizes = tuple([source[n] if d == 0 else d for n, d in enumerate(sizes)])
        if 0 in sizes and not all(isinstance(n, int) for n in shape_of(data)):
            raise NotKnownError("whether the operand is empty is not known before running")
        return core.reshape(data, sizes)
    rank = _counted(shape)
    if keep_zero:
        if not isinstance(rank, int):
            raise NotKnownError("the rank of the result is not known before running")
        kept, own = core.shape_of(data), rank_of(data)
        # A zero beyond the axes of the operand is a dim of 0, which is an error unless the operand is empty.
        kept = core.slice(kept, (0,), (rank,), (1,)) if rank <= own else core.concat((kept, _zeros(rank - own)), 0)
        shape = core.select(core.equal(shape, core.scalar(0, i64)), kept, shape)
    return core.dynamic_reshape(data, shape)


def _zeros(count: int) -> Value:
    return core.vector((0,) * count)


def sliced(data: Value, starts: Value, ends: Value, axes: Value | None, steps: Value | None) -> Value:
    """A slice along some axes."""
    rank, count = rank_of(data), _sliced_axes(starts, ends, axes, steps)
    at = tuple(range(count)) if axes is None else tuple([axis_from_start(a, rank) for a in fixed(axes, "axes")])
    stride = (1,) * count if steps is None else fixed(steps, "steps")
    step = [1] * rank
    for a, s in zip(at, stride, strict=True):
        step[a] = s
    low, high = known_dims(starts), known_dims(ends)
    if low is not None and high is not None:
        first: list[Dim] = [0] * rank
        last: list[Dim] = list(shape_of(data))
        for a, b, e in zip(at, low, high, strict=True):
            first[a], last[a] = _first(b, last[a], step[a]), _near(e, last[a])
        return core.slice(data, tuple(first), tuple(last), tuple(step))
    element = element_of(starts)
    whole = core.shape_of(data, element)
    sizes = {a: core.slice(whole, (a,), (a + 1,), (1,)) for a in range(rank)}
    first_of = {a: core.slice(starts, (n,), (n + 1,), (1,)) for n, a in enumerate(at)}
    for a, bound in first_of.items():
        if step[a] < 0:
            first_of[a] = core.maximum(bound, core.neg(sizes[a]))
    last_of = {a: core.slice(ends, (n,), (n + 1,), (1,)) for n, a in enumerate(at)}
    zero = core.vector((0,), element)
    lows = core.concat(tuple([first_of.get(a, zero) for a in range(rank)]), 0)
    highs = core.concat(tuple([last_of.get(a) or sizes[a] for a in range(rank)]), 0)
    return core.dynamic_slice(data, lows, highs, tuple(step))


def _sliced_axes(starts: Value, ends: Value, axes: Value | None, steps: Value | None) -> int:
    """Returns how many axes are sliced, from the known length of any operand.

    Raises: NotationError when two have different lengths; NotKnownError when none is known.
    """
    arguments = [("starts", starts), ("ends", ends), ("axes", axes), ("steps", steps)]
    counts = {name: _length(v) for name, v in arguments if v is not None}
    known_counts = {count for count in counts.values() if count is not None}
    if len(known_counts) > 1:
        raise NotationError(f"not as many of each: {', '.join(f'{n} {what}' for what, n in counts.items())}")
    if not known_counts:
        raise NotKnownError("the number of sliced axes is not known before running")
    return known_counts.pop()


BEYOND = 2**31 - 1
"""The least number that stands for the end of an axis of any size, as the standard recommends."""


def _near(bound: Dim, size: Dim) -> Dim:
    """A bound of a slice; one beyond all axes is the end of this axis, or, before all, what lies before its start."""
    if not isinstance(bound, int) or isinstance(size, int) or -BEYOND < bound < BEYOND:
        return bound
    return size if bound > 0 else -size - 1


def _first(bound: Dim, size: Dim, step: int) -> Dim:
    """The bound that a slice starts at.

    When stepping backward one before the first element stands for that element, which the operator's text says, and
    onnxruntime does; for numpy and onnx's evaluator such a slice is empty.
    """
    if step > 0 or not isinstance(bound, int) or bound >= -1 or at_least(size, -bound):
        return _near(bound, size)
    return 0 if bound <= -BEYOND else largest(size + bound, 0)


def padded(mode: str, data: Value, pads: Value, fill: Value | None, axes: Value | None) -> Value:
    """The tensor continued on both sides of some axes."""
    return continued(mode, data, fill, _extended_by(data, pads, axes))


Extension = Callable[[Value, core.PadMode, float], Value]


def continued(mode: str, data: Value, fill: Value | None, extended: Extension) -> Value:
    """The tensor continued by a value, which may be known only when running, or in another way."""
    is_text = element_of(data) is string
    if mode != "constant":
        return extended(data, core.PadMode(mode), 0.0)
    value = 0.0 if fill is None else _number(fill)
    if value is not None and not is_text:
        return extended(data, core.PadMode.CONSTANT, value)
    inside = extended(core.fill(core.scalar(True, boolean), shape_of(data)), core.PadMode.CONSTANT, 0.0)
    # The padding is not read: 0.0 is not a string.
    wide = extended(data, core.PadMode.EDGE if is_text else core.PadMode.CONSTANT, 0.0)
    return core.select(inside, wide, core.scalar("", string) if fill is None else core.reshape(fill, ()))


def _number(fill: Value) -> float | None:
    """Returns the fill value when it is a number known before running, else None."""
    known = known_dims(fill)
    if known is not None:
        return float(known[0]) if isinstance(known[0], int) else None
    data = known_data(fill)
    value = data.values()[0] if data is not None and data.element.is_float and data.count == 1 else None
    return float(value) if isinstance(value, float) else None


def _extended_by(data: Value, pads: Value, axes: Value | None) -> Extension:
    """Returns the padding of a tensor by amounts for all axes, which may be computed by the program."""
    rank = rank_of(data)
    if axes is None and not all(isinstance(d, int) for d in known_dims(pads) or (None,)):
        low, high = core.slice(pads, (0,), (rank,), (1,)), core.slice(pads, (rank,), (2 * rank,), (1,))
        return lambda v, mode, value: core.dynamic_pad(v, low, high, mode, value)
    at = range(rank) if axes is None else [axis_from_start(a, rank) for a in fixed(axes, "axes")]
    return extension(rank, at, fixed(pads, "pads"))


def extension(rank: int, at: Sequence[int], amounts: tuple[int, ...]) -> Extension:
    """Returns the padding of some axes: first the amounts before each of them, then those after."""
    if len(amounts) != 2 * len(at):
        expected = f"expected {2 * len(at)}: before and after each axis"
        raise NotationError(f"pads has {plural(len(amounts), 'number')}, {expected}")
    before, after = [0] * rank, [0] * rank
    for n, a in enumerate(at):
        before[a], after[a] = amounts[n], amounts[n + len(at)]

    def extended(v: Value, mode: core.PadMode, value: float) -> Value:
        if mode is core.PadMode.REFLECT:
            for a, n in enumerate(shape_of(v)):
                if isinstance(n, int) and n <= max(before[a], after[a]) and n > 0:
                    v = _mirrored(v, a, n, before[a], after[a])
                    before[a] = after[a] = 0
        return core.pad(v, tuple(before), tuple(after), mode, value)

    return extended


def _mirrored(v: Value, axis: int, size: int, before: int, after: int) -> Value:
    """A tensor continued by as many mirror images as are needed; borders are not repeated."""
    period = max(2 * (size - 1), 1)
    places = [min(p % period, period - p % period) if size > 1 else 0 for p in range(-before, size + after)]
    return core.gather(v, core.vector(tuple(places)), axis)


def equal_pieces(input: Value, axis: int, count: int) -> tuple[Dim, ...]:
    """The sizes of a number of pieces of a tensor along an axis, all of one size but for the last, perhaps."""
    if count < 1:
        raise NotationError("neither sizes nor a number of pieces is given")
    shape = shape_of(input)
    whole = shape[axis_from_start(axis, len(shape))]
    size = ceil_div(whole, count)
    last = whole - size * (count - 1)
    if isinstance(last, int) and last < 0:
        raise NotationError(f"{whole} elements cannot be cut into {count} pieces of which only the last is smaller")
    return (*(size,) * (count - 1), last)


def squeezed(data: Value, axes: tuple[int, ...] | None) -> Value:
    """The tensor without some axes of size 1; when none are given, without all of them.

    An empty list gives none, as for onnxruntime; for onnx's evaluator it leaves the tensor as it is.
    """
    if axes:
        rank = rank_of(data)
        return core.squeeze(data, tuple(dict.fromkeys([axis_from_start(a, rank) for a in axes])))
    shape = shape_of(data)
    if any(not isinstance(d, int) and not at_least(d, 2) for d in shape):
        raise NotKnownError("which axes have size 1 is not known before running")
    return core.squeeze(data, tuple([n for n, d in enumerate(shape) if d == 1]))


def _counted(vector: Value) -> Dim:
    """The number of elements of a vector. Raises: NotKnownError when it is not known."""
    count = length_of(vector)
    if count is None:
        raise NotKnownError("the number of elements of an operand is not known before running")
    return count


def _length(vector: Value) -> int | None:
    """The number of elements of a vector."""
    count = length_of(vector)
    return count if isinstance(count, int) else None


def broadcast_when_running(data: Value, shape: Value) -> Requiring | Value:
    """A tensor broadcast with a data-dependent shape, each axis by a gather of positions up to its size.

    Raises: NotKnownError for an unknown number of sizes, or axes of which it is not known whether they have size 1.
    """
    count, known_own = _length(shape), shape_of(data)
    own = tuple([d for d in known_own if isinstance(d, int)])
    if count is None or len(own) < len(known_own):
        raise NotKnownError("'shape' is not known before running")
    rank = max(count, len(own))
    sizes = (*(1,) * (rank - len(own)), *own)
    result, zero, one = core.reshape(data, sizes), core.scalar(0, i64), core.scalar(1, i64)
    fits: list[Value] = []
    for k, size in enumerate(sizes[rank - count :]):
        requested = core.reshape(core.slice(shape, (k,), (k + 1,), (1,)), ())
        if size == 1:
            result = core.gather(result, core.minimum(core.range(zero, requested, one), zero), rank - count + k)
        else:
            fits.append(core.logical_or(core.equal(requested, one), core.equal(requested, core.scalar(size, i64))))
    if not fits:
        return result
    return Requiring(core.Require(reduce(core.logical_and, fits), _NO_BROADCAST, ()), (result,))


_NO_BROADCAST = "the sizes do not broadcast"


def _broadcasts(a: Dim, b: Dim) -> Value:
    """Returns, as a scalar bool, whether two dims are equal or one of them is 1."""
    n, m, one = core.dims((a,), i64, True), core.dims((b,), i64, True), core.scalar(1, i64)
    return core.logical_or(core.equal(n, m), core.logical_or(core.equal(n, one), core.equal(m, one)))


def _known_axes(axes: Value | None) -> tuple[int, ...] | None:
    """The axes that an operand names, where they are known."""
    known = None if axes is None else known_dims(axes)
    numbers = tuple([a for a in known or () if isinstance(a, int)])
    return numbers if known is not None and len(numbers) == len(known) else None


class Reshape(OnnxOp, name="onnx.Reshape", since="opset5 opset13 opset14 opset19 opset21 opset23 opset24 opset25"):
    """Reshapes a tensor, in row-major order.

    One dim may be -1 (inferred), and 0 keeps the dim of the operand unless `allowzero` is set.
    """

    data: Value = operand("T")
    shape: Value = operand("i64", by_value=True)
    allowzero: bool = attribute(attr_types.flag, default=False, since="opset14")
    reshaped: Value = result("T")
    T = MOVED_TO_25

    def reference(self, data: Value, shape: Value) -> Value:
        return reshaped(data, shape, keep_zero=not self.allowzero)


class Flatten(OnnxOp, name="onnx.Flatten", since="opset1 opset9 opset11 opset13 opset21 opset23 opset24 opset25"):
    """Flattens to a matrix: the axes before `axis` become its rows, the others its columns."""

    input: Value = operand("T")
    axis: int = attribute(attr_types.integer, default=1)
    output: Value = result("T")
    T = by_version(
        opset1=FLOATS_1, opset9=ANY_1, opset13=ANY_13, opset21=ANY_21, opset23=ANY_23, opset24=ANY_24, opset25=ANY_25
    )

    def reference(self, input: Value) -> Value:
        shape = shape_of(input)
        first = self.axis if self.axis == len(shape) else axis_from_start(self.axis, len(shape))
        return core.reshape(input, (element_count(shape[:first]), element_count(shape[first:])))


class Transpose(OnnxOp, name="onnx.Transpose", since="opset1 opset13 opset21 opset23 opset24 opset25"):
    """Permutes the axes; without `perm`, reverses their order."""

    data: Value = operand("T")
    perm: tuple[int, ...] | None = attribute(attr_types.integers, default=None)
    transposed: Value = result("T")
    T = MOVED_TO_25

    def reference(self, data: Value) -> Value:
        rank = rank_of(data)
        return core.transpose(data, tuple(reversed(range(rank))) if self.perm is None else self.perm)


class Slice(OnnxOp, name="onnx.Slice", since="opset1 opset10 opset11 opset13"):
    """Strided slice of some axes; bounds that are negative or out of range behave as in Python."""

    data: Value = operand("T")
    starts: Value = operand("Tind", by_value=True, since="opset10", before=attribute(attr_types.integers))
    ends: Value = operand("Tind", by_value=True, since="opset10", before=attribute(attr_types.integers))
    axes: Value | None = operand(
        "Tind", default=None, by_value=True, since="opset10", before=attribute(attr_types.integers, default=None)
    )
    steps: Value | None = operand("Tind", default=None, by_value=True, since="opset10")
    output: Value = result("T")
    T = MOVED
    Tind = POSITIONS

    def infer_partially(self) -> tuple[Type, ...]:
        count, axes = length_of(self.as_operand("starts")), self.as_operand("axes")
        axes = tuple(range(count)) if axes is None and isinstance(count, int) else _known_axes(axes)
        return (with_unknown(tensor_type(self.data), axes),)

    def reference(self, data: Value, starts: Value, ends: Value, axes: Value | None, steps: Value | None) -> Value:
        return sliced(data, starts, ends, axes, steps)


class Pad(OnnxOp, name="onnx.Pad", since="opset2 opset11 opset13 opset18 opset19 opset21 opset23 opset24 opset25"):
    """Pads some axes on both sides with a constant, the edge values, or reflected or wrapped copies."""

    data: Value = operand("T")
    pads: Value = operand("i64", by_value=True, since="opset11", before=attribute(attr_types.integers))
    constant_value: Value | None = operand(
        "T", default=None, by_value=True, since="opset11",
        before=attribute(attr_types.number, default=0.0, spelling="value"),
    )  # fmt: skip
    axes: Value | None = operand("Tind", default=None, by_value=True, since="opset18")
    mode: str = attribute(attr_types.string, default="constant", check=one_of("constant", "reflect", "edge", "wrap"))
    output: Value = result("T")
    T = by_version(
        opset2=FLOATS_1, opset11=NUMBERS_1, opset13=ANY_13, opset21=ANY_21, opset23=ANY_23, opset24=ANY_24,
        opset25=ANY_25,
    )  # fmt: skip
    Tind = POSITIONS

    def infer_partially(self) -> tuple[Type, ...]:
        return (with_unknown(tensor_type(self.data), _known_axes(self.axes)),)

    def reference(self, data: Value, pads: Value, constant_value: Value | None, axes: Value | None) -> Value:
        if self.mode == "wrap" and version_number(self.since) < 19:
            raise NotationError("the mode 'wrap' is one of opset 19 and later")
        return padded(self.mode, data, pads, constant_value, axes)


class CenterCropPad(OnnxOp, name="onnx.CenterCropPad", since="opset18"):
    """Center-crops a tensor, or pads it with zeros on both sides, to a given shape.

    If the difference is odd, the extra element is cropped or added at the end.
    """

    input_data: Value = operand("T")
    shape: Value = operand("Tind", by_value=True)
    axes: tuple[int, ...] | None = attribute(attr_types.integers, default=None)
    output_data: Value = result("T")
    T = ANY_13
    Tind = POSITIONS

    def infer(self) -> tuple[Type, ...]:
        type, expected = tensor_type(self.input_data), known_dims(self.shape)
        if type.shape is None:
            return (type,)
        sizes = list(type.shape)
        rank = len(sizes)
        for n, a in enumerate(range(rank) if self.axes is None else [axis_from_start(a, rank) for a in self.axes]):
            sizes[a] = expected[n] if expected is not None and n < len(expected) else None
        return (type.with_shape(tuple(sizes)),)

    def reference(self, input_data: Value, shape: Value) -> Value:
        source, expected = shape_of(input_data), known(shape, "shape")
        rank = len(source)
        axes = range(rank) if self.axes is None else [axis_from_start(a, rank) for a in self.axes]
        if len(axes) != len(expected):
            raise NotationError(f"{len(expected)} sizes for {len(axes)} axes")
        if any(isinstance(size, int) and size < 0 for size in expected):
            raise NotationError(f"sizes {list(expected)} are not all at least 0")
        starts: list[Dim] = [0] * rank
        stops: list[Dim] = list(source)
        before: list[Dim] = [0] * rank
        after: list[Dim] = [0] * rank
        for a, size in zip(axes, expected, strict=True):
            starts[a] = floor_div(largest(source[a] - size, 0), 2)
            stops[a] = starts[a] + smallest(source[a], size)
            missing = largest(size - source[a], 0)
            before[a] = floor_div(missing, 2)
            after[a] = missing - before[a]
        cut = core.slice(input_data, tuple(starts), tuple(stops), (1,) * rank)
        low, high = core.dims(tuple(before)), core.dims(tuple(after))
        numbers = [d for d in (*before, *after) if isinstance(d, int)]
        if len(numbers) == 2 * rank:
            return continued("constant", cut, None, extension(rank, range(rank), tuple(numbers)))
        return continued("constant", cut, None, lambda v, mode, value: core.dynamic_pad(v, low, high, mode, value))


class Concat(OnnxOp, name="onnx.Concat", since="opset4 opset11 opset13"):
    """Concatenates tensors along an axis."""

    inputs: tuple[Value, ...] = operand("T", variadic=True)
    axis: int = attribute(attr_types.integer)
    concat_result: Value = result("T")
    T = MOVED

    def reference(self, inputs: tuple[Value, ...]) -> Value:
        return core.concat(inputs, self.axis)


class Split(OnnxOp, name="onnx.Split", since="opset2 opset11 opset13 opset18"):
    """Splits a tensor along an axis, into given sizes or `num_outputs` equal parts, the last perhaps smaller."""

    input: Value = operand("T")
    split: Value | None = operand(
        "i64", default=None, by_value=True, since="opset13", before=attribute(attr_types.integers, default=None)
    )
    num_outputs: int | None = attribute(attr_types.integer, default=None, since="opset18")
    axis: int = attribute(attr_types.integer, default=0)
    outputs: tuple[Value, ...] = result("T", variadic=True)
    T = MOVED

    def trace_key(self) -> object:
        return self.declared_results()

    def declared_results(self) -> int:
        """Returns the number of results of a split into equal pieces, which the program declares."""
        return len(self.built_results or ())

    def verify(self) -> Iterator[Diagnostic]:
        count = sum(given is not None for given in (self.split, self.num_outputs))
        if "num_outputs" in self.layout.by_name and count != 1:
            what = "neither 'split' nor 'num_outputs' is" if count == 0 else "both 'split' and 'num_outputs' are"
            yield Diagnostic(WRONG_ATTRIBUTE, f"{self.name}: {what} given")

    def infer_partially(self) -> tuple[Type, ...] | None:
        piece = with_unknown(tensor_type(self.input), (self.axis,))
        return (piece,) * self.declared_results() or None

    def reference(self, input: Value, split: Value | None) -> tuple[Value, ...]:
        count = self.declared_results() if self.num_outputs is None else self.num_outputs
        lengths = () if split is None else known(split, "split")
        return core.split(input, self.axis, lengths or equal_pieces(input, self.axis, count))


class Squeeze(OnnxOp, name="onnx.Squeeze", since="opset1 opset11 opset13 opset21 opset23 opset24 opset25"):
    """Removes axes of size 1: those of `axes`, or all of them.

    An axis that is named twice is removed once, as in onnxruntime.
    """

    data: Value = operand("T")
    axes: Value | None = operand(
        "i64", default=None, by_value=True, since="opset13", before=attribute(attr_types.integers, default=None)
    )
    squeezed: Value = result("T")
    T = MOVED_TO_25

    def infer_partially(self) -> tuple[Type, ...]:
        type = tensor_type(self.data)
        axes = self.as_operand("axes")
        # Of several axes, one may be named twice.
        is_one = axes is not None and _length(axes) == 1
        return (type.with_shape((None,) * (type.rank - 1) if is_one and type.rank else None),)

    def reference(self, data: Value, axes: Value | None) -> Value:
        return squeezed(data, None if axes is None else fixed(axes, "axes"))


class Unsqueeze(OnnxOp, name="onnx.Unsqueeze", since="opset1 opset11 opset13 opset21 opset23 opset24 opset25"):
    """Inserts axes of size 1; positions are those in the result."""

    data: Value = operand("T")
    axes: Value = operand("i64", by_value=True, since="opset13", before=attribute(attr_types.integers))
    expanded: Value = result("T")
    T = MOVED_TO_25

    @property
    def counts_axes_in(self) -> Value:
        return self.expanded

    def infer_partially(self) -> tuple[Type, ...]:
        type, new = tensor_type(self.data), _length(self.as_operand("axes"))
        return (type.with_shape(None if new is None or type.rank is None else (None,) * (type.rank + new)),)

    def reference(self, data: Value, axes: Value) -> Value:
        return core.unsqueeze(data, fixed(axes, "axes"))


class Expand(OnnxOp, name="onnx.Expand", since="opset8 opset13"):
    """Broadcasts a tensor to a shape; where the shape has 1, the dim of the tensor is kept."""

    input: Value = operand("T")
    shape: Value = operand("i64", by_value=True)
    output: Value = result("T")
    T = MOVED

    def infer_partially(self) -> tuple[Type, ...]:
        type, count = tensor_type(self.input), _length(self.shape)
        if count is None or type.shape is None:
            return (type.with_shape(None),)
        # A size other than 1 stays what it is, or the two shapes do not broadcast.
        sizes = [d if isinstance(d, int) and d != 1 else None for d in type.shape]
        return (type.with_shape((*(None,) * (count - len(sizes)), *sizes)),)

    def reference(self, input: Value, shape: Value) -> Value | Requiring:
        whole, needed = broadcast_shape(shape_of(input), known(shape, "shape"), names=("input", "shape"))
        result = core.broadcast_to(input, whole)
        # That the tensor has the size of the result, or 1, is required by the broadcast; so must the shape.
        fits = [_broadcasts(c.lhs, c.rhs) for c in needed]
        return Requiring(core.Require(reduce(core.logical_and, fits), _NO_BROADCAST, ()), (result,)) if fits else result

    def dynamic_reference(self, input: Value, shape: Value) -> Requiring | Value:
        return broadcast_when_running(input, shape)


class Shape(OnnxOp, name="onnx.Shape", since="opset1 opset13 opset15 opset19 opset21 opset23 opset24 opset25"):
    """The shape of a tensor, or a slice of it, as a vector."""

    data: Value = operand("T")
    end: int | None = attribute(attr_types.integer, default=None, since="opset15")
    start: int = attribute(attr_types.integer, default=0, since="opset15")
    shape: Value = result("T1")
    T = MOVED_TO_25
    T1 = SIZES

    def reference(self, data: Value) -> Value:
        sizes = core.shape_of(data)
        if self.start == 0 and self.end is None:
            return sizes
        return core.slice(sizes, (self.start,), (rank_of(data) if self.end is None else self.end,), (1,))


class Size(OnnxOp, name="onnx.Size", since="opset1 opset13 opset19 opset21 opset23 opset24 opset25"):
    """The number of elements, as a scalar."""

    data: Value = operand("T")
    size: Value = result("T1")
    T = MOVED_TO_25
    T1 = SIZES

    def reference(self, data: Value) -> Value:
        return core.reduce_prod(core.shape_of(data), (0,))


class Tile(OnnxOp, name="onnx.Tile", since="opset6 opset13"):
    """Repeats a tensor along each axis."""

    input: Value = operand("T")
    repeats: Value = operand("T1", by_value=True)
    output: Value = result("T")
    T = MOVED
    T1 = SIZES

    def infer_partially(self) -> tuple[Type, ...]:
        return (with_unknown(tensor_type(self.input), None),)

    def reference(self, input: Value, repeats: Value) -> Value:
        return core.tile(input, known(repeats, "repeats"))


class DepthToSpace(OnnxOp, name="onnx.DepthToSpace", since="opset1 opset11 opset13 opset28"):
    """Rearranges blocks of channels into blocks of rows and columns."""

    input: Value = operand("T")
    blocksize: int = attribute(attr_types.integer)
    mode: str = attribute(attr_types.string, default="DCR", check=one_of("DCR", "CRD"), since="opset11")
    output: Value = result("T")
    T = MOVED

    def reference(self, input: Value) -> Value:
        return core.depth_to_space(input, self.blocksize, core.BlockOrder(self.mode))


class SpaceToDepth(OnnxOp, name="onnx.SpaceToDepth", since="opset1 opset13 opset28"):
    """Rearranges blocks of rows and columns into blocks of channels."""

    input: Value = operand("T")
    blocksize: int = attribute(attr_types.integer)
    mode: str = attribute(attr_types.string, default="DCR", check=one_of("DCR", "CRD"), since="opset28")
    output: Value = result("T")
    T = MOVED

    def reference(self, input: Value) -> Value:
        return core.space_to_depth(input, self.blocksize, core.BlockOrder(self.mode))


class Identity(
    OnnxOp, name="onnx.Identity", since="opset1 opset13 opset14 opset16 opset19 opset21 opset23 opset24 opset25"
):
    """Returns its operand."""

    input: Value = operand("V")
    output: Value = result("V")
    V = anything(ANY_1, opset1=types(ANY_1), opset13=types(ANY_13), opset14=types(ANY_13, lists(ANY_1)))

    def reference(self, input: Value) -> Value:
        return input
