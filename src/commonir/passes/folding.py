"""Folds operations for an analysis, without changing the program.

A copy of the operation on constants is folded by its rewrite steps; only results that are constants or operands count.
"""

from __future__ import annotations

from collections.abc import Sequence

from commonir.ir.data import Data
from commonir.ir.operation import Block, Operation, Value
from commonir.ir.unregistered import UnregisteredOperation
from commonir.ods import Dialects, Op, known_data, traits
from commonir.ods.rules import Editor
from commonir.passes.fold_to_constants import build_constant, computed, constant_definitions, is_computed
from commonir.passes.simpler_forms import SimplerForms
from commonir.passes.simplify import Evaluate
from commonir.rewrite.greedy import RewriteStep

Result = Data | Value | None
"""The folded form of a result: constant contents, an operand, or nothing known."""


class Folder:
    """Finds constants and operands that operations are equal to."""

    def __init__(self, evaluate: Evaluate, dialects: Dialects) -> None:
        self._evaluate = evaluate
        self._dialects = dialects
        self._forms = SimplerForms(evaluate, dialects)
        self._steps: dict[type[Op], Sequence[RewriteStep]] = {}

    def fold(self, op: Op, contents: Sequence[Data | None]) -> list[Result] | None:
        """Returns a folded form for each result of an operation with some known operands; None if nothing folds."""
        arguments = [data for data in contents if data is not None]
        # An existing constant is preferred to a computed one.
        if arguments and len(arguments) == len(contents) and type(op).fold is Op.fold and is_computed(type(op)):
            results = computed(op, arguments, self._evaluate)
            if results is not None:
                return list(results)
        steps = self._steps.get(type(op))
        if steps is None:
            steps = self._steps[type(op)] = self._forms.of(type(op)) if not op.regions else ()
        return self._simpler(op, contents, steps) if steps else None

    def _simpler(self, op: Op, contents: Sequence[Data | None], steps: Sequence[RewriteStep]) -> list[Result] | None:
        definitions = constant_definitions(type(op), self._dialects)
        block = Block([v.type for v in op.operands])
        originals: dict[Value, Value] = {}
        operands: list[Value] = []
        for v, data, argument in zip(op.operands, contents, block.arguments, strict=True):
            built = None if data is None else build_constant(definitions, data, v.type)
            # One value stays one value: what is simpler because two operands are the same.
            operands.append(
                next((a for a, original in originals.items() if original is v), argument if built is None else built)
            )
            originals[operands[-1]] = v
        copy = op.clone_shallow(tuple(operands), ())
        block.append(copy)
        # A step may change the program in place: what takes the place of the results shows at one who uses them.
        user = block.append(UnregisteredOperation("builtin.user", copy.results))
        result = next((f for step in steps if (f := step(copy)) is not None), None)
        if result is None:
            return None
        return _results(user.operands if isinstance(result[1], Editor) else result[1], originals)


def _results(values: Sequence[Value], originals: dict[Value, Value]) -> list[Result] | None:
    out: list[Result] = []
    for v in values:
        owner = v.owner
        if v in originals:
            out.append(originals[v])
        elif isinstance(owner, Operation) and isinstance(owner, Op) and owner.has_trait(traits.ConstantLike):
            out.append(known_data(v))
        else:
            out.append(None)
    return None if all(r is None for r in out) else out
