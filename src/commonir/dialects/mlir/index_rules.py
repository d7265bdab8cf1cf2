"""Simpler forms of operations of the index dialect.

Source: MLIR index dialect, folders and canonicalization patterns.
"""

from __future__ import annotations

from commonir.dialects.mlir.index import (
    Add,
    And,
    BoolConstant,
    Cmp,
    CmpIPredicate,
    Constant,
    MaxS,
    MaxU,
    MinS,
    MinU,
    Mul,
    Or,
    Sub,
    XOr,
)
from commonir.dialects.mlir.number_rules import ONE, ZERO, constant, filled_like
from commonir.ir.operation import Value
from commonir.ods.rules import Rules
from commonir.ods.terms import computed, term, variables

x, y, c, d, p = variables("x y c d p")
_C, _D = constant("c"), constant("d")
_REFLEXIVE = frozenset({CmpIPredicate.EQ, CmpIPredicate.SLE, CmpIPredicate.SGE, CmpIPredicate.ULE, CmpIPredicate.UGE})


def _compared_with_itself(predicate: CmpIPredicate) -> Value:
    return BoolConstant(predicate in _REFLEXIVE).result_


RULES = Rules(
    (
        term(Add, x, ZERO) >> x,
        term(Sub, x, ZERO) >> x,
        term(Mul, x, ONE) >> x,
        term(Mul, x, ZERO) >> filled_like(Constant, "x", 0),
        *[
            term(op, term(op, x, _C), _D) >> term(op, x, term(op, c, d))
            for op in (Add, Mul, MaxS, MaxU, MinS, MinU, And, Or, XOr)
        ],
        term(Cmp, p, x, x) >> computed(_compared_with_itself, p),
        term(Cmp, p, term(Sub, x, y), ZERO) >> term(Cmp, p, x, y),
    )
)
