"""ONNX operators that read or write at positions that are data, and that order elements.

Source: ONNX operator reference, default domain, versions 11 to 18.
"""

from __future__ import annotations

from commonir.dialects import core
from commonir.dialects.onnx.base import ANY_1, ANY_13, NUMBERS_1, POSITIONS, WIDE_NUMBERS, OnnxOp, fixed, shape_of
from commonir.ir.operation import Value
from commonir.ir.types import i64
from commonir.ods import attribute, kinds, one_of, operand, result


def one_hot(indices: Value, depth: Value, values: Value, axis: int) -> Value:
    """A new axis that is the second value at the position given and the first elsewhere."""
    size = fixed(depth, "depth")[0]
    positions = core.cast(indices, i64)
    zero = core.scalar(0, i64)
    wrapped = core.add(positions, core.scalar(size, i64))
    positions = core.select(core.less(positions, zero), wrapped, positions)
    off = core.reshape(core.slice(values, (0,), (1,), (1,)), ())
    on = core.reshape(core.slice(values, (1,), (2,), (1,)), ())
    return core.one_hot(positions, on, off, size, axis)


def triangle(input: Value, diagonal: int, *, upper: bool) -> Value:
    """The elements on one side of a diagonal of the last two axes, and zero on the other."""
    rows, columns = shape_of(input)[-2:]
    shape = (rows, columns)
    offset = core.sub(core.iota(shape, 1), core.iota(shape, 0))
    limit = core.scalar(diagonal, i64)
    kept = core.greater_equal(offset, limit) if upper else core.less_equal(offset, limit)
    return core.select(kept, input, core.splat(0, input))


class Gather(OnnxOp, name="onnx.Gather", since="opset13"):
    """Slices of a tensor along an axis at the positions given; a negative position counts from the end."""

    __slots__ = ()

    data: Value = operand("T")
    indices: Value = operand("Tind", by_value=True)
    axis: int = attribute(kinds.integer, default=0)
    output: Value = result("T")
    T = ANY_13
    Tind = POSITIONS

    def reference(self, data: Value, indices: Value) -> Value:
        return core.gather(data, indices, self.axis)


class GatherElements(OnnxOp, name="onnx.GatherElements", since="opset13"):
    """The elements at the positions given along an axis, and at the same place along the others."""

    __slots__ = ()

    data: Value = operand("T")
    indices: Value = operand("Tind")
    axis: int = attribute(kinds.integer, default=0)
    output: Value = result("T")
    T = ANY_13
    Tind = POSITIONS

    def reference(self, data: Value, indices: Value) -> Value:
        return core.gather_elements(data, indices, self.axis)


class GatherND(OnnxOp, name="onnx.GatherND", since="opset13"):
    """Slices of a tensor at the positions that are the rows of the last axis of indices."""

    __slots__ = ()

    data: Value = operand("T")
    indices: Value = operand("i64")
    batch_dims: int = attribute(kinds.integer, default=0)
    output: Value = result("T")
    T = ANY_13

    def reference(self, data: Value, indices: Value) -> Value:
        return core.gather_nd(data, indices, self.batch_dims)


class ScatterND(OnnxOp, name="onnx.ScatterND", since="opset18"):
    """A copy of a tensor with slices combined at the positions that are the rows of the last axis of indices."""

    __slots__ = ()

    data: Value = operand("T")
    indices: Value = operand("i64")
    updates: Value = operand("T")
    reduction: str = attribute(kinds.text, default="none", check=one_of("none", "add", "mul", "max", "min"))
    output: Value = result("T")
    T = ANY_13

    def reference(self, data: Value, indices: Value, updates: Value) -> Value:
        return core.scatter_nd(data, indices, updates, core.Reduction(self.reduction))


class ScatterElements(OnnxOp, name="onnx.ScatterElements", since="opset18"):
    """A copy of a tensor with updates combined at the positions given along an axis."""

    __slots__ = ()

    data: Value = operand("T")
    indices: Value = operand("Tind")
    updates: Value = operand("T")
    reduction: str = attribute(kinds.text, default="none", check=one_of("none", "add", "mul", "max", "min"))
    axis: int = attribute(kinds.integer, default=0)
    output: Value = result("T")
    T = ANY_13
    Tind = POSITIONS

    def reference(self, data: Value, indices: Value, updates: Value) -> Value:
        return core.scatter_elements(data, indices, updates, self.axis, core.Reduction(self.reduction))


class OneHot(OnnxOp, name="onnx.OneHot", since="opset11"):
    """A new axis with the second of values at the position given and the first elsewhere.

    A negative position counts from the end.
    """

    __slots__ = ()

    indices: Value = operand("T1")
    depth: Value = operand("T2", by_value=True)
    values: Value = operand("T3")
    axis: int = attribute(kinds.integer, default=-1)
    output: Value = result("T3")
    T1 = NUMBERS_1
    T2 = NUMBERS_1
    T3 = ANY_1

    def reference(self, indices: Value, depth: Value, values: Value) -> Value:
        return one_hot(indices, depth, values, self.axis)


class Trilu(OnnxOp, name="onnx.Trilu", since="opset14"):
    """The upper or lower triangle of matrices, from the k-th diagonal; zero elsewhere."""

    __slots__ = ()

    input: Value = operand("T")
    k: Value | None = operand("i64", default=None, by_value=True)
    upper: bool = attribute(kinds.flag, default=True)
    output: Value = result("T")
    T = ANY_13

    def reference(self, input: Value, k: Value | None) -> Value:
        diagonal = 0 if k is None else fixed(k, "k")[0]
        return triangle(input, diagonal, upper=self.upper)


class NonZero(OnnxOp, name="onnx.NonZero", since="opset13"):
    """Positions of the elements that are not zero, a column for each."""

    __slots__ = ()

    X: Value = operand("T")
    Y: Value = result("i64")
    T = ANY_13

    def reference(self, X: Value) -> Value:
        return core.transpose(core.non_zero(X), (1, 0))


class CumSum(OnnxOp, name="onnx.CumSum", since="opset14"):
    """The sum of the elements up to each position along an axis."""

    __slots__ = ()

    x: Value = operand("T")
    axis: Value = operand("T2", by_value=True)
    reverse: bool = attribute(kinds.flag, default=False)
    exclusive: bool = attribute(kinds.flag, default=False)
    y: Value = result("T")
    T = WIDE_NUMBERS
    T2 = POSITIONS

    def reference(self, x: Value, axis: Value) -> Value:
        return core.cumsum(x, fixed(axis, "axis")[0], self.exclusive, self.reverse)


class TopK(OnnxOp, name="onnx.TopK", since="opset11"):
    """The K extreme elements along an axis, the most extreme first, and their positions; of equal ones, the first."""

    __slots__ = ()

    X: Value = operand("T")
    K: Value = operand("i64", by_value=True)
    sorted: bool = attribute(kinds.flag, default=True)
    largest: bool = attribute(kinds.flag, default=True)
    axis: int = attribute(kinds.integer, default=-1)
    Values: Value = result("T")
    Indices: Value = result("i64")
    T = NUMBERS_1

    def reference(self, X: Value, K: Value) -> tuple[Value, ...]:
        return core.top_k(X, fixed(K, "K")[0], self.axis, self.largest)
