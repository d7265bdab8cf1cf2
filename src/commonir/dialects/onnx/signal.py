"""ONNX operators on signals: Fourier transforms, windows, and the scale of mel frequencies.

Source: ONNX operator reference, default domain, DFT, STFT, the window operators and MelWeightMatrix.
"""

from __future__ import annotations

import math
from typing import ClassVar

from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.file_codes import LIMIT_EXCEEDED
from commonir.base.limits import DEFAULT_LIMITS
from commonir.dialects import core
from commonir.dialects.onnx.base import (
    FLOATS,
    NUMBERS,
    POSITIONS,
    OnnxOp,
    axis_from_start,
    rank_of,
    shape_of,
    single,
    single_number,
    sizes_of_rank,
    tensor_type,
    with_unknown,
)
from commonir.ir.data import data_of
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, TensorType, Type, f32, i64
from commonir.notation import NotationError
from commonir.ods import attr_types, attribute, known_dims, operand, result
from commonir.symbolic import Dim, floor_div


def transformed(x: Value, length: Value | None, axis: int, *, inverse: bool, onesided: bool) -> Value:
    """The Fourier transform along an axis, over all of it when no length is given."""
    size = shape_of(x)[axis_from_start(axis, rank_of(x))]
    # Half of the frequencies of a signal of even length.
    usual = (size - 1) * 2 if inverse and onesided else size
    return core.dft(x, usual if length is None else single(length, "dft_length"), axis, inverse, onesided)


def transformed_type(x: Value, length: Value | None, axis: int | None, *, inverse: bool, onesided: bool) -> Type:
    """The type of a transform of which the length or the axis is not known: all of an axis gives one as long."""
    type = tensor_type(x)
    if type.shape is None:
        return type
    changed = range(len(type.shape) - 1) if axis is None else (axis,)
    some = with_unknown(type, changed) if onesided or length is not None else type
    return some.with_shape((*(some.shape or ())[:-1], 1 if inverse and onesided else 2))


class DFT(OnnxOp, name="onnx.DFT", since="opset17 opset20"):
    """The discrete Fourier transform along an axis, of real numbers or pairs of real and imaginary part."""

    input: Value = operand("T1")
    dft_length: Value | None = operand("T2", default=None, by_value=True)
    axis: Value | None = operand(
        "i64", default=None, by_value=True, since="opset20", before=attribute(attr_types.integer, default=1)
    )
    inverse: bool = attribute(attr_types.flag, default=False)
    onesided: bool = attribute(attr_types.flag, default=False)
    output: Value = result("T1")
    T1 = FLOATS
    T2 = POSITIONS

    def reference(self, input: Value, dft_length: Value | None, axis: Value | None) -> Value:
        along = -2 if axis is None else single(axis, "axis")
        return transformed(input, dft_length, along, inverse=self.inverse, onesided=self.onesided)

    def infer_partially(self) -> tuple[Type, ...]:
        given = self.as_operand("axis")
        result = None if given is None else known_dims(given)
        axis = -2 if given is None else result[0] if result else None
        along = axis if isinstance(axis, int) else None
        return (transformed_type(self.input, self.dft_length, along, inverse=self.inverse, onesided=self.onesided),)


class STFT(OnnxOp, name="onnx.STFT", since="opset17"):
    """Short-time Fourier transform: the Fourier transforms of windowed frames of a signal [batch, length, 1 or 2],
    `frame_step` apart.
    """

    signal: Value = operand("T1")
    frame_step: Value = operand("T2", by_value=True)
    window: Value | None = operand("T1", default=None)
    frame_length: Value | None = operand("T2", default=None, by_value=True)
    onesided: bool = attribute(attr_types.flag, default=True)
    output: Value = result("T1")
    T1 = FLOATS
    T2 = POSITIONS

    def reference(self, signal: Value, frame_step: Value, window: Value | None, frame_length: Value | None) -> Value:
        x = signal if rank_of(signal) == 3 else core.unsqueeze(signal, (-1,))
        step, (_, length, _) = single(frame_step, "frame_step"), sizes_of_rank(x, "signal", 3)
        if step < 1:
            raise NotationError(f"frames that follow one another by {step}")
        size = self._size(length, window, frame_length)
        frames = (floor_div(length - size, step) + 1, size)
        starts = core.mul(core.iota(frames, 0, i64), core.scalar(step, i64))
        parts = core.gather(x, core.add(starts, core.iota(frames, 1, i64)), 1)
        if window is not None:
            parts = core.mul(parts, core.unsqueeze(window, (-1,)))
        return core.dft(parts, size, -2, False, self.onesided)

    def infer_partially(self) -> tuple[Type, ...]:
        type = tensor_type(self.signal)
        return (type.with_shape((type.shape[0], None, None, 2) if type.shape else None),)

    def _size(self, length: Dim, window: Value | None, frame_length: Value | None) -> Dim:
        """The length of a frame: as given, that of the window, or that of the signal."""
        if frame_length is not None:
            return single(frame_length, "frame_length")
        return length if window is None else sizes_of_rank(window, "window", 1)[0]


