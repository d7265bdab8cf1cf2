"""The fields of a definition: operands, parameters, attributes, regions and results.

A field is declared as a class attribute and read as an instance attribute. Constructor arguments, accessors and `match`
patterns of a definition follow from its fields in order of declaration, for type checkers too.
"""

# pyright: reportPrivateUsage=false
# Fields read their values from the storage of operations.

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum, auto
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Protocol, TypedDict, TypeVar, Unpack, overload

from commonir.base.tuples import NamedTuple
from commonir.ir.attributes import is_sequence
from commonir.ir.operation import Block, Region, Value
from commonir.ods.attr_types import AttrType
from commonir.ods.patterns import Pattern, any_type, version_number

T = TypeVar("T")
Owner = TypeVar("Owner")


class FieldKind(Enum):
    """The category of a field."""

    OPERAND = auto()
    PARAMETER = auto()
    ATTRIBUTE = auto()
    REGION = auto()
    SUCCESSOR = auto()
    RESULT = auto()


class Missing(Enum):
    """Sentinel: a required field is absent, or a field has no default."""

    MISSING = auto()


class Bound(Enum):
    """Sentinel: the value of a parameter is an operand."""

    BOUND = auto()


MISSING = Missing.MISSING
BOUND = Bound.BOUND


class Check:
    """A condition on the value of an attribute; its text documents it and completes `must be ...`. `choices` are the
    values for which it holds, if they are listed.
    """

    __slots__ = ("choices", "holds", "text")

    def __init__(self, text: str, holds: Callable[[Any], bool], choices: tuple[object, ...] = ()) -> None:
        self.text = text
        self.holds = holds
        self.choices = choices


