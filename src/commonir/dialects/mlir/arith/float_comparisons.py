"""Comparisons of converted integers with floats, as comparisons of the integers.

Source: MLIR arith dialect, canonicalization of `cmpf`; IEEE 754, integers that a format represents exactly.
"""

from __future__ import annotations

import math

from commonir.dialects.mlir.arith.base import bits_of
from commonir.dialects.mlir.arith.comparison import CmpFPredicate, CmpIPredicate
from commonir.dialects.mlir.arith.conversions import SIToFP, UIToFP
from commonir.ir.floats import FORMATS
from commonir.ir.types import ElementType, integer_type
from commonir.ods.type_rules import element_of

_SIGNED = {
    "eq": CmpIPredicate.EQ,
    "ne": CmpIPredicate.NE,
    "lt": CmpIPredicate.SLT,
    "le": CmpIPredicate.SLE,
    "gt": CmpIPredicate.SGT,
    "ge": CmpIPredicate.SGE,
}
_UNSIGNED = {
    **_SIGNED,
    "lt": CmpIPredicate.ULT,
    "le": CmpIPredicate.ULE,
    "gt": CmpIPredicate.UGT,
    "ge": CmpIPredicate.UGE,
}


def integer_comparison(
    predicate: CmpFPredicate, source: SIToFP | UIToFP, number: float
) -> tuple[CmpIPredicate | bool, int] | None:
    """Returns the integer comparison equivalent to comparing a converted integer with a float; True or False when it
    always or never holds, None where the conversion may round.
    """
    is_signed = isinstance(source, SIToFP)
    bits, element = bits_of(source.in_.type), element_of(source.out.type)
    if not isinstance(element, ElementType) or _may_round(number, bits, is_signed, FORMATS[element.name].precision):
        return None
    if math.isnan(number):
        return predicate.value.startswith("u"), 0
    word = {"one": "ne", "une": "ne", "ord": "ord", "uno": "uno"}.get(predicate.value, predicate.value[1:])
    if predicate in (CmpFPredicate.TRUE, CmpFPredicate.FALSE):
        return None
    if word in ("ord", "uno"):
        return word == "ord", 0
    least, largest = integer_type(bits, "signed" if is_signed else "unsigned").integer_limits
    if number > largest:
        return word in ("ne", "lt", "le"), 0
    if number < least:
        return word in ("ne", "gt", "ge"), 0
    return _rounded(word, number, is_signed)


def _may_round(number: float, bits: int, is_signed: bool, precision: int) -> bool:
    """Returns whether rounding integers of some bits to a format may change how they compare with a number."""
    if bits <= precision or not number or math.isnan(number):
        return False
    # The exponent of a number that is compared as an integer: of larger ones not all integers are in the format.
    return math.isinf(number) or precision <= math.frexp(number)[1] - 1 <= bits - is_signed


def _rounded(word: str, number: float, is_signed: bool) -> tuple[CmpIPredicate | bool, int]:
    """The comparison with the integer that a number is rounded to toward zero, its sense kept."""
    integer = int(number)
    if integer != number:
        match word:
            case "eq" | "ne":
                return word == "ne", 0
            case "lt" if number > 0:
                word = "le"
            case "le" if number < 0:
                word = "lt"
            case "gt" if number < 0:
                word = "ge"
            case "ge" if number > 0:
                word = "gt"
            case _:
                pass
    return (_SIGNED if is_signed else _UNSIGNED)[word], integer
