"""The step that computes an operation of any dialect from the constants it is applied to.

What it computes is told by its reference; what makes the constant, by its dialect.
"""

from __future__ import annotations

from collections.abc import Sequence

from commonir.ir.data import Data
from commonir.ir.operation import Value
from commonir.ir.types import Type
from commonir.ods import Dialects, Form, Op, known_data, traits
from commonir.ods.mlir_op import HoldsData
from commonir.passes.simplify import Evaluate
from commonir.rewrite.greedy import Step


def constant_step(evaluate: Evaluate, dialects: Dialects) -> Step:
    """A step that puts constants in the place of operations without effect on constants."""

    def step(op: Op) -> tuple[str, Sequence[Value]] | None:
        found = computed(op, [known_data(v) for v in op.operands], evaluate)
        if found is None:
            return None
        made = [held(op, data, r.type, dialects) for data, r in zip(found, op.results, strict=True)]
        values = [m.results[0] for m in made if m is not None]
        return (op.name, values) if len(values) == len(op.results) else None

    return step


def computed(op: Op, operands: Sequence[Data | None], evaluate: Evaluate) -> Sequence[Data] | None:
    """The contents of the results of an operation without effect, from those of its operands; None when not known."""
    if op.regions or not op.results or not op.operands or op.form is not Form.COMPOSITE:
        return None
    if not op.has_trait(traits.Pure) or op.has_trait(traits.Random) or op.has_trait(traits.ConstantLike):
        return None
    known = [d for d in operands if d is not None]
    return evaluate(op, known) if len(known) == len(operands) else None


def held(op: Op, data: Data, type: Type, dialects: Dialects) -> Op | None:
    """The constant with some contents that the dialect of an operation makes; None when it makes none of the type."""
    dialect = dialects.get(op.name.partition(".")[0])
    definition = None if dialect is None or not dialect.constants else dialects.find(dialect.constants)
    if definition is None or not issubclass(definition, HoldsData):
        return None
    made = definition.holding(data, type)
    return made if isinstance(made, Op) else None


__all__ = ["computed", "constant_step", "held"]
