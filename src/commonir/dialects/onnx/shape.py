"""ONNX operators that move elements or give them without any input.

Source: ONNX operator reference, default domain, versions 9 to 23.
"""

from __future__ import annotations

from collections.abc import Callable

from commonir.dialects import core
from commonir.dialects.onnx.base import (
    ANY_13,
    ANY_19,
    ANY_21,
    ANY_23,
    BOOLEAN,
    FLOATS_8,
    INTEGERS_4,
    NUMBERS,
    NUMBERS_1,
    POSITIONS,
    OnnxOp,
    axis_from_start,
    element_of,
    fixed,
    known,
    rank_of,
    shape_of,
)
from commonir.ir.data import Data, data_of
from commonir.ir.operation import Value
from commonir.ir.types import boolean, f4e2m1fn, f32, f64, i16, i64, string
from commonir.notation import NotationError, broadcast_shape
from commonir.ods import any_type, attribute, element_type, kinds, known_dims, one_of, operand, result
from commonir.symbolic import Dim, ceil_div


def reshaped(data: Value, shape: Value, *, keep_zero: bool) -> Value:
    """The elements under another shape, in which 0 keeps the size of an axis when `keep_zero`."""
    sizes = known_dims(shape)
    if sizes is not None:
        if keep_zero and 0 in sizes:
            source = shape_of(data)
            if any(d == 0 and n >= len(source) for n, d in enumerate(sizes)):
                raise NotationError(f"a size to be kept lies beyond the {len(source)} axes of the operand")
            sizes = tuple([source[n] if d == 0 else d for n, d in enumerate(sizes)])
        return core.reshape(data, sizes)
    (rank,) = shape_of(shape)
    if keep_zero:
        if not isinstance(rank, int) or rank > rank_of(data):
            return core.dynamic_reshape(data, shape)
        kept = core.slice(core.shape_of(data), (0,), (rank,), (1,))
        shape = core.select(core.equal(shape, core.scalar(0, i64)), kept, shape)
    return core.dynamic_reshape(data, shape)


def sliced(data: Value, starts: Value, ends: Value, axes: Value | None, steps: Value | None) -> Value:
    """A slice of some axes; the others are whole."""
    rank = rank_of(data)
    (count,) = shape_of(starts)
    if not isinstance(count, int):
        raise NotationError("the number of sliced axes is not known before running")
    at = tuple(range(count)) if axes is None else tuple([axis_from_start(a, rank) for a in fixed(axes, "axes")])
    stride = (1,) * count if steps is None else fixed(steps, "steps")
    if not len(at) == len(stride) == count:
        raise NotationError(f"{count} starts for {len(at)} axes and {len(stride)} steps")
    step = [1] * rank
    for a, s in zip(at, stride, strict=True):
        step[a] = s
    low, high = known_dims(starts), known_dims(ends)
    if low is not None and high is not None:
        first: list[Dim] = [0] * rank
        last: list[Dim] = list(shape_of(data))
        for a, b, e in zip(at, low, high, strict=True):
            first[a], last[a] = b, e
        return core.slice(data, tuple(first), tuple(last), tuple(step))
    element = element_of(starts)
    whole = core.shape_of(data, element)
    first_of = {a: core.slice(starts, (n,), (n + 1,), (1,)) for n, a in enumerate(at)}
    last_of = {a: core.slice(ends, (n,), (n + 1,), (1,)) for n, a in enumerate(at)}
    zero = core.vector((0,), element)
    lows = core.concat(tuple([first_of.get(a, zero) for a in range(rank)]), 0)
    highs = core.concat(tuple([last_of.get(a) or core.slice(whole, (a,), (a + 1,), (1,)) for a in range(rank)]), 0)
    return core.dynamic_slice(data, lows, highs, tuple(step))


def padded(mode: str, data: Value, pads: Value, fill: Value | None, axes: Value | None) -> Value:
    """The tensor continued on both sides of some axes."""
    if mode == "wrap":
        raise NotationError("periodic padding has no meaning in the core yet")
    extended = _extended_by(data, pads, axes)
    if mode != "constant" or fill is None:
        return extended(data, core.PadMode(mode), 0.0)
    value = known_dims(fill)
    if value is not None and isinstance(value[0], int):
        return extended(data, core.PadMode.CONSTANT, float(value[0]))
    inside = core.broadcast_to(core.scalar(True, boolean), shape_of(data))
    inside = extended(inside, core.PadMode.CONSTANT, 0.0)
    return core.select(inside, extended(data, core.PadMode.CONSTANT, 0.0), fill)


