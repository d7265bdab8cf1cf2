"""Builds operations whose line occurred before, except for the names of values, without parsing.

Programs repeat themselves: two thirds to nine tenths of the lines of exported networks have occurred before. A line is
remembered if it is an operation of MLIR without regions that ends with the line: it then depends only on the line, the
types of its operands and the token after it. A line with more than one name for its results, or with an alias, is
parsed each time. `benchmarks/mlir_text.py` measures the gain.
"""

from __future__ import annotations

import re

from commonir.ir.operation import Value
from commonir.ir.types import Type
from commonir.ods import MlirOp, Op
from commonir.text.form_context import FormContext
from commonir.text.lexer import VALUE_NAME

_NAME = re.compile(rf"({VALUE_NAME}(?:#\d+)?)")
# An alias has no point in its name, a result of several has a number; `distinct[0]` is the one that was read before.
_OF_THE_TEXT = re.compile(
    r"(?:!\d|(?<![A-Za-z0-9$._-])#\d|[#!][A-Za-z$_-][A-Za-z0-9$_-]*(?![A-Za-z0-9$_.<-])|\bdistinct\s*\[)"
)
_LOCATION = " loc("
_LONGEST = 1000


class _Line:
    """A line and the operation that was read from it.

    `name_at`: the offset of the name of the operation after that of its result. `order`: the operands by
    their positions in the text, where these differ. `followers`: what came after it.
    """

    __slots__ = ("attributes", "extra", "followers", "name_at", "offsets", "op", "order", "result_types", "types")

    def __init__(self, op: Op, name_at: int, order: tuple[int, ...] | None, followers: set[str]) -> None:
        self.op = op
        self.name_at = name_at
        self.order = order
        self.followers = followers
        self.types: tuple[Type, ...] | None = None

    def operand_types(self) -> tuple[Type, ...]:
        """Returns the types of the operands; the rest is taken from the operation when its line recurs."""
        if self.types is None:
            op = self.op
            self.types = tuple([v.type for v in op.operands])
            self.offsets = op.operand_offsets
            self.attributes = op.attribute_values
            self.extra = dict(op.extra)
            self.result_types = tuple([r.type for r in op.results])
        return self.types

    def again(self, operands: tuple[Value, ...]) -> Op:
        """Builds the operation on other operands."""
        result = type(self.op).assembled(operands, self.offsets, self.attributes, (), self.result_types)
        for name, value in self.extra.items():
            result.set_extra(name, value)
        return result


class RecurringLines:
    """Remembers the lines of one text."""

    def __init__(self, context: FormContext) -> None:
        self._context = context
        self._lines: dict[tuple[str, ...], _Line] = {}
        # The line looked at last: where it starts and ends, the texts between its names, its names.
        self.start = -1
        self._fault_count = 0
        self._end = -1
        self._key: tuple[str, ...] = ()
        self._names: list[str] = []

    def clear(self) -> None:
        """Removes all lines."""
        self._lines.clear()

    def read(self) -> tuple[Op, str, int] | None:
        """Reads the operation at the current token if its line has occurred before, up to its location.

        Returns the operation, the name of its result or "", and the offset of the operation; None, with nothing read,
        for every other line.
        """
        context, tokens = self._context, self._context.tokens
        source, start = tokens.source, tokens.start
        end = source.find("\n", start, start + _LONGEST)
        if end < 0:
            return None
        location = source.find(_LOCATION, start, end)
        if location >= 0:
            end = location
        parts = _NAME.split(source[start:end])
        names = parts[1::2]
        key = (context.default_dialect, *parts[::2])
        self.start, self._end, self._key, self._names = start, end, key, names
        self._fault_count = len(tokens.diagnostics)
        line = self._lines.get(key)
        if line is None:
            return None
        types = line.operand_types()
        has_result = len(names) - len(types)
        operands = [*map(context.names.values.get, names[1:] if has_result else names)]
        if line.order is not None:
            operands = [operands[n] for n in line.order]
        known = tuple([v for v, t in zip(operands, types, strict=True) if v is not None and v.type is t])
        if len(known) != len(types):
            return None
        tokens.move_to(end)
        if self._follower() not in line.followers:
            tokens.move_to(start)
            return None
        op = line.again(known)
        return (op, names[0], start + len(names[0]) + line.name_at) if has_result else (op, "", start + line.name_at)

    def remember(self, op: object, result_name: str, start: int, name_at: int) -> None:
        """Records the line at an offset, if it is exactly the operation that was just read.

        `result_name` is "" if it names no result; an operation with several names is not remembered.
        """
        tokens, names = self._context.tokens, self._names
        if start != self.start or not isinstance(op, MlirOp) or op.regions or op.successors or op.is_declared:
            return
        if len(tokens.diagnostics) != self._fault_count:
            return
        is_ended = (
            tokens.start == self._end + 1 if tokens.at("loc") else tokens.source[self._end : tokens.start].isspace()
        )
        if not is_ended or _OF_THE_TEXT.search(tokens.source, start, self._end):
            return
        operands, get = op.operands, self._context.names.values.get
        values = tuple([get(name) for name in (names[1:] if result_name else names)])
        if len({*values}) != len(values) or len(values) != len(operands):
            return
        order = None
        if values != operands:
            if {*values} != {*operands}:
                return
            order = tuple([values.index(v) for v in operands])
        line = _Line(op, name_at - start - len(result_name), order, {self._follower()})
        known = self._lines.setdefault(self._key, line)
        if known is not line:
            line.followers |= known.followers
            self._lines[self._key] = line

    def _follower(self) -> str:
        """Returns the text or kind of the current token, as far as it affects the operation before it."""
        tokens = self._context.tokens
        if tokens.kind == "word":
            return "" if "." in tokens.text else tokens.text
        return tokens.text if tokens.kind == "mark" else tokens.kind
