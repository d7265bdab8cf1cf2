"""Records and classes of TableGen, all that a file defines, and how references between fields are resolved.

A class is a record that was not completed. Fields are immutable: those that a record inherits unchanged it shares with
its class. Source: TableGen Programmer's Reference, how records are built.
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
from commonir.tablegen.operators import Instance, cast
from commonir.tablegen.types import BitsType, RecordType, Type
from commonir.tablegen.values import ANONYMOUS, FINAL, UNSET, AnonymousName, Bits, DefRef, Key, Resolver, String, Value

MAX_STEPS = 20_000_000
"""The most operators that are resolved for one file; the largest files of MLIR need some 100,000."""
MAX_ITEMS = 10_000_000
"""The most items that operators and loops make for one file."""
MAX_RECORDS = 200_000
"""The most records that loops and multiclasses make for one file; the largest files of MLIR have some 10,000."""
MAX_INSTANCE_DEPTH = 500
"""How deep records `Class<args>` may need each other."""

_RESERVED = frozenset({FINAL, ANONYMOUS})


class Field(NamedTuple):
    """A field of a record, or a template argument, whose name then is `Class:name`."""

    name: str
    type: Type
    value: Value
    location: Location
    is_marked: bool = False
    """Whether it was declared with the word `field`, so that it need not be concrete."""

    def holding(self, value: Value) -> Field | None:
        """The field with another value; None when it is not of its type."""
        content = value_for(self.type, value)
        return None if content is None else self._replace(value=content)


def value_for(type: Type, value: Value) -> Value | None:
    """A value as a field of a type holds it: `bits` always as single bits."""
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
    """`assert condition, message;`, or `dump message;`, which has no condition."""

    location: Location
    condition: Value | None
    message: Value


class Record:
    """A record or class: its name, fields by name, direct parents, and what it asserts.

    `given` are the records that it was made of: template arguments by their names, `Class:name`, which are not fields.
    """

    __slots__ = ("_ref", "args", "assertions", "fields", "given", "kind", "locations", "name", "parents")

    def __init__(self, name: Value, location: Location, kind: RecordKind) -> None:
        self.name = name
        self.locations = [location]
        self.kind = kind
        self.fields: dict[str, Field] = {}
        self.given: dict[str, Value] = {}
        self.args: list[str] = []
        self.parents: list[Record] = []
        self.assertions: list[Assertion] = []
        self._ref: DefRef | None = None

    @property
    def is_class(self) -> bool:
        """Returns whether it is a class."""
        return self.kind is RecordKind.CLASS

    @property
    def is_anonymous(self) -> bool:
        """Returns whether its name was made up."""
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
        """All classes that it derives from, parents before children, one that is reached twice is given twice."""
        pending = [(each, False) for each in reversed(self.parents)]
        while pending:
            each, opened = pending.pop()
            if opened:
                yield each
            else:
                pending.append((each, True))
                pending.extend((parent, False) for parent in reversed(each.parents))

    def copy(self) -> Record:
        """A record with the same fields, to be completed in another way."""
        result = Record(self.name, self.locations[0], self.kind)
        result.locations = list(self.locations)
        result.fields = dict(self.fields)
        result.given = dict(self.given)
        result.args = list(self.args)
        result.parents = list(self.parents)
        result.assertions = list(self.assertions)
        return result

    def add(self, field: Field) -> None:
        """Adds a field; of one that is there, the type stays.

        Raises: EvaluationError when the types do not fit.
        """
        there = self.fields.get(field.name)
        if there is None:
            self.fields[field.name] = field
            return
        content = there.holding(field.value)
        if content is None:
            message = f"field '{field.name}' of type '{field.type}' was declared before as one of type '{there.type}'"
            raise EvaluationError(message)
        self.fields[field.name] = content

    def take(self, owner: Record, arguments: Mapping[str, Value]) -> None:
        """Notes the records among the template arguments of a class that it is made of."""
        self.given.update(owner.given)
        self.given.update((name, value) for name, value in arguments.items() if isinstance(value.type, RecordType))

    def resolve(self, resolver: Resolver, skip: str | None = None) -> None:
        """Puts what a resolver knows into the name, the fields and the assertions.

        Raises: EvaluationError when a value does not fit its field.
        """
        self.name = self.name.resolve(resolver)
        names = resolver.names
        for name, field in list(self.fields.items()):
            old = field.value
            if old.names.isdisjoint(names) or name == skip:
                continue
            new = old.resolved(resolver)
            if new is old:
                continue
            content = field.holding(new)
            if content is None:
                raise EvaluationError(
                    f"field '{name}' of type '{field.type}' in '{self.name_text}' cannot hold '{new}', "
                    f"which its value '{old}' turns out to be"
                )
            self.fields[name] = content
        for name, value in list(self.given.items()):
            if not value.names.isdisjoint(names):
                try:
                    self.given[name] = value.resolve(resolver)
                except EvaluationError:
                    # What no field uses may have no value.
                    del self.given[name]
        for index, (location, condition, message) in enumerate(self.assertions):
            condition = None if condition is None else condition.resolve(resolver)
            self.assertions[index] = Assertion(location, condition, message.resolve(resolver))

    def complete(self, records: Records, new_name: Value | None = None) -> None:
        """Resolves all references between its fields."""
        self.resolve(FieldResolver(self, records, new_name))

    def listing(self) -> str:
        """The record as text, the way `!repr` shows it."""
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

    def find(self, name: str, requester: Value) -> Value | None:  # noqa: ARG002  (only anonymous names are asked for as such)
        result = self._values.get(name)
        if result is None or name in self._resolved or len(self._values) == 1 or not result.names:
            return result
        # While its value is resolved it is not known, which keeps one that mentions itself finite.
        del self._values[name]
        result = result.resolve(self)
        self._values[name] = result
        self._resolved.add(name)
        return result


class FieldResolver(Resolver):
    """Knows the fields of a record, each resolved by the others: the last step of completing the record."""

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
        """The new name of the record where its old one is asked for."""
        old = self._old_name
        if self._name is None or not isinstance(requester, AnonymousName) or not isinstance(old, AnonymousName):
            return None
        return self._name if requester.value == old.value else None


class ShadowResolver(Resolver):
    """Knows what another does except some names, which are those of an operator such as `!foreach`."""

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
        self.found: list[Diagnostic] = []
        """Findings that did not end the evaluation."""
        self.files: list[str] = []
        """The files that were read, by their real paths, the outermost first."""
        self._anonymous = 0
        self._depth = 0
        self._steps = 0
        self._items = 0
        self._copies = 0

    def anonymous_name(self) -> AnonymousName:
        """A new name for a record without one."""
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
        """Counts items of lists that operators and loops make.

        Raises: EvaluationError when there are too many.
        """
        self._items += count
        if self._items > MAX_ITEMS:
            raise EvaluationError(f"more than {MAX_ITEMS} items of lists are made")

    def count_copy(self) -> None:
        """Counts a record that a loop or multiclass makes.

        Raises: EvaluationError when there are too many, as when multiclasses double what others make.
        """
        self._copies += 1
        if self._copies > MAX_RECORDS:
            raise EvaluationError(f"more than {MAX_RECORDS} records are made")

    # -- resolvers

    def resolver(self, values: Mapping[str, Value], record: Record | None = None) -> Resolver:
        """A resolver that knows these values."""
        return MapResolver(self, values, record)

    def shadowed(self, inner: Resolver, hidden: AbstractSet[str]) -> Resolver:
        """A resolver without the names that an operator uses for itself."""
        return ShadowResolver(inner, hidden)

    # -- records

    def global_value(self, name: str) -> Value | None:
        """The record or global variable of a name."""
        record = self.defs.get(name)
        return self.globals.get(name) if record is None else record.ref

    def instance(self, requester: Instance) -> DefRef:
        """Makes the record `Class<args>`.

        Raises: EvaluationError.
        """
        owner = requester.owner
        if self._depth >= MAX_INSTANCE_DEPTH:
            raise EvaluationError(f"records of '{owner.name_text}' need each other more than {self._depth} deep")
        record = Record(self.anonymous_name(), requester.location, RecordKind.ANONYMOUS_DEF)
        record.fields = {name: field for name, field in owner.fields.items() if name not in owner.args}
        record.assertions = list(owner.assertions)
        values = {name: owner.fields[name].value for name in owner.args}
        values.update(
            (owner.args[place] if isinstance(place, int) else place, value) for place, value in requester.args
        )
        self._depth += 1
        record.take(owner, values)
        record.resolve(MapResolver(self, values, record))
        record.parents.append(owner)
        record.complete(self)
        self._depth -= 1
        self.defs[record.name_text] = record
        self.check_assertions(record)
        return record.ref

    def check_assertions(self, record: Record) -> None:
        """Adds a finding for each assertion of a completed record that is false."""
        for assertion in record.assertions:
            self.check_assertion(assertion, record)

    def check_assertion(self, assertion: Assertion, record: Record | None = None) -> None:
        """Adds a finding when an assertion is false."""
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
        self.found.append(location.diagnostic(code, text, help=help))

    def deriving(self, name: str) -> list[Record]:
        """The records that derive from the class of a name, by name."""
        expected = self.classes.get(name)
        if expected is None:
            return []
        return [record for _, record in sorted(self.defs.items()) if record.derives_from(expected)]
