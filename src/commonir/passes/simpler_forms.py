"""Collects the rewrite steps that simplify operations, from definitions and the rules of their dialects."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

from commonir.dialects import core
from commonir.ir.module import Function
from commonir.notation import NotKnownError
from commonir.ods import Dialects, Op, known_data, may_be_known, traits
from commonir.passes.fold_to_constants import constant_of, constant_step
from commonir.passes.simplify import Evaluate
from commonir.rewrite.expand import equal_value, folded
from commonir.rewrite.greedy import Definers, RewriteStep, Rewritten, SelectiveRewriteStep, function_step, rule_steps
from commonir.rewrite.rule_set import RuleSet


class SimplerForms:
    """The rewrite steps of definitions, computed once each: folders before rules, rules before functions."""

    def __init__(self, evaluate: Evaluate, dialects: Dialects) -> None:
        self._evaluate = evaluate
        self._dialects = dialects
        self._rules: dict[str, RuleSet] = {}
        self._steps: dict[type[Op], Sequence[RewriteStep]] = {}

    def of(self, definition: type[Op]) -> Sequence[RewriteStep]:
        """Returns all steps for operations of a definition, in the order in which they are tried."""
        result = self._steps.get(definition)
        if result is None:
            result = self._steps[definition] = self._steps_for(definition)
        return result

    def _steps_for(self, definition: type[Op]) -> Sequence[RewriteStep]:
        if definition.has_trait(traits.ConstantLike):
            return ()
        out: list[RewriteStep] = []
        if definition.constant_dims is not Op.constant_dims:
            is_core = issubclass(definition, core.CoreOp)
            out.append(_folded if is_core else partial(_folded_to_dialect_constant, dialects=self._dialects))
        elif definition.fold is not Op.fold:
            out.append(_equal)
        computing = constant_step(definition, self._evaluate, self._dialects)
        if computing is not None:
            out.append(computing)
        if definition.has_trait(traits.Commutative):
            out.append(_ConstantsLast())
        out += self._rule_steps(definition)
        dialect = self._dialects.get(definition.name.partition(".")[0])
        if dialect is not None:
            functions_of = dialect.rules.functions
            functions = [f for base in definition.__mro__ for f in functions_of.get(base, ())]
            out += [function_step(definition.name, f, self._dialects.find) for f in functions]
        if definition.canonicalize is not Op.canonicalize:
            out.append(_canonicalized)
        return out

    def _rule_steps(self, definition: type[Op]) -> Sequence[RewriteStep]:
        name = definition.name.partition(".")[0]
        if name not in self._rules:
            dialect = self._dialects.get(name)
            self._rules[name] = RuleSet(() if dialect is None else dialect.rules.rewrites)
        return rule_steps(self._rules[name], definition)


def simpler(op: Op) -> Rewritten | None:
    """Applies the folder or the canonicalization of an operation's definition."""
    return _folded(op) or _canonicalized(op)


def _folded(op: Op) -> Rewritten | None:
    value = folded(op)
    return None if value is None else (op.name, (value,))


def _folded_to_dialect_constant(op: Op, dialects: Dialects) -> Rewritten | None:
    """Like `_folded`, for dialects other than core: known dims become a constant of the dialect."""
    value, function = folded(op), op.parent_op
    while function is not None and not isinstance(function, Function):
        function = function.parent_op
    if value is None or function is None or not isinstance(value.owner, core.Dims):
        return None if value is None else (op.name, (value,))
    data = value.owner.constant_data()
    constant = None if data is None else constant_of(function, op, data, op.results[0].type, dialects)
    return None if constant is None else (op.name, (constant,))


def _equal(op: Op) -> Rewritten | None:
    """Like `_folded`, for a definition without known dims."""
    value = equal_value(op)
    return None if value is None else (op.name, (value,))


def _canonicalized(op: Op) -> Rewritten | None:
    try:
        result = op.canonicalize()
    except NotKnownError:
        return None
    return None if result is None else (op.name, result)


class _ConstantsLast(SelectiveRewriteStep):
    """The step that moves constants to the end of commutative operands."""

    __slots__ = ()

    def __call__(self, op: Op) -> Rewritten | None:
        is_known = [known_data(v) is not None for v in op.operands]
        if not any(first and not second for first, second in pairwise(is_known)):
            return None
        pairs = list(zip(op.operands, is_known, strict=True))
        op.operands = (*[v for v, known in pairs if not known], *[v for v, known in pairs if known])
        return op.name, op.results

    def may_apply(self, definers: Definers) -> bool:
        return any(map(may_be_known, definers[:-1]))
