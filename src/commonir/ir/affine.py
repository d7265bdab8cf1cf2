"""Affine maps and sets: integer expressions over dimensions and symbols, simplified as they are built.

Products have a constant or symbolic side, divisors are constant or symbolic. Applies exactly the
simplifications of MLIR, so that the text equals that of mlir-opt. Constants have 64 bits; an operation that would
overflow is not folded. All functions here are recursive, so the reader limits the nesting depth of expressions.
Source: MLIR, affine dialect, expressions, maps and integer sets; simplifications as mlir-opt 22 has them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import gcd
from types import MappingProxyType
from typing import Literal, Self

from commonir.ir.attributes import Attribute
from commonir.ir.constant_text import ConstantPrinter
from commonir.ir.interning import Interned

Operator = Literal["+", "*", "floordiv", "ceildiv", "mod"]

LARGEST = 2**63 - 1
"""The largest constant in an expression."""


class AffineExpr(Interned):
    """An expression; `+`, `-`, `*`, `//` and `%` build simplified ones."""

    __slots__ = ()

    @property
    def depth(self) -> int:
        """The nesting depth of its operators."""
        return 0

    @property
    def is_symbolic(self) -> bool:
        """Whether it contains no dimension."""
        return True

    @property
    def divisor(self) -> int:
        """The largest known divisor of its values."""
        return 1

    def evaluate(self, dims: Sequence[int], symbols: Sequence[int] = ()) -> int:
        """Returns its value for the values of dimensions and symbols. Raises: ZeroDivisionError."""
        raise NotImplementedError

    def written(self, _within: bool, /) -> str:
        """Returns its text, in parentheses if `_within` an operator that binds more tightly and they are needed."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.written(False)

    def __repr__(self) -> str:
        return self.written(False)

    def __add__(self, other: AffineExpr) -> AffineExpr:
        return _sum(self, other) or AffineBinary("+", self, other)

    def __sub__(self, other: AffineExpr) -> AffineExpr:
        return self + -other

    def __neg__(self) -> AffineExpr:
        return self * AffineConstant(-1)

    def __mul__(self, other: AffineExpr) -> AffineExpr:
        return _product(self, other) or AffineBinary("*", self, other)

    def __floordiv__(self, other: AffineExpr) -> AffineExpr:
        return _floor(self, other) or AffineBinary("floordiv", self, other)

    def __mod__(self, other: AffineExpr) -> AffineExpr:
        return _remainder(self, other) or AffineBinary("mod", self, other)

    def ceildiv(self, other: AffineExpr) -> AffineExpr:
        """Returns the quotient rounded up."""
        return _ceil(self, other) or AffineBinary("ceildiv", self, other)


class AffineDim(AffineExpr):
    """A dimension by its position."""

    __slots__ = ("position",)

    position: int

    def __new__(cls, position: int) -> Self:
        return cls._intern(position)

    @property
    def is_symbolic(self) -> bool:
        return False

    def evaluate(self, dims: Sequence[int], symbols: Sequence[int] = ()) -> int:  # noqa: ARG002
        return dims[self.position]

    def written(self, _within: bool, /) -> str:
        return f"d{self.position}"


class AffineSymbol(AffineExpr):
    """A symbol by its position."""

    __slots__ = ("position",)

    position: int

    def __new__(cls, position: int) -> Self:
        return cls._intern(position)

    def evaluate(self, dims: Sequence[int], symbols: Sequence[int] = ()) -> int:  # noqa: ARG002
        return symbols[self.position]

    def written(self, _within: bool, /) -> str:
        return f"s{self.position}"


class AffineConstant(AffineExpr):
    """A number."""

    __slots__ = ("value",)

    value: int

    def __new__(cls, value: int) -> Self:
        return cls._intern(value)

    @property
    def divisor(self) -> int:
        return abs(self.value)

    def evaluate(self, dims: Sequence[int], symbols: Sequence[int] = ()) -> int:  # noqa: ARG002
        return self.value

    def written(self, _within: bool, /) -> str:
        return str(self.value)