def _extended_by(data: Value, pads: Value, axes: Value | None) -> Callable[[Value, core.PadMode, float], Value]:
    """What continues a tensor of the same shape by amounts, which may be computed by the program for all axes."""
    rank = rank_of(data)
    if axes is None and not all(isinstance(d, int) for d in known_dims(pads) or (None,)):
        low, high = core.slice(pads, (0,), (rank,), (1,)), core.slice(pads, (rank,), (2 * rank,), (1,))
        return lambda v, mode, value: core.dynamic_pad(v, low, high, mode, value)
    at = range(rank) if axes is None else [axis_from_start(a, rank) for a in fixed(axes, "axes")]
    amounts = fixed(pads, "pads")
    if len(amounts) != 2 * len(at):
        raise NotationError(f"{len(amounts)} amounts for {len(at)} axes")
    before, after = [0] * rank, [0] * rank
    for n, a in enumerate(at):
        before[a], after[a] = amounts[n], amounts[n + len(at)]
    return lambda v, mode, value: core.pad(v, tuple(before), tuple(after), mode, value)


def piece_sizes(input: Value, axis: int, split: Value | None, count: int | None) -> tuple[Dim, ...]:
    """The sizes of the pieces of a tensor along an axis."""
    if split is not None:
        return known(split, "split")
    if count is None:
        raise NotationError("neither 'split' nor 'num_outputs' is given")
    shape = shape_of(input)
    whole = shape[axis_from_start(axis, len(shape))]
    size = ceil_div(whole, count)
    return (*(size,) * (count - 1), whole - size * (count - 1))


class Reshape14(OnnxOp, name="onnx.Reshape", since="opset14"):
    """The same elements in row-major order under another shape.

    One size may be -1, and 0 keeps the size of an axis unless `allowzero`.
    """

    __slots__ = ()

    data: Value = operand("T")
    shape: Value = operand("i64", by_value=True)
    allowzero: bool = attribute(kinds.flag, default=False)
    reshaped: Value = result("T")
    T = ANY_13

    def reference(self, data: Value, shape: Value) -> Value:
        return reshaped(data, shape, keep_zero=not self.allowzero)


class Reshape19(Reshape14, name="onnx.Reshape", since="opset19"):
    """As `Reshape14`, for more element types."""

    __slots__ = ()

    T = ANY_19


class Reshape21(Reshape19, name="onnx.Reshape", since="opset21"):
    """As `Reshape19`, for more element types."""

    __slots__ = ()

    T = ANY_21


class Reshape(Reshape21, name="onnx.Reshape", since="opset23"):
    """As `Reshape21`, for more element types."""

    __slots__ = ()

    T = ANY_23


class Transpose13(OnnxOp, name="onnx.Transpose", since="opset13"):
    """The tensor with its axes in another order; without `perm`, reversed."""

    __slots__ = ()

    data: Value = operand("T")
    perm: tuple[int, ...] | None = attribute(kinds.integers, default=None)
    transposed: Value = result("T")
    T = ANY_13

    def reference(self, data: Value) -> Value:
        rank = rank_of(data)
        return core.transpose(data, tuple(reversed(range(rank))) if self.perm is None else self.perm)


class Transpose21(Transpose13, name="onnx.Transpose", since="opset21"):
    """As `Transpose13`, for more element types."""

    __slots__ = ()

    T = ANY_21


class Transpose(Transpose21, name="onnx.Transpose", since="opset23"):
    """As `Transpose21`, for more element types."""

    __slots__ = ()

    T = ANY_23


class Slice(OnnxOp, name="onnx.Slice", since="opset13"):
    """Every step-th element of a range of some axes, with Python's meaning of negative and too large bounds."""

    __slots__ = ()

    data: Value = operand("T")
    starts: Value = operand("Tind", by_value=True)
    ends: Value = operand("Tind", by_value=True)
    axes: Value | None = operand("Tind", default=None, by_value=True)
    steps: Value | None = operand("Tind", default=None, by_value=True)
    output: Value = result("T")
    T = ANY_13
    Tind = POSITIONS

    def reference(self, data: Value, starts: Value, ends: Value, axes: Value | None, steps: Value | None) -> Value:
        return sliced(data, starts, ends, axes, steps)