class WindowOp(OnnxOp):
    """A cosine-sum window over one period; a periodic one leaves out the last point, which would equal the first."""

    weights: ClassVar[tuple[float, ...]]
    size: Value = operand("T1", by_value=True)
    output_datatype: ElementType = attribute(attr_types.element, default=f32)
    periodic: bool = attribute(attr_types.flag, default=True)
    output: Value = result("T2")
    T1 = POSITIONS
    T2 = NUMBERS

    def reference(self, size: Value) -> Value:
        wide = core.cast(size, i64)
        place = core.cast(core.range(core.scalar(0, i64), wide, core.scalar(1, i64)), f32)
        period = core.cast(wide if self.periodic else core.sub(wide, core.scalar(1, i64)), f32)
        turn = core.div(core.mul(place, core.scalar(2 * math.pi, f32)), period)
        y: Value = core.scalar(self.weights[0], f32)
        for n, weight in enumerate(self.weights[1:], 1):
            angle = turn if n == 1 else core.mul(turn, core.scalar(float(n), f32))
            y = core.add(y, core.mul(core.cos(angle), core.scalar(weight, f32)))
        return core.cast(y, self.output_datatype)

    def infer_partially(self) -> tuple[Type, ...]:
        return (TensorType(self.output_datatype, (None,)),)


class HannWindow(WindowOp, name="onnx.HannWindow", since="opset17"):
    """Hann window: 1/2 - 1/2 cos(2 pi n / N)."""

    weights = (0.5, -0.5)


class HammingWindow(WindowOp, name="onnx.HammingWindow", since="opset17"):
    """Hamming window: 25/46 - 21/46 cos(2 pi n / N)."""

    weights = (25 / 46, -21 / 46)


class BlackmanWindow(WindowOp, name="onnx.BlackmanWindow", since="opset17"):
    """Blackman window: 0.42 - 0.5 cos(2 pi n / N) + 0.08 cos(4 pi n / N)."""

    weights = (0.42, -0.5, 0.08)


class MelWeightMatrix(OnnxOp, name="onnx.MelWeightMatrix", since="opset17"):
    """Weights [frequency, bin] that map the frequencies of a Fourier transform to bins of the mel scale.

    Each bin is a triangular filter between the frequencies of its neighbours, which are equidistant in mel: 2595
    log10(1 + f / 700).
    """

    num_mel_bins: Value = operand("T1", by_value=True)
    dft_length: Value = operand("T1", by_value=True)
    sample_rate: Value = operand("T1", by_value=True)
    lower_edge_hertz: Value = operand("T2", by_value=True)
    upper_edge_hertz: Value = operand("T2", by_value=True)
    output_datatype: ElementType = attribute(attr_types.element, default=f32)
    output: Value = result("T3")
    T1 = POSITIONS
    T2 = FLOATS
    T3 = NUMBERS

    def reference(
        self,
        num_mel_bins: Value,
        dft_length: Value,
        sample_rate: Value,
        lower_edge_hertz: Value,
        upper_edge_hertz: Value,
    ) -> Value:
        bins, length = single(num_mel_bins, "num_mel_bins"), single(dft_length, "dft_length")
        rate = single(sample_rate, "sample_rate")
        low, high = (
            single_number(v, n)
            for v, n in ((lower_edge_hertz, "lower_edge_hertz"), (upper_edge_hertz, "upper_edge_hertz"))
        )
        if not (math.isfinite(low) and math.isfinite(high) and min(low, high) > -700):
            raise NotationError(f"frequencies from {low} to {high}")
        low, high = _mel(low), _mel(high)
        if bins < 0 or length < 0 or rate < 1:
            raise NotationError(f"{bins} bins for a transform of length {length} at {rate} samples per second")
        rows = length // 2 + 1
        if rows * bins > DEFAULT_LIMITS.max_computed_elements:
            raise DiagnosticError(Diagnostic(LIMIT_EXCEEDED, f"{self.name}: a matrix of {rows:,} by {bins:,} elements"))
        step = (high - low) / (bins + 2)
        places = [math.floor((length + 1) * _hertz(low + n * step) / rate) for n in range(bins + 2)]
        columns = [_triangle(places[n : n + 3], rows) for n in range(bins)]
        values = [float(column[row]) for row in range(rows) for column in columns]
        return core.cast(core.constant(data_of(f32, (rows, bins), values)), self.output_datatype)

    def infer_partially(self) -> tuple[Type, ...]:
        return (TensorType(self.output_datatype, (None, None)),)


def _mel(hertz: float) -> float:
    return 2595 * math.log1p(hertz / 700) / math.log(10)


def _hertz(mel: float) -> float:
    return 700 * math.expm1(mel / 2595 * math.log(10))


def _triangle(corners: list[int], rows: int) -> list[float]:
    """The weights of a bin: from 0 at its first corner over 1 at the second to 0 at the third.

    Raises: NotationError when a corner is not a frequency of the transform.
    """
    first, middle, last = corners
    if not 0 <= first <= middle < rows or last > rows:
        raise NotationError(f"a bin from {first} to {last} of {rows} frequencies")
    column = [0.0] * rows
    for row in range(first, middle):
        column[row] = (row - first) / (middle - first)
    column[middle] = 1.0
    for row in range(middle, last):
        column[row] = (last - row) / (last - middle)
    return column
