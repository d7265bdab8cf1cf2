"""Contractions, windows, resampling, normalizations: oracles are onnxruntime, numpy, and exact fractions."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.dialects.core.drawing import Case, Draw, element_of, precision
from tests.dialects.core.single_models import in_single_precision, onnx_results

Array = NDArray[Any]
Maker = Callable[[Draw], Case]
Pairs = tuple[tuple[int, int], ...]

FLOATS = ("f32", "f32", "f16", "bf16")
NUMBERS = (*FLOATS, "i32", "i64")


def _matmul(draw: Draw) -> Case:
    element = draw.among(*NUMBERS)
    m, k, n = draw.integers(3, 1, 4)
    batch = draw.maybe_empty(0, 2)
    a_shape = (k,) if draw.integer(0, 4) == 0 else (*draw.broadcast(batch), m, k)
    b_shape = (k,) if draw.integer(0, 4) == 0 else (*batch, k, n)
    a, b = draw.array(a_shape, element), draw.array(b_shape, element)
    y = _exact(np.matmul(_wide(a), _wide(b)), a)
    turn_a, turn_b = a.ndim > 1 and draw.flag(), b.ndim > 1 and draw.flag()
    a, b = (np.swapaxes(x, -1, -2) if turned else x for x, turned in ((a, turn_a), (b, turn_b)))
    return Case((a, b), {"transpose_a": turn_a, "transpose_b": turn_b}, (y,), precision(a, 4))


def _wide(x: Array) -> Array:
    return x if x.dtype.kind in "iu" else x.astype(np.float64)


def _exact(y: Any, like: Array) -> Array:
    return np.asarray(y).astype(like.dtype)


def _linear(draw: Draw) -> Case:
    element = draw.among(*NUMBERS)
    k, n = draw.integers(2, 1, 5)
    x, weight = draw.array((*draw.maybe_empty(0, 2), k), element), draw.array((n, k), element)
    bias = draw.array((n,), element) if draw.flag() else None
    y = _wide(x) @ _wide(weight).T + (0 if bias is None else _wide(bias))
    return Case((x, weight, bias), {}, (_exact(y, x),), precision(x, 4))


def _einsum(draw: Draw) -> Case:
    equation = draw.among(
        "ij,jk->ik", "bij,bkj->bik", "bhqd,bhkd->bhqk", "ii->i", "ii->", "ij->ji", "ij->", "i,j->ij", "ijk,k,j->i"
    )
    element = draw.among(*NUMBERS)
    sizes = {c: draw.integer(1, 4) for c in "abcdefghijklmnopqrstuvwxyz"}
    terms = equation.partition("->")[0].split(",")
    xs = tuple([draw.array(tuple([sizes[c] for c in t]), element, -2, 2) for t in terms])
    y = np.einsum(equation, *map(_wide, xs))
    return Case((xs,), {"equation": equation}, (_exact(y, xs[0]),), precision(xs[0], 6))


def _flat(pads: Pairs) -> list[int]:
    return [p for p, _ in pads] + [p for _, p in pads]


def _pairs(draw: Draw, rank: int, most: int) -> Pairs:
    return tuple([(draw.integer(0, most), draw.integer(0, most)) for _ in range(rank)])


def _conv(draw: Draw) -> Case:
    element, rank, groups = draw.among(*FLOATS, "i32"), draw.among(1, 2, 2, 3), draw.among(1, 1, 2, 3)
    kernel, strides, dilations = draw.integers(rank, 1, 3), draw.integers(rank, 1, 3), draw.integers(rank, 1, 2)
    pads, size = _pairs(draw, rank, 2), draw.integers(rank, 5, 7)
    channels, filters = draw.integer(1, 2), groups * draw.integer(1, 2)
    x = draw.array((draw.integer(1, 2), channels * groups, *size), element, -2, 2)
    weight = draw.array((filters, channels, *kernel), element, -2, 2)
    bias = draw.array((filters,), element, -2, 2) if draw.flag() else None
    y = in_single_precision(
        "Conv", [x, weight, bias], x, strides=strides, dilations=dilations, pads=_flat(pads), group=groups
    )
    inputs = {"strides": strides, "dilations": dilations, "pads": pads, "groups": groups}
    return Case((x, weight, bias), inputs, (y,), precision(x, 8))


def _conv_transpose(draw: Draw) -> Case:
    element, rank, groups = draw.among(*FLOATS), draw.among(1, 2, 2, 3), draw.among(1, 1, 2)
    kernel, strides, dilations = draw.integers(rank, 2, 3), draw.integers(rank, 1, 3), draw.integers(rank, 1, 2)
    pads = _pairs(draw, rank, 1)
    extra = tuple([draw.integer(0, s - 1) for s in strides])
    channels, filters = groups * draw.integer(1, 2), draw.integer(1, 2)
    x = draw.array((draw.integer(1, 2), channels, *draw.integers(rank, 2, 4)), element, -2, 2)
    weight = draw.array((channels, filters, *kernel), element, -2, 2)
    bias = draw.array((filters * groups,), element, -2, 2) if draw.flag() else None
    y = in_single_precision(
        "ConvTranspose",
        [x, weight, bias],
        x,
        strides=strides,
        dilations=dilations,
        pads=_flat(pads),
        output_padding=extra,
        group=groups,
    )
    inputs = {"strides": strides, "dilations": dilations, "pads": pads, "output_padding": extra, "groups": groups}
    return Case((x, weight, bias), inputs, (y,), precision(x, 8))


def _window(draw: Draw, most_dilation: int = 2) -> tuple[Array, dict[str, Any]]:
    rank = draw.among(1, 2, 2, 3)
    kernel = draw.integers(rank, 1, 3)
    # Padding is smaller than the window, as every format asks for.
    pads = tuple([(draw.integer(0, k - 1), draw.integer(0, k - 1)) for k in kernel])
    x = draw.array((draw.integer(1, 2), draw.integer(1, 2), *draw.integers(rank, 5, 8)), draw.among(*FLOATS))
    inputs = {"kernel": kernel, "strides": draw.integers(rank, 1, 3), "pads": pads}
    if most_dilation > 1:
        inputs["dilations"] = draw.integers(rank, 1, most_dilation)
    return x, inputs


def _onnx_window(inputs: dict[str, Any]) -> dict[str, Any]:
    out = {"kernel_shape": inputs["kernel"], "strides": inputs["strides"], "pads": _flat(inputs["pads"])}
    if "dilations" in inputs:
        out["dilations"] = inputs["dilations"]
    return out


def _max_pool(draw: Draw) -> Case:
    x, inputs = _window(draw)
    ceil = draw.flag()
    y = in_single_precision("MaxPool", [x], x, ceil_mode=int(ceil), **_onnx_window(inputs))
    return Case((x,), {**inputs, "ceil_mode": ceil}, (y,))


def _max_pool_with_positions(draw: Draw) -> Case:
    x, inputs = _window(draw)
    ceil = draw.flag()
    x = x[:1, :1]
    whole = onnx_results("MaxPool", [x.astype(np.float32)], 2, ceil_mode=int(ceil), **_onnx_window(inputs))
    return Case((x,), {**inputs, "ceil_mode": ceil}, (whole[0].astype(x.dtype), whole[1]))


def _average_pool(draw: Draw) -> Case:
    whole, ceil = draw.flag(), draw.flag()
    x, inputs = _window(draw)
    flags = {"ceil_mode": int(ceil), "count_include_pad": int(whole)}
    y = in_single_precision("AveragePool", [x], x, **flags, **_onnx_window(inputs))
    return Case((x,), {**inputs, "ceil_mode": ceil, "count_include_pad": whole}, (y,), precision(x, 4))


def _sum_pool(draw: Draw) -> Case:
    x, inputs = _window(draw)
    kernel, dilations = inputs["kernel"], inputs["dilations"]
    spans = tuple([(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)])
    padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), *inputs["pads"]))
    rank = len(kernel)
    windows: Array = np.lib.stride_tricks.sliding_window_view(padded, (1, 1, *spans))
    strided = windows[(..., *[slice(None, None, s) for s in inputs["strides"]], 0, 0, *[slice(None)] * rank)]
    taken = strided[(..., *[slice(None, None, d) for d in dilations])]
    return Case((x,), inputs, (_exact(taken.sum(tuple(range(-rank, 0))), x),), precision(x, 8))


def _source(coordinates: str, i: int, n: int, m: int) -> Fraction:
    """Where element `i` of `m` lies among `n`, exactly. Source: ONNX Resize; Core ML for the last two."""
    match coordinates:
        case "half_pixel":
            return (i + Fraction(1, 2)) * n / m - Fraction(1, 2)
        case "asymmetric":
            return Fraction(i * n, m)
        case "align_corners":
            return Fraction(i * (n - 1), m - 1) if m > 1 else Fraction(0)
        case "align_centre":
            return Fraction(i * (n - 1), m - 1) if m > 1 else Fraction(n - 1, 2)
        case _:
            step = Fraction(max(n - 1, 1), m)
            return step / 2 + i * step


def _nearest(rounding: str, p: Fraction) -> int:
    match rounding:
        case "floor":
            return math.floor(p)
        case "ceil":
            return math.ceil(p)
        case "half_up":
            return math.floor(p + Fraction(1, 2))
        case _:
            return math.ceil(p - Fraction(1, 2))


def _resampled(x: Array, m: int, axis: int, coordinates: str, rounding: str | None) -> Array:
    """One axis at other positions, by the definition of each mode."""
    n = x.shape[axis]
    rows: list[Array] = []
    for i in range(m):
        p = _source(coordinates, i, n, m)
        low = math.floor(p)
        taps = [(low, 1 - (p - low)), (low + 1, p - low)] if rounding is None else [(_nearest(rounding, p), 1)]
        parts = [np.take(x, min(max(t, 0), n - 1), axis) * float(w) for t, w in taps]
        rows.append(np.sum(parts, 0))
    return np.stack(rows, axis)


def _resize(draw: Draw) -> Case:
    mode = draw.among("nearest", "linear")
    x = draw.array(draw.shape(1, 4), draw.among("f32", "f32", "f16", "bf16"))
    sizes = draw.integers(draw.integer(1, min(2, x.ndim)), 1, 7)
    coordinates = draw.among("half_pixel", "asymmetric", "align_corners", "align_centre", "offset")
    rounding = draw.among("floor", "ceil", "half_down", "half_up")
    y = x.astype(np.float64)
    for axis, m in zip(range(x.ndim - len(sizes), x.ndim), sizes, strict=True):
        y = _resampled(y, m, axis, coordinates, rounding if mode == "nearest" else None)
    inputs = {"sizes": sizes, "mode": mode, "coordinates": coordinates, "rounding": rounding}
    return Case((x,), inputs, (_exact(y, x),), precision(x, 2))


def _layer_norm(draw: Draw) -> Case:
    x = draw.array(draw.shape(1, 4, least=2), draw.among(*FLOATS))
    first = draw.integer(0, x.ndim - 1)
    axes = tuple([a - x.ndim * draw.integer(0, 1) for a in range(first, x.ndim)])
    scale = draw.array(x.shape[first:], element_of(x))
    bias = draw.array(x.shape[first:], element_of(x)) if draw.flag() else None
    epsilon = draw.among(1e-5, 1e-2)
    y = in_single_precision("LayerNormalization", [x, scale, bias], x, axis=first, epsilon=epsilon)
    return Case((x, scale, bias), {"axes": axes, "epsilon": epsilon}, (y,), precision(x, 8))


def _rms_norm(draw: Draw) -> Case:
    x = draw.array(draw.shape(1, 4), draw.among(*FLOATS))
    axes = tuple(sorted(draw.axes(x.ndim, 1), key=lambda a: a % x.ndim))
    scale = draw.array(tuple([x.shape[a] for a in axes]), element_of(x)) if draw.flag() else None
    epsilon = draw.among(1e-5, 1e-2)
    wide = x.astype(np.float64)
    y = wide / np.sqrt(np.mean(wide * wide, axes, keepdims=True) + epsilon)
    if scale is not None:
        sizes = [x.shape[a] if a in axes or a - x.ndim in axes else 1 for a in range(x.ndim)]
        y = y * scale.astype(np.float64).reshape(sizes)
    return Case((x, scale), {"axes": axes, "epsilon": epsilon}, (_exact(y, x),), precision(x, 4))


def _l2_norm(draw: Draw) -> Case:
    x = draw.array(draw.shape(1, 4), draw.among(*FLOATS))
    axes, epsilon = draw.axes(x.ndim, 1), draw.among(1e-5, 1e-2)
    wide = x.astype(np.float64)
    y = wide / np.sqrt(np.sum(wide * wide, axes, keepdims=True) + epsilon)
    return Case((x,), {"axes": axes, "epsilon": epsilon}, (_exact(y, x),), precision(x, 4))


def _batch_norm(draw: Draw) -> Case:
    x = draw.array(draw.shape(2, 4), draw.among(*FLOATS))
    c, element = x.shape[1:2], element_of(x)
    mean, variance = draw.array(c, element), draw.array(c, element, 0.1, 3)
    scale = draw.array(c, element) if draw.flag() else None
    bias = draw.array(c, element) if draw.flag() else None
    one, zero = np.ones(c, x.dtype), np.zeros(c, x.dtype)
    inputs = [x, one if scale is None else scale, zero if bias is None else bias, mean, variance]
    y = in_single_precision("BatchNormalization", inputs, x, epsilon=1e-3)
    return Case((x, mean, variance, scale, bias), {"epsilon": 1e-3}, (y,), precision(x, 16))


def _instance_norm(draw: Draw) -> Case:
    x = draw.array(draw.shape(3, 5, least=2), draw.among(*FLOATS))
    c = x.shape[1:2]
    scale, bias = draw.array(c, element_of(x)), draw.array(c, element_of(x))
    y = in_single_precision("InstanceNormalization", [x, scale, bias], x, epsilon=1e-3)
    return Case((x, scale, bias), {"epsilon": 1e-3}, (y,), precision(x, 8))


def _group_norm(draw: Draw) -> Case:
    x = draw.array((*draw.integers(1, 1, 3), 6, *draw.integers(draw.integer(1, 2), 2, 4)), draw.among(*FLOATS))
    scale, bias = draw.array((6,), element_of(x)), draw.array((6,), element_of(x))
    groups = draw.among(1, 2, 3, 6)
    grouped = _wide(x).reshape(x.shape[0], groups, -1)
    deviation = np.sqrt(grouped.var(-1, keepdims=True) + 1e-3)
    y = ((grouped - grouped.mean(-1, keepdims=True)) / deviation).reshape(x.shape)
    to = (6, *[1] * (x.ndim - 2))
    y = y * _wide(scale).reshape(to) + _wide(bias).reshape(to)
    return Case((x, scale, bias), {"groups": groups, "epsilon": 1e-3}, (_exact(y, x),), precision(x, 8))


def _attention(draw: Draw) -> Case:
    element = draw.among(*FLOATS)
    batch, (length, size, e, v) = draw.shape(0, 2), draw.integers(4, 1, 4)
    q, k = draw.array((*batch, length, e), element, -2, 2), draw.array((*batch, size, e), element, -2, 2)
    value = draw.array((*batch, size, v), element)
    scale = draw.among(None, 0.25)
    scores = _wide(q) @ np.swapaxes(_wide(k), -1, -2) * (1 / math.sqrt(e) if scale is None else scale)
    mask = draw.among(None, "i1", element)
    inputs: Array | None = None
    if mask is not None:
        inputs = draw.array(draw.broadcast(scores.shape), mask)
        if mask == "i1":
            # No row is masked entirely.
            inputs[(..., slice(0, 1)) if inputs.ndim else ...] = True
        scores = np.where(inputs, scores, -np.inf) if mask == "i1" else scores + _wide(inputs)
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    y = powers / powers.sum(-1, keepdims=True) @ _wide(value)
    return Case((q, k, value, inputs), {"scale": scale}, (_exact(y, q),), precision(q, 8))


def _rotary_embedding(draw: Draw) -> Case:
    element, is_interleaved = draw.among(*FLOATS), draw.among(False, True)
    n, heads, length, pairs = draw.integers(4, 1, 3)
    x = draw.array((n, heads, length, 2 * pairs + draw.integer(0, 2)), element, -2, 2)
    cos, sin = [draw.array((n, length, pairs), element, -1, 1) for _ in range(2)]
    first = slice(0, 2 * pairs, 2) if is_interleaved else slice(0, pairs)
    second = slice(1, 2 * pairs, 2) if is_interleaved else slice(pairs, 2 * pairs)
    y = _wide(x).copy()
    numbers = (_wide(x)[..., first] + 1j * _wide(x)[..., second]) * (_wide(cos) + 1j * _wide(sin))[:, None]
    y[..., first], y[..., second] = numbers.real, numbers.imag
    return Case((x, cos, sin), {"interleaved": is_interleaved}, (_exact(y, x),), precision(x, 8))


CONTRACTION: dict[str, Maker] = {
    "core.matmul": _matmul,
    "core.linear": _linear,
    "core.einsum": _einsum,
    "core.conv": _conv,
    "core.conv_transpose": _conv_transpose,
    "core.max_pool": _max_pool,
    "core.max_pool_with_positions": _max_pool_with_positions,
    "core.average_pool": _average_pool,
    "core.sum_pool": _sum_pool,
    "core.resize": _resize,
    "core.layer_norm": _layer_norm,
    "core.rms_norm": _rms_norm,
    "core.l2_norm": _l2_norm,
    "core.batch_norm": _batch_norm,
    "core.instance_norm": _instance_norm,
    "core.group_norm": _group_norm,
    "core.attention": _attention,
    "core.rotary_embedding": _rotary_embedding,
}
