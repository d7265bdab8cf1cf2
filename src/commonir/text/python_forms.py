"""Reads and writes operations by forms that are written in Python: the two sides of `ods.text_form.CustomForm`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NoReturn, TypeVar

from commonir.ir.affine import AffineMapAttr
from commonir.ir.attributes import Attribute
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.printing import Inexpressible, Nested, Piece
from commonir.ir.types import FunctionType, Type
from commonir.ods import Op
from commonir.ods.text_form import Argument, CustomForm, RegionRequest, Use
from commonir.text.affine import AffineReader
from commonir.text.form_context import FormContext
from commonir.text.form_printer import FormPrinter

T = TypeVar("T")


class PythonReader:
    """The reader that a form uses; see `ods.text_form.FormReader`."""

    def __init__(self, context: FormContext, definition: type[Op], result_count: int, start: int) -> None:
        self.context = context
        self.tokens = context.tokens
        self.definition = definition
        self.result_count = result_count
        self.start = start
        self.at, self.take, self.expect = context.tokens.at, context.tokens.take, context.tokens.expect
        self.string, self.symbol = context.tokens.string, context.tokens.symbol
        self.integer, self.separated = context.tokens.integer, context.tokens.separated
        self.use, self.uses, self.successor = context.use, context.uses, context.successor
        self.type, self.types, self.results = context.types.type, context.types.types, context.types.results
        self.function_type, self.attribute = context.types.function_type, context.attributes.typed_attribute

    @property
    def position(self) -> int:
        return self.tokens.start

    def at_value(self) -> bool:
        return self.tokens.kind == "value"

    def at_symbol(self) -> bool:
        return self.tokens.kind == "symbol"

    def at_integer(self) -> bool:
        return self.tokens.kind == "int" or self.tokens.at("-")

    def at_string(self) -> bool:
        return self.tokens.kind == "string"

    def keyword(self) -> str:
        return self.tokens.expect_kind("word", "a keyword")

    def fail(self, message: str, *, at: int | None = None) -> NoReturn:
        self.tokens.fail(f"{self.definition.name}: {message}", at=at)

    def resolve(self, use: Use, type: Type) -> Value:
        return self.context.names.resolve(use, type)

    def resolve_all(self, uses: Sequence[Use], types: Sequence[Type]) -> tuple[Value, ...]:
        at = uses[0].at if uses else self.start
        return self.context.names.resolve_all(uses, types, at, f"{self.definition.name}: ")

    def affine_map(self) -> Attribute:
        return AffineMapAttr(AffineReader(self.tokens).map())

    def dictionary(self, keyword: str = "") -> dict[str, Attribute]:
        if self.tokens.take(keyword) if keyword else self.tokens.at("{"):
            return self.context.attributes.entries()
        return {}

    # -- blocks and regions

    def argument(self) -> Argument:
        return self.context.argument(attributes=True)

    def region(self, entry: Sequence[Argument] | None = None) -> RegionRequest:
        return RegionRequest(entry)

    # -- building

    def create(
        self, name: str, operands: Sequence[Value], attributes: Mapping[str, Attribute], result_types: Sequence[Type]
    ) -> Operation:
        signature = FunctionType(tuple([v.type for v in operands]), tuple(result_types))
        return self.context.builder.create(name, tuple(operands), None, dict(attributes), signature, [], self.start)

    def make(
        self,
        arguments: Mapping[str, object],
        result_types: Sequence[Type],
        attributes: Mapping[str, Attribute] | None = None,
        successors: Sequence[Block] = (),
    ) -> Op:
        definition, builder = self.definition, self.context.builder
        fields = {f.spelling: f for f in definition.layout.attributes}
        values = dict(arguments)
        extra: dict[str, Attribute] = {}
        for key, value in (attributes or {}).items():
            if key in fields:
                values[fields[key].name] = value
            else:
                extra[key] = value
        for f in fields.values():
            value = values.get(f.name)
            if isinstance(value, Attribute):
                values[f.name] = builder.decoded(definition, f, value, self.start)
        op = builder.build(definition, values, result_types, extra, self.start)
        if successors:
            op.successors = tuple(successors)
        return op

    def place_body(self, op: Operation) -> None:
        self.context.unresolved_locations.copy_locations_from_operands(op)


def written(printer: FormPrinter, form: CustomForm, op: Op) -> list[Piece]:
    """Returns the text of an operation by its form.

    Raises: Inexpressible when its form cannot express it.
    """
    writer = PythonWriter(printer, op)
    form.write(writer)
    return writer.pieces


class PythonWriter:
    """The writer that a form uses; see `ods.text_form.FormWriter`."""

    def __init__(self, printer: FormPrinter, op: Op) -> None:
        self.printer = printer
        self._op = op
        self._text = printer.name(op)
        self._done: list[Piece] = []

    @property
    def pieces(self) -> list[Piece]:
        """Returns the text and regions that were written."""
        return [*self._done, self._text]

    @property
    def op(self) -> Op:
        return self._op

    @property
    def is_partial(self) -> bool:
        return self.printer.part is not None

    def write(self, text: str) -> None:
        self._text += text

    def line(self, deeper: int = 0) -> None:
        self._text += f"\n{self.printer.margin}{'  ' * deeper}"

    def region(
        self,
        region: Region,
        *,
        arguments: bool = True,
        terminator: bool = True,
        empty_block: bool = False,
        deeper: int = 0,
    ) -> None:
        self._done += (self._text, Nested(region, not arguments, terminator, empty_block, deeper))
        self._text = ""

    def operation(self, op: Operation) -> None:
        if op.regions:
            self.refuse()
        self._text += "".join([piece for piece in self.printer.pieces(op) if isinstance(piece, str)])
        self._text += self.printer.location_defined(op.location)

    def value(self, value: Value) -> str:
        return self.printer.value(value)

    def values(self, values: Iterable[Value]) -> str:
        return self.printer.values(values)

    def share_names(self, values: Sequence[Value], others: Sequence[Value]) -> None:
        for value, other in zip(values, others, strict=True):
            self.printer.naming.share(value, other)

    def type(self, type: Type) -> str:
        return self.printer.type(type)

    def types(self, types: Iterable[Type]) -> str:
        return ", ".join(map(self.printer.type, types))

    def result_types(self, types: Sequence[Type]) -> str:
        return self.printer.result_types(types)

    def attribute(self, attribute: Attribute) -> str:
        return self.printer.attribute(attribute)

    def attribute_without_type(self, attribute: Attribute) -> str:
        return self.printer.attribute(attribute, "untyped")

    def dictionary(self, exclude: Iterable[str] = (), keyword: str = "") -> str:
        shown = self.printer.shown_attributes(self._op, frozenset(exclude))
        if not shown:
            return ""
        return f" {keyword + ' ' if keyword else ''}{self.printer.dictionary(shown)}"

    def entries(self, entries: Mapping[str, Attribute]) -> str:
        return self.printer.dictionary(entries)

    def symbol(self, name: str) -> str:
        return self.printer.symbol(name)

    def label(self, block: Block) -> str:
        return self.printer.label(block)

    def argument(self, value: Value) -> str:
        return self.printer.argument(value)

    def short_name(self, op: Operation) -> str:
        return self.printer.name(op)

    def refuse(self) -> NoReturn:
        raise Inexpressible
