"""The context of reading forms: tokens, types, attributes, names and definitions of one text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from commonir.base.tuples import NamedTuple
from commonir.ir.attributes import Attribute
from commonir.ir.operation import Block
from commonir.ir.origins import Origin, TextLines, TextLocation
from commonir.ir.types import Type
from commonir.ods import Dialects, Op
from commonir.ods.fields import Field
from commonir.ods.text_form import Argument, Use
from commonir.text.builtin_forms import attribute_reader
from commonir.text.lexer import BLANK, COMMA, VALUE_NAME, TokenStream
from commonir.text.name_scopes import NameScopes
from commonir.text.operation_builder import OperationBuilder
from commonir.text.types import PLAIN_TYPE
from commonir.text.unresolved_locations import UnresolvedLocations

if TYPE_CHECKING:
    from commonir.text.deduction import DeducedTypes

_ARGUMENT = rf"{VALUE_NAME}{BLANK}:{BLANK}{PLAIN_TYPE}"
PLAIN_ARGUMENTS = rf"(?:{_ARGUMENT}(?:{COMMA}{_ARGUMENT})*+)?+"
"""Arguments without attributes, locations and aliases, as a regular expression."""
_PLAIN_ARGUMENT = re.compile(rf"({VALUE_NAME}){BLANK}:{BLANK}({PLAIN_TYPE})", re.ASCII)
_PLAIN_ARGUMENTS = re.compile(rf"({PLAIN_ARGUMENTS}){BLANK}\)", re.ASCII)
_INTEGERS = re.compile(r"\[(-?\d{1,18}(?:, ?-?\d{1,18})*+)\]")


class Meaning(NamedTuple):
    """The parts of an operation except its operands, from which it is built."""

    operand_types: Sequence[Type | None]
    result_types: Sequence[Type]
    offsets: tuple[int, ...] | None
    attributes: tuple[object, ...]
    extra: Mapping[str, Attribute]


class FormContext:
    """The readers of one text, and its definitions so far."""

    def __init__(self, tokens: TokenStream, dialects: Dialects, versions: Mapping[str, str]) -> None:
        self.tokens = tokens
        self.unknown_forms: dict[str, int] = {}
        """Types and attributes of dialects that are not known, with the offset of the first use."""
        self.attributes = attribute_reader(tokens, dialects, self.unknown_forms)
        self.types = self.attributes.types
        self.names = NameScopes(tokens)
        self.builder = OperationBuilder(tokens, self.names, dialects, versions)
        self.unresolved_locations = UnresolvedLocations()
        self.lines = TextLines(tokens.file, tokens.lines_before)
        self.default_dialects = ["builtin"]
        """For each open region, the dialect whose operations need no prefix in it."""
        self.deduced: dict[object, DeducedTypes] = {}
        """Deduced types, by the types in the text."""
        self.meanings: dict[object, Meaning] = {}
        """The parts of operations except their operands, by their texts."""
        self.dictionaries: dict[tuple[type[Op], bool, str], tuple[dict[Field, Attribute], dict[str, Attribute]]] = {}
        """The declared and other attributes of dictionaries, by definition and text."""

    @property
    def default_dialect(self) -> str:
        """Returns the dialect whose operations need no prefix in the current region."""
        return self.default_dialects[-1]

    def use(self) -> Use:
        """Reads `%name` or `%name#n`."""
        tokens = self.tokens
        at = tokens.start
        name = tokens.expect_kind("value", "a value '%name'")
        if tokens.kind == "attribute" and tokens.text[1:].isdigit():
            name += tokens.advance()
        return Use(name, at)

    def uses(self) -> list[Use]:
        """Reads zero or more values separated by commas."""
        if self.tokens.kind != "value":
            return []
        out = [self.use()]
        while self.tokens.take(","):
            out.append(self.use())
        return out

    def argument(self, *, attributes: bool = False) -> Argument:
        """Reads `%name: type`, its location, and its attributes if they are allowed."""
        tokens, at = self.tokens, self.tokens.start
        name = tokens.expect_kind("value", "a value '%name'")
        tokens.expect(":")
        type = self.types.type()
        dictionary = self.attributes.entries() if attributes and tokens.at("{") else {}
        origin = self.location_suffix() if tokens.at("loc") else TextLocation(self.lines, at)
        return Argument(name, at, type, dictionary, origin)

    def arguments(self) -> list[Argument]:
        """Reads arguments separated by commas, and the closing parenthesis after them."""
        tokens = self.tokens
        match = _PLAIN_ARGUMENTS.match(tokens.source, tokens.start)
        plain = None if match is None else self.plain_arguments(match.start(1), match.end(1))
        if match is None or plain is None:
            return tokens.separated(self.argument, ")")
        tokens.move_to(match.end())
        return plain

    def plain_arguments(self, start: int, end: int) -> list[Argument] | None:
        """Returns the arguments in a part of the text that matches `PLAIN_ARGUMENTS`; None if a type is not plain."""
        out: list[Argument] = []
        for m in _PLAIN_ARGUMENT.finditer(self.tokens.source, start, end):
            types = self.types.types_of_text(m[2], m.start(2))
            if types is None:
                return None
            out.append(Argument(m[1], m.start(), types[0], {}))
        return out

    def location_suffix(self) -> Origin:
        """Reads `loc(...)`; the current token is `loc`."""
        tokens = self.tokens
        tokens.advance()
        tokens.expect("(")
        result = self.attributes.location()
        tokens.expect(")")
        return result

    def successor(self) -> Block:
        """Reads the label of a block of the current region."""
        at = self.tokens.start
        return self.names.block(self.tokens.expect_kind("block", "a block '^name'"), at)

    def successor_and_uses(self) -> tuple[Block, list[Use], list[Type]]:
        """Reads `^name` or `^name(%a, %b : T, U)`."""
        tokens = self.tokens
        block = self.successor()
        if not tokens.take("("):
            return block, [], []
        uses = self.uses()
        tokens.expect(":")
        types = list(self.types.types())
        tokens.expect(")")
        return block, uses, types

    def plain_integers(self) -> list[int] | None:
        """Reads `[1, -2]` in one step; returns None, and consumes nothing, for any other text."""
        tokens = self.tokens
        match = _INTEGERS.match(tokens.source, tokens.start)
        if match is None:
            return None
        tokens.move_to(match.end())
        return [*map(int, match[1].split(","))]

    def bracketed(self) -> str:
        """Reads text in balanced angle brackets; returns it with the brackets."""
        tokens = self.tokens
        if not tokens.at("<"):
            tokens.unexpected("'<'")
        tokens.end = tokens.start
        return f"<{tokens.body()}>"
