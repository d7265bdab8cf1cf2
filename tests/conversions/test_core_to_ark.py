"""Every rule from the core to ARK: written to files, read again and run, the result is that of numpy."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from commonir.dialects import core
from commonir.dialects.core import GeluForm, PadMode
from commonir.ir.data import data_of
from commonir.ir.operation import Value
from commonir.ir.types import boolean, f16, f32, f64, i4, i8, i16, i32, i64, u8

from tests.conversions.programs import Build, yielding
from tests.conversions.running import run_onnx
from tests.conversions.running_ark import Array, converted, operations, run_ark, written
from tests.oracles import oracle

INF = math.inf


def reals(*shape: int) -> Array:
    return np.random.default_rng(sum(shape) + len(shape)).standard_normal(shape).astype(np.float32)


def wholes(low: int, high: int, *shape: int, dtype: str = "int64") -> Array:
    return np.random.default_rng(sum(shape)).integers(low, high, shape).astype(dtype)


def truths(*shape: int) -> Array:
    return np.random.default_rng(sum(shape)).random(shape) < 0.5


def softmax(x: Array, axis: int = -1) -> Array:
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def erf(x: Array) -> Array:
    return np.vectorize(math.erf)(x.astype(np.float64))


def layer_norm(x: Array, scale: Array, bias: Array) -> Array:
    mean = x.mean(-1, keepdims=True)
    return (x - mean) / np.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5) * scale + bias


def windows(x: Array, size: tuple[int, ...], strides: tuple[int, ...], dilations: tuple[int, ...] = ()) -> Array:
    """The points of windows over the last axes, as new last axes."""
    spread = dilations or (1,) * len(size)
    reach = tuple((k - 1) * d + 1 for k, d in zip(size, spread, strict=True))
    axes = tuple(range(x.ndim - len(size), x.ndim))
    view: Any = np.lib.stride_tricks.sliding_window_view  # some versions of numpy annotate it for one axis
    result = view(x, reach, axes)
    outer = (slice(None),) * (x.ndim - len(size)) + tuple(slice(None, None, s) for s in strides)
    return result[outer + tuple(slice(None, None, d) for d in spread)]


def convolution(x: Array, weight: Array, strides: tuple[int, ...], dilations: tuple[int, ...]) -> Array:
    result = windows(x, weight.shape[2:], strides, dilations)
    rank = weight.ndim - 2
    axes = tuple(range(result.ndim - rank, result.ndim))
    summed = np.tensordot(result, weight, ((1, *axes), tuple(range(1, weight.ndim))))
    return np.moveaxis(summed, -1, 1)


def spread(x: Array, weight: Array, strides: tuple[int, int], dilations: tuple[int, int]) -> Array:
    """Filters spread over a result that is longer by one along the first spatial axis than they reach."""
    sizes = zip(x.shape[2:], weight.shape[2:], strides, dilations, (1, 0), strict=True)
    out = np.zeros((x.shape[0], weight.shape[1], *[(n - 1) * s + (k - 1) * d + 1 + e for n, k, s, d, e in sizes]))
    for row in range(weight.shape[2]):
        for column in range(weight.shape[3]):
            part = np.einsum("nchw,cf->nfhw", x, weight[:, :, row, column])
            top, left = row * dilations[0], column * dilations[1]
            rows, columns = x.shape[2] * strides[0], x.shape[3] * strides[1]
            out[:, :, top : top + rows : strides[0], left : left + columns : strides[1]] += part
    return out


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


class Case(NamedTuple):
    """A program of core operations, what numpy gives for it, inputs, and operations of ARK that it becomes."""

    build: Build
    expected: Callable[..., Any]
    inputs: tuple[Array, ...]
    operations: str = ""
    tolerance: float = 2e-6


def number(value: float, element: Any = f32) -> Any:
    return core.scalar(value, element)


def recurrent(x: Array, w: Array, r: Array, h: Array) -> Array:
    """The outputs of a recurrent layer of one direction."""
    out: list[Array] = []
    for step in x:
        h = np.tanh(step @ w[0].T + h @ r[0].T)
        out.append(h)
    return np.stack(out)


def quantized(x: Array, scale: Array, zero_point: Array) -> Array:
    limits = np.iinfo(zero_point.dtype)
    steps = np.round(x / scale[:, None]) + zero_point.astype(np.float32)[:, None]
    return np.clip(steps, limits.min, limits.max).astype(zero_point.dtype)


X, Y = reals(2, 3, 4), reals(3, 4)
SPECIAL = np.array(
    [[0.0, -0.0, 1.0, -1.0, INF, -INF, np.nan], [1e-38, 1e-44, 3e38, -3e38, 2.5, 2.4999998, 7]], np.float32
)
OTHER = np.array([[-0.0, 1e-44, 1.0, 1.0, INF, INF, np.nan], [1e-38, 0.0, -3e38, 3e38, 2.5, 2.5, np.nan]], np.float32)

ARITHMETIC = {
    "add": Case(core.add, np.add, (X, Y), "Add"),
    "sub": Case(core.sub, np.subtract, (X, reals(4)), "Sub"),
    "mul": Case(core.mul, np.multiply, (reals(2, 1, 4), reals(3, 1)), "Mul"),
    "div": Case(core.div, np.divide, (X, Y), "Div"),
    "divide integers": Case(
        core.div, lambda a, b: np.trunc(a / b).astype(int), (wholes(-9, 9, 4, 3), wholes(1, 5, 4, 3)), "Div"
    ),
    "add a number": Case(lambda a: core.add(a, number(2.5)), lambda a: a + 2.5, (X,), "ScalarAdd"),
    "take from a number": Case(lambda a: core.sub(number(2.5), a), lambda a: 2.5 - a, (X,), "ScalarMul ScalarAdd"),
    "times a number": Case(lambda a: core.mul(a, number(0.1)), lambda a: a * np.float32(0.1), (X,), "ScalarMul"),
    "divide by a number": Case(lambda a: core.div(a, number(3.0)), lambda a: a / np.float32(3), (X,), "Div", 0),
    "divide by a power of two": Case(lambda a: core.div(a, number(8.0)), lambda a: a / 8, (X,), "ScalarMul", 0),
    "divide a number": Case(lambda a: core.div(number(3.0), a), lambda a: 3 / a, (X,), "Div"),
    "neg": Case(core.neg, np.negative, (X,), "ScalarMul"),
    "abs": Case(core.abs, np.abs, (X,), "Relu ScalarMul Relu Add", 0),
    "reciprocal": Case(core.reciprocal, np.reciprocal, (X,), "Div"),
    "maximum": Case(core.maximum, np.maximum, (X, Y), "Copy Copy ReduceMax", 0),
    "maximum with zero": Case(lambda a: core.maximum(a, number(0)), lambda a: np.maximum(a, 0), (X,), "Relu", 0),
    "minimum": Case(core.minimum, np.minimum, (X, Y), "", 0),
    "minimum of integers": Case(
        core.minimum, np.minimum, (np.array([-(2**31), 5, 2**31 - 1]), np.array([2**31 - 1, 6, -7])), "", 0
    ),
    "clip": Case(
        lambda a: core.clip(a, -0.3, 0.7), lambda a: np.clip(a, np.float32(-0.3), np.float32(0.7)), (X,), "", 0
    ),
    "relu": Case(core.relu, lambda a: np.maximum(a, 0), (X,), "Relu", 0),
    "exp": Case(core.exp, np.exp, (X,), "Exp"),
    "sqrt": Case(lambda a: core.sqrt(core.abs(a)), lambda a: np.sqrt(np.abs(a)), (X,)),
    "rsqrt": Case(core.rsqrt, lambda a: 1 / np.sqrt(a), (np.abs(X),), "Rsqrt"),
    "sigmoid": Case(core.sigmoid, sigmoid, (X,), "Sigmoid"),
    "tanh": Case(core.tanh, np.tanh, (X * 5,), "ScalarMul Sigmoid ScalarMul ScalarAdd"),
    "silu": Case(core.silu, lambda a: a * sigmoid(a), (X,), "Sigmoid Mul"),
    "erf": Case(core.erf, erf, (np.linspace(-6, 6, 999, dtype=np.float32),), "", 1e-6),
    "gelu": Case(core.gelu, lambda a: a * 0.5 * (1 + erf(a / math.sqrt(2))), (X * 3,), "", 1e-6),
    "gelu by tanh": Case(
        lambda a: core.gelu(a, GeluForm.TANH),
        lambda a: 0.5 * a * (1 + np.tanh(math.sqrt(2 / math.pi) * (a + 0.044715 * a**3))),
        (X * 3,),
        "Gelu",
    ),
    "gelu by sigmoid": Case(lambda a: core.gelu(a, GeluForm.SIGMOID), lambda a: a * sigmoid(1.702 * a), (X,)),
    "square": Case(lambda a: core.pow(a, number(2.0)), lambda a: a**2, (X,), "Mul"),
    "cube": Case(lambda a: core.pow(a, number(3.0)), lambda a: a**3, (X,), "Mul Mul"),
    "power of a half": Case(lambda a: core.pow(a, number(-1.5)), lambda a: a**-1.5, (np.abs(X) + 0.1,)),
    "power of a number": Case(lambda a: core.pow(number(2.0), a), lambda a: 2**a, (X,), "ScalarMul Exp"),
    "softmax": Case(lambda a: core.softmax(a, 1), lambda a: softmax(a, 1), (X,), "ReduceMax Sub Exp ReduceSum Div"),
    "layer norm": Case(core.layer_norm, layer_norm, (X, reals(4), reals(4))),
    "rms norm": Case(core.rms_norm, lambda a, s: a / np.sqrt((a**2).mean(-1, keepdims=True) + 1e-5) * s, (X, reals(4))),
    "half precision": Case(core.add, np.add, (X.astype(np.float16), Y.astype(np.float16)), "Add", 0),
    "tanh in half precision": Case(core.tanh, np.tanh, (X.astype(np.float16),), "", 5e-4),
    "double precision": Case(
        lambda a: core.exp(core.add(a, number(1.5, f64))), lambda a: np.exp(a + 1.5), (X.astype(float),)
    ),
    "tanh in double precision": Case(core.tanh, np.tanh, (Y.astype(np.float64),)),
    "sum of integers of 16 bits": Case(
        core.add, np.add, (np.array([32767, -7, 5], np.int16), np.array([2, 3, -9], np.int16)), "", 0
    ),
    "product of unsigned integers of 16 bits": Case(
        core.mul, np.multiply, (np.array([65535, 300], np.uint16), np.array([2, 300], np.uint16)), "", 0
    ),
    "large integers": Case(core.mul, np.multiply, (np.array([7, 9], np.uint64), np.array([5, 4], np.uint64)), "", 0),
    "known zero": Case(
        lambda a: core.add(a, core.dims((0,), i32, True)), lambda a: a, (wholes(-9, 9, 5, dtype="int32"),)
    ),
    "small integers": Case(core.add, np.add, (wholes(-99, 99, 5, dtype="int8"), wholes(-9, 9, 5, dtype="int8")), "Add"),
}

COMPARISONS = {
    name: Case(build, fn, (SPECIAL, OTHER), "", 0)
    for name, build, fn in (
        ("greater", core.greater, np.greater),
        ("less", core.less, np.less),
        ("greater or equal", core.greater_equal, np.greater_equal),
        ("less or equal", core.less_equal, np.less_equal),
        ("equal", core.equal, np.equal),
        ("not equal", core.not_equal, np.not_equal),
    )
}

CHOICES = {
    "is an infinity": Case(lambda a: core.equal(a, number(-INF)), lambda a: a == -INF, (SPECIAL,), "", 0),
    "is_inf": Case(core.is_inf, np.isinf, (SPECIAL,), "", 0),
    "is_nan": Case(core.is_nan, np.isnan, (SPECIAL,), "", 0),
    "equal numbers and NaN": Case(core.equal, np.equal, (SPECIAL[0], SPECIAL[0][:, None]), "", 0),
    "less or equal numbers and NaN": Case(
        core.less_equal, np.less_equal, (SPECIAL[0].astype(np.float16), SPECIAL[0].astype(np.float16)[:, None]), "", 0
    ),
    "equal integers": Case(core.equal, np.equal, (wholes(-2, 3, 5, 4), wholes(-2, 3, 4)), "", 0),
    "less or equal integers": Case(core.less_equal, np.less_equal, (wholes(-2, 3, 5, 4), wholes(-2, 3, 4)), "", 0),
    "and": Case(core.logical_and, np.logical_and, (truths(5, 4), truths(4)), "Cast Cast Mul Cast", 0),
    "or": Case(core.logical_or, np.logical_or, (truths(5, 4), truths(4)), "", 0),
    "xor": Case(core.logical_xor, np.logical_xor, (truths(5, 4), truths(4)), "", 0),
    "not": Case(core.logical_not, np.logical_not, (truths(5, 4),), "", 0),
    "select": Case(core.select, np.where, (truths(3, 4), X, Y), "", 0),
    "select what is not a number": Case(
        lambda a: core.select(core.greater(a, number(0)), core.sqrt(a), number(-3.0)),
        lambda a: np.where(a > 0, np.sqrt(np.abs(a)), np.float32(-3)),
        (X,),
        "",
        1e-7,
    ),
    "select integers": Case(core.select, np.where, (truths(3, 4), wholes(-9, 9, 3, 4), wholes(-9, 9, 4)), "", 0),
    "select truths": Case(core.select, np.where, (truths(3, 4), truths(4), truths(3, 1)), "", 0),
    "one and zero": Case(
        lambda c: core.select(c, number(1.0), number(0.0)), lambda c: np.where(c, 1, 0), (truths(3, 4),), "Cast", 0
    ),
    "zero and minus infinity": Case(
        lambda c: core.select(c, number(0.0), number(-INF)),
        lambda c: np.where(c, 0, -INF),
        (truths(3, 4),),
        "Cast Cast Embedding",
        0,
    ),
    "zero for NaN": Case(
        lambda a: core.select(core.is_nan(a), number(0.0), a),
        lambda a: np.where(np.isnan(a), 0, a),
        (SPECIAL,),
        "Relu ScalarMul Relu Sub",
        0,
    ),
    "masked scores": Case(
        lambda a, b, c: core.softmax(core.select(c, core.matmul(a, b), number(-INF)), -1),
        lambda a, b, c: softmax(np.where(c, a @ b, -INF)),
        (reals(3, 4), reals(4, 5), np.tril(np.ones((3, 5), bool))),
    ),
    "scores masked by a constant": Case(
        lambda a, b: core.softmax(
            core.select(
                core.constant(data_of(boolean, (3, 3), [m >= n for m in range(3) for n in range(3)])),
                core.matmul(a, b),
                number(-3.4e38),
            ),
            -1,
        ),
        lambda a, b: softmax(np.where(np.tril(np.ones((3, 3))) > 0, a @ b, np.float32(-3.4e38))),
        (reals(3, 4), reals(4, 3)),
    ),
}

REDUCTIONS = {
    "sum": Case(lambda a: core.reduce_sum(a, (1,)), lambda a: a.sum(1), (X,), "ReduceSum"),
    "sum of two axes": Case(
        lambda a: core.reduce_sum(a, (-1, 1), True), lambda a: a.sum((1, 2), keepdims=True), (X,), "ReduceSum"
    ),
    "sum of axes apart": Case(
        lambda a: core.reduce_sum(a, (0, 2)), lambda a: a.sum((0, 2)), (X,), "ReduceSum ReduceSum"
    ),
    "mean of all": Case(core.reduce_mean, lambda a: a.mean().reshape(1), (X,), "ReduceMean"),
    "max": Case(lambda a: core.reduce_max(a, (0,), True), lambda a: a.max(0, keepdims=True), (X,), "ReduceMax", 0),
    "max of integers": Case(
        lambda a: core.reduce_max(a, (0,)), lambda a: a.max(0), (wholes(-9, 9, 4, 3),), "ReduceMax", 0
    ),
    "min": Case(lambda a: core.reduce_min(a, (2,)), lambda a: a.min(2), (X,), "ScalarMul ReduceMax ScalarMul", 0),
    "product": Case(lambda a: core.reduce_prod(a, (1,)), lambda a: a.prod(1), (reals(2, 7, 3),)),
    "sum of repeated": Case(lambda a: core.reduce_sum(core.broadcast_to(a, (5, 3, 4)), (0,)), lambda a: 5 * a, (Y,)),
    "cumsum": Case(lambda a: core.cumsum(a, 1), lambda a: a.cumsum(1), (X,)),
    "cumsum from the end": Case(
        lambda a: core.cumsum(a, 0, True, True), lambda a: np.concatenate([a[:0:-1].cumsum(0)[::-1], a[:1] * 0]), (Y,)
    ),
    "sum in half precision": Case(
        lambda a: core.reduce_sum(a, (0, 2)),
        lambda a: a.astype(np.float32).sum((0, 2)),
        (X.astype(np.float16),),
        "",
        1e-3,
    ),
}


def heads(x: Value) -> Value:
    """Queries times keys, of heads that lie beside each other."""
    queries, keys = [core.reshape(v, (2, 5, 3, 4)) for v in core.split(x, 2, (12, 12))]
    return core.matmul(core.transpose(queries, (0, 2, 1, 3)), core.transpose(keys, (0, 2, 3, 1)))


PRODUCTS = {
    "matrices": Case(core.matmul, np.matmul, (reals(2, 4), reals(4, 3)), "Matmul"),
    "stacks": Case(core.matmul, np.matmul, (reals(2, 5, 2, 4), reals(2, 5, 4, 3)), "Matmul"),
    "a stack and a matrix": Case(core.matmul, np.matmul, (reals(2, 5, 2, 4), reals(4, 3)), "Matmul"),
    "stacks of one": Case(core.matmul, np.matmul, (reals(1, 8, 4), reals(4, 3)), "Matmul"),
    "stacks that are broadcast": Case(core.matmul, np.matmul, (reals(2, 1, 2, 4), reals(1, 5, 4, 3)), "Matmul"),
    "transposed": Case(
        lambda a, b: core.matmul(a, core.transpose(b, (0, 1, 3, 2))),
        lambda a, b: a @ b.swapaxes(2, 3),
        (reals(2, 5, 2, 4), reals(2, 5, 3, 4)),
        "Matmul",
    ),
    "both transposed": Case(
        lambda a, b: core.matmul(a, b, True, True), lambda a, b: a.T @ b.T, (reals(4, 2), reals(3, 4)), "Matmul"
    ),
    "a vector left": Case(core.matmul, np.matmul, (reals(4), reals(2, 4, 3)), "Matmul"),
    "a vector right": Case(core.matmul, np.matmul, (reals(2, 4), reals(4)), "Matmul"),
    "two vectors": Case(core.matmul, lambda a, b: np.matmul(a, b).reshape(1), (reals(4), reals(4)), "Matmul"),
    "linear": Case(core.linear, lambda a, w, b: a @ w.T + b, (X, reals(5, 4), reals(5)), "Matmul Add"),
    "five axes": Case(
        lambda a, b: core.reshape(
            core.matmul(core.reshape(a, (2, 3, 2, 2, 4)), core.reshape(b, (1, 3, 1, 4, 2))), (24, 2)
        ),
        lambda a, b: (a.reshape(2, 3, 2, 2, 4) @ b.reshape(1, 3, 1, 4, 2)).reshape(24, 2),
        (reals(24, 4), reals(12, 2)),
    ),
    "einsum": Case(
        lambda a, b: core.einsum((a, b), "bhqd,bkhd->bqhk"),
        lambda a, b: np.einsum("bhqd,bkhd->bqhk", a, b),
        (reals(2, 3, 4, 5), reals(2, 6, 3, 5)),
    ),
    "heads of attention": Case(
        heads,
        lambda a: (
            a[..., :12].reshape(2, 5, 3, 4).transpose(0, 2, 1, 3)
            @ a[..., 12:].reshape(2, 5, 3, 4).transpose(0, 2, 3, 1)
        ),
        (reals(2, 5, 24),),
        "Transpose Transpose Matmul",
    ),
}


MOVES = {
    "reshape": Case(lambda a: core.exp(core.reshape(a, (4, 6))), lambda a: np.exp(a.reshape(4, 6)), (X,), "Exp"),
    "transpose": Case(lambda a: core.transpose(a, (2, 0, 1)), lambda a: a.transpose(2, 0, 1), (X,), "Transpose", 0),
    "function of a transposed tensor": Case(
        lambda a: core.transpose(core.exp(core.transpose(a, (1, 0))), (1, 0)), np.exp, (Y,), "Exp"
    ),
    "transpose of six axes": Case(
        lambda a: core.reshape(core.transpose(core.reshape(a, (2, 3, 2, 2, 3, 2)), (5, 3, 1, 0, 2, 4)), (4, 36)),
        lambda a: a.reshape(2, 3, 2, 2, 3, 2).transpose(5, 3, 1, 0, 2, 4).reshape(4, 36),
        (reals(12, 12),),
        "",
        0,
    ),
    "slice": Case(
        lambda a: core.exp(core.slice(a, (0, 1, 1), (2, 3, 3), (1, 1, 1))), lambda a: np.exp(a[:, 1:, 1:3]), (X,), "Exp"
    ),
    "slice with steps": Case(
        lambda a: core.exp(core.slice(a, (0, 0, 1), (2, 3, 4), (1, 2, 2))), lambda a: np.exp(a[:, ::2, 1::2]), (X,)
    ),
    "slice between computed bounds that are known": Case(
        lambda a: core.dynamic_slice(
            a, core.constant(data_of(i64, (2,), [1, -3])), core.constant(data_of(i64, (2,), [99, -1])), (1, 1)
        ),
        lambda a: a[1:, -3:-1],
        (Y,),
        "",
        0,
    ),
    "slice backward": Case(lambda a: core.slice(a, (2, 3), (-9, 0), (-1, -2)), lambda a: a[::-1, 3:0:-2], (Y,), "", 0),
    "split": Case(lambda a: core.add(*core.split(a, 1, (2, 2))), lambda a: a[:, :2] + a[:, 2:], (reals(3, 4),), "Add"),
    "concat": Case(
        lambda a, b: core.concat((a, core.exp(b), a), 1),
        lambda a, b: np.concatenate([a, np.exp(b), a], 1),
        (reals(3, 4), reals(3, 2)),
    ),
    "concat inside": Case(
        lambda a, b: core.concat((core.neg(a), b), -1),
        lambda a, b: np.concatenate([-a, b], -1),
        (X, reals(2, 3, 2)),
    ),
    "pad": Case(
        lambda a: core.pad(a, (1, 0), (0, 2), value=3.0),
        lambda a: np.pad(a, ((1, 0), (0, 2)), constant_values=3),
        (Y,),
        "ScalarAssign Copy",
        0,
    ),
    "pad and cut": Case(
        lambda a: core.pad(a, (-1, 2), (0, -1)), lambda a: np.pad(a[1:, :-1], ((0, 0), (2, 0))), (Y,), "", 0
    ),
    "pad by reflection": Case(
        lambda a: core.pad(a, (1, 0), (0, 2), PadMode.REFLECT),
        lambda a: np.pad(a, ((1, 0), (0, 2)), "reflect"),
        (Y,),
        "",
        0,
    ),
    "pad by the edge": Case(
        lambda a: core.pad(a, (1, 0), (0, 2), PadMode.EDGE), lambda a: np.pad(a, ((1, 0), (0, 2)), "edge"), (Y,), "", 0
    ),
    "pad around": Case(
        lambda a: core.pad(a, (1, 0), (0, 2), PadMode.WRAP), lambda a: np.pad(a, ((1, 0), (0, 2)), "wrap"), (Y,), "", 0
    ),
    "tile": Case(lambda a: core.tile(a, (2, 3)), lambda a: np.tile(a, (2, 3)), (Y,), "Copy", 0),
    "broadcast": Case(
        lambda a: core.broadcast_to(a, (5, 3, 4)), lambda a: np.broadcast_to(a, (5, 3, 4)), (reals(3, 1),), "Copy", 0
    ),
    "repeated heads": Case(
        lambda a: core.reshape(core.broadcast_to(core.unsqueeze(a, (2,)), (2, 3, 2, 4, 5)), (2, 6, 4, 5)),
        lambda a: np.repeat(a, 2, 1),
        (reals(2, 3, 4, 5),),
        "Copy",
        0,
    ),
    "reverse": Case(lambda a: core.reverse(a, (0, 1)), lambda a: a[::-1, ::-1], (Y,), "", 0),
    "depth to space": Case(
        lambda a: core.depth_to_space(a, 2),
        lambda a: a.reshape(2, 2, 2, 2, 3, 4).transpose(0, 3, 4, 1, 5, 2).reshape(2, 2, 6, 8),
        (reals(2, 8, 3, 4),),
        "",
        0,
    ),
    "space to depth": Case(
        lambda a: core.space_to_depth(a, 2),
        lambda a: a.reshape(2, 2, 3, 2, 4, 2).transpose(0, 3, 5, 1, 2, 4).reshape(2, 8, 3, 4),
        (reals(2, 2, 6, 8),),
        "",
        0,
    ),
    "a part of a tensor as output": Case(
        lambda a: core.squeeze(core.slice(a, (0, 1, 0), (2, 2, 4), (1, 1, 1)), (1,)), lambda a: a[:, 1], (X,), "Copy", 0
    ),
    "an input as output": Case(lambda a: (a, core.neg(a)), lambda a: a, (Y,), "", 0),
}

INDEXING = {
    "rows": Case(
        lambda t, n: core.gather(t, n, 0), lambda t, n: t[n], (reals(9, 4), wholes(-9, 9, 2, 3)), "Embedding", 0
    ),
    "columns": Case(
        lambda t, n: core.gather(t, n, 1), lambda t, n: t[:, n], (reals(3, 9, 4), wholes(-9, 9, 2, 3)), "", 0
    ),
    "one row": Case(lambda t, n: core.gather(t, n, 0), lambda t, n: t[n], (reals(9, 4), np.array([5])), "Embedding", 0),
    "constant rows": Case(
        lambda t: core.exp(core.gather(t, core.constant(data_of(i64, (3,), [2, 4, 6])), 0)),
        lambda t: np.exp(t[2:7:2]),
        (reals(9, 4),),
        "Exp",
    ),
    "the last row": Case(
        lambda t: core.exp(core.gather(t, number(-1, i64), 1)), lambda t: np.exp(t[:, -1]), (reals(3, 5, 4),), "Exp"
    ),
    "constant rows in disorder": Case(
        lambda t: core.gather(t, core.constant(data_of(i64, (3,), [4, 0, 4])), 0),
        lambda t: t[[4, 0, 4]],
        (reals(9, 4),),
        "Embedding",
        0,
    ),
    "elements": Case(
        lambda t, n: core.gather_elements(t, n, 1),
        lambda t, n: np.take_along_axis(t, n, 1),
        (reals(3, 9, 4), wholes(-9, 9, 3, 2, 4)),
        "",
        0,
    ),
    "one hot": Case(
        lambda n: core.one_hot(n, number(2.0), number(-1.0), 5),
        lambda n: np.where(n[..., None] == np.arange(5), 2, -1),
        (wholes(-5, 5, 2, 3),),
        "",
        0,
    ),
    "elements by positions along all axes": Case(
        core.gather_nd,
        lambda x, n: x[n[..., 0], n[..., 1]],
        (reals(5, 4, 3), np.array([[[0, 1], [-1, 3]], [[4, -4], [2, 2]]])),
        "",
        0,
    ),
    "elements by positions in each of a batch": Case(
        lambda x, n: core.gather_nd(x, n, 1),
        lambda x, n: np.stack([x[b][n[b, :, 0]] for b in range(2)]),
        (reals(2, 4, 3), np.array([[[0], [-1]], [[3], [3]]])),
        "",
        0,
    ),
    "elements replaced": Case(
        lambda x, u: core.scatter_elements(x, core.constant(data_of(i64, (2, 2), [1, -1, 0, 0])), u, 1),
        lambda x, u: np.concatenate(
            [np.stack([[x[0, 0], u[0, 0], x[0, 2], u[0, 1]], [u[1, 1], x[1, 1], x[1, 2], x[1, 3]]]), x[2:]]
        ),
        (reals(3, 4), reals(2, 2)),
        "",
        0,
    ),
    "rows replaced": Case(
        lambda x, u: core.scatter_nd(x, core.constant(data_of(i64, (2, 1), [-1, 1])), u),
        lambda x, u: np.stack([x[0], u[1], x[2], u[0]]),
        (reals(4, 3), reals(2, 3)),
        "",
        0,
    ),
    "band": Case(lambda a: core.band_part(a, -1, 0), np.tril, (reals(2, 4, 5),), "", 0),
}

CASTS = {
    "to integers": Case(lambda a: core.cast(a, i32), lambda a: a.astype(np.int32), (X * 9,), "Cast", 0),
    "half to integers": Case(
        lambda a: core.cast(a, i32), lambda a: a.astype(np.int32), ((X * 9).astype(np.float16),), "Cast Cast", 0
    ),
    "to floats": Case(lambda a: core.cast(a, f32), lambda a: a.astype(np.float32), (wholes(-9, 9, 5),), "Cast", 0),
    "to truths": Case(lambda a: core.cast(a, boolean), lambda a: a != 0, (wholes(-1, 2, 9),), "", 0),
    "of truths": Case(lambda a: core.cast(a, i64), lambda a: a.astype(int), (truths(9),), "Cast Cast", 0),
    "between integers": Case(lambda a: core.cast(a, i8), lambda a: a.astype(np.int8), (wholes(-99, 99, 9),), "Cast", 0),
}

WINDOWS = {
    "convolution": Case(
        lambda x, w, b: core.conv(x, w, b, strides=(2, 1), pads=((1, 0), (0, 2)), dilations=(1, 2)),
        lambda x, w, b: convolution(np.pad(x, ((0, 0), (0, 0), (1, 0), (0, 2))), w, (2, 1), (1, 2)) + b[:, None, None],
        (reals(2, 3, 7, 6), reals(4, 3, 3, 2), reals(4)),
    ),
    "transposed convolution": Case(
        lambda x, w, b: core.conv_transpose(
            x, w, b, strides=(2, 3), dilations=(1, 2), pads=((1, 0), (0, 4)), output_padding=(1, 0), groups=2
        ),
        lambda x, w, b: (
            np.concatenate(
                [
                    spread(x[:, :2], w[:2], (2, 3), (1, 2))[:, :, 1:, :-4],
                    spread(x[:, 2:], w[2:], (2, 3), (1, 2))[:, :, 1:, :-4],
                ],
                1,
            )
            + b[:, None, None]
        ),
        (reals(2, 4, 3, 4), reals(4, 3, 3, 2), reals(6)),
    ),
    "convolution in groups": Case(
        lambda x, w: core.conv(x, w, groups=2),
        lambda x, w: np.concatenate(
            [convolution(x[:, :3], w[:2], (1,), (1,)), convolution(x[:, 3:], w[2:], (1,), (1,))], 1
        ),
        (reals(2, 6, 9), reals(4, 3, 3)),
    ),
    "patches": Case(
        lambda x, w: core.conv(x, w, strides=(4, 4)),
        lambda x, w: convolution(x, w, (4, 4), (1, 1)),
        (reals(1, 3, 8, 12), reals(5, 3, 4, 4)),
    ),
    "largest of windows": Case(
        lambda x: core.max_pool(x, (3, 2), strides=(2, 2), pads=((1, 1), (0, 0))),
        lambda x: windows(np.pad(x, ((0, 0), (0, 0), (1, 1), (0, 0)), constant_values=-INF), (3, 2), (2, 2)).max(
            (-1, -2)
        ),
        (reals(2, 3, 7, 6),),
        "",
        0,
    ),
    "mean of windows": Case(
        lambda x: core.average_pool(x, (3,), strides=(2,)),
        lambda x: np.lib.stride_tricks.sliding_window_view(x, 3, -1)[:, :, ::2].mean(-1),
        (reals(2, 3, 9),),
    ),
    "mean of windows without padding": Case(
        lambda x: core.average_pool(x, (3,), pads=((1, 1),)),
        lambda x: np.stack([x[..., max(n - 1, 0) : n + 2].mean(-1) for n in range(9)], -1),
        (reals(2, 3, 9),),
    ),
}

FUNCTIONS = {
    "log": Case(
        core.log,
        np.log,
        (np.array([0, 1e-44, 1e-38, 0.5, 1, 2.5, 3e38, INF, np.nan, -1, -2, -INF], np.float32),),
        "",
        5e-7,
    ),
    "log of many": Case(core.log, np.log, (np.geomspace(1e-30, 1e30, 5000, dtype=np.float32),), "", 5e-7),
    "log softmax": Case(lambda a: core.log_softmax(a, -1), lambda a: np.log(softmax(a)), (X * 5,)),
    "softplus": Case(core.softplus, lambda a: np.log1p(np.exp(a)), (X * 9,)),
    "sin": Case(core.sin, lambda a: np.sin(a.astype(np.float64)), (np.linspace(-1e4, 1e4, 9999, dtype=np.float32),)),
    "cos": Case(core.cos, lambda a: np.cos(a.astype(np.float64)), (np.linspace(-30, 30, 9999, dtype=np.float32),)),
    "asin": Case(core.asin, np.arcsin, (np.append(np.linspace(-1, 1, 999), [2, np.nan]).astype(np.float32),)),
    "acos": Case(core.acos, np.arccos, (np.linspace(-1, 1, 999, dtype=np.float32),)),
    "atan": Case(core.atan, np.arctan, (np.append(np.linspace(-9, 9, 999), [1e30, -INF, np.nan]).astype(np.float32),)),
    "asinh": Case(core.asinh, np.arcsinh, (np.append(np.linspace(-9, 9, 999), [1e9, np.nan]).astype(np.float32),)),
    "acosh": Case(
        core.acosh, np.arccosh, (np.append(np.linspace(1, 9, 999), [1e9, 0.5, -2, np.nan]).astype(np.float32),)
    ),
    "atanh": Case(
        core.atanh, np.arctanh, (np.append(np.linspace(-0.9, 0.9, 99), [1, -1, 2, -3, np.nan]).astype(np.float32),)
    ),
    "sinh": Case(core.sinh, np.sinh, (X * 3,)),
    "cosh": Case(core.cosh, np.cosh, (X * 3,)),
    "tan": Case(core.tan, np.tan, (X,), "", 1e-5),
    "floor": Case(core.floor, np.floor, (np.append(SPECIAL, [-2.5, -0.5, 1e10]).astype(np.float32),), "", 0),
    "ceil": Case(core.ceil, np.ceil, (np.append(SPECIAL, [-2.5, -0.5, 1e10]).astype(np.float32),), "", 0),
    "truncate": Case(core.truncate, np.trunc, (np.append(SPECIAL, [-2.5, -0.5, 1e10]).astype(np.float32),), "", 0),
    "round": Case(core.round, np.round, (np.append(SPECIAL, [-2.5, -0.5, 1.5, 0.5, 1e10]).astype(np.float32),), "", 0),
    "sign": Case(core.sign, np.sign, (X,), "", 0),
    "mod": Case(core.mod, np.mod, (wholes(-9, 9, 40), np.array([3, -4] * 20)), "", 0),
    "remainder": Case(core.remainder, np.fmod, (wholes(-9, 9, 40), np.array([3, -4] * 20)), "", 0),
    "floor division": Case(core.floor_div, np.floor_divide, (wholes(-9, 9, 40), np.array([3, -4] * 20)), "", 0),
    "position of the largest": Case(lambda a: core.arg_max(a, 1), lambda a: a.argmax(1), (wholes(-3, 3, 4, 9),), "", 0),
    "position of the smallest": Case(
        lambda a: core.arg_min(a, 0, True), lambda a: a.argmin(0, keepdims=True), (X,), "", 0
    ),
}

SCALES, STEPS = np.array([0.5, 0.25], np.float32), np.append(np.arange(-9, 9), [-999, 999, 1e9]).astype(np.float32)

QUANTIZATION = {
    **{
        f"quantize to {dtype}": Case(
            lambda x, s, z, element=element: core.quantize(
                x, core.unsqueeze(s, (1,)), element, core.unsqueeze(z, (1,))
            ),
            quantized,
            (np.stack([STEPS, STEPS / 8]), SCALES, np.array([3, 5], dtype)),
            "",
            0,
        )
        for dtype, element in (("int8", i8), ("uint8", u8), ("int16", i16))
    },
    "quantize without zero point": Case(
        lambda x: core.quantize(x, number(0.5), i8), lambda x: np.clip(np.round(x * 2), -128, 127), (STEPS,), "", 0
    ),
    "quantize in half precision": Case(
        lambda x: core.quantize(x, number(0.5, f16), u8),
        lambda x: np.clip(np.round(x.astype(np.float32) * 2), 0, 255),
        (np.append(STEPS[:-1], 0.75).astype(np.float16),),
        "",
        0,
    ),
    "dequantize": Case(
        lambda x, z: core.dequantize(x, number(0.1), z),
        lambda x, z: (x.astype(np.float32) - z) * np.float32(0.1),
        (wholes(-128, 128, 9, dtype="int8"), np.array(7, np.int8)),
        "",
        0,
    ),
    "dequantize a weight in blocks": Case(
        lambda a: core.matmul(
            a,
            core.dequantize(
                core.constant(data_of(i4, (4, 2), [-8, 7, 0, 1, -1, 2, 3, -4])),
                core.constant(data_of(f32, (2, 2), [0.5, 1.0, 2.0, 4.0])),
            ),
        ),
        lambda a: a @ np.array([[-4, 7], [0, 1], [-2, 8], [6, -16]], np.float32),
        (reals(3, 4),),
    ),
}

CONTROL = {
    "recurrent layer": Case(
        lambda x, w, r, h: core.rnn(x, w, r, initial_h=h)[0],
        recurrent,
        (reals(4, 2, 3), reals(1, 5, 3), reals(1, 5, 5), reals(1, 2, 5)),
    ),
    "choice": Case(
        lambda x, c: core.if_(
            core.reshape(c, ()),
            yielding(lambda: core.exp(x)),
            yielding(lambda: core.neg(x)),
        ),
        lambda x, c: np.exp(x) if c[0] else -x,
        (Y, np.array([False])),
    ),
}

ALL = {
    name: case
    for cases in (
        ARITHMETIC,
        COMPARISONS,
        CHOICES,
        REDUCTIONS,
        PRODUCTS,
        MOVES,
        INDEXING,
        CASTS,
        WINDOWS,
        FUNCTIONS,
        QUANTIZATION,
        CONTROL,
    )
    for name, case in cases.items()
}


@pytest.mark.fast_every(3)
@pytest.mark.parametrize("name", ALL)
def test_operation_gives_what_numpy_gives(name: str, tmp_path: Path) -> None:
    case = ALL[name]
    module = converted(case.build, *case.inputs)
    if case.operations:
        assert operations(module) == case.operations.split()
    with np.errstate(all="ignore"):
        expected = np.asarray(case.expected(*case.inputs))
    result = run_ark(written(module, tmp_path), case.inputs)[0]
    assert result.shape == expected.shape
    np.testing.assert_allclose(
        result.astype(np.float64), expected.astype(np.float64), rtol=case.tolerance, atol=case.tolerance
    )


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("operator", ["ArgMax", "ArgMin"])
def test_position_beside_nan_and_infinities_is_that_of_onnxruntime(
    operator: str, axis: int, dtype: str, tmp_path: Path
) -> None:
    onnx = oracle("onnx")
    a = np.array(list(product((1.0, 7.0, INF, -INF, np.nan), repeat=3)), np.float32)
    a = a if axis else a.T.copy()
    text = f"""<ir_version: 8, opset_import: ["" : 13]>
        g (float[M, N] a) => (int64 y) {{ y = {operator}<axis = {axis}, keepdims = 0>(a) }}"""
    (expected,) = run_onnx(onnx.parser.parse_model(text).SerializeToString(), {"a": a})
    a = a.astype(dtype)
    module = converted(lambda x: (core.arg_max if operator == "ArgMax" else core.arg_min)(x, axis), a)
    np.testing.assert_array_equal(run_ark(written(module, tmp_path), [a])[0], expected)


def test_no_buffer_is_written_twice_but_where_parts_are_laid_over(tmp_path: Path) -> None:
    """ARK never reuses memory: what a tensor is later another view of holds it still."""
    module = written(converted(lambda a: core.add(core.exp(a), core.exp(core.neg(a))), X), tmp_path)
    rank = module.body.first
    assert rank is not None
    buffers = [op.buffer for op in rank.regions[0].block.operations if op.name == "ark.tensor"]  # pyright: ignore[reportAttributeAccessIssue]
    assert len(buffers) == len(set(buffers)) == 4


class Walk(NamedTuple):
    """A tensor in a program and in numpy."""

    build: Callable[[Any], Any]
    array: Array


def _step(rng: np.random.Generator, walk: Walk) -> Walk:
    """Another arrangement of the elements, or a function of them."""
    x, of = walk.array, walk.build
    axis = int(rng.integers(x.ndim))
    match int(rng.integers(7)):
        case 0:
            axes = tuple(map(int, rng.permutation(x.ndim)))
            return Walk(lambda a: core.transpose(of(a), axes), x.transpose(axes))
        case 1 if x.shape[axis] > 1:
            low = int(rng.integers(x.shape[axis] - 1))
            high = int(rng.integers(low + 1, x.shape[axis] + 1))
            step = int(rng.integers(1, 3))
            bounds = [(low, high, step) if k == axis else (0, n, 1) for k, n in enumerate(x.shape)]
            where = tuple(slice(*b) for b in bounds)
            starts, stops, steps = zip(*bounds, strict=True)
            return Walk(lambda a: core.slice(of(a), starts, stops, steps), x[where])
        case 2:
            shape = (int(np.prod(x.shape[: axis + 1])), *x.shape[axis + 1 :])
            return Walk(lambda a: core.reshape(of(a), shape), x.reshape(shape))
        case 3 if x.ndim < 4 and x.shape[axis] % 2 == 0:
            shape = (*x.shape[:axis], 2, x.shape[axis] // 2, *x.shape[axis + 1 :])
            return Walk(lambda a: core.reshape(of(a), shape), x.reshape(shape))
        case 4 if x.ndim < 4 and x.size < 500:
            shape = (*x.shape[:axis], 2, *x.shape[axis:])
            wide = np.broadcast_to(np.expand_dims(x, axis), shape)
            return Walk(lambda a: core.broadcast_to(core.unsqueeze(of(a), (axis,)), shape), wide)
        case 5:
            return Walk(lambda a: core.reduce_max(of(a), (axis,), True), x.max(axis, keepdims=True))
        case _:
            row = np.arange(1, x.shape[-1] + 1, dtype=np.float32)
            stored = data_of(f32, row.shape, [float(n) for n in row])
            return Walk(lambda a: core.mul(of(a), core.constant(stored)), x * row)


@pytest.mark.fast_every(5)
@pytest.mark.parametrize("seed", range(100))
def test_arrangements_of_arrangements_give_what_numpy_gives(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    x = rng.integers(-9, 9, tuple(rng.integers(1, 7, rng.integers(1, 5)))).astype(np.float32)
    walk = Walk(lambda a: a, x)
    for _ in range(8):
        walk = _step(rng, walk)
    module = written(converted(lambda a: core.neg(walk.build(a)), x), tmp_path)
    assert np.array_equal(run_ark(module, [x])[0], -walk.array)
