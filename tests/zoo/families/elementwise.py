"""Elementwise operations of one and two operands, activations, selection and casts."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from tests.zoo.families.sheet import Sheet, mb

Real = NDArray[np.float64]

UNARY: Mapping[str, Callable[[Real], Real]] = {
    "abs": np.abs,
    "atan": np.arctan,
    "ceil": np.ceil,
    "cos": np.cos,
    "cosh": np.cosh,
    "exp": np.exp,
    "exp2": np.exp2,
    "floor": np.floor,
    "round": np.rint,
    "sign": np.sign,
    "sin": np.sin,
    "sinh": np.sinh,
    "square": np.square,
    "tan": np.tan,
    "tanh": np.tanh,
}
WITHIN_ONE: Mapping[str, Callable[[Real], Real]] = {"acos": np.arccos, "asin": np.arcsin, "atanh": np.arctanh}
BINARY: Mapping[str, Callable[[Real, Real], Real]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "real_div": np.divide,
    "floor_div": np.floor_divide,
    "mod": np.mod,
    "maximum": np.maximum,
    "minimum": np.minimum,
}
COMPARISONS: Mapping[str, Callable[[Real, Real], NDArray[np.bool_]]] = {
    "equal": np.equal,
    "not_equal": np.not_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "less": np.less,
    "less_equal": np.less_equal,
}
LOGICAL: Mapping[str, Callable[[NDArray[np.bool_], NDArray[np.bool_]], NDArray[np.bool_]]] = {
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
}


def as_torch(x: Real) -> torch.Tensor:
    """Return a torch tensor in double precision."""
    return torch.from_numpy(np.ascontiguousarray(x))


def unary(sheet: Sheet) -> None:
    """Elementwise operations of one operand."""
    x, a = sheet.input("x")
    small, b = sheet.input("within_one")
    positive, c = sheet.input("positive")
    for name, function in UNARY.items():
        sheet.out(name, mb.named(name)(x=x), function(a))
    for name, function in WITHIN_ONE.items():
        sheet.out(name, mb.named(name)(x=small), function(b))
    sheet.out("erf", mb.erf(x=x), torch.erf(as_torch(a)))
    sheet.out("sqrt", mb.sqrt(x=positive), np.sqrt(c))
    sheet.out("log", mb.log(x=positive, epsilon=sheet.number(0.25)), np.log(c + 0.25))
    sheet.out("rsqrt", mb.rsqrt(x=positive, epsilon=sheet.number(0.25)), 1 / np.sqrt(c + 0.25))
    sheet.out("inverse", mb.inverse(x=positive, epsilon=sheet.number(0.25)), 1 / (c + 0.25))
    sheet.out("inverse_default", mb.inverse(x=positive), 1 / (c + 1e-4))
    sheet.out("clip", mb.clip(x=x, alpha=sheet.number(-0.5), beta=sheet.number(1.0)), np.clip(a, -0.5, 1.0))
    sheet.out("threshold", mb.threshold(x=x, alpha=sheet.number(0.25)), np.maximum(a, 0.25))
    sheet.out("logical_not", mb.logical_not(x=mb.greater(x=x, y=sheet.number(0.0))), ~(a > 0))
    sheet.out("cast_int32", mb.cast(x=x, dtype="int32"), np.trunc(a))
    sheet.out("cast_bool", mb.cast(x=mb.floor(x=x), dtype="bool"), np.floor(a) != 0)
    if sheet.has_mixed_types:
        sheet.out("cast_int8", mb.cast(x=x, dtype="int8"), np.trunc(a))
        sheet.out("cast_uint16", mb.cast(x=positive, dtype="uint16"), np.trunc(c))


def binary(sheet: Sheet) -> None:
    """Elementwise operations of two operands, with broadcasting, on floats and integers."""
    x, a = sheet.input("x")
    y, b = sheet.input("y")
    positive, c = sheet.input("positive")
    for name, function in BINARY.items():
        sheet.out(name, mb.named(name)(x=x, y=y), function(a, b))
    for name, compare in COMPARISONS.items():
        sheet.out(name, mb.named(name)(x=mb.floor(x=x), y=mb.floor(x=y)), compare(np.floor(a), np.floor(b)))
    sheet.out("pow", mb.pow(x=positive, y=y), np.power(c, b))
    for name, combine in LOGICAL.items():
        left, right = mb.greater(x=x, y=sheet.number(0.0)), mb.greater(x=y, y=sheet.number(0.0))
        sheet.out(name, mb.named(name)(x=left, y=right), combine(a > 0, b > 0))
    n, i = sheet.integers("n")
    m, j = sheet.integers("m")
    for name in ("add", "sub", "mul", "maximum", "minimum", "floor_div", "mod"):
        sheet.out(f"{name}_int32", mb.named(name)(x=n, y=m), BINARY[name](i.astype(np.float64), j.astype(np.float64)))
    sheet.out("select", mb.select(cond=mb.less(x=x, y=y), a=x, b=positive), np.where(a < b, a, c))


def activation(sheet: Sheet) -> None:
    """Activation functions."""
    x, a = sheet.input("x")
    t, n = as_torch(a), sheet.number
    sheet.out("relu", mb.relu(x=x), functional.relu(t))
    sheet.out("relu6", mb.relu6(x=x), functional.relu6(t))
    sheet.out("elu", mb.elu(x=x, alpha=n(0.75)), functional.elu(t, 0.75))
    sheet.out("leaky_relu", mb.leaky_relu(x=x, alpha=n(0.25)), functional.leaky_relu(t, 0.25))
    sheet.out(
        "clamped_relu", mb.clamped_relu(x=x, alpha=n(0.25), beta=n(1.5)), np.where(a < 0, 0.25 * a, np.minimum(a, 1.5))
    )
    sheet.out("thresholded_relu", mb.thresholded_relu(x=x, alpha=n(0.5)), np.where(a >= 0.5, a, 0))
    sheet.out("linear_activation", mb.linear_activation(x=x, alpha=n(2.0), beta=n(-1.0)), 2 * a - 1)
    sheet.out("scaled_tanh", mb.scaled_tanh(x=x, alpha=n(1.5), beta=n(0.5)), 1.5 * np.tanh(0.5 * a))
    sheet.out("sigmoid", mb.sigmoid(x=x), torch.sigmoid(t))
    sheet.out("sigmoid_hard", mb.sigmoid_hard(x=x, alpha=n(0.25), beta=n(0.5)), np.clip(0.25 * a + 0.5, 0, 1))
    sheet.out("silu", mb.silu(x=x), functional.silu(t))
    sheet.out("softplus", mb.softplus(x=x), functional.softplus(t))
    sheet.out("softsign", mb.softsign(x=x), functional.softsign(t))
    sheet.out("gelu", mb.gelu(x=x, mode="EXACT"), functional.gelu(t))
    sheet.out("gelu_tanh", mb.gelu(x=x, mode="TANH_APPROXIMATION"), functional.gelu(t, approximate="tanh"))
    sheet.out("gelu_sigmoid", mb.gelu(x=x, mode="SIGMOID_APPROXIMATION"), t * torch.sigmoid(1.702 * t))
    sheet.out("softmax", mb.softmax(x=x, axis=1), functional.softmax(t, 1))
    slopes = [0.5, 0.25, -0.5]
    column = np.reshape(slopes, (3, 1, 1))
    sheet.out("prelu", mb.prelu(x=x, alpha=n(slopes)), np.where(a < 0, column * a, a))
    scales = [1.0, 2.0, 0.5]
    softened = column * np.log1p(np.exp(np.reshape(scales, (3, 1, 1)) * a))
    sheet.out("softplus_parametric", mb.softplus_parametric(x=x, alpha=n(slopes), beta=n(scales)), softened)
