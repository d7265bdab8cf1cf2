"""The steps between the product of queries and keys and the weights of attention: a scale, and one mask that is
added, of all that is added or chosen.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from commonir.base.tuples import NamedTuple
from commonir.dialects import core
from commonir.ir.data import data_of
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, boolean, f16
from commonir.notation import NotationError
from commonir.ods import Op, known_data
from commonir.ods.operand_shapes import known_dims_of
from commonir.passes.core_forms import CoreForm, core_form
from commonir.passes.parameters import behind_reshaping, of_shape
from commonir.passes.subgraphs import Subgraph, SubgraphFinder, is_reshape_of_matrices, number
from commonir.symbolic import Dim

LEAST = -1e30
"""The least number that is added: onnxruntime takes the least number of a type for minus infinity."""
_LEAST_HALF = -65504.0
"""The least number of half precision."""


class Masked(NamedTuple):
    """The scores of attention as products with a number, to which a mask is added."""

    scale: float
    added: Value | None


class Masking(NamedTuple):
    """The operations from the product of queries and keys, `scores`, to what the softmax takes.

    `constants` are masks of several elements among their operands. Where operations reshape the axes before matrices,
    `lead` are these axes in the shape of most axes, which `widest` has.
    """

    scores: Value
    steps: tuple[Op, ...]
    masked: Value | None
    constants: tuple[Value, ...]
    lead: tuple[Dim, ...]
    widest: Value

    def mask(self, values: Mapping[Value, Value], like: Value, lead: tuple[Dim, ...]) -> Masked:
        """Returns the scale and the mask, of values for the operands, for scores of an element type.

        Raises: NotationError for operations that do more than scale scores, add to them or choose others.
        """
        known = {self.scores: Masked(1.0, None)}
        for op in self.steps:
            form = core_form(op)
            if form is None:
                raise NotationError(f"{op.name} has no core form")
            known[op.results[0]] = _ScoreStep(form, known, values, like, lead).result()
        if self.masked is None or self.masked not in known:
            raise NotationError("the operand of the softmax is not found")
        return known[self.masked]


def masking_of(between: Subgraph, scores: Value, result: Value, finder: SubgraphFinder) -> Masking:
    """Returns the steps between scores and the softmax of weights."""
    steps: list[Op] = []
    masked: Value | None = None
    on_path = {scores}
    for op in between.operations:
        part = finder.primitives(op)
        if part is not None and core.Exp in part.classes:
            masked = _operand_of_softmax(op, on_path, is_whole=bool(part.axes))
            break
        steps.append(op)
        on_path.update(op.results)
    # What finds the largest score, and its difference from others, belongs to the softmax.
    last = -1 if masked is None or masked is scores else next(n for n, op in enumerate(steps) if masked in op.results)
    steps = [op for op in steps[: last + 1] if not (p := finder.primitives(op)) or not p.axes]
    reshaped = [op.results[0] for op in between.operations if is_reshape_of_matrices(op)]
    widest = max([scores, result, *reshaped], key=lambda v: len(known_dims_of(v))) if reshaped else scores
    constants = dict.fromkeys([v for op in steps for v in op.operands if v not in on_path and _is_constant_mask(v)])
    lead = known_dims_of(widest)[:-2] if reshaped else ()
    return Masking(scores, tuple(steps), masked, tuple(constants), lead, widest)


def is_bounded(between: Subgraph, scores: Value) -> bool:
    """Returns whether scores are bounded or compared, except with the least number of their type."""
    is_half = isinstance(scores.type, TensorType) and scores.type.element is f16
    least = _LEAST_HALF if is_half else LEAST
    return between.bounds is None or any(n > least for n in between.bounds)


def _operand_of_softmax(op: Op, on_path: set[Value], *, is_whole: bool) -> Value | None:
    (first, *_) = op.operands
    if not is_whole and isinstance(first.owner, Op):
        form = core_form(first.owner)
        if form is not None and isinstance(form.op, core.Sub):
            first = form.x
    return first if first in on_path else None


def _is_constant_mask(value: Value) -> bool:
    data = known_data(value)
    return data is not None and data.count > 1 and (data.element.is_float or data.element is boolean)


class _ScoreStep(NamedTuple):
    """One operation on scores that are known as products with a mask."""

    form: CoreForm
    known: Mapping[Value, Masked]
    values: Mapping[Value, Value]
    like: Value
    lead: tuple[Dim, ...]

    def result(self) -> Masked:
        """Returns the scale and the mask behind the operation."""
        op, operands = self.form.op, [v for v in self.form.operands if isinstance(v, Value)]
        found = [v for v in operands if v in self.known]
        if len(found) != 1:
            raise NotationError("scores are combined with each other")
        scores = self.known[found[0]]
        match op:
            case core.Reshape() | core.DynamicReshape() | core.Cast():
                return scores
            case core.Mul() | core.Div():
                a, b = operands
                factor = number(b if a is found[0] else a)
                if factor is None or (isinstance(op, core.Div) and b is found[0]):
                    raise NotationError("scores are multiplied by a tensor")
                if not factor or not math.isfinite(factor):
                    raise NotationError(f"scores are multiplied or divided by {factor}")
                factor = 1 / factor if isinstance(op, core.Div) else factor
                added = None if scores.added is None else core.mul(scores.added, self._splat(factor))
                return Masked(scores.scale * factor, added)
            case core.Add():
                (other,) = [v for v in operands if v is not found[0]]
                more = self._of(other)
                return Masked(scores.scale, more if scores.added is None else core.add(scores.added, more))
            case core.Select():
                condition, first, second = operands
                old = self._splat(0.0) if scores.added is None else scores.added
                chosen = [old if v is found[0] else self._of(v) for v in (first, second)]
                return Masked(scores.scale, core.select(self._of(condition), *chosen))
            case core.Maximum():
                # Other bounds are refused before (`is_bounded`).
                return scores
            case _:
                raise NotationError(f"{op.name} is not part of a mask")

    def _of(self, value: Value) -> Value:
        """Returns a value as a part of the mask, with the axes of the scores in the shape of most axes."""
        constant = number(value)
        if constant is not None:
            return self._splat(max(constant, LEAST))
        if value not in self.values:
            raise NotationError("a mask is not an operand")
        mask = self.values[value]
        dims = known_dims_of(mask)
        if self.lead and len(dims) == 3 and dims[0] != 1 and len(self.lead) > 1:
            shape = (*self.lead, *dims[1:])
            mask = of_shape(behind_reshaping(mask, shape), shape)
        assert isinstance(mask.type, TensorType)
        assert isinstance(self.like.type, TensorType)
        is_other = mask.type.element.is_float and mask.type.element is not self.like.type.element
        return core.cast(mask, self.like.type.element) if is_other else mask

    def _splat(self, value: float) -> Value:
        assert isinstance(self.like.type, TensorType)
        return core.constant(data_of(self.like.type.element, (), (value,)))
