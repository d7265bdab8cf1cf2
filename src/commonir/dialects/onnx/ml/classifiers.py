"""ONNX linear models and support vector machines.

Source: ONNX operator reference, domain ai.onnx.ml, version 1; where that is vague, onnxruntime.
"""

from __future__ import annotations

from collections.abc import Sequence

from commonir.dialects import core
from commonir.dialects.onnx.base import OnnxOp, element_of, shape_of
from commonir.dialects.onnx.ml.scores import (
    LABELS,
    REAL,
    TRANSFORM,
    chosen,
    floats,
    labels_of,
    largest_position,
    matrix,
    of_two_classes,
    rows_of,
    single,
    transformed,
)
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, i64
from commonir.notation import NotationError
from commonir.ods import attr_types, attribute, one_of, operand, result

KERNEL = one_of("LINEAR", "POLY", "RBF", "SIGMOID")


def _products(x: Value, coefficients: Value, intercepts: Sequence[float] | None) -> Value:
    """x times the rows of coefficients, plus intercepts."""
    scores = core.matmul(x, coefficients, False, True)
    return core.add(scores, floats(intercepts, element_of(x))) if intercepts else scores


class LinearRegressor(OnnxOp, name="onnx.ml.LinearRegressor", since="ml1"):
    """Linear regression: features times coefficients plus intercept for each row and target, after `post_transform`."""

    X: Value = operand("T")
    coefficients: tuple[float, ...] | None = attribute(attr_types.numbers, default=None)
    intercepts: tuple[float, ...] | None = attribute(attr_types.numbers, default=None)
    targets: int = attribute(attr_types.integer, default=1)
    post_transform: str = attribute(attr_types.string, default="NONE", check=TRANSFORM)
    Y: Value = result("f32")
    T = REAL

    def reference(self, X: Value) -> Value:
        x = rows_of(X)
        table = matrix(self.coefficients or (), self.targets, element_of(x))
        return single(transformed(_products(x, table, self.intercepts), self.post_transform))


class LinearClassifier(OnnxOp, name="onnx.ml.LinearClassifier", since="ml1"):
    """Linear classifier: the label with the largest score of each row, and the scores: features times coefficients,
    plus intercepts.

    With a single score (binary classification) the label is the second one, or 1, if the score is positive. With two
    labels the score of the first is then 1 minus that of the second.
    """

    X: Value = operand("T1")
    coefficients: tuple[float, ...] = attribute(attr_types.numbers)
    intercepts: tuple[float, ...] | None = attribute(attr_types.numbers, default=None)
    classlabels_ints: tuple[int, ...] | None = attribute(attr_types.integers, default=None)
    classlabels_strings: tuple[str, ...] | None = attribute(attr_types.strings, default=None)
    multi_class: int = attribute(attr_types.integer, default=0)
    post_transform: str = attribute(attr_types.string, default="NONE", check=TRANSFORM)
    Y: Value = result("T2")
    Z: Value = result("f32")
    T1 = REAL
    T2 = LABELS

    def reference(self, X: Value) -> tuple[Value, ...]:
        x = rows_of(X)
        features = shape_of(x)[1]
        if not isinstance(features, int) or features == 0:
            raise NotationError(f"coefficients for {features} features")
        count = len(self.coefficients) // features
        scores = _products(x, matrix(self.coefficients, count, element_of(x)), self.intercepts)
        labels, named = labels_of(self.classlabels_ints, self.classlabels_strings)
        if count != 1:
            return chosen(labels, largest_position(scores)), single(transformed(scores, self.post_transform))
        if named != 2:
            labels = core.vector((0, 1))
        is_second = core.greater(core.squeeze(scores, (1,)), core.splat(0.0, scores))
        label = chosen(labels, core.cast(is_second, i64))
        if named == 2:
            return label, single(of_two_classes(scores, self.post_transform, is_probability=True))
        return label, single(transformed(scores, self.post_transform))


class Svm(OnnxOp):
    """A support vector machine."""

    X: Value = operand("T")
    kernel_type: str = attribute(attr_types.string, default="LINEAR", check=KERNEL)
    kernel_params: tuple[float, ...] | None = attribute(attr_types.numbers, default=None)
    support_vectors: tuple[float, ...] | None = attribute(attr_types.numbers, default=None)
    coefficients: tuple[float, ...] | None = attribute(attr_types.numbers, default=None)
    rho: tuple[float, ...] | None = attribute(attr_types.numbers, default=None)
    post_transform: str = attribute(attr_types.string, default="NONE", check=TRANSFORM)

    def similarities(self, x: Value, vectors: Value) -> Value:
        """The kernel of each row of x (axis 0) with each vector (axis 1)."""
        gamma, offset, degree = (*(self.kernel_params or ()), 0.0, 0.0, 0.0)[:3]
        if self.kernel_type == "RBF":
            away = core.sub(core.unsqueeze(x, (1,)), vectors)
            return core.exp(core.mul(core.reduce_sum(core.mul(away, away), (2,)), core.splat(-gamma, x)))
        products = core.matmul(x, vectors, False, True)
        if self.kernel_type == "LINEAR":
            return products
        scaled = core.add(core.mul(products, core.splat(gamma, x)), core.splat(offset, x))
        return core.tanh(scaled) if self.kernel_type == "SIGMOID" else core.pow(scaled, core.splat(degree, x))


