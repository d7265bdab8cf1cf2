"""Programs as MLIR text.

An operation with a definition is printed by its assembly format (`text/assembly.py`); one without a definition, or one
that its format cannot express because it breaks its definition, in the generic form. What is printed reads back with
`text/parser.py`, except constants that were left out. The form is described in `docs/text.md`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite
from typing import NoReturn

from commonir.base.diagnostics import DiagnosticError
from commonir.ir.attribute_text import (
    DEFAULT_ELISION,
    attribute_text,
    dictionary_text,
    dim_literal,
    entry_text,
    key_text,
    scalar_text,
    symbol_text,
)
from commonir.ir.attributes import (
    ArrayAttr,
    Attribute,
    DenseArrayAttr,
    DictionaryAttr,
    DimsAttr,
    EnumAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    UnitAttr,
)
from commonir.ir.module import Module
from commonir.ir.operation import Operation, Region, Value
from commonir.ir.printing import Neighbourhood, Nested, Piece, Printer
from commonir.ir.types import Type, boolean, f64, i64
from commonir.ods import Dialects, Op, infer, kinds
from commonir.ods.declared import DeclaredOp
from commonir.ods.fields import BOUND, Field, FieldKind
from commonir.text.assembly import (
    AttributeDictionary,
    Custom,
    Element,
    Format,
    FunctionalType,
    Literal,
    Operands,
    Optional,
    Regions,
    Results,
    Signature,
    TypeOf,
    Variable,
    format_of,
)
from commonir.text.directives import DIRECTIVES
from commonir.text.lexer import BARE_ID, SINCE, VERSIONS

Group = Variable | Operands | Results


def print_module(
    root: Operation,
    *,
    generic: bool = False,
    elide: int | None = DEFAULT_ELISION,
    locations: bool = False,
    names: bool = False,
    around: Neighbourhood | None = None,
    dialects: Dialects | None = None,
) -> str:
    """A program, or any operation, as text.

    `elide`: constants of more elements than this are left out, and not read from their files; None prints all, and only
    then the text reads back. `locations` prints where operations come from, `names` only what they are called. `around`
    prints only what is near some operations. `dialects` are those of the reader, to which the text says where a
    definition is not the newest; all that are installed when not given.
    """
    lines = print_lines(
        root, generic=generic, elide=elide, locations=locations, names=names, around=around, dialects=dialects
    )
    return "\n".join(lines) + "\n"


def print_lines(
    root: Operation,
    *,
    generic: bool = False,
    elide: int | None = DEFAULT_ELISION,
    locations: bool = False,
    names: bool = False,
    around: Neighbourhood | None = None,
    dialects: Dialects | None = None,
) -> Iterator[str]:
    """The lines of `print_module`, made as they are asked for."""
    known = Dialects() if dialects is None else dialects
    kind, versions = (VersionedPrinter, {}) if generic else (CustomPrinter, versions_of(root, known))
    return kind(known, versions, elide=elide, locations=locations, names=names, around=around).lines(root)


def versions_of(root: Operation, dialects: Dialects) -> dict[str, str]:
    """For each dialect with versions, the newest under which most operations have the definition they use."""
    used = Counter(type(op) for op in root.walk() if isinstance(op, Op) and op.since)
    out: dict[str, str] = {}
    for prefix in {d.name.partition(".")[0] for d in used}:
        dialect = dialects.get(prefix)
        if dialect is not None:
            own = [(d, n) for d, n in used.items() if d.name.startswith(f"{prefix}.")]
            fitting = [sum(n for d, n in own if dialect.find(d.name, v) is d) for v in dialect.versions]
            best = max(fitting, default=0)
            newest = len(fitting) - 1 - fitting[::-1].index(best) if fitting else -1
            if newest != len(fitting) - 1:
                out[prefix] = dialect.versions[newest]
    return out


class Inexpressible(Exception):
    """The format of a definition cannot say what this operation is: it is printed in the generic form."""


class VersionedPrinter(Printer):
    """Prints the generic form; an operation of an old definition says so."""

    def __init__(
        self,
        dialects: Dialects,
        versions: Mapping[str, str],
        *,
        elide: int | None,
        locations: bool,
        names: bool,
        around: Neighbourhood | None,
    ) -> None:
        super().__init__(elide=elide, locations=locations, names=names, around=around)
        self.versions = versions
        self._dialects = dialects
        self._expected: dict[type[Operation], bool] = {}

    def is_expected(self, op: Operation) -> bool:
        """Whether an operation has the definition that a reader of the text takes for it."""
        kind = type(op)
        found = self._expected.get(kind)
        if found is None:
            prefix = op.name.partition(".")[0]
            dialect = self._dialects.get(prefix) if isinstance(op, Op) and op.since else None
            found = dialect is None or dialect.find(op.name, self.versions.get(prefix, "")) is kind
            self._expected[kind] = found
        return found

    def discardable(self, op: Operation) -> Mapping[str, Attribute]:
        if isinstance(op, Op) and not self.is_expected(op):
            return {SINCE: StringAttr(op.since), **op.discardable}
        return op.discardable


class CustomPrinter(VersionedPrinter):
    """Prints operations by their assembly formats."""

    def pieces(self, op: Operation) -> Sequence[Piece]:
        if isinstance(op, Module):
            return self._module(op)
        # The types of its operands choose the signature of a declared operator, so the text states them.
        if not isinstance(op, Op) or isinstance(op, DeclaredOp) or not self.is_expected(op):
            return self.generic(op)
        form = format_of(type(op))
        writer = Writer(self, op, form)
        try:
            _check_expressible(op, form)
            writer.elements(form.elements)
        except Inexpressible:
            return self.generic(op)
        return writer.pieces

    def _module(self, op: Module) -> Sequence[Piece]:
        extra = dict(op.discardable)
        if self.versions:
            extra[VERSIONS] = DictionaryAttr(tuple([(d, StringAttr(v)) for d, v in sorted(self.versions.items())]))
        name = extra.pop("sym_name", None)
        symbol = f" {symbol_text(name.value)}" if isinstance(name, StringAttr) else ""
        if name is not None and not symbol:
            extra["sym_name"] = name
        attributes = f" attributes {dictionary_text(extra.items(), self.elide)}" if extra else ""
        return [f"module{symbol}{attributes} ", Nested(op.regions[0], named=True)]


def _check_expressible(op: Op, form: Format) -> None:
    """Raises: Inexpressible when operands or regions are missing, or result types are neither stated nor inferred."""
    layout = op.layout
    for f, count in zip(layout.inputs, op.group_sizes, strict=True):
        if f.kind is FieldKind.OPERAND and f.is_required and count != 1:
            raise Inexpressible
    if not any(f.variadic for f in layout.regions) and len(op.regions) != len(layout.regions):
        raise Inexpressible
    if not form.states_results:
        try:
            inferred = infer(op).types
        except DiagnosticError:
            raise Inexpressible from None
        if inferred != tuple([r.type for r in op.results]):
            raise Inexpressible


class Writer:
    """The text of one operation. `put` and `literal` place blanks as mlir-opt does."""

    def __init__(self, printer: CustomPrinter, op: Op, form: Format) -> None:
        self.printer = printer
        self.op = op
        self.form = form
        self.text = op.name
        self.done: list[Piece] = []
        self.space = True
        self.punctuation = False

    def refuse(self) -> NoReturn:
        """Gives up: the format cannot say what this operation is."""
        raise Inexpressible

    @property
    def pieces(self) -> list[Piece]:
        """What was written."""
        return [*self.done, self.text]

    def put(self, text: str) -> None:
        """Appends anything that is not a literal, with a blank before it where one belongs."""
        if text:
            self.text += f" {text}" if self.space or not self.punctuation else text
            self.space, self.punctuation = True, False

    def literal(self, text: str) -> None:
        """Appends a keyword or punctuation."""
        if not text.strip():
            self.text += text
            self.punctuation, self.space = not text, False
            return
        close = len(text) == 1 and text in ("<>(){}[]," if not self.punctuation else ">)}],")
        self.text += text if close or not self.space else f" {text}"
        self.space = text not in ("<", "(", "{", "[")
        self.punctuation = not (text[0].isalpha() or text[0] == "_")

    def elements(self, elements: Iterable[Element]) -> None:
        """Writes elements in order."""
        for e in elements:
            self.element(e)

    def element(self, element: Element) -> None:
        match element:
            case Literal(text=text):
                self.literal(text)
            case Variable(field=field):
                self.variable(field)
            case TypeOf(group=group):
                self.put(", ".join(map(self.printer.type, self.types(group))))
            case Operands():
                self.put(self.printer.values(self.op.operands))
            case Regions():
                self.regions(self.op.regions)
            case AttributeDictionary(keyword=keyword):
                self.attributes(keyword)
            case FunctionalType(inputs=inputs, results=results):
                self.function_type(self.types(inputs), self.types(results))
            case Signature():
                self.signature()
            case Custom(name=name, arguments=arguments):
                self.custom(name, arguments)
            case Optional(elements=inner, anchor=anchor, otherwise=otherwise):
                self.elements(inner if self.is_present(inner[anchor]) else otherwise)
            case Results():
                raise Inexpressible

    def variable(self, field: Field) -> None:
        match field.kind:
            case FieldKind.OPERAND | FieldKind.PARAMETER:
                self.put(self.printer.values(self.values(field)))
            case FieldKind.REGION:
                self.regions(self.op.regions if field.variadic else (self.op.field_value(field),))
            case _:
                value = self.attribute(field)
                if value is None:
                    raise Inexpressible
                if not isinstance(value, UnitAttr):
                    self.put(field_text(field, value, self.printer.elide))

    def values(self, field: Field) -> tuple[Value, ...]:
        """The values of an operand, parameter or result, as many as there are."""
        if field.kind is FieldKind.PARAMETER:
            bound = self.op.bound_value(field)
            return () if bound is None else (bound,)
        found = self.op.field_value(field)
        if isinstance(found, Value):
            return (found,)
        return tuple([v for v in found or () if isinstance(v, Value)])

    def types(self, group: Group) -> list[Type]:
        """Types of a group of values."""
        match group:
            case Variable(field=field):
                return [v.type for v in self.values(field)]
            case Operands():
                return [v.type for v in self.op.operands]
            case Results():
                return [r.type for r in self.op.results]

    def attribute(self, field: Field) -> Attribute | None:
        """The storage form of an attribute; None when it has no value."""
        value = self.op.stored_attributes.get(field.name)
        if value is None or field.type is None or value is BOUND:
            return None
        return field.type.to_attribute(value)

    def is_present(self, element: Element) -> bool:
        """Whether an anchor has something to say."""
        match element:
            case Variable(field=field):
                if field.kind in (FieldKind.OPERAND, FieldKind.PARAMETER, FieldKind.RESULT):
                    return bool(self.values(field))
                if field.kind is FieldKind.REGION:
                    given = self.op.field_value(field)
                    return bool(given.blocks if isinstance(given, Region) else given)
                return field.spelling in self.op.properties
            case TypeOf(group=group):
                return bool(self.types(group))
            case Operands():
                return bool(self.op.operands)
            case _:
                return True

    def regions(self, regions: Sequence[Region]) -> None:
        for n, region in enumerate(regions):
            if n:
                self.literal(",")
            self.text += " " if self.space or not self.punctuation else ""
            self.done += (self.text, Nested(region, self.form.has_signature))
            self.text, self.space, self.punctuation = "", True, False

    def attributes(self, keyword: bool) -> None:
        entries = [*self.declared_entries()]
        entries += [entry_text(name, value, self.printer.elide) for name, value in self.op.discardable.items()]
        if entries:
            self.text += f" {'attributes ' if keyword else ''}{{{', '.join(entries)}}}"
        self.punctuation = False

    def declared_entries(self) -> Iterator[str]:
        """Attributes of the definition that are not their defaults and not named in the format."""
        fields = {f.spelling: f for f in self.op.layout.attributes}
        for name, value in self.op.properties.items():
            field = fields.get(name)
            if field is not None and field not in self.form.named:
                if isinstance(value, UnitAttr):
                    yield key_text(name)
                else:
                    yield f"{key_text(name)} = {field_text(field, value, self.printer.elide)}"

    def function_type(self, inputs: list[Type], results: list[Type]) -> None:
        shown = ", ".join(map(self.printer.type, inputs))
        self.put(f"({shown}) -> {self.printer.result_types(results)}")

    def signature(self) -> None:
        operands, results = self.types(Operands()), self.types(Results())
        distinct = {*operands, *results}
        if len(distinct) == 1 and len(results) == 1 and (shown := self.printer.type(results[0]))[0] != "(":
            self.put(shown)
        else:
            self.function_type(operands, results)

    def custom(self, name: str, arguments: tuple[Variable | TypeOf, ...]) -> None:
        DIRECTIVES[name].write(self, arguments)


_RAW = (kinds.any_attribute, kinds.dictionary, kinds.dictionaries)


def field_text(field: Field, value: Attribute, elide: int | None) -> str:
    """A declared attribute, without what its kind already says: the type of numbers, the element type of lists."""
    if field.type is kinds.symbol_name and isinstance(value, StringAttr):
        return symbol_text(value.value)
    if isinstance(value, EnumAttr) and BARE_ID.fullmatch(value.keyword):
        return value.keyword
    return attribute_text(value, elide) if field.type in _RAW else short_text(value, elide)


def short_text(value: Attribute, elide: int | None) -> str:
    """An attribute as it is written where the kind of the value is known."""
    match value:
        case IntegerAttr(value=number, type=type) if type is i64:
            return str(number)
        case FloatAttr(value=number, type=type) if type is f64 and isfinite(number):
            return scalar_text(number, type)
        case DenseArrayAttr(values=values, element=element) if element in _PLAIN and all(map(isfinite, values)):
            return f"[{', '.join([scalar_text(v, element) for v in values])}]"
        case DimsAttr(values=values):
            return f"[{', '.join(map(dim_literal, values))}]"
        case ArrayAttr(values=values):
            return f"[{', '.join([short_text(v, elide) for v in values])}]"
        case _:
            return attribute_text(value, elide)


# What a number without a type is read as, and truth values.
_PLAIN = (i64, f64, boolean)
