"""Values of TableGen: constants, containers, references to records, and variables.

Values are immutable. `resolve` returns the value with variables replaced, itself when nothing changes; `convert_to`
returns the value as another type, None if it cannot be converted; `names` are the variables in it, so that values
without variables of a resolver are not walked. Operators are in `operators`.
Source: TableGen Programmer's Reference, values.
"""

# ruff: noqa: ARG002  constants ignore the arguments of many methods

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

from commonir.tablegen.errors import EvaluationError
from commonir.tablegen.types import BIT, DAG, INT, STRING, BitsType, ListType, RecordType, Type

if TYPE_CHECKING:
    from commonir.tablegen.lexer import Location
    from commonir.tablegen.records import Record, Records

Key = tuple[object, ...]

NOTHING: frozenset[str] = frozenset()
FINAL = "!"
"""In `names`: the value is determined only when its record is completed."""
ANONYMOUS = "?"
"""In `names`: the value contains the name of an anonymous record, which may still change."""
_ON_COMPLETION = frozenset({FINAL})


class Resolver:
    """Has the values of some variables, those in `names`.

    `record` is the record that is being built; with `final` it is being completed, and unknown values remain unknown.
    """

    __slots__ = ("final", "keeps_unset_bits", "names", "record", "records")

    def __init__(self, records: Records, record: Record | None, names: AbstractSet[str]) -> None:
        self.records = records
        self.record = record
        self.names = names
        self.final = False
        self.keeps_unset_bits = False

    def find(self, name: str, requester: Value) -> Value | None:
        """Returns the value of a variable, if known."""
        raise NotImplementedError


MAX_SIZE = 1_000_000
"""Parts of one value."""


class Value:
    """A value, perhaps with variables."""

    __slots__ = ("names",)

    names: frozenset[str]

    size = 1
    """The number of values that it is written with, repeated ones counted."""

    @property
    def type(self) -> Type | None:
        """Its type; None for `?`, which has every type."""
        raise NotImplementedError

    @property
    def is_concrete(self) -> bool:
        """Whether its value is fully known."""
        return False

    @property
    def has_variables(self) -> bool:
        """Whether it contains a variable."""
        return bool(self.names) and self.names != _ON_COMPLETION

    def resolve(self, resolver: Resolver) -> Value:
        """Returns the value with the variables of a resolver replaced."""
        return self if self.names.isdisjoint(resolver.names) else self.resolved(resolver)

    def resolved(self, resolver: Resolver) -> Value:
        """Returns, as `resolve`, the value for a resolver that has some of its variables."""
        raise NotImplementedError

    def convert_to(self, type: Type) -> Value | None:
        """Returns the value as another type, if it can be converted."""
        mine = self.type
        assert mine is not None
        if mine == type or mine.is_a(type):
            return self
        if mine is BIT and isinstance(type, BitsType) and type.width == 1:
            return Bits((self,))
        return None

    def bit(self, index: int) -> Value:
        """Returns one of its bits, from the lowest at 0."""
        return self if self.type is BIT else VariableBit(self, index)

    def key(self) -> Key:
        """Returns a key that is equal for equal values."""
        raise NotImplementedError

    def __str__(self) -> str:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"


class Constant(Value):
    """A value without parts."""

    __slots__ = ()

    def __init__(self) -> None:
        self.names = NOTHING

    @property
    def is_concrete(self) -> bool:
        return True


class Unset(Constant):
    """`?`: an unset value."""

    __slots__ = ()

    @property
    def type(self) -> None:
        return None

    def convert_to(self, type: Type) -> Value | None:
        return self

    def bit(self, index: int) -> Value:
        return self

    def key(self) -> Key:
        return ("?",)

    def __str__(self) -> str:
        return "?"


UNSET = Unset()


class Bit(Constant):
    """A bit of a `bits` value."""

    __slots__ = ("value",)

    def __init__(self, value: int) -> None:
        super().__init__()
        self.value = value

    @property
    def type(self) -> Type:
        return BIT

    def convert_to(self, type: Type) -> Value | None:
        if type is BIT:
            return self
        if type is INT:
            return Int(self.value)
        if isinstance(type, BitsType) and type.width == 1:
            return Bits((self,))
        return None

    def bit(self, index: int) -> Value:
        return self

    def key(self) -> Key:
        return ("bit", self.value)

    def __str__(self) -> str:
        return str(self.value)


ZERO, ONE = Bit(0), Bit(1)


