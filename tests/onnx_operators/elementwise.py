"""Operators on each element by itself, with broadcasting."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from tests.onnx_operators.drawing import Case, Draw, Recipe

_UNARY = [
    "Abs",
    "Acos",
    "Acosh",
    "Asin",
    "Asinh",
    "Atan",
    "Atanh",
    "Ceil",
    "Cos",
    "Cosh",
    "Elu",
    "Erf",
    "Exp",
    "Floor",
    "HardSigmoid",
    "HardSwish",
    "Identity",
    "LeakyRelu",
    "Log",
    "Mish",
    "Neg",
    "Reciprocal",
    "Relu",
    "Round",
    "Selu",
    "Sigmoid",
    "Sign",
    "Sin",
    "Sinh",
    "Softplus",
    "Softsign",
    "Sqrt",
    "Tan",
    "Tanh",
    "ThresholdedRelu",
    "Celu",
    "Shrink",
    "Gelu",
]
_SIGNED_TOO = {"Abs", "Neg", "Sign", "Relu", "Identity"}
_SINCE = {"HardSwish": 14, "Mish": 18, "Celu": 12, "Gelu": 20, "Asinh": 9, "Acosh": 9, "Atanh": 9, "Cosh": 9, "Sinh": 9,
          "Sign": 9, "Erf": 9, "Round": 11, "Shrink": 9, "ThresholdedRelu": 10}  # fmt: skip
_ATTRIBUTES = {
    "Elu": ("alpha",), "HardSigmoid": ("alpha", "beta"), "LeakyRelu": ("alpha",), "Selu": ("alpha", "gamma"),
    "ThresholdedRelu": ("alpha",), "Celu": ("alpha",), "Shrink": ("lambd", "bias"),
}  # fmt: skip
_OPSETS = (7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22)


def opset(d: Draw, since: int = 7) -> int:
    """A version of the operator set from one on."""
    return max(since, d.among(*_OPSETS))


def unary(d: Draw) -> Case:
    name = d.among(*_UNARY)
    version = opset(d, _SINCE.get(name, 7))
    dtype = d.among("f4", "f4", "f8", "i4", "i8", "i1") if name in _SIGNED_TOO else d.among("f4", "f4", "f8")
    x = d.special(d.shape(), dtype) if np.dtype(dtype).kind == "f" else d.numbers(d.shape(), dtype)
    inputs = [a for a in _ATTRIBUTES.get(name, ()) if d.chance(0.6)]
    attributes: dict[str, object] = {a: d.integer(1, 12) / 8 for a in inputs}
    if name == "Gelu" and d.chance(0.5):
        attributes["approximate"] = "tanh"
    return Case(name, [x], attributes, opset=version)


def binary(d: Draw) -> Case:
    name = d.among("Add", "Sub", "Mul", "Div", "Pow", "PRelu")
    dtype = d.among("f4", "f4", "f8", "i4", "i8", "u1" if name == "Div" else "i4")
    shape = d.shape()
    x, y = d.numbers(shape, dtype), d.numbers(d.beside(shape), dtype)
    if name == "PRelu":
        return Case(name, [x, y], opset=opset(d, 9))
    if name == "Div" and np.dtype(dtype).kind != "f":
        y = np.where(y == 0, np.ones_like(y), y)
    if name == "Pow":
        x, y = np.abs(x) if d.chance(0.5) else x, d.numbers(y.shape, d.among("f4", "i4", "i8"), 0, 3)
        return Case(name, [x, y], opset=opset(d, 12))
    if d.chance(0.5) and y.ndim == x.ndim:
        x, y = y, x
        if name == "Div" and np.dtype(dtype).kind != "f":
            y = np.where(y == 0, np.ones_like(y), y)
    return Case(name, [x, y], opset=opset(d, 14))


def extreme_integers(d: Draw) -> Case:
    name, dtype = d.among("Add", "Sub", "Mul", "Abs", "Neg", "BitShift", "Mod", "Div"), d.among("i4", "i8")
    info = np.iinfo(dtype)
    values = np.array([info.min, info.max, 0, -1, 1, 7], dtype)
    x = d.random.choice(values, (5,))
    if name in ("Abs", "Neg"):
        return Case(name, [x], opset=13)
    if name == "BitShift":
        unsigned = d.among("u1", "u4", "u8")
        bits = np.iinfo(unsigned).bits
        return Case(name, [d.numbers((5,), unsigned, 0, 127), d.numbers((5,), unsigned, 0, bits - 1)],
                    {"direction": d.among("LEFT", "RIGHT")}, opset=11)  # fmt: skip
    y = d.random.choice(values, (5,))
    if name in ("Mod", "Div"):
        y = np.where((y == 0) | (y == -1), np.array(3, dtype), y)
    return Case(name, [x, y], {"fmod": d.integer(0, 1)} if name == "Mod" else {}, opset=14)


def mod(d: Draw) -> Case:
    dtype = d.among("i1", "u1", "i2", "i4", "i8", "f4", "f8", "u4", "u8")
    shape = d.shape()
    x, y = d.numbers(shape, dtype), d.numbers(d.beside(shape), dtype)
    y = np.where(y == 0, np.ones_like(y), y)
    return Case("Mod", [x, y], {"fmod": 1 if np.dtype(dtype).kind == "f" else d.integer(0, 1)}, opset=opset(d, 10))


def comparison(d: Draw) -> Case:
    name = d.among("Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual")
    dtype = d.among("f4", "f8", "i4", "i8", "?" if name == "Equal" else "f4")
    shape = d.shape()
    x, y = d.numbers(shape, dtype, -2, 2), d.numbers(d.beside(shape), dtype, -2, 2)
    if dtype == "f4" and d.chance(0.3):
        x = d.special(shape)
    return Case(name, [x, y], opset=opset(d, 12))


def texts(d: Draw) -> Case:
    shape = d.shape()
    words = np.array(["", "a", "b", "A", "é", "long word", " a"], object)
    x, y = d.random.choice(words, shape), d.random.choice(words, d.beside(shape))
    x, y = np.asarray(x, object), np.asarray(y, object)
    return d.among(
        Case("Equal", [x, y], opset=19),
        Case("StringConcat", [x, y], opset=20),
        Case("RegexFullMatch", [x], {"pattern": d.among("a", "[ab]", ".*a", "")}, opset=20),
        Case("StringNormalizer", [d.random.choice(words, (d.integer(1, 5),))],
             {"case_change_action": d.among("LOWER", "UPPER", "NONE"), "is_case_sensitive": 1, "stopwords": ["a"]},
             opset=10),
        Case("StringSplit", [x], {"delimiter": " "} | ({"maxsplit": 1} if d.chance(0.5) else {}), 2, opset=20),
    )  # fmt: skip


def logic(d: Draw) -> Case:
    shape = d.shape()
    x, y = d.numbers(shape, "?"), d.numbers(d.beside(shape), "?")
    if d.chance(0.2):
        return Case("Not", [x], opset=opset(d))
    if d.chance(0.4):
        dtype = d.among("u1", "i1", "i4", "u8", "i8", "u2")
        a, b = d.numbers(shape, dtype, -100, 100), d.numbers(d.beside(shape), dtype, -100, 100)
        if d.chance(0.2):
            return Case("BitwiseNot", [a], opset=18)
        return Case(d.among("BitwiseAnd", "BitwiseOr", "BitwiseXor"), [a, b], opset=18)
    return Case(d.among("And", "Or", "Xor"), [x, y], opset=opset(d))


def several(d: Draw) -> Case:
    name = d.among("Max", "Min", "Sum", "Mean")
    shape = d.shape()
    dtype = d.among("f4", "f4", "f8", *(("i4", "i8", "u1") if name in ("Max", "Min") else ()))
    inputs = [d.numbers(shape, dtype), *[d.numbers(d.beside(shape), dtype) for _ in range(d.integer(0, 3))]]
    if name in ("Max", "Min") and dtype == "f4" and d.chance(0.3):
        inputs = [d.special(x.shape) for x in inputs]
    return Case(name, inputs, opset=opset(d, 8 if dtype[0] == "f" else 12))


def where(d: Draw) -> Case:
    shape = d.shape()
    dtype = d.among("f4", "i8", "u1", "f8", "?")
    return Case(
        "Where",
        [d.numbers(d.beside(shape), "?"), d.numbers(shape, dtype), d.numbers(d.beside(shape), dtype)],
        opset=opset(d, 9),
    )


def clip(d: Draw) -> Case:
    dtype = d.among("f4", "f4", "f8", "i4", "i8", "u1", "i1")
    x = d.special(d.shape()) if dtype == "f4" and d.chance(0.4) else d.numbers(d.shape(), dtype)
    bounds = [None if d.chance(0.3) else d.numbers((), dtype) for _ in range(2)]
    if dtype == "f4" and d.chance(0.2):
        return Case(
            "Clip", [x], {k: d.integer(-16, 16) / 8 for k in ("min", "max") if d.chance(0.7)}, opset=d.among(7, 10)
        )
    return Case("Clip", [x, *bounds], opset=opset(d, 12), constants=(1, 2))


def cast(d: Draw) -> Case:
    source = d.among("f4", "f4", "f8", "f2", "i4", "i8", "u1", "i1", "u2", "?", "u8", "u4", "i2")
    kinds = [
        "FLOAT",
        "DOUBLE",
        "FLOAT16",
        "INT8",
        "UINT8",
        "INT16",
        "UINT16",
        "INT32",
        "UINT32",
        "INT64",
        "UINT64",
        "BOOL",
        "STRING",
    ]
    x = d.numbers(d.shape(), source, -100, 100)
    if source in ("f4", "f8") and d.chance(0.3):
        x = (x * np.asarray(d.among(1e-3, 1e3, 1e6))).astype(source)
    to = d.among(*kinds)
    if np.dtype(source).kind == "f" and to.startswith("U"):
        x = np.abs(x) % 200
    return Case("Cast", [x], {"to": getattr(TensorProto, to)}, opset=opset(d, 13))


def cast_text(d: Draw) -> Case:
    words = d.among(["1", "-2", "30"], ["1.5", "-2e3", "inf"], ["NaN", "0.1", "-INF"])
    to = d.among("FLOAT", "DOUBLE") if "." in "".join(words) or "NaN" in words else d.among("INT64", "INT32", "FLOAT")
    return Case("Cast", [np.array(words, object)], {"to": getattr(TensorProto, to)}, opset=13)


def is_special(d: Draw) -> Case:
    x = d.special(d.shape(), d.among("f4", "f8"))
    if d.chance(0.5):
        return Case("IsNaN", [x], opset=opset(d, 9))
    keys = [k for k in ("detect_negative", "detect_positive") if d.chance(0.7)]
    return Case("IsInf", [x], {k: d.integer(0, 1) for k in keys}, opset=opset(d, 10))


def round_half(d: Draw) -> Case:
    return Case("Round", [d.numbers(d.shape(), d.among("f4", "f8"), -20, 20) * 4], opset=11)


def dropout(d: Draw) -> Case:
    x = d.numbers(d.shape())
    if d.chance(0.4):
        return Case("Dropout", [x], {"ratio": 0.5} if d.chance(0.5) else {}, opset=d.among(10, 7))
    ratio = None if d.chance(0.3) else np.array(0.5, "f4")
    return Case("Dropout", [x, ratio, *([np.array(False)] if d.chance(0.5) else [])], {}, d.integer(1, 2), opset(d, 12))


RECIPES: tuple[Recipe, ...] = (
    unary,
    unary,
    unary,
    binary,
    binary,
    extreme_integers,
    mod,
    comparison,
    texts,
    logic,
    several,
    where,
    clip,
    cast,
    cast_text,
    is_special,
    round_half,
    dropout,
)
