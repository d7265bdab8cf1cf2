"""Rows of a block that is being read: what a text says of operations that say what earlier ones say.

Nothing here decides what a line means: that was learnt from the parser (`text/repeated_lines.py`). A line whose names
are not defined yet, have other types or are taken is none, and what comes of it is the parser's business.
"""

# pyright: reportPrivateUsage=false
# What lines mean are operations that are filled part by part.

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from commonir.ir.attributes import Attribute, FloatAttr, IntegerAttr
from commonir.ir.module import Symbol
from commonir.ir.operation import Block, Operation, Value
from commonir.ir.origins import Origin, TextLines, TextLocation
from commonir.ir.rows import Kind, Rows
from commonir.ir.types import Type
from commonir.ods import Op
from commonir.ods.text_form import Use

NAME = re.compile(r"(%(?:\d++|[A-Za-z$._-][\w$.-]*+))", re.ASCII)
"""The name of a value, without the number of a result."""
_FEWEST = 16


class Line(Kind):
    """What lines of one wording mean.

    `bound` counts names on the left side. `lead` counts characters before the name of the operation, names apart.
    `is_row`: what it means can be a row; `row` is what is asked of each, which none fulfils where it cannot.
    """

    __slots__ = ("bound", "is_row", "lead", "row")

    def __init__(
        self,
        like: Operation,
        bound: int,
        order: tuple[int, ...] | None,
        lead: int,
        extra: dict[str, Attribute] | None,
    ) -> None:
        super().__init__(like, order, extra)
        self.bound = bound
        self.lead = lead
        self.is_row = (
            isinstance(like, Op)
            and like.says_all
            and not like.since
            and extra is None
            and bound == len(self.result_types) <= 1
            and not isinstance(like, Symbol)
        )
        self.row = self._row()

    def _row(self) -> tuple[int, Type | None, Type | None, list[Type] | None, Type | None]:
        """Names bound, types of those used and of the one that is bound.

        Nearly all operations use one or two values, whose types are told by themselves.
        """
        bound, order, used = self.bound, self.order, self.operand_types
        if order is not None:
            used = [t for _, t in sorted(zip(order, used, strict=True), key=lambda pair: pair[0])]
        result = self.result_types[0] if bound and self.result_types else None
        first, second = (*used, None)[:2] if self.is_row and len(used) in (1, 2) else (None, None)
        return bound, first, second, used if self.is_row else None, result

    def telling(self, family: Op, place: int, number: IntegerAttr | FloatAttr) -> Line:
        """A line that says the same with another number, the attribute at a place of an operation that leaves it open.

        It can be a row, as this one is.
        """
        made = object.__new__(Line)
        like = made.like = family.bare_copy()
        held = family.attribute_values
        like._attributes = (*held[:place], number, *held[place + 1 :])
        # These are nowhere, and those of a stand-in hold nothing that belongs to one operation.
        like._operands, like.results, like.regions, like._successors = family.operands, family.results, (), ()
        like._extra, like.location = None, family.location
        made.family, made.number, made.extra = family, number, None
        made.operand_types, made.result_types, made.order = self.operand_types, self.result_types, self.order
        made.bound, made.lead, made.is_row, made.row = self.bound, self.lead, True, self.row
        return made

    def on(self, types: Mapping[Type, Type]) -> Line:
        """A line that says the same of values whose types are others, told for each. It can be a row, as this one."""
        made = object.__new__(Line)
        like = made.like = self.like.stand_in()
        like.location = self.like.location
        for value in (*like.operands, *like.results):
            value.type = types.get(value.type, value.type)
        made.family, made.number, made.extra = None, None, None
        made.operand_types, made.result_types = [v.type for v in like.operands], tuple([r.type for r in like.results])
        made.bound, made.lead, made.order, made.is_row = self.bound, self.lead, self.order, True
        made.row = made._row()
        return made


class TextRows(Rows):
    """The operations of a block as a text states them: `lines` says from where on how many stand, line by line."""

    def __init__(
        self,
        arguments: tuple[Value, ...],
        kinds: Sequence[Line],
        values: Sequence[int],
        result_count: int,
        source: str,
        places: TextLines,
        lines: Sequence[tuple[int, int]],
    ) -> None:
        super().__init__(arguments, kinds, values, result_count)
        self._leads = kinds
        self._source = source
        self._places = places
        self._lines = lines

    def origins(self) -> Iterator[tuple[Origin, str]]:
        source, places, leads = self._source, self._places, iter(self._leads)
        for begin, count in self._lines:
            at = begin
            for _ in range(count):
                line = next(leads)
                name = ""
                if line.bound:
                    found = NAME.search(source, at)
                    assert found is not None
                    name = found[0]
                yield TextLocation(places, at + line.lead + len(name)), own_name(name)
                at = source.find("\n", at) + 1