class SVMRegressor(Svm, name="onnx.ml.SVMRegressor", since="ml1"):
    """Support vector regression: the sum of kernel values of the support vectors times their coefficients, plus rho;
    for one class, its sign.
    """

    n_supports: int = attribute(attr_types.integer, default=0)
    one_class: bool = attribute(attr_types.flag, default=False)
    Y: Value = result("f32")
    T = REAL

    def reference(self, X: Value) -> Value:
        x = rows_of(X)
        element, weights = element_of(x), self.coefficients or ()
        if self.n_supports:
            vectors = matrix(self.support_vectors or (), self.n_supports, element)
            summed = core.matmul(self.similarities(x, vectors), matrix(weights, 1, element), False, True)
        else:
            summed = core.matmul(x, matrix(weights, 1, element), False, True)
        y = core.add(summed, core.splat((self.rho or (0.0,))[0], x))
        if self.one_class:
            y = core.select(core.greater(y, core.splat(0.0, x)), core.splat(1.0, x), core.splat(-1.0, x))
        return single(transformed(y, self.post_transform))


class Pairs:
    """The one-versus-one decision functions of all pairs of classes, in order, as matrices of constants."""

    def __init__(self, per_class: Sequence[int], coefficients: Sequence[float]) -> None:
        self.count = len(per_class)
        self.vectors = sum(per_class)
        self.pairs = [(i, j) for i in range(self.count) for j in range(i + 1, self.count)]
        self._starts = [sum(per_class[:i]) for i in range(self.count)]
        self._sizes = per_class
        self._coefficients = coefficients
        if len(coefficients) != (self.count - 1) * self.vectors:
            raise NotationError(f"{len(coefficients)} coefficients of {self.vectors} vectors of {self.count} classes")

    def weights(self, element: ElementType) -> Value:
        """Returns the coefficient of each support vector (axis 0) in each decision (axis 1)."""
        table = [[0.0] * len(self.pairs) for _ in range(self.vectors)]
        for pair, (i, j) in enumerate(self.pairs):
            for row, of in ((j - 1, i), (i, j)):
                for v in range(self._starts[of], self._starts[of] + self._sizes[of]):
                    table[v][pair] = self._coefficients[row * self.vectors + v]
        return matrix([w for row in table for w in row], self.vectors, element)

    def votes(self, side: int, element: ElementType) -> Value:
        """Returns the class (axis 1) that each decision (axis 0) votes for: the earlier one (side 0) or the
        later one.
        """
        numbers = [float(c == pair[side]) for pair in self.pairs for c in range(self.count)]
        return matrix(numbers, len(self.pairs), element)


class SVMClassifier(Svm, name="onnx.ml.SVMClassifier", since="ml1"):
    """Support vector classifier: the label of each row, and its scores: probabilities with `prob_a` and `prob_b`, else
    decision values.

    The label is chosen by one-versus-one voting. Without support vectors, each class has a linear score.
    """

    X: Value = operand("T1")
    classlabels_ints: tuple[int, ...] | None = attribute(attr_types.integers, default=None)
    classlabels_strings: tuple[str, ...] | None = attribute(attr_types.strings, default=None)
    vectors_per_class: tuple[int, ...] | None = attribute(attr_types.integers, default=None)
    prob_a: tuple[float, ...] | None = attribute(attr_types.numbers, default=None)
    prob_b: tuple[float, ...] | None = attribute(attr_types.numbers, default=None)
    Y: Value = result("T2")
    Z: Value = result("f32")
    T1 = REAL
    T2 = LABELS

    def reference(self, X: Value) -> tuple[Value, ...]:
        x = rows_of(X)
        labels, named = labels_of(self.classlabels_ints, self.classlabels_strings)
        if not self.vectors_per_class:
            scores = self._linear_scores(x, max(named, 1))
            label = chosen(labels, largest_position(scores))
            return label, single(transformed(scores, self.post_transform))
        pairs = Pairs(self.vectors_per_class, self.coefficients or ())
        decisions = self._decisions(x, pairs)
        wins, losses = self._votes(decisions, pairs)
        if self.prob_a:
            scores = self._probabilities(decisions, pairs.count)
        else:
            scores = decisions
        label = chosen(labels, largest_position(core.add(wins, losses)))
        if len(pairs.pairs) == 1 and not self.prob_a:
            is_complement = self.post_transform != "NONE"
            return label, single(of_two_classes(scores, self.post_transform, is_probability=is_complement))
        return label, single(transformed(scores, self.post_transform))

    def _linear_scores(self, x: Value, count: int) -> Value:
        scores = core.matmul(x, matrix(self.coefficients or (), count, element_of(x)), False, True)
        return core.add(scores, core.splat((self.rho or (0.0,))[0], x))

    def _decisions(self, x: Value, pairs: Pairs) -> Value:
        """The decision between each two classes: positive for the earlier one."""
        element = element_of(x)
        kernels = self.similarities(x, matrix(self.support_vectors or (), pairs.vectors, element))
        return core.add(core.matmul(kernels, pairs.weights(element)), floats(self.rho or (), element))

    def _votes(self, decisions: Value, pairs: Pairs) -> tuple[Value, Value]:
        element = element_of(decisions)
        is_first = core.cast(core.greater(decisions, core.splat(0.0, decisions)), element)
        is_second = core.sub(core.splat(1.0, decisions), is_first)
        return core.matmul(is_first, pairs.votes(0, element)), core.matmul(is_second, pairs.votes(1, element))

    def _probabilities(self, decisions: Value, classes: int) -> Value:
        """The probabilities of the classes, from those of each against each other one (Platt, 1999)."""
        element = element_of(decisions)
        slope, offset = floats(self.prob_a or (), element), floats(self.prob_b or (), element)
        pairwise = core.sigmoid(core.neg(core.add(core.mul(decisions, slope), offset)))
        return core.pairwise_coupling(core.clip(pairwise, 1e-7, 1 - 1e-7), classes)
