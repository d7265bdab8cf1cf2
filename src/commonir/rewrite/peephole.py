"""Fast matching for rules whose result is an existing value.

Most rewrites apply such rules. A source whose operations have one value for each operand becomes a list of checks
that navigate from the matched operation, without binding variables; the result is found in the same way.
"""

# pyright: reportPrivateUsage=false
# Reads operands and attributes directly from storage, because this dominates the cost of matching.

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any

from commonir.ir.attributes import Attribute
from commonir.ir.data import Data
from commonir.ir.operation import Value
from commonir.ods import Op, known_data, may_be_known
from commonir.ods.fields import Field, FieldKind
from commonir.ods.patterns import TypeConstraint
from commonir.ods.terms import Constant, Variable
from commonir.rewrite.matching import Compiled
from commonir.rewrite.steps import AttributeStep, BindOperand, Enter, IsConstant, MatchStep, Restrict, called

Reach = Callable[[Any], Any]
Check = Callable[[Any], bool]
Peephole = Callable[[Op], Value | None]
"""The value that the only result of an operation equals by a rule; None when the rule does not match."""


def peephole(rule: Compiled) -> Peephole | None:
    """Returns a fast matcher for a rule; None for a rule that must be matched step by step."""
    fields = rule.definition.layout.results
    has_one = len(fields) == 1 and not fields[0].variadic and not fields[0].optional
    result = rule.rewrite.results[0] if len(rule.rewrite.results) == 1 and has_one else None
    if len(rule.alternatives) != 1 or rule.rewrite.supplements or not isinstance(result, Variable):
        return None
    if len(rule.definition.layout.results) != 1 or not rule.definition.layout.results[0].is_required:
        return None
    built = _Checks(rule.definition)
    if not all(built.add(step) for step in rule.alternatives[0]) or result.name not in built.values:
        return None
    reach = built.values[result.name]
    at = built.positions.get(result.name)
    match built.checks:
        case []:
            return reach
        case [only] if at is not None:
            return lambda op: op._operands[at] if only(op) else None
        case checks:

            def by_all_checks(op: Op) -> Value | None:
                for check in checks:
                    if not check(op):
                        return None
                return reach(op)

            return by_all_checks


def guard(rule: Compiled) -> Check | None:
    """Returns a quick check of the definers of operands, which fails for most operations to which a rule does not
    apply.
    """
    alternatives: list[list[Check]] = []
    for steps in rule.alternatives:
        built = _Checks(rule.definition)
        for step in steps:
            if step.at == 0 and isinstance(step, Enter | IsConstant | BindOperand):
                built.add_definer_check(step)
        alternatives.append(built.checks)
    if not all(alternatives):
        return None
    if len(alternatives) == 1 and len(alternatives[0]) == 1:
        return alternatives[0][0]
    return lambda op: any(all(check(op) for check in checks) for checks in alternatives)


def may_match(rule: Compiled, definers: Sequence[type[object]]) -> bool:
    """Returns whether a rule may match operations whose operands have these definers: classes of operations, or
    blocks.
    """
    return any(all(_may_hold(rule.definition, step, definers) for step in steps) for steps in rule.alternatives)


def _may_hold(definition: type[Op], step: MatchStep, definers: Sequence[type[object]]) -> bool:
    if not isinstance(step, Enter | IsConstant) or step.at or step.index is not None:
        return True
    at = _operand_index(definition, step)
    if at is None:
        return True
    if at >= len(definers):
        return False
    return issubclass(definers[at], step.definition) if isinstance(step, Enter) else may_be_known(definers[at])


def _operand_index(definition: type[Op], step: MatchStep) -> int | None:
    """Returns the index of the operand that a step looks at; None if it differs between operations of a definition."""
    field, layout = step.field, definition.layout
    if field is None or field.kind is not FieldKind.OPERAND or len(layout.required) != len(layout.inputs):
        return None
    return definition.places[field].input


