"""ONNX operators that multiply and sum: matrix products, convolutions, windows, resampling.

Source: ONNX operator reference, default domain, versions 1 to 22.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from commonir.dialects import core
from commonir.dialects.onnx.base import (
    ANY_13,
    FLOATS,
    FLOATS_1,
    NUMBERS_1,
    WIDE_NUMBERS,
    OnnxOp,
    axis_from_start,
    known,
    rank_of,
    shape_of,
)
from commonir.ir.operation import Value
from commonir.ir.types import i8, u8
from commonir.notation import NotationError
from commonir.ods import attribute, element_type, kinds, known_data, one_of, operand, result
from commonir.symbolic import Dim

AUTO_PAD = one_of("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")


class _Windowed(Protocol):
    """What operators with windows over spatial axes share."""

    @property
    def auto_pad(self) -> str: ...
    @property
    def pads(self) -> tuple[int, ...] | None: ...
    @property
    def strides(self) -> tuple[int, ...] | None: ...


class Window(NamedTuple):
    """A window over spatial axes as the core describes it."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, op: _Windowed, x: Value, kernel: tuple[int, ...]) -> Window:
        """The window of a convolution or pooling; padding that keeps sizes needs sizes that are numbers."""
        rank = len(kernel)
        strides = op.strides or (1,) * rank
        dilations = dilations_of(op, rank)
        if op.auto_pad.startswith("SAME"):
            totals = [
                max((-(-n // s) - 1) * s + (k - 1) * d + 1 - n, 0)
                for n, s, k, d in zip(_fixed_sizes(x), strides, kernel, dilations, strict=True)
            ]
            return cls(kernel, strides, dilations, _shared(totals, op.auto_pad))
        return cls(kernel, strides, dilations, pad_pairs(op.pads, rank))

    @classmethod
    def of_transposed(cls, op: ConvTranspose11, x: Value, kernel: tuple[int, ...]) -> Window:
        """The window of a transposed convolution."""
        rank = len(kernel)
        strides = op.strides or (1,) * rank
        dilations = dilations_of(op, rank)
        same = op.auto_pad.startswith("SAME")
        if op.output_shape is None and not same:
            return cls(kernel, strides, dilations, pad_pairs(op.pads, rank))
        sizes = _fixed_sizes(x)
        wanted = op.output_shape or [n * s for n, s in zip(sizes, strides, strict=True)]
        extra = op.output_padding or (0,) * rank
        totals = [
            max(s * (n - 1) + e + (k - 1) * d + 1 - m, 0)
            for n, m, s, e, k, d in zip(sizes, wanted, strides, extra, kernel, dilations, strict=True)
        ]
        return cls(kernel, strides, dilations, _shared(totals, "SAME_UPPER" if same else "SAME_LOWER"))


def dilations_of(op: object, rank: int) -> tuple[int, ...]:
    """The dilations of an operator; versions of some have none."""
    return getattr(op, "dilations", None) or (1,) * rank


def _shared(totals: Sequence[int], rule: str) -> tuple[tuple[int, int], ...]:
    """Padding divided between both sides; an odd one goes to the end for SAME_UPPER, to the start for SAME_LOWER."""
    if rule == "SAME_UPPER":
        return tuple([(t // 2, t - t // 2) for t in totals])
    return tuple([(t - t // 2, t // 2) for t in totals])


def _fixed_sizes(x: Value) -> tuple[int, ...]:
    sizes = shape_of(x)[2:]
    numbers = tuple([n for n in sizes if isinstance(n, int)])
    if len(numbers) != len(sizes):
        raise NotationError("padding that keeps sizes needs spatial sizes that are numbers")
    return numbers


def pad_pairs(pads: tuple[int, ...] | None, rank: int) -> tuple[tuple[int, int], ...]:
    """Padding before and after each axis, from all amounts before followed by all amounts after."""
    if pads is None:
        return ((0, 0),) * rank
    if len(pads) != 2 * rank:
        raise NotationError(f"{len(pads)} amounts of padding for {rank} spatial axes")
    return tuple(zip(pads[:rank], pads[rank:], strict=True))


def kernel_of(weight: Value) -> tuple[int, ...]:
    """The spatial sizes of a filter, which must be numbers."""
    return _fixed_sizes(weight)


def explicit_equation(equation: str) -> str:
    """An Einstein sum with its result: without an arrow, the axes named once, in alphabetic order."""
    if "->" in equation:
        return equation
    names = equation.replace(",", "").replace(" ", "")
    return f"{equation}->{''.join(sorted(n for n in set(names) if names.count(n) == 1))}"


_COORDINATES = {
    "half_pixel": core.Coordinates.HALF_PIXEL,
    "asymmetric": core.Coordinates.ASYMMETRIC,
    "align_corners": core.Coordinates.ALIGN_CORNERS,
}
_ROUNDINGS = {
    "round_prefer_floor": core.Rounding.HALF_DOWN,
    "round_prefer_ceil": core.Rounding.HALF_UP,
    "floor": core.Rounding.FLOOR,
    "ceil": core.Rounding.CEIL,
}


def resized(op: Resize18, x: Value, scales: Value | None, sizes: Value | None) -> Value:
    """The tensor resampled, as far as the core has the mode."""
    plain = (op.antialias, op.exclude_outside, op.keep_aspect_ratio_policy) == (False, False, "stretch")
    coordinates = _COORDINATES.get(op.coordinate_transformation_mode)
    if not plain or coordinates is None or op.mode == "cubic":
        raise NotationError("this form of resampling has no meaning in the core yet")
    shape = shape_of(x)
    axes = range(len(shape)) if op.axes is None else [axis_from_start(a, len(shape)) for a in op.axes]
    chosen = tuple([shape[a] for a in axes])
    given = known(sizes, "sizes") if sizes is not None else scaled_sizes(chosen, scales)
    wanted = list(shape)
    for a, size in zip(axes, given, strict=True):
        wanted[a] = size
    kept = 0
    while kept < len(shape) and shape[kept] == wanted[kept]:
        kept += 1
    if kept == len(shape):
        return x
    mode = core.ResizeMode(op.mode)
    return core.resize(x, tuple(wanted[kept:]), mode, coordinates, _ROUNDINGS[op.nearest_mode])


def scaled_sizes(shape: tuple[Dim, ...], scales: Value | None) -> tuple[Dim, ...]:
    """Sizes times factors, rounded down.

    Raises: NotationError when the factor of a symbolic size is not a whole number.
    """
    data = None if scales is None else known_data(scales)
    if data is None:
        raise NotationError("neither sizes nor scales are known before running")
    out: list[Dim] = []
    for n, scale in zip(shape, map(float, data.values()), strict=True):
        if isinstance(n, int):
            out.append(int(n * scale))
        elif scale.is_integer():
            out.append(n * int(scale))
        else:
            raise NotationError(f"a symbolic size times {scale} is not known before running")
    return tuple(out)


class MatMul(OnnxOp, name="onnx.MatMul", since="opset13"):
    """Product of matrices, as numpy's."""

    __slots__ = ()

    A: Value = operand("T")
    B: Value = operand("T")
    Y: Value = result("T")
    T = WIDE_NUMBERS

    def reference(self, A: Value, B: Value) -> Value:
        return core.matmul(A, B)


class Gemm(OnnxOp, name="onnx.Gemm", since="opset13"):
    """alpha A B + beta C, where A and B may be transposed and C is broadcast."""

    __slots__ = ()

    A: Value = operand("T")
    B: Value = operand("T")
    C: Value | None = operand("T", default=None)
    beta: float = attribute(kinds.number, default=1.0)
    transB: bool = attribute(kinds.flag, default=False)
    alpha: float = attribute(kinds.number, default=1.0)
    transA: bool = attribute(kinds.flag, default=False)
    Y: Value = result("T")
    T = WIDE_NUMBERS

    def reference(self, A: Value, B: Value, C: Value | None) -> Value:
        y = core.matmul(A, B, self.transA, self.transB)
        if self.alpha != 1.0:
            y = core.mul(y, core.splat(self.alpha, y))
        if C is None:
            return y
        return core.add(y, C if self.beta == 1.0 else core.mul(C, core.splat(self.beta, C)))


class Einsum(OnnxOp, name="onnx.Einsum", since="opset12"):
    """Einstein summation; without an arrow, the axes named once are kept in alphabetic order."""

    __slots__ = ()

    Inputs: tuple[Value, ...] = operand("T", variadic=True)
    equation: str = attribute(kinds.text)
    Output: Value = result("T")
    T = NUMBERS_1

    def reference(self, Inputs: tuple[Value, ...]) -> Value:
        return core.einsum(Inputs, explicit_equation(self.equation))


class Conv11(OnnxOp, name="onnx.Conv", since="opset11"):
    """Convolution over any number of spatial axes, with zeros as padding."""

    __slots__ = ()

    X: Value = operand("T")
    W: Value = operand("T")
    B: Value | None = operand("T", default=None)
    group: int = attribute(kinds.integer, default=1)
    pads: tuple[int, ...] | None = attribute(kinds.integers, default=None)
    auto_pad: str = attribute(kinds.text, default="NOTSET", check=AUTO_PAD)
    strides: tuple[int, ...] | None = attribute(kinds.integers, default=None)
    dilations: tuple[int, ...] | None = attribute(kinds.integers, default=None)
    kernel_shape: tuple[int, ...] | None = attribute(kinds.integers, default=None)
    Y: Value = result("T")
    T = FLOATS_1

    def reference(self, X: Value, W: Value, B: Value | None) -> Value:
        window = Window.of(self, X, kernel_of(W))
        return core.conv(X, W, B, window.strides, window.dilations, window.pads, self.group)


class Conv(Conv11, name="onnx.Conv", since="opset22"):
    """As `Conv11`, for more element types."""

    __slots__ = ()

    T = FLOATS


class ConvTranspose11(OnnxOp, name="onnx.ConvTranspose", since="opset11"):
    """The gradient of a convolution by its input."""

    __slots__ = ()

    X: Value = operand("T")
    W: Value = operand("T")
    B: Value | None = operand("T", default=None)
    group: int = attribute(kinds.integer, default=1)
    auto_pad: str = attribute(kinds.text, default="NOTSET", check=AUTO_PAD)
    strides: tuple[int, ...] | None = attribute(kinds.integers, default=None)
    pads: tuple[int, ...] | None = attribute(kinds.integers, default=None)
    output_padding: tuple[int, ...] | None = attribute(kinds.integers, default=None)
    dilations: tuple[int, ...] | None = attribute(kinds.integers, default=None)
    output_shape: tuple[int, ...] | None = attribute(kinds.integers, default=None)
    kernel_shape: tuple[int, ...] | None = attribute(kinds.integers, default=None)
    Y: Value = result("T")
    T = FLOATS_1

    def reference(self, X: Value, W: Value, B: Value | None) -> Value:
        window = Window.of_transposed(self, X, kernel_of(W))
        extra = self.output_padding or ()
        return core.conv_transpose(X, W, B, window.strides, window.dilations, window.pads, extra, self.group)


class ConvTranspose(ConvTranspose11, name="onnx.ConvTranspose", since="opset22"):
    """As `ConvTranspose11`, for more element types."""

    __slots__ = ()

    T = FLOATS


class MaxPool12(OnnxOp, name="onnx.MaxPool", since="opset12"):
    """The largest element of each window, and its position in the flattened operand."""

    __slots__ = ()

    X: Value = operand("T")
    kernel_shape: tuple[int, ...] = attribute(kinds.integers)
    storage_order: int = attribute(kinds.integer, default=0)
    dilations: tuple[int, ...] | None = attribute(kinds.integers, default=None)
    ceil_mode: bool = attribute(kinds.flag, default=False)
    pads: tuple[int, ...] | None = attribute(kinds.integers, default=None)
    auto_pad: str = attribute(kinds.text, default="NOTSET", check=AUTO_PAD)
    strides: tuple[int, ...] | None = attribute(kinds.integers, default=None)
    Y: Value = result("T")
    Indices: Value | None = result("i64", optional=True)
    T = FLOATS_1 | element_type(i8, u8)

    def reference(self, X: Value) -> Value:
        window = Window.of(self, X, self.kernel_shape)
        return core.max_pool(X, window.kernel, window.strides, window.dilations, window.pads, self.ceil_mode)


class MaxPool(MaxPool12, name="onnx.MaxPool", since="opset22"):
    """As `MaxPool12`, for more element types."""

    __slots__ = ()

    T = FLOATS | element_type(i8, u8)


class AveragePool11(OnnxOp, name="onnx.AveragePool", since="opset11"):
    """The mean of each window."""

    __slots__ = ()

    X: Value = operand("T")
    kernel_shape: tuple[int, ...] = attribute(kinds.integers)
    count_include_pad: bool = attribute(kinds.flag, default=False)
    ceil_mode: bool = attribute(kinds.flag, default=False)
    pads: tuple[int, ...] | None = attribute(kinds.integers, default=None)
    auto_pad: str = attribute(kinds.text, default="NOTSET", check=AUTO_PAD)
    strides: tuple[int, ...] | None = attribute(kinds.integers, default=None)
    Y: Value = result("T")
    T = FLOATS_1

    def reference(self, X: Value) -> Value:
        window = Window.of(self, X, self.kernel_shape)
        rest = (window.pads, self.ceil_mode, self.count_include_pad)
        return core.average_pool(X, window.kernel, window.strides, window.dilations, *rest)


class AveragePool19(AveragePool11, name="onnx.AveragePool", since="opset19"):
    """As `AveragePool11`, with `dilations`."""

    __slots__ = ()

    dilations: tuple[int, ...] | None = attribute(kinds.integers, default=None)


class AveragePool(AveragePool19, name="onnx.AveragePool", since="opset22"):
    """As `AveragePool19`, for more element types."""

    __slots__ = ()

    T = FLOATS


class LpPool18(OnnxOp, name="onnx.LpPool", since="opset18"):
    """The p-norm of each window."""

    __slots__ = ()

    X: Value = operand("T")
    kernel_shape: tuple[int, ...] = attribute(kinds.integers)
    p: int = attribute(kinds.integer, default=2)
    pads: tuple[int, ...] | None = attribute(kinds.integers, default=None)
    auto_pad: str = attribute(kinds.text, default="NOTSET", check=AUTO_PAD)
    ceil_mode: bool = attribute(kinds.flag, default=False)
    dilations: tuple[int, ...] | None = attribute(kinds.integers, default=None)
    strides: tuple[int, ...] | None = attribute(kinds.integers, default=None)
    Y: Value = result("T")
    T = FLOATS_1

    def reference(self, X: Value) -> Value:
        window = Window.of(self, X, self.kernel_shape)
        power = core.splat(float(self.p), X)
        powers = core.pow(core.abs(X), power)
        summed = core.sum_pool(powers, window.kernel, window.strides, window.dilations, window.pads, self.ceil_mode)
        return core.pow(summed, core.splat(1 / self.p, X))


class LpPool(LpPool18, name="onnx.LpPool", since="opset22"):
    """As `LpPool18`, for more element types."""

    __slots__ = ()

    T = FLOATS


class GlobalAveragePool1(OnnxOp, name="onnx.GlobalAveragePool", since="opset1"):
    """The mean over all spatial axes, which keep size 1."""

    __slots__ = ()

    X: Value = operand("T")
    Y: Value = result("T")
    T = FLOATS_1

    def reference(self, X: Value) -> Value:
        return core.reduce_mean(X, tuple(range(2, rank_of(X))), True)


class GlobalAveragePool(GlobalAveragePool1, name="onnx.GlobalAveragePool", since="opset22"):
    """As `GlobalAveragePool1`, for more element types."""

    __slots__ = ()

    T = FLOATS


class Resize18(OnnxOp, name="onnx.Resize", since="opset18"):
    """The tensor resampled to other sizes, given as such or as factors."""

    __slots__ = ()

    X: Value = operand("T1")
    roi: Value | None = operand("T2", default=None)
    scales: Value | None = operand("f32", default=None)
    sizes: Value | None = operand("i64", default=None, by_value=True)
    keep_aspect_ratio_policy: str = attribute(kinds.text, default="stretch")
    axes: tuple[int, ...] | None = attribute(kinds.integers, default=None)
    antialias: bool = attribute(kinds.flag, default=False)
    extrapolation_value: float = attribute(kinds.number, default=0.0)
    exclude_outside: bool = attribute(kinds.flag, default=False)
    nearest_mode: str = attribute(kinds.text, default="round_prefer_floor")
    coordinate_transformation_mode: str = attribute(kinds.text, default="half_pixel")
    cubic_coeff_a: float = attribute(kinds.number, default=-0.75)
    mode: str = attribute(kinds.text, default="nearest", check=one_of("nearest", "linear", "cubic"))
    Y: Value = result("T1")
    T1 = ANY_13
    T2 = FLOATS_1

    def reference(self, X: Value, roi: Value | None, scales: Value | None, sizes: Value | None) -> Value:
        return resized(self, X, scales, sizes)


class Resize(Resize18, name="onnx.Resize", since="opset19"):
    """As `Resize18`; `half_pixel_symmetric` and factors for some axes are new."""

    __slots__ = ()