class Pad18(OnnxOp, name="onnx.Pad", since="opset18"):
    """The tensor continued on both sides of some axes by a value, its border, or mirrored or periodic copies."""

    __slots__ = ()

    data: Value = operand("T")
    pads: Value = operand("i64", by_value=True)
    constant_value: Value | None = operand("T[]", default=None)
    axes: Value | None = operand("Tind", default=None, by_value=True)
    mode: str = attribute(kinds.text, default="constant", check=one_of("constant", "reflect", "edge", "wrap"))
    output: Value = result("T")
    T = ANY_13
    Tind = POSITIONS

    def reference(self, data: Value, pads: Value, constant_value: Value | None, axes: Value | None) -> Value:
        return padded(self.mode, data, pads, constant_value, axes)


class Pad19(Pad18, name="onnx.Pad", since="opset19"):
    """As `Pad18`, with periodic padding."""

    __slots__ = ()


class Pad21(Pad19, name="onnx.Pad", since="opset21"):
    """As `Pad19`, for more element types."""

    __slots__ = ()

    T = ANY_21


class Pad(Pad21, name="onnx.Pad", since="opset23"):
    """As `Pad21`, for more element types."""

    __slots__ = ()

    T = ANY_23


class Concat(OnnxOp, name="onnx.Concat", since="opset13"):
    """Tensors one after another along an axis."""

    __slots__ = ()

    inputs: tuple[Value, ...] = operand("T", variadic=True)
    axis: int = attribute(kinds.integer)
    concat_result: Value = result("T")
    T = ANY_13

    def reference(self, inputs: tuple[Value, ...]) -> Value:
        return core.concat(inputs, self.axis)


class Split(OnnxOp, name="onnx.Split", since="opset18"):
    """A tensor cut into pieces along an axis, of given sizes or `num_outputs` of one size, the last perhaps smaller."""

    __slots__ = ()

    input: Value = operand("T")
    split: Value | None = operand("i64", default=None, by_value=True)
    num_outputs: int | None = attribute(kinds.integer, default=None)
    axis: int = attribute(kinds.integer, default=0)
    outputs: tuple[Value, ...] = result("T", variadic=True)
    T = ANY_13

    def reference(self, input: Value, split: Value | None) -> tuple[Value, ...]:
        return core.split(input, self.axis, piece_sizes(input, self.axis, split, self.num_outputs))


class Squeeze13(OnnxOp, name="onnx.Squeeze", since="opset13"):
    """The tensor without some axes of size 1; without `axes`, without all of them."""

    __slots__ = ()

    data: Value = operand("T")
    axes: Value | None = operand("i64", default=None, by_value=True)
    squeezed: Value = result("T")
    T = ANY_13

    def reference(self, data: Value, axes: Value | None) -> Value:
        shape = shape_of(data)
        gone = tuple([n for n, d in enumerate(shape) if d == 1]) if axes is None else fixed(axes, "axes")
        return core.squeeze(data, gone)


class Squeeze21(Squeeze13, name="onnx.Squeeze", since="opset21"):
    """As `Squeeze13`, for more element types."""

    __slots__ = ()

    T = ANY_21


class Squeeze(Squeeze21, name="onnx.Squeeze", since="opset23"):
    """As `Squeeze21`, for more element types."""

    __slots__ = ()

    T = ANY_23


class Unsqueeze13(OnnxOp, name="onnx.Unsqueeze", since="opset13"):
    """The tensor with new axes of size 1; positions are those in the result."""

    __slots__ = ()

    data: Value = operand("T")
    axes: Value = operand("i64", by_value=True)
    expanded: Value = result("T")
    T = ANY_13

    def reference(self, data: Value, axes: Value) -> Value:
        return core.unsqueeze(data, fixed(axes, "axes"))


class Unsqueeze21(Unsqueeze13, name="onnx.Unsqueeze", since="opset21"):
    """As `Unsqueeze13`, for more element types."""

    __slots__ = ()

    T = ANY_21


class Unsqueeze(Unsqueeze21, name="onnx.Unsqueeze", since="opset23"):
    """As `Unsqueeze21`, for more element types."""

    __slots__ = ()

    T = ANY_23


