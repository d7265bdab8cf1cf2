"""Core operations that act element by element: arithmetic, comparison, logic, conversion.

Numeric rules are those of the scalar functions of index notation (`notation/functions.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

from commonir.dialects.core.base import (
    ANYTHING,
    ELEMENTS,
    FLOATS,
    INTEGERS,
    NUMBERS,
    REALS,
    SIGNED,
    CoreOp,
    accumulator,
    function,
    tensor_type,
)
from commonir.ir.data import ArrayData, Data, DeferredData
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, TensorType, boolean, f32, f64
from commonir.notation import (
    Access,
    Constraint,
    Expr,
    Index,
    Indices,
    Kernel,
    Relation,
    Tensor,
    broadcast,
    broadcast_shape,
    call,
    decide,
    indices,
    limits,
)
from commonir.notation import cast as cast_element
from commonir.notation import select as choose
from commonir.ods import attr_types, attribute, element_type, known_data, known_dims, operand, result, traits
from commonir.symbolic import Dim, at_least, largest, modulo, smallest
from commonir.symbolic import floor_div as floor_div_dims


class Unary(CoreOp, traits=(traits.Pure, traits.Elementwise)):
    """A scalar function of each element."""

    fn: ClassVar[str] = ""
    x: Value = operand("T[s*]")
    y: Value = result("T[s*]")
    T = FLOATS

    def reference(self, x: Tensor, *, s: Indices) -> Expr:
        return call(self.fn, x[s])

    def constant_dims(self) -> tuple[Dim, ...] | None:
        """Known elements are integers, which rounding leaves as they are."""
        known = known_dims(self.x)
        if known is None or self.fn == "negative":
            return None if known is None else tuple([-d for d in known])
        return known if self.fn in ("floor", "ceil", "round", "truncate") else None


class Neg(Unary, name="core.neg"):
    """Negates each element."""

    fn = "negative"
    T = SIGNED


class Abs(Unary, name="core.abs"):
    """Absolute value of each element; the least integer stays negative."""

    fn = "absolute"
    T = SIGNED


class Sign(Unary, name="core.sign"):
    """Sign of each element: -1, 0 or 1; NaN for NaN."""

    fn = "sign"
    T = SIGNED


class Exp(Unary, name="core.exp"):
    """Natural exponential of each element."""

    fn = "exp"


class Exp2(Unary, name="core.exp2"):
    """Base-2 exponential of each element."""

    fn = "exp2"


class Log(Unary, name="core.log"):
    """Natural logarithm of each element."""

    fn = "log"


class Sqrt(Unary, name="core.sqrt"):
    """Square root of each element; NaN below zero."""

    fn = "sqrt"


class Sin(Unary, name="core.sin"):
    """Sine of each element, an angle in radians."""

    fn = "sin"


class Cos(Unary, name="core.cos"):
    """Cosine of each element, an angle in radians."""

    fn = "cos"


class Tan(Unary, name="core.tan"):
    """Tangent of each element, an angle in radians."""

    fn = "tan"


class Asin(Unary, name="core.asin"):
    """Arc sine of each element, in radians."""

    fn = "asin"


class Acos(Unary, name="core.acos"):
    """Arc cosine of each element, in radians."""

    fn = "acos"


class Atan(Unary, name="core.atan"):
    """Arc tangent of each element, in radians."""

    fn = "atan"


class Sinh(Unary, name="core.sinh"):
    """Hyperbolic sine of each element."""

    fn = "sinh"


class Cosh(Unary, name="core.cosh"):
    """Hyperbolic cosine of each element."""

    fn = "cosh"


class Tanh(Unary, name="core.tanh"):
    """Hyperbolic tangent of each element."""

    fn = "tanh"


class Asinh(Unary, name="core.asinh"):
    """Inverse hyperbolic sine of each element."""

    fn = "asinh"


class Acosh(Unary, name="core.acosh"):
    """Inverse hyperbolic cosine of each element."""

    fn = "acosh"


class Atanh(Unary, name="core.atanh"):
    """Inverse hyperbolic tangent of each element."""

    fn = "atanh"


class Erf(Unary, name="core.erf"):
    """Error function of each element."""

    fn = "erf"


class Floor(Unary, name="core.floor"):
    """Rounds each element down to an integer."""

    fn = "floor"


class Ceil(Unary, name="core.ceil"):
    """Rounds each element up to an integer."""

    fn = "ceil"


class Round(Unary, name="core.round"):
    """Rounds each element to the nearest integer, ties to even."""

    fn = "round"


class Truncate(Unary, name="core.truncate"):
    """Rounds each element toward zero to an integer."""

    fn = "truncate"


class LogicalNot(Unary, name="core.logical_not"):
    """Elementwise logical not."""

    fn = "logical_not"
    T = element_type(boolean)

    def constant_dims(self) -> tuple[Dim, ...] | None:
        known = known_dims(self.x)
        return None if known is None else tuple([1 - d for d in known])


class BitwiseNot(Unary, name="core.bitwise_not"):
    """Elementwise bitwise not."""

    fn = "bitwise_not"
    T = INTEGERS


class Predicate(CoreOp, traits=(traits.Pure, traits.Elementwise)):
    """A bool of each element."""

    fn: ClassVar[str] = ""
    x: Value = operand("T[s*]")
    y: Value = result("i1[s*]")
    T = FLOATS

    def reference(self, x: Tensor, *, s: Indices) -> Expr:
        return call(self.fn, x[s])


class IsNan(Predicate, name="core.is_nan"):
    """Tests each element for NaN."""

    fn = "is_nan"


class IsInf(Predicate, name="core.is_inf"):
    """Tests each element for an infinity of either sign."""

    fn = "is_inf"


def read_broadcast(*operands: Tensor) -> tuple[list[Access], Indices, dict[Index, Dim], tuple[Constraint, ...]]:
    """Every operand read as numpy broadcasts it, with the axes of the result, their sizes and what must hold."""
    shape, constraints = broadcast_shape(*(t.shape for t in operands), names=[t.name for t in operands])
    at = indices("i", len(shape))
    return [broadcast(t, at) for t in operands], at, dict(zip(at, shape, strict=True)), constraints


class Binary(CoreOp, traits=(traits.Pure, traits.Elementwise, traits.Broadcastable)):
    """A scalar function of two elements, operands broadcast as in numpy."""

    fn: ClassVar[str] = ""
    a: Value = operand("T[*]")
    b: Value = operand("T[*]")
    y: Value = result("T[*]")
    T = NUMBERS

    def scalar_function(self, element: ElementType) -> str:  # noqa: ARG002  (for overrides)
        """The scalar function for an element type."""
        return self.fn

    def reference(self, a: Tensor, b: Tensor) -> Kernel:
        (u, v), at, extents, constraints = read_broadcast(a, b)
        return call(self.scalar_function(a.dtype), u, v).by(*at).where(extents, constraints)

    def constant_dims(self) -> tuple[Dim, ...] | None:
        """Shape arithmetic: the elements of the result where those of the operands are known."""
        arithmetic = _DIM_ARITHMETIC.get(self.fn)
        rows = None if arithmetic is None else broadcast_dims(self.a, self.b)
        if rows is None or arithmetic is None:
            return None
        if (
            self.fn == "divide"
            and not tensor_type(self.a).element.is_integer
            and any(_rest(p, q) != 0 for p, q in rows)
        ):
            return None
        out = [d for d in [arithmetic(p, q) for p, q in rows] if d is not None]
        return tuple(out) if len(out) == len(rows) else None


def broadcast_dims(*operands: Value) -> list[tuple[Dim, ...]] | None:
    """The known elements of scalars and vectors, one of each operand at a time; None when one is not known."""
    if any(not isinstance(v.type, TensorType) or (v.type.rank or 0) > 1 for v in operands):
        return None
    known = [d for d in map(known_dims, operands) if d is not None]
    if len(known) != len(operands):
        return None
    count = 0 if any(not k for k in known) else max(map(len, known))
    if any(len(k) not in (1, count) for k in known):
        return None
    return list(zip(*[k if len(k) == count else k * count for k in known], strict=True))


def _quotient(a: Dim, b: Dim) -> Dim | None:
    return None if b == 0 else floor_div_dims(a, b)


def _rest(a: Dim, b: Dim) -> Dim | None:
    return None if b == 0 else modulo(a, b)


def _exact_quotient(a: Dim, b: Dim) -> Dim | None:
    """Division toward zero, known where it equals floor division: for operands that are not negative."""
    if isinstance(a, int) and isinstance(b, int) and b != 0:
        return -(-a // b) if (a < 0) != (b < 0) else a // b
    if a == b and b != 0:
        return 1
    return floor_div_dims(a, b) if at_least(a, 0) and at_least(b, 1) else None


def _exact_rest(a: Dim, b: Dim) -> Dim | None:
    """Returns the remainder of a division toward zero where it equals that of floor division: for operands that are not
    negative.
    """
    return modulo(a, b) if at_least(a, 0) and at_least(b, 1) else None


def _sum(a: Dim, b: Dim) -> Dim:
    return a + b


def _difference(a: Dim, b: Dim) -> Dim:
    return a - b


def _product(a: Dim, b: Dim) -> Dim:
    return a * b


_DIM_ARITHMETIC: Mapping[str, Callable[[Dim, Dim], Dim | None]] = {
    "add": _sum,
    "subtract": _difference,
    "multiply": _product,
    "divide": _exact_quotient,
    "floor_divide": _quotient,
    "remainder": _rest,
    "truncated_remainder": _exact_rest,
    "maximum": largest,
    "minimum": smallest,
    # Known bools are 1 and 0.
    "logical_and": smallest,
    "logical_or": largest,
    "logical_xor": lambda p, q: int(p != q),
}


class Add(Binary, name="core.add", traits=(traits.Commutative,)):
    """Elementwise sum of two tensors, with broadcasting."""

    fn = "add"


class Sub(Binary, name="core.sub"):
    """Elementwise difference of two tensors, with broadcasting."""

    fn = "subtract"


class Mul(Binary, name="core.mul", traits=(traits.Commutative,)):
    """Elementwise product of two tensors, with broadcasting."""

    fn = "multiply"


class Div(Binary, name="core.div"):
    """Elementwise quotient with broadcasting; of integers, rounded toward zero."""

    fn = "divide"

    def scalar_function(self, element: ElementType) -> str:
        return "truncated_divide" if element.is_integer else "divide"


class FloorDiv(Binary, name="core.floor_div"):
    """Elementwise quotient with broadcasting, rounded down."""

    fn = "floor_divide"
    T = REALS


class Mod(Binary, name="core.mod"):
    """Elementwise remainder of a division rounded down; it has the sign of the divisor."""

    fn = "remainder"
    T = REALS


class Remainder(Binary, name="core.remainder"):
    """Elementwise remainder of a truncating division; it has the sign of the dividend."""

    fn = "truncated_remainder"
    T = REALS


class Pow(Binary, name="core.pow"):
    """Elementwise power: the first to the power of the second."""

    fn = "power"
    T = REALS


class Maximum(Binary, name="core.maximum", traits=(traits.Commutative,)):
    """Elementwise maximum with broadcasting; NaN when either is NaN."""

    fn = "maximum"
    T = REALS


class Minimum(Binary, name="core.minimum", traits=(traits.Commutative,)):
    """Elementwise minimum with broadcasting; NaN when either is NaN."""

    fn = "minimum"
    T = REALS


class LogicalAnd(Binary, name="core.logical_and", traits=(traits.Commutative,)):
    """Elementwise logical and."""

    fn = "logical_and"
    T = element_type(boolean)


class LogicalOr(Binary, name="core.logical_or", traits=(traits.Commutative,)):
    """Elementwise logical or."""

    fn = "logical_or"
    T = element_type(boolean)


class LogicalXor(Binary, name="core.logical_xor", traits=(traits.Commutative,)):
    """Elementwise logical exclusive or."""

    fn = "logical_xor"
    T = element_type(boolean)


class BitwiseAnd(Binary, name="core.bitwise_and", traits=(traits.Commutative,)):
    """Elementwise bitwise and."""

    fn = "bitwise_and"
    T = INTEGERS


class BitwiseOr(Binary, name="core.bitwise_or", traits=(traits.Commutative,)):
    """Elementwise bitwise or."""

    fn = "bitwise_or"
    T = INTEGERS


class BitwiseXor(Binary, name="core.bitwise_xor", traits=(traits.Commutative,)):
    """Elementwise bitwise exclusive or."""

    fn = "bitwise_xor"
    T = INTEGERS


class ShiftLeft(Binary, name="core.shift_left"):
    """Elementwise left shift; zeros are inserted.

    A shift by a negative number, or by the bit width or more, leaves only zeros.
    """

    fn = "shift_left"
    T = INTEGERS


class ShiftRight(Binary, name="core.shift_right"):
    """Elementwise right shift: arithmetic for signed types, logical for unsigned ones.

    A shift by a negative number, or by the bit width or more, leaves only inserted bits.
    """

    fn = "shift_right"
    T = INTEGERS


class Comparison(CoreOp, traits=(traits.Pure, traits.Elementwise, traits.Broadcastable)):
    """A bool of two elements, operands broadcast as in numpy; false if either is NaN, except for `not_equal`."""

    fn: ClassVar[str] = ""
    a: Value = operand("T[*]")
    b: Value = operand("T[*]")
    y: Value = result("i1[*]")
    T = REALS

    def reference(self, a: Tensor, b: Tensor) -> Kernel:
        (u, v), at, extents, constraints = read_broadcast(a, b)
        return call(self.fn, u, v).by(*at).where(extents, constraints)

    def constant_dims(self) -> tuple[Dim, ...] | None:
        """The bools, as 1 and 0, where all of them follow from known elements."""
        rows = broadcast_dims(self.a, self.b)
        answers = None if rows is None else [decide(p, _RELATIONS[self.fn], q) for p, q in rows]
        return None if answers is None or None in answers else tuple([int(a is True) for a in answers])


_RELATIONS: dict[str, Relation] = {
    "equal": "==",
    "not_equal": "!=",
    "less": "<",
    "less_equal": "<=",
    "greater": ">",
    "greater_equal": ">=",
}


class Equal(Comparison, name="core.equal", traits=(traits.Commutative,)):
    """Tests elementwise whether both are equal."""

    fn = "equal"
    T = ELEMENTS


class NotEqual(Comparison, name="core.not_equal", traits=(traits.Commutative,)):
    """Tests elementwise whether both differ; true where either is NaN."""

    fn = "not_equal"
    T = ELEMENTS


class Less(Comparison, name="core.less"):
    """Tests elementwise whether the first is smaller."""

    fn = "less"


class LessEqual(Comparison, name="core.less_equal"):
    """Tests elementwise whether the first is smaller or equal."""

    fn = "less_equal"


class Greater(Comparison, name="core.greater"):
    """Tests elementwise whether the first is larger."""

    fn = "greater"


class GreaterEqual(Comparison, name="core.greater_equal"):
    """Tests elementwise whether the first is larger or equal."""

    fn = "greater_equal"


class Select(CoreOp, name="core.select", traits=(traits.Pure, traits.Elementwise, traits.Broadcastable)):
    """Selects the first value where the condition is true, else the second; all three are broadcast."""

    condition: Value = operand("i1[*]")
    a: Value = operand("T[*]")
    b: Value = operand("T[*]")
    y: Value = result("T[*]")
    T = ELEMENTS

    def reference(self, condition: Tensor, a: Tensor, b: Tensor) -> Kernel:
        (c, u, v), at, extents, constraints = read_broadcast(condition, a, b)
        return choose(c, u, v).by(*at).where(extents, constraints)

    def constant_dims(self) -> tuple[Dim, ...] | None:
        rows = broadcast_dims(self.condition, self.a, self.b)
        return None if rows is None else tuple([p if c else q for c, p, q in rows])


_MOST_CASTS = 8
"""The most casts of a constant one after the other whose result is known."""


class Cast(CoreOp, name="core.cast", traits=(traits.Pure, traits.Elementwise)):
    """Converts each element to another type.

    Float to integer truncates; results for values out of range are unspecified. A bool becomes 0 or 1, and a number
    becomes true when it is not zero.
    """

    x: Value = operand("T[s*]")
    to: ElementType = attribute(attr_types.element)
    y: Value = result("U[s*]")
    T = ANYTHING
    U = ANYTHING

    def reference(self, x: Tensor, *, s: Indices) -> Expr:
        return cast_element(x[s], self.to)

    def constant_dims(self) -> tuple[Dim, ...] | None:
        known = known_dims(self.x)
        if known is None or not (self.to.is_integer or self.to in (f32, f64)):
            return None
        low, high = limits(self.to)
        return known if all(low <= d <= high for d in known if isinstance(d, int)) else None

    def constant_data(self) -> Data | None:
        """Weights kept in another floating-point type."""
        casts: list[Cast] = [self]
        while isinstance(inner := casts[-1].x.owner, Cast):
            if len(casts) == _MOST_CASTS:
                return None
            casts.append(inner)
        data = known_data(casts[-1].x)
        for cast in reversed(casts):
            data = None if data is None else cast._cast_data(data)
        return data

    def _cast_data(self, source: Data) -> Data | None:
        if not (source.element.is_float and self.to.is_float):
            return None
        type = source.type.with_element(self.to)
        return DeferredData(type, lambda: _converted(source, type))

    def fold(self) -> Value | None:
        return self.x if self.x.type is self.y.type else None


def _converted(data: Data, type: TensorType) -> Data:
    from commonir.base.arrays import converted  # noqa: PLC0415  loads numpy

    return ArrayData(type, converted(data.array(), type.element.name))


neg = function(Neg)
abs = function(Abs)
sign = function(Sign)
exp = function(Exp)
exp2 = function(Exp2)
log = function(Log)
sqrt = function(Sqrt)
sin = function(Sin)
cos = function(Cos)
tan = function(Tan)
asin = function(Asin)
acos = function(Acos)
atan = function(Atan)
sinh = function(Sinh)
cosh = function(Cosh)
tanh = function(Tanh)
asinh = function(Asinh)
acosh = function(Acosh)
atanh = function(Atanh)
erf = function(Erf)
floor = function(Floor)
ceil = function(Ceil)
round = function(Round)
truncate = function(Truncate)
logical_not = function(LogicalNot)
bitwise_not = function(BitwiseNot)
is_nan = function(IsNan)
is_inf = function(IsInf)
add = function(Add)
sub = function(Sub)
mul = function(Mul)
div = function(Div)
floor_div = function(FloorDiv)
mod = function(Mod)
remainder = function(Remainder)
pow = function(Pow)
maximum = function(Maximum)
minimum = function(Minimum)
logical_and = function(LogicalAnd)
logical_or = function(LogicalOr)
logical_xor = function(LogicalXor)
bitwise_and = function(BitwiseAnd)
bitwise_or = function(BitwiseOr)
bitwise_xor = function(BitwiseXor)
shift_left = function(ShiftLeft)
shift_right = function(ShiftRight)
equal = function(Equal)
not_equal = function(NotEqual)
less = function(Less)
less_equal = function(LessEqual)
greater = function(Greater)
greater_equal = function(GreaterEqual)
select = function(Select)
cast = function(Cast)


def widened(x: Value) -> Value:
    """Half precision as single precision, for what is to be rounded only once; other values as they are."""
    element = tensor_type(x).element
    wide = accumulator(element)
    return x if wide is element else cast(x, wide)


def narrowed(y: Value, like: Value) -> Value:
    """The value rounded to the element type of another one."""
    element = tensor_type(like).element
    return y if tensor_type(y).element is element else cast(y, element)
