"""Rewrite rules made ready: the source of a rule as a list of steps that bind and check, its result as what to make.

Steps are run in order on a list of operations: the one at hand, then those that define operands of it. A step that does
not hold ends the match, and tells why when asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from commonir.base.codes import INCOMPLETE_RULE, MALFORMED_RULE
from commonir.base.diagnostics import DiagnosticError, Diagnostics
from commonir.ir.attributes import Attribute, attribute_of, is_sequence
from commonir.ir.operation import Operation, Value
from commonir.notation import NotationError
from commonir.ods import Op, check_operation, known_data
from commonir.ods.fields import Check, Field, FieldKind
from commonir.ods.kinds import Kind
from commonir.ods.patterns import TypeConstraint
from commonir.ods.terms import Anything, Computed, Constant, OperationTerm, Restriction, Rewrite, Variable

_VALUES = (FieldKind.OPERAND, FieldKind.PARAMETER)


class Held(NamedTuple):
    """An attribute that a variable stands for: its value, and the kind of the field it is from."""

    value: object
    kind: Kind[Any] | None

    @property
    def attribute(self) -> Attribute:
        """Its storage form."""
        return attribute_of(self.value) if self.kind is None else self.kind.to_attribute(self.value)

    def to(self, kind: Kind[Any] | None) -> object:
        """Its value as one of another kind. Raises: ValueError when that cannot hold it."""
        if kind is self.kind:
            return self.value
        return self.attribute if kind is None else kind.from_attribute(self.attribute)


class Match:
    """A match in progress: the operations of the source found so far, and what variables stand for."""

    __slots__ = ("bound", "operations")

    def __init__(self, root: Op) -> None:
        self.operations: list[Op] = [root]
        self.bound: dict[str, object] = {}


class Step:
    """One step of a match. `at` is the number of the operation that it looks at."""

    __slots__ = ("at", "field")

    def __init__(self, at: int, field: Field | None) -> None:
        self.at = at
        self.field = field

    def holds(self, match: Match) -> bool:
        """Takes the step; whether it could be taken."""
        raise NotImplementedError

    def reason(self, match: Match) -> str:
        """Why it could not."""
        raise NotImplementedError

    def _where(self, match: Match) -> str:
        name = match.operations[self.at].name
        return name if self.field is None else f"'{self.field.spelling}' of {name}"


class Enter(Step):
    """An operand is the result of an operation of a definition."""

    __slots__ = ("definition", "index", "label")

    def __init__(self, at: int, field: Field, index: int | None, definition: type[Op], label: str) -> None:
        super().__init__(at, field)
        self.index = index
        self.definition = definition
        self.label = label

    def holds(self, match: Match) -> bool:
        value = _operand(match.operations[self.at], self.field, self.index)
        if value is None or not isinstance(value.owner, self.definition):
            return False
        match.operations.append(value.owner)
        if self.label:
            match.bound[self.label] = value.owner.results
        return True

    def reason(self, match: Match) -> str:
        value = _operand(match.operations[self.at], self.field, self.index)
        owner = None if value is None else value.owner
        found = owner.name if isinstance(owner, Operation) else "no operation" if value is not None else "nothing"
        return f"{self._where(match)} is the result of {found}, not of {self.definition.name}"


class BindOperand(Step):
    """A variable stands for an operand, or for the same as before."""

    __slots__ = ("index", "name", "type")

    def __init__(self, at: int, field: Field, index: int | None, name: str, type: TypeConstraint | None) -> None:
        super().__init__(at, field)
        self.index = index
        self.name = name
        self.type = type

    def holds(self, match: Match) -> bool:
        value = _operand(match.operations[self.at], self.field, self.index)
        if value is None or (self.type is not None and not self.type.admits(value.type)):
            return False
        return match.bound.setdefault(self.name, value) is value

    def reason(self, match: Match) -> str:
        value = _operand(match.operations[self.at], self.field, self.index)
        if value is None:
            return f"{self._where(match)} is not there"
        if self.type is not None and not self.type.admits(value.type):
            return f"{self._where(match)} must be {self.type.summary}, found {value.type}"
        return f"{self._where(match)} is not the same value as ${self.name} elsewhere"


class BindGroup(Step):
    """A variable stands for all values of a variadic operand."""

    __slots__ = ("name", "type")

    def __init__(self, at: int, field: Field, name: str, type: TypeConstraint | None) -> None:
        super().__init__(at, field)
        self.name = name
        self.type = type

    def holds(self, match: Match) -> bool:
        values = _group(match.operations[self.at], self.field)
        if self.type is not None and not all(self.type.admits(v.type) for v in values):
            return False
        return match.bound.setdefault(self.name, values) == values

    def reason(self, match: Match) -> str:
        if self.name in match.bound and match.bound[self.name] != _group(match.operations[self.at], self.field):
            return f"{self._where(match)} are not the same values as ${self.name} elsewhere"
        return f"{self._where(match)} must be {'' if self.type is None else self.type.summary}"


class CountGroup(Step):
    """A variadic operand has so many values."""

    __slots__ = ("count",)

    def __init__(self, at: int, field: Field, count: int) -> None:
        super().__init__(at, field)
        self.count = count

    def holds(self, match: Match) -> bool:
        return len(_group(match.operations[self.at], self.field)) == self.count

    def reason(self, match: Match) -> str:
        found = len(_group(match.operations[self.at], self.field))
        return f"{self._where(match)} has {found} values, not {self.count}"


class IsConstant(Step):
    """An operand is known before running, and something holds of its elements."""

    __slots__ = ("index", "term")

    def __init__(self, at: int, field: Field, index: int | None, term: Constant) -> None:
        super().__init__(at, field)
        self.index = index
        self.term = term

    def holds(self, match: Match) -> bool:
        value = _operand(match.operations[self.at], self.field, self.index)
        data = None if value is None else known_data(value)
        if data is None or not self.term.holds(data.values()):
            return False
        if self.term.name:
            match.bound[self.term.name] = value
        return True

    def reason(self, match: Match) -> str:
        value = _operand(match.operations[self.at], self.field, self.index)
        if value is None or known_data(value) is None:
            return f"{self._where(match)} is not constant"
        return f"{self._where(match)} is not {self.term.text}"


class AttributeStep(Step):
    """An attribute is a value, or what a variable stands for."""

    __slots__ = ("check", "extra", "name", "value")

    def __init__(
        self,
        at: int,
        field: Field | None,
        *,
        name: str = "",
        value: object = None,
        check: Check | None = None,
        extra: str = "",
    ) -> None:
        super().__init__(at, field)
        self.name = name
        self.value = value
        self.check = check
        self.extra = extra

    def _found(self, match: Match) -> Held | None:
        op = match.operations[self.at]
        if self.field is None:
            given = op.extra.get(self.extra)
            return None if given is None else Held(given, None)
        try:
            value = op.field_value(self.field)
        except DiagnosticError:
            return None
        return None if value is None else Held(value, self.field.type)

    def holds(self, match: Match) -> bool:
        found = self._found(match)
        if found is None or (self.check is not None and not self.check.holds(found.value)):
            return False
        if not self.name:
            return found.value == self.value
        known = match.bound.setdefault(self.name, found)
        return known is found or (isinstance(known, Held) and known.attribute is found.attribute)

    def reason(self, match: Match) -> str:
        found = self._found(match)
        where = self._where(match) if self.field is not None else f"'{self.extra}' of {match.operations[self.at].name}"
        if found is None:
            return f"{where} is not there"
        if self.check is not None and not self.check.holds(found.value):
            return f"{where} must be {self.check.text}, found {found.value!r}"
        return f"{where} is {found.value!r}, not {f'that of ${self.name} elsewhere' if self.name else repr(self.value)}"


class Restrict(Step):
    """A condition on what is bound."""

    __slots__ = ("restriction",)

    def __init__(self, restriction: Restriction) -> None:
        super().__init__(0, None)
        self.restriction = restriction

    def holds(self, match: Match) -> bool:
        given = [_plain(a, match.bound) for a in self.restriction.arguments]
        return bool(self.restriction.holds(*given))

    def reason(self, match: Match) -> str:
        return f"{match.operations[0].name} must be such that {self.restriction.text}"


def _operand(op: Op, field: Field | None, index: int | None) -> Value | None:
    if field is None:
        return None
    if field.kind is FieldKind.PARAMETER:
        return op.bound_value(field)
    found: object = op.field_value(field)
    if is_sequence(found):
        found = found[index] if index is not None and index < len(found) else None
    return found if isinstance(found, Value) else None


def _group(op: Op, field: Field | None) -> tuple[Value, ...]:
    return () if field is None else op.field_value(field)


def _plain(term: object, bound: Mapping[str, object]) -> object:
    """What functions of rules receive: values, and attributes as Python values."""
    found = bound[term.name] if isinstance(term, Variable) else term
    if isinstance(found, Held):
        return found.value
    return found[0] if is_sequence(found) and len(found) == 1 else found


class Compiled:
    """A rule that is ready to be applied. `alternatives` are its steps, once for each order of operands that may swap.

    Raises: DiagnosticError (E0604, E0605) for a rule that cannot be used.
    """

    __slots__ = ("alternatives", "rewrite")

    def __init__(self, rewrite: Rewrite) -> None:
        self.rewrite = rewrite
        found = Diagnostics()
        swapping = [t for t in operations_in(rewrite.source) if t.swaps]
        self.alternatives: list[list[Step]] = []
        names: set[str] = set()
        for swapped in product((False, True), repeat=len(swapping)):
            source = _Source(rewrite, {id(t) for t, s in zip(swapping, swapped, strict=True) if s}, found)
            self.alternatives.append(source.steps)
            names = source.names
        for message, code in _faults(rewrite, names):
            found.add(code, f"rule {rewrite!r}: {message}", where=rewrite.place)
        found.raise_errors()

    @property
    def definition(self) -> type[Op]:
        """What the operation at the root of the source is."""
        return _op_class(self.rewrite.source)

    def match(self, op: Op) -> Match | None:
        """What variables stand for, when the rule applies to an operation of its definition."""
        for steps in self.alternatives:
            match = Match(op)
            if self.rewrite.source.label:
                match.bound[self.rewrite.source.label] = op.results
            for step in steps:
                if not step.holds(match):
                    break
            else:
                return match
        return None

    def mismatch(self, op: Operation) -> str | None:
        """Why the rule does not apply to an operation; None when it does."""
        if not isinstance(op, self.definition):
            return f"{op.name} is no {self.definition.name}"
        reasons: dict[str, None] = {}
        for steps in self.alternatives:
            match = Match(op)
            failed = next((step for step in steps if not step.holds(match)), None)
            if failed is None:
                made = self.build(op, match)
                return made if isinstance(made, str) else None
            reasons[failed.reason(match)] = None
        return "; ".join(reasons)

    def build(self, op: Op, match: Match) -> tuple[Value, ...] | str:
        """Values for the results of an operation, by operations that are in no block yet, or why it cannot be."""
        maker = _Maker(op, match.bound)
        try:
            found: list[Value] = []
            for n, term in enumerate(self.rewrite.results):
                is_last = n == len(self.rewrite.results) - 1
                found += maker.results_of(term, replaces=is_last and not found)
        except _Refused as refused:
            return str(refused)
        except NotationError as error:
            return str(error)
        except DiagnosticError as error:
            return error.diagnostics[0].message
        return tuple(found[len(found) - len(op.results) :])

    def __repr__(self) -> str:
        return repr(self.rewrite)


class _Source:
    """The steps of a source, and the names that they bind."""

    def __init__(self, rewrite: Rewrite, swapped: set[int], found: Diagnostics) -> None:
        self.rewrite = rewrite
        self.found = found
        self.steps: list[Step] = []
        self.names: set[str] = {rewrite.source.label} - {""}
        self._count = 1
        pending = [(rewrite.source, 0)]
        while pending:
            term, at = pending.pop(0)
            for name, field, given in _given(term, swapped=id(term) in swapped):
                pending += self._field(term, at, name, field, given)
        self.steps += [Restrict(r) for r in rewrite.restrictions]

    def _field(self, term: OperationTerm, at: int, name: str, field: Field | None, given: object) -> Iterator[Any]:
        if isinstance(given, Anything):
            return
        if field is None or field.kind is FieldKind.ATTRIBUTE or not _is_of_values(given, field):
            self._attribute(term, at, name, field, given)
            return
        if field.variadic and is_sequence(given):
            self.steps.append(CountGroup(at, field, len(given)))
            for n, item in enumerate(given):
                yield from self._operand(at, field, n, item)
        elif field.variadic and isinstance(given, Variable):
            self.names.add(given.name)
            self.steps.append(BindGroup(at, field, given.name, _type_of(given)))
        else:
            yield from self._operand(at, field, None, given)

    def _operand(self, at: int, field: Field, index: int | None, given: object) -> Iterator[Any]:
        match given:
            case Anything():
                pass
            case Variable():
                self.names.add(given.name)
                self.steps.append(BindOperand(at, field, index, given.name, _type_of(given)))
            case Constant():
                self.names |= {given.name} - {""}
                self.steps.append(IsConstant(at, field, index, given))
            case OperationTerm():
                self.names |= {given.label} - {""}
                self.steps.append(Enter(at, field, index, _op_class(given), given.label))
                yield given, self._count
                self._count += 1
            case _:
                self._fault(f"operand '{field.name}' cannot be {given!r}")

    def _attribute(self, term: OperationTerm, at: int, name: str, field: Field | None, given: object) -> None:
        extra = name if field is None else ""
        if isinstance(given, Variable):
            check = given.constraint if isinstance(given.constraint, Check) else None
            self.names.add(given.name)
            self.steps.append(AttributeStep(at, field, name=given.name, check=check, extra=extra))
            return
        try:
            value = given if field is None or field.type is None else field.type.coerce(given)
        except ValueError as error:
            self._fault(f"attribute '{name}' of {term.definition.name}: {error}")
            return
        self.steps.append(AttributeStep(at, field, value=value, extra=extra))

    def _fault(self, message: str) -> None:
        self.found.add(MALFORMED_RULE, f"rule {self.rewrite!r}: {message}", where=self.rewrite.place)


def _given(term: OperationTerm, *, swapped: bool = False) -> Iterator[tuple[str, Field | None, object]]:
    """The fields that a term mentions with what it says of them; the first two operands exchanged when swapped."""
    fields = term.definition.layout.by_name
    items = list(term.fields.items())
    if swapped and len(items) > 1:
        (first, one), (second, two) = items[:2]
        items[:2] = [(first, two), (second, one)]
    for name, given in items:
        yield name, fields[name], given
    for name, given in term.extra.items():
        yield name, None, given


def _is_of_values(given: object, field: Field) -> bool:
    """Whether a term of a parameter speaks of the operand it is bound to, not of its value."""
    if field.kind is FieldKind.PARAMETER:
        return isinstance(given, Constant | OperationTerm)
    return field.kind in _VALUES


def _type_of(variable: Variable) -> TypeConstraint | None:
    return variable.constraint if isinstance(variable.constraint, TypeConstraint) else None


def _op_class(term: OperationTerm) -> type[Op]:
    if not issubclass(term.definition, Op):
        raise TypeError(f"{term.definition.name} is no operation")
    return term.definition


def operations_in(term: object) -> Iterator[OperationTerm]:
    """The operations of a term, outermost first."""
    pending = [term]
    while pending:
        at = pending.pop(0)
        if is_sequence(at):
            pending += at
        elif isinstance(at, OperationTerm):
            yield at
            pending += [*at.fields.values(), *at.extra.values()]
        elif isinstance(at, Computed):
            pending += at.arguments


def _used_in(terms: Sequence[object]) -> Iterator[str]:
    """The names of the variables of terms."""
    pending = list(terms)
    while pending:
        at = pending.pop()
        match at:
            case Variable():
                yield at.name
            case OperationTerm():
                pending += [*at.fields.values(), *at.extra.values()]
            case Computed():
                pending += at.arguments
            case _:
                pending += at if is_sequence(at) else ()


def _faults(rewrite: Rewrite, bound: set[str]) -> Iterator[tuple[str, Any]]:
    """What is wrong with the result and the conditions of a rule."""
    made = {t.label for r in rewrite.results for t in operations_in(r)}
    arguments = [a for r in rewrite.restrictions for a in r.arguments]
    for name in dict.fromkeys(_used_in(rewrite.results)):
        if name not in bound and name not in made and name.partition("__")[0] not in bound | made:
            yield f"${name} is bound by nothing in its source", MALFORMED_RULE
    for name in dict.fromkeys(_used_in(arguments)):
        if name not in bound:
            yield f"${name} of a condition is bound by nothing in its source", MALFORMED_RULE
    for result in rewrite.results:
        for term in operations_in(result):
            missing = [f for f in term.definition.layout.arguments if f.is_required and f.name not in term.fields]
            if missing:
                names = ", ".join([f"'{f.spelling}'" for f in missing])
                yield f"{term.definition.name} is made without {names}", INCOMPLETE_RULE
            if any(isinstance(t, Anything) for t in term.fields.values()):
                yield f"{term.definition.name} is made of something that is not said", INCOMPLETE_RULE


class _Refused(Exception):
    """A result cannot be made for the match at hand, and why."""


class _Maker:
    """Makes the results of one match."""

    def __init__(self, root: Op, bound: dict[str, object]) -> None:
        self.root = root
        self.bound = bound

    def results_of(self, term: object, *, replaces: bool = False) -> tuple[Value, ...]:
        """The values that a result term gives. `replaces`: it alone stands for the results of the operation at hand."""
        if isinstance(term, OperationTerm):
            made = self._operation(term, replaces=replaces)
            if term.label:
                self.bound[term.label] = made.results
            return made.results
        if isinstance(term, Computed):
            return _values(self._computed(term))
        if isinstance(term, Variable):
            return _values(self._variable(term.name))
        raise _Refused(f"{term!r} gives no value")

    def _variable(self, name: str) -> object:
        if name in self.bound:
            return self.bound[name]
        label, _, number = name.partition("__")
        results = self.bound.get(label)
        if is_sequence(results) and number.isdigit() and int(number) < len(results):
            return results[int(number)]
        raise _Refused(f"${name} stands for nothing")

    def _computed(self, term: Computed) -> object:
        given = [_plain(self._argument(a), self.bound) for a in term.arguments]
        made = term.function(*given)
        if made is None:
            raise _Refused(f"{term.name} gives nothing for it")
        return made

    def _argument(self, argument: object) -> object:
        if isinstance(argument, OperationTerm):
            return self.results_of(argument)[0]
        return self._computed(argument) if isinstance(argument, Computed) else argument

    def _operation(self, term: OperationTerm, *, replaces: bool) -> Op:
        definition = _op_class(term)
        arguments = {n: self._field(definition.layout.by_name[n], t) for n, t in term.fields.items()}
        root = self.root
        if replaces:
            # As the program says it: what is inferred may know less of sizes.
            made = definition.build(arguments, [r.type for r in root.results], root.location)
            wrong = check_operation(made)
            if wrong.has_errors:
                raise _Refused("; ".join([d.message for d in wrong]))
        else:
            try:
                made = definition(**arguments)
            except TypeError as error:
                raise _Refused(str(error)) from None
            made.location = root.location
        for name, given in term.extra.items():
            value = self._variable(given.name) if isinstance(given, Variable) else given
            made.set_extra(name, value.attribute if isinstance(value, Held) else attribute_of(value))
        return made

    def _field(self, field: Field, term: object) -> object:
        is_value = field.kind in _VALUES
        if is_value and field.variadic and is_sequence(term):
            return tuple([v for t in term for v in self.results_of(t)])
        if is_value:
            if field.kind is FieldKind.PARAMETER and not isinstance(term, OperationTerm | Variable):
                return self._attribute(field, term)
            found = self.results_of(term)
            return found if field.variadic else found[0] if found else None
        return self._attribute(field, term)

    def _attribute(self, field: Field, term: object) -> object:
        found = self._variable(term.name) if isinstance(term, Variable) else term
        if isinstance(found, Computed):
            found = self._computed(found)
        if isinstance(found, Held):
            try:
                return found.to(field.type)
            except ValueError as error:
                raise _Refused(f"'{field.name}': {error}") from None
        if isinstance(found, Attribute) and field.type is not None:
            try:
                return field.type.from_attribute(found)
            except ValueError as error:
                raise _Refused(f"'{field.name}': {error}") from None
        return found


def _values(found: object) -> tuple[Value, ...]:
    if isinstance(found, Value):
        return (found,)
    if isinstance(found, Operation):
        return found.results
    if is_sequence(found):
        values = [v for v in found if isinstance(v, Value)]
        if len(values) == len(found):
            return tuple(values)
    raise _Refused(f"{found!r} is no value")


__all__ = ["Compiled", "Held", "Match", "operations_in"]
