r"""Text of integer expressions, and its inverse.

    expr   = ["-"] term {("+" | "-") term}
    term   = factor {("*" | "mod") factor}
    factor = number | name | "(" expr ")" | quotient | extreme
    quotient = ("floor" | "ceil") "(" expr "/" expr ")"
    extreme = ("max" | "min") "(" expr {"," expr} ")"
    text   = expr ["where" name ">=" number {"," name ">=" number}]

A name is an identifier, which may have parts after dots as in `x.0`, or anything between single quotes with `\xx` for
a byte. The `where` part has the least value of each symbol for which it is not 1. `parse` refuses text beyond the
limits below: characters, nested parentheses, terms, degree, arguments of `max`, and digits.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from commonir.base.lazy import lazy_pattern
from commonir.symbolic.analysis import largest, smallest
from commonir.symbolic.dims import (
    Dim,
    DimExpr,
    Symbol,
    ceil_div,
    floor_div,
    modulo,
    quoted_name,
    symbol,
    symbols_in,
    terms_of,
)
from commonir.symbolic.errors import NotKnownError

MAX_LENGTH = 8192
MAX_DEPTH = 64
MAX_TERMS = 128
MAX_DEGREE = 16
MAX_ARGUMENTS = 32
MAX_DIGITS = 100

_TOKEN = lazy_pattern(
    r"\s*(?:(\d+)|([A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+)*)|'((?:[^'\\]|\\[0-9a-f]{2})*)'|(>=|[-+*/(),]))"
)


class DimSyntaxError(ValueError):
    """The text is not an integer expression."""


def text(x: Dim) -> str:
    """Returns the expression as text for `parse`; `str` leaves out the least values of symbols."""
    if isinstance(x, int):
        return str(x)
    special = [s for s in symbols_in(x) if not s.is_index and s.least != 1]
    declared = ", ".join(sorted(f"{quoted_name(s.name)} >= {s.least}" for s in special))
    return f"{x} where {declared}" if declared else str(x)


def parse(source: str, known: Mapping[str, Dim] | None = None) -> Dim:
    """Parses an expression; the inverse of `text`.

    `known` has symbols (or indices) by name; other names are symbols that are at least 1, or their value in `where`.
    Raises: DimSyntaxError.
    """
    if len(source) > MAX_LENGTH:
        raise DimSyntaxError(f"expression of {len(source)} characters, the limit is {MAX_LENGTH}")
    try:
        return _Parser(_tokens(source), dict(known or {})).parse()
    except NotKnownError as reason:
        raise DimSyntaxError(str(reason)) from reason


Token = tuple[str, str, int]
"""Kind (`number`, `name`, `quoted` or `mark`), value, and offset in the source."""


def _tokens(source: str) -> list[Token]:
    out: list[Token] = []
    at = 0
    end = len(source.rstrip())
    while at < end:
        m = _TOKEN.match(source, at)
        if m is None:
            at += len(source[at:]) - len(source[at:].lstrip())
            raise DimSyntaxError(f"unexpected {source[at]!r} at offset {at}")
        category = ("number", "name", "quoted", "mark")[(m.lastindex or 1) - 1]
        value = m.group(m.lastindex or 0)
        out.append((category, _unescaped(value) if category == "quoted" else value, m.start(m.lastindex or 0)))
        at = m.end()
    out.append(("end", "", end))
    return out


def _unescaped(quoted: str) -> str:
    raw = re.sub(rb"\\([0-9a-f]{2})", lambda m: bytes([int(m[1], 16)]), quoted.encode("utf-8", "surrogatepass"))
    try:
        return raw.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise DimSyntaxError(f"name '{quoted}' is not UTF-8") from error


class _Parser:
    """Recursive descent over the tokens."""

    def __init__(self, tokens: list[Token], known: dict[str, Dim]) -> None:
        self.tokens = tokens
        self.known = known
        self.at = 0
        self.depth = 0

    def parse(self) -> Dim:
        """Parses a text; `where` is read first, because it declares the symbols."""
        marks = [n for n, t in enumerate(self.tokens) if t[:2] == ("name", "where")]
        if marks:
            self.at = marks[0]
            self.declarations()
            self.expect_end()
            self.tokens = [*self.tokens[: marks[0]], ("end", "", self.tokens[marks[0]][2])]
            self.at = 0
        out = self.expression()
        self.expect_end()
        return out

    def expect_end(self) -> None:
        kind, value, offset = self.tokens[self.at]
        if kind != "end":
            raise DimSyntaxError(f"unexpected '{value}' at offset {offset}")

    def declarations(self) -> None:
        """Reads `where N >= 0, M >= 2`."""
        while True:
            self.at += 1
            kind, name, offset = self.take()
            if kind not in ("name", "quoted"):
                raise DimSyntaxError(f"expected a name at offset {offset}")
            self.expect(">=")
            negative = self.accept("-")
            kind, value, offset = self.take()
            if kind != "number":
                raise DimSyntaxError(f"expected a number at offset {offset}")
            self.known.setdefault(name, symbol(name, -self.number(value) if negative else self.number(value)))
            if self.tokens[self.at][1] != ",":
                return

    def take(self) -> Token:
        token = self.tokens[self.at]
        if token[0] != "end":
            self.at += 1
        return token

    def accept(self, mark: str) -> bool:
        kind, value, _ = self.tokens[self.at]
        if kind in ("mark", "name") and value == mark:
            self.at += 1
            return True
        return False

    def expect(self, mark: str) -> None:
        if not self.accept(mark):
            _, value, offset = self.tokens[self.at]
            raise DimSyntaxError(f"expected '{mark}' at offset {offset}, found '{value}'")

    def expression(self) -> Dim:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise DimSyntaxError(f"expression nested more than {MAX_DEPTH} deep")
        out: Dim = -self.term() if self.accept("-") else self.term()
        while True:
            if self.accept("+"):
                out = out + self.term()
            elif self.accept("-"):
                out = out - self.term()
            else:
                break
        self.depth -= 1
        return out

    def term(self) -> Dim:
        out = self.factor()
        while True:
            if self.accept("*"):
                out = self.limited(out * self.factor())
            elif self.accept("mod"):
                out = modulo(out, self.divisor())
            else:
                return out

    def limited(self, x: Dim) -> Dim:
        """Returns the product, unless it is too large to compute with."""
        if len(terms_of(x)) > MAX_TERMS or any(len(m) > MAX_DEGREE for m in terms_of(x)):
            raise DimSyntaxError(f"expression of more than {MAX_TERMS} terms or of degree above {MAX_DEGREE}")
        return x

    def number(self, digits: str) -> int:
        """Returns the value of digits."""
        if len(digits) > MAX_DIGITS:
            raise DimSyntaxError(f"number of {len(digits)} digits, the limit is {MAX_DIGITS}")
        return int(digits)

    def divisor(self, *, is_expression: bool = False) -> Dim:
        offset = self.tokens[self.at][2]
        out = self.expression() if is_expression else self.factor()
        if isinstance(out, int) and out <= 0:
            raise DimSyntaxError(f"expected a positive divisor at offset {offset}, found {out}")
        return out

    def factor(self) -> Dim:
        kind, value, offset = self.take()
        if kind == "number":
            return self.number(value)
        if kind == "quoted":
            return self.known.setdefault(value, symbol(value))
        if kind == "mark" and value == "(":
            out = self.expression()
            self.expect(")")
            return out
        if kind == "name":
            return self.call(value) if value in ("floor", "ceil", "max", "min") else self.named(value, offset)
        raise DimSyntaxError(f"expected an expression at offset {offset}, found '{value}'")

    def named(self, name: str, offset: int) -> Dim:
        if name in ("mod", "where"):
            raise DimSyntaxError(f"expected an expression at offset {offset}, found '{name}'")
        return self.known.setdefault(name, symbol(name))

    def call(self, fn: str) -> Dim:
        self.expect("(")
        args = [self.expression()]
        if fn in ("floor", "ceil"):
            self.expect("/")
            args.append(self.divisor(is_expression=True))
        else:
            while self.accept(","):
                args.append(self.expression())
                if len(args) > MAX_ARGUMENTS:
                    raise DimSyntaxError(f"{fn} of more than {MAX_ARGUMENTS} arguments")
        self.expect(")")
        match fn:
            case "floor":
                return floor_div(*args)
            case "ceil":
                return ceil_div(*args)
            case "max":
                return largest(*args)
            case _:
                return smallest(*args)


def declared_symbols(x: Dim) -> tuple[Symbol, ...]:
    """Returns the symbols of an expression with their least values, in order of occurrence."""
    return tuple(s for s in symbols_in(x) if not s.is_index) if isinstance(x, DimExpr) else ()
