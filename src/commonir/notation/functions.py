"""The scalar functions and folds of index notation: one table, from which typing, text, engines and docs are derived.

Numeric rules that hold for every row:
- Operands of one application have one element type; nothing is promoted. `select` excepts its condition.
- Integer results wrap modulo 2^bits; integer division by zero, and integer powers with a negative exponent have no
  specified value. A shift by a negative number, or by at least the width, results in zeros, or copies of the sign.
- Floating-point functions round to the element type of the result; transcendental ones may differ by some units in
  the last place.
- `maximum` and `minimum` are NaN when an operand is NaN; comparisons with NaN are false, except `not_equal`.
- Conversion (`Cast`) from float to integer drops the fraction; a value outside the range of the integer, and NaN,
  convert to no specified value. Conversion to boolean tests for inequality with zero.

Source: `docs/architecture.md`; names are those of the Python array API where it has the function.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, isfinite
from types import MappingProxyType
from typing import Literal

from commonir.ir.types import ElementKind, ElementType
from commonir.symbolic.errors import NotationError

Number = bool | int | float | complex

ResultRule = Literal["same", "boolean"]

FLOAT: tuple[ElementKind, ...] = ("float",)
INTEGER: tuple[ElementKind, ...] = ("int", "uint")
REAL: tuple[ElementKind, ...] = ("int", "uint", "float")
SIGNED: tuple[ElementKind, ...] = ("int", "float")
NUMERIC: tuple[ElementKind, ...] = ("int", "uint", "float", "complex")
BOOLEAN: tuple[ElementKind, ...] = ("bool",)
EQUATABLE: tuple[ElementKind, ...] = ("bool", "int", "uint", "float", "complex", "string")
ANY: tuple[ElementKind, ...] = ("bool", "int", "uint", "float", "complex", "string", "handle")


class ScalarFunction:
    """A row of the table: the operands, result and text of a scalar function.

    `form` is its mathematical text with `{}` for the operands, `precedence` how tightly it binds (calls bind
    tightest), `kinds` are those of the element types it takes, `result` is that of the operands or a boolean.
    """

    __slots__ = ("arity", "form", "kinds", "name", "precedence", "result")

    def __init__(
        self, name: str, form: str, precedence: int, kinds: tuple[ElementKind, ...], result: ResultRule
    ) -> None:
        self.name = name
        self.form = form
        self.precedence = precedence
        self.arity = form.count("{")
        self.kinds = kinds
        self.result: ResultRule = result


CALL = 9
"""Precedence of text that needs no parentheses."""

_ROWS: tuple[tuple[str, str, int, tuple[ElementKind, ...], ResultRule], ...] = (
    ("add", "{} + {}", 4, NUMERIC, "same"),
    ("subtract", "{} - {}", 4, NUMERIC, "same"),
    ("multiply", "{}·{}", 5, NUMERIC, "same"),
    ("divide", "{} / {}", 5, ("float", "complex"), "same"),
    ("floor_divide", "⌊{} / {}⌋", CALL, REAL, "same"),
    ("truncated_divide", "trunc({} / {})", CALL, INTEGER, "same"),
    ("remainder", "{} mod {}", 5, REAL, "same"),  # sign of the divisor
    ("truncated_remainder", "{} rem {}", 5, REAL, "same"),  # sign of the dividend
    ("power", "{}^{}", 7, REAL, "same"),
    ("maximum", "max({}, {})", CALL, REAL, "same"),
    ("minimum", "min({}, {})", CALL, REAL, "same"),
    ("negative", "-{}", 6, ("int", "float", "complex"), "same"),
    ("absolute", "|{}|", CALL, SIGNED, "same"),
    ("sign", "sign({})", CALL, SIGNED, "same"),
    ("exp", "exp({})", CALL, FLOAT, "same"),
    ("exp2", "exp2({})", CALL, FLOAT, "same"),
    ("log", "log({})", CALL, FLOAT, "same"),
    ("sqrt", "√({})", CALL, FLOAT, "same"),
    ("sin", "sin({})", CALL, FLOAT, "same"),
    ("cos", "cos({})", CALL, FLOAT, "same"),
    ("tan", "tan({})", CALL, FLOAT, "same"),
    ("asin", "asin({})", CALL, FLOAT, "same"),
    ("acos", "acos({})", CALL, FLOAT, "same"),
    ("atan", "atan({})", CALL, FLOAT, "same"),
    ("sinh", "sinh({})", CALL, FLOAT, "same"),
    ("cosh", "cosh({})", CALL, FLOAT, "same"),
    ("tanh", "tanh({})", CALL, FLOAT, "same"),
    ("asinh", "asinh({})", CALL, FLOAT, "same"),
    ("acosh", "acosh({})", CALL, FLOAT, "same"),
    ("atanh", "atanh({})", CALL, FLOAT, "same"),
    ("erf", "erf({})", CALL, FLOAT, "same"),
    ("floor", "⌊{}⌋", CALL, FLOAT, "same"),
    ("ceil", "⌈{}⌉", CALL, FLOAT, "same"),
    ("round", "round({})", CALL, FLOAT, "same"),  # half to even
    ("truncate", "trunc({})", CALL, FLOAT, "same"),
    ("is_nan", "is_nan({})", CALL, FLOAT, "boolean"),
    ("is_inf", "is_inf({})", CALL, FLOAT, "boolean"),
    ("logical_and", "{} ∧ {}", 2, BOOLEAN, "same"),
    ("logical_or", "{} ∨ {}", 1, BOOLEAN, "same"),
    ("logical_xor", "{} ⊻ {}", 1, BOOLEAN, "same"),
    ("logical_not", "¬{}", 6, BOOLEAN, "same"),
    ("bitwise_and", "{} & {}", 2, INTEGER, "same"),
    ("bitwise_or", "{} | {}", 1, INTEGER, "same"),
    ("bitwise_xor", "{} ^ {}", 1, INTEGER, "same"),
    ("bitwise_not", "~{}", 6, INTEGER, "same"),
    ("shift_left", "{} << {}", 3, INTEGER, "same"),
    ("shift_right", "{} >> {}", 3, INTEGER, "same"),  # arithmetic for signed types, logical for unsigned ones
    ("less", "{} < {}", 3, REAL, "boolean"),
    ("less_equal", "{} ≤ {}", 3, REAL, "boolean"),
    ("equal", "{} = {}", 3, EQUATABLE, "boolean"),
    ("not_equal", "{} ≠ {}", 3, EQUATABLE, "boolean"),
    ("greater", "{} > {}", 3, REAL, "boolean"),
    ("greater_equal", "{} ≥ {}", 3, REAL, "boolean"),
    ("select", "({1} if {0} else {2})", CALL, ANY, "same"),  # the condition is a boolean
)

FUNCTIONS: Mapping[str, ScalarFunction] = MappingProxyType({row[0]: ScalarFunction(*row) for row in _ROWS})
"""Every scalar function by name."""


class FoldFunction:
    """The combination of a fold: `symbol` is its sign in mathematical text."""

    __slots__ = ("kinds", "name", "symbol")

    def __init__(self, name: str, symbol: str, kinds: tuple[ElementKind, ...]) -> None:
        self.name = name
        self.symbol = symbol
        self.kinds = kinds


FOLDS: Mapping[str, FoldFunction] = MappingProxyType(
    {
        row[0]: FoldFunction(*row)
        for row in (
            ("add", "Σ", NUMERIC),
            ("multiply", "Π", NUMERIC),
            ("maximum", "max", REAL),
            ("minimum", "min", REAL),
            ("logical_and", "⋀", BOOLEAN),
            ("logical_or", "⋁", BOOLEAN),
        )
    }
)
"""Every fold by name; each is associative and commutative, up to rounding."""

LARGEST_FINITE: Mapping[str, float] = MappingProxyType(
    {
        "f8E4M3FN": 448.0,
        "f8E4M3FNUZ": 240.0,
        "f8E4M3B11FNUZ": 30.0,
        "f8E5M2FNUZ": 57344.0,
        "f8E8M0FNU": 2.0**127,
        "f6E2M3FN": 7.5,
        "f6E3M2FN": 28.0,
        "f4E2M1FN": 6.0,
    }
)
"""Largest value of the floating-point types that have no infinity.

