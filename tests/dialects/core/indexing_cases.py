"""Operations that read or write at positions, order elements, or reduce: oracles are numpy and onnxruntime."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.arrays import dtype_of
from commonir.ir.types import ELEMENT_TYPES

from tests.dialects.core.drawing import Case, Draw, precision
from tests.dialects.core.single_models import onnx_result, onnx_results

Array = NDArray[Any]
Maker = Callable[[Draw], Case]

ELEMENTS = ("f32", "f32", "f16", "i32", "i64", "i1")
REALS = ("f32", "f32", "f16", "bf16", "i32", "i64", "i8")
POSITIONS = ("i64", "i32")


def _positions(draw: Draw, shape: tuple[int, ...], size: int, element: str) -> Array:
    return draw.array(shape, element, -size, size - 1)


def _gather(draw: Draw) -> Case:
    x = draw.array(draw.shape(1), draw.among(*ELEMENTS, "bf16"))
    axis = draw.axis(x.ndim)
    element = draw.among(*POSITIONS, "ui16", "i8")
    positions = _positions(draw, draw.maybe_empty(0, 2), x.shape[axis], element)
    return Case((x, positions), {"axis": axis}, (np.take(x, positions.astype(np.int64), axis),))


def _smaller(draw: Draw, shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    """A shape not larger than another one, but along an axis."""
    out = [draw.integer(1, n) for n in shape]
    out[axis] = draw.integer(1, 5)
    return tuple(out)


def _gather_elements(draw: Draw) -> Case:
    x = draw.array(draw.shape(1), draw.among(*ELEMENTS))
    axis = draw.axis(x.ndim)
    positions = _positions(draw, _smaller(draw, x.shape, axis), x.shape[axis], draw.among(*POSITIONS))
    return Case((x, positions), {"axis": axis}, (onnx_result("GatherElements", [x, positions], axis=axis),))


def _rows(draw: Draw, shape: tuple[int, ...], lead: tuple[int, ...], batch: int, depth: int, element: str) -> Array:
    """Rows of positions into the axes that follow `batch` leading ones."""
    columns = [_positions(draw, lead, shape[batch + d], element) for d in range(depth)]
    return np.stack(columns, -1) if columns else np.zeros((*lead, 0), dtype_of(element))


def _gather_nd(draw: Draw) -> Case:
    x = draw.array(draw.shape(1), draw.among(*ELEMENTS))
    batch = draw.integer(0, min(2, x.ndim - 1))
    depth = draw.integer(1, x.ndim - batch)
    lead = (*x.shape[:batch], *draw.shape(0, 2))
    positions = _rows(draw, x.shape, lead, batch, depth, "i64")
    y = onnx_result("GatherND", [x, positions], batch_dims=batch)
    return Case((x, positions), {"batch": batch}, (y,))


_ONNX_REDUCTIONS = {"none": "none", "add": "add", "mul": "mul", "max": "max", "min": "min"}


def _scatter_elements(draw: Draw) -> Case:
    x = draw.array(draw.shape(1, 3), draw.among("f32", "f32", "i32", "i64"), 1, 4)
    axis = draw.axis(x.ndim)
    reduction = draw.among(*_ONNX_REDUCTIONS)
    shape = list(_smaller(draw, x.shape, axis))
    shape[axis] = min(shape[axis], x.shape[axis])
    positions = _positions(draw, tuple(shape), x.shape[axis], draw.among(*POSITIONS))
    if reduction == "none":  # one update for each element: the order of others is not specified by ONNX
        order = np.argsort(draw.random.random(x.shape), axis).astype(positions.dtype)
        positions = order[tuple([slice(n) for n in shape])]
    updates = draw.array(positions.shape, _element(x), 1, 3)
    y = onnx_result("ScatterElements", [x, positions, updates], axis=axis, reduction=_ONNX_REDUCTIONS[reduction])
    return Case((x, positions, updates), {"axis": axis, "reduction": reduction}, (y,), precision(x, 3))


def _element(x: Array) -> str:
    return {"float32": "f32", "int32": "i32", "int64": "i64"}[x.dtype.name]


def _scatter_nd(draw: Draw) -> Case:
    x = draw.array(draw.shape(1, 3), draw.among("f32", "f32", "i32", "i64"), 1, 4)
    depth = draw.integer(1, x.ndim)
    reduction = draw.among(*_ONNX_REDUCTIONS)
    count = draw.integer(0, 3)
    if reduction == "none":
        cells = draw.random.permutation(int(np.prod(x.shape[:depth])))[:count]
        positions = np.stack(np.unravel_index(cells, x.shape[:depth]), -1).astype(np.int64)
    else:
        positions = _rows(draw, x.shape, (count,), 0, depth, "i64")
    updates = draw.array((len(positions), *x.shape[depth:]), _element(x), 1, 3)
    y = onnx_result("ScatterND", [x, positions, updates], reduction=_ONNX_REDUCTIONS[reduction])
    return Case((x, positions, updates), {"reduction": reduction}, (y,), precision(x, 3))


def _one_hot(draw: Draw) -> Case:
    depth = draw.integer(1, 4)
    element = draw.among("f32", "i32", "i64")
    positions = draw.array(draw.maybe_empty(0, 3), draw.among(*POSITIONS), 0, depth + 1)
    on, off = draw.array((), element), draw.array((), element)
    axis = draw.axis(positions.ndim + 1)
    table = np.vstack([np.where(np.eye(depth, dtype=bool), on, off), np.full((2, depth), off)])
    y = np.moveaxis(table[positions], -1, axis).astype(on.dtype)
    return Case((positions, on, off), {"depth": depth, "axis": axis}, (y,))


def _band_part(draw: Draw) -> Case:
    x = draw.array(draw.maybe_empty(2), draw.among(*ELEMENTS))
    lower, upper = draw.integer(-1, 3), draw.integer(-1, 3)
    y = x
    if lower >= 0:
        y = np.triu(y, -lower)
    if upper >= 0:
        y = np.tril(y, upper)
    return Case((x,), {"lower": lower, "upper": upper}, (y,))


def _non_zero(draw: Draw) -> Case:
    x = draw.array(draw.shape(1), draw.among("f32", "i32", "i1", "i64"), -1, 1)
    x = np.where(draw.array(x.shape, "i1"), x, np.zeros((), x.dtype))
    return Case((x,), {}, (onnx_result("NonZero", [x]).T,))


def _few_values(draw: Draw, element: str, least_rank: int = 1) -> Array:
    """Values with many ties."""
    return draw.array(draw.shape(least_rank), "i8", -2, 2).astype(dtype_of(element))


def _extreme(op: str) -> Maker:
    def make(draw: Draw) -> Case:
        x = _few_values(draw, draw.among("f32", "f32", "i32", "i8"))
        axis, keep = draw.axis(x.ndim), draw.flag()
        element = draw.among("i64", "i32", "ui16")
        y = onnx_result(op, [x], axis=axis, keepdims=int(keep)).astype(dtype_of(element))
        return Case((x,), {"axis": axis, "keep_dims": keep, "element": ELEMENT_TYPES[element]}, (y,))

    return make


def _top_k(draw: Draw) -> Case:
    x = _few_values(draw, draw.among("f32", "f32", "i32", "i64"))
    axis, largest = draw.axis(x.ndim), draw.flag()
    k = draw.integer(1, x.shape[axis])
    expected = onnx_results("TopK", [x, np.asarray([k])], 2, axis=axis, largest=int(largest), sorted=1)
    return Case((x,), {"k": k, "axis": axis, "largest": largest}, expected)


def _argsort(draw: Draw) -> Case:
    x = _few_values(draw, draw.among(*REALS))
    axis, descending = draw.axis(x.ndim), draw.flag()
    wide = x.astype(np.float64)
    return Case(
        (x,),
        {"axis": axis, "descending": descending},
        (np.argsort(-wide if descending else wide, axis, kind="stable"),),
    )


def _reduction(fn: Callable[..., Any], elements: tuple[str, ...], *, least: int = 0) -> Maker:
    def make(draw: Draw) -> Case:
        element = draw.among(*elements)
        x = draw.array(draw.shape(0, 4) if least else draw.maybe_empty(), element, -2, 2)
        axes, keep = draw.axes(x.ndim), draw.flag()
        wide = x if x.dtype.kind in "iu" else x.astype(np.float64)
        y = fn(wide, axis=axes or None, keepdims=keep)
        # Sums of products of up to 256 elements.
        return Case((x,), {"axes": axes, "keep_dims": keep}, (np.asarray(y).astype(x.dtype),), precision(x, 8))

    return make


def _cumsum(draw: Draw) -> Case:
    x = draw.array(draw.shape(1), draw.among("f32", "f64", "i32", "i64"))
    axis, exclusive, reverse = draw.axis(x.ndim), draw.flag(), draw.flag()
    y = onnx_result("CumSum", [x, np.asarray(axis)], exclusive=int(exclusive), reverse=int(reverse))
    return Case((x,), {"axis": axis, "exclusive": exclusive, "reverse": reverse}, (y,), precision(x, 4))


def _cumprod(draw: Draw) -> Case:
    x = draw.array(draw.shape(1), draw.among("f32", "f64", "i32", "i64"), -2, 2)
    axis, exclusive, reverse = draw.axis(x.ndim), draw.flag(), draw.flag()
    turned = np.flip(x, axis) if reverse else x
    y = np.cumprod(turned, axis, dtype=x.dtype)
    if exclusive:
        before = np.take(y, range(x.shape[axis] - 1), axis)
        y = np.concatenate([np.ones_like(np.take(y, [0], axis)), before], axis)
    y = np.flip(y, axis) if reverse else y
    return Case((x,), {"axis": axis, "exclusive": exclusive, "reverse": reverse}, (y,), precision(x, 4))


INDEXING: dict[str, Maker] = {
    "core.gather": _gather,
    "core.gather_elements": _gather_elements,
    "core.gather_nd": _gather_nd,
    "core.scatter_elements": _scatter_elements,
    "core.scatter_nd": _scatter_nd,
    "core.one_hot": _one_hot,
    "core.band_part": _band_part,
    "core.non_zero": _non_zero,
    "core.arg_max": _extreme("ArgMax"),
    "core.arg_min": _extreme("ArgMin"),
    "core.top_k": _top_k,
    "core.argsort": _argsort,
    "core.reduce_sum": _reduction(np.sum, REALS),
    "core.reduce_prod": _reduction(np.prod, ("f32", "f32", "f16", "bf16", "i64")),
    "core.reduce_max": _reduction(np.max, REALS, least=1),
    "core.reduce_min": _reduction(np.min, REALS, least=1),
    "core.reduce_mean": _reduction(np.mean, ("f32", "f32", "f16", "bf16"), least=1),
    "core.cumsum": _cumsum,
    "core.cumprod": _cumprod,
}
