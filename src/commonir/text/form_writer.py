"""Writes the elements of the assembly format of one operation: the inverse of `text/form_reader.py`.

Blanks are those of mlir-opt, which depend on the format alone: two flags record the preceding element.
Source: MLIR operation definitions, declarative assembly format; spacing as in mlir-opt 22.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from math import isfinite
from typing import NoReturn

from commonir.ir.attributes import (
    ArrayAttr,
    Attribute,
    DenseArrayAttr,
    DialectAttr,
    DimsAttr,
    EnumAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    UnitAttr,
    entry_text_of,
)
from commonir.ir.constant_text import ConstantPrinter
from commonir.ir.literals import dim_literal, key_text, scalar_text, symbol_text
from commonir.ir.operation import Block, Region, Value
from commonir.ir.printing import Inexpressible, Nested, Piece
from commonir.ir.types import DialectType, Type, boolean, f64, i64
from commonir.ods import MlirOp, Op, attr_types
from commonir.ods.fields import BOUND, Field, FieldKind
from commonir.ods.property_types import PropertyType
from commonir.text import assembly, formats
from commonir.text.deduction import OmittedTypes
from commonir.text.form_printer import FormPrinter
from commonir.text.lexer import BARE_ID


class FormPlan:
    """A cache of the data of a definition for writing its form.

    `named` and `unnamed`: the attributes that the form names, by their spelling, and whether there are others.
    `required`: positions of the required operands among all inputs. `omitted`: the types that the form omits, of a
    definition of MLIR; None if it omits none.
    """

    __slots__ = ("fields", "form", "is_mlir", "named", "omitted", "region_count", "required", "unnamed")

    def __init__(self, definition: type[Op]) -> None:
        layout = definition.layout
        self.form = formats.format_of(definition)
        self.is_mlir = issubclass(definition, MlirOp)
        self.named = frozenset(f.spelling for f in self.form.named)
        self.fields = {f.spelling: f for f in layout.attributes}
        self.unnamed = any(name not in self.named for name in self.fields)
        self.required = [n for n, f in enumerate(layout.inputs) if f.kind is FieldKind.OPERAND and f.is_required]
        self.omitted: OmittedTypes | None = None
        if issubclass(definition, MlirOp):
            omitted = OmittedTypes(definition, self.form.typed, states_results=self.form.states_results)
            self.omitted = None if omitted.is_complete else omitted
        self.region_count = None if any(f.variadic for f in layout.regions) else len(layout.regions)


class Writer:
    """The text of one operation. `put` and `literal` place blanks as mlir-opt does."""

    __slots__ = ("done", "form", "op", "plan", "printer", "punctuation", "space", "text")

    def __init__(self, printer: FormPrinter, op: Op, plan: FormPlan) -> None:
        self.printer = printer
        self.op = op
        self.plan = plan
        self.form = plan.form
        self.text = printer.name(op)
        self.done: list[Piece] = []
        self.space = True
        self.punctuation = False

    def refuse(self) -> NoReturn:
        """Raises Inexpressible: the format cannot express the operation."""
        raise Inexpressible

    def put(self, text: str) -> None:
        """Appends text that is not a literal, after a blank if needed."""
        if text:
            self.text += f" {text}" if self.space or not self.punctuation else text
        elif self.printer.upstream and (self.space or not self.punctuation):
            # A group without values still has its blank.
            self.text += " "
        elif not self.printer.upstream:
            return
        self.space, self.punctuation = True, False

    def blank(self, text: str) -> None:
        """Appends white space, or nothing, instead of the blank."""
        if text == "\n":
            self.text += f"\n{self.printer.margin}"
        else:
            self.text += text
            self.punctuation, self.space = not text, False

    def type(self, kind: Type, short: str) -> str:
        """Returns the text of a type, without its prefix if it is the one that forms abbreviate."""
        if isinstance(kind, DialectType) and kind.body is not None and f"{kind.dialect}.{kind.mnemonic}" == short:
            return f"<{kind.body}>"
        return self.printer.type(kind)

    def variable(self, element: assembly.Variable) -> None:
        field = element.field
        match field.kind:
            case FieldKind.OPERAND | FieldKind.PARAMETER:
                self.put(self.grouped(field, [self.printer.value(v) for v in self.values(field)]))
            case FieldKind.REGION:
                regions = self.op.field_value(field)
                self.regions(regions if field.variadic else (regions,))
            case FieldKind.SUCCESSOR:
                self.put(", ".join(map(self.printer.label, self.blocks(field))))
            case _:
                value = self.attribute(field)
                if value is None:
                    raise Inexpressible
                self.put(self.shown(field, value, qualified=element.qualified))

    def shown(self, field: Field, value: Attribute, *, qualified: bool = False) -> str:
        """Returns the text of an attribute that the format names."""
        kind = field.type
        if kind is attr_types.symbol_name and isinstance(value, StringAttr):
            return symbol_text(value.value)
        if not isinstance(self.op, MlirOp):
            return field_text(field, value, self.printer)
        if kind is not None and kind.spelled is not None and not qualified:
            return kind.spelled(self.op.field_value(field))
        if kind is not None and kind.elides_type:
            is_array = isinstance(value, DenseArrayAttr)
            return f"[{value.items_text(self.printer)}]" if is_array else self.printer.attribute(value, "untyped")
        if isinstance(value, DialectAttr) and kind is not None and not qualified and value.body is not None:
            dialect, _, mnemonic = kind.prefix.partition(".")
            if value.mnemonic and (value.dialect, value.mnemonic) == (dialect, mnemonic):
                return f"<{value.body}>"
            if not value.mnemonic and value.dialect == dialect and value.body.startswith(mnemonic):
                return value.body.removeprefix(mnemonic).lstrip()
        return self.printer.attribute(value)

    def grouped(self, field: Field, items: Sequence[str]) -> str:
        """Returns the texts of the values of a field, or of their types, separated by commas, groups in parentheses.

        Raises: Inexpressible when the sizes of the groups are not those of all.
        """
        if not field.group_sizes:
            return ", ".join(items)
        attribute = self.op.attribute_dictionary.get(field.group_sizes)
        sizes = [int(v) for v in attribute.values] if isinstance(attribute, DenseArrayAttr) else []
        if sum(sizes) != len(items) or any(size < 0 for size in sizes):
            self.refuse()
        rest = iter(items)
        return ", ".join([f"({', '.join(islice(rest, size))})" for size in sizes])

    def values(self, field: Field) -> tuple[Value, ...]:
        """Returns the values of an operand, parameter or result."""
        if field.kind is FieldKind.PARAMETER:
            bound = self.op.bound_value(field)
            return () if bound is None else (bound,)
        value = self.op.field_value(field)
        if isinstance(value, Value):
            return (value,)
        return tuple([v for v in value or () if isinstance(v, Value)])

    def blocks(self, field: Field) -> tuple[Block, ...]:
        """Returns the blocks of a successor."""
        value: object = self.op.field_value(field)
        if isinstance(value, Block):
            return (value,)
        return tuple([block for block in value if isinstance(block, Block)]) if isinstance(value, tuple) else ()  # pyright: ignore[reportUnknownVariableType]

    def types(self, group: assembly.Group) -> list[Type]:
        """Returns the types of a group of values."""
        match group:
            case assembly.Variable(field=field):
                value: object = self.op.field_value(field) if field.kind is not FieldKind.PARAMETER else None
                values = (value,) if isinstance(value, Value) else self.values(field)
            case assembly.Operands():
                values = self.op.operands
            case assembly.Results():
                return [r.type for r in self.op.results]
        untyped = self.printer.untyped
        return [v.type for v in values if v not in untyped] if untyped else [v.type for v in values]

    def attribute(self, field: Field) -> Attribute | None:
        """Returns the storage form of an attribute; None if it has no value."""
        value = self.op.attribute_values[self.op.places[field].attribute]
        if value is None or field.type is None or value is BOUND:
            return None
        return field.type.to_attribute(value)

    def is_present(self, element: assembly.Element) -> bool:
        """Returns whether an anchor is present."""
        match element:
            case assembly.Variable(field=field):
                return self._has_value(field)
            case assembly.TypeOf(group=group):
                return bool(self.types(group))
            case assembly.Operands():
                return bool(self.op.operands)
            case assembly.Regions():
                return bool(self.op.regions)
            case assembly.Successors():
                return bool(self.op.successors)
            case assembly.Custom(arguments=arguments):
                return any(self.is_present(a) for a in arguments if isinstance(a, assembly.Variable | assembly.TypeOf))
            case assembly.FunctionalType(inputs=inputs):
                # As in mlir-opt.
                return bool(self.types(inputs))
            case assembly.Literal():
                return False
            case _:
                return True

    def _has_value(self, field: Field) -> bool:
        if field.kind in (FieldKind.OPERAND, FieldKind.PARAMETER, FieldKind.RESULT):
            return bool(self.values(field))
        if field.kind is FieldKind.REGION:
            regions = self.op.field_value(field)
            return bool(regions.blocks if isinstance(regions, Region) else regions)
        if field.kind is FieldKind.SUCCESSOR:
            return bool(self.blocks(field))
        if isinstance(self.op, MlirOp):
            return is_stated(self.op, field)
        return field.spelling in self.op.properties

    def regions(self, regions: Sequence[Region]) -> None:
        if not regions and self.printer.upstream and (self.space or not self.punctuation):
            # A group without regions still has its blank.
            self.text += " "
        for n, region in enumerate(regions):
            if n:
                self.text += ","
                self.space, self.punctuation = True, True
            self.text += " " if self.space or not self.punctuation else ""
            shown = self.printer.shows_terminator(self.op, region)
            nested = Nested(region, self.form.has_signature, shown, empty_block=not self.printer.upstream)
            self.done += (self.text, nested)
            self.text, self.space, self.punctuation = "", True, False

    def attributes(self, keyword: bool) -> None:
        """Writes the attributes that the format does not name."""
        if self.plan.is_mlir:
            dictionary: Mapping[str, Attribute] = self.printer.undeclared(self.op)
            if not self.form.has_properties and (dictionary or self.plan.unnamed):
                dictionary = self.printer.shown_attributes(self.op, self.plan.named)
                if dictionary and any(
                    isinstance(f.type, PropertyType) and f.spelling in dictionary for f in self.op.layout.attributes
                ):
                    # mlir-opt neither prints nor reads properties there.
                    self.refuse()
            shown = self.printer.dictionary(dictionary) if dictionary else ""
        else:
            entries = [*self.declared_entries()] if self.plan.unnamed else []
            entries += [entry_text_of(name, value, self.printer) for name, value in self._extra()]
            shown = f"{{{', '.join(entries)}}}" if entries else ""
        if shown:
            self.text += f" {'attributes ' if keyword else ''}{shown}"
        self.punctuation = False

    def _extra(self) -> Iterable[tuple[str, Attribute]]:
        items = self.printer.undeclared(self.op).items()
        return sorted(items) if self.printer.upstream else items

    def properties(self) -> None:
        """Writes declared attributes that the format does not name."""
        entries = {
            k: v for k, v in self.printer.shown_attributes(self.op, self.plan.named).items() if k not in self.op.extra
        }
        self.text += f" <{self.printer.dictionary(entries)}>" if entries else " " if self.printer.upstream else ""
        self.punctuation = False

    def declared_entries(self) -> Iterator[str]:
        """Yields the declared attributes that are not defaults and not named in the format."""
        fields = self.plan.fields
        for name, value in self.op.properties.items():
            field = fields.get(name)
            if field is not None and field not in self.form.named:
                if isinstance(value, UnitAttr):
                    yield key_text(name)
                else:
                    yield f"{key_text(name)} = {field_text(field, value, self.printer)}"

    def function_type(self, inputs: list[Type], results: list[Type]) -> None:
        shown = ", ".join(map(self.printer.type, inputs))
        self.put(f"({shown}) -> {self.printer.result_types(results)}")

    def signature(self) -> None:
        operands, results = self.types(assembly.Operands()), self.types(assembly.Results())
        distinct = {*operands, *results}
        if len(distinct) == 1 and len(results) == 1 and (shown := self.printer.type(results[0]))[0] != "(":
            self.put(shown)
        else:
            self.function_type(operands, results)


def is_stated(op: Op, field: Field) -> bool:
    """Returns whether an attribute has a value that is not its default."""
    value = op.attribute_values[op.places[field].attribute]
    if field.type is attr_types.unit:
        return value is True
    return not (value is None or value is BOUND or value in (field.default, field.elided))


_RAW = (attr_types.any_attribute, attr_types.dictionary, attr_types.dictionaries)


def field_text(field: Field, value: Attribute, printer: ConstantPrinter) -> str:
    """Returns the text of a declared attribute, without the type of numbers or the element type of lists."""
    if field.type is attr_types.symbol_name and isinstance(value, StringAttr):
        return symbol_text(value.value)
    if isinstance(value, EnumAttr) and BARE_ID.fullmatch(value.keyword):
        return value.keyword
    return printer.attribute(value) if field.type in _RAW else short_text(value, printer)


def short_text(value: Attribute, printer: ConstantPrinter) -> str:
    """Returns the text of an attribute where its type is known."""
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
            return f"[{', '.join([short_text(v, printer) for v in values])}]"
        case _:
            return printer.attribute(value)


# The types of numbers that are written without a type, and bools.
_PLAIN = (i64, f64, boolean)
