"""Linear algebra, convolution, pooling, normalization and reductions."""

from __future__ import annotations

import numpy as np
import torch
from torch.nn import functional

from tests.zoo.families.elementwise import as_torch
from tests.zoo.families.sheet import Sheet, mb


def weights(sheet: Sheet, *shape: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32 | np.float16]]:
    """Return seeded weights in the sheet's element type, of order one over the root of the fan-in."""
    generator = np.random.default_rng(sum(shape))
    fan_in = float(np.prod(shape[1:]) or 1.0)
    return (generator.standard_normal(shape) / fan_in**0.5).astype(sheet.float)


def linear_algebra(sheet: Sheet) -> None:
    """Products of matrices and tensors."""
    x, a = sheet.input("x")
    y, b = sheet.input("y")
    w, bias = weights(sheet, 5, 4), weights(sheet, 5)
    sheet.out("linear", mb.linear(x=x, weight=w, bias=bias), a @ w.T.astype(np.float64) + bias)
    sheet.out("linear_no_bias", mb.linear(x=x, weight=w), a @ w.T.astype(np.float64))
    sheet.out("matmul", mb.matmul(x=x, y=y), a @ b)
    swapped = mb.matmul(x=x, y=x, transpose_x=True, transpose_y=False)
    sheet.out("matmul_transpose_x", swapped, np.swapaxes(a, -1, -2) @ a)
    sheet.out("matmul_transpose_y", mb.matmul(x=x, y=x, transpose_y=True), a @ np.swapaxes(a, -1, -2))
    p, c = sheet.input("nchw")
    q, d = sheet.input("nwhu")
    product = mb.einsum(values=[p, q], equation="nchw,nwhu->nchu")
    sheet.out("einsum", product, np.einsum("nchw,nwhu->nchu", c, d))


def attention(sheet: Sheet) -> None:
    """The attention operation, without and with masks."""
    q, a = sheet.input("query")
    k, b = sheet.input("key")
    v, c = sheet.input("value")
    bias, m = sheet.input("mask")
    t = (as_torch(a), as_torch(b), as_torch(c))
    plain = mb.scaled_dot_product_attention(query=q, key=k, value=v)
    sheet.out("attention", plain, functional.scaled_dot_product_attention(*t))
    masked = mb.scaled_dot_product_attention(query=q, key=k, value=v, attn_mask=bias)
    sheet.out("attention_float_mask", masked, functional.scaled_dot_product_attention(*t, attn_mask=as_torch(m)))
    some = mb.less(x=bias, y=sheet.number(1.0))
    masked = mb.scaled_dot_product_attention(query=q, key=k, value=v, attn_mask=some)
    sheet.out("attention_bool_mask", masked, functional.scaled_dot_product_attention(*t, attn_mask=as_torch(m) < 1.0))


