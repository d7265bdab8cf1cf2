"""The scalar functions and folds of index notation as instructions, on scalars or on vectors.

Semantics are those of `notation/functions.py`. Where these leave a value unspecified, the code is still safe: a
division by zero gives zero, and a conversion to an integer ends at its limits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import inf, nan
from types import MappingProxyType

from commonir.base.tuples import NamedTuple
from commonir.ir.types import ElementType
from commonir.llvm.elementary import ELEMENTARY
from commonir.llvm.llvm_ir import F32, Function, LlvmType, LlvmValue
from commonir.notation import identity


class NotCompiled(Exception):
    """The kernel has something that generated code cannot compute."""


def register_type(element: ElementType) -> str:
    """Returns the LLVM type in which an element type is computed. Raises: NotCompiled."""
    match element.kind:
        case "bool":
            return "i1"
        case "int" | "uint":
            return f"i{max(8, element.bits)}"
        case "float" if element.bits == 64:
            return "double"
        case "float":
            return "float"
        case _:
            raise NotCompiled(f"elements of type {element}")


class Operands(NamedTuple):
    """The operands of a scalar function: vectors, or scalars, of one LLVM type; and the element type."""

    function: Function
    element: ElementType
    values: tuple[LlvmValue, ...]

    @property
    def is_signed(self) -> bool:
        """Whether the element type is a signed integer."""
        return self.element.kind == "int"


Emit = Callable[[Operands], LlvmValue]


def applied(f: Function, name: str, element: ElementType, values: tuple[LlvmValue, ...]) -> LlvmValue:
    """Returns a scalar function of values; `element` is the type of its operands. Raises: NotCompiled."""
    lanes = max(v.type.lanes for v in values)
    emit = _FUNCTIONS.get(name)
    if emit is None:
        raise NotCompiled(f"the function {name}")
    return emit(Operands(f, element, tuple([f.splat(v, lanes) for v in values])))


def combined(f: Function, fold: str, element: ElementType, a: LlvmValue, b: LlvmValue) -> LlvmValue:
    """Returns two values of a fold combined."""
    return applied(f, fold, element, (a, b))


def combined_all(f: Function, fold: str, element: ElementType, values: Iterable[LlvmValue]) -> LlvmValue | None:
    """Returns the values of a fold combined, None if there are none.

    Whether numbers of which the largest or smallest is taken are NaN is found for two at once, apart from the rest.
    """
    result: LlvmValue | None = None
    before: LlvmValue | None = None
    numbers: LlvmValue | None = None
    is_extreme = fold in ("maximum", "minimum") and element.kind == "float"
    for x in values:
        if result is None:
            result = before = x
            continue
        if not is_extreme:
            result = combined(f, fold, element, result, x)
            continue
        known, y = f.paired(result, x)
        result = f.select(known.compare("olt" if fold == "maximum" else "ogt", y), y, known)
        if before is None:
            before = x
            continue
        are_numbers = before.compare("ord", x)
        numbers = are_numbers if numbers is None else numbers & are_numbers
        before = None
    if not is_extreme or result is before:
        return result
    if before is not None:
        is_number = before.compare("ord", before)
        numbers = is_number if numbers is None else numbers & is_number
    assert result is not None
    assert numbers is not None
    return f.select(numbers, result, f.constant(result.type, nan))


def start_of(f: Function, fold: str, element: ElementType, type: LlvmType) -> LlvmValue:
    """Returns the identity of a fold."""
    value = identity(fold, element)
    assert not isinstance(value, complex)
    return f.constant(type, value)


def reduced_lanes(f: Function, fold: str, element: ElementType, x: LlvmValue) -> LlvmValue:
    """Returns the lanes of a vector combined, halves first."""
    while x.type.lanes > 2:
        half = x.type.lanes // 2
        x = combined(f, fold, element, f.shuffled(x, range(half)), f.shuffled(x, range(half, 2 * half)))
    return x if x.type.lanes == 1 else combined(f, fold, element, f.lane(x, 0), f.lane(x, 1))


# -- conversions


SHORT_BITS = 16
"""The bits of integers that 32 bits are converted to."""


def converted(f: Function, x: LlvmValue, source: ElementType, to: ElementType) -> LlvmValue:
    """Returns values of one element type converted to another, both as they are in registers. Raises: NotCompiled."""
    target = register_type(to)
    if to.kind == "bool":
        if source.kind == "bool":
            return x
        return x.compare("une" if x.type.is_float else "ne", 0)
    if x.type.scalar == target and source.kind != "bool":
        return x
    is_unsigned = source.kind in ("uint", "bool")
    match x.type.is_float, to.kind == "float":
        case True, True:
            return f.cast("fpext" if x.type.bits < LlvmType(target).bits else "fptrunc", x, target)
        case True, False if LlvmType(target).bits <= SHORT_BITS:
            return _short_integer(f, x, target, to)
        case True, False:
            sign = "s" if to.kind == "int" else "u"
            type = x.type.of(target)
            return f.called(f"llvm.fpto{sign}i.sat.{type.mangled}.{x.type.mangled}", type, x)
        case False, True:
            return f.cast("uitofp" if is_unsigned else "sitofp", x, target)
        case _:
            bits = LlvmType(target).bits
            op = "trunc" if bits < x.type.bits else "zext" if is_unsigned else "sext"
            return f.cast(op, x, target)


def _short_integer(f: Function, x: LlvmValue, target: str, to: ElementType) -> LlvmValue:
    """Returns floating-point numbers as the nearest integers of few bits towards 0, NaN as 0. LLVM would convert lanes
    one by one.
    """
    low, high = to.integer_limits
    least, most = f.constant(x.type, low), f.constant(x.type, high)
    # Of NaN the comparison fails.
    limited = f.select(x.compare("ogt", least), x, least)
    limited = f.select(limited.compare("olt", most), limited, most)
    if low:
        limited = f.select(x.compare("uno", 0.0), f.constant(x.type, 0.0), limited)
    return f.cast("trunc", f.cast("fptosi", limited, "i32"), target)


def quantized(f: Function, x: LlvmValue, shift: int, to: ElementType) -> LlvmValue:
    """Returns single precision rounded to the nearest integers, ties to even, plus a number, at most as far as a type
    of few bits reaches; NaN as 0. It is limited before it is rounded, by integers, which gives the same.
    """
    low, high = [f.constant(x.type, limit - shift) for limit in to.integer_limits]
    # Of NaN the comparison fails.
    limited = f.select(x.compare("ogt", low), x, low)
    limited = f.select(limited.compare("olt", high), limited, high)
    if to.integer_limits[0]:
        limited = f.select(x.compare("uno", 0.0), f.constant(x.type, -shift), limited)
    type = x.type.of("i32")
    nearest = f.called(f"llvm.lrint.{type.mangled}.{x.type.mangled}", type, limited)
    return f.cast("trunc", nearest + shift, register_type(to))


# -- functions


def _floating(op: str) -> Emit:
    return lambda o: o.function.intrinsic(op, *o.values)


def _elementary(name: str, library: str | None = None) -> Emit:
    """Returns a function that has code of ours in single precision, and is one of the C library elsewhere."""

    def emit(o: Operands) -> LlvmValue:
        (x,) = o.values
        if name in ELEMENTARY and x.type.scalar == F32.scalar:
            return ELEMENTARY[name](o.function, x)
        if library is None:
            return o.function.intrinsic(name, x)
        return _by_lanes(o.function, library, x)

    return emit


def _by_lanes(f: Function, name: str, x: LlvmValue) -> LlvmValue:
    """Returns a function of the C library of each lane."""
    scalar = LlvmType(x.type.scalar)
    full = f"{name}f" if scalar == F32 else name
    return f.from_lanes([f.called(full, scalar, f.lane(x, n)) for n in range(x.type.lanes)])


def _extreme(larger: bool) -> Emit:
    def emit(o: Operands) -> LlvmValue:
        f, (x, y) = o.function, o.values
        if not x.type.is_float:
            sign = "s" if o.is_signed else "u"
            return f.intrinsic(f"{sign}{'max' if larger else 'min'}", x, y)
        # NaN where either is: the second comparison is also true if `y` is NaN, the first selects `x` if it is.
        keeps_y = x.compare("olt" if larger else "ogt", y)
        chosen = f.select(keeps_y, y, x)
        return f.select(y.compare("uno", y), y, chosen)

    return emit


def _sign(o: Operands) -> LlvmValue:
    """Zeros, with their sign, and NaN stay."""
    f, (x,) = o.function, o.values
    ordered = "o" if x.type.is_float else "s"
    negative = f.select(x.compare(f"{ordered}lt", 0), f.constant(x.type, -1), x)
    return f.select(x.compare(f"{ordered}gt", 0), f.constant(x.type, 1), negative)


def _absolute(o: Operands) -> LlvmValue:
    (x,) = o.values
    return o.function.intrinsic("fabs", x) if x.type.is_float else o.function.intrinsic("smax", x, -x)


def _comparison(name: str) -> Emit:
    def emit(o: Operands) -> LlvmValue:
        x, y = o.values
        if x.type.is_float:
            return x.compare(("u" if name == "ne" else "o") + name, y)
        if name in ("eq", "ne"):
            return x.compare(name, y)
        return x.compare(("s" if o.is_signed else "u") + name, y)

    return emit


def _nonzero_divisor(o: Operands) -> tuple[LlvmValue, LlvmValue, LlvmValue]:
    """Returns the dividend, a divisor that never faults, and where the quotient is replaced by zero.

    The processor also faults where the quotient of the smallest number and -1 overflows; there the dividend is
    negated instead, by dividing by 1.
    """
    f, (x, y) = o.function, o.values
    is_zero = y.compare("eq", 0)
    safe = f.select(is_zero, f.constant(y.type, 1), y)
    if o.is_signed:
        is_minus_one = y.compare("eq", -1)
        x = f.select(is_minus_one, -x, x)
        safe = f.select(is_minus_one, f.constant(y.type, 1), safe)
    return x, safe, is_zero


def _truncated_divide(o: Operands) -> LlvmValue:
    f = o.function
    x, y, is_zero = _nonzero_divisor(o)
    op = "sdiv" if o.is_signed else "udiv"
    return f.select(is_zero, f.constant(x.type, 0), f.binary(op, op, x, y))


def _truncated_remainder(o: Operands) -> LlvmValue:
    f = o.function
    if o.values[0].type.is_float:
        return f.binary("frem", "frem", *o.values)
    x, y, is_zero = _nonzero_divisor(o)
    op = "srem" if o.is_signed else "urem"
    return f.select(is_zero, f.constant(x.type, 0), f.binary(op, op, x, y))


def _remainder(o: Operands) -> LlvmValue:
    """The sign is that of the divisor: where that of the truncated remainder differs, one more divisor is added."""
    f, (_, y) = o.function, o.values
    r = _truncated_remainder(o)
    if not o.is_signed and not r.type.is_float:
        return r
    if r.type.is_float:
        differs = r.compare("olt", 0.0) ^ y.compare("olt", 0.0)
        moved = f.select(differs & r.compare("une", 0.0), r + y, r)
        return f.select(r.compare("oeq", 0.0), f.called(f"llvm.copysign.{r.type.mangled}", r.type, r, y), moved)
    differs = (r ^ y).compare("slt", 0) & r.compare("ne", 0)
    return f.select(differs, r + y, r)


def _floor_divide(o: Operands) -> LlvmValue:
    f, (x, y) = o.function, o.values
    if x.type.is_float:
        return _floor_divided(o)
    q = _truncated_divide(o)
    if not o.is_signed:
        return q
    r = _truncated_remainder(o)
    differs = (r ^ y).compare("slt", 0) & r.compare("ne", 0)
    return q - f.cast("zext", differs, q.type.scalar)


def _floor_divided(o: Operands) -> LlvmValue:
    """The quotient without the truncated remainder is an integer but for rounding; by zero it is the quotient."""
    f, (x, y) = o.function, o.values
    r = _truncated_remainder(o)
    quotient = (x - r) / y
    differs = (r.compare("olt", 0.0) ^ y.compare("olt", 0.0)) & r.compare("une", 0.0)
    quotient = f.select(differs, quotient - 1.0, quotient)
    nearest = f.intrinsic("floor", quotient)
    nearest = f.select((quotient - nearest).compare("ogt", 0.5), nearest + 1.0, nearest)
    signed_zero = f.called(f"llvm.copysign.{r.type.mangled}", r.type, f.constant(r.type, 0.0), x / y)
    nearest = f.select(quotient.compare("oeq", 0.0), signed_zero, nearest)
    return f.select(y.compare("oeq", 0.0), x / y, nearest)


def _shift(left: bool) -> Emit:
    def emit(o: Operands) -> LlvmValue:
        f, (x, y) = o.function, o.values
        bits = x.type.bits
        is_inside = y.compare("ult", bits)
        safe = f.select(is_inside, y, f.constant(y.type, bits - 1))
        if left:
            return f.select(is_inside, x.shift_left(safe), f.constant(x.type, 0))
        if o.is_signed:
            return x.shift_right(safe, is_signed=True)
        return f.select(is_inside, x.shift_right(safe, is_signed=False), f.constant(x.type, 0))

    return emit


def _power(o: Operands) -> LlvmValue:
    f, (x, y) = o.function, o.values
    if x.type.is_float:
        exponent = _constant_exponent(f, y)
        if exponent is not None:
            return {2.0: lambda: x * x, 3.0: lambda: x * x * x, 1.0: lambda: x}[exponent]()
        return f.intrinsic("pow", x, y)
    return _integer_power(o)


def _constant_exponent(f: Function, y: LlvmValue) -> float | None:
    return next((n for n in (1.0, 2.0, 3.0) if f.constant(y.type, n).text == y.text), None)


def _integer_power(o: Operands) -> LlvmValue:
    """Squares and multiplies once for each bit of the exponent; negative ones count as zero."""
    f, (x, y) = o.function, o.values
    if o.is_signed:
        y = f.intrinsic("smax", y, f.constant(y.type, 0))
    result = f.variable(x.type, 1)
    base, left = f.variable(x.type, x), f.variable(y.type, y)
    with f.loop(f.integer(0), f.integer(y.type.bits)):
        is_odd = (left.get() & 1).compare("ne", 0)
        result.set(f.select(is_odd, result.get() * base.get(), result.get()))
        base.set(base.get() * base.get())
        left.set(left.get().shift_right(1, is_signed=False))
    return result.get()


_FUNCTIONS: Mapping[str, Emit] = MappingProxyType(
    {
        "add": lambda o: o.values[0] + o.values[1],
        "subtract": lambda o: o.values[0] - o.values[1],
        "multiply": lambda o: o.values[0] * o.values[1],
        "divide": lambda o: o.values[0] / o.values[1],
        "floor_divide": _floor_divide,
        "truncated_divide": _truncated_divide,
        "remainder": _remainder,
        "truncated_remainder": _truncated_remainder,
        "power": _power,
        "maximum": _extreme(larger=True),
        "minimum": _extreme(larger=False),
        "negative": lambda o: -o.values[0],
        "absolute": _absolute,
        "sign": _sign,
        "exp": _elementary("exp"),
        "exp2": _elementary("exp2"),
        "log": _elementary("log"),
        "sqrt": _floating("sqrt"),
        "sin": _elementary("sin"),
        "cos": _elementary("cos"),
        "tan": _elementary("tan"),
        "asin": _elementary("asin"),
        "acos": _elementary("acos"),
        "atan": _elementary("atan"),
        "sinh": _elementary("sinh"),
        "cosh": _elementary("cosh"),
        "tanh": _elementary("tanh"),
        "asinh": _elementary("asinh", "asinh"),
        "acosh": _elementary("acosh", "acosh"),
        "atanh": _elementary("atanh", "atanh"),
        "erf": _elementary("erf", "erf"),
        "floor": _floating("floor"),
        "ceil": _floating("ceil"),
        "round": _floating("roundeven"),
        "truncate": _floating("trunc"),
        "is_nan": lambda o: o.values[0].compare("uno", o.values[0]),
        "is_inf": lambda o: o.function.intrinsic("fabs", o.values[0]).compare("oeq", inf),
        "logical_and": lambda o: o.values[0] & o.values[1],
        "logical_or": lambda o: o.values[0] | o.values[1],
        "logical_xor": lambda o: o.values[0] ^ o.values[1],
        "logical_not": lambda o: o.values[0] ^ True,
        "bitwise_and": lambda o: o.values[0] & o.values[1],
        "bitwise_or": lambda o: o.values[0] | o.values[1],
        "bitwise_xor": lambda o: o.values[0] ^ o.values[1],
        "bitwise_not": lambda o: o.values[0] ^ -1,
        "shift_left": _shift(left=True),
        "shift_right": _shift(left=False),
        "less": _comparison("lt"),
        "less_equal": _comparison("le"),
        "equal": _comparison("eq"),
        "not_equal": _comparison("ne"),
        "greater": _comparison("gt"),
        "greater_equal": _comparison("ge"),
        "select": lambda o: o.function.select(*o.values),
    }
)
"""Every function of `notation.FUNCTIONS`."""
