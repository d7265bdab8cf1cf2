r"""Regular expressions in the syntax of RE2, matched in time that grows with the product of the lengths of pattern and
text, whatever the pattern. They match whole texts; which way of several is taken, and what groups capture, is of no
consequence for that and is not kept.

Names of scripts (`\p{Greek}`) and single bytes (`\C`) are not supported.
Source: RE2 regular expression syntax.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable
from functools import lru_cache

from commonir.base.tuples import NamedTuple

MOST_NESTED = 100
"""The maximum nesting depth of groups."""
MOST_REPEATED = 1000
"""The greatest number in a repetition, as in RE2."""
MOST_STEPS = 50_000
"""Steps of a program: repetitions inside one another multiply."""
MOST_KEPT = 1 << 10
"""The number of cached transitions of a program."""

Holds = Callable[[str], bool]


class PatternError(ValueError):
    """The pattern does not have RE2 syntax, or is not supported."""


class PatternStep(NamedTuple):
    """An instruction of a compiled pattern.

    With `consumes`, it consumes a character for which that holds and continues at `next`; with `asserts`, it continues
    there if that holds between two characters; else it continues at each of `next`.
    """

    next: tuple[int, ...]
    consumes: Holds | None = None
    asserts: Callable[[str, str], bool] | None = None


class Program:
    """A compiled pattern; the last step is the end. Transitions are cached: strings are long, and matching returns to
    the same states.
    """

    def __init__(self, steps: list[PatternStep], start: int, end: int) -> None:
        self._steps = steps
        self._start = frozenset({start})
        self._end = end
        self._looks_back = any(s.asserts is not None for s in steps)
        self._after = lru_cache(MOST_KEPT)(self._taking)
        self._ends = lru_cache(MOST_KEPT)(self._ending)

    def matches(self, text: str) -> bool:
        """Returns whether the pattern matches the whole string."""
        active, before = self._start, ""
        for c in text:
            active = self._after(active, before, c)
            if not active:
                return False
            if self._looks_back:
                before = c
        return self._ends(active, before)

    def _taking(self, active: frozenset[int], before: str, c: str) -> frozenset[int]:
        """Returns the states of the automaton after a character, from any of several states."""
        here = [self._steps[n] for n in self._reached(active, before, c)]
        return frozenset([k for s in here if s.consumes is not None and s.consumes(c) for k in s.next])

    def _ending(self, active: frozenset[int], before: str) -> bool:
        """Returns whether the end is reached from any of several places, after the last character."""
        return self._end in self._reached(active, before, "")

    def _reached(self, active: Iterable[int], before: str, after: str) -> set[int]:
        """The steps that are reached without taking a character."""
        seen: set[int] = set()
        pending = list(active)
        while pending:
            at = pending.pop()
            if at in seen:
                continue
            seen.add(at)
            step = self._steps[at]
            if step.consumes is None and (step.asserts is None or step.asserts(before, after)):
                pending += step.next
        return seen


# -- what a character is, in ASCII as in RE2


def _is_digit(c: str) -> bool:
    return "0" <= c <= "9"


def _is_word(c: str) -> bool:
    return c == "_" or (c.isascii() and c.isalnum())


def _is_space(c: str) -> bool:
    return c in "\t\n\f\r "


_PERL: dict[str, Holds] = {"d": _is_digit, "w": _is_word, "s": _is_space}
_POSIX: dict[str, Holds] = {
    "alnum": lambda c: c.isascii() and c.isalnum(),
    "alpha": lambda c: c.isascii() and c.isalpha(),
    "ascii": str.isascii,
    "blank": lambda c: c in "\t ",
    "cntrl": lambda c: ord(c) < 32 or ord(c) == 127,
    "digit": _is_digit,
    "graph": lambda c: "!" <= c <= "~",
    "lower": lambda c: "a" <= c <= "z",
    "print": lambda c: " " <= c <= "~",
    "punct": lambda c: "!" <= c <= "~" and not c.isalnum(),
    "space": lambda c: c in "\t\n\v\f\r ",
    "upper": lambda c: "A" <= c <= "Z",
    "word": _is_word,
    "xdigit": lambda c: c in "0123456789abcdefABCDEF",
}
_CONTROLS = {"a": "\a", "f": "\f", "t": "\t", "n": "\n", "r": "\r", "v": "\v"}
_CATEGORIES = {"L", "M", "N", "P", "S", "Z", "C"}


def _not(holds: Holds) -> Holds:
    return lambda c: not holds(c)


def _range(low: str, high: str) -> Holds:
    return lambda c: low <= c <= high


def _any_of(members: list[Holds]) -> Holds:
    return lambda c: any(m(c) for m in members)


def _in_any_case(holds: Holds) -> Holds:
    return lambda c: holds(c) or any(holds(v) for v in {c.lower(), c.upper()} if len(v) == 1)


def _at_edge(before: str, after: str) -> bool:
    return (before != "" and _is_word(before)) != (after != "" and _is_word(after))


class _Part(NamedTuple):
    """A fragment of a program: its first step, and its last, which has no successor yet."""

    start: int
    end: int


class _Flags(NamedTuple):
    any_case: bool = False
    by_line: bool = False
    dot_takes_all: bool = False


class _Parser:
    """Reads a pattern once, from left to right, appending steps."""

    def __init__(self, pattern: str) -> None:
        self._text = pattern
        self._at = 0
        self._depth = 0
        self._flags = _Flags()
        # The end of literal characters between \Q and \E.
        self._literal_end = 0
        self.steps: list[PatternStep] = []

    def program(self) -> Program:
        """The whole pattern."""
        part = self._alternatives()
        if self._at < len(self._text):
            raise self._error("a ')' without a '('")
        return Program(self.steps, part.start, part.end)

    def _error(self, message: str) -> PatternError:
        return PatternError(f"{message} at position {self._at} of the pattern {self._text!r}")

    def _peek(self, count: int = 1) -> str:
        return self._text[self._at : self._at + count]

    def _take(self, expected: str) -> bool:
        if not self._text.startswith(expected, self._at):
            return False
        self._at += len(expected)
        return True

    def _character(self) -> str:
        if self._at >= len(self._text):
            raise self._error("the pattern ends too early")
        self._at += 1
        return self._text[self._at - 1]

    # -- steps

    def _add(self, step: PatternStep) -> int:
        if len(self.steps) >= MOST_STEPS:
            raise self._error(f"more than {MOST_STEPS} steps")
        self.steps.append(step)
        return len(self.steps) - 1

    def _nothing(self) -> _Part:
        at = self._add(PatternStep(()))
        return _Part(at, at)

    def _link(self, source: int, *targets: int) -> None:
        step = self.steps[source]
        self.steps[source] = step._replace(next=(*step.next, *targets))

    def _consuming(self, holds: Holds) -> _Part:
        end = self._add(PatternStep(()))
        return _Part(self._add(PatternStep((end,), holds)), end)

    def _cased(self, holds: Holds) -> Holds:
        return _in_any_case(holds) if self._flags.any_case else holds

    def _asserting(self, holds: Callable[[str, str], bool]) -> _Part:
        end = self._add(PatternStep(()))
        return _Part(self._add(PatternStep((end,), None, holds)), end)

    # -- grammar

    def _alternatives(self) -> _Part:
        outer = self._flags
        parts = [self._sequence()]
        while self._take("|"):
            parts.append(self._sequence())
        self._flags = outer
        if len(parts) == 1:
            return parts[0]
        end = self._add(PatternStep(()))
        for p in parts:
            self._link(p.end, end)
        return _Part(self._add(PatternStep(tuple([p.start for p in parts]))), end)

    def _sequence(self) -> _Part:
        whole = self._nothing()
        while self._at < len(self._text) and (self._quoted() or self._peek() not in "|)"):
            first = self._at
            part = self._atom()
            if part is None:
                continue
            part = self._repeated(part, first)
            self._link(whole.end, part.start)
            whole = _Part(whole.start, part.end)
        return whole

    def _quoted(self) -> bool:
        """Returns whether the next character is literal; reads the marks of literal text."""
        while self._at >= self._literal_end and self._take("\\Q"):
            close = self._text.find("\\E", self._at)
            self._literal_end = close if close >= 0 else len(self._text)
            if self._at == self._literal_end:
                self._take("\\E")
        return self._at < self._literal_end

    def _repeated(self, part: _Part, first: int) -> _Part:
        """The part with the repetition that follows it; a part that is repeated is parsed again."""
        last = self._at
        bounds = self._bounds()
        if bounds is None:
            return part
        self._take("?")
        after, (least, most) = self._at, bounds
        if self._bounds() is not None:
            raise self._error("a repetition of a repetition")
        self._at = after

        def again() -> _Part:
            self._at = first
            result = self._atom()
            assert result is not None
            assert self._at == last
            return result

        copies = [part, *(again() for _ in range(max(least, most or 1, 1) - 1))]
        whole = self._nothing()
        end = self._add(PatternStep(()))
        for n, copy in enumerate(copies):
            if n >= least:
                self._link(whole.end, end)
            if n < (most if most is not None else n + 1):
                self._link(whole.end, copy.start)
                whole = _Part(whole.start, copy.end)
        if most is None:
            self._link(whole.end, copies[-1].start)
        self._link(whole.end, end)
        self._at = after
        return _Part(whole.start, end)

    def _bounds(self) -> tuple[int, int | None] | None:
        """The least and the greatest number of a repetition; None, with nothing taken, where there is none."""
        for sign, bounds in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self._take(sign):
                return bounds
        close = self._text.find("}", self._at)
        if self._peek() != "{" or close < 0:
            return None
        low, comma, high = self._text[self._at + 1 : close].partition(",")
        if not (low.isascii() and low.isdigit()) or not (high == "" or (high.isascii() and high.isdigit())):
            return None
        least = int(low[:5])
        most = least if not comma else int(high[:5]) if high else None
        if max(least, most or 0) > MOST_REPEATED or (most is not None and most < least):
            raise self._error(f"a repetition of {low}{comma}{high}")
        self._at = close + 1
        return least, most

    def _atom(self) -> _Part | None:
        """One character, group or assertion; None for what only changes flags."""
        c = self._character()
        if self._at <= self._literal_end:
            if self._at == self._literal_end:
                self._take("\\E")
            return self._consuming(self._cased(_range(c, c)))
        match c:
            case "(":
                return self._group()
            case "[":
                return self._consuming(self._class())
            case ".":
                return self._consuming((lambda _: True) if self._flags.dot_takes_all else (lambda v: v != "\n"))
            case "^" | "$":
                return self._asserting(self._line_edge(c))
            case "*" | "+" | "?":
                raise self._error("a repetition of nothing")
            case "\\":
                return self._escaped()
            case _:
                return self._consuming(self._cased(_range(c, c)))

    def _line_edge(self, sign: str) -> Callable[[str, str], bool]:
        inside = "\n" if self._flags.by_line else ""
        if sign == "^":
            return lambda before, _: before in ("", inside)
        return lambda _, after: after in ("", inside)

    def _group(self) -> _Part | None:
        self._depth += 1
        if self._depth > MOST_NESTED:
            raise self._error(f"more than {MOST_NESTED} groups inside one another")
        outer = self._flags
        if self._take("?"):
            if self._take("P<") or (self._peek() == "<" and self._peek(2) not in ("<=", "<!")):
                self._take("<")
                close = self._text.find(">", self._at)
                if close < 0 or not self._text[self._at : close].isidentifier():
                    raise self._error("a name of a group")
                self._at = close + 1
            elif self._flag_letters():
                self._depth -= 1
                return None
        part = self._alternatives()
        self._flags = outer
        if not self._take(")"):
            raise self._error("a '(' without a ')'")
        self._depth -= 1
        return part

    def _flag_letters(self) -> bool:
        """Reads flags up to `:`, or up to `)`, which ends a group that only sets them: whether it was that."""
        flags, value = self._flags, True
        while (c := self._character()) not in ":)":
            match c:
                case "-" if value:
                    value = False
                case "i":
                    flags = flags._replace(any_case=value)
                case "m":
                    flags = flags._replace(by_line=value)
                case "s":
                    flags = flags._replace(dot_takes_all=value)
                case "U":
                    pass  # greediness does not matter
                case _:
                    raise self._error(f"the group '(?{c}' is none of RE2")
        self._flags = flags
        return c == ")"

    def _escaped(self) -> _Part | None:
        c = self._peek()
        edges: dict[str, Callable[[str, str], bool]] = {
            "A": lambda before, _: before == "",
            "z": lambda _, after: after == "",
            "b": _at_edge,
            "B": lambda before, after: not _at_edge(before, after),
        }
        if c in edges and c:
            self._at += 1
            return self._asserting(edges[c])
        return self._consuming(self._escaped_class() or self._cased(_range(v := self._escaped_character(), v)))

    def _escaped_class(self) -> Holds | None:
        """The class after a backslash; None, with nothing taken, where there is none."""
        c = self._peek()
        if c and c.lower() in _PERL:
            self._at += 1
            return _PERL[c] if c in _PERL else _not(_PERL[c.lower()])
        if c not in ("p", "P"):
            return None
        self._at += 1
        name = self._character()
        if name == "{":
            close = self._text.find("}", self._at)
            name = self._text[self._at : close] if close >= 0 else ""
            self._at = close + 1
        is_not = (c == "P") != name.startswith("^")
        name = name.removeprefix("^")
        if name != "Any" and (name[:1] not in _CATEGORIES or len(name) > 2):
            raise self._error(f"the class of characters {name!r} is not known")
        holds: Holds = (lambda _: True) if name == "Any" else lambda v: unicodedata.category(v).startswith(name)
        return _not(holds) if is_not else holds

    def _escaped_character(self) -> str:
        c = self._character()
        if c in _CONTROLS:
            return _CONTROLS[c]
        if c == "x":
            digits = self._text[self._at : self._at + 2]
            self._at += 2
            if digits.startswith("{"):
                close = self._text.find("}", self._at)
                digits = self._text[self._at - 1 : close] if close >= 0 else ""
                self._at = close + 1
            return self._code_point(digits, 16)
        if c in "01234567":
            digits = c
            while len(digits) < 3 and self._peek() and self._peek() in "01234567":
                digits += self._character()
            if c != "0" and len(digits) == 1:
                raise self._error("a reference to a group")
            return self._code_point(digits, 8)
        if c.isascii() and (c.isalnum() or c == "_"):
            raise self._error(f"the escape '\\{c}' is none of RE2")
        return c

    def _code_point(self, digits: str, base: int) -> str:
        try:
            return chr(int(digits, base))
        except (ValueError, OverflowError):
            raise self._error(f"{digits!r} is not a number of a character") from None

    def _class(self) -> Holds:
        """A class in brackets, of which the first was read."""
        is_not = self._take("^")
        members: list[Holds] = []
        while not members or not self._take("]"):  # a bracket at the start is literal
            members.append(self._member())
        result = self._cased(_any_of(members))
        return _not(result) if is_not else result

    def _member(self) -> Holds:
        for name, holds in _POSIX.items():
            if self._take(f"[:{name}:]"):
                return holds
            if self._take(f"[:^{name}:]"):
                return _not(holds)
        if self._peek(2) == "[:" and self._text.find(":]", self._at) >= 0:
            raise self._error("a name of a class of characters")
        low = self._end_of_range()
        if not isinstance(low, str):
            return low
        if self._peek() != "-" or self._peek(2) in ("-", "-]"):
            return _range(low, low)
        self._at += 1
        high = self._end_of_range()
        if not isinstance(high, str) or high < low:
            raise self._error("a range of characters")
        return _range(low, high)

    def _end_of_range(self) -> str | Holds:
        c = self._character()
        return c if c != "\\" else self._escaped_class() or self._escaped_character()


@lru_cache(maxsize=64)
def compiled(pattern: str) -> Program:
    """A pattern ready to match. Raises: PatternError."""
    return _Parser(pattern).program()