class Int(Constant):
    """An integer of 64 bits."""

    __slots__ = ("value",)

    def __init__(self, value: int) -> None:
        self.names = NOTHING
        self.value = value

    @property
    def type(self) -> Type:
        return INT

    def convert_to(self, type: Type) -> Value | None:
        if type is INT:
            return self
        if type is BIT:
            return (ZERO, ONE)[self.value] if self.value in (0, 1) else None
        if isinstance(type, BitsType):
            width = type.width
            if width < 64 and self.value >> width != 0 and self.value >> (width - 1) != -1:
                return None
            return Bits(tuple(self.bit(index) for index in range(width)))
        return None

    def bit(self, index: int) -> Value:
        return ONE if self.value >> index & 1 else ZERO

    def key(self) -> Key:
        return ("int", self.value)

    def __str__(self) -> str:
        return str(self.value)


class String(Constant):
    """A string; `is_code` if it was written as a code fragment; `place` is where, None for one that was computed."""

    __slots__ = ("is_code", "place", "value")

    def __init__(self, value: str, *, is_code: bool = False, place: Location | None = None) -> None:
        self.names = NOTHING
        self.value = value
        self.is_code = is_code
        self.place = place

    @property
    def type(self) -> Type:
        return STRING

    def convert_to(self, type: Type) -> Value | None:
        return self if type is STRING else None

    def key(self) -> Key:
        return ("code" if self.is_code else "string", self.value)

    def __str__(self) -> str:
        return f"[{{{self.value}}}]" if self.is_code else f'"{self.value}"'


class AnonymousName(Value):
    """The name of an anonymous record, which may be replaced until the record is complete."""

    __slots__ = ("value",)

    _names = frozenset({ANONYMOUS})

    def __init__(self, value: str) -> None:
        self.names = self._names
        self.value = value

    @property
    def type(self) -> Type:
        return STRING

    def resolved(self, resolver: Resolver) -> Value:
        result = resolver.find(ANONYMOUS, self) or self
        return String(result.value) if resolver.final and isinstance(result, AnonymousName) else result

    def key(self) -> Key:
        return ("anonymous", self.value)

    def __str__(self) -> str:
        return self.value


class Bits(Value):
    """`{...}`: bits, here from the lowest."""

    __slots__ = ("bits",)

    def __init__(self, bits: tuple[Value, ...]) -> None:
        self.bits = bits
        self.names = union(bits)

    @property
    def type(self) -> Type:
        return BitsType(len(self.bits))

    @property
    def is_concrete(self) -> bool:
        return all(bit.is_concrete for bit in self.bits)

    @property
    def number(self) -> int | None:
        """The number with these bits, if all are known."""
        number = 0
        for index, bit in enumerate(self.bits):
            if not isinstance(bit, Bit):
                return None
            number |= bit.value << index
        return number

    def convert_to(self, type: Type) -> Value | None:
        if type is BIT:
            return self.bits[0] if len(self.bits) == 1 else None
        if isinstance(type, BitsType):
            return self if type.width == len(self.bits) else None
        if type is INT:
            number = self.number
            return None if number is None else Int(number)
        return None

    def resolved(self, resolver: Resolver) -> Value:
        bits: list[Value] = []
        changed = False
        known: dict[int, Value] = {}
        for bit in self.bits:
            if isinstance(bit, VariableBit):
                base = known.get(id(bit.base))
                if base is None:
                    base = known[id(bit.base)] = bit.base.resolve(resolver)
                new = bit if base is bit.base else base.bit(bit.index)
            else:
                new = bit.resolve(resolver)
                new = new if new is bit else new.bit(0)
            if new is UNSET and resolver.keeps_unset_bits:
                new = bit
            changed = changed or new is not bit
            bits.append(new)
        return Bits(tuple(bits)) if changed else self

    def bit(self, index: int) -> Value:
        if index >= len(self.bits):
            raise EvaluationError(f"bit {index} is out of range: {self} has {len(self.bits)} bits")
        return self.bits[index]

    def key(self) -> Key:
        return ("bits", *(bit.key() for bit in self.bits))

    def __str__(self) -> str:
        return f"{{ {', '.join(str(bit) for bit in reversed(self.bits))} }}"


def checked_size(parts: Iterable[Value]) -> int:
    """Returns the size of a value of some parts. Raises: EvaluationError when it is too large, as after doublings."""
    result = 1 + sum([v.size for v in parts])
    if result > MAX_SIZE:
        raise too_large()
    return result


def too_large() -> EvaluationError:
    """Returns the error of a value of too many parts."""
    return EvaluationError(f"a value has more than {MAX_SIZE:,} parts")


