"""Reads and writes operations by forms that are stated as code: the two sides of `ods.text_form.CustomForm`."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NoReturn, TypeVar

from commonir.base.codes import WRONG_OPERAND_COUNT
from commonir.ir.affine import AffineMapAttr
from commonir.ir.attributes import Attribute
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.printing import Inexpressible, Nested, Piece
from commonir.ir.types import FunctionType, Type
from commonir.ods import Op
from commonir.ods.text_form import Argument, CustomForm, RegionRequest, Use
from commonir.text.affine import AffineReader

if TYPE_CHECKING:
    from commonir.text.parser import Parser, Task
    from commonir.text.printer import CustomPrinter

T = TypeVar("T")


class PythonReader:
    """The reader of a form; see `ods.text_form.FormReader`."""

    def __init__(self, source: Parser, definition: type[Op], result_count: int, start: int) -> None:
        self.source = source
        self._definition = definition
        self._result_count = result_count
        self.start = start

    def run(self, form: CustomForm) -> Generator[Task, object, Operation]:
        """Reads the operation after its name."""
        task = form.read(self)
        try:
            request = next(task)
            while True:
                region = yield self.source.region(request.entry, self._definition.default_dialect)
                assert isinstance(region, Region)
                request = task.send(region)
        except StopIteration as finished:
            result: object = finished.value
            assert isinstance(result, Operation)
            return result

    @property
    def definition(self) -> type[Op]:
        return self._definition

    @property
    def position(self) -> int:
        return self.source.start

    @property
    def result_count(self) -> int:
        return self._result_count

    # -- tokens

    def at(self, mark: str) -> bool:
        return self.source.at(mark)

    def at_value(self) -> bool:
        return self.source.kind == "value"

    def at_symbol(self) -> bool:
        return self.source.kind == "symbol"

    def at_integer(self) -> bool:
        return self.source.kind == "int" or self.source.at("-")

    def at_string(self) -> bool:
        return self.source.kind == "string"

    def take(self, mark: str) -> bool:
        return self.source.take(mark)

    def expect(self, mark: str) -> None:
        self.source.expect(mark)

    def keyword(self) -> str:
        return self.source.expect_kind("word", "a keyword")

    def string(self) -> str:
        return self.source.string()

    def symbol(self) -> str:
        return self.source.symbol()

    def integer(self) -> int:
        return self.source.integer()

    def separated(self, item: Callable[[], T], close: str) -> list[T]:
        return self.source.separated(item, close)

    def fail(self, message: str, *, at: int | None = None) -> NoReturn:
        self.source.fail(f"{self._definition.name}: {message}", at=at)

    # -- values

    def use(self) -> Use:
        return self.source.use()

    def uses(self) -> list[Use]:
        return self.source.uses()

    def resolve(self, use: Use, type: Type) -> Value:
        return self.source.resolve(use, type)

    def resolve_all(self, uses: Sequence[Use], types: Sequence[Type]) -> tuple[Value, ...]:
        if len(uses) != len(types):
            message = f"{self._definition.name}: {len(uses)} operands have {len(types)} types"
            self.source.fail(message, at=uses[0].at if uses else self.start, code=WRONG_OPERAND_COUNT)
        return tuple([self.source.resolve(u, t) for u, t in zip(uses, types, strict=True)])

    # -- types and attributes

    def type(self) -> Type:
        return self.source.type()

    def types(self) -> tuple[Type, ...]:
        return self.source.types()

    def function_type(self) -> FunctionType:
        return self.source.function_type()

    def results(self) -> tuple[Type, ...]:
        source = self.source
        return tuple(source.separated(source.type, ")")) if source.take("(") else (source.type(),)

    def attribute(self, type: Type | None = None) -> Attribute:
        return self.source.typed_attribute(type)

    def affine_map(self) -> Attribute:
        return AffineMapAttr(AffineReader(self.source).map())

    def dictionary(self, keyword: str = "") -> dict[str, Attribute]:
        if self.source.take(keyword) if keyword else self.source.at("{"):
            return dict(self.source.dictionary().entries)
        return {}

    # -- blocks and regions

    def argument(self) -> Argument:
        return self.source.argument(attributes=True)

    def successor(self) -> Block:
        return self.source.successor()

    def region(self, entry: Sequence[Argument] | None = None) -> RegionRequest:
        return RegionRequest(entry)

    # -- building

    def create(
        self,
        name: str,
        operands: Sequence[Value],
        attributes: Mapping[str, Attribute],
        result_types: Sequence[Type],
    ) -> Operation:
        signature = FunctionType(tuple([v.type for v in operands]), tuple(result_types))
        return self.source.create(name, tuple(operands), None, dict(attributes), signature, [], self.start)

    def make(
        self,
        arguments: Mapping[str, object],
        result_types: Sequence[Type],
        attributes: Mapping[str, Attribute] | None = None,
        successors: Sequence[Block] = (),
    ) -> Op:
        definition, source = self._definition, self.source
        fields = {f.spelling: f for f in definition.layout.attributes}
        given = dict(arguments)
        extra: dict[str, Attribute] = {}
        for key, value in (attributes or {}).items():
            if key in fields:
                given[fields[key].name] = value
            else:
                extra[key] = value
        for f in fields.values():
            value = given.get(f.name)
            if isinstance(value, Attribute):
                given[f.name] = source.decoded(definition, f, value, self.start)
        op = source.built(definition, given, result_types, extra, self.start)
        if successors:
            op.successors = tuple(successors)
        return op

    def place_body(self, op: Operation) -> None:
        self.source.unresolved_locations.follow_operands(op)


def written(printer: CustomPrinter, form: CustomForm, op: Op) -> list[Piece]:
    """Returns the text of an operation by its form.

    Raises: Inexpressible when its form cannot say what it is.
    """
    writer = PythonWriter(printer, op)
    form.write(writer)
    return writer.pieces


class PythonWriter:
    """The writer of a form; see `ods.text_form.FormWriter`."""

    def __init__(self, printer: CustomPrinter, op: Op) -> None:
        self.printer = printer
        self._op = op
        self._text = printer.name(op)
        self._done: list[Piece] = []

    @property
    def pieces(self) -> list[Piece]:
        """The written text."""
        return [*self._done, self._text]

    @property
    def op(self) -> Op:
        return self._op

    @property
    def is_partial(self) -> bool:
        return self.printer.around is not None

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
