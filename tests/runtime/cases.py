"""Random uses of every core operation but those on sequences, with what numpy or onnxruntime says of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from commonir.dialects import core
from commonir.ir.types import boolean, f32, i32

from tests.runtime.drawing import (
    Array,
    Build,
    Case,
    Draw,
    Random,
    broadcast_pair,
    chance,
    collects,
    floats,
    onnx_results,
    sizes,
)
from tests.runtime.window_cases import CASES as WINDOW_CASES

CASES: dict[str, Draw] = {**WINDOW_CASES}
case = collects(CASES)


# -- elementwise

_UNARY: dict[str, tuple[Callable[[Array], Array], float, float]] = {
    "neg": (np.negative, -3, 3),
    "abs": (np.abs, -3, 3),
    "sign": (np.sign, -3, 3),
    "exp": (np.exp, -3, 3),
    "exp2": (np.exp2, -3, 3),
    "log": (np.log, 0.1, 3),
    "sqrt": (np.sqrt, 0, 3),
    "sin": (np.sin, -3, 3),
    "cos": (np.cos, -3, 3),
    "tan": (np.tan, -1, 1),
    "asin": (np.arcsin, -1, 1),
    "acos": (np.arccos, -1, 1),
    "atan": (np.arctan, -3, 3),
    "sinh": (np.sinh, -3, 3),
    "cosh": (np.cosh, -3, 3),
    "tanh": (np.tanh, -3, 3),
    "asinh": (np.arcsinh, -3, 3),
    "acosh": (np.arccosh, 1, 3),
    "atanh": (np.arctanh, -0.9, 0.9),
    "erf": (np.vectorize(math.erf), -5, 5),
    "floor": (np.floor, -3, 3),
    "ceil": (np.ceil, -3, 3),
    "round": (np.rint, -3, 3),
    "truncate": (np.trunc, -3, 3),
    "reciprocal": (np.reciprocal, 0.5, 3),
    "rsqrt": (lambda x: 1 / np.sqrt(x), 0.5, 3),
    "relu": (lambda x: np.maximum(x, 0), -3, 3),
    "sigmoid": (lambda x: 1 / (1 + np.exp(-x)), -9, 9),
    "hard_swish": (lambda x: x * np.clip(x / 6 + 0.5, 0, 1), -5, 5),
    "silu": (lambda x: x / (1 + np.exp(-x)), -9, 9),
    "softplus": (lambda x: np.log1p(np.exp(x)), -9, 9),
    "mish": (lambda x: x * np.tanh(np.log1p(np.exp(x))), -5, 9),
    "softsign": (lambda x: x / (1 + np.abs(x)), -3, 3),
}


def _unary(name: str) -> None:
    expected, low, high = _UNARY[name]

    def draw(r: Random) -> Case:
        x = r.uniform(low, high, sizes(r)).astype(np.float32)
        return Case(getattr(core, name), {"x": x}, lambda: expected(x))

    CASES[f"core.{name}"] = draw


for _name in _UNARY:
    _unary(_name)


def _shifted_left(a: int, b: int) -> int:
    """32 bits of a number shifted; nothing is left of one shifted too far."""
    low = (int(a) << int(b)) % 2**32 if 0 <= b < 32 else 0
    return low - 2**32 if low >= 2**31 else low


_BINARY: dict[str, tuple[Callable[[Array, Array], Array], str]] = {
    "add": (np.add, "fi"),
    "sub": (np.subtract, "fi"),
    "mul": (np.multiply, "fi"),
    "div": (lambda a, b: np.trunc(a / b).astype(a.dtype) if a.dtype.kind == "i" else a / b, "fi"),
    "floor_div": (np.floor_divide, "fi"),
    "mod": (np.mod, "fi"),
    "remainder": (np.fmod, "fi"),
    "pow": (lambda a, b: np.power(np.abs(a) + 1, b), "f"),
    "maximum": (np.maximum, "fi"),
    "minimum": (np.minimum, "fi"),
    "equal": (np.equal, "fi"),
    "not_equal": (np.not_equal, "fi"),
    "less": (np.less, "fi"),
    "less_equal": (np.less_equal, "fi"),
    "greater": (np.greater, "fi"),
    "greater_equal": (np.greater_equal, "fi"),
    "logical_and": (np.logical_and, "b"),
    "logical_or": (np.logical_or, "b"),
    "logical_xor": (np.logical_xor, "b"),
    "bitwise_and": (np.bitwise_and, "i"),
    "bitwise_or": (np.bitwise_or, "i"),
    "bitwise_xor": (np.bitwise_xor, "i"),
    "shift_left": (np.vectorize(_shifted_left, otypes=[np.int32]), "i"),
    "shift_right": (lambda a, b: a >> np.where((b < 0) | (b > 31), 31, b), "i"),
}


def _elements(r: Random, kind: str, shape: Sequence[int]) -> Array:
    if kind == "f":
        return floats(r, *shape)
    if kind == "b":
        return r.integers(0, 2, shape).astype(bool)
    return r.integers(1, 7, shape).astype(np.int32) * r.choice([-1, 1], shape).astype(np.int32)


def _binary(name: str) -> None:
    expected, kinds = _BINARY[name]

    def draw(r: Random) -> Case:
        kind = str(r.choice(list(kinds)))
        a, b = (_elements(r, kind, s) for s in broadcast_pair(r))
        if name == "pow":
            build: Build = lambda u, v: core.pow(core.add(core.abs(u), core.splat(1.0, u)), v)  # noqa: E731
        else:
            build = getattr(core, name)
        return Case(build, {"a": a, "b": b}, lambda: expected(a, b))

    CASES[f"core.{name}"] = draw


for _name in _BINARY:
    _binary(_name)


@case
def logical_not(r: Random) -> Case:
    x = _elements(r, "b", sizes(r))
    return Case(core.logical_not, {"x": x}, lambda: np.logical_not(x))


@case
def bitwise_not(r: Random) -> Case:
    x = _elements(r, "i", sizes(r))
    return Case(core.bitwise_not, {"x": x}, lambda: np.invert(x))


@case
def is_nan(r: Random) -> Case:
    x = r.choice(np.array([np.nan, 1, np.inf], np.float32), sizes(r))
    return Case(core.is_nan, {"x": x}, lambda: np.isnan(x))


@case
def is_inf(r: Random) -> Case:
    x = r.choice(np.array([np.nan, 1, np.inf, -np.inf], np.float32), sizes(r))
    return Case(core.is_inf, {"x": x}, lambda: np.isinf(x))


@case
def select(r: Random) -> Case:
    s, t = broadcast_pair(r)
    c, a, b = _elements(r, "b", s), floats(r, *t), floats(r, *np.broadcast_shapes(s, t))
    return Case(core.select, {"condition": c, "a": a, "b": b}, lambda: np.where(c, a, b))


@case
def cast(r: Random) -> Case:
    element, dtype = [(i32, np.int32), (f32, np.float32), (boolean, np.bool_)][int(r.integers(0, 3))]
    x = _elements(r, str(r.choice(["f", "b", "i"])), sizes(r))
    return Case(lambda v: core.cast(v, element), {"x": x}, lambda: x.astype(dtype))


@case
def clip(r: Random) -> Case:
    x = floats(r, *sizes(r))
    return Case(lambda v: core.clip(v, -0.5, 0.7), {"x": x}, lambda: np.clip(x, -0.5, 0.7))


@case
def leaky_relu(r: Random) -> Case:
    x = floats(r, *sizes(r))
    return Case(lambda v: core.leaky_relu(v, 0.1), {"x": x}, lambda: np.where(x >= 0, x, x * np.float32(0.1)))


@case
def elu(r: Random) -> Case:
    x = floats(r, *sizes(r))
    return Case(lambda v: core.elu(v, 0.7), {"x": x}, lambda: np.where(x > 0, x, 0.7 * np.expm1(x)))


@case
def hard_sigmoid(r: Random) -> Case:
    x = floats(r, *sizes(r))
    return Case(lambda v: core.hard_sigmoid(v, 0.3, 0.4), {"x": x}, lambda: np.clip(0.3 * x + 0.4, 0, 1))


@case
def prelu(r: Random) -> Case:
    x = floats(r, *sizes(r, 2, 5))
    slope = floats(r, x.shape[1])
    wide = slope.reshape(-1, *[1] * (x.ndim - 2))
    return Case(core.prelu, {"x": x, "slope": slope}, lambda: np.where(x >= 0, x, x * wide))


@case
def gelu(r: Random) -> Case:
    form = list(core.GeluForm)[int(r.integers(0, 3))]
    x = floats(r, *sizes(r)) * 2
    weight = {
        core.GeluForm.EXACT: lambda: 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2))),
        core.GeluForm.TANH: lambda: 0.5 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
        core.GeluForm.SIGMOID: lambda: 1 / (1 + np.exp(-1.702 * x)),
    }
    return Case(lambda v: core.gelu(v, form), {"x": x}, lambda: x * weight[form]())


# -- shape


@case
def reshape(r: Random) -> Case:
    x = floats(r, *[int(n) for n in r.choice([1, 2, 3, 4], r.integers(1, 4))])
    shape = [*x.shape[1:], x.shape[0]]
    if chance(r):
        shape = [*shape[:-1], -1]
    return Case(lambda v: core.reshape(v, tuple(shape)), {"x": x}, lambda: x.reshape(shape))


@case
def dynamic_reshape(r: Random) -> Case:
    x = floats(r, 2, 3, 4)
    shape = np.array([[4, 6], [-1, 2], [24, 1]][int(r.integers(0, 3))])
    return Case(core.dynamic_reshape, {"x": x, "shape": shape}, lambda: x.reshape(shape))


@case
def broadcast_to(r: Random) -> Case:
    whole = sizes(r, 2, 4)
    x = floats(r, *[1 if chance(r) else n for n in whole][int(r.integers(0, 2)) :])
    return Case(lambda v: core.broadcast_to(v, tuple(whole)), {"x": x}, lambda: np.broadcast_to(x, whole))


@case
def squeeze(r: Random) -> Case:
    x = floats(r, 1, *sizes(r), 1)
    return Case(lambda v: core.squeeze(v, (0, -1)), {"x": x}, lambda: np.squeeze(x, (0, -1)))


@case
def unsqueeze(r: Random) -> Case:
    x = floats(r, *sizes(r))
    return Case(lambda v: core.unsqueeze(v, (0, 2)), {"x": x}, lambda: np.expand_dims(x, (0, 2)))


@case
def transpose(r: Random) -> Case:
    x = floats(r, *sizes(r, 2, 5))
    perm = tuple(int(p) for p in r.permutation(x.ndim))
    return Case(lambda v: core.transpose(v, perm), {"x": x}, lambda: x.transpose(perm))


def _cuts(r: Random, shape: Sequence[int]) -> tuple[list[int], list[int], list[int]]:
    steps = [int(s) for s in r.choice([1, 1, 2, -1, -2], len(shape))]
    starts = [int(r.integers(-n, n)) for n in shape]
    stops = [int(r.integers(-n, n + 1)) for n in shape]
    return starts, stops, steps


def _sliced(x: Array, starts: Sequence[int], stops: Sequence[int], steps: Sequence[int]) -> Array:
    return x[tuple(slice(*cut) for cut in zip(starts, stops, steps, strict=True))]


@case
def slice_(r: Random) -> Case:
    x = floats(r, *sizes(r, 1, 4, 2))
    starts, stops, steps = _cuts(r, x.shape)
    build = lambda v: core.slice(v, tuple(starts), tuple(stops), tuple(steps))  # noqa: E731
    return Case(build, {"x": x}, lambda: _sliced(x, starts, stops, steps))


@case
def dynamic_slice(r: Random) -> Case:
    x = floats(r, *sizes(r, 1, 4, 2))
    starts, stops, steps = _cuts(r, x.shape)
    build = lambda v, a, b: core.dynamic_slice(v, a, b, tuple(steps))  # noqa: E731
    arrays = {"x": x, "starts": np.array(starts), "stops": np.array(stops)}
    return Case(build, arrays, lambda: _sliced(x, starts, stops, steps))


@case
def reverse(r: Random) -> Case:
    x = floats(r, *sizes(r, 2, 4))
    return Case(lambda v: core.reverse(v, (0, -1)), {"x": x}, lambda: np.flip(x, (0, -1)))


@case
def pad(r: Random) -> Case:
    x = floats(r, *sizes(r, 1, 4, 3))
    before, after = (tuple(int(n) for n in r.integers(0, 3, x.ndim)) for _ in range(2))
    mode = list(core.PadMode)[int(r.integers(0, 3))]
    amounts = list(zip(before, after, strict=True))
    inputs: dict[str, Any] = {"constant_values": 1.5} if mode is core.PadMode.CONSTANT else {}
    build = lambda v: core.pad(v, before, after, mode, 1.5)  # noqa: E731
    return Case(build, {"x": x}, lambda: np.pad(x, amounts, mode.value, **inputs))


@case
def dynamic_pad(r: Random) -> Case:
    x = floats(r, *sizes(r, 1, 4, 2))
    before, after = (r.integers(0, 2, x.ndim) for _ in range(2))
    mode = list(core.PadMode)[int(r.integers(0, 3))]
    fill: dict[str, Any] = {"constant_values": 1.5} if mode is core.PadMode.CONSTANT else {}
    expected = lambda: np.pad(x, list(zip(before, after, strict=True)), mode.value, **fill)  # noqa: E731
    build = lambda v, b, a: core.dynamic_pad(v, b, a, mode, 1.5)  # noqa: E731
    return Case(build, {"x": x, "before": before, "after": after}, expected)


@case
def concat(r: Random) -> Case:
    shape = sizes(r, 1, 4)
    axis = int(r.integers(0, len(shape)))
    xs = [floats(r, *shape[:axis], int(r.integers(1, 4)), *shape[axis + 1 :]) for _ in range(int(r.integers(1, 4)))]
    build = lambda *vs: core.concat(vs, axis)  # noqa: E731
    return Case(build, {f"x{n}": x for n, x in enumerate(xs)}, lambda: np.concatenate(xs, axis))


@case
def split(r: Random) -> Case:
    x = floats(r, 3, 6)
    cuts = [(1, 5), (2, 2, 2), (6,)][int(r.integers(0, 3))]
    places = np.cumsum(cuts)[:-1]
    return Case(lambda v: core.split(v, 1, cuts), {"x": x}, lambda: np.split(x, places, 1))


@case
def tile(r: Random) -> Case:
    x = floats(r, *sizes(r))
    repeats = tuple(int(n) for n in r.integers(1, 4, x.ndim))
    return Case(lambda v: core.tile(v, repeats), {"x": x}, lambda: np.tile(x, repeats))


@case
def depth_to_space(r: Random) -> Case:
    x = floats(r, 2, 8, int(r.integers(1, 4)), int(r.integers(1, 4)))
    order = list(core.BlockOrder)[int(r.integers(0, 2))]
    expected = lambda: onnx_results("DepthToSpace", [x], blocksize=2, mode=order.value)  # noqa: E731
    return Case(lambda v: core.depth_to_space(v, 2, order), {"x": x}, expected)


@case
def space_to_depth(r: Random) -> Case:
    x = floats(r, 1, 3, 4, 6)
    return Case(lambda v: core.space_to_depth(v, 2), {"x": x}, lambda: onnx_results("SpaceToDepth", [x], blocksize=2))


# -- positions


def _positions(r: Random, size: int, *shape: int) -> Array:
    return r.integers(-size, size, shape)


@case
def gather(r: Random) -> Case:
    x = floats(r, *sizes(r, 1, 4, 2))
    axis = int(r.integers(0, x.ndim))
    p = _positions(r, x.shape[axis], *sizes(r, 0, 3))
    return Case(lambda v, w: core.gather(v, w, axis), {"x": x, "p": p}, lambda: np.take(x, p, axis, mode="wrap"))


@case
def gather_elements(r: Random) -> Case:
    x = floats(r, 3, 4)
    axis = int(r.integers(0, 2))
    p = _positions(r, x.shape[axis], 2, 3)
    expected = lambda: onnx_results("GatherElements", [x, p], axis=axis)  # noqa: E731
    return Case(lambda v, w: core.gather_elements(v, w, axis), {"x": x, "p": p}, expected)


@case
def gather_nd(r: Random) -> Case:
    x, batch = floats(r, 2, 3, 4), int(r.integers(0, 2))
    p = _positions(r, 2, 2, 3, int(r.integers(1, 3)))
    expected = lambda: onnx_results("GatherND", [x, p], batch_dims=batch)  # noqa: E731
    return Case(lambda v, w: core.gather_nd(v, w, batch), {"x": x, "p": p}, expected)


_REDUCTIONS = {
    core.Reduction.NONE: "none",
    core.Reduction.ADD: "add",
    core.Reduction.MUL: "mul",
    core.Reduction.MAX: "max",
    core.Reduction.MIN: "min",
}


@case
def scatter_elements(r: Random) -> Case:
    x, axis = floats(r, 3, 4), int(r.integers(0, 2))
    how = list(_REDUCTIONS)[int(r.integers(0, 5))]
    p = np.stack([r.permutation(x.shape[axis])[:2] for _ in range(2)], 1 - axis)
    u = floats(r, *p.shape)
    expected = lambda: onnx_results("ScatterElements", [x, p, u], axis=axis, reduction=_REDUCTIONS[how])  # noqa: E731
    return Case(lambda v, q, w: core.scatter_elements(v, q, w, axis, how), {"x": x, "p": p, "u": u}, expected)


@case
def scatter_nd(r: Random) -> Case:
    x = floats(r, 4, 3)
    how = list(_REDUCTIONS)[int(r.integers(0, 5))]
    p = r.permutation(4)[:2].reshape(2, 1)
    u = floats(r, 2, 3)
    expected = lambda: onnx_results("ScatterND", [x, p, u], reduction=_REDUCTIONS[how])  # noqa: E731
    return Case(lambda v, q, w: core.scatter_nd(v, q, w, how), {"x": x, "p": p, "u": u}, expected)


@case
def one_hot(r: Random) -> Case:
    p = r.integers(0, 4, sizes(r))
    on, off = floats(r), floats(r)
    expected = lambda: np.where(p[..., None] == np.arange(4), on, off)  # noqa: E731
    return Case(lambda v, a, b: core.one_hot(v, a, b, 4), {"p": p, "on": on, "off": off}, expected)


@case
def band_part(r: Random) -> Case:
    x = floats(r, *sizes(r, 2, 4, 2))
    k = int(r.integers(0, 3))
    if chance(r):
        return Case(lambda v: core.band_part(v, -1, k), {"x": x}, lambda: np.tril(x, k))
    return Case(lambda v: core.band_part(v, k, -1), {"x": x}, lambda: np.triu(x, -k))


@case
def non_zero(r: Random) -> Case:
    x = r.integers(0, 2, sizes(r))
    return Case(core.non_zero, {"x": x}, lambda: np.argwhere(x))


def _arg(name: str, expected: Callable[..., Array]) -> None:
    def draw(r: Random) -> Case:
        x = r.integers(0, 4, sizes(r)).astype(np.float32)
        axis, keep = int(r.integers(-x.ndim, x.ndim)), chance(r)
        return Case(lambda v: getattr(core, name)(v, axis, keep), {"x": x}, lambda: expected(x, axis, keepdims=keep))

    CASES[f"core.{name}"] = draw


_arg("arg_max", np.argmax)
_arg("arg_min", np.argmin)


@case
def top_k(r: Random) -> Case:
    x = r.integers(0, 9, (3, 5)).astype(np.float32)
    axis, largest = int(r.integers(0, 2)), chance(r)
    k = np.array([2])
    expected = lambda: onnx_results("TopK", [x, k], 2, axis=axis, largest=int(largest))  # noqa: E731
    return Case(lambda v: core.top_k(v, 2, axis, largest), {"x": x}, expected)


@case
def argsort(r: Random) -> Case:
    x = r.integers(0, 4, (3, 5)).astype(np.float32)
    axis = int(r.integers(0, 2))
    return Case(lambda v: core.argsort(v, axis), {"x": x}, lambda: np.argsort(x, axis, kind="stable"))


# -- reductions


def _reduce(name: str, expected: Callable[..., Array]) -> None:
    def draw(r: Random) -> Case:
        x = floats(r, *sizes(r, 1, 5))
        axes = tuple(int(a) for a in r.permutation(x.ndim)[: int(r.integers(1, x.ndim + 1))])
        keep = chance(r)
        build = lambda v: getattr(core, name)(v, axes, keep)  # noqa: E731
        return Case(build, {"x": x}, lambda: expected(x, axis=axes, keepdims=keep))

    CASES[f"core.{name}"] = draw


for _name, _expected in (
    ("reduce_sum", np.sum),
    ("reduce_mean", np.mean),
    ("reduce_max", np.max),
    ("reduce_min", np.min),
    ("reduce_prod", np.prod),
):
    _reduce(_name, _expected)


@case
def cumsum(r: Random) -> Case:
    x = floats(r, *sizes(r, 1, 4))
    axis, exclusive, reverse_ = int(r.integers(0, x.ndim)), chance(r), chance(r)
    expected = lambda: onnx_results(  # noqa: E731
        "CumSum", [x, np.array(axis)], exclusive=int(exclusive), reverse=int(reverse_)
    )
    return Case(lambda v: core.cumsum(v, axis, exclusive, reverse_), {"x": x}, expected)


@case
def cumprod(r: Random) -> Case:
    x = floats(r, *sizes(r, 1, 4))
    axis, exclusive, reverse_ = int(r.integers(0, x.ndim)), chance(r), chance(r)

    def expected() -> Array:
        turned = np.flip(x, axis) if reverse_ else x
        y = np.cumprod(turned, axis)
        if exclusive:
            ones = np.ones_like(np.take(y, [0], axis))
            y = np.concatenate([ones, np.take(y, range(x.shape[axis] - 1), axis)], axis)
        return np.flip(y, axis) if reverse_ else y

    return Case(lambda v: core.cumprod(v, axis, exclusive, reverse_), {"x": x}, expected)


def _softmax(x: Array, axis: int) -> Array:
    powers = np.exp(x - x.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


@case
def softmax(r: Random) -> Case:
    x = floats(r, *sizes(r))
    axis = int(r.integers(-x.ndim, x.ndim))
    return Case(lambda v: core.softmax(v, axis), {"x": x}, lambda: _softmax(x, axis))


@case
def log_softmax(r: Random) -> Case:
    x = floats(r, *sizes(r))
    axis = int(r.integers(-x.ndim, x.ndim))
    return Case(lambda v: core.log_softmax(v, axis), {"x": x}, lambda: np.log(_softmax(x, axis)))


# -- contractions


@case
def matmul(r: Random) -> Case:
    m, k, n = (int(v) for v in r.integers(1, 6, 3))
    batch_a, batch_b = broadcast_pair(r) if chance(r) else ([], [])
    turn_a, turn_b = chance(r), chance(r)
    a, b = floats(r, *batch_a, m, k), floats(r, *batch_b, k, n)
    given_a, given_b = np.swapaxes(a, -1, -2) if turn_a else a, np.swapaxes(b, -1, -2) if turn_b else b
    build = lambda u, v: core.matmul(u, v, turn_a, turn_b)  # noqa: E731
    return Case(build, {"a": given_a.copy(), "b": given_b.copy()}, lambda: a @ b)


@case
def linear(r: Random) -> Case:
    m, k, n = (int(v) for v in r.integers(1, 6, 3))
    x, w, b = floats(r, *sizes(r, 0, 3), m, k), floats(r, n, k), floats(r, n)
    return Case(core.linear, {"x": x, "w": w, "b": b}, lambda: x @ w.T + b)


_EQUATIONS = ("ij,jk->ik", "bij,bkj->bik", "ij,ij->i", "i,j->ij", "bhi,hij->bhj", "ij,jk,kl->il", "ij->j", "ii->i")


@case
def einsum(r: Random) -> Case:
    equation = str(r.choice(_EQUATIONS))
    extents = {i: int(r.integers(1, 5)) for i in "bhijkl"}
    xs = [floats(r, *(extents[i] for i in term)) for term in equation.partition("->")[0].split(",")]
    build = lambda *vs: core.einsum(vs, equation)  # noqa: E731
    return Case(build, {f"x{n}": x for n, x in enumerate(xs)}, lambda: np.einsum(equation, *xs))


# -- normalizations


def _normalized(x: Array, axes: tuple[int, ...], epsilon: float) -> Array:
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + epsilon)


@case
def layer_norm(r: Random) -> Case:
    x = floats(r, *sizes(r, 1, 4, 2))
    axes = (-1,) if chance(r) else tuple(range(x.ndim))
    scale, bias = (floats(r, *[x.shape[a] for a in axes]) for _ in range(2))
    build = lambda v, a, b: core.layer_norm(v, a, b, axes, 1e-3)  # noqa: E731
    return Case(build, {"x": x, "scale": scale, "bias": bias}, lambda: _normalized(x, axes, 1e-3) * scale + bias)


@case
def rms_norm(r: Random) -> Case:
    x = floats(r, *sizes(r, 1, 4, 2))
    scale = floats(r, x.shape[-1])
    expected = lambda: x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-3) * scale  # noqa: E731
    return Case(lambda v, a: core.rms_norm(v, a, (-1,), 1e-3), {"x": x, "scale": scale}, expected)


@case
def l2_norm(r: Random) -> Case:
    x = floats(r, *sizes(r, 1, 4, 2))
    expected = lambda: x / np.sqrt((x * x).sum(-1, keepdims=True) + 1e-3)  # noqa: E731
    return Case(lambda v: core.l2_norm(v, (-1,), 1e-3), {"x": x}, expected)


@case
def batch_norm(r: Random) -> Case:
    x = floats(r, *sizes(r, 2, 5))
    mean, scale, bias = (floats(r, x.shape[1]) for _ in range(3))
    variance = floats(r, x.shape[1]) ** 2
    wide = [1, -1] + [1] * (x.ndim - 2)
    m, v, s, b = (p.reshape(wide) for p in (mean, variance, scale, bias))
    arrays = {"x": x, "mean": mean, "variance": variance, "scale": scale, "bias": bias}
    build = lambda u, p, q, a, c: core.batch_norm(u, p, q, a, c, 1e-3)  # noqa: E731
    return Case(build, arrays, lambda: (x - m) / np.sqrt(v + 1e-3) * s + b)


@case
def instance_norm(r: Random) -> Case:
    x = floats(r, *sizes(r, 3, 5, 2))
    scale, bias = floats(r, x.shape[1]), floats(r, x.shape[1])
    wide = [1, -1] + [1] * (x.ndim - 2)
    expected = lambda: (  # noqa: E731
        _normalized(x, tuple(range(2, x.ndim)), 1e-3) * scale.reshape(wide) + bias.reshape(wide)
    )
    return Case(lambda v, a, b: core.instance_norm(v, a, b, 1e-3), {"x": x, "scale": scale, "bias": bias}, expected)


@case
def group_norm(r: Random) -> Case:
    x = floats(r, 2, 6, *sizes(r, 1, 3, 2))
    groups, scale, bias = int(r.choice([1, 2, 3, 6])), floats(r, 6), floats(r, 6)
    wide = [1, -1] + [1] * (x.ndim - 2)
    expected = lambda: (  # noqa: E731
        _normalized(x.reshape(2, groups, -1), (2,), 1e-3).reshape(x.shape) * scale.reshape(wide) + bias.reshape(wide)
    )
    build = lambda v, a, b: core.group_norm(v, a, b, groups, 1e-3)  # noqa: E731
    return Case(build, {"x": x, "scale": scale, "bias": bias}, expected)


@case
def attention(r: Random) -> Case:
    lead = sizes(r, 0, 3)
    queries, keys, e, width = (int(n) for n in r.integers(1, 5, 4))
    q, k, v = floats(r, *lead, queries, e), floats(r, *lead, keys, e), floats(r, *lead, keys, width)
    mask = floats(r, queries, keys)
    expected = lambda: _softmax(q @ np.swapaxes(k, -1, -2) / math.sqrt(e) + mask, -1) @ v  # noqa: E731
    return Case(core.attention, {"q": q, "k": k, "v": v, "mask": mask}, expected)


@case
def rotary_embedding(r: Random) -> Case:
    n, heads, length, pairs = (int(n) for n in r.integers(1, 4, 4))
    x, cos, sin = floats(r, n, heads, length, 2 * pairs + 1), floats(r, n, length, pairs), floats(r, n, length, pairs)
    a, b, c, s = x[..., :pairs], x[..., pairs:-1], cos[:, None], sin[:, None]
    expected = lambda: np.concatenate([a * c - b * s, a * s + b * c, x[..., -1:]], -1)  # noqa: E731
    return Case(core.rotary_embedding, {"x": x, "cos": cos, "sin": sin}, expected)


# -- constants


@case
def iota(r: Random) -> Case:
    shape = tuple(sizes(r))
    axis = int(r.integers(0, len(shape)))
    return Case(lambda: core.iota(shape, axis), {}, lambda: np.indices(shape)[axis])


@case
def range_(r: Random) -> Case:
    start, limit, step = int(r.integers(0, 4)), int(r.integers(4, 9)), int(r.integers(1, 3))
    arrays = {"start": np.array(start), "limit": np.array(limit), "step": np.array(step)}
    return Case(core.range, arrays, lambda: np.arange(start, limit, step))


@case
def shape_of(r: Random) -> Case:
    x = floats(r, *sizes(r))
    return Case(core.shape_of, {"x": x}, lambda: np.array(x.shape))


@case
def dim(r: Random) -> Case:
    x = floats(r, *sizes(r))
    return Case(lambda v: core.dim(v, 0), {"x": x}, lambda: np.array(x.shape[0]))


@case
def dims(r: Random) -> Case:
    values = tuple(sizes(r))
    return Case(lambda: core.dims(values), {}, lambda: np.array(values))


@case
def constant(r: Random) -> Case:
    values = tuple(sizes(r))
    return Case(lambda: core.vector(values), {}, lambda: np.array(values))


STRUCTURE = frozenset({"core.if", "core.while", "core.call", "core.require", "core.yield"})
"""Operations tested in `test_control.py`."""
