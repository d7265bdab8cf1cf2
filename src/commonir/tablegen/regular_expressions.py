"""Extended regular expressions (POSIX) for `!match` and `!instances`, in time linear in text and expression.

Expressions are untrusted, so they are not matched by a backtracking engine; back references, which need one, are
refused. Characters are bytes of UTF-8, as in llvm-tblgen.
Source: IEEE Std 1003.1, Extended Regular Expressions; bracket expressions with ranges and classes, bounds, alternation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from enum import Enum, auto
from typing import NoReturn

from commonir.tablegen.errors import EvaluationError

MAX_STATES = 10_000
"""The most states of an expression, after its bounds are expanded."""

MAX_DEPTH = 30
"""The deepest nesting of parentheses."""
MAX_REPEATS = 255
"""The largest bound, that of the standard (RE_DUP_MAX)."""

_BEGINS_BOUND = re.compile(r"\{\d", re.ASCII)
_BOUND = re.compile(r"\{(\d{1,4})(,(\d{1,4})?)?\}", re.ASCII)
_CLASSES: Mapping[str, Callable[[str], bool]] = {
    "alnum": str.isalnum,
    "alpha": str.isalpha,
    "blank": lambda char: char in " \t",
    "cntrl": lambda char: char < " " or char == "\x7f",
    "digit": str.isdigit,
    "graph": lambda char: "!" <= char <= "~",
    "lower": str.islower,
    "print": lambda char: " " <= char <= "~",
    "upper": str.isupper,
    "space": lambda char: char in " \t\n\v\f\r",
    "xdigit": lambda char: char in "0123456789abcdefABCDEF",
    "punct": lambda char: char.isprintable() and not char.isalnum() and char != " ",
}


class _Chars:
    """The characters that one step accepts."""

    __slots__ = ("classes", "negated", "ranges")

    def __init__(self, ranges: list[tuple[str, str]], classes: list[str], *, negated: bool = False) -> None:
        self.ranges = ranges
        self.classes = classes
        self.negated = negated

    def accepts(self, char: str) -> bool:
        result = any(low <= char <= high for low, high in self.ranges)
        result = result or any(char.isascii() and _CLASSES[name](char) for name in self.classes)
        return result != self.negated


_ANY = _Chars([], [], negated=True)


class _Mark(Enum):
    """A state without characters."""

    BEGIN = auto()
    END = auto()
    SPLIT = auto()
    MATCHED = auto()


_Step = _Chars | _Mark


class _Repeat:
    """A node `least` to `most` times; unbounded if `most` is None."""

    __slots__ = ("inner", "least", "most")

    def __init__(self, inner: _Node, least: int, most: int | None) -> None:
        self.inner = inner
        self.least = least
        self.most = most


class _Sequence:
    """A concatenation."""

    __slots__ = ("parts",)

    def __init__(self, parts: list[_Node]) -> None:
        self.parts = parts


class _Choice:
    """An alternation."""

    __slots__ = ("parts",)

    def __init__(self, parts: list[_Node]) -> None:
        self.parts = parts


_Node = _Chars | _Mark | _Repeat | _Sequence | _Choice


class RegularExpression:
    """An expression, as the states of an automaton.

    Raises: EvaluationError when it is malformed or too large.
    """

    def __init__(self, source: str) -> None:
        self._source = source
        self._source = _bytes_of(source)
        self._at = 0
        node = self._choice(0)
        if self._at < len(self._source):
            self._fail("a ')' without '('")
        self._states: list[tuple[_Step, int, int]] = [(_Mark.MATCHED, 0, 0)]
        self._start = self._emit(node, 0)

    def is_found_in(self, text: str) -> bool:
        """Returns whether some part of a text matches."""
        text = _bytes_of(text)
        current: set[int] = set()
        for index in range(len(text) + 1):
            current.add(self._start)
            current = self._reached(current, is_begin=index == 0, is_end=index == len(text))
            if 0 in current:
                return True
            if index < len(text):
                char = text[index]
                steps = (self._states[state] for state in current)
                current = {after for step, after, _ in steps if isinstance(step, _Chars) and step.accepts(char)}
        return False

    def _reached(self, states: set[int], *, is_begin: bool, is_end: bool) -> set[int]:
        result: set[int] = set()
        pending = list(states)
        while pending:
            state = pending.pop()
            if state in result:
                continue
            result.add(state)
            step, after, other = self._states[state]
            if step is _Mark.SPLIT:
                pending += (after, other)
            elif (step is _Mark.BEGIN and is_begin) or (step is _Mark.END and is_end):
                pending.append(after)
        return result

    # -- states

    def _add(self, step: _Step, after: int, other: int = 0) -> int:
        if len(self._states) >= MAX_STATES:
            raise EvaluationError(f"the expression '{self._source}' is too large")
        self._states.append((step, after, other))
        return len(self._states) - 1

    def _emit(self, node: _Node, after: int) -> int:
        """Adds the states of a part, which go on with `after`, and returns the first of them."""
        match node:
            case _Sequence(parts=parts):
                for part in reversed(parts):
                    after = self._emit(part, after)
                return after
            case _Choice(parts=parts):
                start = self._emit(parts[0], after)
                for part in parts[1:]:
                    start = self._add(_Mark.SPLIT, start, self._emit(part, after))
                return start
            case _Repeat(inner=inner, least=least, most=most):
                if most is None:
                    loop = self._add(_Mark.SPLIT, after, after)
                    self._states[loop] = (_Mark.SPLIT, self._emit(inner, loop), after)
                    start = loop
                else:
                    start = after
                    for _ in range(most - least):
                        start = self._add(_Mark.SPLIT, self._emit(inner, start), after)
                for _ in range(least):
                    start = self._emit(inner, start)
                return start
            case _:
                return self._add(node, after)

    # -- grammar

    def _fail(self, reason: str) -> NoReturn:
        raise EvaluationError(f"the expression '{self._source}' is malformed: {reason}")

    def _take(self, char: str) -> bool:
        taken = self._source.startswith(char, self._at)
        self._at += len(char) if taken else 0
        return taken

    def _next(self) -> str:
        if self._at == len(self._source):
            self._fail("it ends too early")
        self._at += 1
        return self._source[self._at - 1]

    def _choice(self, depth: int) -> _Node:
        if depth > MAX_DEPTH:
            self._fail(f"more than {MAX_DEPTH} parentheses within each other")
        parts = [self._sequence(depth)]
        while self._take("|"):
            parts.append(self._sequence(depth))
        return parts[0] if len(parts) == 1 else _Choice(parts)

    def _sequence(self, depth: int) -> _Node:
        parts: list[_Node] = []
        while self._at < len(self._source) and self._source[self._at] not in "|)":
            parts.append(self._repeated(self._atom(depth)))
        if not parts:
            self._fail("nothing stands where something must match")
        return _Sequence(parts)

    def _repeated(self, node: _Node) -> _Node:
        start = self._at
        result = self._times(node)
        if result is not node and (node is _Mark.BEGIN or self._times(result) is not result):
            self._fail(f"'{self._source[start : self._at]}' repeats what cannot be repeated")
        return result

    def _times(self, node: _Node) -> _Node:
        """Parses a repetition after an atom; returns the atom itself where none follows."""
        if self._take("*"):
            return _Repeat(node, 0, None)
        if self._take("+"):
            return _Repeat(node, 1, None)
        if self._take("?"):
            return _Repeat(node, 0, 1)
        if not _BEGINS_BOUND.match(self._source, self._at):
            return node
        bound = _BOUND.match(self._source, self._at)
        if bound is None:
            self._fail("a bound that is not '{least}', '{least,}' or '{least,most}'")
        self._at = bound.end()
        least = int(bound.group(1))
        most = int(bound.group(3)) if bound.group(3) else None if bound.group(2) else least
        if max(least, most or 0) > MAX_REPEATS or (most is not None and most < least):
            self._fail(f"the bound '{bound.group()}'")
        return _Repeat(node, least, most)

    def _atom(self, depth: int) -> _Node:
        char = self._next()
        match char:
            case "(":
                if self._take(")"):
                    return _Sequence([])
                node = self._choice(depth + 1)
                if not self._take(")"):
                    self._fail("a '(' is not closed")
                return node
            case "[":
                return self._bracket()
            case ".":
                return _ANY
            case "^":
                return _Mark.BEGIN
            case "$":
                return _Mark.END
            case "*" | "+" | "?":
                self._fail(f"'{char}' repeats nothing")
            case "\\":
                char = self._next()
                if char in "123456789":
                    self._fail(f"a back reference '\\{char}', which is not understood")
            case _:
                pass
        return _Chars([(char, char)], [])

    def _bracket(self) -> _Chars:
        negated = self._take("^")
        ranges: list[tuple[str, str]] = []
        classes: list[str] = []
        # At either end these stand for themselves.
        first = self._next() if self._source.startswith(("]", "-"), self._at) else ""
        while not self._take("]"):
            if self._take("-]"):
                ranges.append(("-", "-"))
                break
            if self._take("[:"):
                classes.append(self._named(":]", _CLASSES, "class of characters"))
            else:
                ranges.append(self._range())
        return _Chars(ranges + [(first, first)] * len(first), classes, negated=negated)

    def _range(self) -> tuple[str, str]:
        if self._source.startswith("-", self._at):
            self._fail("a '-' that stands neither at an end nor between two characters")
        if self._take("[="):
            return (char := self._named("=]"), char)
        low = high = self._symbol()
        if self._source.startswith("-", self._at) and not self._source.startswith("-]", self._at):
            self._at += 1
            high = self._symbol()
        if low > high:
            self._fail(f"the range '{low}-{high}'")
        return low, high

    def _symbol(self) -> str:
        """A character, as it stands or in `[.` and `.]`."""
        return self._named(".]") if self._take("[.") else self._next()

    def _named(self, end: str, names: Collection[str] | None = None, what: str = "character") -> str:
        """Parses a bracketed name before an end: one of some names, or a character."""
        name, found, _ = self._source[self._at :].partition(end)
        if not found or (len(name) != 1 if names is None else name not in names):
            self._fail(f"an unknown {what} '{name[:20]}'")
        self._at += len(name) + len(end)
        return name


def _bytes_of(text: str) -> str:
    """Each byte of a text as a character."""
    return text.encode("utf-8", "surrogateescape").decode("latin-1")
