"""Operators that reduce, multiply matrices, normalize, slide windows and resample."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.onnx_operators.drawing import Array, Case, Draw, Recipe, vector
from tests.onnx_operators.elementwise import opset

_REDUCTIONS = [
    "ReduceSum",
    "ReduceMean",
    "ReduceMax",
    "ReduceMin",
    "ReduceProd",
    "ReduceL1",
    "ReduceL2",
    "ReduceLogSumExp",
    "ReduceSumSquare",
    "ReduceLogSum",
]


def reduction(d: Draw) -> Case:
    name = d.among(*_REDUCTIONS)
    dtype = d.among("f4", "f4", "f8", "i4", "i8") if name != "ReduceLogSum" else "f4"
    shape = d.shape()
    x = d.numbers(shape, dtype, 1, 9) if name == "ReduceLogSum" else d.numbers(shape, dtype, -9, 9)
    keys: dict[str, Any] = {"keepdims": d.integer(0, 1)} if d.chance(0.8) else {}
    axes = d.axes(x.ndim)
    if d.chance(0.25):
        return Case(
            name,
            [x],
            keys | ({"axes": axes} if axes else {}),
            opset=d.among(11, 12, *([13] if name != "ReduceSum" else [])),
        )
    version = opset(d, 13 if name == "ReduceSum" else 18)
    if d.chance(0.4):
        keys["noop_with_empty_axes"] = d.integer(0, 1)
    inputs = [x] if d.chance(0.2) else [x, vector(*axes)]
    return Case(name, inputs, keys, opset=version, constants=(1,))


def extreme_place(d: Draw) -> Case:
    x = d.numbers(d.shape(1, 4, empty=0), d.among("f4", "i4", "f8", "i8", "u1"), -2, 2)
    keys = {"axis": d.axis(x.ndim)} | {k: d.integer(0, 1) for k in ("keepdims", "select_last_index") if d.chance(0.6)}
    return Case(d.among("ArgMax", "ArgMin"), [x], keys, opset=opset(d, 12))


def cumulative(d: Draw) -> Case:
    x = d.numbers(d.shape(1, 4), d.among("f4", "i4", "f8", "i8"))
    keys = {k: d.integer(0, 1) for k in ("exclusive", "reverse") if d.chance(0.6)}
    axis = np.array(d.axis(x.ndim), d.among("i4", "i8"))
    return Case("CumSum", [x, axis], keys, opset=opset(d, 11), constants=(1,))


def matmul(d: Draw) -> Case:
    n, k, m = d.integers(3, 1, 4)
    if d.chance(0.1):
        k = 0
    outer = d.shape(0, 2, empty=0)
    a, b = (*outer, n, k), (*d.beside(outer), k, m)
    if d.chance(0.2):
        a = (k,)
    if d.chance(0.2):
        b = (k,)
    dtype = d.among("f4", "f8", "i4", "i8")
    return Case("MatMul", [d.numbers(a, dtype), d.numbers(b, dtype)], opset=opset(d, 9))


def gemm(d: Draw) -> Case:
    n, k, m = d.integers(3, 1, 4)
    if d.chance(0.1):
        k = 0
    turned = d.integer(0, 1), d.integer(0, 1)
    dtype = d.among("f4", "f8")
    a, b = d.numbers((k, n) if turned[0] else (n, k), dtype), d.numbers((m, k) if turned[1] else (k, m), dtype)
    keys: dict[str, Any] = {"transA": turned[0], "transB": turned[1]}
    keys |= {name: d.integer(-8, 8) / 4 for name in ("alpha", "beta") if d.chance(0.5)}
    third = [d.numbers(d.among((m,), (n, 1), (1,), (n, m), (), (1, m)), dtype)] if d.chance(0.7) else []
    return Case("Gemm", [a, b, *third], keys, opset=opset(d, 11))


_EQUATIONS = (
    ("ij,jk->ik", "ij jk"),
    ("bij,bjk->bik", "bij bjk"),
    ("ii->i", "ii"),
    ("ii->", "ii"),
    ("ij->ji", "ij"),
    ("i,j->ij", "i j"),
    ("ij->", "ij"),
    ("i,i,i", "i i i"),
    ("ijk,kl,jl->il", "ijk kl jl"),
    ("ij,ij->j", "ij ij"),
    ("iij->ij", "iij"),
    ("ij", "ij"),
    ("ba", "ab"),
    ("bca", "abc"),
    ("ij, jk", "ij jk"),
)


def einsum(d: Draw) -> Case:
    sizes = {c: d.integer(1, 4) for c in "abcijkl"}
    if d.chance(0.3):
        x, y = d.numbers((2, 1, sizes["i"], sizes["j"])), d.numbers((3, sizes["j"], sizes["k"]))
        equation = d.among("...ij,...jk->...ik", "...ij,...jk->ik...", "...ij,...jk", "...ij,...jk->i...k")
        return Case("Einsum", [x, y], {"equation": equation}, opset=12)
    equation, operands = d.among(*_EQUATIONS)
    sizes["a"] = sizes["b"] if d.chance(0.1) else sizes["a"]
    inputs = [d.numbers([sizes[c] for c in o], d.among("f4", "f4", "f8")) for o in operands.split()]
    return Case("Einsum", [x.astype(inputs[0].dtype) for x in inputs], {"equation": equation}, opset=12)


def softmax(d: Draw) -> Case:
    x = d.numbers(d.shape(1, 4), d.among("f4", "f4", "f8"))
    keys = {"axis": d.axis(x.ndim)} if d.chance(0.8) else {}
    version = opset(d, 11)
    if not keys and version < 13 and x.ndim < 2:
        keys = {"axis": 0}
    return Case(d.among("Softmax", "LogSoftmax", "Hardmax"), [x], keys, opset=version)


def normalization(d: Draw) -> Case:
    shape = (d.integer(1, 3), d.among(2, 4, 6), *d.shape(0, 3, empty=0))
    x, c = d.numbers(shape), d.numbers((shape[1],))
    match d.integer(0, 8):
        case 0:
            axis = d.axis(x.ndim)
            scale = d.numbers(shape[axis:])
            keys = {"axis": axis, "epsilon": 1e-2}
            bias = [d.numbers(shape[axis:])] if d.chance(0.6) else []
            return Case("LayerNormalization", [x, scale, *bias], keys, d.integer(1, 3), opset(d, 17), rtol=1e-3)
        case 1:
            if x.ndim < 3:
                x = d.numbers((2, shape[1], 3))
            return Case(
                "InstanceNormalization", [x, c, d.numbers((shape[1],))], {"epsilon": 1e-2}, opset=opset(d), rtol=1e-3
            )
        case 2:
            inputs = [x, c, d.numbers((shape[1],)), d.numbers((shape[1],)), d.positive((shape[1],))]
            return Case(
                "BatchNormalization", inputs, {"epsilon": 1e-3} if d.chance(0.5) else {}, opset=opset(d, 9), rtol=1e-3
            )
        case 3:
            x = x + np.float32(0.0625)
            return Case(
                "LpNormalization", [x], {"axis": d.axis(x.ndim), "p": d.integer(1, 2)}, opset=opset(d), rtol=1e-3
            )
        case 4:
            x = d.numbers((2, 4, *d.shape(2, 2, empty=0)))
            keys = {"axes": [0, 2, 3]} if d.chance(0.5) else {}
            return Case("MeanVarianceNormalization", [x], keys, opset=opset(d, 9), rtol=1e-2)
        case 5:
            if x.ndim < 3:
                x = d.numbers((2, shape[1], 3))
            version = d.among(18, 21)
            count = 2 if version == 18 else shape[1]
            keys = {"num_groups": 2, "epsilon": 1e-2}
            return Case(
                "GroupNormalization", [x, d.numbers((count,)), d.numbers((count,))], keys, opset=version, rtol=1e-3
            )
        case 6:
            axis = d.axis(x.ndim)
            return Case("RMSNormalization", [x, d.numbers(shape[axis:])], {"axis": axis}, opset=23, rtol=1e-3)
        case 7:
            x = d.numbers((d.integer(1, 2), d.integer(1, 6), *d.shape(1, 2, empty=0)))
            keys = {"size": d.among(1, 3, 5, 2), "alpha": 0.5, "beta": 0.75, "bias": 1.5}
            return Case("LRN", [x], keys, opset=opset(d))
        case _:
            return Case(
                "Det", [d.numbers((*d.shape(0, 2, empty=0), *([d.integer(1, 4)] * 2)))], opset=opset(d, 11), rtol=1e-3
            )


def _window(d: Draw, rank: int, sizes: list[int], *, dilated: bool = True) -> dict[str, Any]:
    """Attributes of a window that fits."""
    kernel = [d.integer(1, min(3, n)) for n in sizes]
    keys: dict[str, Any] = {"kernel_shape": kernel}
    if d.chance(0.7):
        keys["strides"] = d.integers(rank, 1, 3)
    if dilated and d.chance(0.3):
        keys["dilations"] = [d.integer(1, 2) if 2 * (k - 1) < n else 1 for k, n in zip(kernel, sizes, strict=True)]
    if d.chance(0.3):
        keys["auto_pad"] = d.among("SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET")
        if keys["auto_pad"].startswith("SAME"):
            keys.pop("dilations", None)
    elif d.chance(0.6):
        keys["pads"] = [d.integer(0, kernel[i % rank] - 1) for i in range(2 * rank)]
    return keys


def pooling(d: Draw) -> Case:
    rank = d.integer(1, 3)
    name = d.among("MaxPool", "MaxPool", "AveragePool", "AveragePool", "LpPool")
    sizes = d.integers(rank, 3, 7)
    x = d.distinct((d.integer(1, 2), d.integer(1, 2), *sizes)) if name == "MaxPool" else d.numbers((1, 2, *sizes))
    keys = _window(d, rank, sizes)
    version = opset(d, {"MaxPool": 10, "AveragePool": 19, "LpPool": 18}[name])
    if d.chance(0.3):
        keys["ceil_mode"] = 1
    if name == "AveragePool" and d.chance(0.5):
        keys["count_include_pad"] = 1
    if name == "LpPool" and d.chance(0.5):
        keys["p"] = d.integer(1, 3)
    outputs = d.integer(1, 2) if name == "MaxPool" else 1
    if name == "MaxPool" and d.chance(0.2):
        keys["storage_order"] = 1
    return Case(name, [x], keys, outputs, version)


def global_pooling(d: Draw) -> Case:
    x = d.numbers((d.integer(1, 2), d.integer(1, 3), *d.shape(1, 3, empty=0)))
    name = d.among("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
    return Case(name, [x], {"p": d.integer(1, 3)} if name == "GlobalLpPool" else {}, opset=opset(d))


def convolution(d: Draw) -> Case:
    rank, group = d.integer(1, 3), d.among(1, 1, 2, 3)
    sizes = d.integers(rank, 3, 6)
    keys = _window(d, rank, sizes)
    kernel = keys["kernel_shape"]
    if d.chance(0.4):
        del keys["kernel_shape"]
    channels, features = group * d.integer(1, 2), group * d.integer(1, 2)
    if group > 1 or d.chance(0.3):
        keys["group"] = group
    x, w = (
        d.numbers((d.integer(0 if d.chance(0.1) else 1, 2), channels, *sizes)),
        d.numbers((features, channels // group, *kernel)),
    )
    return Case("Conv", [x, w, *([d.numbers((features,))] if d.chance(0.5) else [])], keys, opset=opset(d))


def transposed_convolution(d: Draw) -> Case:
    rank, group = d.integer(1, 3), d.among(1, 1, 2)
    sizes, kernel = d.integers(rank, 1, 4), d.integers(rank, 1, 3)
    keys: dict[str, Any] = {"group": group}
    strides = dilations = [1] * rank
    if d.chance(0.7):
        keys["strides"] = strides = d.integers(rank, 1, 3)
    if d.chance(0.3):
        keys["dilations"] = dilations = d.integers(rank, 1, 2)
    full = [strides[i] * (n - 1) + (kernel[i] - 1) * dilations[i] + 1 for i, n in enumerate(sizes)]
    match d.integer(0, 3):
        case 0:
            keys["auto_pad"] = d.among("SAME_UPPER", "SAME_LOWER", "VALID")
        case 1:
            keys["pads"] = [d.integer(0, min(1, (full[i % rank] - 1) // 2)) for i in range(2 * rank)]
        case 2:
            keys["output_shape"] = [max(1, n - d.integer(0, 2)) for n in full]
            if d.chance(0.5):
                keys["auto_pad"] = d.among("SAME_UPPER", "SAME_LOWER")
        case _:
            pass
    if "output_shape" not in keys and d.chance(0.4):
        keys["output_padding"] = [d.integer(0, max(s, t) - 1) for s, t in zip(strides, dilations, strict=True)]
    channels, each = group * d.integer(1, 2), d.integer(1, 2)
    inputs = [d.numbers((d.integer(1, 2), channels, *sizes)), d.numbers((channels, each, *kernel))]
    return Case(
        "ConvTranspose", [*inputs, *([d.numbers((each * group,))] if d.chance(0.5) else [])], keys, opset=opset(d, 11)
    )


def resize(d: Draw) -> Case:
    mode = d.among("nearest", "linear", "cubic")
    spatial = 2 if mode == "cubic" else d.integer(1, 3)
    x = d.numbers(
        (1, d.integer(1, 2), *d.integers(spatial, 1, 6)), d.among("f4", "f4", "f8" if mode == "nearest" else "f4")
    )
    keys: dict[str, Any] = {
        "mode": mode,
        "coordinate_transformation_mode": d.among(
            "half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "half_pixel_symmetric"
        ),
    }
    if mode == "nearest":
        keys["nearest_mode"] = d.among("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
    if mode == "cubic":
        keys |= {"cubic_coeff_a": d.among(-0.5, -0.75), "exclude_outside": d.integer(0, 1)}
    version = opset(d, 11)
    if keys["coordinate_transformation_mode"] == "half_pixel_symmetric":
        version = max(version, 19)
    if version >= 18 and mode != "nearest" and d.chance(0.3):
        keys["antialias"] = 1
    none = np.zeros((0,), "f4") if version < 13 else None
    if d.chance(0.5):
        sizes = vector(*x.shape[:2], *d.integers(spatial, 1, 9))
        if version >= 18 and d.chance(0.4):
            keys |= {
                "axes": list(range(2, 2 + spatial)),
                "keep_aspect_ratio_policy": d.among("stretch", "not_larger", "not_smaller"),
            }
            sizes = sizes[2:]
        return Case("Resize", [x, none, none, sizes], keys, opset=version, constants=(1, 2, 3))
    factors = np.array([1, 1, *[d.among(0.5, 1.0, 1.5, 2.0, 0.6, 1.3, 3.0, 0.4) for _ in range(spatial)]], "f4")
    if any(int(np.floor(n * f)) == 0 for n, f in zip(x.shape, factors, strict=True)):
        factors = np.maximum(factors, 1)
    return Case("Resize", [x, none, factors], keys, opset=version, constants=(1, 2))


def crop_resize(d: Draw) -> Case:
    x = d.numbers((1, 2, *d.integers(2, 2, 6)))
    roi = np.array([0, 0, *d.numbers((2,), low=-2, high=4), 1, 1, *d.numbers((2,), low=5, high=10)], "f4")
    keys = {
        "mode": d.among("linear", "nearest"),
        "coordinate_transformation_mode": "tf_crop_and_resize",
        "extrapolation_value": 1.5,
    }
    return Case(
        "Resize", [x, roi, None, vector(1, 2, *d.integers(2, 1, 7))], keys, opset=opset(d, 13), constants=(1, 3)
    )


def upsample(d: Draw) -> Case:
    x = d.numbers((1, 2, *d.integers(2, 1, 4)))
    factors = np.array([1, 1, *[d.among(1.0, 2.0, 1.5, 3.0) for _ in range(2)]], "f4")
    mode = d.among("nearest", "linear")
    if d.chance(0.3):
        return Case("Upsample", [x], {"mode": mode, "scales": [float(f) for f in factors]}, opset=d.among(7, 8))
    return (
        Case(d.among("Upsample", "Resize"), [x, factors], {"mode": mode}, opset=9, constants=(1,))
        if d.chance(0.5)
        else Case("Resize", [x, factors], {"mode": mode}, opset=10, constants=(1,))
    )


def grid_sample(d: Draw) -> Case:
    rank = d.among(2, 2, 3)
    version = d.among(16, 20)
    modes = ("bilinear", "nearest", "bicubic") if version == 16 else ("linear", "nearest", "cubic")
    mode = d.among(*modes[: 3 if rank == 2 else 2])
    if version == 16:
        rank = 2
    x = d.numbers((d.integer(1, 2), d.integer(1, 2), *d.integers(rank, 1, 5)))
    grid = d.numbers((x.shape[0], *d.integers(rank, 1, 4), rank), low=-11, high=11) + np.float32(0.03)
    keys = {"mode": mode, "align_corners": d.integer(0, 1), "padding_mode": d.among("zeros", "border", "reflection")}
    return Case("GridSample", [x, grid.astype("f4")], keys, opset=version, rtol=1e-3)


def affine_grid(d: Draw) -> Case:
    rank = d.among(2, 3)
    size = vector(d.integer(1, 2), 2, *d.integers(rank, 1, 4))
    theta = d.numbers((int(size[0]), rank, rank + 1))
    return Case("AffineGrid", [theta, size], {"align_corners": d.integer(0, 1)}, opset=20, constants=(1,), rtol=1e-3)


def roi_align(d: Draw) -> Case:
    x = d.numbers((d.integer(1, 2), 2, *d.integers(2, 3, 7)))
    count = d.integer(0 if d.chance(0.1) else 1, 3)
    corners = np.abs(d.numbers((count, 2)))
    boxes = np.concatenate([corners, corners + d.positive((count, 2)) + np.float32(0.1)], 1)
    keys: dict[str, Any] = {
        "output_height": d.integer(1, 3), "output_width": d.integer(1, 3), "sampling_ratio": d.integer(0, 2),
        "mode": d.among("avg", "max"), "spatial_scale": d.among(1.0, 0.5),
    }  # fmt: skip
    version = d.among(10, 16, 22)
    if version >= 16:
        keys["coordinate_transformation_mode"] = d.among("half_pixel", "output_half_pixel")
    places = d.random.integers(0, x.shape[0], count).astype("i8")
    return Case("RoiAlign", [x, boxes.astype("f4"), places], keys, opset=version, rtol=1e-3)


def max_roi_pool(d: Draw) -> Case:
    x = d.numbers((1, 2, *d.integers(2, 4, 8)))
    corners = d.random.integers(0, 3, (2, 2))
    rois = np.concatenate([np.zeros((2, 1)), corners, corners + d.random.integers(0, 4, (2, 2))], 1).astype("f4")
    return Case(
        "MaxRoiPool",
        [x, rois],
        {"pooled_shape": d.integers(2, 1, 3), "spatial_scale": d.among(1.0, 0.5)},
        opset=opset(d),
    )


def unpool(d: Draw) -> Case:
    kernel = d.integers(2, 2, 3)
    n, m = d.integers(2, 1, 3)
    out = (n * kernel[0], m * kernel[1])
    places = d.random.permutation(out[0] * out[1])[: n * m].reshape(1, 1, n, m).astype("i8")
    return Case(
        "MaxUnpool", [d.numbers((1, 1, n, m)), places], {"kernel_shape": kernel, "strides": kernel}, opset=opset(d, 11)
    )


def quantization(d: Draw) -> Case:
    x = d.numbers(d.shape(1, 3, empty=0), low=-200, high=200)
    axis = d.axis(x.ndim)
    sizes = (x.shape[axis],) if d.chance(0.5) else ()
    scale = d.among(0.25, 0.5, 1.0) * np.ones(sizes, "f4")
    kind = d.among("i1", "u1")
    zero = d.random.integers(0, 9, sizes).astype(kind)
    keys = {"axis": axis} if sizes or d.chance(0.5) else {}
    version = opset(d, 13)
    if d.chance(0.2) and not sizes:
        return Case("DynamicQuantizeLinear", [x], {}, 3, 11)
    if d.chance(0.5):
        return Case("QuantizeLinear", [x, scale, *([zero] if d.chance(0.7) else [])], keys, opset=version)
    q = d.random.integers(0, 120, x.shape).astype(kind)
    return Case("DequantizeLinear", [q, scale, *([zero] if d.chance(0.7) else [])], keys, opset=version)


def integer_products(d: Draw) -> Case:
    n, k, m = d.integers(3, 1, 4)
    a = d.random.integers(0, 255, (n, k)).astype("u1")
    b = d.random.integers(0, 120, (k, m)).astype(d.among("u1", "i1"))
    zeros: list[Array | None] = [np.array(d.integer(0, 9), "u1"), np.array(d.integer(0, 9), b.dtype)]
    if d.chance(0.4):
        return Case("MatMulInteger", [a, b, *zeros[: d.integer(0, 2)]], opset=10)
    if d.chance(0.4):
        x, w = (
            d.random.integers(0, 255, (1, 2, 4, 4)).astype("u1"),
            d.random.integers(0, 120, (2, 2, 2, 2)).astype("u1"),
        )
        return Case("ConvInteger", [x, w, np.array(d.integer(0, 9), "u1")], {"pads": d.integers(4, 0, 1)}, opset=10)
    scales = [np.array(v, "f4") for v in (0.5, 0.25, 2.0)]
    inputs = [a, scales[0], zeros[0], b, scales[1], zeros[1], scales[2], np.array(3, "u1")]
    return Case("QLinearMatMul", inputs, opset=d.among(10, 21))


def losses(d: Draw) -> Case:
    n, c = d.integer(1, 3), d.integer(2, 4)
    rest = d.shape(0, 2, empty=0)
    x = d.numbers((n, c, *rest))
    target = d.random.integers(0, c, (n, *rest)).astype(d.among("i4", "i8"))
    keys: dict[str, Any] = {"reduction": d.among("none", "mean", "sum")}
    if d.chance(0.3):
        keys["ignore_index"] = d.integer(0, c - 1)
    weight = [d.positive((c,))] if d.chance(0.4) else []
    if d.chance(0.5):
        return Case("NegativeLogLikelihoodLoss", [x, target, *weight], keys, opset=opset(d, 12))
    return Case("SoftmaxCrossEntropyLoss", [x, target, *weight], keys, d.integer(1, 2), opset(d, 12))


def attention(d: Draw) -> Case:
    heads, shared = d.among((2, 2), (4, 2), (2, 1))
    s, t, e = d.integer(1, 3), d.integer(1, 4), 4
    keys: dict[str, Any] = {"is_causal": d.integer(0, 1)}
    if d.chance(0.3):
        keys["softcap"] = 2.0
    if d.chance(0.3):
        keys["scale"] = 0.25
    if d.chance(0.4):
        keys |= {"q_num_heads": heads, "kv_num_heads": shared}
        q, k, v = d.numbers((2, s, heads * e)), d.numbers((2, t, shared * e)), d.numbers((2, t, shared * e))
    else:
        q, k, v = d.numbers((2, heads, s, e)), d.numbers((2, shared, t, e)), d.numbers((2, shared, t, e))
    mask: list[Array | None] = []
    if d.chance(0.5):
        allowed = (d.random.random((s, t)) > 0.3) | (np.arange(t) == 0)
        mask = [allowed if d.chance(0.5) else d.numbers((s, t))]
    return Case("Attention", [q, k, v, *mask], keys, opset=23, rtol=1e-3)


def rotary(d: Draw) -> Case:
    heads, length, size = 2, d.integer(1, 4), d.among(4, 8)
    x = d.numbers((2, heads, length, size))
    part = d.among(0, 4) if size == 8 else 0
    half = (part or size) // 2
    keys: dict[str, Any] = {"interleaved": d.integer(0, 1)} | ({"rotary_embedding_dim": part} if part else {})
    if d.chance(0.5):
        cos, sin = d.numbers((2, length, half)), d.numbers((2, length, half))
        return Case("RotaryEmbedding", [x, cos, sin], keys, opset=23)
    places = d.random.integers(0, 5, (2, length)).astype("i8")
    return Case("RotaryEmbedding", [x, d.numbers((5, half)), d.numbers((5, half)), places], keys, opset=23)


def recurrent(d: Draw) -> Case:
    name, hidden, size = d.among("LSTM", "GRU", "RNN"), 3, 2
    direction = d.among("forward", "reverse", "bidirectional")
    n, gates = 2 if direction == "bidirectional" else 1, {"LSTM": 4, "GRU": 3, "RNN": 1}[name]
    length, batch = d.integer(1, 4), d.integer(1, 3)
    inputs: list[Array | None] = [
        d.numbers((length, batch, size)), d.numbers((n, gates * hidden, size), low=-8, high=8),
        d.numbers((n, gates * hidden, hidden), low=-8, high=8),
        d.numbers((n, 2 * gates * hidden), low=-8, high=8) if d.chance(0.6) else None,
        d.random.integers(1, length + 1, (batch,)).astype("i4") if d.chance(0.4) else None,
        d.numbers((n, batch, hidden)) if d.chance(0.5) else None,
    ]  # fmt: skip
    keys: dict[str, Any] = {"hidden_size": hidden, "direction": direction}
    if name == "LSTM":
        inputs += [
            d.numbers((n, batch, hidden)) if d.chance(0.5) else None,
            d.numbers((n, 3 * hidden), low=-8, high=8) if d.chance(0.3) else None,
        ]
    if name == "GRU":
        keys["linear_before_reset"] = d.integer(0, 1)
    if d.chance(0.3):
        keys["clip"] = 0.5
    if d.chance(0.3):
        count = {"LSTM": 3, "GRU": 2, "RNN": 1}[name] * n
        keys["activations"] = [
            d.among("Relu", "Tanh", "Sigmoid", "Softsign", "HardSigmoid", "LeakyRelu", "Elu") for _ in range(count)
        ]
    return Case(name, inputs, keys, 3 if name == "LSTM" else 2, opset(d, 7), rtol=1e-3)


def signals(d: Draw) -> Case:
    n = d.integer(1, 9)
    match d.integer(0, 4):
        case 0:
            name = d.among("HannWindow", "HammingWindow", "BlackmanWindow")
            keys = {"periodic": d.integer(0, 1)} if d.chance(0.7) else {}
            return Case(
                name, [np.array(d.integer(2, 9), d.among("i4", "i8"))], keys, opset=17, constants=(0,), rtol=1e-3
            )
        case 1:
            size = d.integer(1, n)
            x = d.numbers((d.integer(1, 2), n, 1))
            window = d.positive((size,)) if d.chance(0.6) else None
            keys = {"onesided": d.integer(0, 1)} if d.chance(0.6) else {}
            length = np.array(size, "i8") if d.chance(0.6) or window is None else None
            return Case(
                "STFT",
                [x, np.array(d.integer(1, 3), "i8"), window, length],
                keys,
                opset=17,
                constants=(1, 3),
                rtol=1e-3,
            )
        case 2:
            inputs = [np.array(v) for v in (d.integer(2, 5), 16, 8000)] + [np.array(v, "f4") for v in (0.0, 4000.0)]
            return Case("MelWeightMatrix", inputs, opset=17, constants=(0, 1, 2, 3, 4), rtol=1e-3)
        case _:
            inverse = d.integer(0, 1)
            onesided = d.integer(0, 1) if not inverse else 0
            parts = 1 if onesided else d.integer(1, 2)
            x = d.numbers((*[d.integer(1, 4) for _ in range(d.integer(0, 1))], d.integer(1, 3), n, parts))
            length = np.array(d.integer(1, 9), "i8") if d.chance(0.3) else None
            keys = {"onesided": onesided, "inverse": inverse}
            axis = d.among(-2, x.ndim - 2, 0)
            if d.chance(0.4):
                return Case(
                    "DFT", [x, length], keys | {"axis": d.among(1, x.ndim - 2)}, opset=17, constants=(1,), rtol=1e-3
                )
            return Case("DFT", [x, length, np.array(axis, "i8")], keys, opset=20, constants=(1, 2), rtol=1e-3)


def suppression(d: Draw) -> Case:
    n = d.integer(1, 6)
    corners = d.random.random((1, n, 2)).astype("f4")
    boxes = np.concatenate([corners, corners + d.random.random((1, n, 2)).astype("f4") + np.float32(0.1)], 2)
    if d.chance(0.3):
        boxes = boxes[..., [2, 1, 0, 3]]
    scores = d.random.permutation(2 * n).reshape(1, 2, n).astype("f4") / np.float32(2 * n)
    inputs: list[Array | None] = [
        boxes.astype("f4"),
        scores,
        vector(d.integer(0, 4)),
        np.array([0.4], "f4"),
        np.array([0.2], "f4"),
    ]
    return Case(
        "NonMaxSuppression",
        inputs[: d.integer(2, 5)],
        {"center_point_box": d.integer(0, 1)},
        opset=opset(d, 11),
        constants=(2, 3, 4),
    )


def deformable(d: Draw) -> Case:
    x, kernel = d.numbers((1, 2, *d.integers(2, 2, 5))), d.integers(2, 1, 2)
    pads = d.integers(4, 0, 1)
    out = [x.shape[2 + i] + pads[i] + pads[2 + i] - kernel[i] + 1 for i in range(2)]
    count = kernel[0] * kernel[1]
    offsets = d.numbers((1, 2 * count, *out)) + np.float32(0.03)
    inputs: list[Array | None] = [
        x,
        d.numbers((2, 2, *kernel)),
        offsets.astype("f4"),
        d.numbers((2,)) if d.chance(0.5) else None,
    ]
    if d.chance(0.5):
        inputs.append(d.numbers((1, count, *out)))
    return Case("DeformConv", inputs, {"pads": pads, "kernel_shape": kernel}, opset=d.among(19, 22), rtol=1e-3)


RECIPES: tuple[Recipe, ...] = (
    reduction,
    reduction,
    reduction,
    extreme_place,
    cumulative,
    matmul,
    gemm,
    einsum,
    softmax,
    normalization,
    normalization,
    normalization,
    pooling,
    pooling,
    pooling,
    global_pooling,
    convolution,
    convolution,
    transposed_convolution,
    transposed_convolution,
    resize,
    resize,
    resize,
    crop_resize,
    upsample,
    grid_sample,
    affine_grid,
    roi_align,
    max_roi_pool,
    unpool,
    quantization,
    quantization,
    integer_products,
    losses,
    attention,
    rotary,
    recurrent,
    recurrent,
    signals,
    signals,
    suppression,
    deformable,
)