class AffineBinary(AffineExpr):
    """A binary operation on expressions. Its constructor does not simplify."""

    __slots__ = ("operator", "lhs", "rhs", "_depth", "_symbolic", "_divisor")  # noqa: RUF023  the order of `_intern`

    operator: Operator
    lhs: AffineExpr
    rhs: AffineExpr
    _depth: int
    _symbolic: bool
    _divisor: int

    def __new__(cls, operator: Operator, lhs: AffineExpr, rhs: AffineExpr) -> Self:
        depth = 1 + max(lhs.depth, rhs.depth)
        symbolic = lhs.is_symbolic and rhs.is_symbolic
        divisor = _divisor(operator, lhs, rhs)
        return cls._intern(operator, lhs, rhs, depth, symbolic, divisor, key=(operator, lhs, rhs))

    @property
    def depth(self) -> int:
        return self._depth

    @property
    def is_symbolic(self) -> bool:
        return self._symbolic

    @property
    def divisor(self) -> int:
        return self._divisor

    def evaluate(self, dims: Sequence[int], symbols: Sequence[int] = ()) -> int:
        return _MEANING[self.operator](self.lhs.evaluate(dims, symbols), self.rhs.evaluate(dims, symbols))

    def written(self, within: bool, /) -> str:
        shown = self._sum_text() if self.operator == "+" else self._product_text()
        return f"({shown})" if within else shown

    def _product_text(self) -> str:
        if self.operator == "*" and self.rhs is AffineConstant(-1):
            return f"-{self.lhs.written(True)}"
        return f"{self.lhs.written(True)} {self.operator} {self.rhs.written(True)}"

    def _sum_text(self) -> str:
        left = self.lhs.written(False)
        match self.rhs:
            case AffineBinary(operator="*", lhs=operand, rhs=AffineConstant(value=-1)):
                return f"{left} - {operand.written(isinstance(operand, AffineBinary) and operand.operator == '+')}"
            case AffineBinary(operator="*", lhs=operand, rhs=AffineConstant(value=value)) if value < -1:
                return f"{left} - {operand.written(True)} * {-value}"
            case AffineConstant(value=value) if value < 0:
                return f"{left} - {-value}"
            case _:
                return f"{left} + {self.rhs.written(False)}"


