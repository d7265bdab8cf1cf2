"""Custom text forms of definitions, and the interface of their readers and writers.

A definition whose form upstream is written in C++ has a `CustomForm`. Its reader and writer (`text/python_forms.py`)
are protocols here, so that dialects do not depend on the text package.

Source: MLIR operation definitions, custom parser and printer; value names as mlir-opt chooses them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, NoReturn, Protocol, TypeVar

from commonir.base.tuples import NamedTuple
from commonir.ir.operation import Operation

if TYPE_CHECKING:
    from commonir.ir.attributes import Attribute
    from commonir.ir.operation import Block, Region, Value
    from commonir.ir.origins import Origin
    from commonir.ir.types import FunctionType, Type
    from commonir.ods.definition import Definition

T = TypeVar("T")


class Use(NamedTuple):
    """A use of a value: its name, and the offset of the name."""

    name: str
    at: int


class Argument(NamedTuple):
    """A block argument written before a region: its name with its offset, its type and attributes."""

    name: str
    at: int
    type: Type
    attributes: Mapping[str, Attribute]
    origin: Origin | None = None


class RegionRequest(NamedTuple):
    """A region to be read next; `entry` are the arguments of its first block if they are written before the region."""

    entry: Sequence[Argument] | None


FormTask = Generator[RegionRequest, "Region", "Operation"]
"""A form being read: `region = yield reader.region()` reads a region without recursion."""


class FormReader(Protocol):
    """Reads the text of one operation after its name."""

    @property
    def definition(self) -> type[Definition]:
        """The definition of the operation."""
        ...

    @property
    def position(self) -> int:
        """The offset of the current token, for messages."""
        ...

    @property
    def result_count(self) -> int:
        """The number of results that the text names on the left side."""
        ...

    def at(self, mark: str) -> bool:
        """Returns whether the current token is this punctuation or keyword."""
        ...

    def at_value(self) -> bool:
        """Returns whether the current token is `%name`."""
        ...

    def at_symbol(self) -> bool:
        """Returns whether the current token is `@name`."""
        ...

    def at_integer(self) -> bool:
        """Returns whether the current token begins an integer, perhaps negative."""
        ...

    def at_string(self) -> bool:
        """Returns whether the current token is a string."""
        ...

    def take(self, mark: str) -> bool:
        """Consumes this punctuation or keyword if it is the current token; returns whether it was."""
        ...

    def expect(self, mark: str) -> None:
        """Consumes this punctuation or keyword, which must be the current token."""
        ...

    def keyword(self) -> str:
        """Consumes a word and returns it."""
        ...

    def string(self) -> str:
        """Consumes a string and returns its content."""
        ...

    def symbol(self) -> str:
        """Consumes `@name` and returns the name."""
        ...

    def integer(self) -> int:
        """Consumes an integer, perhaps negative, and returns it."""
        ...

    def separated(self, item: Callable[[], T], close: str) -> list[T]:
        """Returns items separated by commas up to a closing mark, which is consumed."""
        ...

    def use(self) -> Use:
        """Reads `%name` or `%name#n`."""
        ...

    def uses(self) -> list[Use]:
        """Reads values separated by commas, perhaps none."""
        ...

    def type(self) -> Type:
        """Reads a type."""
        ...

    def types(self) -> tuple[Type, ...]:
        """Reads types separated by commas, at least one."""
        ...

    def function_type(self) -> FunctionType:
        """Reads `(types) -> types`."""
        ...

    def results(self) -> tuple[Type, ...]:
        """Reads the types after an arrow: one, or several in parentheses."""
        ...

    def attribute(self, type: Type | None = None) -> Attribute:
        """Reads an attribute; `type` is that of a number or tensor whose text omits it."""
        ...

    def affine_map(self) -> Attribute:
        """Reads `(d0, d1) -> (d1, d0)`."""
        ...

    def dictionary(self, keyword: str = "") -> dict[str, Attribute]:
        """Reads attributes in braces, after a keyword if there is one; returns none if there are no braces."""
        ...

    def argument(self) -> Argument:
        """Reads `%name: type {attributes}`."""
        ...

    def resolve(self, use: Use, type: Type) -> Value:
        """Returns the value with a name and a type."""
        ...

    def resolve_all(self, uses: Sequence[Use], types: Sequence[Type]) -> tuple[Value, ...]:
        """Returns the values with names and types; their numbers must be equal."""
        ...

    def successor(self) -> Block:
        """Reads `^name`."""
        ...

    def region(self, entry: Sequence[Argument] | None = None) -> RegionRequest:
        """Returns a request for a region, for `yield`."""
        ...

    def create(
        self,
        name: str,
        operands: Sequence[Value],
        attributes: Mapping[str, Attribute],
        result_types: Sequence[Type],
    ) -> Operation:
        """Creates an operation by name, with operands in order."""
        ...

    def make(
        self,
        arguments: Mapping[str, object],
        result_types: Sequence[Type],
        attributes: Mapping[str, Attribute] | None = None,
        successors: Sequence[Block] = (),
    ) -> Definition:
        """Builds the operation without checks.

        `arguments` are fields by their names in the class: values, regions, Python values of attributes or attributes.
        Entries of `attributes` without a field become undeclared attributes.
        """
        ...

    def place_body(self, op: Operation) -> None:
        """Gives the arguments of the body of an operation, which its text omits, the locations of its operands."""
        ...

    def fail(self, message: str, *, at: int | None = None) -> NoReturn:
        """Raises an error at a position."""
        ...


class FormWriter(Protocol):
    """Writes the text of one operation after its name. Methods that return text do not append it."""

    @property
    def op(self) -> Definition:
        """The operation."""
        ...

    @property
    def is_partial(self) -> bool:
        """Whether only a part of the program is printed; such text cannot be read back."""
        ...

    def write(self, text: str) -> None:
        """Appends text unchanged."""
        ...

    def line(self, deeper: int = 0) -> None:
        """Starts a new line, indented `deeper` levels more than the operation."""
        ...

    def region(
        self,
        region: Region,
        *,
        arguments: bool = True,
        terminator: bool = True,
        empty_block: bool = False,
        deeper: int = 0,
    ) -> None:
        """Appends a region in braces.

        `arguments`: whether its first block shows a label for the arguments it has; `terminator`: whether the last
        operation of its first block is shown; `empty_block`: whether an empty first block shows its label; `deeper`:
        how many levels more than usual it is indented.
        """
        ...

    def operation(self, op: Operation) -> None:
        """Appends another operation without regions, and without the names of its results and its location."""
        ...

    def value(self, value: Value) -> str:
        """Returns the name of a value."""
        ...

    def values(self, values: Iterable[Value]) -> str:
        """Returns names of values, separated by commas."""
        ...

    def share_names(self, values: Sequence[Value], others: Sequence[Value]) -> None:
        """Gives values the names of others in a sibling region."""
        ...

    def type(self, type: Type) -> str:
        """Returns a type."""
        ...

    def types(self, types: Iterable[Type]) -> str:
        """Returns types, separated by commas."""
        ...

    def result_types(self, types: Sequence[Type]) -> str:
        """Returns the text after an arrow: one type, or several in parentheses."""
        ...

    def attribute(self, attribute: Attribute) -> str:
        """Returns an attribute."""
        ...

    def attribute_without_type(self, attribute: Attribute) -> str:
        """Returns an attribute without its type, where that is known."""
        ...

    def dictionary(self, exclude: Iterable[str] = (), keyword: str = "") -> str:
        """Returns all attributes except those in `exclude`, and those equal to their defaults.

        The text is a blank, the keyword if there is one, and the dictionary; "" when no attribute is left.
        """
        ...

    def entries(self, entries: Mapping[str, Attribute]) -> str:
        """Returns a dictionary in braces."""
        ...

    def symbol(self, name: str) -> str:
        """Returns the name of a symbol: `@main`."""
        ...

    def label(self, block: Block) -> str:
        """Returns the label of a block."""
        ...

    def argument(self, value: Value) -> str:
        """Returns an argument of a block with its type: `%name: type`."""
        ...

    def short_name(self, op: Operation) -> str:
        """Returns the name of an operation, without the prefix of the default dialect."""
        ...

    def refuse(self) -> NoReturn:
        """Raises the error that the form cannot express this operation: it is printed in the generic form."""
        ...


class CustomForm(Protocol):
    """The text of an operation after its name, read and written by Python code."""

    def read(self, reader: FormReader) -> FormTask:
        """Reads the operation. Ends with `return reader.make(...)`."""
        ...

    def write(self, writer: FormWriter) -> None:
        """Writes the operation, beginning with the blank after its name."""
        ...


class ExtendsAssembly:
    """A mixin for custom forms that extend the assembly format of their definition: they read its texts identically."""


def read_assignments(reader: FormReader) -> tuple[list[Use], list[Use]]:
    """Reads `%argument = %value, ...)`, after the opening parenthesis."""
    names: list[Use] = []
    values: list[Use] = []

    def one() -> None:
        names.append(reader.use())
        reader.expect("=")
        values.append(reader.use())

    reader.separated(one, ")")
    return names, values


def written_assignments(writer: FormWriter, arguments: Iterable[Value], values: Iterable[Value]) -> str:
    """Returns the text `(%argument = %value, ...)`."""
    pairs = [f"{writer.value(a)} = {writer.value(v)}" for a, v in zip(arguments, values, strict=False)]
    return f"({', '.join(pairs)})"


class TextForm(Operation):
    """The methods of a definition that control its text.

    `result_name` is the name of its result where results are named as by mlir-opt; `default_dialect` is the dialect
    whose operations are written without prefix directly inside it.
    """

    __slots__ = ()

    custom_form: ClassVar[CustomForm | None] = None
    result_name: ClassVar[str] = ""
    default_dialect: ClassVar[str] = ""

    def suggested_names(self) -> Iterable[tuple[Value, str]]:
        """Returns names for the first results, or for the first of each group."""
        return ((self.results[0], self.result_name),) if self.result_name and self.results else ()

    def argument_names(self, region: Region) -> Iterable[tuple[Value, str]]:  # noqa: ARG002  none by default
        """Returns names for the arguments of the first block of a region."""
        return ()
