"""Reads and folds the types and values of TableGen.

Names are looked up when they are read: those of an enclosing scope become variables, names of records references.
Source: TableGen Programmer's Reference, values and expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import NoReturn, TypeVar

from commonir.base import file_codes
from commonir.base.diagnostics import DiagnosticError
from commonir.base.suggestions import did_you_mean
from commonir.tablegen.errors import EvaluationError
from commonir.tablegen.folding import FoldingContext
from commonir.tablegen.lexer import Location, TokenStream
from commonir.tablegen.operators import Argument, FieldAccess, Operation, cast, instance_of
from commonir.tablegen.records import Record, RecordKind, Records
from commonir.tablegen.types import BIT, DAG, INT, STRING, BitsType, ListType, RecordType, Type, common_type
from commonir.tablegen.values import ONE, UNSET, ZERO, Bits, Dag, DefRef, Int, List, String, Value, Variable

T = TypeVar("T")

_PLAIN_TYPES: Mapping[str, Type] = {"bit": BIT, "int": INT, "string": STRING, "code": STRING, "dag": DAG}
MAX_BITS = 2**16
"""The widest `bits<n>`."""


class RecordScope:
    """The names of a scope: local variables, and those of a record, multiclass or loop."""

    __slots__ = ("outer", "owner", "variables")

    def __init__(self, outer: RecordScope | None, owner: Record | None = None) -> None:
        self.outer = outer
        self.owner = owner
        self.variables: dict[str, Value] = {}

    def find(self, name: str) -> Value | None:
        """Returns the value of a name in this scope."""
        scope: RecordScope | None = self
        while scope is not None:
            result = scope.variables.get(name)
            if result is None and scope.owner is not None:
                result = _of_record(scope.owner, name)
            if result is not None:
                return result
            scope = scope.outer
        return None


def _of_record(owner: Record, name: str) -> Value | None:
    """Returns the variable of a field or template argument of the current record, class or multiclass."""
    if owner.kind is not RecordKind.MULTICLASS:
        field = owner.fields.get(name)
        if field is not None:
            return Variable(name, field.type)
    if owner.kind in (RecordKind.CLASS, RecordKind.MULTICLASS):
        argument = owner.fields.get(qualified(owner, name))
        if argument is not None:
            return Variable(argument.name, argument.type)
        if name == "NAME":
            return Variable(qualified(owner, name), STRING)
    return None


def qualified(owner: Record, name: str) -> str:
    """Returns the qualified name of a template argument of a class or multiclass."""
    return f"{owner.name_text}{'::' if owner.kind is RecordKind.MULTICLASS else ':'}{name}"


def is_missing(value: Value) -> bool:
    """Returns whether a value, or a bit of it, is unset."""
    return value is UNSET or (isinstance(value, Bits) and UNSET in value.bits)


class ValueParser:
    """Reads types and values from a stream of tokens; `record` is the current record or class."""

    def __init__(self, tokens: TokenStream, records: Records) -> None:
        self.tokens = tokens
        self.records = records
        self.scope = RecordScope(None)
        self.record: Record | None = None
        self.multiclass: Record | None = None
        self.aliases: dict[str, Type] = {}
        self._depth = 0

    # -- errors

    def refuse(self, message: str, at: Location | None = None, *, help: str | None = None) -> NoReturn:
        """Raises: TABLEGEN_RULE at a location, by default that of the current token."""
        raise DiagnosticError((at or self.tokens.location).diagnostic(file_codes.TABLEGEN_RULE, message, help=help))

    def evaluated(self, at: Location, evaluate: Callable[[], T]) -> T:
        """Returns the result of an evaluation; its errors are reported at a location.

        Raises: TABLEGEN_RULE.
        """
        try:
            return evaluate()
        except EvaluationError as error:
            self.refuse(str(error), at)

    @property
    def context(self) -> FoldingContext:
        """The context in which operators fold."""
        return FoldingContext(self.records, self.record)

    # -- tokens

    def _is_at(self, mark: str) -> bool:
        return self.tokens.kind == mark

    def take(self, mark: str) -> bool:
        """Consumes this mark or keyword if it is the current token; returns whether it was."""
        if self.tokens.kind == mark:
            self.tokens.advance()
            return True
        return False

    def expect(self, mark: str, after: str) -> None:
        """Consumes a mark or keyword.

        Raises: MALFORMED_TABLEGEN for another token.
        """
        if self.tokens.kind != mark:
            self.unexpected(f"'{mark}' {after}")
        self.tokens.advance()

    def expect_id(self, what: str) -> str:
        """Consumes an identifier and returns it.

        Raises: MALFORMED_TABLEGEN for another token.
        """
        if self.tokens.kind != "id":
            self.unexpected(what)
        return self.tokens.advance()

    def unexpected(self, expected: str) -> NoReturn:
        """Raises: MALFORMED_TABLEGEN at the current token."""
        tokens = self.tokens
        result = "the end of the file" if tokens.kind == "end" else f"'{tokens.text[:40]}'"
        tokens.fail(f"expected {expected}, found {result}")

    @contextmanager
    def nested(self) -> Generator[None]:
        """Counts nested constructs.

        Raises: NESTING_TOO_DEEP.
        """
        limit = self.tokens.sources.limits.max_nesting_depth
        if self._depth >= limit:
            message = f"values, loops and blocks are more than {limit} deep within each other"
            raise DiagnosticError(self.tokens.location.diagnostic(file_codes.NESTING_TOO_DEEP, message))
        self._depth += 1
        yield
        self._depth -= 1

    @contextmanager
    def scoped(self, owner: Record | None = None) -> Generator[RecordScope]:
        """Opens a scope for the names of a block."""
        outer = self.scope
        self.scope = RecordScope(outer, owner)
        yield self.scope
        self.scope = outer

    # -- types

    def parse_type(self) -> Type:
        """Type ::= 'bit' | 'int' | 'string' | 'code' | 'dag' | 'bits' '<' n '>' | 'list' '<' Type '>' | class."""
        tokens = self.tokens
        plain = _PLAIN_TYPES.get(tokens.kind)
        if plain is not None:
            tokens.advance()
            return plain
        if tokens.kind == "id":
            at = tokens.location
            name = tokens.advance()
            alias = self.aliases.get(name)
            return alias or RecordType((self.class_named(name, at),))
        if self.take("bits"):
            self.expect("<", "after 'bits'")
            width = self.parse_plain_int("the number of bits")
            if not 0 <= width <= MAX_BITS:
                self.refuse(f"the type has {width} bits; 0 to {MAX_BITS} are possible")
            self.expect(">", "after the number of bits")
            return BitsType(width)
        if self.take("list"):
            self.expect("<", "after 'list'")
            with self.nested():
                element = self.parse_type()
            self.expect(">", "after the type of the items")
            return ListType(element)
        return self.unexpected("a type")

    def class_named(self, name: str, at: Location) -> Record:
        """Returns the class of a name. Raises: TABLEGEN_RULE when there is none."""
        result = self.records.classes.get(name)
        if result is None:
            self.refuse(f"there is no class '{name}'", at, help=did_you_mean(name, self.records.classes))
        return result

    def parse_plain_int(self, what: str) -> int:
        """Reads an integer literal."""
        if self.tokens.kind != "int":
            self.unexpected(what)
        return self.number(self.tokens.advance())

    def number(self, text: str) -> int:
        """Returns the number of a token; numbers of more than 63 bits wrap.

        Raises: MALFORMED_TABLEGEN when it has more than 64 bits.
        """
        value = int(text, 16 if text.startswith("0x") else 10) if len(text) <= 24 else 2**64
        if not -(2**63) <= value < 2**64:
            self.tokens.fail(f"the number {text[:30]} has more than 64 bits")
        return value - 2**64 if value >= 2**63 else value

    # -- values

    def parse_value(self, expected: Type | None = None, *, is_name: bool = False) -> Value:
        """Value ::= Operand ('#' Operand)*.

        `expected` is the expected type, which empty lists need. In a name (`is_name`), and after `#`, identifiers that
        are in no enclosing scope are strings.
        """
        with self.nested():
            value = self._parse_operand(expected, is_name=is_name)
            return value if self.tokens.kind != "#" else self._parse_paste(value, expected)

    def _parse_operand(self, expected: Type | None, *, is_name: bool) -> Value:
        """Operand ::= SimpleValue ('{' bits '}' | '[' items ']' | '.' field)*."""
        value = self.parse_simple(expected, is_name=is_name)
        while True:
            match self.tokens.kind:
                case "{" if not is_name:
                    value = self._parse_bits_of(value)
                case "[":
                    value = self._parse_items_of(value)
                case ".":
                    value = self._parse_field_of(value)
                case _:
                    return value

    def _parse_bits_of(self, value: Value) -> Value:
        at = self.tokens.location
        self.tokens.advance()
        positions = self.parse_ranges("}")
        self.expect("}", "after the numbers of bits")
        type = value.type
        if isinstance(type, BitsType):
            width = type.width
        elif isinstance(value, Int):
            width = 64
        else:
            self.refuse(f"'{value}' has no bits to pick", at)
        if any(not 0 <= n < width for n in positions):
            self.refuse(f"'{value}' has the bits 0 to {width - 1}", at)
        return Bits(tuple(value.bit(n) for n in reversed(positions)))

    def _parse_items_of(self, value: Value) -> Value:
        at = self.tokens.location
        type = value.type
        if not isinstance(type, ListType):
            self.refuse(f"'{value}' is not a list", at)
        self.tokens.advance()
        index, is_single = self._parse_slice()
        self.expect("]", "after the numbers of items")
        if is_single:
            built = Operation("element", (value, index), type.element)
        else:
            built = Operation("slice", (value, index), type)
        return self.evaluated(at, lambda: built.folded(self.context))

    def _parse_slice(self) -> tuple[Value, bool]:
        """Reads the numbers in `[...]`: an `int` or a list, and whether it is a single one."""
        parts: list[Value] = []
        is_single = True
        while self.tokens.kind != "]":
            at = self.tokens.location
            first = self.parse_value()
            if isinstance(first.type, ListType):
                parts.append(first)
                is_single = False
            else:
                last = self._parse_range_end()
                if last is None:
                    parts.append(first)
                else:
                    is_single = False
                    parts.append(self._range_between(first, last, at))
            if not self.take(","):
                break
            is_single = False
        if not parts:
            self.unexpected("the number of an item")
        if is_single:
            return parts[0], True
        lists = [part if isinstance(part.type, ListType) else List((part,), INT) for part in parts]
        return self.chained("listconcat", lists, ListType(INT)), False

    def _range_between(self, first: Value, last: Value, at: Location) -> Value:
        built = Operation("rangec", (first, last), ListType(INT))
        return self.evaluated(at, lambda: built.folded(self.context))

    def _parse_range_end(self) -> Value | None:
        """Parses the end after `...` or `-`; `1-3` are the two tokens 1 and -3."""
        if self.take("...") or self.take("-"):
            return self.parse_value()
        if self.tokens.kind == "int" and self.tokens.text.startswith("-"):
            return Int(-self.number(self.tokens.advance()))
        return None

    def _parse_field_of(self, value: Value) -> Value:
        at = self.tokens.location
        self.tokens.advance()
        name_at = self.tokens.location
        name = self.expect_id("the name of a field after '.'")
        type = self._field_type(value, name)
        if type is None:
            self.refuse(f"'{value}' has no field '{name}'", name_at)
        return self.evaluated(at, lambda: FieldAccess(value, name, type).folded(self.context))

    def _field_type(self, value: Value, name: str) -> Type | None:
        if isinstance(value, DefRef):
            owners: Sequence[Record] = (value.record,)
        elif isinstance(value.type, RecordType):
            owners = value.type.classes
        else:
            return None
        return next((owner.fields[name].type for owner in owners if name in owner.fields), None)

    def _parse_paste(self, first: Value, expected: Type | None) -> Value:
        at = self.tokens.location
        if isinstance(first.type, ListType):
            lists = [first]
            while self.take("#"):
                part = self._parse_operand(expected, is_name=False)
                if not isinstance(part.type, ListType):
                    self.refuse(f"'{part}' is pasted to a list but is none", at)
                lists.append(part)
            return self.chained("listconcat", lists, first.type)
        parts = [self._as_text(first, at)]
        while self.take("#"):
            # `foo#` before the body of a record is the same as `foo#""`.
            if self.tokens.kind in (":", ";", "{"):
                break
            parts.append(self._as_text(self._parse_operand(None, is_name=True), at))
        return self.chained("strconcat", parts, STRING)

    def _as_text(self, value: Value, at: Location) -> Value:
        if value.type is STRING:
            return value
        if value.type is None or value.type is DAG or isinstance(value.type, ListType):
            self.refuse(f"'{value}' cannot be pasted", at)
        return self.evaluated(at, lambda: Operation("cast", (value,), STRING, STRING).folded(self.context))

    def chained(self, op: str, parts: Sequence[Value], type: Type) -> Value:
        """Returns a binary operator over several operands, right-associative."""
        at = self.tokens.location
        result = parts[-1]
        for part in reversed(parts[:-1]):
            built = Operation(op, (part, result), type)
            result = self.evaluated(at, lambda operation=built: operation.folded(self.context))
        return result

    # -- simple values

    def parse_simple(self, expected: Type | None, *, is_name: bool = False) -> Value:
        """Reads a SimpleValue: a literal, a name, a list, a dag, bits, `Class<args>` or an operator."""
        tokens = self.tokens
        match tokens.kind:
            case "id":
                return self._parse_id(is_name=is_name)
            case "string":
                place = tokens.location
                text = tokens.advance()
                while tokens.kind == "string":
                    text += tokens.advance()
                return String(text, place=place)
            case "int":
                return Int(self.number(tokens.advance()))
            case "code":
                place = tokens.location
                return String(tokens.advance(), is_code=True, place=place)
            case "bang":
                return self.parse_operator(expected)
            case "[":
                return self._parse_list(expected)
            case "(":
                return self._parse_dag()
            case "{":
                return self._parse_bits()
            case "?":
                tokens.advance()
                return UNSET
            case "true" | "false":
                return Int(int(tokens.advance() == "true"))
            case "binary":
                digits = tokens.advance()[2:]
                return Bits(tuple(ONE if digit == "1" else ZERO for digit in reversed(digits)))
            case _:
                return self.unexpected("a value")

    def parse_operator(self, expected: Type | None) -> Value:
        """Reads an operator such as `!add(a, b)`."""
        raise NotImplementedError

    def _parse_id(self, *, is_name: bool) -> Value:
        tokens = self.tokens
        at = tokens.location
        name = tokens.advance()
        if tokens.kind == "<":
            return self._parse_instance(name, at)
        if tokens.kind == "=":
            # The name of a template argument; the parser of arguments continues.
            return String(name)
        result = self.scope.find(name)
        if result is not None:
            return result
        if is_name:
            return String(name)
        result = self.records.global_value(name)
        if result is not None:
            return result
        record = self.record
        is_own = record is not None and not record.is_class and self.multiclass is None
        if record is not None and is_own and isinstance(record.name, String) and record.name.value == name:
            return Operation("cast", (record.name,), record.type, record.type)
        known = [*self.records.defs, *self.records.globals, *(() if record is None else record.fields)]
        return self.refuse(f"there is no '{name}' here", at, help=did_you_mean(name, known))

    def _parse_instance(self, name: str, at: Location) -> Value:
        owner = self.class_named(name, at)
        args = self.parse_arguments(owner)
        return self.evaluated(at, lambda: instance_of(self.records, owner, args, at).folded(self.context))

    def _parse_list(self, expected: Type | None) -> Value:
        at = self.tokens.location
        self.tokens.advance()
        element = expected.element if isinstance(expected, ListType) else None
        if expected is not None and element is None:
            self.refuse(f"a list stands where a value of type '{expected}' is expected", at)
        items: list[Value] = []
        while self.tokens.kind != "]":
            items.append(self.parse_value(element))
            if not self.take(","):
                break
        self.expect("]", "after the items of a list")
        declared = None
        if self.take("<"):
            declared = self.parse_type()
            self.expect(">", "after the type of the items")
        type = self._element_type(items, declared, element, at)
        return self.evaluated(at, lambda: List(tuple(items), type))

    def _element_type(self, items: Sequence[Value], declared: Type | None, expected: Type | None, at: Location) -> Type:
        result: Type | None = None
        for item in items:
            type = item.type
            if type is not None:
                result = type if result is None else common_type(result, type)
                if result is None:
                    self.refuse(f"the items of the list have types that do not go together, such as '{type}'", at)
        if declared is not None:
            if result is not None and not result.converts_to(declared):
                self.refuse(f"the items of the list are of type '{result}', not '{declared}'", at)
            result = declared
        if result is None:
            if expected is None:
                self.refuse("the type of the list is not known: write it as in '[]<int>'", at)
            return expected
        if expected is not None and not result.converts_to(expected):
            self.refuse(f"the items of the list are of type '{result}', not '{expected}'", at)
        return result

    def _parse_bits(self) -> Value:
        at = self.tokens.location
        self.tokens.advance()
        bits: list[Value] = []
        while self.tokens.kind != "}":
            value = self.parse_value()
            if isinstance(value.type, BitsType):
                bits += [value.bit(index) for index in reversed(range(value.type.width))]
            else:
                bit = cast(value, BIT)
                if bit is None:
                    self.refuse(f"'{value}' is not a bit", at)
                bits.append(bit)
            if not self.take(","):
                break
        self.expect("}", "after the bits")
        if len(bits) > MAX_BITS:
            self.refuse(f"there are {len(bits)} bits; at most {MAX_BITS} are possible", at)
        return Bits(tuple(reversed(bits)))

    def _parse_dag(self) -> Value:
        at = self.tokens.location
        self.tokens.advance()
        if self.tokens.kind not in ("id", "?", "bang"):
            self.unexpected("the operator of a dag")
        op = self.parse_value()
        name = self._parse_label()
        args: list[tuple[Value, str | None]] = []
        while not self._is_at(")"):
            args.append(self._parse_dag_argument())
            if not self.take(","):
                break
        self.expect(")", "after the arguments of a dag")
        return self.evaluated(at, lambda: Dag(op, name, tuple(args)))

    def _parse_label(self) -> str | None:
        if not self.take(":"):
            return None
        if self.tokens.kind != "var":
            self.unexpected("a name such as '$x' after ':'")
        return self.tokens.advance()

    def _parse_dag_argument(self) -> tuple[Value, str | None]:
        if self.tokens.kind == "var":
            return UNSET, self.tokens.advance()
        value = self.parse_value()
        return value, self._parse_label()

    # -- ranges and arguments

    def parse_ranges(self, end: str, first: Value | None = None) -> list[int]:
        """Reads numbers and ranges such as `3...0, 7`; `first` is the first number if it was read already."""
        result: list[int] = []
        while True:
            at = self.tokens.location
            low = self._range_bound(self.parse_value() if first is None else first, at)
            first = None
            last = self._parse_range_end()
            if last is None:
                result.append(low)
            else:
                bound = self._range_bound(last, at)
                self.evaluated(at, lambda low=low, bound=bound: self.records.count_items(abs(bound - low) + 1))
                result += range(low, bound + 1) if low <= bound else range(low, bound - 1, -1)
            if not self.take(","):
                return result
            if self.tokens.kind == end:
                return result

    def _range_bound(self, value: Value, at: Location) -> int:
        if not isinstance(value, Int) or value.value < 0:
            self.refuse(f"expected a number in a range, found '{value}'", at)
        return value.value

    def parse_arguments(self, owner: Record) -> tuple[Argument, ...]:
        """Reads template arguments in `<...>`: by position, then by name.

        Raises: TABLEGEN_RULE for too many, wrong or missing ones.
        """
        self.expect("<", "before template arguments")
        arguments: dict[str, Value] = {}
        args: list[Argument] = []
        has_names = False
        while self.tokens.kind != ">":
            at = self.tokens.location
            position = len(args)
            name = owner.args[position] if position < len(owner.args) and not has_names else None
            with_name = None
            value = self.parse_value(None if name is None else owner.fields[name].type)
            if self.tokens.kind == "=" and isinstance(value, String):
                with_name = name = self._argument_named(owner, value.value, at)
                has_names = True
                self.tokens.advance()
                value = self.parse_value(owner.fields[name].type)
                if value is UNSET:
                    self.refuse("an argument that is given by name needs a value", at)
            elif has_names:
                self.refuse("arguments by position stand before those by name", at)
            if name is None:
                self.refuse(f"'{owner.name_text}' takes {len(owner.args)} template arguments, and more are given", at)
            if name in arguments:
                self.refuse(f"the template argument '{name}' is given twice", at)
            arguments[name] = self._argument_value(owner, name, value, at)
            args.append((position if with_name is None else with_name, arguments[name]))
            if not self.take(","):
                break
        self.expect(">", "after template arguments")
        self.check_arguments(owner, arguments)
        return tuple(args)

    def check_arguments(self, owner: Record, arguments: Mapping[str, Value]) -> None:
        """Checks that all arguments have values. Raises: TABLEGEN_RULE."""
        for name in owner.args:
            if name not in arguments and is_missing(owner.fields[name].value):
                self.refuse(f"the template argument '{name}' has no value")

    def _argument_named(self, owner: Record, name: str, at: Location) -> str:
        full = qualified(owner, name)
        if full not in owner.args:
            known = [each.rpartition(":")[2] for each in owner.args]
            message = f"'{owner.name_text}' has no template argument '{name}'"
            self.refuse(message, at, help=did_you_mean(name, known))
        return full

    def _argument_value(self, owner: Record, name: str, value: Value, at: Location) -> Value:
        expected = owner.fields[name].type
        result = cast(value, expected)
        if result is None:
            message = f"the template argument '{name}' is of type '{expected}', not '{value.type}' as '{value}'"
            self.refuse(message, at)
        return result
