"""Folds operations on constants that are not operations of the program.

A copy of the operation on constants made for it is asked for its simpler forms; only those count that are constants or
operands.
"""

from __future__ import annotations

from collections.abc import Sequence

from commonir.ir.data import Data
from commonir.ir.operation import Block, Operation, Value
from commonir.ir.unregistered import UnregisteredOperation
from commonir.ods import Dialects, Op, known_data, traits
from commonir.ods.rules import Editor
from commonir.passes.fold_to_constants import computed, constant_makers, held, is_computed
from commonir.passes.simpler_forms import SimplerForms
from commonir.passes.simplify import Evaluate
from commonir.rewrite.greedy import RewriteStep

Result = Data | Value | None
"""The folded form of a result: constant contents, an operand, or nothing known."""


class Folder:
    """Finds what operations equal."""

    def __init__(self, evaluate: Evaluate, dialects: Dialects) -> None:
        self._evaluate = evaluate
        self._dialects = dialects
        self._forms = SimplerForms(evaluate, dialects)
        self._steps: dict[type[Op], Sequence[RewriteStep]] = {}

    def fold(self, op: Op, known: Sequence[Data | None]) -> list[Result] | None:
        """Folds each result of an operation, given the known operands; returns None when nothing folds."""
        arguments = [data for data in known if data is not None]
        # An existing constant is preferred to a computed one.
        if arguments and len(arguments) == len(known) and type(op).fold is Op.fold and is_computed(type(op)):
            results = computed(op, arguments, self._evaluate)
            if results is not None:
                return list(results)
        steps = self._steps.get(type(op))
        if steps is None:
            steps = self._steps[type(op)] = self._forms.of(type(op)) if not op.regions else ()
        return self._simpler(op, known, steps) if steps else None

    def _simpler(self, op: Op, known: Sequence[Data | None], steps: Sequence[RewriteStep]) -> list[Result] | None:
        makers = constant_makers(type(op), self._dialects)
        block = Block([v.type for v in op.operands])
        stands: dict[Value, Value] = {}
        operands: list[Value] = []
        for v, data, argument in zip(op.operands, known, block.arguments, strict=True):
            built = None if data is None else held(makers, data, v.type)
            # One value stays one value: what is simpler because two operands are the same.
            operands.append(
                next((a for a, given in stands.items() if given is v), argument if built is None else built)
            )
            stands[operands[-1]] = v
        copy = op.clone_shallow(tuple(operands), ())
        block.append(copy)
        # A step may change the program in place: what takes the place of the results shows at one who uses them.
        user = block.append(UnregisteredOperation("builtin.user", copy.results))
        result = next((f for step in steps if (f := step(copy)) is not None), None)
        if result is None:
            return None
        return _results(user.operands if isinstance(result[1], Editor) else result[1], stands)


def _results(values: Sequence[Value], stands: dict[Value, Value]) -> list[Result] | None:
    out: list[Result] = []
    for v in values:
        owner = v.owner
        if v in stands:
            out.append(stands[v])
        elif isinstance(owner, Operation) and isinstance(owner, Op) and owner.has_trait(traits.ConstantLike):
            out.append(known_data(v))
        else:
            out.append(None)
    return None if all(r is None for r in out) else out
