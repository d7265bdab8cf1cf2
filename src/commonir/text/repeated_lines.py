"""Operations that a text states again on other values, made without reading their text again.

Most lines of a large program differ from an earlier line in the names of values only. The parser tells what it made of
a line (`learn`); later lines of the same wording are operations that say the same, on the values they name. Nothing
here knows a grammar, so every form is as fast, and the parser stays the authority: it reads a line that was not learnt,
whose operands are not defined yet or have other types, or whose names are taken already.
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from itertools import islice
from typing import NamedTuple

from commonir.ir.operation import Block, Operation, Value
from commonir.ir.origins import TextLines, TextLocation
from commonir.ir.types import Type
from commonir.ods import Op
from commonir.ods.declared import DeclaredOp, Declares
from commonir.text.rows import NAME, Line, OpenRows, own_name

# More than a name where letters follow digits, but then no value is called so.
_NAME = re.compile(r"(%[\w$.-]++(?:\#\d++)?+)", re.ASCII)
# Stands for a name: it is in no line that the parser accepts, comments apart, whose names count as too many.
_HOLE = "\v"
LONGEST_LINE = 4000
"""Lines of more characters are not kept: they hold constants, which differ."""
_MOST_LINES = 100_000
_WINDOW = 1 << 16


Named = dict[str, Value] | Sequence[tuple[str, Value]]


class Seen(NamedTuple):
    """What the parser knows where a line is to be read: values by name, and names by which values are awaited.

    `names` receives the names that are defined.
    """

    values: dict[str, Value]
    awaited: Container[str]
    names: list[str]


class RepeatedLines:
    """The lines of one text that were read, by wording, for each dialect whose operations need no prefix."""

    def __init__(self, source: str, places: TextLines) -> None:
        self._source = source
        self._places = places
        self._known: dict[str, dict[str, Line]] = {}
        self._rows: dict[str, dict[str, Line]] = {}
        self._count = 0
        # Some lines of the text, the first of them not yet passed, and where that begins.
        self._lines: list[str] = []
        self._at = 0
        self._begin = 0
        # The wordings of these lines, where somebody asked for them, and the names in them; how many names stand before
        # which of the lines.
        self._wordings: list[str] = []
        self._names: list[str] = []
        self._passed = 0
        self._passed_lines = 0
        # Where the line begins at which rows ended last.
        self._stuck: int = -1

    def forget(self) -> None:
        """Forgets all lines: what words mean has changed."""
        self._known.clear()
        self._rows.clear()
        self._count = 0

    def read(self, offset: int, block: Block, seen: Seen, default: str, most: int) -> tuple[int, int]:
        """Appends operations to a block, as many as stand in lines that are known from an offset on, up to `most`.

        Returns where it stopped, and how many were read.
        """
        known = self._known.get(default)
        if not known or not self._move_to(offset):
            return offset, 0
        split, values, awaited, places = _NAME.split, seen.values, seen.awaited, self._places
        append, defined = block.append_like, seen.names.append
        count = 0
        while count < most and (self._at < len(self._lines) or self._refill()):
            text = self._lines[self._at]
            if len(text) > LONGEST_LINE:
                break
            parts = split(text)
            line = known.get(_HOLE.join(parts[::2]))
            if line is None:
                break
            like, result_types, extra, bound, lead = line.like, line.result_types, line.extra, line.bound, line.lead
            operands = _operands(parts, bound, line.operand_types, line.order, values)
            if operands is None:
                break
            if bound == 1:
                name = parts[1]
                is_number = name[1:].isdigit()
                if name in values or name in awaited or not (is_number or _is_token(name)):
                    break
                place = TextLocation(places, self._begin + lead + len(name))
                (value,) = append(like, operands, result_types, extra, place)
                if not is_number:
                    value.name = own_name(name)
                values[name] = value
                defined(name)
            else:
                names = parts[1 : 2 * bound : 2]
                if any(name in values or name in awaited or not _is_token(name) for name in names):
                    break
                place = TextLocation(places, self._begin + lead + sum(map(len, names)))
                results = append(like, operands, result_types, extra, place)
                for name, value in zip(names, results, strict=False):
                    value.name = own_name(name)
                    values[name] = value
                    defined(name)
            count += 1
            self._at += 1
            self._begin += len(text) + 1
        return self._begin if count else offset, count

    def read_rows(self, offset: int, held: OpenRows, default: str, most: int) -> tuple[int, int]:
        """Adds rows to those of a block, as many as stand in lines that are known from an offset on, up to `most`.

        Returns where it stopped, and how many were read.
        """
        known = self._rows.get(default)
        if not known or not self._move_to(offset) or self._begin == self._stuck:
            return offset, 0
        count = 0
        while count < most and (self._at < len(self._lines) or self._refill()):
            self._divide()
            wordings = islice(self._wordings, self._at, self._at + most - count)
            added = held.take(map(known.get, wordings), self._names, self._passed, self._begin)
            if not added:
                self._stuck = self._begin
                break
            self._begin += sum(map(len, self._lines[self._at : self._at + added])) + added
            self._at += added
            count += added
        return self._begin if count else offset, count

    def is_known(self, offset: int, default: str) -> bool:
        """Whether the line at an offset is known."""
        known = self._known.get(default)
        if not known or not self._move_to(offset):
            return False
        text = self._lines[self._at]
        if self._wordings and "#" not in text:
            return self._wordings[self._at] in known
        return _HOLE.join(_NAME.split(text[: LONGEST_LINE + 1])[::2]) in known

    def _divide(self) -> None:
        """Divides the lines at hand into wordings and names, and counts the names in lines that were passed."""
        if not self._wordings:
            # A part that is longer is one line, which nobody has kept.
            parts = NAME.split("\n".join(self._lines)) if len(self._lines) > 1 else [""]
            self._wordings = _HOLE.join(parts[::2]).split("\n")
            self._names = parts[1::2]
            self._passed = self._passed_lines = 0
        for wording in self._wordings[self._passed_lines : self._at]:
            self._passed += wording.count(_HOLE)
        self._passed_lines = self._at

    def _move_to(self, offset: int) -> bool:
        """Passes the lines before an offset; whether nothing but blanks stands before it in its line."""
        while True:
            if self._at == len(self._lines) and not self._refill():
                return False
            text = self._lines[self._at]
            if self._begin + len(text) >= offset:
                return offset - self._begin <= LONGEST_LINE and not text[: offset - self._begin].strip(" ")
            self._at += 1
            self._begin += len(text) + 1

    def _refill(self) -> bool:
        """Divides the next part of the text into lines; False at its end. A line that ends the text is none of them."""
        end = self._source.rfind("\n", self._begin, self._begin + _WINDOW)
        if end < 0:
            end = self._source.find("\n", self._begin)
        self._lines = self._source[self._begin : end].split("\n") if end >= 0 else []
        self._at = 0
        self._wordings = []
        return end >= 0

    def learn(
        self, op: Operation, text: str, left: Sequence[str], lead: int, values: Named, default: str
    ) -> Line | None:
        """Keeps what one whole line means that was read; None when that does not repeat.

        `left` are the names on the left side, each of one result; `lead` characters stand before the operation's name.
        `values` are all values by name, or those that the names used stand for.
        """
        if not _is_repeatable(op, text[lead:]):
            return None
        parts = _NAME.split(text)
        names = parts[1::2]
        named = [(name, values.get(name)) for name in names[len(left) :]] if isinstance(values, dict) else values
        used = {value: n for n, (_, value) in enumerate(named)}
        order = tuple([used.get(v, -1) for v in op.operands])
        # A value that is named twice stands for either of two operands.
        if names != [*left, *[name for name, _ in named]] or sorted(order) != list(range(len(named))):
            return None
        if self._count >= _MOST_LINES:
            self.forget()
        self._count += 1
        line = Line(
            op,
            len(left),
            None if order == tuple(range(len(order))) else order,
            lead - sum(map(len, left)),
            dict(op.extra) or None,
        )
        if isinstance(values, dict) or not line.is_row:
            # An operation of the program may become another one before others are made of what its line means.
            line.like = op.stand_in()
            line.like.location = op.location
        wording = _HOLE.join(parts[::2])
        self._known.setdefault(default, {})[wording] = line
        if line.is_row:
            self._rows.setdefault(default, {})[wording] = line
        return line


def _operands(
    parts: list[str], bound: int, types: list[Type], order: tuple[int, ...] | None, values: dict[str, Value]
) -> tuple[Value, ...] | None:
    """The operands that a line names, which divide it into parts; None when one is not defined or of another type."""
    first, many = 2 * bound + 1, len(types)
    try:
        # One by one, because nearly all operations have one or two, and a loop costs three times as much.
        if many == 1:
            a = values[parts[first]]
            return (a,) if a.type is types[0] else None
        if many == 2 and order is None:
            a, b = values[parts[first]], values[parts[first + 2]]
            return (a, b) if a.type is types[0] and b.type is types[1] else None
        found = [values[name] for name in parts[first::2]]
    except KeyError:
        return None
    if order is not None:
        found = [found[n] for n in order]
    return tuple(found) if [v.type for v in found] == types else None


def _is_repeatable(op: Operation, text: str) -> bool:
    """Whether nothing but the text of an operation and the types of its operands decides what it is."""
    if op.regions or op.successors or not isinstance(op.location, TextLocation):
        return False
    if isinstance(op, DeclaredOp | Declares):
        return False
    # What other definitions leave out of custom forms may follow from the contents of operands.
    return text.startswith('"') or (isinstance(op, Op) and op.says_all)


def _is_token(name: str) -> bool:
    """Whether a result can be called so: a number, or what begins with none."""
    return name[1:].isdigit() or not (name[1].isdigit() or "#" in name)


__all__ = ["LONGEST_LINE", "RepeatedLines", "Seen"]
