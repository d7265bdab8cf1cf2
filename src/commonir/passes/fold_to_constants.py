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
from commonir.rewrite.greedy import Found, Step


def constant_step(definition: type[Op], evaluate: Evaluate, dialects: Dialects) -> Step | None:
    """The step that puts constants in the place of operations on constants; None for a definition that has none."""
    makers = constant_makers(definition, dialects)
    if not makers or not is_computed(definition):
        return None

    def step(op: Op) -> Found | None:
        operands = _known_operands(op)
        if operands is None:
            return None
        found = computed(op, operands, evaluate)
        if found is None:
            return None
        values = [held(makers, data, r.type) for data, r in zip(found, op.results, strict=True)]
        made = [v for v in values if v is not None]
        return (op.name, made) if len(made) == len(values) else None

    return step


def is_computed(definition: type[Op]) -> bool:
    """Whether operations of a definition give the same for the same constants, and are no constants themselves."""
    if definition.form is not Form.COMPOSITE or definition.layout.regions or not definition.layout.results:
        return False
    if definition.has_trait(traits.Random) or definition.has_trait(traits.ConstantLike):
        return False
    return definition.has_trait(traits.Pure) and not definition.has_trait(traits.Terminator)


def computed(op: Op, operands: Sequence[Data], evaluate: Evaluate) -> Sequence[Data] | None:
    """The contents of the results of an operation that is computed; None when they are not known."""
    return evaluate(op, operands) if op.folds(operands) else None


def _known_operands(op: Op) -> list[Data] | None:
    out: list[Data] = []
    for v in op.operands:
        data = known_data(v)
        if data is None:
            return None
        out.append(data)
    return out or None


def constant_makers(definition: type[Op], dialects: Dialects) -> tuple[type[Op], ...]:
    """The definitions of constants that the dialect of a definition folds to."""
    dialect = dialects.get(definition.name.partition(".")[0])
    names = () if dialect is None else dialect.constants
    return tuple([made for name in names if (made := dialects.find(name)) is not None])


def held(makers: Sequence[type[Op]], data: Data, type: Type) -> Value | None:
    """A constant of some contents, by the first that can hold them."""
    for definition in makers:
        made = definition.holding(data, type) if issubclass(definition, HoldsData) else None
        if isinstance(made, Op):
            return made.results[0]
    return None


__all__ = ["computed", "constant_makers", "constant_step", "held", "is_computed"]