class Expand(OnnxOp, name="onnx.Expand", since="opset13"):
    """The tensor broadcast with a shape, in both directions."""

    __slots__ = ()

    input: Value = operand("T")
    shape: Value = operand("i64", by_value=True)
    output: Value = result("T")
    T = ANY_13

    def reference(self, input: Value, shape: Value) -> Value:
        return core.broadcast_to(input, broadcast_shape(shape_of(input), known(shape, "shape"))[0])


class Shape15(OnnxOp, name="onnx.Shape", since="opset15"):
    """The sizes of a range of the axes, as a vector."""

    __slots__ = ()

    data: Value = operand("T")
    end: int | None = attribute(kinds.integer, default=None)
    start: int = attribute(kinds.integer, default=0)
    shape: Value = result("i64")
    T = ANY_13

    def reference(self, data: Value) -> Value:
        rank = rank_of(data)
        stop = rank if self.end is None else self.end
        return core.slice(core.shape_of(data), (self.start,), (stop,), (1,))


class Shape19(Shape15, name="onnx.Shape", since="opset19"):
    """As `Shape15`, for more element types."""

    __slots__ = ()

    T = ANY_19


class Shape21(Shape19, name="onnx.Shape", since="opset21"):
    """As `Shape19`, for more element types."""

    __slots__ = ()

    T = ANY_21


class Shape(Shape21, name="onnx.Shape", since="opset23"):
    """As `Shape21`, for more element types."""

    __slots__ = ()

    T = ANY_23


class Size13(OnnxOp, name="onnx.Size", since="opset13"):
    """The number of elements, as a scalar."""

    __slots__ = ()

    data: Value = operand("T")
    size: Value = result("i64")
    T = ANY_13

    def reference(self, data: Value) -> Value:
        return core.reduce_prod(core.shape_of(data), (0,))


class Size19(Size13, name="onnx.Size", since="opset19"):
    """As `Size13`, for more element types."""

    __slots__ = ()

    T = ANY_19


class Size21(Size19, name="onnx.Size", since="opset21"):
    """As `Size19`, for more element types."""

    __slots__ = ()

    T = ANY_21


class Size(Size21, name="onnx.Size", since="opset23"):
    """As `Size21`, for more element types."""

    __slots__ = ()

    T = ANY_23


class Tile(OnnxOp, name="onnx.Tile", since="opset13"):
    """The tensor repeated along each axis."""

    __slots__ = ()

    input: Value = operand("T")
    repeats: Value = operand("i64", by_value=True)
    output: Value = result("T")
    T = ANY_13

    def reference(self, input: Value, repeats: Value) -> Value:
        return core.tile(input, known(repeats, "repeats"))


class DepthToSpace(OnnxOp, name="onnx.DepthToSpace", since="opset13"):
    """Blocks of channels laid out as blocks of rows and columns."""

    __slots__ = ()

    input: Value = operand("T")
    blocksize: int = attribute(kinds.integer)
    mode: str = attribute(kinds.text, default="DCR", check=one_of("DCR", "CRD"))
    output: Value = result("T")
    T = ANY_13

    def reference(self, input: Value) -> Value:
        return core.depth_to_space(input, self.blocksize, core.BlockOrder(self.mode))


class SpaceToDepth(OnnxOp, name="onnx.SpaceToDepth", since="opset13"):
    """Blocks of rows and columns laid out as blocks of channels."""

    __slots__ = ()

    input: Value = operand("T")
    blocksize: int = attribute(kinds.integer)
    output: Value = result("T")
    T = ANY_13

    def reference(self, input: Value) -> Value:
        return core.space_to_depth(input, self.blocksize)


class Range(OnnxOp, name="onnx.Range", since="opset11"):
    """Numbers from a start up to a limit that is not reached, by a step."""

    __slots__ = ()

    start: Value = operand("T[]", by_value=True)
    limit: Value = operand("T[]", by_value=True)
    delta: Value = operand("T[]", by_value=True)
    output: Value = result("T")
    T = POSITIONS | element_type(f32, f64, i16)

    def reference(self, start: Value, limit: Value, delta: Value) -> Value:
        return core.range(start, limit, delta)