def convolution(sheet: Sheet) -> None:
    """Convolutions of one to three dimensions, and their transposes."""
    line, a = sheet.input("line")
    plane, b = sheet.input("plane")
    volume, c = sheet.input("volume")
    w1, w2, w3 = weights(sheet, 4, 2, 3), weights(sheet, 6, 2, 3, 2), weights(sheet, 3, 2, 2, 2, 2)
    t1, t2, t3 = (torch.from_numpy(w.astype(np.float64)) for w in (w1, w2, w3))
    bias = weights(sheet, 6)
    new_op = mb.conv(x=line, weight=w1, strides=[2], pad_type="custom", pad=[1, 1])
    sheet.out("conv_1d", new_op, functional.conv1d(as_torch(a), t1, stride=2, padding=1))
    new_op = mb.conv(x=plane, weight=w2, bias=bias, pad_type="valid", dilations=[2, 1], groups=2)
    t = functional.conv2d(as_torch(b), t2, torch.from_numpy(bias.astype(np.float64)), dilation=(2, 1), groups=2)
    sheet.out("conv_grouped", new_op, t)
    # To the size ceil(input / stride): rows 7 -> 4 need 2 of padding, one on each side; columns 6 -> 3 need none.
    new_op = mb.conv(x=plane, weight=w2, strides=[2, 2], pad_type="same", groups=2)
    sheet.out("conv_same", new_op, functional.conv2d(functional.pad(as_torch(b), (0, 0, 1, 1)), t2, stride=2, groups=2))
    new_op = mb.conv(x=volume, weight=w3)
    sheet.out("conv_3d", new_op, functional.conv3d(as_torch(c), t3))
    new_op = mb.conv_transpose(x=line, weight=weights(sheet, 2, 3, 3), strides=[2])
    sheet.out("conv_transpose_1d", new_op, functional.conv_transpose1d(as_torch(a), double(sheet, 2, 3, 3), stride=2))
    new_op = mb.conv_transpose(
        x=plane, weight=weights(sheet, 4, 3, 3, 2), strides=[2, 2], pad_type="custom", pad=[1, 1, 0, 0]
    )
    t = functional.conv_transpose2d(as_torch(b), double(sheet, 4, 3, 3, 2), stride=2, padding=(1, 0))
    sheet.out("conv_transpose_2d", new_op, t)


def double(sheet: Sheet, *shape: int) -> torch.Tensor:
    """Return the weights of a shape for torch."""
    return torch.from_numpy(weights(sheet, *shape).astype(np.float64))


def pooling(sheet: Sheet) -> None:
    """Pooling by maximum, mean and root of squares."""
    x, a = sheet.input("x")
    line, b = sheet.input("line")
    volume, c = sheet.input("volume")
    t = as_torch(a)
    valid = {"x": x, "kernel_sizes": [2, 3], "strides": [2, 1], "pad_type": "valid"}
    padded = {"x": x, "kernel_sizes": [3, 3], "strides": [2, 2], "pad_type": "custom", "pad": [1, 1, 1, 1]}
    sheet.out("max_pool", mb.max_pool(**valid), functional.max_pool2d(t, (2, 3), (2, 1)))
    sheet.out("avg_pool", mb.avg_pool(**valid), functional.avg_pool2d(t, (2, 3), (2, 1)))
    sheet.out("l2_pool", mb.l2_pool(**valid), functional.lp_pool2d(t, 2.0, (2, 3), (2, 1)))
    sheet.out("max_pool_padded", mb.max_pool(**padded), functional.max_pool2d(t, 3, 2, 1))
    new_op = mb.avg_pool(**padded, exclude_padding_from_average=False)
    sheet.out("avg_pool_padded", new_op, functional.avg_pool2d(t, 3, 2, 1))
    new_op = mb.avg_pool(**padded, exclude_padding_from_average=True)
    sheet.out("avg_pool_excluding", new_op, functional.avg_pool2d(t, 3, 2, 1, count_include_pad=False))
    new_op = mb.max_pool(x=x, kernel_sizes=[2, 2], strides=[2, 2], pad_type="valid", ceil_mode=True)
    sheet.out("max_pool_ceil", new_op, functional.max_pool2d(t, 2, 2, ceil_mode=True))
    new_op = mb.max_pool(x=line, kernel_sizes=[3], strides=[2], pad_type="valid")
    sheet.out("max_pool_1d", new_op, functional.max_pool1d(as_torch(b), 3, 2))
    new_op = mb.avg_pool(x=volume, kernel_sizes=[2, 2, 2], strides=[1, 2, 2], pad_type="valid")
    sheet.out("avg_pool_3d", new_op, functional.avg_pool3d(as_torch(c), 2, (1, 2, 2)))


