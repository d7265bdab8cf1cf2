"""Records and classes of TableGen, and the resolution of references between fields.

A class is a record that is not completed. Fields are immutable: a record shares unchanged inherited fields with its
class. Source: TableGen Programmer's Reference, how records are built.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from enum import Enum, auto

from commonir.base import file_codes
from commonir.base.diagnostics import Diagnostic
from commonir.base.tuples import NamedTuple
from commonir.tablegen.errors import EvaluationError
from commonir.tablegen.folding import int_of
from commonir.tablegen.lexer import Location
from commonir.tablegen.operators import Instance, cast, joined_name
from commonir.tablegen.types import BitsType, RecordType, Type
from commonir.tablegen.values import ANONYMOUS, FINAL, UNSET, AnonymousName, Bits, DefRef, Key, Resolver, String, Value

MAX_STEPS = 20_000_000
"""The most operators that are resolved for one file; the largest files of MLIR need some 100,000."""
MAX_ITEMS = 10_000_000
"""The most items that operators and loops create for one file."""
MAX_RECORDS = 100_000
"""The most records that loops and multiclasses create for one file; the largest files of MLIR have some 10,000."""
MAX_MULTICLASS_RECORDS = 10_000
"""The most records that one multiclass holds, with those of the multiclasses in it."""
MAX_INSTANCE_DEPTH = 500
"""The deepest nesting of records `Class<args>` in their definitions."""

_RESERVED = frozenset({FINAL, ANONYMOUS})


class Field(NamedTuple):
    """A field of a record, or a template argument, whose name is `Class:name`."""

    name: str
    type: Type
    value: Value
    location: Location
    is_marked: bool = False
    """Whether it was declared with the keyword `field`, and need not be concrete."""

    def with_value(self, value: Value) -> Field | None:
        """Returns the field with another value; None for a value of the wrong type."""
        content = value_for(self.type, value)
        return None if content is None else self._replace(value=content)


def value_for(type: Type, value: Value) -> Value | None:
    """Returns a value in the form of a field of a type: `bits` as single bits."""
    content = cast(value, type)
    if content is None or not isinstance(type, BitsType) or isinstance(content, Bits):
        return content
    return Bits(tuple(content.bit(index) for index in range(type.width)))


class RecordKind(Enum):
    """Class, multiclass or definition."""

    CLASS = auto()
    MULTICLASS = auto()
    DEF = auto()
    ANONYMOUS_DEF = auto()


class Assertion(NamedTuple):
    """`assert condition, message;`, or `dump message;` without a condition."""

    location: Location
    condition: Value | None
    message: Value


class Record:
    """A record or class: its name, fields by name, direct parents, and assertions.

    `record_arguments` are the records among its template arguments, by their names `Class:name`.
    """

    __slots__ = ("_ref", "args", "assertions", "fields", "kind", "locations", "name", "parents", "record_arguments")

    def __init__(self, name: Value, location: Location, kind: RecordKind) -> None:
        self.name = name
        self.locations = [location]
        self.kind = kind
        self.fields: dict[str, Field] = {}
        self.record_arguments: dict[str, Value] = {}
        self.args: list[str] = []
        self.parents: list[Record] = []
        self.assertions: list[Assertion] = []
        self._ref: DefRef | None = None

    @property
    def is_class(self) -> bool:
        """Whether it is a class."""
        return self.kind is RecordKind.CLASS

    @property
    def is_anonymous(self) -> bool:
        """Whether its name was generated."""
        return self.kind is RecordKind.ANONYMOUS_DEF

    @property
    def name_text(self) -> str:
        """Its name."""
        name = self.name
        return name.value if isinstance(name, String) else str(name)

    @property
    def ref(self) -> DefRef:
        """A reference to it."""
        if self._ref is None:
            self._ref = DefRef(self)
        return self._ref

    @property
    def type(self) -> RecordType:
        """The type of references to it."""
        return RecordType((self,) if self.is_class else tuple(self.parents))

    def derives_from(self, expected: Record) -> bool:
        """Returns whether a class is among its ancestors."""
        pending = list(self.parents)
        while pending:
            each = pending.pop()
            if each is expected:
                return True
            pending.extend(each.parents)
        return False

    def ancestors(self) -> Iterator[Record]:
        """Yields all classes from which it derives, parents before children, repeated if they are inherited twice."""
        pending = [(each, False) for each in reversed(self.parents)]
        while pending:
            each, is_visited = pending.pop()
            if is_visited:
                yield each
            else:
                pending.append((each, True))
                pending.extend((parent, False) for parent in reversed(each.parents))

    def copy(self) -> Record:
        """Returns a copy with the same fields."""
        result = Record(self.name, self.locations[0], self.kind)
        result.locations = list(self.locations)
        result.fields = dict(self.fields)
        result.record_arguments = dict(self.record_arguments)
        result.args = list(self.args)
        result.parents = list(self.parents)
        result.assertions = list(self.assertions)
        return result

    def add(self, field: Field) -> None:
        """Adds a field; an existing one keeps its type.

        Raises: EvaluationError when the types do not fit.
        """
        existing = self.fields.get(field.name)
        if existing is None:
            self.fields[field.name] = field
            return
        content = existing.with_value(field.value)
        if content is None:
            message = (
                f"field '{field.name}' of type '{field.type}' was declared before as one of type '{existing.type}'"
            )
            raise EvaluationError(message)
        self.fields[field.name] = content

    def add_record_arguments(self, owner: Record, arguments: Mapping[str, Value]) -> None:
        """Stores the records among the template arguments of a parent class."""
        self.record_arguments.update(owner.record_arguments)
        self.record_arguments.update(
            (name, value) for name, value in arguments.items() if isinstance(value.type, RecordType)
        )

    def resolve(self, resolver: Resolver, skip: str | None = None) -> None:
        """Replaces variables of a resolver in the name, the fields and the assertions.

        Raises: EvaluationError when a value does not fit its field.
        """
        self.name = joined_name(self.name.resolve(resolver))
        names = resolver.names
        for name, field in list(self.fields.items()):
            old = field.value
            if old.names.isdisjoint(names) or name == skip:
                continue
            new = old.resolved(resolver)
            if new is old:
                continue
            content = field.with_value(new)
            if content is None:
                raise EvaluationError(
                    f"field '{name}' of type '{field.type}' in '{self.name_text}' cannot hold '{new}', "
                    f"which its value '{old}' turns out to be"
                )
            self.fields[name] = content
        for name, value in list(self.record_arguments.items()):
            if not value.names.isdisjoint(names):
                try:
                    self.record_arguments[name] = value.resolve(resolver)
                except EvaluationError:
                    # One that no field uses need not have a value.
                    del self.record_arguments[name]
        for index, (location, condition, message) in enumerate(self.assertions):
            condition = None if condition is None else condition.resolve(resolver)
            self.assertions[index] = Assertion(location, condition, message.resolve(resolver))

    def complete(self, records: Records, new_name: Value | None = None) -> None:
        """Resolves all references between its fields."""
        self.resolve(FieldResolver(self, records, new_name))

    def text(self) -> str:
        """Returns the record as `!repr` prints it."""
        parents = " ".join(dict.fromkeys(each.name_text for each in self.ancestors()))
        lines = [f"{self.name_text} {{" + (f"\t// {parents}" if parents else "")]
        for field in self.fields.values():
            marked = "field " if field.is_marked else ""
            lines.append(f"  {marked}{field.type} {field.name} = {field.value};")
        return "\n".join([*lines, "}\n"])

    def __repr__(self) -> str:
        return f"Record({self.name_text})"


class MapResolver(Resolver):
    """Evaluates values; values that refer to one another are resolved on first use."""

    __slots__ = ("_resolved", "_values")

    def __init__(self, records: Records, values: Mapping[str, Value], record: Record | None = None) -> None:
        super().__init__(records, record, frozenset(values))
        self._values = dict(values)
        self._resolved: set[str] = set()

    def find(self, name: str, requester: Value) -> Value | None:  # noqa: ARG002  (only anonymous names depend on the requester)
        result = self._values.get(name)
        if result is None or name in self._resolved or len(self._values) == 1 or not result.names:
            return result
        # It is unknown while its value is resolved, so that a recursive value is finite.
        del self._values[name]
        result = result.resolve(self)
        self._values[name] = result
        self._resolved.add(name)
        return result


class FieldResolver(Resolver):
    """Has the fields of a record, resolved by each other, to complete the record."""

    __slots__ = ("_known", "_name", "_old_name", "_owner", "_pending")

    def __init__(self, record: Record, records: Records, new_name: Value | None) -> None:
        super().__init__(records, record, _RESERVED.union(record.fields))
        self.final = True
        self.keeps_unset_bits = True
        self._owner = record
        self._old_name = record.name
        self._name = new_name
        self._known: dict[str, Value | None] = {}
        self._pending: list[str] = []

    def find(self, name: str, requester: Value) -> Value | None:
        if name == ANONYMOUS:
            return self._anonymous(requester)
        if name in self._known:
            return self._known[name]
        if name in self._pending:
            return None
        field = self._owner.fields.get(name)
        result = None
        if field is not None and field.value is not UNSET:
            self._pending.append(name)
            result = field.value.resolve(self)
            self._pending.pop()
        self._known[name] = result
        return result

    def _anonymous(self, requester: Value) -> Value | None:
        """Returns the new name of the record for its old one."""
        old = self._old_name
        if self._name is None or not isinstance(requester, AnonymousName) or not isinstance(old, AnonymousName):
            return None
        return self._name if requester.value == old.value else None


class ShadowResolver(Resolver):
    """Has the variables of another resolver, except those that an operator such as `!foreach` declares."""

    __slots__ = ("_inner",)

    def __init__(self, inner: Resolver, hidden: AbstractSet[str]) -> None:
        super().__init__(inner.records, inner.record, inner.names - hidden)
        self.final = inner.final
        self.keeps_unset_bits = inner.keeps_unset_bits
        self._inner = inner

    def find(self, name: str, requester: Value) -> Value | None:
        return self._inner.find(name, requester) if name in self.names else None


class Records:
    """The records that a file and its includes define."""

    def __init__(self) -> None:
        self.classes: dict[str, Record] = {}
        self.defs: dict[str, Record] = {}
        self.globals: dict[str, Value] = {}
        self.instances: dict[Key, Instance] = {}
        self.diagnostics: list[Diagnostic] = []
        """Diagnostics that did not end the evaluation."""
        self.files: list[str] = []
        """Real paths of the files that were read, the main file first."""
        self._anonymous = 0
        self._depth = 0
        self._steps = 0
        self._items = 0
        self._copies = 0

    def anonymous_name(self) -> AnonymousName:
        """Returns a new name for an anonymous record."""
        self._anonymous += 1
        return AnonymousName(f"anonymous_{self._anonymous - 1}")

    # -- limits

    def count_step(self) -> None:
        """Counts the resolution of an operator.

        Raises: EvaluationError when there are too many, as when expressions double at each step.
        """
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise EvaluationError(f"more than {MAX_STEPS} operators are resolved")

    def count_items(self, count: int) -> None:
        """Counts items of lists that operators and loops create.

        Raises: EvaluationError when there are too many.
        """
        self._items += count
        if self._items > MAX_ITEMS:
            raise EvaluationError(f"more than {MAX_ITEMS} items of lists are made")

    def count_copy(self) -> None:
        """Counts a record that a loop or multiclass creates.

        Raises: EvaluationError when there are too many, as for multiclasses that expand exponentially.
        """
        self.check_copies(1)
        self._copies += 1

    def check_copies(self, count: int) -> None:
        """Checks a number of records before loops and multiclasses create them. Raises: EvaluationError."""
        if self._copies + count > MAX_RECORDS:
            raise EvaluationError(f"more than {MAX_RECORDS} records are made")

    # -- resolvers

    def resolver(self, values: Mapping[str, Value], record: Record | None = None) -> Resolver:
        """Returns a resolver of these values."""
        return MapResolver(self, values, record)

    def shadowed(self, inner: Resolver, hidden: AbstractSet[str]) -> Resolver:
        """Returns a resolver without the variables of an operator."""
        return ShadowResolver(inner, hidden)

    # -- records

    def global_value(self, name: str) -> Value | None:
        """Returns the record or global variable of a name."""
        record = self.defs.get(name)
        return self.globals.get(name) if record is None else record.ref

    def instance(self, requester: Instance) -> DefRef:
        """Creates the record `Class<args>`.

        Raises: EvaluationError.
        """
        owner = requester.owner
        if self._depth >= MAX_INSTANCE_DEPTH:
            raise EvaluationError(f"records of '{owner.name_text}' need each other more than {self._depth} deep")
        record = Record(self.anonymous_name(), requester.location, RecordKind.ANONYMOUS_DEF)
        record.fields = {name: field for name, field in owner.fields.items() if name not in owner.args}
        record.assertions = list(owner.assertions)
        values = {name: owner.fields[name].value for name in owner.args}
        values.update((owner.args[key] if isinstance(key, int) else key, value) for key, value in requester.args)
        self._depth += 1
        record.add_record_arguments(owner, values)
        record.resolve(MapResolver(self, values, record))
        record.parents.append(owner)
        record.complete(self)
        self._depth -= 1
        self.defs[record.name_text] = record
        self.check_assertions(record)
        return record.ref

    def check_assertions(self, record: Record) -> None:
        """Adds a diagnostic for each false assertion of a completed record."""
        for assertion in record.assertions:
            self.check_assertion(assertion, record)

    def check_assertion(self, assertion: Assertion, record: Record | None = None) -> None:
        """Adds a diagnostic if an assertion is false."""
        location, condition, message = assertion
        if condition is None:
            return
        holds = int_of(condition)
        if holds:
            return
        if holds is None:
            text, code = f"the condition of the assertion is not a number: '{condition}'", file_codes.TABLEGEN_RULE
        else:
            text, code = (
                f"assertion failed: {message.value if isinstance(message, String) else message}",
                file_codes.TABLEGEN_ASSERTION,
            )
        help = None if record is None else f"it holds for no such record as '{record.name_text}'"
        self.diagnostics.append(location.diagnostic(code, text, help=help))

    def derived_from(self, name: str) -> list[Record]:
        """Returns the records that derive from the class of a name, sorted by name."""
        expected = self.classes.get(name)
        if expected is None:
            return []
        return [record for _, record in sorted(self.defs.items()) if record.derives_from(expected)]
