"""Reader of affine maps and sets in MLIR text.

Source: MLIR, affine dialect, grammar of expressions; nesting is limited as in `text/attributes.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from commonir.base.file_codes import LIMIT_EXCEEDED, NESTING_TOO_DEEP
from commonir.ir.affine import (
    LARGEST,
    AffineConstant,
    AffineDim,
    AffineExpr,
    AffineMap,
    AffineSymbol,
    IntegerSet,
    StridedLayoutAttr,
)
from commonir.text.lexer import TokenStream

_DEEPEST = 200
_MOST_NAMES = 10_000
_LONGEST_NUMBER = 40


class AffineReader:
    """Reads one map or set at the current token of a token stream."""

    def __init__(self, tokens: TokenStream) -> None:
        self.tokens = tokens
        self.names: dict[str, AffineExpr] = {}
        self.depth = 0

    def map(self) -> AffineMap:
        """Reads `(d0)[s0] -> (expressions)`."""
        dims, symbols = self._spaces()
        self.tokens.expect("->")
        results: list[AffineExpr] = []
        self._listed(lambda: results.append(self.sum()))
        return AffineMap(dims, symbols, results)

    def set(self) -> IntegerSet:
        """Reads `(d0)[s0] : (constraints)`."""
        dims, symbols = self._spaces()
        self.tokens.expect(":")
        constraints: list[tuple[AffineExpr, bool]] = []
        self._listed(lambda: constraints.append(self._constraint()))
        return IntegerSet(dims, symbols, constraints)

    def _listed(self, item: Callable[[], None]) -> None:
        tokens = self.tokens
        tokens.expect("(")
        if tokens.take(")"):
            return
        while True:
            item()
            if tokens.take(")"):
                return
            tokens.expect(",")

    def _spaces(self) -> tuple[int, int]:
        dims = self._names("(", ")", AffineDim)
        return dims, self._names("[", "]", AffineSymbol) if self.tokens.at("[") else 0

    def _names(self, opening: str, closing: str, build: Callable[[int], AffineExpr]) -> int:
        tokens = self.tokens
        tokens.expect(opening)
        count = 0
        while not tokens.take(closing):
            if count:
                tokens.expect(",")
            at = tokens.start
            name = tokens.expect_kind("word", "the name of a dimension or symbol")
            if name in self.names:
                tokens.fail(f"'{name}' is declared twice", at=at)
            if len(self.names) >= _MOST_NAMES:
                tokens.fail(f"more than {_MOST_NAMES} dimensions and symbols", at=at, code=LIMIT_EXCEEDED)
            self.names[name] = build(count)
            count += 1
        return count

    def _constraint(self) -> tuple[AffineExpr, bool]:
        tokens = self.tokens
        left = self.sum()
        sign = tokens.text if tokens.text in ("<", ">", "=") else tokens.unexpected("'>=', '<=' or '=='")
        tokens.advance()
        tokens.expect("=")
        right = self.sum()
        if sign == "<":
            left, right = right, left
        return left - right, sign == "="

    def sum(self) -> AffineExpr:
        """Reads terms under `+` and `-`."""
        out = self._product()
        while self.tokens.text in ("+", "-"):
            at = self.tokens.start
            sign = self.tokens.advance()
            term = self._product()
            out = self._bounded(out + term if sign == "+" else out - term, at)
        return out

    def _product(self) -> AffineExpr:
        tokens = self.tokens
        out = self._operand()
        while tokens.text == "*" or (tokens.kind == "word" and tokens.text in _DIVISIONS):
            at = tokens.start
            operator = tokens.advance()
            right = self._operand()
            if operator == "*":
                if not out.is_symbolic and not right.is_symbolic:
                    tokens.fail("one side of a product must be constant or symbolic", at=at)
                out = self._bounded(out * right, at)
                continue
            if not right.is_symbolic:
                tokens.fail(f"the right side of '{operator}' must be constant or symbolic", at=at)
            out = self._bounded(_DIVISIONS[operator](out, right), at)
        return out

    def _operand(self) -> AffineExpr:
        tokens = self.tokens
        at, negative = tokens.start, False
        while tokens.take("-"):
            negative = not negative
        if tokens.kind == "int":
            out: AffineExpr = AffineConstant(_number(tokens))
        elif tokens.kind == "word":
            name = tokens.text
            out = self.names[name] if name in self.names else tokens.unexpected("a dimension, symbol or number")
            tokens.advance()
        elif tokens.take("("):
            self.depth += 1
            if self.depth > _DEEPEST:
                tokens.fail(f"nested more than {_DEEPEST} deep", at=at, code=NESTING_TOO_DEEP)
            out = self.sum()
            tokens.expect(")")
            self.depth -= 1
        else:
            tokens.unexpected("a dimension, symbol or number")
        return -out if negative else out

    def _bounded(self, expression: AffineExpr, at: int) -> AffineExpr:
        if expression.depth > _DEEPEST:
            self.tokens.fail(f"nested more than {_DEEPEST} deep", at=at, code=NESTING_TOO_DEEP)
        return expression


_DIVISIONS: Mapping[str, Callable[[AffineExpr, AffineExpr], AffineExpr]] = {
    "floordiv": lambda a, b: a // b,
    "ceildiv": lambda a, b: a.ceildiv(b),
    "mod": lambda a, b: a % b,
}


def _number(tokens: TokenStream) -> int:
    """Reads a number that fits in a signed 64-bit integer."""
    at = tokens.start
    digits = tokens.expect_kind("int", "a number")
    if len(digits) > _LONGEST_NUMBER or (value := int(digits, 16 if digits.startswith("0x") else 10)) > LARGEST:
        tokens.fail(f"{digits[:_LONGEST_NUMBER]} is more than 64 bits", at=at)
    return value


def read_strided(tokens: TokenStream) -> StridedLayoutAttr:
    """Reads `[1, ?], offset: 2`, the contents of `strided<...>`."""

    def number() -> int | None:
        if tokens.take("?"):
            return None
        return -_number(tokens) if tokens.take("-") else _number(tokens)

    tokens.expect("[")
    strides: list[int | None] = []
    while not tokens.take("]"):
        if strides:
            tokens.expect(",")
        strides.append(number())
    if not tokens.take(","):
        return StridedLayoutAttr(strides)
    tokens.expect("offset")
    tokens.expect(":")
    return StridedLayoutAttr(strides, number())
