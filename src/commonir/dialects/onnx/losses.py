"""ONNX losses of classification.

Source: ONNX operator reference, default domain, versions 12 to 22.
"""

from __future__ import annotations

from commonir.dialects import core
from commonir.dialects.onnx.base import FLOATS, FLOATS_1, POSITIONS, OnnxOp, tensor_type
from commonir.ir.operation import Value
from commonir.notation import NotationError
from commonir.ods import attr_types, attribute, by_version, one_of, operand, result

REDUCTIONS = one_of("none", "sum", "mean")


def weighted_loss(
    log_probability: Value, target: Value, weight: Value | None, ignored: int | None, reduction: str
) -> Value:
    """The negative of what each sample has at its class (axis 1), times the weight of the class; then combined.

    A sample of the ignored class has weight 0. A mean is divided by the sum of the weights.

    Raises: NotationError when there is not one class for each sample.
    """
    classes, places = tensor_type(log_probability).shape, tensor_type(target).shape
    if classes is not None and places is not None:
        expected = (*classes[:1], *classes[2:])
        both = zip(expected, places, strict=False)
        if len(expected) != len(places) or any(isinstance(n, int) and isinstance(m, int) and n != m for n, m in both):
            raise NotationError(f"classes of shape {list(places)} for scores of shape {list(classes)}")
    is_counted = None if ignored is None else core.not_equal(target, core.splat(ignored, target))
    # The ignored index need not be a class.
    place = target if is_counted is None else core.select(is_counted, target, core.splat(0, target))
    result = core.gather_elements(log_probability, core.unsqueeze(place, (1,)), 1)
    loss = core.neg(core.widened(core.squeeze(result, (1,))))
    one, zero = core.splat(1.0, loss), core.splat(0.0, loss)
    weights = None if weight is None else core.gather(core.widened(weight), place, 0)
    if is_counted is not None:
        weights = core.select(is_counted, one if weights is None else weights, zero)
    weighted = loss if weights is None else core.mul(loss, weights)
    match reduction:
        case "none":
            combined = weighted
        case "sum":
            combined = core.reduce_sum(weighted)
        case _ if weights is None:
            combined = core.reduce_mean(weighted)
        case _:
            combined = core.div(core.reduce_sum(weighted), core.reduce_sum(weights))
    return core.narrowed(combined, log_probability)


class NegativeLogLikelihoodLoss(OnnxOp, name="onnx.NegativeLogLikelihoodLoss"):
    """Negative log-likelihood loss: the negative of the log-probability of the target class of each sample."""

    input: Value = operand("T")
    target: Value = operand("Tind")
    weight: Value | None = operand("T", default=None)
    ignore_index: int | None = attribute(attr_types.integer, default=None)
    reduction: str = attribute(attr_types.string, default="mean", check=REDUCTIONS)
    loss: Value = result("T")
    T = by_version(opset12=FLOATS_1, opset13=FLOATS_1, opset22=FLOATS)
    Tind = POSITIONS

    def reference(self, input: Value, target: Value, weight: Value | None) -> Value:
        return weighted_loss(input, target, weight, self.ignore_index, self.reduction)


class SoftmaxCrossEntropyLoss(OnnxOp, name="onnx.SoftmaxCrossEntropyLoss"):
    """Cross-entropy loss: the negative log-softmax of the target class of each sample; also returns all
    log-probabilities.
    """

    scores: Value = operand("T")
    labels: Value = operand("Tind")
    weights: Value | None = operand("T", default=None)
    ignore_index: int | None = attribute(attr_types.integer, default=None)
    reduction: str = attribute(attr_types.string, default="mean", check=REDUCTIONS)
    output: Value = result("T")
    log_prob: Value | None = result("T", optional=True)
    T = by_version(opset12=FLOATS_1, opset13=FLOATS)
    Tind = POSITIONS

    def reference(self, scores: Value, labels: Value, weights: Value | None) -> tuple[Value, ...]:
        logarithms = core.log_softmax(scores, 1)
        return (weighted_loss(logarithms, labels, weights, self.ignore_index, self.reduction), logarithms)