class ConstantOfShape9(OnnxOp, name="onnx.ConstantOfShape", since="opset9"):
    """A tensor of one value under a shape; without `value`, of zeros in single precision."""

    __slots__ = ()

    input: Value = operand("i64", by_value=True)
    value: Data | None = attribute(kinds.data, default=None)
    output: Value = result("T2")
    T2 = NUMBERS_1 | BOOLEAN

    def reference(self, input: Value) -> Value:
        fill = core.scalar(0.0, f32) if self.value is None else core.reshape(core.constant(self.value), ())
        return core.broadcast_to(fill, known(input, "input"))


class ConstantOfShape20(ConstantOfShape9, name="onnx.ConstantOfShape", since="opset20"):
    """As `ConstantOfShape9`, for more element types."""

    __slots__ = ()

    T2 = NUMBERS | FLOATS_8 | BOOLEAN


class ConstantOfShape21(ConstantOfShape20, name="onnx.ConstantOfShape", since="opset21"):
    """As `ConstantOfShape20`, for more element types."""

    __slots__ = ()

    T2 = NUMBERS | FLOATS_8 | INTEGERS_4 | BOOLEAN


class ConstantOfShape(ConstantOfShape21, name="onnx.ConstantOfShape", since="opset23"):
    """As `ConstantOfShape21`, for more element types."""

    __slots__ = ()

    T2 = NUMBERS | FLOATS_8 | INTEGERS_4 | BOOLEAN | element_type(f4e2m1fn)


class Constant13(OnnxOp, name="onnx.Constant", since="opset13"):
    """A tensor known before the program runs, given by exactly one of the attributes."""

    __slots__ = ()

    value_strings: tuple[str, ...] | None = attribute(kinds.texts, default=None)
    value_string: str | None = attribute(kinds.text, default=None)
    value_floats: tuple[float, ...] | None = attribute(kinds.numbers, default=None)
    value_float: float | None = attribute(kinds.number, default=None)
    value_ints: tuple[int, ...] | None = attribute(kinds.integers, default=None)
    value_int: int | None = attribute(kinds.integer, default=None)
    value: Data | None = attribute(kinds.data, default=None)
    output: Value = result("T")
    T = ANY_13

    def data(self) -> Data:
        """The contents, from whichever attribute is given. Raises: NotationError when it is not exactly one."""
        given = [
            self.value,
            None if self.value_int is None else data_of(i64, (), (self.value_int,)),
            None if self.value_float is None else data_of(f32, (), (self.value_float,)),
            None if self.value_string is None else data_of(string, (), (self.value_string,)),
            None if self.value_ints is None else data_of(i64, (len(self.value_ints),), self.value_ints),
            None if self.value_floats is None else data_of(f32, (len(self.value_floats),), self.value_floats),
            None if self.value_strings is None else data_of(string, (len(self.value_strings),), self.value_strings),
        ]
        found = [d for d in given if d is not None]
        if len(found) != 1:
            raise NotationError(f"exactly one attribute must be given, found {len(found)}")
        return found[0]

    def reference(self) -> Value:
        return core.constant(self.data())

    def constant_data(self) -> Data | None:
        return self.data()

    def constant_dims(self) -> tuple[Dim, ...] | None:
        return core.whole_numbers(self.data())


class Constant19(Constant13, name="onnx.Constant", since="opset19"):
    """As `Constant13`, for more element types."""

    __slots__ = ()

    T = ANY_19


class Constant21(Constant19, name="onnx.Constant", since="opset21"):
    """As `Constant19`, for more element types."""

    __slots__ = ()

    T = ANY_21


class Constant(Constant21, name="onnx.Constant", since="opset23"):
    """As `Constant21`, for more element types."""

    __slots__ = ()

    T = ANY_23


class Identity16(OnnxOp, name="onnx.Identity", since="opset16"):
    """Its operand."""

    __slots__ = ()

    input: Value = operand(any_type)
    output: Value = result(any_type)

    def reference(self, input: Value) -> Value:
        return input


class Identity19(Identity16, name="onnx.Identity", since="opset19"):
    """As `Identity16`, for more element types."""

    __slots__ = ()


class Identity21(Identity19, name="onnx.Identity", since="opset21"):
    """As `Identity19`, for more element types."""

    __slots__ = ()


class Identity(Identity21, name="onnx.Identity", since="opset23"):
    """As `Identity21`, for more element types."""

    __slots__ = ()
