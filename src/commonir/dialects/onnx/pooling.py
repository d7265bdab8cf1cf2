"""ONNX pooling of windows or whole images, and MaxUnpool.

Source: ONNX operator reference, default domain, the pooling operators and MaxUnpool.
"""

from __future__ import annotations

from commonir.dialects import core
from commonir.dialects.onnx.base import (
    BYTES,
    FLOATS,
    FLOATS_1,
    OnnxOp,
    element_of,
    image_sizes,
    known,
    rank_of,
    shape_of,
    tensor_type,
    with_unknown,
)
from commonir.dialects.onnx.windows import AUTO_PAD, pad_pairs, per_axis, spatial_rank, window
from commonir.ir.operation import Value
from commonir.ir.types import Type, i64
from commonir.notation import NotationError, NotKnownError, limits
from commonir.ods import attr_types, attribute, by_version, element_type, operand, positive, result
from commonir.symbolic import Dim, element_count


class Pooled(OnnxOp):
    """One value for each window of the spatial axes."""

    X: Value = operand("T")
    kernel_shape: tuple[int, ...] = attribute(attr_types.integers, check=positive)
    pads: tuple[int, ...] | None = attribute(attr_types.integers, default=None)
    auto_pad: str = attribute(attr_types.string, default="NOTSET", check=AUTO_PAD)
    strides: tuple[int, ...] | None = attribute(attr_types.integers, default=None, check=positive)
    Y: Value = result("T")

    def is_cut(self, ceil_mode: bool) -> bool:
        """Returns whether there are windows that reach beyond the padding: padding that keeps sizes leaves none."""
        return ceil_mode and not self.auto_pad.startswith("SAME")


class MaxPool(Pooled, name="onnx.MaxPool"):
    """Max pooling: the largest element of each window, and its index in the flattened operand.

    Indices are row-major, or with `storage_order` 1 column-major within the spatial axes.
    """

    storage_order: int = attribute(attr_types.integer, default=0, since="opset8")
    dilations: tuple[int, ...] | None = attribute(attr_types.integers, default=None, check=positive, since="opset10")
    ceil_mode: bool = attribute(attr_types.flag, default=False, since="opset10")
    Indices: Value | None = result("i64", optional=True, since="opset8")
    T = by_version(
        opset1=FLOATS_1, opset8=FLOATS_1, opset10=FLOATS_1, opset11=FLOATS_1, opset12=FLOATS_1 | BYTES,
        opset22=FLOATS | BYTES,
    )  # fmt: skip

    def reference(self, X: Value) -> tuple[Value, ...]:
        element = element_of(X)
        found = window(self, X, self.kernel_shape, self.dilations, limits(element)[0])
        rest = (found.kernel, found.strides, found.dilations, found.pads, self.is_cut(self.ceil_mode))
        largest = core.max_pool(found.x, *rest)
        if not self.trace_key() or found.x is not X:
            if len(self.built_results or ()) == 2:
                raise NotKnownError("where windows begin is not known before running")
            return (largest,)
        return largest, self._positions(X, core.max_pool_with_positions(X, *rest)[1])

    def trace_key(self) -> bool:
        """Returns whether positions are asked for; an operation that is being made has all results."""
        return "Indices" in self.layout.by_name and (self.built_results is None or len(self.built_results) == 2)

    def _positions(self, X: Value, positions: Value) -> Value:
        """Positions in the whole operand, of those within an image."""
        (n, c, sizes), rank = image_sizes(X, "X"), rank_of(X)
        if self.storage_order:
            positions = _column_major(positions, sizes)
        lead = (n, c, *(1,) * (rank - 2))
        image = core.add(core.mul(core.iota(lead, 0, i64), _number(c)), core.iota(lead, 1, i64))
        return core.add(positions, core.mul(image, _number(element_count(sizes))))


def _number(size: Dim) -> Value:
    return core.dims((size,), i64, True)


def _column_major(positions: Value, sizes: tuple[Dim, ...]) -> Value:
    """Positions in an image counted with the first axis fastest, of those with the last."""
    parts: list[Value] = []
    for size in reversed(sizes):
        parts.insert(0, core.mod(positions, _number(size)))
        positions = core.floor_div(positions, _number(size))
    out = parts[-1]
    for part, size in zip(reversed(parts[:-1]), reversed(sizes[:-1]), strict=True):
        out = core.add(core.mul(out, _number(size)), part)
    return out


class AveragePool(Pooled, name="onnx.AveragePool"):
    """Average pooling: the mean of each window; `count_include_pad` includes padding."""

    count_include_pad: bool = attribute(attr_types.flag, default=False, since="opset7")
    dilations: tuple[int, ...] | None = attribute(attr_types.integers, default=None, check=positive, since="opset19")
    ceil_mode: bool = attribute(attr_types.flag, default=False, since="opset10")
    T = by_version(
        opset1=FLOATS_1, opset7=FLOATS_1, opset10=FLOATS_1, opset11=FLOATS_1, opset19=FLOATS_1, opset22=FLOATS
    )

    def reference(self, X: Value) -> Value:
        found = window(self, X, self.kernel_shape, self.dilations)
        rest = (found.kernel, found.strides, found.dilations, found.pads, self.is_cut(self.ceil_mode))
        if found.x is X or self.count_include_pad:
            return core.average_pool(found.x, *rest, self.count_include_pad)
        ones = window(self, core.fill(core.splat(1.0, X), shape_of(X)), self.kernel_shape, self.dilations).x
        return core.div(core.sum_pool(found.x, *rest), core.sum_pool(ones, *rest))


