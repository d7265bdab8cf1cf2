"""Compiles rewrite rules: the source becomes a list of steps that bind and check, the result a builder."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from commonir.base.codes import MALFORMED_RULE
from commonir.base.diagnostics import Diagnostics
from commonir.ir.attributes import Attribute, is_sequence
from commonir.ir.operation import Operation, Value
from commonir.ods import Op, operations_behind
from commonir.ods.fields import Check, Field, FieldKind
from commonir.ods.patterns import TypeConstraint
from commonir.ods.terms import Anything, Computed, Constant, Group, OperationTerm, Rewrite, SourceCall, Variable
from commonir.rewrite.build_results import VALUES, Refused, ResultBuilder, op_class
from commonir.rewrite.rule_checks import Role, faults_of, stored_literal
from commonir.rewrite.steps import (
    AttributeStep,
    BindGroup,
    BindOperand,
    CallFunction,
    CountGroup,
    Enter,
    IsConstant,
    Match,
    MatchStep,
    Restrict,
)
from commonir.rewrite.subterms import operations_in, subterms

_MAX_SWAPS = 8
"""The most pairs of operands of a rule that may be in either order: each doubles the number of alternatives."""


class Compiled:
    """A compiled rule. `alternatives` are its steps for each order of commutative operands.

    Raises: DiagnosticError (E0604, E0605) for an invalid rule.
    """

    __slots__ = ("_is_whole", "alternatives", "rewrite")

    def __init__(self, rewrite: Rewrite) -> None:
        self.rewrite = rewrite
        diagnostics = Diagnostics()
        swapping = [(id(t), pair) for t in operations_in(rewrite.source) for pair in t.swaps]
        if len(swapping) > _MAX_SWAPS:
            message = f"{len(swapping)} pairs of operands are in either order, at most {_MAX_SWAPS} may be"
            diagnostics.add(MALFORMED_RULE, f"rule {rewrite!r}: {message}", where=rewrite.position)
            diagnostics.raise_errors()
        self.alternatives: list[list[MatchStep]] = []
        faults: dict[str, None] = {}
        roles: dict[str, Role] = {}
        for swapped in product((False, True), repeat=len(swapping)):
            source = _Source(rewrite, {s for s, is_on in zip(swapping, swapped, strict=True) if is_on}, faults)
            self.alternatives.append(source.steps)
            roles = source.roles
        for message, code in (*((f, MALFORMED_RULE) for f in faults), *faults_of(rewrite, roles)):
            diagnostics.add(code, f"rule {rewrite!r}: {message}", where=rewrite.position)
        diagnostics.raise_errors()
        # If so, the results depend on all built operations, and a search for unused ones is not needed.
        self._is_whole = (
            len(rewrite.results) == 1
            and bool(self.definition.layout.results)
            and not rewrite.supplements
            and not any(isinstance(t, Computed) for t in subterms(rewrite.results))
        )

    @property
    def definition(self) -> type[Op]:
        """The definition of the operation at the root of the source."""
        return op_class(self.rewrite.source)

    def takes(self, op_class: type[Operation]) -> bool:
        """Returns whether a class has the definition at the root, in a version with the same categories of fields."""
        return issubclass(op_class, self.definition) and op_class.has_form_of(self.definition)

    def match(self, op: Op) -> Match | None:
        """Returns the bindings of variables if the rule applies to an operation, else None."""
        for steps in self.alternatives:
            match = self._start(op)
            for step in steps:
                if not step.holds(match):
                    break
            else:
                return match
        return None

    def _start(self, op: Op) -> Match:
        match = Match(op)
        if self.rewrite.source.label:
            match.bound[self.rewrite.source.label] = op.results
        return match

    def mismatch(self, op: Operation) -> str | None:
        """Returns why the rule does not apply to an operation; None when it does."""
        if not isinstance(op, self.definition) or not self.takes(type(op)):
            if op.name != self.definition.name:
                return f"{op.name} is not {self.definition.name}"
            return f"{op.name} is of another version than {self.definition.since or 'the one'} that the rule is for"
        reasons: dict[str, None] = {}
        for steps in self.alternatives:
            match = self._start(op)
            failed = next((step for step in steps if not step.holds(match)), None)
            if failed is None:
                builder = ResultBuilder(op, match.bound)
                try:
                    builder.build(self.rewrite.results, self.rewrite.supplements)
                except Refused as refused:
                    return str(refused)
                builder.erase_built()
                return None
            reasons[failed.reason(match)] = None
        return "; ".join(reasons)

    def build(self, op: Op, match: Match) -> tuple[Value, ...] | str:
        """Returns values for the results of an operation, defined by detached operations, or the reason why it cannot.

        All operations that were built are in `match.built`.
        """
        builder = ResultBuilder(op, match.bound)
        try:
            values = builder.build(self.rewrite.results, self.rewrite.supplements)
        except Refused as refused:
            return str(refused)
        match.built = builder.built
        match.has_unused = not self._is_whole and not set(builder.built) <= set(operations_behind(values))
        return values

    def __repr__(self) -> str:
        return repr(self.rewrite)


class _Source:
    """The steps of a source, and the names that they bind."""

    def __init__(self, rewrite: Rewrite, swapped: set[tuple[int, tuple[str, str]]], faults: dict[str, None]) -> None:
        self.rewrite = rewrite
        self.faults = faults
        self.steps: list[MatchStep] = []
        self.roles: dict[str, Role] = {}
        self._count = 1
        self._bind(rewrite.source.label, Role.OPERATION)
        pending = deque([(rewrite.source, 0)])
        while pending:
            term, at = pending.popleft()
            exchanged = {a: b for number, pair in swapped if number == id(term) for a, b in (pair, pair[::-1])}
            for name, field, value in _mentioned_fields(term, exchanged):
                pending += self._field(term, at, name, field, value)
        self.steps += [Restrict(r) for r in rewrite.restrictions]

    def _bind(self, name: str, role: Role) -> None:
        """Records the role of a name. A value or an attribute may have several names, which are then equal."""
        if not name:
            return
        current = self.roles.get(name)
        self.roles[name] = role if current in (None, Role.OUTPUT) else current
        if current is None or Role.OUTPUT in (current, role):
            return
        if current is not role or role is Role.OPERATION:
            self._fault(f"${name} is bound more than once: to {current.value}, and to {role.value}")

    def _field(self, term: OperationTerm, at: int, name: str, field: Field | None, value: object) -> Iterator[Any]:
        if isinstance(value, Anything):
            return
        if field is None or field.kind is FieldKind.ATTRIBUTE or not _is_of_values(value, field):
            self._attribute(term, at, name, field, value)
            return
        items = value.items if isinstance(value, Group) else value
        if field.variadic and is_sequence(items):
            self.steps.append(CountGroup(at, field, len(items)))
            if isinstance(value, Group):
                self._bind(value.name, Role.OPERANDS)
                self.steps.append(BindGroup(at, field, value.name))
            for n, item in enumerate(items):
                yield from self._operand(at, field, n, item)
        elif field.variadic and isinstance(value, Variable):
            self._bind(value.name, Role.OPERANDS)
            self.steps.append(BindGroup(at, field, value.name, self._type_of(value, name)))
        else:
            yield from self._operand(at, field, None, value)

    def _operand(self, at: int, field: Field, index: int | None, value: object) -> Iterator[Any]:
        match value:
            case Anything():
                pass
            case Variable():
                self._bind(value.name, Role.OPERAND)
                self.steps.append(BindOperand(at, field, index, value.name, self._type_of(value, field.spelling)))
            case Constant():
                self._bind(value.name, Role.OPERAND)
                self.steps.append(IsConstant(at, field, index, value))
            case SourceCall():
                self._add_call(CallFunction(at, field, index, value, is_value=True))
            case OperationTerm():
                self._bind(value.label, Role.OPERATION)
                self.steps.append(Enter(at, field, index, op_class(value), value.label, value.pick or 0))
                yield value, self._count
                self._count += 1
            case _:
                self._fault(f"operand '{field.spelling}' cannot be {value!r}")

    def _add_call(self, step: CallFunction) -> None:
        self.steps.append(step)
        for output in step.term.outputs:
            if isinstance(output, Variable):
                self._bind(output.name, Role.OUTPUT)

    def _type_of(self, variable: Variable, name: str) -> TypeConstraint | None:
        if isinstance(variable.constraint, Check):
            self._fault(f"'{name}' is an operand, and ${variable.name} says what an attribute must be")
        return variable.constraint if isinstance(variable.constraint, TypeConstraint) else None

    def _attribute(self, term: OperationTerm, at: int, name: str, field: Field | None, value: object) -> None:
        extra = name if field is None else ""
        match value:
            case SourceCall():
                self._add_call(CallFunction(at, field, None, value, is_value=False, extra=extra))
            case Variable():
                if isinstance(value.constraint, TypeConstraint):
                    self._fault(f"'{name}' is an attribute, and ${value.name} says what the type of a value must be")
                check = value.constraint if isinstance(value.constraint, Check) else None
                self._bind(value.name, Role.ATTRIBUTE)
                self.steps.append(AttributeStep(at, field, name=value.name, check=check, extra=extra))
            case OperationTerm() | Constant() | Group():
                self._fault(f"attribute '{name}' cannot be {value!r}")
            case _:
                try:
                    expected = stored_literal(field, value)
                except ValueError as error:
                    self._fault(f"attribute '{name}' of {term.definition.name}: {error}")
                else:
                    shown = str(value) if isinstance(value, Attribute) else repr(value)
                    self.steps.append(AttributeStep(at, field, expected=expected, shown=shown, extra=extra))

    def _fault(self, message: str) -> None:
        self.faults[message] = None


def _mentioned_fields(term: OperationTerm, exchanged: Mapping[str, str]) -> Iterator[tuple[str, Field | None, object]]:
    """Yields the fields that a term mentions with their terms, with exchanged operands."""
    fields = term.definition.layout.by_name
    for name, defaults in term.fields.items():
        field = exchanged.get(name, name)
        yield field, fields[field], defaults
    for name, defaults in term.extra.items():
        yield name, None, defaults


def _is_of_values(value: object, field: Field) -> bool:
    """Returns whether the term of a parameter is about the operand it is bound to rather than its value."""
    if field.kind is FieldKind.PARAMETER:
        return isinstance(value, Constant | OperationTerm)
    return field.kind in VALUES
