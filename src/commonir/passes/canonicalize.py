"""Applies the folders and canonicalization rules of definitions until none applies.

What an operation equals is stated in its definition (`fold`, `canonicalize`, `constant_dims`) and in the rules of its
dialect; this pass only goes where they lead. Values keep their names, and a value that the program returns stays the
one it returns.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from commonir.ir.module import Module
from commonir.ir.operation import Operation, clone
from commonir.notation import NotKnownError
from commonir.ods import Dialects, Op, known_data, traits
from commonir.passes.fold_to_constants import constant_step
from commonir.passes.remove_unused import remove_unused
from commonir.passes.simplify import Evaluate
from commonir.rewrite.constants import ConstantPool
from commonir.rewrite.expand import folded
from commonir.rewrite.greedy import Found, Step, function_step, rewrite_steps, rule_steps
from commonir.rewrite.regions import simplify_regions
from commonir.rewrite.rule_set import RuleSet


def canonicalized(module: Module) -> Module:
    """A simpler equal module; the one given is not touched."""
    copy = clone(module)
    canonicalize(copy)
    return copy


def canonicalize(module: Module) -> int:
    """Rewrites a lowered module in place and returns the number of rewrites.

    Raises: DiagnosticError (E0607) when rules lead in a circle.
    """
    count = rewrite_steps(module, lambda _: (simpler,), removes_unused=False).total()
    for function in module.functions.values():
        remove_unused(function.body)
    return count


def canonicalize_operations(root: Operation, evaluate: Evaluate, dialects: Dialects) -> int:
    """Rewrites everything in an operation of any dialect, in place, and returns the number of rewrites.

    Also, what depends on constants alone is computed, each constant stands once, at the beginning of the function
    around it, and operations without effect that nobody uses go, with blocks that nothing leads to.

    Raises: DiagnosticError (E0607) when rules lead in a circle. Source: MLIR, pass `canonicalize`.
    """
    steps = _Steps(evaluate, dialects)
    return rewrite_steps(root, steps.of, constants=ConstantPool(), clean=simplify_regions).total()


class _Steps:
    """The steps of definitions: folders before rules, and of rules those before functions."""

    def __init__(self, evaluate: Evaluate, dialects: Dialects) -> None:
        self._evaluate = evaluate
        self._dialects = dialects
        self._rules: dict[str, RuleSet] = {}

    def of(self, definition: type[Op]) -> Sequence[Step]:
        """The steps for operations of a definition."""
        if definition.has_trait(traits.ConstantLike):
            return ()
        out: list[Step] = []
        if definition.fold is not Op.fold or definition.constant_dims is not Op.constant_dims:
            out.append(_folded)
        computing = constant_step(definition, self._evaluate, self._dialects)
        if computing is not None:
            out.append(computing)
        if definition.has_trait(traits.Commutative):
            out.append(_with_constants_last)
        name = definition.name.partition(".")[0]
        dialect = self._dialects.get(name)
        if dialect is not None:
            if name not in self._rules:
                self._rules[name] = RuleSet(dialect.rules.rewrites)
            out += rule_steps(self._rules[name], definition)
            own = dialect.rules.functions
            out += [function_step(definition.name, f) for base in definition.__mro__ for f in own.get(base, ())]
        if definition.canonicalize is not Op.canonicalize:
            out.append(_canonicalized)
        return out


def simpler(op: Op) -> Found | None:
    """The step that the definition of an operation states."""
    return _folded(op) or _canonicalized(op)


def _folded(op: Op) -> Found | None:
    try:
        value = folded(op)
    except NotKnownError:
        # Of operands of unknown types nothing simpler is known.
        return None
    return None if value is None else (op.name, (value,))


def _canonicalized(op: Op) -> Found | None:
    try:
        found = op.canonicalize()
    except NotKnownError:
        return None
    return None if found is None else (op.name, found)


def _with_constants_last(op: Op) -> Found | None:
    """The step for operations whose operands may be exchanged."""
    is_known = [known_data(v) is not None for v in op.operands]
    if not any(first and not second for first, second in pairwise(is_known)):
        return None
    pairs = list(zip(op.operands, is_known, strict=True))
    op.operands = (*[v for v, known in pairs if not known], *[v for v, known in pairs if known])
    return op.name, op.results
