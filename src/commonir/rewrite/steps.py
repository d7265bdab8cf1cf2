"""The steps of a match: they navigate the program, check conditions and bind variables.

Steps run in order on a list of operations: the matched one, then those that define its operands. A failing step ends
the match, and explains why on request.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from commonir.base.codes import RULE_FUNCTION_FAILED
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.tuples import NamedTuple
from commonir.ir.attributes import Attribute, attribute_of, is_sequence
from commonir.ir.operation import Operation, Value
from commonir.notation import NotationError
from commonir.ods import Op, known_data
from commonir.ods.attr_types import AttrType
from commonir.ods.fields import Check, Field, FieldKind
from commonir.ods.patterns import TypeConstraint
from commonir.ods.terms import Anything, Constant, Restriction, SourceCall, StorageCheck, Variable


class BoundAttribute(NamedTuple):
    """An attribute bound to a variable: its value, and the type of its field."""

    value: object
    kind: AttrType[Any] | None

    @property
    def attribute(self) -> Attribute:
        """Its storage form."""
        return attribute_of(self.value) if self.kind is None else self.kind.to_attribute(self.value)

    def to(self, attr_type: AttrType[Any] | None) -> object:
        """Returns its value in another attribute type. Raises: ValueError when that is not possible."""
        if attr_type is self.kind:
            return self.value
        return self.attribute if attr_type is None else attr_type.from_attribute(self.attribute)


class Match:
    """A match in progress: the operations of the source found so far, and the values of variables.

    A variable is bound to a value, several values (of a group or of an operation), a `BoundAttribute`, or None for
    an absent one. `built` are the operations built for the match, in order; `has_unused` says that some of them do
    not define the values that replace results.
    """

    __slots__ = ("bound", "built", "has_unused", "operations")

    def __init__(self, root: Op) -> None:
        self.operations: list[Op] = [root]
        self.bound: dict[str, object] = {}
        self.built: list[Operation] = []
        self.has_unused = False


class MatchStep:
    """One step of a match. `at` is the index of the operation that it looks at."""

    __slots__ = ("at", "field")

    def __init__(self, at: int, field: Field | None) -> None:
        self.at = at
        self.field = field

    def holds(self, match: Match) -> bool:
        """Runs the step; returns whether it succeeded."""
        raise NotImplementedError

    def reason(self, match: Match) -> str:
        """Returns why the step failed."""
        raise NotImplementedError

    def _subject(self, match: Match) -> str:
        name = match.operations[self.at].name
        return name if self.field is None else f"'{self.field.spelling}' of {name}"


class Enter(MatchStep):
    """An operand is the result of an operation of a definition: the first result, or that with the index `pick`."""

    __slots__ = ("definition", "index", "label", "pick")

    def __init__(
        self, at: int, field: Field, index: int | None, definition: type[Op], label: str, pick: int = 0
    ) -> None:
        super().__init__(at, field)
        self.index = index
        self.definition = definition
        self.label = label
        self.pick = pick

    def holds(self, match: Match) -> bool:
        value = _operand(match.operations[self.at], self.field, self.index)
        if value is None or not isinstance(value.owner, self.definition) or value.index != self.pick:
            return False
        if not value.owner.has_form_of(self.definition):
            return False
        match.operations.append(value.owner)
        if self.label:
            match.bound[self.label] = value.owner.results
        return True

    def reason(self, match: Match) -> str:
        value = _operand(match.operations[self.at], self.field, self.index)
        if value is None:
            return f"{self._subject(match)} is absent"
        owner = value.owner
        if not isinstance(owner, Operation):
            return f"{self._subject(match)} is an argument, not the result of {self.definition.name}"
        if isinstance(owner, self.definition) and not owner.has_form_of(self.definition):
            return f"{self._subject(match)} is the result of another version of {owner.name}"
        if isinstance(owner, self.definition):
            return f"{self._subject(match)} is result {value.index} of {owner.name}, not {self.pick}"
        return f"{self._subject(match)} is the result of {owner.name}, not of {self.definition.name}"


class BindOperand(MatchStep):
    """Binds a variable to an operand, or compares the operand with its value."""

    __slots__ = ("index", "name", "type")

    def __init__(self, at: int, field: Field, index: int | None, name: str, type: TypeConstraint | None) -> None:
        super().__init__(at, field)
        self.index = index
        self.name = name
        self.type = type

    def holds(self, match: Match) -> bool:
        value = _operand(match.operations[self.at], self.field, self.index)
        if value is None:
            return self._may_be_absent and match.bound.setdefault(self.name, None) is None
        if self.type is not None and not self.type.admits(value.type):
            return False
        return match.bound.setdefault(self.name, value) is value

    @property
    def _may_be_absent(self) -> bool:
        return self.type is None and self.field is not None and self.field.optional

    def reason(self, match: Match) -> str:
        value = _operand(match.operations[self.at], self.field, self.index)
        if value is None and not self._may_be_absent:
            return f"{self._subject(match)} is absent"
        if value is not None and self.type is not None and not self.type.admits(value.type):
            return f"{self._subject(match)} must be {self.type.summary}, found {value.type}"
        return f"{self._subject(match)} is not the same value as ${self.name} elsewhere"


class BindGroup(MatchStep):
    """Binds a variable to all values of a variadic operand."""

    __slots__ = ("name", "type")

    def __init__(self, at: int, field: Field, name: str, type: TypeConstraint | None = None) -> None:
        super().__init__(at, field)
        self.name = name
        self.type = type

    def holds(self, match: Match) -> bool:
        values = _group(match.operations[self.at], self.field)
        if self.type is not None and not all(self.type.admits(v.type) for v in values):
            return False
        return match.bound.setdefault(self.name, values) == values

    def reason(self, match: Match) -> str:
        values = _group(match.operations[self.at], self.field)
        if self.name in match.bound and match.bound[self.name] != values:
            return f"{self._subject(match)} are not the same values as ${self.name} elsewhere"
        actual = ", ".join([str(v.type) for v in values])
        return f"{self._subject(match)} must be {'' if self.type is None else self.type.summary}, found {actual}"


class CountGroup(MatchStep):
    """A variadic operand has the required number of values."""

    __slots__ = ("count",)

    def __init__(self, at: int, field: Field, count: int) -> None:
        super().__init__(at, field)
        self.count = count

    def holds(self, match: Match) -> bool:
        return len(_group(match.operations[self.at], self.field)) == self.count

    def reason(self, match: Match) -> str:
        actual = len(_group(match.operations[self.at], self.field))
        return f"{self._subject(match)} has {actual} values, not {self.count}"


class IsConstant(MatchStep):
    """The elements of an operand are known before running and satisfy a condition."""

    __slots__ = ("index", "term")

    def __init__(self, at: int, field: Field, index: int | None, term: Constant) -> None:
        super().__init__(at, field)
        self.index = index
        self.term = term

    def holds(self, match: Match) -> bool:
        value = _operand(match.operations[self.at], self.field, self.index)
        data = None if value is None else known_data(value)
        if data is None or not self.term.admits(data):
            return False
        return not self.term.name or match.bound.setdefault(self.term.name, value) is value

    def reason(self, match: Match) -> str:
        value = _operand(match.operations[self.at], self.field, self.index)
        data = None if value is None else known_data(value)
        if data is None:
            return f"{self._subject(match)} is not constant"
        if self.term.admits(data):
            return f"{self._subject(match)} is not the same value as ${self.term.name} elsewhere"
        return f"{self._subject(match)} is not {self.term.text}"


class AttributeStep(MatchStep):
    """An attribute has a value, or is bound to a variable. `extra` is its name when no field declares it."""

    __slots__ = ("check", "expected", "extra", "name", "shown")

    def __init__(
        self,
        at: int,
        field: Field | None,
        *,
        name: str = "",
        expected: Attribute | None = None,
        shown: str = "",
        check: Check | None = None,
        extra: str = "",
    ) -> None:
        super().__init__(at, field)
        self.name = name
        self.expected = expected
        self.shown = shown
        self.check = check
        self.extra = extra

    def holds(self, match: Match) -> bool:
        actual = _attribute(match.operations[self.at], self.field, self.extra)
        if actual is None:
            return self._may_be_absent and match.bound.setdefault(self.name, None) is None
        if self.check is not None and not _passes(self.check, actual):
            return False
        # Equality of attributes: 0.0 differs from -0.0, and a NaN equals itself.
        if not self.name:
            return self.expected is None or actual.attribute is self.expected
        bound = match.bound.setdefault(self.name, actual)
        return bound is actual or (isinstance(bound, BoundAttribute) and bound.attribute is actual.attribute)

    @property
    def _may_be_absent(self) -> bool:
        return bool(self.name) and self.check is None and self.field is not None and self.field.optional

    def reason(self, match: Match) -> str:
        actual = _attribute(match.operations[self.at], self.field, self.extra)
        subject = (
            self._subject(match) if self.field is not None else f"'{self.extra}' of {match.operations[self.at].name}"
        )
        if actual is None and not self._may_be_absent:
            return f"{subject} is absent"
        if actual is not None and self.check is not None and not _passes(self.check, actual):
            return f"{subject} must be {self.check.text}, found {_shown(actual)}"
        other = f"that of ${self.name} elsewhere" if self.name else self.shown
        return f"{subject} is {_shown(actual)}, not {other}"


class CallFunction(MatchStep):
    """A function accepts an operand or an attribute, and binds variables to its outputs."""

    __slots__ = ("extra", "index", "is_value", "term")

    def __init__(
        self, at: int, field: Field | None, index: int | None, term: SourceCall, *, is_value: bool, extra: str = ""
    ) -> None:
        super().__init__(at, field)
        self.index = index
        self.term = term
        self.is_value = is_value
        self.extra = extra

    def _outputs(self, match: Match) -> tuple[object, ...] | None:
        op = match.operations[self.at]
        if self.is_value:
            subject: object = _operand(op, self.field, self.index)
        else:
            attribute = _attribute(op, self.field, self.extra)
            subject = None if attribute is None else attribute.value
        if subject is None:
            return None
        result = called(self.term.name, self.term.function, (subject,))
        if result is None or result is False:
            return None
        if result is True and not self.term.outputs:
            return ()
        outputs = tuple(result) if is_sequence(result) and len(self.term.outputs) != 1 else (result,)
        return outputs if len(outputs) == len(self.term.outputs) else None

    def holds(self, match: Match) -> bool:
        actual = self._outputs(match)
        if actual is None:
            return False
        return all(_binds(match, term, arguments) for term, arguments in zip(self.term.outputs, actual, strict=True))

    def reason(self, match: Match) -> str:
        if self._outputs(match) is None:
            return f"{self._subject(match)} is not accepted by {self.term.name}"
        return f"the outputs of {self.term.name} for {self._subject(match)} do not match"


def _binds(match: Match, term: Variable | Anything, value: object) -> bool:
    """Binds a variable to the output of a function; returns whether it can be bound."""
    if isinstance(term, Anything):
        return True
    check = term.constraint
    if isinstance(value, Value):
        if isinstance(check, TypeConstraint) and not check.admits(value.type):
            return False
        return match.bound.setdefault(term.name, value) is value
    attribute_ = BoundAttribute(value, None)
    if isinstance(check, Check) and not _passes(check, attribute_):
        return False
    bound = match.bound.setdefault(term.name, attribute_)
    return bound is attribute_ or (isinstance(bound, BoundAttribute) and bound.attribute is attribute_.attribute)


class Restrict(MatchStep):
    """A condition on bound values."""

    __slots__ = ("restriction",)

    def __init__(self, restriction: Restriction) -> None:
        super().__init__(0, None)
        self.restriction = restriction

    def holds(self, match: Match) -> bool:
        form = stored if self.restriction.is_stored else plain
        arguments = [form(a, match.bound) for a in self.restriction.arguments]
        return bool(called(self.restriction.text, self.restriction.holds, arguments))

    def reason(self, match: Match) -> str:
        return f"{match.operations[0].name} must be such that {self.restriction.text}"


def _operand(op: Op, field: Field | None, index: int | None) -> Value | None:
    if field is None:
        return None
    if field.kind is FieldKind.PARAMETER:
        return op.bound_value(field)
    result: object = op.field_value(field)
    if is_sequence(result):
        result = result[index] if index is not None and index < len(result) else None
    return result if isinstance(result, Value) else None


def _group(op: Op, field: Field | None) -> tuple[Value, ...]:
    return () if field is None else op.field_value(field)


def _attribute(op: Op, field: Field | None, extra: str) -> BoundAttribute | None:
    if field is None:
        stored = op.extra.get(extra)
        return None if stored is None else BoundAttribute(stored, None)
    try:
        value = op.field_value(field)
    except DiagnosticError:
        return None
    return None if value is None else BoundAttribute(value, field.type)


def _passes(check: Check, value: BoundAttribute) -> bool:
    return check.holds(value.attribute if isinstance(check, StorageCheck) else value.value)


def _shown(value: BoundAttribute | None) -> str:
    if value is None:
        return "absent"
    return str(value.value) if isinstance(value.value, Attribute) else repr(value.value)


def called(name: str, function: Callable[..., object], arguments: Sequence[object]) -> object:
    """Calls a function of a rule and returns its result. Raises: RULE_FUNCTION_FAILED."""
    try:
        return function(*arguments)
    except (DiagnosticError, NotationError):
        raise
    except Exception as error:
        message = f"{name}: {type(error).__name__}: {error}"
        raise DiagnosticError(Diagnostic(RULE_FUNCTION_FAILED, message)) from error


def value_of(name: str, bound: Mapping[str, object]) -> object:
    """Returns the binding of a variable; `r__1` is result 1 of `r`. Raises: LookupError when it is not bound."""
    if name in bound:
        return bound[name]
    label, _, number = name.partition("__")
    results = bound.get(label)
    if is_sequence(results) and number.isdigit() and int(number) < len(results):
        return results[int(number)]
    raise LookupError(f"${name} is not bound")


def plain(term: object, bound: Mapping[str, object]) -> object:
    """Returns a term as the argument of a function of a rule: values, and attributes as Python values."""
    result = _single(term, bound)
    return result.value if isinstance(result, BoundAttribute) else result


def stored(term: object, bound: Mapping[str, object]) -> object:
    """Returns a term with attributes in storage form."""
    result = _single(term, bound)
    return result.attribute if isinstance(result, BoundAttribute) else result


def _single(term: object, bound: Mapping[str, object]) -> object:
    result = value_of(term.name, bound) if isinstance(term, Variable) else term
    return result[0] if is_sequence(result) and len(result) == 1 else result