def _every(holds: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Returns a condition on every number of a value, which may be a sequence of them or of sequences."""

    def each(value: Any) -> bool:
        return all(map(each, value)) if is_sequence(value) else holds(value)

    return each


positive = Check("positive", _every(lambda v: not isinstance(v, int | float) or v > 0))
non_negative = Check("at least 0", _every(lambda v: not isinstance(v, int | float) or v >= 0))


def one_of(*values: object) -> Check:
    """Returns the condition that the value is one of `values`."""
    return Check(f"one of {', '.join([str(keyword_of(v)) for v in values])}", lambda v: v in values, values)


def keyword_of(value: object) -> object:
    """Returns a value as a file spells it: the keyword of a case of an enumeration."""
    return value.value if isinstance(value, Enum) else value


_ATTRIBUTE = FieldKind.ATTRIBUTE


class Field:
    """One declared field. `index` is its position among the fields of its group, set when the class is complete.

    `since` is the version of the dialect that added it, if older versions of the operation lack it; in these its value
    is the default. `before` is the field that these have instead, if any. `until` is the version that removed it.
    `relaxed_in` is the version since which it need not be constant and has no check. `elided` is the value that an
    absent attribute means, which custom forms omit even if it is explicit. `group_sizes` names the attribute with the
    sizes of the groups that a variadic operand consists of; "" if it has none.
    """

    __slots__ = (
        "before",
        "by_value",
        "check",
        "constant",
        "default",
        "doc",
        "elided",
        "group_sizes",
        "index",
        "kind",
        "name",
        "optional",
        "pattern",
        "relaxed_in",
        "restrictions",
        "since",
        "type",
        "until",
        "variadic",
    )

    def __init__(
        self,
        kind: FieldKind,
        *,
        pattern: Pattern | None = None,
        type: AttrType[Any] | None = None,
        default: object = MISSING,
        variadic: bool = False,
        optional: bool = False,
        constant: bool = False,
        by_value: bool = False,
        check: Check | None = None,
        doc: str = "",
        since: str = "",
        relaxed_in: str = "",
    ) -> None:
        self.since = since
        self.relaxed_in = relaxed_in
        self.restrictions = constant, check
        self.kind = kind
        self.pattern = pattern
        self.type = type
        self.default = default
        self.variadic = variadic
        self.optional = optional
        self.constant, self.check = (False, None) if relaxed_in else self.restrictions
        self.by_value = by_value
        self.doc = doc
        self.elided: object = MISSING
        self.before: object = None
        self.group_sizes = ""
        self.until = ""
        self.name = ""
        self.index = -1

    def __set_name__(self, owner: object, name: str) -> None:
        self.name = name

    def is_in(self, version: str) -> bool:
        """Returns whether a version of the operation has it; "" is the newest."""
        if not version:
            return not self.until
        number = version_number(version)
        return version_number(self.since) <= number and (not self.until or number < version_number(self.until))

    def at(self, version: str, same: Mapping[str, str]) -> Field:
        """Returns the field in an older version, where type variables may be the same as others."""
        if isinstance(self.before, Field) and version_number(version) < version_number(self.since):
            return self.before.at(version, same)
        is_restricted = version_number(version) < version_number(self.relaxed_in)
        element = "" if self.pattern is None else same.get(self.pattern.element, "")
        if not is_restricted and not element:
            return self
        # Loads weakref, which reading MLIR does not need.
        from copy import copy  # noqa: PLC0415

        result = copy(self)
        if is_restricted:
            result.constant, result.check = self.restrictions
        if self.pattern is not None and element:
            result.pattern = self.pattern.with_element(element)
        return result

    @property
    def spelling(self) -> str:
        """Its name in texts and files: a name that Python reserves is declared with `_` at its end."""
        return self.name.rstrip("_")

    @property
    def absent(self) -> Any:
        """Returns the default in a version of the operation that does not have it."""
        return () if self.variadic else None if self.default is MISSING else self.default

    @property
    def is_required(self) -> bool:
        """Whether it is a required argument of the constructor."""
        return self.default is MISSING and not self.variadic and not self.optional

    def __get__(self, op: FieldHolder | None, owner: object = None) -> Any:
        if op is None:
            return self
        position = op.places.get(self) if self.kind is _ATTRIBUTE else None
        # Attributes are read most often; `field_value` takes twice as long.
        return op.field_value(self) if position is None else op._attributes[position.attribute]

    def __set__(self, op: FieldHolder, value: object) -> None:
        remedy = {
            FieldKind.ATTRIBUTE: f"`with_attributes({self.name}=...)` returns a copy with another value",
            FieldKind.RESULT: "`result.replace_all_uses_with(value)` makes its users use another value",
        }
        how = remedy.get(self.kind, "assign all of `operands`, or build another operation")
        raise AttributeError(f"'{self.name}' of {op.name} cannot be changed: {how}")

    def __repr__(self) -> str:
        return f"<{self.kind.name.lower()} {self.name}>"


class FieldPosition(NamedTuple):
    """The position of a field among inputs, among stored attributes, and in its own group; -1 where it is in none."""

    input: int
    attribute: int
    group: int


class FieldHolder(Protocol):
    """An operation with fields."""

    name: ClassVar[str]
    _attributes: tuple[object, ...]

    @property
    def places(self) -> Mapping[Field, FieldPosition]:
        """The positions of its fields."""
        ...

    def field_value(self, field: Field) -> Any:
        """Returns the contents of a field: values of operands and results, else a Python value."""


class SpelledField(Field):
    """A field whose spelling does not follow from its name, as in definitions built at run time."""

    __slots__ = ("_spelling",)

    def __init__(self, spelling: str, kind: FieldKind, **options: Any) -> None:
        super().__init__(kind, **options)
        self._spelling = spelling

    @property
    def spelling(self) -> str:
        return self._spelling

    def spell(self, spelling: str) -> None:
        """Changes the spelling, before the field is part of a definition."""
        self._spelling = spelling


def _pattern(spec: str | Pattern) -> Pattern:
    return spec if isinstance(spec, Pattern) else Pattern(spec)


if TYPE_CHECKING:

    class _Options(TypedDict, total=False):
        """Keywords of every declaration that may differ between versions."""

        doc: str
        since: str

    class _OperandOptions(_Options, total=False):
        constant: bool
        by_value: bool
        relaxed_in: str
        before: object

    class _ParameterOptions(_Options, total=False):
        spec: str | Pattern
        check: Check | None
        relaxed_in: str

    class _AttributeOptions(_Options, total=False):
        check: Check | None
        before: object
        until: str


@overload
def operand(spec: str | Pattern, **options: Unpack[_OperandOptions]) -> Value: ...
@overload
def operand(spec: str | Pattern, *, default: None, **options: Unpack[_OperandOptions]) -> Value | None: ...
@overload
def operand(spec: str | Pattern, *, optional: Literal[True], by_value: bool = ..., doc: str = ...) -> Value | None: ...
@overload
def operand(
    spec: str | Pattern, *, variadic: Literal[True], default: tuple[()] = ..., constant: bool = ..., doc: str = ...
) -> tuple[Value, ...]: ...
def operand(
    spec: str | Pattern,
    *,
    default: Any = MISSING,
    optional: bool = False,
    variadic: bool = False,
    constant: bool = False,
    by_value: bool = False,
    doc: str = "",
    since: str = "",
    relaxed_in: str = "",
    before: object = None,
) -> Any:
    """Declares an operand of a type pattern.

    `default=None` makes it optional, as does `optional` if required operands follow; `variadic` takes any number.
    `constant`: a constant operation must define it. `by_value`: inference uses its elements if they are known before
    running, for example those of a shape operand. `since` is the version of the dialect that added it, if older
    versions of the operation lack it, or have the field `before` instead, which may be an attribute: references then
    take a constant. `relaxed_in` is the version since which it need not be constant.
    """
    result = Field(
        FieldKind.OPERAND,
        pattern=_pattern(spec),
        default=None if optional else default,
        variadic=variadic,
        optional=optional or default is None,
        constant=constant,
        by_value=by_value,
        doc=doc,
        since=since,
        relaxed_in=relaxed_in,
    )
    result.before = before
    return result


@overload
def parameter(attr_type: AttrType[T], *, default: T = ..., **options: Unpack[_ParameterOptions]) -> T: ...
@overload
def parameter(attr_type: AttrType[T], *, default: None, **options: Unpack[_ParameterOptions]) -> T | None: ...
def parameter(
    attr_type: AttrType[Any],
    *,
    spec: str | Pattern = any_type,
    default: Any = MISSING,
    check: Check | None = None,
    doc: str = "",
    since: str = "",
    relaxed_in: str = "",
) -> Any:
    """Declares a value known before running that the format passes as an operand or a literal; read as a Python value.

    `spec` is the type pattern of the operand, for formats that restrict it. `since` is as for an operand; `relaxed_in`
    is the version since which `check` need not hold.
    """
    return Field(
        FieldKind.PARAMETER,
        pattern=_pattern(spec),
        type=attr_type,
        default=default,
        optional=default is None,
        check=check,
        doc=doc,
        since=since,
        relaxed_in=relaxed_in,
    )


@overload
def attribute(attr_type: AttrType[T], *, check: Check | None = ..., doc: str = ..., spelling: str = ...) -> T: ...
@overload
def attribute(
    attr_type: AttrType[T], *, default: T, spelling: str = ..., **options: Unpack[_AttributeOptions]
) -> T: ...
@overload
def attribute(
    attr_type: AttrType[T], *, default: None, elided: object = ..., **options: Unpack[_AttributeOptions]
) -> T | None: ...
def attribute(
    attr_type: AttrType[Any],
    *,
    default: Any = MISSING,
    elided: object = MISSING,
    check: Check | None = None,
    doc: str = "",
    since: str = "",
    before: object = None,
    until: str = "",
    spelling: str = "",
) -> Any:
    """Declares a compile-time constant. `since` and `before` are as for an operand; `until` is the version that removed
    it; `elided` is the value that an optional one means if it is absent, which custom forms omit; `spelling` is its
    name in files, if that differs.
    """
    if not isinstance(attr_type, AttrType):  # pyright: ignore[reportUnnecessaryIsInstance]  # for callers without types
        raise TypeError(f"an attribute has a type of `attr_types`, such as `attr_types.number`, found {attr_type!r}")
    make = partial(SpelledField, spelling) if spelling else Field
    result = make(FieldKind.ATTRIBUTE, type=attr_type, default=default, optional=default is None, check=check, doc=doc)
    result.elided, result.since, result.before, result.until = elided, since, before, until
    return result


@overload
def region(*, doc: str = ...) -> Region: ...
@overload
def region(*, default: None, doc: str = ...) -> Region | None: ...
@overload
def region(*, variadic: Literal[True], default: tuple[()] = ..., doc: str = ...) -> tuple[Region, ...]: ...
def region(*, variadic: bool = False, default: Any = MISSING, doc: str = "") -> Any:
    """Declares a nested region. `default=None` makes it optional: an absent one is a region without blocks."""
    return Field(FieldKind.REGION, variadic=variadic, default=default, optional=default is None, doc=doc)


@overload
def successor(*, doc: str = ...) -> Block: ...
@overload
def successor(*, variadic: Literal[True], default: tuple[()] = ..., doc: str = ...) -> tuple[Block, ...]: ...
def successor(*, variadic: bool = False, default: Any = MISSING, doc: str = "") -> Any:
    """Declares a block of the enclosing region that may run next; at most one such field is variadic."""
    return Field(FieldKind.SUCCESSOR, variadic=variadic, default=default, doc=doc)


@overload
def result(spec: str | Pattern, *, init: Literal[False] = False, doc: str = ...) -> Value: ...
@overload
def result(
    spec: str | Pattern, *, optional: Literal[True], init: Literal[False] = False, doc: str = ..., since: str = ...
) -> Value | None: ...
@overload
def result(
    spec: str | Pattern, *, variadic: Literal[True], init: Literal[False] = False, doc: str = ...
) -> tuple[Value, ...]: ...
def result(
    spec: str | Pattern,
    *,
    variadic: bool = False,
    optional: bool = False,
    init: Literal[False] = False,  # noqa: ARG001  for type checkers: it is not a constructor argument
    doc: str = "",
    since: str = "",
) -> Any:
    """Declares a result of a type pattern. At most one result is optional or variadic. `since` is as for an operand."""
    return Field(FieldKind.RESULT, pattern=_pattern(spec), variadic=variadic, optional=optional, doc=doc, since=since)


class Constraint(Generic[Owner]):
    """A labelled condition of a definition: a method whose docstring describes it. `since` is as for a field."""

    __slots__ = ("holds", "label", "since", "text")

    def __init__(self, label: str, holds: Callable[[Owner], Any], since: str = "") -> None:
        self.label = label
        self.holds = holds
        self.since = since
        self.text = " ".join((holds.__doc__ or "").split())

    @property
    def claim(self) -> str:
        """Its text within a message."""
        return self.text[:1].lower() + self.text[1:].removesuffix(".")


def constraint(label: str, since: str = "") -> Callable[[Callable[[Owner], Any]], Constraint[Owner]]:
    """Marks a method as a constraint.

    It returns whether it holds, or the result of `require` for dimensions that may be symbolic. `since` is the version
    of the dialect that added it, if older versions of the operation lack it.
    """
    return lambda method: Constraint(label, method, since)


class DerivedAttribute(property):
    """An attribute without storage, computed from others."""


derived = DerivedAttribute
