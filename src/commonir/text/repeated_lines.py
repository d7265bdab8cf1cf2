"""Operations that a text states again on other values, made without reading their text again.

Most lines of a large program differ from an earlier line in the names of values only. The parser tells what it made of
a line (`learn`); later lines of the same wording are operations that say the same, on the values they name. Lines that
differ in a number too are a family where the parser found that the number does not matter but for itself. Nothing here
knows a grammar, so every form is as fast, and the parser stays the authority: it reads a line that was not learnt,
whose operands are not defined yet or have other types, or whose names are taken already.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence

from commonir.base.tuples import NamedTuple
from commonir.ir.attributes import FloatAttr, IntegerAttr
from commonir.ir.open_numbers import OpenFloat, OpenInteger
from commonir.ir.open_types import OpenTensor, TypeAskedError
from commonir.ir.operation import Block, Operation, Value
from commonir.ir.origins import TextLines, TextLocation
from commonir.ir.types import TensorType, Type
from commonir.ods import Op
from commonir.ods.declares import Declares
from commonir.text.constants import Opened
from commonir.text.rows import NAME, Line, OpenRows, own_name

# More than a name where letters follow digits, but then no value is called so.
_NAME = re.compile(r"(%[\w$.-]++(?:\#\d++)?+)", re.ASCII)
# Stands for a name: it is in no line that the parser accepts, comments apart, whose names count as too many.
_HOLE = "\v"
# What stands before these is looked at when they were found, because patterns are sought faster by how they begin.
# A number that is a token of its own, with its sign.
_NUMBER = re.compile(
    r"([-0-9](?<![\w.$+#@!^%-].)(?:(?<!-)|(?=\d))\d*+(?:\.\d*+(?:[eE][+-]?\d++)?+)?+)(?![\w.$])", re.ASCII
)
# A type of tensors whose elements have no type with brackets.
_TENSOR = re.compile(r"(tensor<(?<![\w.$#@!^%-]tensor<)[^<>]*+>)", re.ASCII)
# Stand for a number without a point, and for one with it.
_WHOLE, _BROKEN = "\f", "\f."
LONGEST_LINE = 4000
"""Lines of more characters are not kept: they hold constants, which differ."""
_MOST_LINES = 100_000
# Parts of a wording that one number divides, which is one of them.
_ONE_NUMBER = 3
_WINDOW = 1 << 16


Named = dict[str, Value] | Sequence[tuple[str, Value]]


class Seen(NamedTuple):
    """What the parser knows where a line is to be read: values by name, and names by which values are awaited.

    `names` receives the names that are defined.
    """

    values: dict[str, Value]
    awaited: Container[str]
    names: list[str]


class Written(NamedTuple):
    """Where an operation stands that was read: its line, and its name; the names on its left, each of one result."""

    begin: int
    end: int
    start: int
    left: Sequence[str]


class Reread(NamedTuple):
    """An operation that was read once more: with numbers that are not told, or with types that `substitutes` stand for.

    `places` are those of these types in the text.
    """

    op: Op
    numbers: Sequence[Opened]
    substitutes: Mapping[Type, OpenTensor]
    places: Sequence[int]


Again = Callable[[Mapping[TensorType, str]], Reread | None]
Tell = Callable[[OpenInteger | OpenFloat, str], IntegerAttr | FloatAttr | None]
Find = Callable[[str], TensorType | None]


class _Numbered(NamedTuple):
    """Lines that differ in a number: one of them, the operation that leaves it open, and which attribute it is."""

    line: Line
    like: Op
    number: OpenInteger | OpenFloat
    place: int


class _Typed(NamedTuple):
    """Lines that differ in types of tensors: one of them, its types that do, and those that do not."""

    line: Line
    types: Sequence[TensorType]
    fixed: Sequence[Type]


class _Known(dict[str, "Line | None"]):
    """Lines by wording. One that differs from one that is known in a number or in types of tensors is made when it is
    asked for; nothing is found, and kept, for others.
    """

    def __init__(self, tell: Tell, find: Find) -> None:
        super().__init__()
        self._tell = tell
        self._find = find
        # By wordings with marks for what differs; None as long as there is none, and for which one was sought.
        self._numbered: dict[str, _Numbered | None] = {}
        self._typed: dict[str, _Typed | None] = {}
        self._tried: set[str] = set()

    def __missing__(self, wording: str) -> Line | None:
        made = self._with_number(wording) or self._on_types(wording)
        if made is not None and len(self) < _MOST_LINES:
            self[wording] = made
        return made

    def _with_number(self, wording: str) -> Line | None:
        parts = _NUMBER.split(wording)
        family = self._numbered.get(_without_number(parts)) if len(parts) == _ONE_NUMBER else None
        if family is None:
            return None
        number = self._tell(family.number, parts[1])
        return None if number is None else family.line.telling(family.like, family.place, number)

    def _on_types(self, wording: str) -> Line | None:
        texts, general = _without_tensors(wording)
        family = self._typed.get(general)
        types = None if family is None else self._different(texts, family.fixed)
        return None if family is None or types is None else family.line.on(dict(zip(family.types, types, strict=True)))

    def _different(self, texts: Iterable[str], others: Sequence[Type] = ()) -> list[TensorType] | None:
        """The types that some texts say; None when one is not known, or is another one of them or of others."""
        types = [t for t in map(self._find, texts) if t is not None]
        return types if len({*types, *others}) == len([*texts, *others]) else None

    def relate(self, line: Line, wording: str, text: str, begin: int, again: Again) -> None:
        """Makes a line that was read the first of a family, when one was read before that differs from it in a number
        or in types.

        It begins at `begin`; `again` reads the operation with what is not told.
        """
        parts = _NUMBER.split(wording)
        if len(parts) == _ONE_NUMBER and self._is_due(_without_number(parts), self._numbered):
            found, before, names = again({}), parts[0], _NAME.findall(text)
            start = begin + len(before) + sum([len(name) - 1 for name in names[: before.count(_HOLE)]])
            if found is not None and [o[1:] for o in found.numbers] == [(start, start + len(parts[1]))]:
                self._numbered[_without_number(parts)] = _numbered(line, found)
        texts, general = _without_tensors(wording)
        types = self._different(texts) if texts and self._is_due(general, self._typed) else None
        if types is not None:
            found, places = again(dict(zip(types, texts, strict=True))), [m.start() for m in _TENSOR.finditer(text)]
            if found is not None and {*found.places} == {begin + place for place in places}:
                self._typed[general] = _typed(line, found, types)

    def _is_due(self, general: str, families: dict[str, _Numbered | None] | dict[str, _Typed | None]) -> bool:
        """Whether a line like another that was read before is the first for which a family is to be sought."""
        if general not in families:
            families[general] = None
            return False
        is_due = general not in self._tried
        self._tried.add(general)
        return is_due


class RepeatedLines:
    """The lines of one text that were read, by wording, for each dialect whose operations need no prefix.

    `tell` makes the attribute of an open number and a literal that stands in its place; `find` gives the type of
    tensors of a text, if it was read before.
    """

    def __init__(self, source: str, places: TextLines, tell: Tell, find: Find) -> None:
        self._source = source
        self._places = places
        self._tell = tell
        self._find = find
        self._known: dict[str, _Known] = {}
        self._count = 0
        # A part of the text, which ends before `_end`; how many of its lines were passed, and where the next begins.
        self._part = ""
        self._end: int = 0
        self._at: int = 0
        self._begin: int = 0
        # Its lines, where somebody asked for them; their wordings and the names in them, likewise; how many names stand
        # before which of the lines.
        self._lines: list[str] = []
        self._wordings: list[str] = []
        self._names: list[str] = []
        self._passed = 0
        self._passed_lines: int = 0
        # Where the line begins at which rows ended last.
        self._stuck: int = -1

    def forget(self) -> None:
        """Forgets all lines: what words mean has changed."""
        self._known.clear()
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
        while count < most and (self._begin < self._end or self._refill()):
            if not self._lines:
                self._lines = self._part.split("\n")
            text = self._lines[self._at]
            if len(text) > LONGEST_LINE:
                break
            parts = split(text)
            line = known[_HOLE.join(parts[::2])]
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
        known = self._known.get(default)
        if not known or not self._move_to(offset) or self._begin == self._stuck:
            return offset, 0
        count = 0
        while count < most and (self._begin < self._end or self._refill()):
            self._divide()
            wordings = self._wordings[self._at : self._at + most - count]
            first = self._passed
            added, self._passed = held.take(map(known.__getitem__, wordings), self._names, first, self._begin)
            if not added:
                self._stuck = self._begin
                break
            self._at = self._passed_lines = self._at + added
            if self._at == len(self._wordings):
                self._begin = self._end
            else:
                # In the place of each name a wording has a mark.
                names = self._names[first : self._passed]
                self._begin += sum(map(len, wordings[:added])) + added + sum(map(len, names)) - len(names)
            count += added
        return self._begin if count else offset, count

    def is_known(self, offset: int, default: str) -> bool:
        """Whether the line at an offset is known."""
        known = self._known.get(default)
        if not known or not self._move_to(offset):
            return False
        text = self._source[self._begin : self._source.find("\n", self._begin)]
        if self._wordings and "#" not in text:
            # Rows were sought here before, so that a line of a family is among them.
            return self._wordings[self._at] in known
        return known[_HOLE.join(_NAME.split(text[: LONGEST_LINE + 1])[::2])] is not None

    def _divide(self) -> None:
        """Divides the lines at hand into wordings and names, and counts the names in lines that were passed."""
        if not self._wordings:
            # A part that is longer is one line, which nobody has kept.
            parts = NAME.split(self._part) if "\n" in self._part else [""]
            self._wordings = _HOLE.join(parts[::2]).split("\n")
            self._names = parts[1::2]
            self._passed = self._passed_lines = 0
        for wording in self._wordings[self._passed_lines : self._at]:
            self._passed += wording.count(_HOLE)
        self._passed_lines = self._at

    def _move_to(self, offset: int) -> bool:
        """Passes the lines before an offset; whether nothing but blanks stands before it in its line."""
        while self._end <= offset:
            self._begin = self._end
            if not self._refill():
                return False
        source = self._source
        passed = source.count("\n", self._begin, offset)
        if passed:
            self._at += passed
            self._begin = source.rfind("\n", self._begin, offset) + 1
        return offset - self._begin <= LONGEST_LINE and not source[self._begin : offset].strip(" ")

    def _refill(self) -> bool:
        """Takes the next part of the text; False at its end. A line that ends the text is none."""
        end = self._source.rfind("\n", self._begin, self._begin + _WINDOW)
        if end < 0:
            end = self._source.find("\n", self._begin)
        self._part = self._source[self._begin : end] if end >= 0 else ""
        self._end = end + 1 if end >= 0 else self._begin
        self._at = 0
        self._lines, self._wordings = [], []
        return end >= 0

    def learn(self, op: Operation, written: Written, values: Named, default: str, again: Again) -> Line | None:
        """Keeps what one whole line means that was read; None when that does not repeat.

        `values` are all values by name, or those that the names used stand for. `again` reads the operation once more,
        with numbers that are not told; None where that does not work.
        """
        text, left, lead = self._source[written.begin : written.end], written.left, written.start - written.begin
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
        known = self._known.get(default)
        if known is None:
            known = self._known[default] = _Known(self._tell, self._find)
        known[wording] = line
        if line.is_row:
            known.relate(line, wording, text, written.begin, again)
        return line


def _without_number(parts: Sequence[str]) -> str:
    """A wording that a number divides, with a mark for that."""
    before, number, after = parts
    return f"{before}{_BROKEN if '.' in number else _WHOLE}{after}"


def _without_tensors(wording: str) -> tuple[list[str], str]:
    """The types of tensors in a wording, each once, and the wording with marks for them."""
    parts = _TENSOR.split(wording)
    numbers: dict[str, str] = {}
    for n in range(1, len(parts), 2):
        parts[n] = numbers.setdefault(parts[n], f"\f{len(numbers)}\f")
    return [*numbers], "".join(parts)


def _numbered(line: Line, found: Reread) -> _Numbered | None:
    """The family of lines that differ from one in the number that was left open; None when it is not an attribute."""
    op, number = found.op, found.numbers[0].number
    places = [n for n, held in enumerate(op.attribute_values) if held is number]
    if len(places) != 1 or not op.layout.attributes[places[0]].is_required:
        return None
    like = op.stand_in()
    like.location = line.like.location
    return _Numbered(line, like, number, places[0])


def _typed(line: Line, found: Reread, types: Sequence[TensorType]) -> _Typed | None:
    """The family of lines that differ from one in types that were left open; None when more of it depends on them."""
    op, like = found.op, line.like
    values = (*like.operands, *like.results)
    substituted = [found.substitutes.get(v.type, v.type) for v in values]
    try:
        is_same = (
            isinstance(like, type(op))
            and op.attribute_values == like.attribute_values
            and op.operand_offsets == like.operand_offsets
            and [v.type for v in (*op.operands, *op.results)] == substituted
        )
    except TypeAskedError:
        return None
    fixed = {v.type for v in values if isinstance(v.type, TensorType)} - {*types}
    return _Typed(line, types, [*fixed]) if is_same and not op.extra else None


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
    if isinstance(op, Declares) or (isinstance(op, Op) and op.is_declared):
        return False
    # What other definitions leave out of custom forms may follow from the contents of operands.
    return text.startswith('"') or (isinstance(op, Op) and op.says_all)


def _is_token(name: str) -> bool:
    """Whether a result can be called so: a number, or what begins with none."""
    return name[1:].isdigit() or not (name[1].isdigit() or "#" in name)


__all__ = ["LONGEST_LINE", "RepeatedLines", "Reread", "Seen", "Written"]
