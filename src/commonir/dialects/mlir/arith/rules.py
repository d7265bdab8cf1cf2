"""Simpler forms of operations of the arith dialect.

A result that applies an operation to constants is computed where it is made.
Source: MLIR arith dialect, folders and canonicalization patterns.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from commonir.dialects.mlir.arith.base import bits_of, is_number
from commonir.dialects.mlir.arith.comparison import CmpF, CmpFPredicate, CmpI, CmpIPredicate, Select
from commonir.dialects.mlir.arith.constants import Constant
from commonir.dialects.mlir.arith.conversions import (
    Bitcast,
    ExtF,
    ExtSI,
    ExtUI,
    IndexCast,
    IndexCastUI,
    SIToFP,
    TruncF,
    TruncI,
    UIToFP,
)
from commonir.dialects.mlir.arith.float_comparisons import integer_comparison
from commonir.dialects.mlir.arith.floats import DivF, MulF, NegF
from commonir.dialects.mlir.arith.integers import (
    AddI,
    AddUIExtended,
    AndI,
    DivSI,
    DivUI,
    MulI,
    MulSIExtended,
    MulUIExtended,
    OrI,
    RemSI,
    RemUI,
    SubI,
    XOrI,
)
from commonir.dialects.mlir.number_attributes import Overflow
from commonir.dialects.mlir.number_rules import ALL_ONES, NAN, ONE, ZERO, constant, filled, filled_like, splat_of
from commonir.ir.operation import Value
from commonir.ir.types import boolean, index
from commonir.ods import Op
from commonir.ods.rules import Editor, Rules
from commonir.ods.terms import Rewrite, Variable, computed, term, variables
from commonir.ods.type_constraints import AnySignlessIntegerOrIndex
from commonir.ods.type_rules import element_of

x, y, z, a, b, c, d = variables("x y z a b c d")
f, g, p = variables("f g p")
_C, _D = constant("c"), constant("d")
# Constants of tensors are not put together, as in MLIR.
_N = x.of(AnySignlessIntegerOrIndex)
_ZERO_LIKE_X = filled_like(Constant, "x", 0)


def _both(first: Overflow, second: Overflow) -> Overflow:
    return first & second


def _fits_signed(flags: Overflow) -> bool:
    return Overflow.NSW in flags


def _fits_unsigned(flags: Overflow) -> bool:
    return Overflow.NUW in flags


_FLAGS = computed(_both, f, g)


# -- sums and products

_SUMS: tuple[Rewrite, ...] = (
    term(AddI, term(SubI, x, y), y).either_way() >> x,
    term(SubI, x, x) >> _ZERO_LIKE_X,
    term(SubI, term(AddI, x, y), y) >> x,
    term(SubI, term(AddI, x, y), x) >> y,
    term(SubI, term(SubI, x, y), x) >> term(SubI, _ZERO_LIKE_X, y),
    term(AddI, term(AddI, _N, _C, f), _D, g) >> term(AddI, x, term(AddI, c, d), _FLAGS),
    term(AddI, term(SubI, _N, _C, f), _D, g) >> term(AddI, x, term(SubI, d, c), _FLAGS),
    term(AddI, term(SubI, _C, _N, f), _D, g) >> term(SubI, term(AddI, c, d), x, _FLAGS),
    term(SubI, term(AddI, _N, _C, f), _D, g) >> term(AddI, x, term(SubI, c, d), _FLAGS),
    term(SubI, _D, term(AddI, _N, _C, f), g) >> term(SubI, term(SubI, d, c), x, _FLAGS),
    term(SubI, term(SubI, _N, _C, f), _D, g) >> term(SubI, x, term(AddI, c, d), _FLAGS),
    term(SubI, term(SubI, _C, _N, f), _D, g) >> term(SubI, term(SubI, c, d), x, _FLAGS),
    term(SubI, _D, term(SubI, _N, _C, f), g) >> term(SubI, term(AddI, c, d), x, _FLAGS),
    term(SubI, _D, term(SubI, _C, _N, f), g) >> term(AddI, x, term(SubI, d, c), _FLAGS),
    term(AddI, x, term(MulI, y, ALL_ONES)) >> term(SubI, x, y),
    term(AddI, term(MulI, x, ALL_ONES), y) >> term(SubI, y, x),
    term(MulI, term(MulI, _N, _C, f), _D, g) >> term(MulI, x, term(MulI, c, d), _FLAGS),
    term(RemSI, x, ONE) >> _ZERO_LIKE_X,
    term(RemUI, x, ONE) >> _ZERO_LIKE_X,
    (term(DivSI, term(MulI, x, y, f), y) >> x).where("the product is exact", _fits_signed, f),
    (term(DivSI, term(MulI, y, x, f), y) >> x).where("the product is exact", _fits_signed, f),
    (term(DivUI, term(MulI, x, y, f), y) >> x).where("the product is exact", _fits_unsigned, f),
    (term(DivUI, term(MulI, y, x, f), y) >> x).where("the product is exact", _fits_unsigned, f),
)

# -- sums and products in twice the width


def _is_not_a_truth(value: Value) -> bool:
    # Read as a signed number, true is -1.
    return element_of(value.type) is not boolean


def _none_of(value: Value) -> Value | None:
    return _truth_like(value, False)


def _sign_of(value: Value) -> Value | None:
    zero = filled(Constant, value.type, 0)
    if zero is None:
        return None
    return ExtSI.build({"in_": CmpI(CmpIPredicate.SLT, value, zero).result_}, (value.type,)).out


_EXTENDED: tuple[Rewrite, ...] = (
    term(AddUIExtended, x, ZERO) >> (x, computed(_none_of, x)),
    term(MulSIExtended, x, ZERO) >> (_ZERO_LIKE_X, _ZERO_LIKE_X),
    term(MulUIExtended, x, ZERO) >> (_ZERO_LIKE_X, _ZERO_LIKE_X),
    (term(MulSIExtended, x, ONE) >> (x, computed(_sign_of, x))).where("one is not a bool", _is_not_a_truth, x),
    term(MulUIExtended, x, ONE) >> (x, _ZERO_LIKE_X),
)


def _sum_alone(op: AddUIExtended, editor: Editor) -> bool:
    """Replaces an extended sum whose carry is unused by an addition."""
    return not op.overflow.is_used and _only(op, AddI, editor)


def _product_alone(op: MulSIExtended | MulUIExtended, editor: Editor) -> bool:
    """Replaces an extended product whose high half is unused by a multiplication."""
    return not op.high.is_used and _only(op, MulI, editor)


def _only(op: Op, instead: type[Op], editor: Editor) -> bool:
    built = instead(*op.operands)
    editor.insert(built, op)
    editor.replace_uses(op.results[0], built.results[0])
    editor.erase(op)
    return True


# -- bits


def _bits() -> tuple[Rewrite, ...]:
    out: list[Rewrite] = [
        term(XOrI, x, x) >> _ZERO_LIKE_X,
        term(AndI, x, term(XOrI, x, ALL_ONES)).either_way() >> _ZERO_LIKE_X,
        term(OrI, x, term(XOrI, x, ALL_ONES.named("c"))).either_way() >> c,
        term(AndI, term(AndI, x, y).named("r"), y) >> Variable("r"),
        term(AndI, term(AndI, x, y).named("r"), x) >> Variable("r"),
        term(AndI, y, term(AndI, x, y).named("r")) >> Variable("r"),
        term(AndI, x, term(AndI, x, y).named("r")) >> Variable("r"),
        term(XOrI, term(XOrI, x, y), y) >> x,
        term(XOrI, term(XOrI, x, y), x) >> y,
        term(XOrI, y, term(XOrI, x, y)) >> x,
        term(XOrI, x, term(XOrI, x, y)) >> y,
        term(XOrI, term(CmpI, p, x, y), ONE) >> term(CmpI, computed(_opposite, p), x, y),
    ]
    for op in (AndI, OrI, XOrI):
        for extension in (ExtUI, ExtSI):
            rule = term(op, term(extension, x), term(extension, y)) >> computed(
                partial(_extended, op, extension), x, y, z
            )
            out.append(_with_result(rule))
    return tuple(out)


def _with_result(rule: Rewrite) -> Rewrite:
    """The rule, for a function of the operation, whose values are `z`."""
    return Rewrite(rule.source.named("z"), rule.results, rule.restrictions, benefit=rule.benefit)


def _extended(op: type[Op], extension: type[Op], one: Value, two: Value, result: Value) -> Value | None:
    """The extension of what an operation gives for values before they are extended."""
    if one.type is not two.type:
        return None
    return extension.build({"in_": op(one, two).results[0]}, (result.type,)).results[0]


_HALF_OF_OPPOSITES = {
    CmpIPredicate.EQ: CmpIPredicate.NE,
    CmpIPredicate.SLT: CmpIPredicate.SGE,
    CmpIPredicate.SLE: CmpIPredicate.SGT,
    CmpIPredicate.ULT: CmpIPredicate.UGE,
    CmpIPredicate.ULE: CmpIPredicate.UGT,
}
_OPPOSITES = {**_HALF_OF_OPPOSITES, **{v: k for k, v in _HALF_OF_OPPOSITES.items()}}
_HALF_OF_EXCHANGED = {
    CmpIPredicate.SLT: CmpIPredicate.SGT,
    CmpIPredicate.SLE: CmpIPredicate.SGE,
    CmpIPredicate.ULT: CmpIPredicate.UGT,
    CmpIPredicate.ULE: CmpIPredicate.UGE,
}
_EXCHANGED = {**_HALF_OF_EXCHANGED, **{v: k for k, v in _HALF_OF_EXCHANGED.items()}}
_REFLEXIVE = frozenset({CmpIPredicate.EQ, CmpIPredicate.SLE, CmpIPredicate.SGE, CmpIPredicate.ULE, CmpIPredicate.UGE})


def _opposite(predicate: CmpIPredicate) -> CmpIPredicate:
    return _OPPOSITES[predicate]


def _exchanged(predicate: CmpIPredicate) -> CmpIPredicate:
    return _EXCHANGED.get(predicate, predicate)


# -- comparisons and choices


def _truth_like(operand: Value, is_true: bool) -> Value | None:
    built = CmpI(CmpIPredicate.EQ, operand, operand)
    type = built.result_.type
    # Left as a user, it would keep the operand.
    built.erase()
    return filled(Constant, type, is_true)


def _compared_with_itself(predicate: CmpIPredicate, value: Value) -> Value | None:
    return _truth_like(value, predicate in _REFLEXIVE)


def _is_equality(predicate: CmpIPredicate) -> bool:
    return predicate in (CmpIPredicate.EQ, CmpIPredicate.NE)


def _have_one_type(first: Value, second: Value) -> bool:
    return first.type is second.type


def _is_truth(value: Value) -> bool:
    return element_of(value.type) is boolean


def _is_number(value: Value) -> bool:
    return is_number(value.type)


def _is_not_a_constant(value: Value) -> bool:
    return not isinstance(value.owner, Constant)


_NE, _EQ = CmpIPredicate.NE, CmpIPredicate.EQ
_COMPARISONS: tuple[Rewrite, ...] = (
    term(CmpI, p, x, x) >> computed(_compared_with_itself, p, x),
    (term(CmpI, p, _C, x) >> term(CmpI, computed(_exchanged, p), x, c)).where(
        "the other operand is not constant", _is_not_a_constant, x
    ),
    (term(CmpI, _NE, term(ExtUI, x), ZERO) >> x).where("bools are extended", _is_truth, x),
    (term(CmpI, _NE, term(ExtSI, x), ZERO) >> x).where("bools are extended", _is_truth, x),
    (term(CmpI, _EQ, x, ONE) >> x).where("bools are compared", _is_truth, x),
    (term(CmpI, _NE, x, ZERO) >> x).where("bools are compared", _is_truth, x),
    *[
        (term(CmpI, p, term(extension, x), term(extension, y)) >> term(CmpI, p, x, y))
        .where("values are compared for equality", _is_equality, p)
        .where("both are of one type", _have_one_type, x, y)
        for extension in (ExtSI, ExtUI)
    ],
)


_CHOICES: tuple[Rewrite, ...] = (
    term(Select, term(XOrI, x, ONE), a, b) >> term(Select, x, b, a),
    term(Select, x, term(Select, x, a, b), c) >> term(Select, x, a, c),
    term(Select, x, c, term(Select, x, a, b)) >> term(Select, x, c, b),
    term(Select, term(CmpI, _EQ, x, y), x, y) >> y,
    term(Select, term(CmpI, _EQ, x, y), y, x) >> x,
    term(Select, term(CmpI, _NE, x, y), x, y) >> x,
    term(Select, term(CmpI, _NE, x, y), y, x) >> y,
)


def _choose_known(op: Select, editor: Editor) -> bool:
    """Replaces a selection between 1 and 0 by the condition, or its negation, extended to the type."""
    one, zero = splat_of(op.true_value), splat_of(op.false_value)
    type = op.result_.type
    if not isinstance(one, bool | int) or not isinstance(zero, bool | int) or not is_number(type) or type is index:
        return False
    is_truth = type is boolean
    pair = (abs(int(one)), abs(int(zero))) if is_truth else (int(one), int(zero))
    if pair not in ((0, 1), (1, 0)):
        return False
    condition = op.condition
    if pair == (0, 1):
        true = filled(Constant, condition.type, True)
        if true is None or not isinstance(true.owner, Op):
            return False
        negated = XOrI(condition, true)
        editor.insert(true.owner, op)
        editor.insert(negated, op)
        condition = negated.result_
    if is_truth:
        editor.replace(op, (condition,))
        return True
    extended = ExtUI.build({"in_": condition}, (op.result_.type,))
    editor.insert(extended, op)
    editor.replace(op, (extended.out,))
    return True


# -- conversions


def _resized(first: type[Op], value: Value, result: Value) -> Value | None:
    """Returns the value that truncating an extended value to the type of a result gives."""
    have, want = bits_of(value.type), bits_of(result.type)
    if have == want:
        return value if value.type is result.type else None
    op = first if have < want else TruncI
    return op.build({"in_": value}, (result.type,)).results[0]


def _converted(op: type[Op], value: Value, result: Value) -> Value:
    return op.build({"in_": value}, (result.type,)).results[0]


def _same_or_converted(op: type[Op], value: Value, result: Value) -> Value:
    return value if value.type is result.type else _converted(op, value, result)


def _of_type(value: Value, result: Value) -> Value | None:
    return value if value.type is result.type else None


def _narrowed(value: Value, result: Value) -> Value | None:
    """Returns the value that rounding a widened float gives."""
    have, want = bits_of(value.type), bits_of(result.type)
    if value.type is result.type:
        return value
    if have <= want:
        return None if have == want else _converted(ExtF, value, result)
    return _converted(TruncF, value, result)


def _conversions() -> tuple[Rewrite, ...]:
    def chain(outer: type[Op], inner: type[Op], built: Callable[[Value, Value], Value | None]) -> Rewrite:
        source = term(outer, in_=term(inner, in_=x)).named("z")
        return source >> computed(built, x, z)

    return (
        chain(ExtUI, ExtUI, partial(_converted, ExtUI)),
        chain(ExtSI, ExtSI, partial(_converted, ExtSI)),
        chain(ExtSI, ExtUI, partial(_converted, ExtUI)),
        chain(TruncI, ExtUI, partial(_resized, ExtUI)),
        chain(TruncI, ExtSI, partial(_resized, ExtSI)),
        chain(TruncI, TruncI, partial(_converted, TruncI)),
        chain(TruncF, ExtF, _narrowed),
        chain(Bitcast, Bitcast, partial(_same_or_converted, Bitcast)),
        chain(IndexCast, IndexCast, _of_type),
        chain(IndexCastUI, IndexCastUI, _of_type),
        chain(IndexCast, ExtSI, partial(_converted, IndexCast)),
        chain(IndexCastUI, ExtUI, partial(_converted, IndexCastUI)),
    )


# -- floats


def _compare_integers(op: CmpF, editor: Editor) -> bool:
    """Compares the integer in place of its conversion to a float with a constant."""
    source = op.lhs.owner
    number = splat_of(op.rhs)
    if not isinstance(source, SIToFP | UIToFP) or not isinstance(number, float):
        return False
    result = integer_comparison(op.predicate, source, number)
    if result is None:
        return False
    predicate, bound = result
    if isinstance(predicate, bool):
        built = _truth_like(source.in_, predicate)
        if built is None or not isinstance(built.owner, Op):
            return False
        editor.insert(built.owner, op)
        editor.replace(op, (built,))
        return True
    limit = filled(Constant, source.in_.type, bound)
    if limit is None or not isinstance(limit.owner, Op):
        return False
    editor.insert(limit.owner, op)
    comparison = CmpI(predicate, source.in_, limit)
    editor.insert(comparison, op)
    editor.replace(op, (comparison.result_,))
    return True


def _convert_at_once(op: TruncF, editor: Editor) -> bool:
    """Converts an integer to the narrower float directly, in place of a truncated wider one."""
    source = op.in_.owner
    if not isinstance(source, SIToFP | UIToFP) or op.roundingmode is not None:
        return False
    built = type(source).build({"in_": source.in_}, (op.out.type,))
    editor.insert(built, op)
    editor.replace(op, (built.out,))
    return True


def _is_unordered(predicate: CmpFPredicate) -> bool:
    return predicate is CmpFPredicate.TRUE or predicate.value.startswith("u")


def _compared_with_nan(predicate: CmpFPredicate) -> Value | None:
    return filled(Constant, boolean, _is_unordered(predicate))


_FLOATS: tuple[Rewrite, ...] = (
    *[
        (term(CmpF, p, *pair) >> computed(_compared_with_nan, p)).where("numbers are compared", _is_number, x)
        for pair in ((x, NAN), (NAN, x))
    ],
    term(MulF, term(NegF, x), term(NegF, y), f) >> term(MulF, x, y, f),
    term(DivF, term(NegF, x), term(NegF, y), f) >> term(DivF, x, y, f),
)

RULES = Rules(
    (*_SUMS, *_EXTENDED, *_bits(), *_COMPARISONS, *_CHOICES, *_conversions(), *_FLOATS),
    {
        Select: (_choose_known,),
        AddUIExtended: (_sum_alone,),
        MulSIExtended: (_product_alone,),
        MulUIExtended: (_product_alone,),
        CmpF: (_compare_integers,),
        TruncF: (_convert_at_once,),
    },
)
