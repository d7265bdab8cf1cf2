"""Operators that move elements, choose some of them, or return shapes."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from tests.onnx_operators.drawing import Array, Case, Draw, Recipe, vector
from tests.onnx_operators.elementwise import opset

_ANY = ("f4", "f4", "i8", "i4", "?", "f8", "u1", "i2")
_FAR = 2**63 - 1


def _x(d: Draw, low: int = 0, high: int = 4) -> Array:
    return d.numbers(d.shape(low, high), d.among(*_ANY))


def transpose(d: Draw) -> Case:
    x = _x(d)
    order = {} if d.chance(0.2) else {"perm": [int(a) for a in d.random.permutation(x.ndim)]}
    return Case("Transpose", [x], order, opset=opset(d))


def reshape(d: Draw) -> Case:
    x = d.numbers(d.shape(0, 4), d.among(*_ANY))
    sizes = [int(n) for n in d.random.permutation(np.array(x.shape, int))]
    if d.chance(0.4):
        sizes.insert(d.integer(0, len(sizes)), 1)
    if len(sizes) > 1 and d.chance(0.4):
        sizes[:2] = [sizes[0] * sizes[1]]
    if sizes and d.chance(0.5) and 0 not in x.shape:
        sizes[d.integer(0, len(sizes) - 1)] = -1
    keeps = {"allowzero": 1} if 0 in x.shape and d.chance(0.6) else {}
    if not keeps:
        sizes = [0 if i < x.ndim and n == x.shape[i] and d.chance(0.3) else n for i, n in enumerate(sizes)]
    return Case("Reshape", [x, vector(*sizes)], keeps, opset=opset(d, 14 if keeps else 7), constants=(1,))


def flatten(d: Draw) -> Case:
    x = _x(d)
    return Case("Flatten", [x], {"axis": d.integer(-x.ndim, x.ndim)}, opset=opset(d, 11))


def squeeze(d: Draw) -> Case:
    x = d.numbers([d.among(1, 1, 2, 3, 0 if d.chance(0.1) else 1) for _ in range(d.integer(0, 4))], d.among(*_ANY))
    ones = [i for i, n in enumerate(x.shape) if n == 1]
    axes = [a - x.ndim if d.chance(0.4) else a for a in ones if d.chance(0.6)]
    if d.chance(0.3):
        return Case("Squeeze", [x], {"axes": axes} if axes else {}, opset=11)
    return Case("Squeeze", [x, vector(*axes)] if axes else [x], opset=opset(d, 13), constants=(1,))


def unsqueeze(d: Draw) -> Case:
    x, count = _x(d, 0, 3), d.integer(1, 2)
    rank = x.ndim + count
    axes = [int(a) for a in d.random.permutation(rank)[:count]]
    axes = [a - rank if d.chance(0.4) else a for a in axes]
    if d.chance(0.3):
        return Case("Unsqueeze", [x], {"axes": axes}, opset=11)
    return Case("Unsqueeze", [x, vector(*axes)], opset=opset(d, 13), constants=(1,))


def concat(d: Draw) -> Case:
    shape, dtype = list(d.shape(1, 4)), d.among(*_ANY)
    axis = d.axis(len(shape))
    inputs: list[Array] = []
    for _ in range(d.integer(1, 4)):
        shape[axis] = d.integer(0 if d.chance(0.2) else 1, 4)
        inputs.append(d.numbers(shape, dtype))
    return Case("Concat", inputs, {"axis": axis}, opset=opset(d, 11))


def split(d: Draw) -> Case:
    x = _x(d, 1, 4)
    axis = d.axis(x.ndim)
    n = x.shape[axis]
    if d.chance(0.4):
        count = d.integer(1, 4)
        return Case("Split", [x], {"axis": axis, "num_outputs": count}, count, opset(d, 18))
    cuts = sorted(d.integers(d.integer(0, 3), 0, n))
    sizes = [b - a for a, b in zip([0, *cuts], [*cuts, n], strict=True)]
    if d.chance(0.3):
        return Case("Split", [x], {"axis": axis, "split": sizes}, len(sizes), 11)
    return Case("Split", [x, vector(*sizes)], {"axis": axis}, len(sizes), opset(d, 13), (1,))


def slices(d: Draw) -> Case:
    x = _x(d, 1, 4)
    axes = d.axes(x.ndim, 1)
    starts = [d.among(d.integer(-7, 7), d.integer(-7, 7), -_FAR) for _ in axes]
    ends = [d.among(d.integer(-7, 7), d.integer(-7, 7), _FAR, -_FAR) for _ in axes]
    if d.chance(0.15):
        return Case("Slice", [x], {"starts": starts, "ends": ends, "axes": axes}, opset=9)
    steps = [d.among(1, 1, 2, -1, -2, 3, -_FAR if d.chance(0.1) else 1) for _ in axes]
    dtype = "i8" if any(abs(v) > 2**31 for v in (*starts, *ends, *steps)) else d.among("i4", "i8")
    inputs = [x, *[vector(*v, dtype=dtype) for v in (starts, ends, axes, steps)]]
    return Case("Slice", inputs[: 5 if d.chance(0.8) else 4], opset=opset(d, 10), constants=(1, 2, 3, 4))


def gather(d: Draw) -> Case:
    x = d.numbers(d.shape(1, 4, empty=0), d.among(*_ANY))
    axis = d.axis(x.ndim)
    places = d.below(d.shape(0, 3), x.shape[axis], d.among("i4", "i8"))
    return Case("Gather", [x, places], {"axis": axis}, opset=opset(d, 11))


def gather_elements(d: Draw) -> Case:
    x = d.numbers(d.shape(1, 4, empty=0), d.among(*_ANY))
    axis = d.axis(x.ndim)
    shape = [d.integer(1, n) for n in x.shape]
    shape[axis] = d.integer(0, 4)
    return Case("GatherElements", [x, d.below(shape, x.shape[axis])], {"axis": axis}, opset=opset(d, 11))


def _tuples(d: Draw, data: Array, shared: int, count: int, *, distinct: bool) -> Array:
    """Positions of `count` axes of an array behind the axes that are shared, as the last axis."""
    sizes = data.shape[shared : shared + count]
    outer = list(data.shape[:shared]) + [d.integer(1, 3) for _ in range(d.integer(0, 2))]
    total = int(np.prod(outer[shared:]))
    if not distinct:
        columns = [d.below(outer, n) for n in sizes]
        return np.stack(columns, -1) if columns else np.zeros((*outer, 0), "i8")
    chosen = d.random.permutation(int(np.prod(sizes)))[:total]
    if len(chosen) < total:
        outer = [len(chosen)]
    places = np.stack(np.unravel_index(chosen, sizes), -1).reshape(*outer, count)
    return (places - np.where(d.random.random(places.shape) < 0.3, np.array(sizes), 0)).astype("i8")


def gather_nd(d: Draw) -> Case:
    x = d.numbers(d.shape(1, 4, empty=0), d.among(*_ANY))
    shared = d.integer(0, x.ndim - 1) if d.chance(0.4) else 0
    count = d.integer(1, x.ndim - shared)
    places = _tuples(d, x, shared, count, distinct=False)
    return Case("GatherND", [x, places], {"batch_dims": shared} if shared else {}, opset=opset(d, 12))


def scatter_nd(d: Draw) -> Case:
    reduction = d.among("none", "none", "add", "mul", "max", "min")
    x = d.numbers(d.shape(1, 4, empty=0), d.among("f4", "i8", "i4"))
    count = d.integer(1, x.ndim)
    places = _tuples(d, x, 0, count, distinct=reduction == "none")
    updates = d.numbers((*places.shape[:-1], *x.shape[count:]), x.dtype.str[1:])
    attributes = {} if reduction == "none" and d.chance(0.5) else {"reduction": reduction}
    return Case("ScatterND", [x, places, updates], attributes, opset=opset(d, 18 if attributes else 11))


def scatter_elements(d: Draw) -> Case:
    reduction = d.among("none", "none", "add", "mul", "max", "min")
    x = d.numbers(d.shape(1, 3, empty=0), d.among("f4", "i8", "i4"))
    axis = d.axis(x.ndim)
    shape = [d.integer(1, n) for n in x.shape]
    if reduction == "none":
        order = np.argsort(d.random.random(x.shape), axis=axis)
        places = order[tuple(slice(0, n) for n in shape)].astype("i8")
        places -= np.where(d.random.random(places.shape) < 0.3, x.shape[axis], 0)
    else:
        shape[axis] = d.integer(0, 4)
        places = d.below(shape, x.shape[axis])
    attributes = {"axis": axis} | ({} if reduction == "none" else {"reduction": reduction})
    name = "Scatter" if reduction == "none" and d.chance(0.2) else "ScatterElements"
    version = d.among(9, 10) if name == "Scatter" else opset(d, 11 if reduction == "none" else 18)
    if name == "Scatter" and axis < 0:
        attributes["axis"] = axis + x.ndim
        places = places % x.shape[axis]
    return Case(name, [x, places, d.numbers(shape, x.dtype.str[1:])], attributes, opset=version)


def pad(d: Draw) -> Case:
    x = d.numbers(d.shape(1, 4), d.among("f4", "i8", "i4", "f8", "?"))
    mode = d.among("constant", "constant", "reflect", "edge", "wrap")
    axes = d.axes(x.ndim, 1) if d.chance(0.3) else None
    named = list(range(x.ndim)) if axes is None else axes
    low = -2 if mode == "constant" else 0
    bounds = [
        (max(low, -(n // 2)), min(2, max(0, n - 1)) if mode == "reflect" else 2) for n in [x.shape[a] for a in named]
    ]
    before, after = ([d.integer(*b) for b in bounds] for _ in range(2))
    value = d.numbers((), x.dtype.str[1:]) if mode == "constant" and d.chance(0.6) else None
    inputs = [x, vector(*before, *after), value, None if axes is None else vector(*axes)]
    version = opset(d, 19 if mode == "wrap" else 18 if axes is not None else 13)
    return Case("Pad", inputs, {"mode": mode}, opset=version, constants=(1, 3))


def tile(d: Draw) -> Case:
    x = _x(d)
    return Case("Tile", [x, vector(*d.integers(x.ndim, 0 if d.chance(0.1) else 1, 3))], opset=opset(d), constants=(1,))


def expand(d: Draw) -> Case:
    shape = d.shape()
    x = d.numbers(d.beside(shape), d.among(*_ANY))
    asked = [
        1 if n == m and d.chance(0.3) else n
        for n, m in zip(shape, (*(0,) * (len(shape) - x.ndim), *x.shape), strict=True)
    ]
    if len(asked) == x.ndim and asked and d.chance(0.2):
        asked = asked[1:]
    return Case("Expand", [x, vector(*asked)], opset=opset(d, 8), constants=(1,))


def shape_of(d: Draw) -> Case:
    x = _x(d)
    if d.chance(0.3):
        return Case("Size", [x], opset=opset(d))
    bounds = {k: d.integer(-6, 6) for k in ("start", "end") if d.chance(0.5)}
    return Case("Shape", [x], bounds, opset=opset(d, 15))


def made(d: Draw) -> Case:
    match d.integer(0, 4):
        case 0:
            value = numpy_helper.from_array(d.numbers((1,), d.among("f4", "i8", "?", "u1")))
            return Case(
                "ConstantOfShape",
                [vector(*d.shape())],
                {"value": value} if d.chance(0.7) else {},
                opset=opset(d, 9),
                constants=(0,),
            )
        case 1:
            dtype = d.among("f4", "i8", "i4", "f8")
            step = d.among(1, 2, 3, -1, -2)
            start, limit = d.integer(-4, 4), d.integer(-4, 9)
            scale = 0.5 if np.dtype(dtype).kind == "f" else 1
            return Case("Range", [np.array(v * scale).astype(dtype) for v in (start, limit, step)], opset=opset(d, 11),
                        constants=(0, 2))  # fmt: skip
        case 2:
            x = d.numbers(d.shape(2, 2), d.among("f4", "i8", "i4"))
            kind = {"dtype": d.among(TensorProto.FLOAT, TensorProto.INT64)} if d.chance(0.5) else {}
            return Case("EyeLike", [x], kind | ({"k": d.integer(-4, 4)} if d.chance(0.6) else {}), opset=opset(d, 9))
        case 3:
            places = d.below(d.shape(0, 3), 6, d.among("i8", "i4", "f4"))
            values = d.numbers((2,), d.among("f4", "i8", "i4"))
            rank = places.ndim + 1
            return Case("OneHot", [places, np.array(d.among(3, 5, 6), "i8"), values], {"axis": d.axis(rank)},
                        opset=opset(d, 11), constants=(1,))  # fmt: skip
        case _:
            x = d.numbers(d.shape(2, 4), d.among("f4", "i8", "f8", "i4"))
            k = [np.array(d.integer(-6, 6), "i8")] if d.chance(0.7) else []
            return Case("Trilu", [x, *k], {"upper": d.integer(0, 1)}, opset=opset(d, 14), constants=(1,))


def found(d: Draw) -> Case:
    match d.integer(0, 3):
        case 0:
            return Case("NonZero", [d.numbers(d.shape(1, 4), d.among("f4", "i8", "?", "i4"), -1, 1)], opset=opset(d, 9))
        case 1:
            x = d.numbers(d.shape(1, 3), "f4", -2, 2)
            keys = {"sorted": d.integer(0, 1)} | ({"axis": d.axis(x.ndim)} if d.chance(0.5) else {})
            return Case("Unique", [x], keys, d.integer(1, 4), opset(d, 11))
        case 2:
            x = _x(d, 1, 3)
            keys = {"axis": d.axis(x.ndim)} if d.chance(0.6) else {}
            n = x.shape[keys["axis"]] if keys else x.size
            return Case("Compress", [x, d.numbers((d.integer(0, n),), "?")], keys, opset=opset(d, 11))
        case _:
            x = d.distinct(d.shape(1, 3, empty=0), d.among("f4", "i8", "i4"))
            axis = d.axis(x.ndim)
            k = vector(d.integer(0, x.shape[axis]))
            return Case("TopK", [x, k], {"axis": axis, "largest": d.integer(0, 1)}, 2, opset(d, 11), (1,))


def ties(d: Draw) -> Case:
    x = d.numbers(d.shape(1, 3, empty=0), "f4", -1, 1)
    axis = d.axis(x.ndim)
    return Case(
        "TopK",
        [x, vector(d.integer(1, x.shape[axis]))],
        {"axis": axis, "largest": d.integer(0, 1)},
        2,
        opset(d, 11),
        (1,),
    )


def blocks(d: Draw) -> Case:
    size = d.among(1, 2, 3)
    if d.chance(0.5):
        x = d.numbers((d.integer(1, 2), size * size * d.integer(1, 2), d.integer(1, 3), d.integer(1, 3)))
        return Case("DepthToSpace", [x], {"blocksize": size, "mode": d.among("DCR", "CRD")}, opset=opset(d, 11))
    x = d.numbers((d.integer(1, 2), d.integer(1, 3), size * d.integer(1, 3), size * d.integer(1, 3)))
    return Case("SpaceToDepth", [x], {"blocksize": size}, opset=opset(d))


def reverse_sequence(d: Draw) -> Case:
    x = d.numbers(d.shape(2, 4, empty=0), d.among(*_ANY))
    time = d.integer(0, 1)
    lengths = d.random.integers(1, x.shape[time] + 1, x.shape[1 - time]).astype("i8")
    return Case("ReverseSequence", [x, lengths], {"time_axis": time, "batch_axis": 1 - time}, opset=opset(d, 10))


def center_crop_pad(d: Draw) -> Case:
    x = d.numbers(d.shape(1, 3, empty=0))
    axes = d.axes(x.ndim, 1)
    keys = {"axes": axes} if d.chance(0.6) else {}
    return Case(
        "CenterCropPad", [x, vector(*d.integers(len(axes) if keys else x.ndim, 1, 7))], keys, opset=18, constants=(1,)
    )


def col2im(d: Draw) -> Case:
    rank = d.integer(1, 3)
    image, block = d.integers(rank, 3, 6), d.integers(rank, 1, 3)
    keys: dict[str, list[int]] = {}
    strides, dilations, pads = [1] * rank, [1] * rank, [0] * (2 * rank)
    if d.chance(0.5):
        keys["strides"] = strides = d.integers(rank, 1, 2)
    if d.chance(0.3):
        keys["pads"] = pads = d.integers(2 * rank, 0, 1)
    sizes = [
        (n + pads[i] + pads[i + rank] - dilations[i] * (block[i] - 1) - 1) // strides[i] + 1
        for i, n in enumerate(image)
    ]
    x = d.numbers((d.integer(1, 2), d.integer(1, 2) * int(np.prod(block)), int(np.prod(sizes))))
    return Case("Col2Im", [x, vector(*image), vector(*block)], keys, opset=18, constants=(1, 2))


def tensor_scatter(d: Draw) -> Case:
    shape = d.shape(3, 4, empty=0)
    axis = d.among(1, -2)
    update = list(shape)
    update[axis] = d.integer(1, shape[axis])
    starts = d.random.integers(0, shape[axis] - update[axis] + 1, len(d.numbers(shape))).astype("i8")
    return Case("TensorScatter", [d.numbers(shape), d.numbers(update), starts],
                {"axis": axis, "mode": d.among("linear", "circular")}, opset=24)  # fmt: skip


def constant(d: Draw) -> Case:
    keys = d.among(
        {"value_float": 1.5}, {"value_ints": [1, 2]}, {"value_int": 3}, {"value_floats": [0.5]},
        {"value_strings": ["a", "b"]}, {"value": helper.make_tensor("t", TensorProto.FLOAT, [2], [1.0, 2.0])},
    )  # fmt: skip
    return Case("Constant", [], keys, opset=opset(d, 12))


RECIPES: tuple[Recipe, ...] = (
    transpose,
    reshape,
    reshape,
    flatten,
    squeeze,
    unsqueeze,
    concat,
    split,
    slices,
    slices,
    gather,
    gather_elements,
    gather_nd,
    scatter_nd,
    scatter_elements,
    pad,
    pad,
    tile,
    expand,
    shape_of,
    made,
    made,
    found,
    found,
    ties,
    blocks,
    reverse_sequence,
    center_crop_pad,
    col2im,
    tensor_scatter,
    constant,
)
