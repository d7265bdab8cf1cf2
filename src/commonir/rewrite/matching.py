"""Compiles rewrite rules: the source becomes a list of steps that bind and check, the result a builder."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from commonir.base.codes import INCOMPLETE_RULE, MALFORMED_RULE
from commonir.base.diagnostics import Code, Diagnostics
from commonir.ir.attributes import Attribute, FloatAttr, IntegerAttr, attribute_of, is_sequence
from commonir.ir.operation import Operation, Value
from commonir.ods import Op, operations_behind
from commonir.ods.fields import Check, Field, FieldKind
from commonir.ods.patterns import TypeConstraint
from commonir.ods.terms import Anything, Computed, Constant, Group, OperationTerm, Rewrite, SourceCall, Variable
from commonir.rewrite.build_results import VALUES, Refused, ResultBuilder, op_class, value_count
from commonir.rewrite.sample_types import infers_its_types
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

_MAX_SWAPS = 8
"""The most pairs of operands of a rule that may be in either order: each doubles the number of alternatives."""
_OPERATION, _OPERAND, _OPERANDS, _ATTRIBUTE = "an operation", "an operand", "operands", "an attribute"
_OUTPUT = "the output of a function"


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
        roles: dict[str, str] = {}
        for swapped in product((False, True), repeat=len(swapping)):
            source = _Source(rewrite, {s for s, is_on in zip(swapping, swapped, strict=True) if is_on}, faults)
            self.alternatives.append(source.steps)
            roles = source.roles
        for message, code in (*((f, MALFORMED_RULE) for f in faults), *_faults(rewrite, roles)):
            diagnostics.add(code, f"rule {rewrite!r}: {message}", where=rewrite.position)
        diagnostics.raise_errors()
        # If so, the results depend on all built operations, and a search for unused ones is not needed.
        self._is_whole = (
            len(rewrite.results) == 1
            and bool(self.definition.layout.results)
            and not rewrite.supplements
            and not any(isinstance(t, Computed) for t in _within(rewrite.results))
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
        self.roles: dict[str, str] = {}
        self._count = 1
        self._bind(rewrite.source.label, _OPERATION)
        pending = deque([(rewrite.source, 0)])
        while pending:
            term, at = pending.popleft()
            exchanged = {a: b for number, pair in swapped if number == id(term) for a, b in (pair, pair[::-1])}
            for name, field, value in _mentioned_fields(term, exchanged):
                pending += self._field(term, at, name, field, value)
        self.steps += [Restrict(r) for r in rewrite.restrictions]

    def _bind(self, name: str, role: str) -> None:
        """Records the role of a name. A value or an attribute may have several names, which are then equal."""
        if not name:
            return
        current = self.roles.setdefault(name, "")
        self.roles[name] = role if current in ("", _OUTPUT) else current
        if current and (current != role or role == _OPERATION) and _OUTPUT not in (current, role):
            self._fault(f"${name} is bound more than once: to {current}, and to {role}")

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
                self._bind(value.name, _OPERANDS)
                self.steps.append(BindGroup(at, field, value.name))
            for n, item in enumerate(items):
                yield from self._operand(at, field, n, item)
        elif field.variadic and isinstance(value, Variable):
            self._bind(value.name, _OPERANDS)
            self.steps.append(BindGroup(at, field, value.name, self._type_of(value, name)))
        else:
            yield from self._operand(at, field, None, value)

    def _operand(self, at: int, field: Field, index: int | None, value: object) -> Iterator[Any]:
        match value:
            case Anything():
                pass
            case Variable():
                self._bind(value.name, _OPERAND)
                self.steps.append(BindOperand(at, field, index, value.name, self._type_of(value, field.spelling)))
            case Constant():
                self._bind(value.name, _OPERAND)
                self.steps.append(IsConstant(at, field, index, value))
            case SourceCall():
                self._add_call(CallFunction(at, field, index, value, is_value=True))
            case OperationTerm():
                self._bind(value.label, _OPERATION)
                self.steps.append(Enter(at, field, index, op_class(value), value.label, value.pick or 0))
                yield value, self._count
                self._count += 1
            case _:
                self._fault(f"operand '{field.spelling}' cannot be {value!r}")

    def _add_call(self, step: CallFunction) -> None:
        self.steps.append(step)
        for output in step.term.outputs:
            if isinstance(output, Variable):
                self._bind(output.name, _OUTPUT)

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
                self._bind(value.name, _ATTRIBUTE)
                self.steps.append(AttributeStep(at, field, name=value.name, check=check, extra=extra))
            case OperationTerm() | Constant() | Group():
                self._fault(f"attribute '{name}' cannot be {value!r}")
            case _:
                try:
                    expected = _stored(field, value)
                except ValueError as error:
                    self._fault(f"attribute '{name}' of {term.definition.name}: {error}")
                else:
                    shown = str(value) if isinstance(value, Attribute) else repr(value)
                    self.steps.append(AttributeStep(at, field, expected=expected, shown=shown, extra=extra))

    def _fault(self, message: str) -> None:
        self.faults[message] = None


def _stored(field: Field | None, value: object) -> Attribute:
    """Returns a required attribute in the storage form of its field. Raises: ValueError when it never has that
    value.
    """
    attr_type = None if field is None else field.type
    if attr_type is None:
        return attribute_of(value)
    if not isinstance(value, Attribute):
        return attr_type.to_attribute(attr_type.coerce(value))
    stored = attr_type.to_attribute(attr_type.from_attribute(value))
    is_typed = attr_type.elides_type and isinstance(value, IntegerAttr | FloatAttr)
    if is_typed and type(stored) is type(value) and stored is not value:
        raise ValueError(f"it is never {value}")
    return stored


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


def operations_in(term: object) -> Iterator[OperationTerm]:
    """Yields the operations of a term, outermost first."""
    pending = deque([term])
    while pending:
        at = pending.popleft()
        if isinstance(at, OperationTerm):
            yield at
        pending += _parts(at)


def _parts(term: object) -> Sequence[object]:
    """Returns the direct subterms of a term."""
    match term:
        case OperationTerm():
            return (*term.fields.values(), *term.extra.values(), *term.types)
        case Computed():
            return term.arguments
        case Group():
            return term.items
        case _:
            return term if is_sequence(term) else ()


def _within(terms: Sequence[object]) -> Iterator[object]:
    """Yields terms and all their subterms."""
    pending = list(terms)
    while pending:
        at = pending.pop()
        yield at
        pending += _parts(at)


def _unbound(terms: Sequence[object], bound: Collection[str]) -> Iterator[str]:
    """Yields the unbound variables of terms and locations."""
    terms_with_location = [t for t in _within(terms) if isinstance(t, OperationTerm | Computed)]
    locations = [v for t in terms_with_location if t.location is not None for v in t.location.sources]
    for name in dict.fromkeys([v.name for v in (*_within(terms), *locations) if isinstance(v, Variable)]):
        if name not in bound and name.partition("__")[0] not in bound:
            yield name


def _faults(rewrite: Rewrite, bound: Mapping[str, str]) -> Iterator[tuple[str, Code]]:
    """Yields the errors in the result and the conditions of a rule."""
    results = (*rewrite.results, *rewrite.supplements)
    labels = [t.label for t in _within(results) if isinstance(t, OperationTerm | Computed) and t.label]
    for name in dict.fromkeys([n for n in labels if n in bound or labels.count(n) > 1]):
        yield f"${name} names something in the result, and is taken", MALFORMED_RULE
    for name in _unbound(results, {*bound, *labels}):
        yield f"${name} is bound by nothing in its source", MALFORMED_RULE
    for name in _unbound([a for r in rewrite.restrictions for a in r.arguments], bound):
        yield f"${name} of a condition is bound by nothing in its source", MALFORMED_RULE
    counts = [
        1 if isinstance(r, Variable) and bound.get(r.name) == _OPERAND else value_count(r) for r in rewrite.results
    ]
    expected = sum(f.is_required for f in rewrite.source.definition.layout.results)
    if None not in counts and sum(c or 0 for c in counts) < expected:
        result_count = sum(c or 0 for c in counts)
        message = f"{result_count} values cannot replace the {expected} results of {rewrite.source.definition.name}"
        yield message, INCOMPLETE_RULE
    for term in operations_in(results):
        missing = [f for f in term.definition.layout.arguments if f.is_required and f.name not in term.fields]
        if missing:
            names = ", ".join([f"'{f.spelling}'" for f in missing])
            yield f"{term.definition.name} is made without {names}", INCOMPLETE_RULE
        if any(isinstance(t, Anything) for t in term.fields.values()):
            yield f"{term.definition.name} has an operand or attribute that the rule does not specify", INCOMPLETE_RULE
    # Operations that replace the matched one have the types of its results.
    inner = [t for r in rewrite.results for t in (r.fields.values() if isinstance(r, OperationTerm) else (r,))]
    for term in operations_in((*inner, *rewrite.supplements)):
        if not term.types and not infers_its_types(term.definition):
            name = term.definition.name
            yield (
                f"the types of the results of {name} in the result of the rule cannot be inferred: state them",
                INCOMPLETE_RULE,
            )