Source: MLIR built-in types; OCP microscaling formats 1.0.
"""


def limits(dtype: ElementType) -> tuple[int, int] | tuple[float, float]:
    """Returns the smallest and the largest value of a real element type; infinities where it has them."""
    match dtype.kind:
        case "int" | "uint":
            return dtype.integer_limits
        case "float":
            top = LARGEST_FINITE.get(dtype.name, inf)
            return (2.0**-127 if dtype.name == "f8E8M0FNU" else -top), top
        case _:
            raise NotationError(f"{dtype} has no order")


def identity(fn: str, dtype: ElementType) -> Number:
    """Returns the identity of a fold: its value over an empty range."""
    if dtype.kind not in FOLDS[fn].kinds:
        raise NotationError(f"no fold '{fn}' of {dtype}")
    match fn:
        case "add" | "multiply":
            start = 0 if fn == "add" else 1
            return complex(start) if dtype.kind == "complex" else float(start) if dtype.kind == "float" else start
        case "maximum":
            return limits(dtype)[0]
        case "minimum":
            return limits(dtype)[1]
        case _:
            return fn == "logical_and"


def number_key(value: Number) -> str:
    """Returns a key that distinguishes constants: 0.0 from -0.0, 1 from 1.0 from True. All NaNs have the same key."""
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, complex):
        return f"{value.real.hex()},{value.imag.hex()}"
    return repr(value)


def fits(value: Number, dtype: ElementType) -> bool:
    """Returns whether a Python number is a value of the element type (for floats: up to rounding)."""
    match dtype.kind:
        case "bool":
            return isinstance(value, bool)
        case "int" | "uint":
            if isinstance(value, (bool, complex)) or not isfinite(value) or value != int(value):
                return False
            low, high = limits(dtype)
            return low <= value <= high
        case "float":
            return not isinstance(value, (bool, complex))
        case "complex":
            return not isinstance(value, bool)
        case _:
            return False


def converted(value: Number, dtype: ElementType) -> Number:
    """Returns a number that `fits`, in the Python type that goes with the kind of the element type."""
    match dtype.kind:
        case "int" | "uint":
            return value if isinstance(value, complex) else int(value)
        case "float":
            return value if isinstance(value, complex) else float(value)
        case "complex":
            return complex(value)
        case _:
            return value