class OpenRows:
    """What was read of a block of which all operations are rows so far.

    `lent` are values that stand for those of the block in an operation that the parser reads, by where they are named.
    """

    def __init__(self, block: Block, names: Sequence[str], source: str, places: TextLines) -> None:
        self.lent: dict[int, tuple[str, Value]] = {}
        self.is_settled = False
        self._block = block
        self._source = source
        self._places = places
        # The values of the block, arguments first: their places in this order by name, and their types.
        self._numbers = {name: n for n, name in enumerate(names)}
        self._types: list[Type] = [a.type for a in block.arguments]
        self._kinds: list[Line] = []
        self._values = array("I")
        self._lines: list[tuple[int, int]] = []

    @property
    def are_many(self) -> bool:
        """Whether they are enough to be worth it."""
        return len(self._kinds) >= _FEWEST

    def defines(self, name: str) -> bool:
        """Whether a value of the block is called so."""
        return name in self._numbers

    def lend(self, use: Use) -> Value | None:
        """A value that stands for one where it is used; None when the block defines none of the name so far."""
        number = self._numbers.get(use.name)
        type = None if number is None else self._types[number]
        if type is None:
            return None
        if use.at not in self.lent:
            self.lent[use.at] = use.name, Value(type)
        return self.lent[use.at][1]

    def lent_in_order(self) -> list[tuple[str, Value]]:
        """What was lent with the names that it stands for, in the order of the text."""
        return [self.lent[at] for at in sorted(self.lent)]

    def take(self, lines: Iterable[Line | None], names: Sequence[str], at: int, begin: int) -> tuple[int, int]:
        """Adds rows as long as lines are known and what they name is defined and of the right type.

        `names` are the names of the lines from `at` on; the first line begins at `begin`. Returns how many were added,
        and where the names of the next begin.
        """
        numbers, types, values = self._numbers, self._types, list[int]()
        kinds, taken, get = self._kinds, len(self._kinds), numbers.__getitem__
        for line in lines:
            if line is None:
                break
            bound, first, second, used, result = line.row
            next_ = at + bound
            try:
                # One by one, because a list of them costs three times as much.
                if second is not None:
                    a, b = numbers[names[next_]], numbers[names[next_ + 1]]
                    if types[a] is not first or types[b] is not second:
                        break
                    operands = (a, b)
                elif first is not None:
                    a = numbers[names[next_]]
                    if types[a] is not first:
                        break
                    operands = (a,)
                elif used:
                    operands = [*map(get, names[next_ : next_ + len(used)])]
                    if [*map(types.__getitem__, operands)] != used:
                        break
                elif used is None:
                    break
                else:
                    operands = ()
            except KeyError:
                break
            if result is not None:
                name = names[at]
                if name in numbers:
                    break
                number = len(types)
                numbers[name] = number
                types.append(result)
                values.append(number)
            values += operands
            kinds.append(line)
            at = next_ + len(operands)
        count = len(kinds) - taken
        if count:
            self._values.fromlist(values)
            self._lines.append((begin, count))
        return count, at

    def close(self) -> None:
        """Leaves them to the block: they are all of it."""
        self._rows().hold(self._block)

    def settled(self) -> Iterator[tuple[str, Value]]:
        """Makes operations of them; returns the results by name."""
        self.is_settled = True
        values = self._rows().append_to(self._block)
        return islice(zip(self._numbers, values, strict=True), len(self._block.arguments), None)

    def give_back(self, values: Mapping[str, Value]) -> None:
        """Puts the values of the block in the places of those that stood for them."""
        for name, value in self.lent.values():
            value.replace_all_uses_with(values[name])

    def _rows(self) -> TextRows:
        arguments = self._block.arguments
        count = len(self._types) - len(arguments)
        return TextRows(arguments, self._kinds, self._values, count, self._source, self._places, self._lines)


def own_name(name: str) -> str:
    """The name that a value keeps of its name in a text; nothing of a number."""
    return "" if name[1:2].isdigit() else name[1:].partition("#")[0]


__all__ = ["NAME", "Line", "OpenRows", "TextRows", "own_name"]