def normalization(sheet: Sheet) -> None:
    """Normalizations."""
    x, a = sheet.input("x")
    t, n = as_torch(a), sheet.number
    mean, variance, gamma, beta = [0.5, -0.25, 1.0], [1.5, 0.5, 2.0], [1.25, 0.75, -1.0], [0.5, 0.0, -0.5]
    moments = (torch.tensor(mean).double(), torch.tensor(variance).double())
    scale_shift = (torch.tensor(gamma).double(), torch.tensor(beta).double())
    new_op = mb.batch_norm(x=x, mean=n(mean), variance=n(variance), gamma=n(gamma), beta=n(beta), epsilon=n(1e-2))
    sheet.out("batch_norm", new_op, functional.batch_norm(t, *moments, *scale_shift, eps=1e-2))
    new_op = mb.batch_norm(x=x, mean=n(mean), variance=n(variance), epsilon=n(1e-5))
    sheet.out("batch_norm_plain", new_op, functional.batch_norm(t, *moments))
    new_op = mb.instance_norm(x=x, gamma=n(gamma), beta=n(beta), epsilon=n(1e-2))
    sheet.out("instance_norm", new_op, functional.instance_norm(t, None, None, *scale_shift, eps=1e-2))
    scale = [0.5, 1.0, 1.5, 2.0, -1.0]
    new_op = mb.layer_norm(x=x, axes=[-1], gamma=n(scale), epsilon=n(1e-2))
    sheet.out("layer_norm", new_op, functional.layer_norm(t, [5], torch.tensor(scale, dtype=torch.float64), eps=1e-2))
    centred = a - a.mean(1, keepdims=True)
    spread = np.sqrt(np.square(centred).mean(1, keepdims=True) + 1e-2)
    sheet.out("layer_norm_channels", mb.layer_norm(x=x, axes=[1], epsilon=n(1e-2)), centred / spread)
    length = np.sqrt(np.square(a).sum((1, 2, 3), keepdims=True) + 1e-2)
    sheet.out("l2_norm", mb.l2_norm(x=x, epsilon=n(1e-2)), a / length)
    new_op = mb.local_response_norm(x=x, size=3, alpha=n(0.5), beta=n(0.75), k=n(1.0))
    sheet.out("local_response_norm", new_op, functional.local_response_norm(t, 3, alpha=0.5, beta=0.75, k=1.0))


def reduction(sheet: Sheet) -> None:
    """Reductions over some axes and over all."""
    x, a = sheet.input("x")
    positive, b = sheet.input("positive")
    t = as_torch(a)
    axes = (0, 2)
    for name, expected in {
        "reduce_l1_norm": np.abs(a).sum(axes),
        "reduce_l2_norm": np.sqrt(np.square(a).sum(axes)),
        "reduce_log_sum_exp": torch.logsumexp(t, axes),
        "reduce_max": a.max(axes),
        "reduce_mean": a.mean(axes),
        "reduce_min": a.min(axes),
        "reduce_prod": a.prod(axes),
        "reduce_sum": a.sum(axes),
        "reduce_sum_square": np.square(a).sum(axes),
    }.items():
        sheet.out(name, mb.named(name)(x=x, axes=list(axes)), expected)
    sheet.out(
        "reduce_log_sum", mb.reduce_log_sum(x=positive, axes=[-1], keep_dims=True), np.log(b.sum(-1, keepdims=True))
    )
    sheet.out("reduce_sum_all", mb.reduce_sum(x=x), a.sum())
    sheet.out("reduce_max_kept", mb.reduce_max(x=x, axes=[1], keep_dims=True), a.max(1, keepdims=True))
    sheet.out("reduce_argmax", mb.reduce_argmax(x=x, axis=1), a.argmax(1))
    sheet.out("reduce_argmin", mb.reduce_argmin(x=x, axis=-1, keep_dims=True), a.argmin(-1, keepdims=True))
    if sheet.has_mixed_types:
        short = mb.reduce_argmax(x=x, axis=1, output_dtype="uint16")
        sheet.out("reduce_argmax_uint16", short, a.argmax(1))
    numbers, c = sheet.integers("n")
    sheet.out("reduce_sum_int32", mb.reduce_sum(x=numbers, axes=[0]), c.sum(0))
