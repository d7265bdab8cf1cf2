"""Functions that the scoring operators of ai.onnx.ml share: rows of features, transforms of scores, and labels.

Source: ONNX operator reference, domain ai.onnx.ml; where that is vague, onnxruntime.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from commonir.dialects import core
from commonir.dialects.onnx.base import STRING, element_of, rank_of
from commonir.ir.data import data_of, rounded
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, f32, f64, i32, i64, string
from commonir.notation import NotationError
from commonir.ods import element_type, one_of

REAL = element_type(f32, f64, i32, i64)
LABELS = STRING | element_type(i64)
NUMBERS = element_type(f32, f64, i64)
TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
"""Names of transforms of scores; some operators give their positions here."""
TRANSFORM = one_of(*TRANSFORMS)

NEARLY_ZERO = 1e-7
"""Scores closer to zero count as zero in SOFTMAX_ZERO."""
_WINITZKI = 0.147
"""The constant of the approximation of the inverse error function (Winitzki, 2008)."""


def floats(values: Sequence[float], element: ElementType = f32) -> Value:
    """A constant vector of numbers."""
    return core.constant(data_of(element, (len(values),), [rounded(v, element) for v in values]))


def matrix(values: Sequence[float], rows: int, element: ElementType = f32) -> Value:
    """A constant matrix. Raises: NotationError when the numbers do not fill its rows."""
    if rows <= 0 or len(values) % rows:
        raise NotationError(f"{len(values)} coefficients do not fill {rows} rows")
    numbers = [rounded(v, element) for v in values]
    return core.constant(data_of(element, (rows, len(values) // rows), numbers))


def texts(values: Sequence[str]) -> Value:
    """A constant vector of texts."""
    return core.constant(data_of(string, (len(values),), tuple(values)))


def rows_of(x: Value) -> Value:
    """Rows of features as floating-point numbers; a vector is one row."""
    numbers = x if element_of(x).is_float else core.cast(x, f32)
    if rank_of(numbers) not in (1, 2):
        raise NotationError(f"features of rank {rank_of(numbers)}")
    return core.unsqueeze(numbers, (0,)) if rank_of(numbers) == 1 else numbers


def transformed(scores: Value, transform: str) -> Value:
    """The scores of each row after a transform."""
    match transform:
        case "NONE":
            return scores
        case "SOFTMAX":
            return core.softmax(scores, -1)
        case "LOGISTIC":
            return core.sigmoid(scores)
        case "SOFTMAX_ZERO":
            return _softmax_but_zeros(scores)
        case "PROBIT":
            return _probit(scores)
        case _:
            raise NotationError(f"unknown transform of scores '{transform}'")


def _softmax_but_zeros(scores: Value) -> Value:
    """The softmax over the scores that are not zero; a zero stays zero."""
    is_zero = core.less_equal(core.abs(scores), core.splat(NEARLY_ZERO, scores))
    largest = core.reduce_max(scores, (-1,), True)
    zero = core.splat(0.0, scores)
    powers = core.select(is_zero, zero, core.exp(core.sub(scores, largest)))
    summed = core.reduce_sum(powers, (-1,), True)
    left = core.mul(scores, core.exp(core.neg(largest)))
    return core.div(core.select(is_zero, left, powers), summed)


def _probit(scores: Value) -> Value:
    """The quantile function of the standard normal distribution, approximately."""
    one, two = core.splat(1.0, scores), core.splat(2.0, scores)
    x = core.sub(core.mul(two, scores), one)
    log = core.log(core.mul(core.sub(one, x), core.add(one, x)))
    half = core.add(core.splat(2 / (math.pi * _WINITZKI), scores), core.mul(core.splat(0.5, scores), log))
    inner = core.sub(core.mul(half, half), core.mul(core.splat(1 / _WINITZKI, scores), log))
    root = core.sqrt(core.sub(core.sqrt(inner), half))
    return core.mul(core.mul(core.sign(x), root), core.splat(math.sqrt(2), scores))


def labels_of(ints: Sequence[int] | None, names: Sequence[str] | None) -> tuple[Value, int]:
    """The labels of classes as a constant, and their number; nameless classes have none."""
    if names:
        return texts(names), len(names)
    return core.vector(tuple(ints or ())), len(ints or ())


def chosen(labels: Value, positions: Value) -> Value:
    """The label of each row."""
    return core.gather(labels, positions, 0)


def largest_position(scores: Value) -> Value:
    """The position of the first of the largest scores of each row."""
    return core.arg_max(scores, -1)


def single(scores: Value) -> Value:
    """Scores in single precision."""
    return scores if element_of(scores) is f32 else core.cast(scores, f32)


def of_two_classes(score: Value, transform: str, *, is_probability: bool) -> Value:
    """The scores of two classes from one for the second: what it lacks to 1, or its opposite, and itself.

    Of the transforms only LOGISTIC, which takes the opposite, and PROBIT, which takes a probability, apply.
    """
    opposite = core.neg(score)
    if transform == "LOGISTIC":
        return core.sigmoid(core.concat((opposite, score), 1))
    rest = core.add(opposite, core.splat(1.0, score)) if is_probability or transform == "PROBIT" else opposite
    both = core.concat((rest, score), 1)
    return _probit(both) if transform == "PROBIT" else both
