"""Checks of rewrite rules before they are applied: roles of names, completeness, and rules that can never match.

A name stands for an operand, an attribute or an operation, and each use of it must be one that this has. What an
operand or attribute may be is compared on samples (`sample_types`): a rule whose constraints exclude each other, or
what a definition requires, never matches.

Source: MLIR operation definitions, op DAG pattern rewrites; MLIR, declarative rewrite rules.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import Enum

from commonir.base.codes import INCOMPLETE_RULE, MALFORMED_RULE
from commonir.base.diagnostics import Code, Diagnostic
from commonir.ir.attributes import Attribute, FloatAttr, IntegerAttr, attribute_of
from commonir.ir.types import Type, none
from commonir.ods import Op
from commonir.ods.fields import Check, Field, FieldKind
from commonir.ods.patterns import TypeConstraint
from commonir.ods.terms import Anything, Computed, Constant, OperationTerm, Rewrite, Term, Variable
from commonir.rewrite.build_results import VALUES, types_by_term, value_count
from commonir.rewrite.sample_types import (
    accepted_attributes,
    infers_its_types,
    sampled,
    sampled_attributes,
    stored_attributes,
)
from commonir.rewrite.subterms import items_of, operations_in, subterms


class Role(Enum):
    """The role of a name in a rule."""

    OPERATION = "an operation"
    OPERAND = "an operand"
    OPERANDS = "operands"
    ATTRIBUTE = "an attribute"
    OUTPUT = "the output of a function"


Fault = tuple[str, Code]


def stored_literal(field: Field | None, value: object) -> Attribute:
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


def faults_of(rewrite: Rewrite, roles: Mapping[str, Role]) -> Iterator[Fault]:
    """Yields the errors in the result and the conditions of a rule, whose source gives names these roles."""
    results = (*rewrite.results, *rewrite.supplements)
    labels = [t.label for t in subterms(results) if isinstance(t, OperationTerm | Computed) and t.label]
    for name in dict.fromkeys([n for n in labels if n in roles or labels.count(n) > 1]):
        yield f"${name} names something in the result, and is taken", MALFORMED_RULE
    for name in _unbound(results, {*roles, *labels}):
        yield f"${name} is bound by nothing in its source", MALFORMED_RULE
    for term in dict.fromkeys([t for t in subterms(results) if isinstance(t, Constant)]):
        hint = "use its name" if term.name else "make an operation of the constant"
        yield f"'{term!r}' is a condition, which only a source can have: {hint}", MALFORMED_RULE
    for name in _unbound([a for r in rewrite.restrictions for a in r.arguments], roles):
        yield f"${name} of a condition is bound by nothing in its source", MALFORMED_RULE
    for message in dict.fromkeys(_Roles(rewrite, roles).faults()):
        yield message, MALFORMED_RULE
    counts = [
        1 if isinstance(r, Variable) and roles.get(r.name) is Role.OPERAND else value_count(r) for r in rewrite.results
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
    for name in _early(rewrite.results):
        yield f"${name} is used before the operation that it names is built", MALFORMED_RULE
    for term in operations_in((*_without_types(rewrite), *rewrite.supplements)):
        if not term.types and not infers_its_types(_definition(term)):
            name = term.definition.name
            yield (
                f"the types of the results of {name} in the result of the rule cannot be inferred: state them",
                INCOMPLETE_RULE,
            )


def _early(results: Sequence[object]) -> Iterator[str]:
    """Yields names that a result uses and only a later result gives."""
    for n, result in enumerate(results):
        later = {t.label for t in subterms(results[n + 1 :]) if isinstance(t, OperationTerm | Computed) and t.label}
        used = [v.name.partition("__")[0] for v in subterms([result]) if isinstance(v, Variable)]
        yield from dict.fromkeys([name for name in used if name in later])


def _without_types(rewrite: Rewrite) -> Iterator[object]:
    """Yields the terms in results whose types are not those of the results that the rule replaces."""
    replaced = rewrite.source.definition.layout.results
    is_known = not any(f.variadic or f.optional for f in replaced)
    types = types_by_term(rewrite.results, [none] * len(replaced)) if is_known else [()] * len(rewrite.results)
    for result, own in zip(rewrite.results, types, strict=True):
        if own is None or not isinstance(result, OperationTerm):
            yield result
        else:
            yield from result.fields.values()


def _unbound(terms: Sequence[object], bound: Collection[str]) -> Iterator[str]:
    """Yields the unbound variables of terms and locations."""
    terms_with_location = [t for t in subterms(terms) if isinstance(t, OperationTerm | Computed)]
    locations = [v for t in terms_with_location if t.location is not None for v in t.location.sources]
    for name in dict.fromkeys([v.name for v in (*subterms(terms), *locations) if isinstance(v, Variable)]):
        if name not in bound and name.partition("__")[0] not in bound:
            yield name


def _definition(term: OperationTerm) -> type[Op]:
    if not issubclass(term.definition, Op):
        raise TypeError(f"{term.definition.name} is not an operation")
    return term.definition


class _Roles:
    """Compares the uses of names in the result and the conditions of a rule with what they stand for."""

    def __init__(self, rewrite: Rewrite, roles: Mapping[str, Role]) -> None:
        self.rewrite = rewrite
        self.results = (*rewrite.results, *rewrite.supplements)
        self.operations = {t.label: t for t in operations_in((rewrite.source, *self.results)) if t.label}
        computed = [t for t in subterms(self.results) if isinstance(t, Computed)]
        self.roles = {
            **{t.label: Role.OUTPUT for t in computed if t.label},
            **dict.fromkeys(self.operations, Role.OPERATION),
            **roles,
        }

    def faults(self) -> Iterator[str]:
        """Yields the uses that the role of a name excludes."""
        for term in operations_in((self.rewrite.source, *self.results)):
            fields = term.definition.layout.by_name
            is_source = term in self._in_source
            for name, value in term.fields.items():
                field = fields[name]
                for item in items_of(value) or (value,):
                    yield from self._nested(item, field, term)
                    if not is_source and field.kind in VALUES:
                        yield from self._operand(item, field, term)
                    elif not is_source and field.kind is FieldKind.ATTRIBUTE:
                        yield from self._attribute(item, field, term)
            yield from self._directives(term)
        for value in self.rewrite.results:
            yield from self._replacement(value)
        for restriction in self.rewrite.restrictions:
            for argument in restriction.arguments:
                role = self._role(argument)
                if isinstance(restriction.constraint, TypeConstraint) and role is Role.ATTRIBUTE:
                    yield f"{argument!r} is an attribute, and the condition is on the type of a value"
        everything = (*subterms(self.results), *[a for r in self.rewrite.restrictions for a in r.arguments])
        for value in everything:
            yield from self._picked(value)

    @property
    def _in_source(self) -> set[OperationTerm]:
        return set(operations_in(self.rewrite.source))

    def _role(self, value: object) -> Role | None:
        """Returns the role of a variable; a result of an operation, `r__1`, is an operand."""
        if not isinstance(value, Variable):
            return None
        if value.name in self.roles:
            return self.roles[value.name]
        return Role.OPERAND if self.roles.get(value.name.partition("__")[0]) is Role.OPERATION else None

    def _nested(self, item: object, field: Field, term: OperationTerm) -> Iterator[str]:
        """Yields the errors in an operation that is the argument of another."""
        where = f"'{field.spelling}' of {term.definition.name}"
        if not isinstance(item, OperationTerm) or field.kind not in VALUES:
            return
        results = item.definition.layout.results
        if not results:
            yield f"{where} cannot be a result of {item.definition.name}, which has none"
        elif item.pick is not None and item.pick >= len(results) and not any(f.variadic for f in results):
            yield f"{where} cannot be result {item.pick} of {item.definition.name}, which has {len(results)}"

    def _operand(self, item: object, field: Field, term: OperationTerm) -> Iterator[str]:
        where = f"'{field.spelling}' of {term.definition.name}"
        role = self._role(item)
        if field.kind is FieldKind.PARAMETER:
            return
        if role is Role.ATTRIBUTE:
            yield f"{where} is an operand, and {item!r} is an attribute"
        elif role in (Role.OPERAND, Role.OPERATION):
            yield from self._value(item, where)
        elif not isinstance(item, Term):
            yield f"{where} is an operand, and {item!s} is an attribute: make an operation that has it as its result"

    def _value(self, item: object, where: str) -> Iterator[str]:
        """Yields the errors in a variable that is used as a value."""
        if not isinstance(item, Variable):
            return
        label = item.name if item.name in self.operations else item.name.partition("__")[0]
        operation = self.operations.get(label)
        if operation is self.rewrite.source:
            yield f"{where} would be a result that the rule replaces"
        elif operation is not None and not operation.definition.layout.results:
            yield f"{where} cannot be a result of {operation.definition.name}, which has none"

    def _attribute(self, item: object, field: Field, term: OperationTerm) -> Iterator[str]:
        where = f"'{field.spelling}' of {term.definition.name}"
        role = self._role(item)
        if role in (Role.OPERAND, Role.OPERANDS, Role.OPERATION):
            yield f"{where} is an attribute, and {item!r} is {role.value}"
        elif isinstance(item, OperationTerm):
            yield f"{where} is an attribute, and {item.definition.name} is an operation"
        elif not isinstance(item, Term):
            try:
                stored_literal(field, item)
            except ValueError as error:
                yield f"{where}: {error}"

    def _directives(self, term: OperationTerm) -> Iterator[str]:
        for value in term.types:
            if self._role(value) is Role.ATTRIBUTE:
                yield f"{value!r} is an attribute, which has no type that a result could have"
        for value in term.location.sources if term.location is not None else ():
            if self._role(value) is Role.ATTRIBUTE:
                yield f"{value!r} is an attribute, which has no location"

    def _replacement(self, value: object) -> Iterator[str]:
        if self._role(value) is Role.ATTRIBUTE:
            yield f"{value!r} is an attribute, which cannot replace a result"
        elif not isinstance(value, Term):
            yield f"{value!s} cannot replace a result: it is not a value"
        elif self._role(value) in (Role.OPERAND, Role.OPERATION):
            yield from self._value(value, "the replacement")

    def _picked(self, value: object) -> Iterator[str]:
        """Yields the errors in a numbered result, `$name__1`."""
        if not isinstance(value, Variable) or value.name in self.roles:
            return
        label, _, number = value.name.partition("__")
        operation = self.operations.get(label)
        if not number.isdigit() or label not in self.roles:
            return
        if operation is None and self.roles[label] in (Role.OPERAND, Role.ATTRIBUTE):
            yield f"${label} is {self.roles[label].value}, which has no number {number}"
        results = () if operation is None else operation.definition.layout.results
        if operation is not None and int(number) >= len(results) and not any(f.variadic for f in results):
            yield f"{operation.definition.name} has {len(results)} results, not one with number {number}"


# -- rules that can never match


class _Possible:
    """The samples to which each name of a rule may be bound; names without limits are absent."""

    def __init__(self) -> None:
        self.values: dict[str, frozenset[int]] = {}
        self.texts: dict[str, str] = {}

    def limit(self, name: str, text: str, samples: frozenset[int] | None) -> str | None:
        """Limits a name to samples; returns the limit that excludes all of them, if there is one.

        A set without samples is not known: the types or attributes that it admits are none of the samples.
        """
        if not samples:
            return None
        before = self.values.get(name)
        if before is not None and before.isdisjoint(samples):
            return self.texts[name]
        self.values[name] = samples if before is None else before & samples
        if before is None or not before <= samples:
            self.texts[name] = text
        return None


def _contradictions(rewrite: Rewrite) -> Iterator[str]:
    """Yields why a rule can never match, or never give a result: constraints that no type or attribute satisfies.

    Types are compared on samples, so that a contradiction may remain unnoticed, as of two ranges of dims.
    """
    possible = _Possible()
    for term in operations_in(rewrite.source):
        fields = term.definition.layout.by_name
        for name, value in term.fields.items():
            for item in items_of(value) or (value,):
                yield from _excluded_in_source(item, fields[name], term, possible)
    for restriction in rewrite.restrictions:
        for argument in restriction.arguments:
            if isinstance(argument, Variable) and isinstance(restriction.constraint, TypeConstraint):
                text, samples = restriction.constraint.summary, sampled(restriction.constraint)
                other = possible.limit(argument.name, text, samples)
                if other is not None:
                    yield f"{argument!r} must be {other}, which is never {text}"
    for term in operations_in((*rewrite.results, *rewrite.supplements)):
        yield from _excluded_types(term)
        fields = term.definition.layout.by_name
        for name, value in term.fields.items():
            for item in items_of(value) or (value,):
                yield from _excluded_in_result(item, fields[name], term, possible)


def _excluded_in_source(item: object, field: Field, term: OperationTerm, possible: _Possible) -> Iterator[str]:
    where = f"'{field.spelling}' of {term.definition.name}"
    if isinstance(item, OperationTerm):
        yield from _excluded_result(item, field, where)
    if not isinstance(item, Variable):
        return
    for text, samples in _limits(field, item.constraint):
        other = possible.limit(item.name, text, samples)
        if other is not None:
            yield f"{where} must be {other}, which is never {text}"


def _limits(field: Field, constraint: TypeConstraint | Check | None) -> Iterator[tuple[str, frozenset[int] | None]]:
    """Yields the samples that a field and a constraint admit, with their texts."""
    if field.kind is FieldKind.ATTRIBUTE:
        text = "what the definition admits" if field.check is None else field.check.text
        yield text if field.type is None else field.type.name, stored_attributes(field)
        if isinstance(constraint, Check):
            yield constraint.text, sampled_attributes(constraint)
    elif field.kind is FieldKind.OPERAND:
        if isinstance(field.pattern, TypeConstraint):
            yield field.pattern.summary, sampled(field.pattern)
        if isinstance(constraint, TypeConstraint):
            yield constraint.summary, sampled(constraint)


def _excluded_result(item: OperationTerm, field: Field, where: str) -> Iterator[str]:
    """Yields that the result of an operation never fits the operand that it is."""
    results = item.definition.layout.results
    index = item.pick or 0
    if index >= len(results) or any(f.variadic for f in results):
        return
    made, taken = results[index].pattern, field.pattern
    if isinstance(made, TypeConstraint) and isinstance(taken, TypeConstraint):
        one, other = sampled(made), sampled(taken)
        if one and other and one.isdisjoint(other):
            yield f"{where} must be {taken.summary}, and {item.definition.name} gives {made.summary}"


def _excluded_in_result(item: object, field: Field, term: OperationTerm, possible: _Possible) -> Iterator[str]:
    where = f"'{field.spelling}' of {term.definition.name}"
    if isinstance(item, OperationTerm) and not item.types:
        yield from _excluded_result(item, field, where)
    before = possible.values.get(item.name) if isinstance(item, Variable) else None
    if not isinstance(item, Variable) or before is None:
        return
    if field.kind is FieldKind.ATTRIBUTE:
        accepted, text = accepted_attributes(field), "" if field.type is None else field.type.name
    elif field.kind is FieldKind.OPERAND and isinstance(field.pattern, TypeConstraint):
        accepted, text = sampled(field.pattern), field.pattern.summary
    else:
        return
    if accepted and before.isdisjoint(accepted):
        yield f"{where} must be {text}, and {item!r} is {possible.texts[item.name]}"


def _excluded_types(term: OperationTerm) -> Iterator[str]:
    """Yields the declared types that results of an operation never have."""
    results = term.definition.layout.results
    if any(f.variadic for f in results):
        return
    for field, type in zip(results, term.types, strict=False):
        if isinstance(type, Type) and isinstance(field.pattern, TypeConstraint) and not field.pattern.admits(type):
            yield f"a result of {term.definition.name} must be {field.pattern.summary}, not {type}"


def _changed_types(rewrite: Rewrite) -> Iterator[str]:
    """Yields the operations in the result of a rule whose results never have the types of those that they replace."""
    replaced = list(rewrite.source.definition.layout.results)
    for term in reversed(rewrite.results):
        if not isinstance(term, OperationTerm) or term.pick is not None or not replaced:
            return
        made = term.definition.layout.results
        if any(not f.is_required for f in (*made, *replaced)):
            return
        for new in reversed(made):
            old = replaced.pop() if replaced else None
            if (
                old is None
                or not isinstance(new.pattern, TypeConstraint)
                or not isinstance(old.pattern, TypeConstraint)
            ):
                continue
            one, other = sampled(new.pattern), sampled(old.pattern)
            if one and other and one.isdisjoint(other):
                before, name = rewrite.source.definition.name, term.definition.name
                yield f"{name} gives {new.pattern.summary}, and {before} {old.pattern.summary}"


def check_types(rewrites: Sequence[Rewrite], *, may_change_types: bool = False) -> list[Diagnostic]:
    """Returns a diagnostic (E0604) for each rule that can never apply because of types or attributes.

    With `may_change_types`, a replacement may have other types than what it replaces, as in a legalization.
    """
    out: list[Diagnostic] = []
    for rewrite in rewrites:
        messages = [*_contradictions(rewrite), *(() if may_change_types else _changed_types(rewrite))]
        for message in dict.fromkeys(messages):
            text = f"rule {rewrite!r} never applies: {message}"
            out.append(Diagnostic(MALFORMED_RULE, text, where=rewrite.position))
    return out
