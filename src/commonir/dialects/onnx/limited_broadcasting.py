"""ONNX operators of two tensors as they were before version 7: the second is broadcast only when that is asked for.

Then its axes are those of the first from `axis` on, or the last ones. Source: ONNX operator reference, default domain,
versions 1 to 6.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from commonir.dialects import core
from commonir.dialects.onnx.base import BOOLEAN, FLOATS_1, POSITIONS, WIDE_NUMBERS_1, OnnxOp, rank_of, shape_of
from commonir.dialects.onnx.base import axis_from_start as from_start
from commonir.ir.operation import Value
from commonir.notation import NotationError
from commonir.ods import attr_types, attribute, operand, result


def _aligned(a: Value, b: Value, axis: int | None) -> Value:
    """The second operand shaped to be broadcast as in numpy."""
    if axis is None:
        return b
    after = rank_of(a) - from_start(axis, rank_of(a)) - rank_of(b)
    if after < 0:
        raise NotationError(f"a tensor of rank {rank_of(b)} does not lie along axis {axis} of one of rank {rank_of(a)}")
    return core.reshape(b, (*shape_of(b), *(1,) * after)) if after else b


class Limited(OnnxOp):
    """A function of elements of two tensors."""

    combine: ClassVar[Callable[[Value, Value], Value]]
    A: Value = operand("T")
    B: Value = operand("T")
    axis: int | None = attribute(attr_types.integer, default=None)
    broadcast: bool = attribute(attr_types.flag, default=False)
    C: Value = result("T")

    def reference(self, A: Value, B: Value) -> Value:
        return type(self).combine(A, _aligned(A, B, self.axis) if self.broadcast else B)


class LimitedPredicate(Limited):
    """A bool of elements of two tensors."""

    C: Value = result("i1")


class Add6(Limited, name="onnx.Add", since="opset6"):
    """Elementwise sum of two tensors, the second broadcast if `broadcast`."""

    combine = staticmethod(core.add)
    T = WIDE_NUMBERS_1


class Sub6(Limited, name="onnx.Sub", since="opset6"):
    """Elementwise difference of two tensors, the second broadcast if `broadcast`."""

    combine = staticmethod(core.sub)
    T = WIDE_NUMBERS_1


class Mul6(Limited, name="onnx.Mul", since="opset6"):
    """Elementwise product of two tensors, the second broadcast if `broadcast`."""

    combine = staticmethod(core.mul)
    T = WIDE_NUMBERS_1


class Div6(Limited, name="onnx.Div", since="opset6"):
    """Elementwise quotient of two tensors, the second broadcast if `broadcast`; of integers, rounded toward zero."""

    combine = staticmethod(core.div)
    T = WIDE_NUMBERS_1


class And1(LimitedPredicate, name="onnx.And", since="opset1"):
    """Elementwise logical and."""

    combine = staticmethod(core.logical_and)
    T = BOOLEAN


class Or1(LimitedPredicate, name="onnx.Or", since="opset1"):
    """Elementwise logical or."""

    combine = staticmethod(core.logical_or)
    T = BOOLEAN


class Xor1(LimitedPredicate, name="onnx.Xor", since="opset1"):
    """Elementwise logical exclusive or."""

    combine = staticmethod(core.logical_xor)
    T = BOOLEAN


class Equal1(LimitedPredicate, name="onnx.Equal", since="opset1"):
    """Tests elementwise whether both are equal."""

    combine = staticmethod(core.equal)
    T = POSITIONS | BOOLEAN


class Less1(LimitedPredicate, name="onnx.Less", since="opset1"):
    """Tests elementwise whether the first is smaller."""

    combine = staticmethod(core.less)
    T = FLOATS_1


class Greater1(LimitedPredicate, name="onnx.Greater", since="opset1"):
    """Tests elementwise whether the first is larger."""

    combine = staticmethod(core.greater)
    T = FLOATS_1


class Pow1(OnnxOp, name="onnx.Pow", since="opset1"):
    """Elementwise power: the first to the power of the second."""

    X: Value = operand("T")
    Y: Value = operand("T")
    axis: int | None = attribute(attr_types.integer, default=None)
    broadcast: bool = attribute(attr_types.flag, default=False)
    Z: Value = result("T")
    T = FLOATS_1

    def reference(self, X: Value, Y: Value) -> Value:
        return core.pow(X, _aligned(X, Y, self.axis) if self.broadcast else Y)


class PRelu6(OnnxOp, name="onnx.PRelu", since="opset6"):
    """The element, or slope times it where it is negative; slopes are one, or one for each channel (axis 1)."""

    X: Value = operand("T")
    slope: Value = operand("T")
    Y: Value = result("T")
    T = FLOATS_1

    def reference(self, X: Value, slope: Value) -> Value:
        is_one = shape_of(slope) in ((), (1,))
        if not is_one and rank_of(slope) != 1:
            raise NotationError(f"slopes of rank {rank_of(slope)}")
        wide = slope if is_one or rank_of(X) < 2 else core.per_channel(slope, X)
        return core.select(core.less(X, core.splat(0.0, X)), core.mul(X, wide), X)
