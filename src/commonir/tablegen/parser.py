"""Reads the statements of TableGen and creates the records.

The bodies of loops and multiclasses are stored unevaluated (`Entry`), and expanded to records when the values of their
variables are known. Source: TableGen Programmer's Reference, statements and how records are built.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from commonir.base.file_codes import TABLEGEN_RULE
from commonir.base.tuples import NamedTuple
from commonir.tablegen.folding import int_of
from commonir.tablegen.lexer import Location
from commonir.tablegen.operator_parser import OperatorParser
from commonir.tablegen.operators import Argument, Operation, cast
from commonir.tablegen.records import (
    MAX_MULTICLASS_RECORDS,
    Assertion,
    Field,
    MapResolver,
    Record,
    RecordKind,
    value_for,
)
from commonir.tablegen.types import BIT, INT, STRING, BitsType, ListType, Type
from commonir.tablegen.value_parser import qualified
from commonir.tablegen.values import ONE, UNSET, Bits, Int, List, String, Value, Variable

_TYPE_WORDS = ("bit", "bits", "int", "string", "code", "dag", "list", "id", "field")


class Loop(NamedTuple):
    """`foreach`, or a branch of `if`: a loop without a variable over a list with at most one item."""

    location: Location
    variable: Variable | None
    over: Value
    entries: list[Entry]


Entry = Record | Loop | Assertion
"""An unevaluated item of a loop or multiclass."""

Substitutions = dict[str, Value]


class LetValue(NamedTuple):
    """A value for a field from an enclosing `let ... in`."""

    name: str
    bits: tuple[int, ...]
    value: Value
    location: Location


class ParentReference(NamedTuple):
    """A class or multiclass after a colon, with its template arguments."""

    owner: Record
    args: tuple[Argument, ...]
    location: Location


class Collection:
    """A `defset` that is being read."""

    __slots__ = ("element", "items")

    def __init__(self, element: Type) -> None:
        self.element = element
        self.items: list[Value] = []


class Parser(OperatorParser):
    """Reads a file into `records`."""

    multiclasses: dict[str, Record]

    def parse(self) -> None:
        """Reads all statements.

        Raises: MALFORMED_TABLEGEN, TABLEGEN_RULE, and errors of reading included files.
        """
        self.multiclasses = {}
        self._entries: dict[int, list[Entry]] = {}
        self._loops: list[Loop] = []
        self._lets: list[list[LetValue]] = []
        self._collections: list[Collection] = []
        self._statements: Mapping[str, Callable[[], None]] = {
            "assert": self._parse_assert,
            "class": self._parse_class,
            "def": self._parse_def,
            "defm": self._parse_defm,
            "defset": self._parse_defset,
            "deftype": self._parse_deftype,
            "defvar": self._parse_defvar,
            "dump": self._parse_dump,
            "foreach": self._parse_foreach,
            "if": self._parse_if_statement,
            "let": self._parse_let,
            "multiclass": self._parse_multiclass,
        }
        while self.tokens.kind != "end":
            self._parse_statement()

    # -- statements

    def _parse_statement(self) -> None:
        statement = self._statements.get(self.tokens.kind)
        if statement is None:
            self.unexpected("a statement such as 'def' or 'class'")
        if self.tokens.kind in ("class", "multiclass") and self._loops:
            self.unexpected("a statement that a loop may hold")
        if self.tokens.kind in ("class", "defset", "deftype", "multiclass") and self.multiclass is not None:
            self.unexpected("a statement that a multiclass may hold")
        with self.nested():
            statement()

    def _parse_block(self) -> None:
        """Block ::= Statement | '{' Statement* '}'."""
        if not self.take("{"):
            self._parse_statement()
            return
        while self.tokens.kind != "}":
            self._parse_statement()
        self.tokens.advance()

    def _parse_assert(self) -> None:
        self._add(self._read_assertion())

    def _read_assertion(self) -> Assertion:
        """Assert ::= 'assert' condition ',' message ';'."""
        self.tokens.advance()
        at = self.tokens.location
        condition = self.parse_value(BIT)
        self.expect(",", "after the condition of an assertion")
        message = self.parse_value(STRING)
        self.expect(";", "after an assertion")
        return Assertion(at, condition, message)

    def _parse_dump(self) -> None:
        self._add(self._read_dump())

    def _read_dump(self) -> Assertion:
        """Dump ::= 'dump' message ';'."""
        self.tokens.advance()
        at = self.tokens.location
        message = self.parse_value(STRING)
        if message.type is None or (message.type is not STRING and cast(message, STRING) is None):
            self.refuse(f"'dump' shows text, not '{message}'", at)
        self.expect(";", "after 'dump'")
        return Assertion(at, None, message)

    def _parse_defvar(self) -> None:
        """Defvar ::= 'defvar' name '=' value ';'."""
        self.tokens.advance()
        at = self.tokens.location
        name = self.expect_id("the name of a variable")
        is_global = self.scope.outer is None
        if name in self.scope.variables or (is_global and self.records.global_value(name) is not None):
            self.refuse(f"'{name}' is defined already", at)
        if not is_global and self.record is not None and name in self.record.fields:
            self.refuse(f"there is a field '{name}' already", at)
        self.expect("=", "after the name of a variable")
        value = self.parse_value()
        self.expect(";", "after the value of a variable")
        if is_global:
            self.records.globals[name] = value
        else:
            self.scope.variables[name] = value

    def _parse_deftype(self) -> None:
        """Deftype ::= 'deftype' name '=' Type ';'."""
        self.tokens.advance()
        at = self.tokens.location
        name = self.expect_id("the name of a type")
        if name in self.aliases or name in self.records.classes:
            self.refuse(f"there is a type '{name}' already", at)
        self.expect("=", "after the name of a type")
        self.aliases[name] = self.parse_type()
        self.expect(";", "after a type")

    def _parse_defset(self) -> None:
        """Defset ::= 'defset' Type name '=' '{' Statement* '}'."""
        self.tokens.advance()
        at = self.tokens.location
        type = self.parse_type()
        if not isinstance(type, ListType):
            self.refuse(f"'defset' is a list, not '{type}'", at)
        name_at = self.tokens.location
        name = self.expect_id("the name of the set")
        if self.records.global_value(name) is not None:
            self.refuse(f"'{name}' is defined already", name_at)
        self.expect("=", "after the name of a set")
        if self.tokens.kind != "{":
            self.unexpected("'{' before the records of a set")
        self._collections.append(Collection(type.element))
        self._parse_block()
        result = self._collections.pop()
        self.records.globals[name] = List(tuple(result.items), type.element)

    def _parse_let(self) -> None:
        """Let ::= 'let' name ['<' bits '>'] '=' value, ... 'in' Block."""
        self.tokens.advance()
        values: list[LetValue] = []
        while True:
            at = self.tokens.location
            name = self.expect_id("the name of a field")
            bits: tuple[int, ...] = ()
            if self.take("<"):
                bits = tuple(reversed(self.parse_ranges(">")))
                self.expect(">", "after the numbers of bits")
            self.expect("=", "after the name of a field")
            values.append(LetValue(name, bits, self.parse_value(), at))
            if not self.take(","):
                break
        self.expect("in", "after the values of 'let'")
        self._lets.append(values)
        with self.scoped():
            self._parse_block()
        self._lets.pop()

    # -- loops

    def _parse_foreach(self) -> None:
        """Foreach ::= 'foreach' name '=' (list | ranges | '{' ranges '}') 'in' Block."""
        at = self.tokens.location
        self.tokens.advance()
        name = self.expect_id("the name of a variable")
        self.expect("=", "after the name of a variable")
        over, element = self._parse_loop_list()
        self.expect("in", "after the list of a loop")
        variable = Variable(name, element)
        self._parse_loop(Loop(at, variable, over, []))

    def _parse_loop_list(self) -> tuple[Value, Type]:
        at = self.tokens.location
        if self.take("{"):
            numbers = self.parse_ranges("}")
            self.expect("}", "after the numbers of a loop")
            return List(tuple(Int(number) for number in numbers), INT), INT
        value = self.parse_value()
        if isinstance(value.type, ListType):
            return value, value.type.element
        if int_of(value) is None:
            self.refuse(f"a loop goes over a list, not over '{value}'", at)
        return List(tuple(Int(number) for number in self.parse_ranges("in", value)), INT), INT

    def _parse_loop(self, loop: Loop) -> None:
        self._loops.append(loop)
        with self.scoped() as scope:
            if loop.variable is not None:
                scope.variables[loop.variable.name] = loop.variable
            self._parse_block()
        self._loops.pop()
        self._add(loop)

    def _parse_if_statement(self) -> None:
        """If ::= 'if' condition 'then' Block ['else' Block]."""
        at = self.tokens.location
        self.tokens.advance()
        condition = self.parse_value(BIT)
        none, once = List((), BIT), List((ONE,), BIT)
        self.expect("then", "after the condition of 'if'")
        for then, other in ((once, none), (none, once)):
            chosen = Operation("if", (condition, then, other), ListType(BIT))
            over = self.evaluated(at, lambda chosen=chosen: chosen.folded(self.context))
            self._parse_loop(Loop(at, None, over, []))
            if then is once and not self.take("else"):
                return

    # -- expansion to records

    def _add(self, entry: Entry) -> None:
        if self._loops:
            self._loops[-1].entries.append(entry)
        elif isinstance(entry, Loop):
            if self.multiclass is None:
                self._unroll(entry, {}, None, is_final=True)
            else:
                self._unroll(entry, {}, self._entries_of(self.multiclass), is_final=False)
        elif self.multiclass is not None:
            self._entries_of(self.multiclass).append(entry)
        elif isinstance(entry, Assertion):
            self.records.check_assertion(entry)
        else:
            self._complete(entry)

    def _entries_of(self, multiclass: Record) -> list[Entry]:
        return self._entries.setdefault(id(multiclass), [])

    def _check_held(self, multiclass: Record, count: int) -> None:
        """Checks the number of records of a multiclass with some more. Raises: TABLEGEN_RULE."""
        if len(self._entries_of(multiclass)) + count > MAX_MULTICLASS_RECORDS:
            message = f"'{multiclass.name_text}' holds more than {MAX_MULTICLASS_RECORDS:,} records"
            help = "a multiclass holds the records of all multiclasses in it"
            self.refuse(message, multiclass.locations[0], help=help)

    def _unroll(
        self, loop: Loop, known: Substitutions, into: list[Entry] | None, *, is_final: bool, at: Location | None = None
    ) -> None:
        """Expands a loop for each item, or stores it if the items are not known yet."""
        resolver = MapResolver(self.records, known)
        over = self.evaluated(loop.location, lambda: loop.over.resolve(resolver))
        if isinstance(over, Operation) and over.op == "if" and is_final:
            # The condition may look up records, all of which exist now.
            resolver.final = True
            condition, *branches = over.args
            resolved = condition.resolve(resolver)
            built = Operation("if", (resolved, *branches), ListType(BIT))
            over = self.evaluated(loop.location, lambda: built.folded(self.context))
        if isinstance(over, List):
            self.evaluated(loop.location, lambda: self.records.count_items(len(over.items)))
            least = len(over.items) * _least_count(loop.entries)
            self.evaluated(loop.location, lambda: self.records.check_copies(least))
            for item in over.items:
                inner = known if loop.variable is None else {**known, loop.variable.name: item}
                self._expand(loop.entries, inner, into, is_final=is_final)
        elif is_final or into is None:
            what = "the condition of 'if'" if loop.variable is None else "what a loop goes over"
            self.refuse(f"{what} is not known: '{over}'", loop.location)
        else:
            stored: list[Entry] = []
            into.append(Loop(loop.location, loop.variable, over, stored))
            self._expand(loop.entries, known, stored, is_final=False, at=at)

    def _expand(
        self,
        entries: list[Entry],
        known: Substitutions,
        into: list[Entry] | None,
        *,
        is_final: bool,
        at: Location | None = None,
    ) -> None:
        """Expands entries with values for some variables, to records or into other entries."""
        for entry in list(entries):
            if isinstance(entry, Loop):
                self._unroll(entry, known, into, is_final=is_final, at=at)
                continue
            if isinstance(entry, Assertion):
                resolver = MapResolver(self.records, known)
                condition = None if entry.condition is None else entry.condition.resolve(resolver)
                built = Assertion(entry.location, condition, entry.message.resolve(resolver))
                if into is None:
                    self.records.check_assertion(built)
                else:
                    into.append(built)
                continue
            self.evaluated(entry.locations[0], self.records.count_copy)
            record = entry.copy()
            if at is not None:
                record.locations.append(at)
            resolver = MapResolver(self.records, known, record)
            self.evaluated(record.locations[0], lambda record=record, known=resolver: record.resolve(known))
            if into is None:
                self._complete(record)
            else:
                into.append(record)

    def _complete(self, record: Record) -> None:
        """Resolves all references of a record and adds it.

        Raises: TABLEGEN_RULE.
        """
        records, at = self.records, record.locations[0]
        new_name: Value | None = None
        if record.name_text in records.defs:
            if not record.is_anonymous:
                self._refuse_twice(record)
            new_name = records.anonymous_name()
        self.evaluated(at, lambda: record.complete(records, new_name))
        self._check_concrete(record)
        if not isinstance(record.name, String):
            self.refuse(f"the name of the record is not known: '{record.name}'", at)
        if record.name_text in records.defs:
            self._refuse_twice(record)
        records.check_assertions(record)
        for collection in self._collections:
            if not record.ref.type.is_a(collection.element):
                self.refuse(f"'{record.name_text}' is not a '{collection.element}', as its set wants", at)
            collection.items.append(record.ref)
        records.defs[record.name_text] = record

    def _refuse_twice(self, record: Record) -> None:
        first = self.records.defs[record.name_text].locations[0]
        help = f"the first is at {first.file.name}:{first.line}"
        self.refuse(f"there is a record '{record.name_text}' already", record.locations[0], help=help)

    def _check_concrete(self, record: Record) -> None:
        """Adds a diagnostic for each field whose value is not concrete."""
        for field in record.fields.values():
            if not field.is_marked and not field.value.is_concrete:
                message = f"the value of '{field.name}' in '{record.name_text}' is not known: '{field.value}'"
                self.records.diagnostics.append(field.location.diagnostic(TABLEGEN_RULE, message))

    # -- classes and records

    def _parse_class(self) -> None:
        """Class ::= 'class' name ['<' arguments '>'] Body."""
        self.tokens.advance()
        at = self.tokens.location
        name = self.expect_id("the name of a class")
        result = self.records.classes.get(name)
        if result is None:
            if name in self.aliases:
                self.refuse(f"there is a type '{name}' already", at)
            result = self.records.classes[name] = Record(String(name), at, RecordKind.CLASS)
        elif result.fields or result.parents or result.args:
            first = result.locations[0]
            self.refuse(f"there is a class '{name}' already", at, help=f"it is at {first.file.name}:{first.line}")
        else:
            result.locations[0] = at
        with self._reading(result):
            if self.tokens.kind == "<":
                self._parse_template_arguments(result)
            self._parse_record_body(result)

    def _reading(self, record: Record) -> _CurrentRecord:
        return _CurrentRecord(self, record)

    def _parse_template_arguments(self, owner: Record) -> None:
        """Arguments ::= '<' Type name ['=' value], ... '>'."""
        self.tokens.advance()
        while True:
            self._parse_declaration(owner, is_argument=True)
            if not self.take(","):
                break
        self.expect(">", "after template arguments")

    def _parse_def(self) -> None:
        """Def ::= 'def' [name] Body."""
        at = self.tokens.location
        self.tokens.advance()
        name_at = self.tokens.location
        name = self._parse_name()
        if name is None:
            record = Record(self.records.anonymous_name(), at, RecordKind.ANONYMOUS_DEF)
        else:
            record = Record(name, name_at, RecordKind.DEF)
        with self._reading(record):
            self._parse_record_body(record)
        self._add(record)

    def _parse_name(self) -> Value | None:
        """Reads the name of a record or `defm`; in a multiclass, it is prefixed with `NAME` unless it contains that."""
        if self.tokens.kind in (":", ";", "{"):
            return None
        at = self.tokens.location
        outer, self.record = self.record, None
        name = self.parse_value(STRING, is_name=True)
        self.record = outer
        text = cast(name, STRING)
        if text is None or name is UNSET:
            self.refuse(f"the name of a record is text, not '{name}'", at)
        multiclass = self.multiclass
        if multiclass is None:
            return text
        prefix = qualified(multiclass, "NAME")
        if prefix in text.names:
            return text
        return self.chained("strconcat", [Variable(prefix, STRING), text], STRING)

    def _parse_record_body(self, record: Record) -> None:
        """Body ::= [':' parents] (';' | '{' BodyItem* '}')."""
        if self.take(":"):
            while True:
                reference = self._parse_parent()
                self._inherit(record, reference)
                if not self.take(","):
                    break
        self._apply_lets(record)
        if self.take(";"):
            return
        self.expect("{", "to begin a body, or ';'")
        while not self.take("}"):
            self._parse_body_item(record)
        if self.tokens.kind == ";":
            self.refuse("a body does not end with ';'")

    def _parse_body_item(self, record: Record) -> None:
        kind = self.tokens.kind
        if kind == "assert":
            record.assertions.append(self._read_assertion())
        elif kind == "dump":
            record.assertions.append(self._read_dump())
        elif kind == "defvar":
            self._parse_defvar()
        elif kind == "let":
            self._parse_body_let(record)
        elif kind in _TYPE_WORDS:
            self._parse_declaration(record, is_argument=False)
            self.expect(";", "after a declaration")
        else:
            self.unexpected("a field, 'let', 'assert', 'defvar' or '}'")

    def _parse_body_let(self, record: Record) -> None:
        self.tokens.advance()
        at = self.tokens.location
        name = self.expect_id("the name of a field")
        bits: tuple[int, ...] = ()
        if self.take("{"):
            bits = tuple(reversed(self.parse_ranges("}")))
            self.expect("}", "after the numbers of bits")
        self.expect("=", "after the name of a field")
        field = self._field(record, name, at)
        expected = BitsType(len(bits)) if bits and isinstance(field.type, BitsType) else field.type
        value = self.parse_value(expected)
        self.expect(";", "after the value of a field")
        self._assign(record, LetValue(name, bits, value, at))

    def _parse_declaration(self, record: Record, *, is_argument: bool) -> None:
        """Declaration ::= ['field'] Type name ['=' value]."""
        is_marked = self.take("field")
        type = self.parse_type()
        at = self.tokens.location
        name = self.expect_id("the name of a field")
        if name == "NAME":
            self.refuse("'NAME' is the name of the record itself", at)
        if is_argument:
            name = qualified(record, name)
            if name in record.fields:
                self.refuse(f"there is a template argument '{name}' already", at)
            record.args.append(name)
        unset = value_for(type, UNSET)
        assert unset is not None
        self.evaluated(at, lambda: record.add(Field(name, type, unset, at, is_marked)))
        if self.take("="):
            value_at = self.tokens.location
            value = self.parse_value(type)
            self._assign(record, LetValue(name, (), value, value_at))

    def _field(self, record: Record, name: str, at: Location) -> Field:
        field = record.fields.get(name)
        if field is None:
            from_base = [each for each in record.fields if ":" not in each]
            help = f"its fields are {', '.join(from_base[:20])}" if from_base else None
            self.refuse(f"'{record.name_text}' has no field '{name}'", at, help=help)
        return field

    def _assign(self, record: Record, let: LetValue) -> None:
        """Sets the value of a field, or of some of its bits.

        Raises: TABLEGEN_RULE.
        """
        name, positions, value, at = let
        field = self._field(record, name, at)
        if not positions and isinstance(value, Variable) and value.name == name:
            self.refuse(f"the value of '{name}' is '{name}' itself", at)
        if positions:
            value = self._with_bits(field, positions, value, at)
        content = field.with_value(value)
        if content is None:
            self.refuse(f"the field '{name}' of type '{field.type}' cannot hold '{value}' of type '{value.type}'", at)
        record.fields[name] = content._replace(location=at) if content.location.offset < 0 else content

    def _with_bits(self, field: Field, positions: tuple[int, ...], value: Value, at: Location) -> Value:
        if not isinstance(field.value, Bits):
            self.refuse(f"the field '{field.name}' of type '{field.type}' has no bits", at)
        new = value_for(BitsType(len(positions)), value)
        if new is None:
            self.refuse(f"'{value}' are not {len(positions)} bits", at)
        bits = list(field.value.bits)
        if len(set(positions)) < len(positions):
            self.refuse(f"a bit of '{field.name}' is set twice", at)
        for index, position in enumerate(positions):
            if position >= len(bits):
                self.refuse(f"the field '{field.name}' has the bits 0 to {len(bits) - 1}", at)
            bits[position] = new.bit(index)
        return Bits(tuple(bits))

    def _apply_lets(self, record: Record) -> None:
        for values in self._lets:
            for value in values:
                self._assign(record, value)

    # -- parents

    def _parse_parent(self, *, multiclass: bool = False) -> ParentReference:
        at = self.tokens.location
        name = self.expect_id("the name of a multiclass" if multiclass else "the name of a class")
        if multiclass:
            owner = self.multiclasses.get(name)
            if owner is None:
                self.refuse(f"there is no multiclass '{name}'", at)
        else:
            owner = self.class_named(name, at)
        args: tuple[Argument, ...] = ()
        if self.tokens.kind == "<":
            args = self.parse_arguments(owner)
        else:
            self.check_arguments(owner, {})
        return ParentReference(owner, args, at)

    def _inherit(self, record: Record, reference: ParentReference) -> None:
        """Adds the fields of a class, with values for its template arguments."""
        owner, args, at = reference
        if owner is record:
            self.refuse(f"'{record.name_text}' derives from itself", at)
        if record.derives_from(owner):
            self.refuse(f"'{record.name_text}' derives from '{owner.name_text}' already", at)
        for name, field in owner.fields.items():
            if name not in owner.args:
                self.evaluated(at, lambda field=field: record.add(field))
        known = self._argument_values(owner, args)
        known[qualified(owner, "NAME")] = (
            Variable(qualified(record, "NAME"), STRING) if record.is_class else record.name
        )
        record.assertions += owner.assertions
        record.add_record_arguments(owner, known)
        resolver = MapResolver(self.records, known, record)
        self.evaluated(at, lambda: record.resolve(resolver))
        record.parents.append(owner)

    def _argument_values(self, owner: Record, args: tuple[Argument, ...]) -> Substitutions:
        known = {name: owner.fields[name].value for name in owner.args}
        known.update((owner.args[key] if isinstance(key, int) else key, value) for key, value in args)
        return known

    # -- multiclasses

    def _parse_multiclass(self) -> None:
        """Multiclass ::= 'multiclass' name ['<' arguments '>'] [':' parents] (';' | '{' Statement* '}')."""
        self.tokens.advance()
        at = self.tokens.location
        name = self.expect_id("the name of a multiclass")
        if name in self.multiclasses:
            self.refuse(f"there is a multiclass '{name}' already", at)
        built = self.multiclasses[name] = Record(String(name), at, RecordKind.MULTICLASS)
        self.multiclass = built
        with self.scoped(built):
            if self.tokens.kind == "<":
                self._parse_template_arguments(built)
            has_parents = self.take(":")
            while has_parents:
                reference = self._parse_parent(multiclass=True)
                prefix = Variable(qualified(built, "NAME"), STRING)
                known = self._multiclass_values(reference, prefix)
                self._check_held(built, len(self._entries_of(reference.owner)))
                self._expand(self._entries_of(reference.owner), known, self._entries_of(built), is_final=False)
                if not self.take(","):
                    break
            if not (has_parents and self.take(";")):
                self.expect("{", "to begin the body of a multiclass")
                if self.tokens.kind == "}":
                    self.unexpected("a statement in the body of a multiclass")
                while not self.take("}"):
                    if self.tokens.kind not in ("assert", "def", "defm", "defvar", "dump", "foreach", "if", "let"):
                        self.unexpected("a statement that a multiclass may hold")
                    self._parse_statement()
                if self.tokens.kind == ";":
                    self.refuse("a body does not end with ';'")
        self.multiclass = None

    def _multiclass_values(self, reference: ParentReference, name: Value) -> Substitutions:
        known = self._argument_values(reference.owner, reference.args)
        known[qualified(reference.owner, "NAME")] = name
        return known

    def _parse_defm(self) -> None:
        """Defm ::= 'defm' [name] ':' multiclasses, then classes ';'."""
        self.tokens.advance()
        name = self._parse_name()
        if name is None:
            name = self.records.anonymous_name()
            if self.multiclass is not None:
                name = self.chained("strconcat", [Variable(qualified(self.multiclass, "NAME"), STRING), name], STRING)
        self.expect(":", "after the name of 'defm'")
        built: list[Entry] = []
        is_final = self.multiclass is None and not self._loops
        is_class = False
        while not is_class:
            reference = self._parse_parent(multiclass=True)
            known = self._multiclass_values(reference, name)
            entries = self._entries_of(reference.owner)
            if self.multiclass is not None:
                self._check_held(self.multiclass, len(built) + len(entries))
            self._expand(entries, known, built, is_final=is_final, at=reference.location)
            if not self.take(","):
                break
            is_class = self.tokens.kind == "id" and self.tokens.text in self.records.classes
        while is_class:
            reference = self._parse_parent()
            for entry in _records_in(built):
                self._inherit(entry, reference)
            if not self.take(","):
                break
        self.expect(";", "after 'defm'")
        for entry in _records_in(built):
            self._apply_lets(entry)
        for entry in built:
            self._add(entry)


def _least_count(entries: list[Entry]) -> int:
    """Returns the number of records that entries create, without those of loops over unknown lists."""
    count = 0
    pending = [(entry, 1) for entry in entries]
    while pending:
        entry, times = pending.pop()
        if isinstance(entry, Record):
            count += times
        elif isinstance(entry, Loop) and isinstance(entry.over, List):
            pending += [(inner, times * len(entry.over.items)) for inner in entry.entries]
    return count


def _records_in(entries: list[Entry]) -> list[Record]:
    """Returns the records among entries, also those in loops."""
    result: list[Record] = []
    pending = list(reversed(entries))
    while pending:
        entry = pending.pop()
        if isinstance(entry, Record):
            result.append(entry)
        elif isinstance(entry, Loop):
            pending.extend(reversed(entry.entries))
    return result


class _CurrentRecord:
    """Sets the record that the parser reads."""

    def __init__(self, parser: Parser, record: Record) -> None:
        self._parser = parser
        self._record = record
        self._outer: Record | None = None
        self._scope = parser.scoped(record)

    def __enter__(self) -> None:
        self._outer = self._parser.record
        self._parser.record = self._record
        self._scope.__enter__()

    def __exit__(self, *failure: object) -> None:
        self._parser.record = self._outer
        self._scope.__exit__(None, None, None)
