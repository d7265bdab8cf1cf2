"""Operations that move elements, and constants: oracles are numpy's functions of the same meaning, and onnxruntime."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.arrays import dtype_of
from commonir.ir.data import data_of
from commonir.ir.types import ELEMENT_TYPES

from tests.dialects.core.drawing import Case, Draw
from tests.dialects.core.single_models import onnx_result

Array = NDArray[Any]
Maker = Callable[[Draw], Case]

ELEMENTS = ("f32", "f32", "f16", "bf16", "i32", "i64", "i1", "ui8")


def _drawn(draw: Draw, least_rank: int = 0) -> Array:
    return draw.array(draw.maybe_empty(least_rank), draw.among(*ELEMENTS))


def _factored(draw: Draw, count: int) -> tuple[int, ...]:
    """A random shape of a given number of elements."""
    out: list[int] = []
    while count > 1:
        divisor = draw.among(*[d for d in range(1, count + 1) if count % d == 0])
        out.append(divisor)
        count //= divisor
        if len(out) > 3:
            out.append(count)
            break
    return tuple(out)


def _reshape(draw: Draw) -> Case:
    x = _drawn(draw)
    shape = list(_factored(draw, x.size)) if x.size else [0, draw.integer(0, 3)]
    y = x.reshape(shape)
    if shape and x.size and draw.flag():
        shape[draw.integer(0, len(shape) - 1)] = -1
    return Case((x,), {"shape": tuple(shape)}, (y,))


def _dynamic_reshape(draw: Draw) -> Case:
    case = _reshape(draw)
    shape = np.asarray(case.attributes["shape"], draw.among(np.int32, np.int64))
    return Case((*case.operands, shape), {}, case.expected)


def _broadcast_to(draw: Draw) -> Case:
    shape = draw.maybe_empty()
    x = draw.array(draw.broadcast(shape), draw.among(*ELEMENTS))
    return Case((x,), {"shape": shape}, (np.broadcast_to(x, shape),))


def _squeeze(draw: Draw) -> Case:
    shape = list(draw.shape(1))
    shape = [1 if draw.flag() else n for n in shape]
    ones = [a for a, n in enumerate(shape) if n == 1]
    axes = tuple([a - len(shape) * draw.integer(0, 1) for a in ones if draw.flag()])
    x = draw.array(tuple(shape), draw.among(*ELEMENTS))
    return Case((x,), {"axes": axes}, (np.squeeze(x, axes),))


def _unsqueeze(draw: Draw) -> Case:
    x = _drawn(draw)
    rank = x.ndim + draw.integer(0, 2)
    chosen = draw.random.permutation(rank)[: rank - x.ndim].tolist()
    axes = tuple([a - rank * draw.integer(0, 1) for a in chosen])
    return Case((x,), {"axes": axes}, (np.expand_dims(x, axes),))


def _transpose(draw: Draw) -> Case:
    x = _drawn(draw)
    perm = tuple(draw.random.permutation(x.ndim).tolist())
    return Case((x,), {"perm": perm}, (np.transpose(x, perm),))


def _bounds(draw: Draw, x: Array) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[slice, ...]]:
    steps = tuple([draw.among(1, 1, 2, 3, -1, -2) for _ in x.shape])
    starts = tuple([draw.integer(-n - 2, n + 2) for n in x.shape])
    stops = tuple([draw.integer(-n - 2, n + 2) for n in x.shape])
    cuts = [_cut(n, *bounds) for n, *bounds in zip(x.shape, starts, stops, steps, strict=True)]
    return starts, stops, steps, tuple(cuts)


def _cut(n: int, start: int, stop: int, step: int) -> slice:
    """ONNX reads a stop before the first element, for a negative step, as "through the first".

    Numpy spells that None.
    """
    return slice(start, None if step < 0 and stop < -n else stop, step)


def _slice(draw: Draw) -> Case:
    x = _drawn(draw)
    starts, stops, steps, cuts = _bounds(draw, x)
    return Case((x,), {"starts": starts, "stops": stops, "steps": steps}, (x[cuts],))


def _dynamic_slice(draw: Draw) -> Case:
    x = _drawn(draw)
    starts, stops, steps, cuts = _bounds(draw, x)
    positions = draw.among(np.int32, np.int64)
    return Case((x, np.asarray(starts, positions), np.asarray(stops, positions)), {"steps": steps}, (x[cuts],))


def _reverse(draw: Draw) -> Case:
    x = _drawn(draw)
    axes = draw.axes(x.ndim)
    return Case((x,), {"axes": axes}, (np.flip(x, axes),))


def _pad(draw: Draw) -> Case:
    mode = draw.among("constant", "edge", "reflect")
    x = draw.array(draw.shape(1, 3, least=3), draw.among(*ELEMENTS))
    least = -1 if mode == "constant" else 0
    before, after = draw.integers(x.ndim, least, 2), draw.integers(x.ndim, least, 2)
    value = draw.among(0.0, 1.0, 3.0)
    grown = [(max(b, 0), max(a, 0)) for b, a in zip(before, after, strict=True)]
    fill = bool(value) if x.dtype == np.bool_ else value
    match mode:
        case "constant":
            y = np.pad(x, grown, mode="constant", constant_values=fill)
        case "edge":
            y = np.pad(x, grown, mode="edge")
        case _:
            y = np.pad(x, grown, mode="reflect")
    y = y[tuple([slice(max(-b, 0), n - max(-a, 0)) for n, b, a in zip(y.shape, before, after, strict=True)])]
    return Case((x,), {"before": before, "after": after, "mode": mode, "value": value}, (y,))


def _concat(draw: Draw) -> Case:
    shape, element = draw.maybe_empty(1), draw.among(*ELEMENTS)
    axis = draw.axis(len(shape))
    xs: list[Array] = []
    for _ in range(draw.integer(1, 4)):
        one = list(shape)
        one[axis] = draw.integer(0, 3)
        xs.append(draw.array(tuple(one), element))
    return Case((tuple(xs),), {"axis": axis}, (np.concatenate(xs, axis),))


def _split(draw: Draw) -> Case:
    sizes = draw.integers(draw.integer(1, 4), 0, 3)
    shape = list(draw.shape(1))
    axis = draw.axis(len(shape))
    shape[axis] = sum(sizes)
    x = draw.array(tuple(shape), draw.among(*ELEMENTS))
    return Case((x,), {"axis": axis, "sizes": sizes}, tuple(np.split(x, np.cumsum(sizes)[:-1], axis)))


def _tile(draw: Draw) -> Case:
    x = draw.array(draw.maybe_empty(), draw.among(*ELEMENTS))
    repeats = draw.integers(x.ndim, 0, 3)
    return Case((x,), {"repeats": repeats}, (np.tile(x, repeats),))


def _depth_to_space(draw: Draw) -> Case:
    block, order = draw.integer(1, 3), draw.among("DCR", "CRD")
    n, c, h, w = draw.integers(4, 1, 3)
    x = draw.array((n, c * block * block, h, w))
    y = onnx_result("DepthToSpace", [x], blocksize=block, mode=order)
    return Case((x,), {"block": block, "order": order}, (y,))


def _space_to_depth(draw: Draw) -> Case:
    block, order = draw.integer(1, 3), draw.among("DCR", "CRD")
    n, c, h, w = draw.integers(4, 1, 3)
    y = draw.array((n, c * block * block, h, w))
    x = onnx_result("DepthToSpace", [y], blocksize=block, mode=order)
    return Case((x,), {"block": block, "order": order}, (y,))


def _constant(draw: Draw) -> Case:
    element = draw.among(*ELEMENTS)
    x = draw.array(draw.maybe_empty(), element)
    data = data_of(ELEMENT_TYPES[element], x.shape, x.ravel().tolist())
    return Case((), {"value": data}, (x,))


def _dims(draw: Draw) -> Case:
    element = draw.among("i32", "i64")
    scalar = draw.flag()
    values = draw.integers(1 if scalar else draw.integer(0, 4), -3, 9)
    y = np.asarray(values, dtype_of(element)).reshape(() if scalar else -1)
    return Case((), {"values": values, "element": ELEMENT_TYPES[element], "scalar": scalar}, (y,))


def _dim(draw: Draw) -> Case:
    x, element = _drawn(draw, 1), draw.among("i32", "i64")
    axis = draw.axis(x.ndim)
    y = np.asarray(x.shape[axis], dtype_of(element))
    return Case((x,), {"axis": axis, "element": ELEMENT_TYPES[element]}, (y,))


def _shape_of(draw: Draw) -> Case:
    x, element = _drawn(draw), draw.among("i32", "i64")
    return Case((x,), {"element": ELEMENT_TYPES[element]}, (np.asarray(x.shape, dtype_of(element)),))


def _iota(draw: Draw) -> Case:
    shape, element = draw.maybe_empty(1), draw.among("i32", "i64", "f32", "f16", "ui8")
    axis = draw.axis(len(shape))
    along = np.arange(shape[axis]).reshape([-1 if a == axis % len(shape) else 1 for a in range(len(shape))])
    y = np.broadcast_to(along, shape).astype(dtype_of(element))
    return Case((), {"shape": shape, "axis": axis, "element": ELEMENT_TYPES[element]}, (y,))


def _range(draw: Draw) -> Case:
    element = draw.among("i32", "i64", "f32")
    start, limit = draw.integer(-5, 5), draw.integer(-5, 5)
    step = draw.among(1, 2, 3, -1, -2)
    operands = tuple([np.asarray(v, dtype_of(element)) for v in (start, limit, step)])
    return Case(operands, {}, (onnx_result("Range", operands),))


MOVEMENT: dict[str, Maker] = {
    "core.reshape": _reshape,
    "core.dynamic_reshape": _dynamic_reshape,
    "core.broadcast_to": _broadcast_to,
    "core.squeeze": _squeeze,
    "core.unsqueeze": _unsqueeze,
    "core.transpose": _transpose,
    "core.slice": _slice,
    "core.dynamic_slice": _dynamic_slice,
    "core.reverse": _reverse,
    "core.pad": _pad,
    "core.concat": _concat,
    "core.split": _split,
    "core.tile": _tile,
    "core.depth_to_space": _depth_to_space,
    "core.space_to_depth": _space_to_depth,
    "core.constant": _constant,
    "core.dims": _dims,
    "core.dim": _dim,
    "core.shape_of": _shape_of,
    "core.iota": _iota,
    "core.range": _range,
}
