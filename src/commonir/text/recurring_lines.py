"""Operations whose line stood in the text before, but for the names of values: built again without being read.

Programs repeat themselves: of the lines of exported networks two thirds to nine tenths have occurred before. What is
remembered of a line is an operation of MLIR that has no regions and ends with its line, and which therefore follows
from the line, the types of its operands and the token after it. A line that states more than one name for its results,
or an alias, is read each time. `benchmarks/mlir_text.py` measures what this earns.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from commonir.base.tuples import NamedTuple
from commonir.ir.attributes import Attribute
from commonir.ir.types import Type
from commonir.ods import MlirOp, Op

if TYPE_CHECKING:
    from collections.abc import Mapping

    from commonir.text.parser import Bound, Parser

_NAME = re.compile(r"(%(?:\d+|[A-Za-z$._-][A-Za-z0-9$._-]*)(?:#\d+)?)")
# An alias has no point in its name; `distinct[0]<...>` means the one that was read before.
_OF_THE_TEXT = re.compile(r"[#!](?:\d|[A-Za-z$_-][A-Za-z0-9$_-]*(?![A-Za-z0-9$_.<-]))|\bdistinct\s*\[")
_LOCATION = " loc("
_LONGEST = 1000


class _Line(NamedTuple):
    """What a line means. `name_at`: where the name of the operation stands in its text after that of its result."""

    definition: type[Op]
    name_at: int
    operand_order: tuple[int, ...] | None
    operand_types: tuple[Type, ...]
    offsets: tuple[int, ...] | None
    attributes: tuple[object, ...]
    extra: Mapping[str, Attribute]
    result_types: tuple[Type, ...]
    followers: set[str]


class RecurringLines:
    """Remembers the lines of one text."""

    def __init__(self, parser: Parser) -> None:
        self._parser = parser
        self._lines: dict[tuple[str, ...], _Line] = {}
        # The line looked at last: where it starts and ends, the texts between its names, its names.
        self.start = -1
        self._findings = 0
        self._end = -1
        self._key: tuple[str, ...] = ()
        self._names: list[str] = []

    def clear(self) -> None:
        """Forgets all lines."""
        self._lines.clear()

    def read(self) -> tuple[Op, str, int] | None:
        """Reads the operation at the current token if its line has occurred before, up to the place of its origin.

        Returns the operation, the name of its result or "", and the offset of the operation; None, and nothing is
        moved, for every other line.
        """
        parser = self._parser
        source, start = parser.source, parser.start
        end = source.find("\n", start, start + _LONGEST)
        if end < 0:
            return None
        location = source.find(_LOCATION, start, end)
        if location >= 0:
            end = location
        parts = _NAME.split(source[start:end])
        names = parts[1::2]
        key = (parser.default_dialect, *parts[::2])
        self.start, self._end, self._key, self._names = start, end, key, names
        self._findings = len(parser.findings)
        line = self._lines.get(key)
        if line is None:
            return None
        types = line.operand_types
        bound = len(names) - len(types)
        operands = [*map(parser.values.get, names[1:] if bound else names)]
        if line.operand_order is not None:
            operands = [operands[n] for n in line.operand_order]
        known = tuple([v for v, t in zip(operands, types, strict=True) if v is not None and v.type is t])
        if len(known) != len(types):
            return None
        parser.move_to(end)
        if self._follower() not in line.followers:
            parser.move_to(start)
            return None
        op = line.definition.assembled(known, line.offsets, line.attributes, (), line.result_types)
        for name, value in line.extra.items():
            op.set_extra(name, value)
        return (op, names[0], start + len(names[0]) + line.name_at) if bound else (op, "", start + line.name_at)

    def remember(self, op: object, bound: list[Bound], start: int, name_at: int) -> None:
        """Remembers what the line at an offset means, if the operation that was just read is all that it states."""
        parser, names = self._parser, self._names
        if start != self.start or not isinstance(op, MlirOp) or op.regions or op.successors or op.is_declared:
            return
        if bound and not (len(bound) == len(op.results) == bound[0].results == 1):
            return
        if len(parser.findings) != self._findings:
            return
        used = names[1:] if bound else names
        operands = op.operands
        values = [*map(parser.values.get, used)]
        if len(used) != len(operands) or len({*values}) != len(values) or {*values} != {*operands}:
            return
        is_ended = (
            parser.start == self._end + 1 if parser.at("loc") else parser.source[self._end : parser.start].isspace()
        )
        if not is_ended or any(map(_OF_THE_TEXT.search, self._key)):
            return
        order = None if tuple(values) == operands else tuple([values.index(v) for v in operands])
        known = self._lines.get(self._key)
        self._lines[self._key] = _Line(
            type(op),
            name_at - start - (len(names[0]) if bound else 0),
            order,
            tuple([v.type for v in operands]),
            op.operand_offsets,
            op.attribute_values,
            dict(op.extra),
            tuple([r.type for r in op.results]),
            {self._follower()} | (known.followers if known else set()),
        )

    def _follower(self) -> str:
        """Returns what the token at hand can mean to the operation before it: words other than names do by text."""
        parser = self._parser
        if parser.kind == "word":
            return "" if "." in parser.text else parser.text
        return parser.text if parser.kind == "mark" else parser.kind


__all__ = ["RecurringLines"]