class LpPool(Pooled, name="onnx.LpPool"):
    """Lp pooling: the p-norm of each window."""

    p: int = attribute(attr_types.integer, default=2, check=positive)
    ceil_mode: bool = attribute(attr_types.flag, default=False, since="opset18")
    dilations: tuple[int, ...] | None = attribute(attr_types.integers, default=None, check=positive, since="opset18")
    T = by_version(opset2=FLOATS_1, opset11=FLOATS_1, opset18=FLOATS_1, opset22=FLOATS)

    def reference(self, X: Value) -> Value:
        found = window(self, X, self.kernel_shape, self.dilations)
        rest = (found.kernel, found.strides, found.dilations, found.pads, self.is_cut(self.ceil_mode))
        summed = core.sum_pool(_power(found.x, self.p), *rest)
        return core.narrowed(_root(summed, self.p), X)


def _power(x: Value, p: int) -> Value:
    """The absolute values to a power, in single precision at least."""
    wide = core.widened(x)
    if p == 2:
        return core.mul(wide, wide)
    return core.abs(wide) if p == 1 else core.pow(core.abs(wide), core.splat(float(p), wide))


def _root(x: Value, p: int) -> Value:
    """The root that undoes a power."""
    if p == 2:
        return core.sqrt(x)
    return x if p == 1 else core.pow(x, core.splat(1 / p, x))


class Global(OnnxOp):
    """One value of all spatial axes, which keep size 1."""

    X: Value = operand("T")
    Y: Value = result("T")


def _spatial_axes(x: Value) -> tuple[int, ...]:
    return tuple(range(2, 2 + spatial_rank(x)))


class GlobalAveragePool(Global, name="onnx.GlobalAveragePool"):
    """Global average pooling: the mean over all spatial axes, which keep size 1."""

    T = by_version(opset1=FLOATS_1, opset22=FLOATS)

    def reference(self, X: Value) -> Value:
        return core.reduce_mean(X, _spatial_axes(X), True)


class GlobalMaxPool(Global, name="onnx.GlobalMaxPool"):
    """Global max pooling: the largest element over all spatial axes, which keep size 1."""

    T = by_version(opset1=FLOATS_1, opset22=FLOATS)

    def reference(self, X: Value) -> Value:
        return core.reduce_max(X, _spatial_axes(X), True)


class GlobalLpPool(Global, name="onnx.GlobalLpPool"):
    """Global Lp pooling: the p-norm over all spatial axes, which keep size 1."""

    p: int = attribute(attr_types.integer, default=2, check=positive)
    T = by_version(opset2=FLOATS_1, opset22=FLOATS)

    def reference(self, X: Value) -> Value:
        summed = core.reduce_sum(_power(X, self.p), _spatial_axes(X), True)
        return core.narrowed(_root(summed, self.p), X)


class MaxUnpool(OnnxOp, name="onnx.MaxUnpool"):
    """Partial inverse of max pooling: the elements at their indices in the flattened result, and zeros elsewhere.

    With output_shape, indices still refer to the shape inferred from the windows.
    """

    X: Value = operand("T1")
    I: Value = operand("T2")  # noqa: E741  its name in the standard
    kernel_shape: tuple[int, ...] = attribute(attr_types.integers, check=positive)
    output_shape: Value | None = operand("T2", default=None, by_value=True)
    pads: tuple[int, ...] | None = attribute(attr_types.integers, default=None)
    strides: tuple[int, ...] | None = attribute(attr_types.integers, default=None, check=positive)
    output: Value = result("T1")
    T1 = by_version(opset9=FLOATS_1, opset11=FLOATS_1, opset22=FLOATS)
    T2 = element_type(i64)

    def reference(self, X: Value, I: Value, output_shape: Value | None) -> Value:  # noqa: E741
        rank = len(self.kernel_shape)
        n, c, sizes = image_sizes(X, "X")
        if len(sizes) != rank:
            raise NotationError(f"a kernel of {rank} axes for {len(sizes)} spatial axes")
        strides, pads = per_axis(self.strides, rank, "strides"), pad_pairs(self.pads, rank)
        built: list[Dim] = [n, c]
        for m, s, k, (lo, hi) in zip(sizes, strides, self.kernel_shape, pads, strict=True):
            built.append((m - 1) * s + k - lo - hi)
        total = element_count(tuple(built))
        zeros = core.fill(core.splat(0.0, X), (total,))
        flat = core.scatter_elements(zeros, core.reshape(I, (-1,)), core.reshape(X, (-1,)), 0)
        y = core.reshape(flat, tuple(built))
        if output_shape is None:
            return y
        expected = known(output_shape, "output_shape")
        if len(expected) != len(built):
            raise NotationError(f"a shape of {len(expected)} sizes for rank {len(built)}")
        extra = [a - b for a, b in zip(expected, built, strict=True)]
        amounts = tuple([e for e in extra if isinstance(e, int)])
        if len(amounts) != len(extra):
            raise NotationError("the amount of padding is not known before running")
        return core.pad(y, (0,) * len(built), amounts)

    def infer_partially(self) -> tuple[Type, ...]:
        type = tensor_type(self.X)
        return (with_unknown(type, range(2, len(type.shape or ()))),)