_MEANING: Mapping[Operator, Callable[[int, int], int]] = MappingProxyType(
    {
        "+": lambda a, b: a + b,
        "*": lambda a, b: a * b,
        "floordiv": lambda a, b: a // b,
        "ceildiv": lambda a, b: -(-a // b),
        "mod": lambda a, b: a % b,
    }
)


def _divisor(operator: Operator, lhs: AffineExpr, rhs: AffineExpr) -> int:
    match operator:
        case "*":
            return lhs.divisor * rhs.divisor
        case "+" | "mod":
            return gcd(lhs.divisor, rhs.divisor)
        case "floordiv" | "ceildiv":
            by = rhs.value if isinstance(rhs, AffineConstant) else 0
            return abs(lhs.divisor // by) if by and lhs.divisor % by == 0 else 1


def _fitting(value: int) -> AffineConstant | None:
    return AffineConstant(value) if -LARGEST - 1 <= value <= LARGEST else None


def _swapped(lhs: AffineExpr, rhs: AffineExpr) -> bool:
    """Returns whether two dimensions, or two symbols, are not in the order of their positions."""
    match lhs, rhs:
        case (AffineDim(), AffineDim()) | (AffineSymbol(), AffineSymbol()):
            return lhs.position > rhs.position
        case _:
            return False


def _scaled(expr: AffineExpr) -> tuple[AffineExpr, int]:
    """Returns an expression without its constant factor, and the factor."""
    match expr:
        case AffineBinary(operator="*", lhs=operand, rhs=AffineConstant(value=value)):
            return operand, value
        case _:
            return expr, 1


def _sum(lhs: AffineExpr, rhs: AffineExpr) -> AffineExpr | None:
    constant = rhs.value if isinstance(rhs, AffineConstant) else None
    if isinstance(lhs, AffineConstant) and constant is not None:
        return _fitting(lhs.value + constant)
    if isinstance(lhs, AffineConstant) or (lhs.is_symbolic and not rhs.is_symbolic) or _swapped(lhs, rhs):
        return rhs + lhs
    if constant == 0:
        return lhs
    inner = lhs.rhs if isinstance(lhs, AffineBinary) and lhs.operator == "+" else None
    if isinstance(lhs, AffineBinary) and isinstance(inner, AffineConstant) and constant is not None:
        folded = _fitting(inner.value + constant)
        if folded is not None:
            return lhs.lhs + folded
    (first, m), (second, n) = _scaled(lhs), _scaled(rhs)
    if first is second:
        factor = _fitting(m + n)
        if factor is not None:
            return factor * first
    if isinstance(lhs, AffineBinary) and isinstance(inner, AffineConstant) and constant is None:
        return lhs.lhs + rhs + inner
    return _as_remainder(lhs, rhs)


def _as_remainder(lhs: AffineExpr, rhs: AffineExpr) -> AffineExpr | None:
    """`e - (e floordiv q) * q` as `e mod q`, and the same for the last term of a sum."""
    match rhs:
        case AffineBinary(
            operator="*",
            lhs=AffineBinary(operator="*", lhs=AffineBinary(operator="floordiv", lhs=e, rhs=q), rhs=by),
            rhs=AffineConstant(value=-1),
        ) if e is lhs and q is by:
            return lhs % q
        case AffineBinary(
            operator="*",
            lhs=AffineBinary(operator="floordiv", lhs=e, rhs=AffineConstant(value=q) as divisor),
            rhs=AffineConstant(value=by),
        ) if e is lhs and q > 0 and by == -q:
            return lhs % divisor
        case AffineBinary(operator="*", lhs=AffineBinary(operator="floordiv")) if (
            isinstance(lhs, AffineBinary) and lhs.operator == "+"
        ):
            last = _sum(lhs.rhs, rhs)
            return None if last is None else lhs.lhs + last
        case _:
            return None


def _product(lhs: AffineExpr, rhs: AffineExpr) -> AffineExpr | None:
    constant = rhs.value if isinstance(rhs, AffineConstant) else None
    if isinstance(lhs, AffineConstant) and constant is not None:
        return _fitting(lhs.value * constant)
    if not lhs.is_symbolic and not rhs.is_symbolic:
        return None
    if not rhs.is_symbolic or isinstance(lhs, AffineConstant) or _swapped(lhs, rhs):
        return rhs * lhs
    if constant == 1:
        return lhs
    if constant == 0:
        return rhs
    if isinstance(lhs, AffineBinary) and lhs.operator == "*" and isinstance(lhs.rhs, AffineConstant):
        if constant is None:
            return lhs.lhs * rhs * lhs.rhs
        folded = _fitting(lhs.rhs.value * constant)
        return None if folded is None else lhs.lhs * folded
    return None


def _floor(lhs: AffineExpr, rhs: AffineExpr) -> AffineExpr | None:
    if not isinstance(rhs, AffineConstant) or rhs.value == 0:
        return None
    if isinstance(lhs, AffineConstant):
        return _fitting(lhs.value // rhs.value)
    if rhs.value == 1:
        return lhs
    match lhs:
        case AffineBinary(operator="*", lhs=operand, rhs=AffineConstant(value=value)) if value % rhs.value == 0:
            return operand * AffineConstant(value // rhs.value)
        case AffineBinary(operator="+") if lhs.lhs.divisor % rhs.value == 0 or lhs.rhs.divisor % rhs.value == 0:
            return lhs.lhs // rhs + lhs.rhs // rhs
        case _:
            return None


def _ceil(lhs: AffineExpr, rhs: AffineExpr) -> AffineExpr | None:
    if not isinstance(rhs, AffineConstant) or rhs.value == 0:
        return None
    if isinstance(lhs, AffineConstant):
        return _fitting(-(-lhs.value // rhs.value))
    if rhs.value == 1:
        return lhs
    match lhs:
        case AffineBinary(operator="*", lhs=operand, rhs=AffineConstant(value=value)) if value % rhs.value == 0:
            return operand * AffineConstant(value // rhs.value)
        case _:
            return None


def _remainder(lhs: AffineExpr, rhs: AffineExpr) -> AffineExpr | None:
    if not isinstance(rhs, AffineConstant) or rhs.value < 1:
        return None
    if isinstance(lhs, AffineConstant):
        return AffineConstant(lhs.value % rhs.value)
    if lhs.divisor % rhs.value == 0:
        return AffineConstant(0)
    match lhs:
        case AffineBinary(operator="+") if lhs.lhs.divisor % rhs.value == 0:
            return lhs.rhs % rhs
        case AffineBinary(operator="+") if lhs.rhs.divisor % rhs.value == 0:
            return lhs.lhs % rhs
        case AffineBinary(operator="mod", rhs=AffineConstant(value=value)) if value >= 1 and value % rhs.value == 0:
            return lhs.lhs % rhs
        case _:
            return None


class AffineMap(Interned):
    """Expressions over a number of dimensions and symbols."""

    __slots__ = ("dims", "symbols", "results")  # noqa: RUF023  the order of `_intern`

    dims: int
    symbols: int
    results: tuple[AffineExpr, ...]

    def __new__(cls, dims: int, symbols: int, results: Sequence[AffineExpr]) -> Self:
        return cls._intern(dims, symbols, tuple(results))

    @classmethod
    def identity(cls, rank: int) -> Self:
        """Returns the map of each dimension to itself."""
        return cls(rank, 0, [AffineDim(n) for n in range(rank)])

    @property
    def is_identity(self) -> bool:
        """Whether it maps each dimension to itself."""
        return len(self.results) == self.dims and all(e is AffineDim(n) for n, e in enumerate(self.results))

    def evaluate(self, dims: Sequence[int], symbols: Sequence[int] = ()) -> tuple[int, ...]:
        """Returns the results for the values of dimensions and symbols. Raises: ZeroDivisionError."""
        return tuple([e.evaluate(dims, symbols) for e in self.results])

    def __str__(self) -> str:
        return f"{_spaces(self.dims, self.symbols)} -> ({', '.join(map(str, self.results))})"


class IntegerSet(Interned):
    """The points that satisfy all constraints: an expression is zero if its flag is set, else nonnegative."""

    __slots__ = ("dims", "symbols", "constraints")  # noqa: RUF023  the order of `_intern`

    dims: int
    symbols: int
    constraints: tuple[tuple[AffineExpr, bool], ...]

    def __new__(cls, dims: int, symbols: int, constraints: Sequence[tuple[AffineExpr, bool]]) -> Self:
        # MLIR has no empty list of constraints.
        return cls._intern(dims, symbols, tuple(constraints) or ((AffineConstant(0), True),))

    def __str__(self) -> str:
        shown = ", ".join([f"{e} {'==' if equal else '>='} 0" for e, equal in self.constraints])
        return f"{_spaces(self.dims, self.symbols)} : ({shown})"


def _spaces(dims: int, symbols: int) -> str:
    operand = f"[{', '.join([f's{n}' for n in range(symbols)])}]" if symbols else ""
    return f"({', '.join([f'd{n}' for n in range(dims)])}){operand}"


class AffineMapAttr(Attribute):
    """An affine map."""

    __slots__ = ("map",)

    map: AffineMap

    def __new__(cls, map: AffineMap) -> Self:
        return cls._intern(map)

    def text(self, _printer: ConstantPrinter, /) -> str:
        return f"affine_map<{self.map}>"


class IntegerSetAttr(Attribute):
    """An integer set."""

    __slots__ = ("set",)

    set: IntegerSet

    def __new__(cls, set: IntegerSet) -> Self:
        return cls._intern(set)

    def text(self, _printer: ConstantPrinter, /) -> str:
        return f"affine_set<{self.set}>"


class StridedLayoutAttr(Attribute):
    """The strides of the dimensions and the offset of the first element, in elements; None: dynamic."""

    __slots__ = ("strides", "offset")  # noqa: RUF023  the order of `_intern`

    strides: tuple[int | None, ...]
    offset: int | None

    def __new__(cls, strides: Sequence[int | None], offset: int | None = 0) -> Self:
        return cls._intern(tuple(strides), offset)

    def text(self, _printer: ConstantPrinter, /) -> str:
        strides = ", ".join(["?" if s is None else str(s) for s in self.strides])
        offset = "" if self.offset == 0 else f", offset: {'?' if self.offset is None else self.offset}"
        return f"strided<[{strides}]{offset}>"