class List(Value):
    """`[...]`."""

    __slots__ = ("element", "items", "size")

    def __init__(self, items: tuple[Value, ...], element: Type) -> None:
        self.size = checked_size(items)
        self.items = items
        self.element = element
        self.names = union(items)

    @property
    def type(self) -> Type:
        return ListType(self.element)

    @property
    def is_concrete(self) -> bool:
        return all(item.is_concrete for item in self.items)

    def convert_to(self, type: Type) -> Value | None:
        if not isinstance(type, ListType):
            return None
        if type.element == self.element:
            return self
        items: list[Value] = []
        for item in self.items:
            cast = item.convert_to(type.element)
            if cast is None:
                return None
            items.append(cast)
        return List(tuple(items), type.element)

    def resolved(self, resolver: Resolver) -> Value:
        items = tuple(item.resolve(resolver) for item in self.items)
        return self if is_same(items, self.items) else List(items, self.element)

    def key(self) -> Key:
        return ("list", self.element, *(item.key() for item in self.items))

    def __str__(self) -> str:
        return f"[{', '.join(str(item) for item in self.items)}]"


class Dag(Value):
    """`(operator argument:$name, ...)`; names are optional, also that of the operator."""

    __slots__ = ("_is_concrete", "_text", "args", "op", "op_name", "size")

    def __init__(self, op: Value, op_name: str | None, args: tuple[tuple[Value, str | None], ...]) -> None:
        self.size = checked_size([value for value, _ in args])
        self.op = op
        self.op_name = op_name
        self.args = args
        self.names = union([op, *(value for value, _ in args)])
        # A dag that is used twice in another one, which is used twice, is examined and written once.
        self._is_concrete: bool | None = None
        self._text: str | None = None

    @property
    def type(self) -> Type:
        return DAG

    @property
    def is_concrete(self) -> bool:
        if self._is_concrete is None:
            self._is_concrete = self.op.is_concrete and all(value.is_concrete for value, _ in self.args)
        return self._is_concrete

    def convert_to(self, type: Type) -> Value | None:
        return self if type is DAG else None

    def resolved(self, resolver: Resolver) -> Value:
        values = tuple(value.resolve(resolver) for value, _ in self.args)
        op = self.op.resolve(resolver)
        return self.with_parts(op, values)

    def with_parts(self, op: Value, values: tuple[Value, ...]) -> Dag:
        """Returns the dag with another operator and arguments."""
        if op is self.op and is_same(values, tuple(value for value, _ in self.args)):
            return self
        return Dag(op, self.op_name, tuple(zip(values, (name for _, name in self.args), strict=True)))

    def position(self, name: str) -> int | None:
        """Returns the position of the argument with a name."""
        return next((index for index, (_, label) in enumerate(self.args) if label == name), None)

    def key(self) -> Key:
        return ("dag", self.op.key(), self.op_name, *((value.key(), name) for value, name in self.args))

    def __str__(self) -> str:
        if self._text is None:
            op = str(self.op) if self.op_name is None else f"{self.op}:${self.op_name}"
            args = ", ".join([str(value) if name is None else f"{value}:${name}" for value, name in self.args])
            self._text = f"({op} {args})" if args else f"({op})"
        return self._text


class DefRef(Constant):
    """A reference to a record."""

    __slots__ = ("_type", "record")

    def __init__(self, record: Record) -> None:
        super().__init__()
        self.record = record
        self._type = RecordType(tuple(record.parents))

    @property
    def type(self) -> Type:
        return self._type

    def convert_to(self, type: Type) -> Value | None:
        return self if self._type.is_a(type) else None

    def key(self) -> Key:
        return ("def", id(self.record))

    def __str__(self) -> str:
        return self.record.name_text


class Variable(Value):
    """A variable of unknown value: a field, a template argument (`Class:arg`), or the variable of a loop."""

    __slots__ = ("_type", "name")

    def __init__(self, name: str, type: Type) -> None:
        self.name = name
        self._type = type
        self.names = frozenset({name})

    @property
    def type(self) -> Type:
        return self._type

    def resolved(self, resolver: Resolver) -> Value:
        return resolver.find(self.name, self) or self

    def key(self) -> Key:
        return ("var", self.name, self._type)

    def __str__(self) -> str:
        return self.name


class VariableBit(Value):
    """A bit of an unknown value."""

    __slots__ = ("base", "index")

    def __init__(self, base: Value, index: int) -> None:
        self.base = base
        self.index = index
        self.names = base.names

    @property
    def type(self) -> Type:
        return BIT

    def resolved(self, resolver: Resolver) -> Value:
        base = self.base.resolve(resolver)
        return self if base is self.base else base.bit(self.index)

    def key(self) -> Key:
        return ("varbit", self.base.key(), self.index)

    def __str__(self) -> str:
        return f"{self.base}{{{self.index}}}"


def union(parts: Iterable[Value]) -> frozenset[str]:
    """Returns the variables in some values."""
    result: frozenset[str] = NOTHING
    for part in parts:
        if part.names and part.names is not result:
            result = result | part.names if result else part.names
    return result


def is_same(a: tuple[Value, ...], b: tuple[Value, ...]) -> bool:
    """Returns whether two sequences have identical items."""
    return all(x is y for x, y in zip(a, b, strict=True))
