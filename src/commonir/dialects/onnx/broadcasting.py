"""The base of ONNX operators of two tensors, and how these are broadcast.

From version 7 on they are broadcast as in numpy. Before, the second one is broadcast on request: its axes are those of
the first from `axis` on, or the last ones. Source: ONNX operator reference, default domain.
"""

from __future__ import annotations

from typing import ClassVar

from commonir.dialects import core
from commonir.dialects.core.base import Function2
from commonir.dialects.onnx.base import OnnxOp, axis_from_start, rank_of, shape_of
from commonir.ir.operation import Value
from commonir.notation import NotationError
from commonir.ods import attr_types, attribute, operand, result


def aligned(a: Value, b: Value, axis: int | None) -> Value:
    """Returns the second operand, shaped to be broadcast as in numpy, if its axes are those from `axis` on."""
    if axis is None:
        return b
    after = rank_of(a) - axis_from_start(axis, rank_of(a)) - rank_of(b)
    if after < 0:
        raise NotationError(f"a tensor of rank {rank_of(b)} does not lie along axis {axis} of one of rank {rank_of(a)}")
    return core.reshape(b, (*shape_of(b), *(1,) * after)) if after else b


class BinaryOp(OnnxOp):
    """A function of two elements."""

    A: Value = operand("T")
    B: Value = operand("T")
    axis: int | None = attribute(attr_types.integer, default=None, until="opset7")
    broadcast: bool = attribute(attr_types.flag, default=False, until="opset7")
    C: Value = result("T")
    fn: ClassVar[Function2]

    def reference(self, A: Value, B: Value) -> Value:
        return type(self).fn(A, aligned(A, B, self.axis) if self.broadcast else B)
