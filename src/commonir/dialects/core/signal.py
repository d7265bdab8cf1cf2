"""The discrete Fourier transform.

Complex numbers are pairs of real and imaginary part along a last axis of size 2.
Source: ONNX DFT and STFT.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonir.dialects.core.base import FLOATS, CoreOp, axis_of, function, tensor_type
from commonir.ir.operation import Value
from commonir.ir.types import Type
from commonir.notation import NotationError
from commonir.ods import attr_types, attribute, constraint, operand, positive, result, traits
from commonir.symbolic import Dim, floor_div

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.generic]


class Dft(CoreOp, name="core.dft", traits=(traits.Pure,)):
    """The discrete Fourier transform along an axis, of real numbers (a last axis of size 1) or complex ones (size 2).

    The axis is first truncated or padded with zeros to `length` elements. The inverse is divided by the length. With
    `onesided` the result has only the first length / 2 + 1 frequencies, rounded down; the inverse of a onesided
    transform takes these and returns real numbers. Half precision is computed in single precision and rounded once.
    """

    x: Value = operand("T[*]")
    length: Dim = attribute(attr_types.dim, check=positive)
    axis: int = attribute(attr_types.integer, default=-2)
    inverse: bool = attribute(attr_types.flag, default=False)
    onesided: bool = attribute(attr_types.flag, default=False)
    y: Value = result("T[*]")
    T = FLOATS

    @constraint("C1")
    def axes_fit(self) -> object:
        """The axis is none of the last one, whose size is 1 or 2."""
        shape = tensor_type(self.x).shape
        if shape is None:
            return True
        if not shape or axis_of(self.axis, len(shape)) == len(shape) - 1:
            return False
        return not isinstance(shape[-1], int) or shape[-1] in (1, 2)

    def infer(self) -> tuple[Type, ...]:
        type = tensor_type(self.x)
        if type.shape is None:
            return (type,)
        sizes = list(type.shape)
        halved = self.onesided and not self.inverse
        sizes[axis_of(self.axis, len(sizes))] = floor_div(self.length, 2) + 1 if halved else self.length
        sizes[-1] = 1 if self.onesided and self.inverse else 2
        return (type.with_shape(tuple(sizes)),)

    def reference(self, x: Array) -> Array:
        xp, length = x.__array_namespace__(), self.length
        if not isinstance(length, int):
            raise NotationError("the length of a transform is a number when it runs")
        axis = axis_of(self.axis, x.ndim)
        wide = x.astype(xp.result_type(x.dtype, xp.float32))
        values = wide[..., 0] if wide.shape[-1] == 1 else wide[..., 0] + 1j * wide[..., 1]
        if self.inverse and self.onesided:
            return xp.fft.irfft(values, length, axis)[..., None].astype(x.dtype)
        if self.inverse:
            found = xp.fft.ifft(values, length, axis)
        elif self.onesided and wide.shape[-1] == 1:
            found = xp.fft.rfft(values, length, axis)
        else:
            found = xp.fft.fft(values, length, axis)
            if self.onesided:
                found = found.take(range(length // 2 + 1), axis)
        return xp.stack([found.real, found.imag], -1).astype(x.dtype)


dft = function(Dft)