class _Checks:
    """The checks of a rule while they are built, and functions that navigate to the values of its variables."""

    def __init__(self, definition: type[Op]) -> None:
        self.checks: list[Check] = []
        self.values: dict[str, Reach] = {}
        self.attributes: dict[str, Reach] = {}
        # The operand of the matched operation that a variable is bound to, if any.
        self.positions: dict[str, int] = {}
        self._operations: list[tuple[type[Op], Reach | None]] = [(definition, None)]

    def add(self, step: MatchStep) -> bool:
        """Adds the check of a step; returns whether that is possible."""
        match step:
            case Enter(label="", index=None):
                return self._enter(step)
            case BindOperand(index=None):
                return self._bind(step)
            case IsConstant(index=None):
                return self._constant(step)
            case AttributeStep(check=None, extra=""):
                return self._attribute(step)
            case Restrict():
                return self._restrict(step)
            case _:
                return False

    def add_definer_check(self, step: Enter | IsConstant | BindOperand) -> None:
        """Adds a check of the definer of an operand, if possible."""
        at = None if step.index is not None else self._position(step)
        if at is None:
            return
        if isinstance(step, Enter):
            self.checks.append(_is_result_at(at, step.definition, step.pick))
        elif isinstance(step, BindOperand):
            first = self.positions.setdefault(step.name, at)
            if first != at:
                self.checks.append(lambda op: op._operands[first] is op._operands[at])
        else:
            self.checks.append(_is_constant_at(at, step.term))

    def _position(self, step: MatchStep) -> int | None:
        """Returns the index of the operand that a step looks at."""
        return _operand_index(self._operations[step.at][0], step)

    def _operand(self, step: MatchStep) -> Reach | None:
        """Returns a function that navigates to the operand that a step looks at."""
        owner, at = self._operations[step.at][1], self._position(step)
        if at is None:
            return None
        if owner is None:
            return lambda op: op._operands[at]
        return lambda op: owner(op)._operands[at]

    def _enter(self, step: Enter) -> bool:
        reach = self._operand(step)
        if reach is None:
            return False
        definition, pick, at = step.definition, step.pick, self._position(step)
        if step.at == 0 and at is not None:
            self.checks.append(_is_result_at(at, definition, pick))
            self._operations.append((definition, lambda op: op._operands[at].owner))
        else:
            self.checks.append(lambda op: isinstance((v := reach(op)).owner, definition) and v.index == pick)
            self._operations.append((definition, lambda op: reach(op).owner))
        return True

    def _bind(self, step: BindOperand) -> bool:
        reach = self._operand(step)
        if reach is None:
            return False
        if step.type is not None:
            self._typed(reach, step.type)
        at = self._position(step)
        first = self.values.setdefault(step.name, reach)
        if first is reach and step.at == 0 and at is not None:
            self.positions[step.name] = at
        if first is not reach:
            self.checks.append(lambda op: first(op) is reach(op))
        return True

    def _typed(self, reach: Reach, constraint: TypeConstraint) -> None:
        self.checks.append(lambda op: constraint.admits(reach(op).type))

    def _constant(self, step: IsConstant) -> bool:
        reach = self._operand(step)
        if reach is None or step.term.name in self.values:
            return False
        at = self._position(step) if step.at == 0 else None
        self.checks.append(_is_constant(reach, step.term) if at is None else _is_constant_at(at, step.term))
        if step.term.name:
            self.values[step.term.name] = reach
        return True

    def _attribute(self, step: AttributeStep) -> bool:
        definition, owner = self._operations[step.at]
        field = step.field
        if field is None or field.kind is not FieldKind.ATTRIBUTE or field.optional:
            return False
        at = definition.places[field].attribute
        if not step.name:
            return self._literal(at, field, owner, step.expected)
        if step.name in self.attributes or field.default is None:
            return False
        self.attributes[step.name] = (
            (lambda op: op._attributes[at]) if owner is None else lambda op: owner(op)._attributes[at]
        )
        return True

    def _literal(self, at: int, field: Field, owner: Reach | None, expected: Attribute | None) -> bool:
        """Adds the check of an attribute that must be one case of an enum."""
        stored = None if expected is None or field.type is None else field.type.from_attribute(expected)
        if not isinstance(stored, Enum):
            return False
        self.checks.append(
            (lambda op: op._attributes[at] is stored)
            if owner is None
            else lambda op: owner(op)._attributes[at] is stored
        )
        return True

    def _restrict(self, step: Restrict) -> bool:
        reached: list[Reach] = []
        for argument in step.restriction.arguments:
            name = argument.name if isinstance(argument, Variable) else ""
            reach = self.values.get(name) or self.attributes.get(name)
            if reach is None:
                return False
            reached.append(reach)
        if step.restriction.is_stored:
            return False
        holds, text = step.restriction.holds, step.restriction.text
        self.checks.append(lambda op: bool(called(text, holds, [reach(op) for reach in reached])))
        return True


def _is_result_at(at: int, definition: type[Op], pick: int) -> Check:
    def check(op: Op) -> bool:
        value = op._operands[at]
        return isinstance(value.owner, definition) and value.index == pick

    return check


def _is_constant(reach: Reach, term: Constant) -> Check:
    """Returns the check of a constant that is reached by navigation."""
    holds = _constant_test(term)
    return lambda op: holds(reach(op))


def _is_constant_at(at: int, term: Constant) -> Check:
    """Returns the check of a constant operand of the matched operation."""
    holds = _constant_test(term)
    return lambda op: holds(op._operands[at])


def _constant_test(term: Constant) -> Callable[[Value], bool]:
    """Returns a function that tests whether a value is a constant that a term admits.

    The result for the last contents is cached, because programs repeat a few constants.
    """
    last: Data | None = None
    result = False

    def holds(value: Value) -> bool:
        nonlocal last, result
        data = known_data(value)
        if data is not last:
            last, result = data, data is not None and term.admits(data)
        return result

    return holds
