"""Scalar functions of index notation as operations of arith, math and complex.

Integers state no sign there: what the element type of the core says is in the operation. Operations follow the numeric
rules of `notation/functions.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from commonir.conversions.operands import refused
from commonir.conversions.to_mlir.dims import index_constant
from commonir.conversions.to_mlir.finish import signless
from commonir.dialects.mlir import arith, math
from commonir.dialects.mlir import complex as complex_
from commonir.dialects.mlir.arith import CmpFPredicate, CmpIPredicate
from commonir.ir.attributes import ArrayAttr, BoolAttr, FloatAttr, IntegerAttr
from commonir.ir.operation import Block, Value
from commonir.ir.types import ComplexType, ElementType, boolean, f32, i64, index
from commonir.notation.functions import Number, number_key
from commonir.ods import Op
from commonir.rewrite.legalize import Context

Binary = Callable[[Value, Value], Op]
Unary = Callable[[Value], Op]


def scalar_constant(context: Context, value: Number, element: ElementType) -> Value:
    """A number as a value, the same one for all of a function."""
    key = ("scalar", number_key(value), element)
    if key not in context.memo:
        context.memo[key] = context.hoist(_constant(value, signless(element)))
    return context.memo[key]


def _constant(value: Number, element: ElementType) -> Op:
    if element is boolean:
        return arith.Constant(BoolAttr(bool(value)))
    if isinstance(element, ComplexType):
        number = value + 0j
        parts = (FloatAttr(number.real, element.part), FloatAttr(number.imag, element.part))
        return complex_.Constant.build({"value": ArrayAttr(parts)}, [element])
    if isinstance(value, complex):
        raise refused(f"{value} is not a value of {element}")
    if element.is_float:
        return arith.Constant(FloatAttr(float(value), element))
    whole = int(value)
    # Without a sign, the upper half of the numbers are those below zero.
    return arith.Constant(
        IntegerAttr(whole - (1 << element.bits) if whole >> (element.bits - 1) > 0 else whole, element)
    )


_FLOAT_BINARY: Mapping[str, Binary] = {
    "add": arith.AddF,
    "subtract": arith.SubF,
    "multiply": arith.MulF,
    "divide": arith.DivF,
    "truncated_remainder": arith.RemF,
    "power": math.PowF,
    "maximum": arith.MaximumF,
    "minimum": arith.MinimumF,
}
_SIGNED_BINARY: Mapping[str, Binary] = {
    "add": arith.AddI,
    "subtract": arith.SubI,
    "multiply": arith.MulI,
    "floor_divide": arith.FloorDivSI,
    "truncated_divide": arith.DivSI,
    "truncated_remainder": arith.RemSI,
    "power": math.IPowI,
    "maximum": arith.MaxSI,
    "minimum": arith.MinSI,
    "bitwise_and": arith.AndI,
    "bitwise_or": arith.OrI,
    "bitwise_xor": arith.XOrI,
}
_UNSIGNED_BINARY: Mapping[str, Binary] = {
    **_SIGNED_BINARY,
    "floor_divide": arith.DivUI,
    "truncated_divide": arith.DivUI,
    "truncated_remainder": arith.RemUI,
    "remainder": arith.RemUI,
    "maximum": arith.MaxUI,
    "minimum": arith.MinUI,
}
_TRUTH_BINARY: Mapping[str, Binary] = {"logical_and": arith.AndI, "logical_or": arith.OrI, "logical_xor": arith.XOrI}
_COMPLEX_BINARY: Mapping[str, Binary] = {
    "add": complex_.Add,
    "subtract": complex_.Sub,
    "multiply": complex_.Mul,
    "divide": complex_.Div,
    "equal": complex_.Equal,
    "not_equal": complex_.NotEqual,
}
_BINARY: Mapping[str, Mapping[str, Binary]] = {
    "float": _FLOAT_BINARY,
    "int": _SIGNED_BINARY,
    "uint": _UNSIGNED_BINARY,
    "bool": _TRUTH_BINARY,
    "complex": _COMPLEX_BINARY,
}

_FLOAT_UNARY: Mapping[str, Unary] = {
    "negative": arith.NegF,
    "absolute": math.AbsF,
    "exp": math.Exp,
    "exp2": math.Exp2,
    "log": math.Log,
    "sqrt": math.Sqrt,
    "sin": math.Sin,
    "cos": math.Cos,
    "tan": math.Tan,
    "asin": math.Asin,
    "acos": math.Acos,
    "atan": math.Atan,
    "sinh": math.Sinh,
    "cosh": math.Cosh,
    "tanh": math.Tanh,
    "asinh": math.Asinh,
    "acosh": math.Acosh,
    "atanh": math.Atanh,
    "erf": math.Erf,
    "floor": math.Floor,
    "ceil": math.Ceil,
    "round": math.RoundEven,
    "truncate": math.Trunc,
}
_FLOAT_COMPARISONS: Mapping[str, CmpFPredicate] = {
    "less": CmpFPredicate.OLT,
    "less_equal": CmpFPredicate.OLE,
    "greater": CmpFPredicate.OGT,
    "greater_equal": CmpFPredicate.OGE,
    "equal": CmpFPredicate.OEQ,
    "not_equal": CmpFPredicate.UNE,
}
_SIGNED_COMPARISONS: Mapping[str, CmpIPredicate] = {
    "less": CmpIPredicate.SLT,
    "less_equal": CmpIPredicate.SLE,
    "greater": CmpIPredicate.SGT,
    "greater_equal": CmpIPredicate.SGE,
    "equal": CmpIPredicate.EQ,
    "not_equal": CmpIPredicate.NE,
}
_UNSIGNED_COMPARISONS: Mapping[str, CmpIPredicate] = {
    **_SIGNED_COMPARISONS,
    "less": CmpIPredicate.ULT,
    "less_equal": CmpIPredicate.ULE,
    "greater": CmpIPredicate.UGT,
    "greater_equal": CmpIPredicate.UGE,
}
_COMPARISONS: Mapping[str, Mapping[str, CmpIPredicate]] = {
    "int": _SIGNED_COMPARISONS,
    "uint": _UNSIGNED_COMPARISONS,
    "bool": {"equal": CmpIPredicate.EQ, "not_equal": CmpIPredicate.NE},
}


class Scalars:
    """Appends operations on scalars to a block."""

    def __init__(self, context: Context, block: Block) -> None:
        self.context = context
        self.block = block

    def make(self, op: Op) -> Value:
        """Appends an operation and gives its result."""
        return self.block.append(op).results[0]

    def constant(self, value: Number, element: ElementType) -> Value:
        """A number."""
        return scalar_constant(self.context, value, element)

    def apply(self, fn: str, args: Sequence[Value], element: ElementType) -> Value:
        """A scalar function of operands of an element type.

        Raises: DiagnosticError (E0601) for one that arith and math do not have.
        """
        match fn, args:
            case "select", (condition, a, b):
                return self.make(arith.Select(condition, a, b))
            case _, (x,):
                return self._unary(fn, x, element)
            case _, (a, b):
                return self._binary(fn, a, b, element)
            case _:
                raise refused(f"no operation of arith or math is '{fn}'")

    def _unary(self, fn: str, x: Value, element: ElementType) -> Value:
        if element.is_float and fn in _FLOAT_UNARY:
            return self.make(_FLOAT_UNARY[fn](x))
        zero = None if element.kind == "complex" else self.constant(False if element is boolean else 0, element)
        match fn:
            case "is_nan":
                return self.make(arith.CmpF(predicate=CmpFPredicate.UNO, lhs=x, rhs=x))
            case "is_inf":
                magnitude = self.make(math.AbsF(x))
                limit = self.constant(float("inf"), element)
                return self.make(arith.CmpF(predicate=CmpFPredicate.OEQ, lhs=magnitude, rhs=limit))
            case "logical_not":
                return self.make(arith.XOrI(x, self.constant(True, boolean)))
            case "bitwise_not":
                return self.make(arith.XOrI(x, self.constant(-1, signless(element))))
            case "negative" if zero is None:
                return self.make(complex_.Neg(x))
            case "negative" if zero is not None:
                return self.make(arith.SubI(zero, x))
            case "absolute" if zero is not None:
                return self.make(math.AbsI(x))
            case "sign" if zero is not None:
                return self._sign(x, zero, element)
            case _:
                raise refused(f"no operation of arith or math is '{fn}' of {element}")

    def _sign(self, x: Value, zero: Value, element: ElementType) -> Value:
        below = self.make(arith.Select(self._binary("less", x, zero, element), self.constant(-1, element), x))
        return self.make(arith.Select(self._binary("greater", x, zero, element), self.constant(1, element), below))

    def _binary(self, fn: str, a: Value, b: Value, element: ElementType) -> Value:
        known = _BINARY.get(element.kind, {}).get(fn)
        if known is not None:
            return self.make(known(a, b))
        if element.is_float and fn in _FLOAT_COMPARISONS:
            return self.make(arith.CmpF(predicate=_FLOAT_COMPARISONS[fn], lhs=a, rhs=b))
        predicate = _COMPARISONS.get(element.kind, {}).get(fn)
        if predicate is not None:
            return self.make(arith.CmpI(predicate=predicate, lhs=a, rhs=b))
        match fn:
            case "floor_divide":
                return self.make(math.Floor(self.make(arith.DivF(a, b))))
            case "remainder":
                return self._remainder(a, b, element)
            case "shift_left" | "shift_right":
                return self._shift(fn, a, b, element)
            case _:
                raise refused(f"no operation of arith or math is '{fn}' of {element}")

    def _remainder(self, a: Value, b: Value, element: ElementType) -> Value:
        """The remainder that has the sign of the dividend, and the divisor added where signs differ."""
        zero = self.constant(0, element)
        rest = self._binary("truncated_remainder", a, b, element)
        is_other = self.make(
            arith.XOrI(self._binary("less", rest, zero, element), self._binary("less", b, zero, element))
        )
        is_rest = self._binary("not_equal", rest, zero, element)
        moved = self._binary("add", rest, b, element)
        return self.make(arith.Select(self.make(arith.AndI(is_other, is_rest)), moved, rest))

    def _shift(self, fn: str, a: Value, b: Value, element: ElementType) -> Value:
        """A shift; by as much as the width or by a negative amount only zeros, or copies of the sign, are left."""
        plain = signless(element)
        width = self.constant(element.bits, plain)
        is_inside = self.make(arith.CmpI(predicate=CmpIPredicate.ULT, lhs=b, rhs=width))
        if fn == "shift_right" and element.kind == "int":
            return self.make(arith.ShRSI(a, self.make(arith.MinUI(b, self.constant(element.bits - 1, plain)))))
        shifted = self.make((arith.ShLI if fn == "shift_left" else arith.ShRUI)(a, b))
        return self.make(arith.Select(is_inside, shifted, self.constant(0, plain)))

    def cast(self, x: Value, source: ElementType, target: ElementType) -> Value:
        """A number of one element type of the core as one of another.

        Raises: DiagnosticError (E0601) for types between which arith does not convert.
        """
        if source is target:
            return x
        if target is boolean:
            return self._binary("not_equal", x, self.constant(0, source), source)
        if isinstance(target, ComplexType):
            return self._complex(x, source, target)
        if source.is_float and target.is_float:
            return self._refloat(x, source, target)
        to = signless(target)
        sign = source.kind == "int"
        if source.is_float:
            return self._convert(arith.FPToSI if target.kind == "int" else arith.FPToUI, x, to)
        if target.is_float:
            return self._convert(arith.SIToFP if sign else arith.UIToFP, x, to)
        width = source.width
        if width == target.bits:
            return x
        if width < target.bits:
            return self._convert(arith.ExtSI if sign else arith.ExtUI, x, to)
        return self._convert(arith.TruncI, x, to)

    def _convert(self, definition: type[Op], x: Value, to: ElementType) -> Value:
        return self.make(definition.build({"in_": x}, [to]))

    def _refloat(self, x: Value, source: ElementType, target: ElementType) -> Value:
        if source.bits == target.bits:
            x, source = self._convert(arith.ExtF, x, f32), f32
        return self._convert(arith.ExtF if source.bits < target.bits else arith.TruncF, x, target)

    def _complex(self, x: Value, source: ElementType, target: ComplexType) -> Value:
        if isinstance(source, ComplexType):
            parts = [self.make(complex_.Re(x)), self.make(complex_.Im(x))]
            real, imaginary = [self.cast(p, source.part, target.part) for p in parts]
        else:
            real, imaginary = self.cast(x, source, target.part), self.constant(0.0, target.part)
        return self.make(complex_.Create.build({"real": real, "imaginary": imaginary}, [target]))

    def of_index(self, x: Value, element: ElementType) -> Value:
        """A position as a number."""
        if element.is_float or isinstance(element, ComplexType):
            return self.cast(self._convert(arith.IndexCast, x, i64), i64, element)
        return self._convert(arith.IndexCast, x, signless(element))

    def to_index(self, x: Value, element: ElementType) -> Value:
        """An integer as a position."""
        return self._convert(arith.IndexCast if element.kind == "int" else arith.IndexCastUI, x, index)

    def index_constant(self, number: int) -> Value:
        """A position that is known."""
        return index_constant(self.context, number)
