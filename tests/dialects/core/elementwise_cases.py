"""Elementwise operations and activations: oracles are numpy in double precision, Python's integers, and onnxruntime."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.arrays import dtype_of
from commonir.ir.types import ELEMENT_TYPES

from tests.dialects.core.drawing import Case, Draw, precision
from tests.dialects.core.single_models import in_single_precision

Array = NDArray[Any]
Maker = Callable[[Draw], Case]

FLOATS = ("f32", "f32", "f16", "bf16", "f64")
SIGNED = (*FLOATS, "i32", "i64", "i8")
REALS = (*SIGNED, "ui8")

# Name, function of doubles, least and largest argument, element types.
_UNARY: tuple[tuple[str, Callable[..., Any], float, float, tuple[str, ...]], ...] = (
    ("neg", np.negative, -4, 4, SIGNED),
    ("abs", np.absolute, -4, 4, SIGNED),
    ("sign", np.sign, -2, 2, SIGNED),
    ("exp", np.exp, -4, 4, FLOATS),
    ("exp2", np.exp2, -4, 4, FLOATS),
    ("log", np.log, 0.01, 4, FLOATS),
    ("sqrt", np.sqrt, 0, 4, FLOATS),
    ("sin", np.sin, -4, 4, FLOATS),
    ("cos", np.cos, -4, 4, FLOATS),
    ("tan", np.tan, -1.2, 1.2, FLOATS),
    ("asin", np.arcsin, -0.9, 0.9, FLOATS),
    ("acos", np.arccos, -0.9, 0.9, FLOATS),
    ("atan", np.arctan, -4, 4, FLOATS),
    ("sinh", np.sinh, -4, 4, FLOATS),
    ("cosh", np.cosh, -4, 4, FLOATS),
    ("tanh", np.tanh, -4, 4, FLOATS),
    ("asinh", np.arcsinh, -4, 4, FLOATS),
    ("acosh", np.arccosh, 1.1, 4, FLOATS),
    ("atanh", np.arctanh, -0.9, 0.9, FLOATS),
    ("erf", np.vectorize(math.erf, otypes=[np.float64]), -4, 4, FLOATS),
    ("floor", np.floor, -4, 4, FLOATS),
    ("ceil", np.ceil, -4, 4, FLOATS),
    ("round", np.rint, -4, 4, FLOATS),
    ("truncate", np.trunc, -4, 4, FLOATS),
    ("rsqrt", lambda x: 1 / np.sqrt(x), 0.1, 4, FLOATS),
    ("reciprocal", lambda x: 1 / x, 0.1, 4, FLOATS),
)


def _unary(fn: Callable[..., Any], low: float, high: float, elements: tuple[str, ...]) -> Maker:
    def make(draw: Draw) -> Case:
        x = draw.array(draw.maybe_empty(), draw.among(*elements), low, high)
        y = np.asarray(fn(x.astype(np.float64))).astype(x.dtype)
        return Case((x,), {}, (y,), precision(x))

    return make


def _bitwise_not(draw: Draw) -> Case:
    x = draw.array(draw.maybe_empty(), draw.among("i32", "i64", "ui8"), -100, 100)
    return Case((x,), {}, (np.invert(x),))


def _logical_not(draw: Draw) -> Case:
    x = draw.array(draw.maybe_empty(), "i1")
    return Case((x,), {}, (np.logical_not(x),))


def _predicate(fn: Callable[[Array], Array]) -> Maker:
    def make(draw: Draw) -> Case:
        x = draw.array(draw.maybe_empty(), draw.among("f32", "f16", "bf16"))
        x[draw.array(x.shape, "i1")] = draw.among(np.nan, np.inf, -np.inf)
        return Case((x,), {}, (fn(x.astype(np.float64)),))

    return make


def _true_quotient(a: Any, b: Any) -> Any:
    """Division of doubles; of Python integers, toward zero."""
    return a / b if isinstance(a, float) else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _rest(a: Any, b: Any) -> Any:
    return math.fmod(a, b)


def _shifted_left(a: int, b: int) -> int:
    """32 bits of a number shifted; nothing is left of one shifted too far."""
    low = (a << b) % 2**32 if 0 <= b < 32 else 0
    return low - 2**32 if low >= 2**31 else low


# Name, function of Python numbers, element types, least and largest second operand, whether it may be zero.
_BINARY: tuple[tuple[str, Callable[[Any, Any], Any], tuple[str, ...], float, float, bool], ...] = (
    ("add", lambda a, b: a + b, REALS, -4, 4, True),
    ("sub", lambda a, b: a - b, SIGNED, -4, 4, True),
    ("mul", lambda a, b: a * b, REALS, -4, 4, True),
    ("div", _true_quotient, REALS, -3, 3, False),
    ("floor_div", lambda a, b: a // b, REALS, -3, 3, False),
    ("mod", lambda a, b: a % b, REALS, -3, 3, False),
    ("remainder", _rest, REALS, -3, 3, False),
    ("pow", lambda a, b: a**b, REALS, 0, 3, True),
    ("maximum", max, REALS, -4, 4, True),
    ("minimum", min, REALS, -4, 4, True),
    ("bitwise_and", lambda a, b: a & b, ("i32", "i64", "ui8"), -100, 100, True),
    ("bitwise_or", lambda a, b: a | b, ("i32", "i64", "ui8"), -100, 100, True),
    ("bitwise_xor", lambda a, b: a ^ b, ("i32", "i64", "ui8"), -100, 100, True),
    ("shift_left", _shifted_left, ("i32",), -3, 40, True),
    ("shift_right", lambda a, b: a >> b if b >= 0 else -(a < 0), ("i32", "i64", "ui8"), -3, 80, True),
    ("logical_and", lambda a, b: a and b, ("i1",), 0, 1, True),
    ("logical_or", lambda a, b: a or b, ("i1",), 0, 1, True),
    ("logical_xor", lambda a, b: a != b, ("i1",), 0, 1, True),
)
_COMPARISONS: tuple[tuple[str, Callable[[Any, Any], Any], tuple[str, ...]], ...] = (
    ("equal", lambda a, b: a == b, (*REALS, "i1")),
    ("not_equal", lambda a, b: a != b, (*REALS, "i1")),
    ("less", lambda a, b: a < b, REALS),
    ("less_equal", lambda a, b: a <= b, REALS),
    ("greater", lambda a, b: a > b, REALS),
    ("greater_equal", lambda a, b: a >= b, REALS),
)


def _each(fn: Callable[..., Any], dtype: Any, *arrays: Array) -> Array:
    """A function of Python numbers applied element by element, operands broadcast by numpy."""
    wide = [x if x.dtype.kind in "biu" else x.astype(np.float64) for x in arrays]
    spread = np.broadcast_arrays(*wide)
    values = [fn(*row) for row in zip(*[x.ravel().tolist() for x in spread], strict=True)]
    return np.asarray(values).astype(dtype).reshape(spread[0].shape)


def _pair(draw: Draw, element: str, low: float = -4, high: float = 4) -> tuple[Array, Array]:
    shape = draw.maybe_empty()
    one, other = draw.broadcast(shape), shape
    if draw.flag():
        one, other = other, one
    return draw.array(one, element), draw.array(other, element, low, high)


def _binary(
    fn: Callable[[Any, Any], Any], elements: tuple[str, ...], low: float, high: float, zero: bool, base: float = -4
) -> Maker:
    def make(draw: Draw) -> Case:
        element = draw.among(*elements)
        a, b = _pair(draw, element, low, high)
        if base >= 0:
            a = np.abs(a)
        if not zero:
            b = np.where(np.abs(b) < 0.25, np.ones((), b.dtype), b).astype(b.dtype)
        return Case((a, b), {}, (_each(fn, a.dtype, a, b),), precision(a))

    return make


def _comparison(fn: Callable[[Any, Any], Any], elements: tuple[str, ...]) -> Maker:
    def make(draw: Draw) -> Case:
        a, b = _pair(draw, draw.among(*elements))
        a, b = np.rint(a.astype(np.float64)).astype(a.dtype), np.rint(b.astype(np.float64)).astype(b.dtype)
        return Case((a, b), {}, (_each(fn, np.bool_, a, b),))

    return make


def _select(draw: Draw) -> Case:
    shape = draw.maybe_empty()
    element = draw.among("f32", "f16", "i32", "i1", "i64")
    whole = draw.integer(0, 2)
    shapes = [shape if n == whole else draw.broadcast(shape) for n in range(3)]
    c, a, b = draw.array(shapes[0], "i1"), draw.array(shapes[1], element), draw.array(shapes[2], element)
    return Case((c, a, b), {}, (np.where(c, a, b),))


def _cast(draw: Draw) -> Case:
    x = draw.array(draw.maybe_empty(), draw.among(*REALS, "i1"), 0, 3)
    to = draw.among("f32", "f16", "bf16", "i32", "i64", "ui8", "i1", "f64")
    values = x.astype(np.float64)
    y = values != 0 if to == "i1" else np.trunc(values) if to.startswith(("i", "u")) else values
    return Case((x,), {"to": ELEMENT_TYPES[to]}, (y.astype(dtype_of(to)),))


def _activation(op: str, least: float = -5, attributes: Callable[[Draw], dict[str, Any]] | None = None) -> Maker:
    def make(draw: Draw) -> Case:
        x = draw.array(draw.shape(), draw.among("f32", "f32", "f16", "bf16"), least, 5)
        inputs = {} if attributes is None else attributes(draw)
        y = in_single_precision(op, [x], x, **{_ONNX_NAMES.get(k, k): v for k, v in inputs.items()})
        return Case((x,), inputs, (y,), precision(x, 3))

    return make


_ONNX_NAMES = {"approximation": "approximate"}


def _number(draw: Draw, low: float, high: float) -> float:
    return float(np.float32(draw.random.uniform(low, high)))


def _gelu(draw: Draw) -> Case:
    x = draw.array(draw.shape(), draw.among("f32", "f32", "f16", "bf16"))
    form = draw.among("exact", "tanh", "sigmoid")
    if form == "sigmoid":
        wide = x.astype(np.float64)
        y = (wide / (1 + np.exp(-1.702 * wide))).astype(x.dtype)
    else:
        y = in_single_precision("Gelu", [x], x, approximate="tanh" if form == "tanh" else "none")
    return Case((x,), {"approximation": form}, (y,), precision(x, 4))


def _silu(draw: Draw) -> Case:
    x = draw.array(draw.shape(), draw.among("f32", "f16", "f64"))
    wide = x.astype(np.float64)
    return Case((x,), {}, ((wide / (1 + np.exp(-wide))).astype(x.dtype),), precision(x, 3))


def _clip(draw: Draw) -> Case:
    x = draw.array(draw.maybe_empty(), draw.among("f32", "f16", "i32", "i8", "ui8"))
    low, high = draw.among(-np.inf, -2.0, 0.0), draw.among(1.0, 3.0, np.inf)
    y = np.clip(x.astype(np.float64), low, high).astype(x.dtype)
    return Case((x,), {"low": low, "high": high}, (y,))


def _relu(draw: Draw) -> Case:
    x = draw.array(draw.maybe_empty(), draw.among("f32", "f16", "i32", "i8"))
    return Case((x,), {}, (np.where(x > 0, x, np.zeros((), x.dtype)),))


def _prelu(draw: Draw) -> Case:
    x = draw.array(draw.shape(2, 4), draw.among("f32", "f16"))
    slope = draw.array(x.shape[1:2], "f32" if x.dtype == np.float32 else "f16", -1, 1)
    wide = slope.reshape(-1, *[1] * (x.ndim - 2))
    return Case((x, slope), {}, (in_single_precision("PRelu", [x, wide], x),), precision(x))


def _along_axis(op: str) -> Maker:
    def make(draw: Draw) -> Case:
        x = draw.array(draw.shape(1), draw.among("f32", "f32", "f16", "bf16"))
        axis = draw.axis(x.ndim)
        return Case((x,), {"axis": axis}, (in_single_precision(op, [x], x, axis=axis),), precision(x, 4))

    return make


def _alpha(draw: Draw) -> dict[str, Any]:
    return {"alpha": _number(draw, 0.01, 1.5)}


def _line(draw: Draw) -> dict[str, Any]:
    return {"alpha": _number(draw, 0.1, 1), "beta": _number(draw, -1, 1)}


ELEMENTWISE: dict[str, Maker] = {
    **{f"core.{name}": _unary(fn, low, high, elements) for name, fn, low, high, elements in _UNARY},
    **{
        f"core.{name}": _binary(fn, elements, low, high, zero, 0 if name == "pow" else -4)
        for name, fn, elements, low, high, zero in _BINARY
    },
    **{f"core.{name}": _comparison(fn, elements) for name, fn, elements in _COMPARISONS},
    "core.bitwise_not": _bitwise_not,
    "core.logical_not": _logical_not,
    "core.is_nan": _predicate(np.isnan),
    "core.is_inf": _predicate(np.isinf),
    "core.select": _select,
    "core.cast": _cast,
    "core.clip": _clip,
    "core.relu": _relu,
    "core.prelu": _prelu,
    "core.leaky_relu": _activation("LeakyRelu", attributes=_alpha),
    "core.elu": _activation("Elu", attributes=_alpha),
    "core.sigmoid": _activation("Sigmoid"),
    "core.hard_sigmoid": _activation("HardSigmoid", attributes=_line),
    "core.hard_swish": _activation("HardSwish"),
    "core.softplus": _activation("Softplus"),
    "core.mish": _activation("Mish"),
    "core.softsign": _activation("Softsign"),
    "core.silu": _silu,
    "core.gelu": _gelu,
    "core.softmax": _along_axis("Softmax"),
    "core.log_softmax": _along_axis("LogSoftmax"),
}
