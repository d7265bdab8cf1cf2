"""Affine maps and sets out of MLIR text.

Source: MLIR, affine dialect, grammar of expressions; limits of nesting are those of `text/constants.py`.
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
from commonir.text.lexer import Scanner

_DEEPEST = 200
_MOST_NAMES = 10_000
_LONGEST_NUMBER = 40


class AffineReader:
    """Reads one map or set at the current token of a scanner."""

    def __init__(self, scanner: Scanner) -> None:
        self.scanner = scanner
        self.names: dict[str, AffineExpr] = {}
        self.depth = 0

    def map(self) -> AffineMap:
        """Reads `(d0)[s0] -> (expressions)`."""
        dims, symbols = self._spaces()
        self.scanner.expect("->")
        results: list[AffineExpr] = []
        self._listed(lambda: results.append(self.sum()))
        return AffineMap(dims, symbols, results)

    def set(self) -> IntegerSet:
        """Reads `(d0)[s0] : (constraints)`."""
        dims, symbols = self._spaces()
        self.scanner.expect(":")
        constraints: list[tuple[AffineExpr, bool]] = []
        self._listed(lambda: constraints.append(self._constraint()))
        return IntegerSet(dims, symbols, constraints)

    def _listed(self, item: Callable[[], None]) -> None:
        scanner = self.scanner
        scanner.expect("(")
        if scanner.take(")"):
            return
        while True:
            item()
            if scanner.take(")"):
                return
            scanner.expect(",")

    def _spaces(self) -> tuple[int, int]:
        dims = self._names("(", ")", AffineDim)
        return dims, self._names("[", "]", AffineSymbol) if self.scanner.at("[") else 0

    def _names(self, opening: str, closing: str, kind: Callable[[int], AffineExpr]) -> int:
        scanner = self.scanner
        scanner.expect(opening)
        count = 0
        while not scanner.take(closing):
            if count:
                scanner.expect(",")
            at = scanner.start
            name = scanner.expect_kind("word", "the name of a dimension or symbol")
            if name in self.names:
                scanner.fail(f"'{name}' is named twice", at=at)
            if len(self.names) >= _MOST_NAMES:
                scanner.fail(f"more than {_MOST_NAMES} dimensions and symbols", at=at, code=LIMIT_EXCEEDED)
            self.names[name] = kind(count)
            count += 1
        return count

    def _constraint(self) -> tuple[AffineExpr, bool]:
        scanner = self.scanner
        left = self.sum()
        sign = scanner.text if scanner.text in ("<", ">", "=") else scanner.unexpected("'>=', '<=' or '=='")
        scanner.advance()
        scanner.expect("=")
        right = self.sum()
        if sign == "<":
            left, right = right, left
        return left - right, sign == "="

    def sum(self) -> AffineExpr:
        """Reads terms under `+` and `-`."""
        out = self._product()
        while self.scanner.text in ("+", "-"):
            at = self.scanner.start
            sign = self.scanner.advance()
            term = self._product()
            out = self._bounded(out + term if sign == "+" else out - term, at)
        return out

    def _product(self) -> AffineExpr:
        scanner = self.scanner
        out = self._operand()
        while scanner.text == "*" or (scanner.kind == "word" and scanner.text in _DIVISIONS):
            at = scanner.start
            operator = scanner.advance()
            right = self._operand()
            if operator == "*":
                if not out.is_symbolic and not right.is_symbolic:
                    scanner.fail("one side of a product must be constant or symbolic", at=at)
                out = self._bounded(out * right, at)
                continue
            if not right.is_symbolic:
                scanner.fail(f"the right side of '{operator}' must be constant or symbolic", at=at)
            out = self._bounded(_DIVISIONS[operator](out, right), at)
        return out

    def _operand(self) -> AffineExpr:
        scanner = self.scanner
        at, negative = scanner.start, False
        while scanner.take("-"):
            negative = not negative
        if scanner.kind == "int":
            out: AffineExpr = AffineConstant(_number(scanner))
        elif scanner.kind == "word":
            name = scanner.text
            out = self.names[name] if name in self.names else scanner.unexpected("a dimension, symbol or number")
            scanner.advance()
        elif scanner.take("("):
            self.depth += 1
            if self.depth > _DEEPEST:
                scanner.fail(f"nested more than {_DEEPEST} deep", at=at, code=NESTING_TOO_DEEP)
            out = self.sum()
            scanner.expect(")")
            self.depth -= 1
        else:
            scanner.unexpected("a dimension, symbol or number")
        return -out if negative else out

    def _bounded(self, made: AffineExpr, at: int) -> AffineExpr:
        if made.depth > _DEEPEST:
            self.scanner.fail(f"nested more than {_DEEPEST} deep", at=at, code=NESTING_TOO_DEEP)
        return made


_DIVISIONS: Mapping[str, Callable[[AffineExpr, AffineExpr], AffineExpr]] = {
    "floordiv": lambda a, b: a // b,
    "ceildiv": lambda a, b: a.ceildiv(b),
    "mod": lambda a, b: a % b,
}


def _number(scanner: Scanner) -> int:
    """Reads a number that 64 bits hold with a sign."""
    at = scanner.start
    digits = scanner.expect_kind("int", "a number")
    if len(digits) > _LONGEST_NUMBER or (value := int(digits, 16 if digits.startswith("0x") else 10)) > LARGEST:
        scanner.fail(f"{digits[:_LONGEST_NUMBER]} is more than 64 bits", at=at)
    return value


def read_strided(scanner: Scanner) -> StridedLayoutAttr:
    """Reads `[1, ?], offset: 2`, what stands within `strided<...>`."""

    def number() -> int | None:
        if scanner.take("?"):
            return None
        return -_number(scanner) if scanner.take("-") else _number(scanner)

    scanner.expect("[")
    strides: list[int | None] = []
    while not scanner.take("]"):
        if strides:
            scanner.expect(",")
        strides.append(number())
    if not scanner.take(","):
        return StridedLayoutAttr(strides)
    scanner.expect("offset")
    scanner.expect(":")
    return StridedLayoutAttr(strides, number())
