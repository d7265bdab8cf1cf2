"""Simpler forms of operations of the index dialect.

Source: MLIR index dialect, folders and canonicalization patterns.
"""

from __future__ import annotations

from commonir.dialects.mlir.index import (
    Add,
    And,
    BoolConstant,
    Cmp,
    CmpPredicate,
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
from commonir.ods.terms import computed, variables

x, y, c, d, p = variables("x y c d p")
_C, _D = constant("c"), constant("d")
_REFLEXIVE = frozenset({CmpPredicate.EQ, CmpPredicate.SLE, CmpPredicate.SGE, CmpPredicate.ULE, CmpPredicate.UGE})


def _compared_with_itself(predicate: CmpPredicate) -> Value:
    return BoolConstant(predicate in _REFLEXIVE).result_


RULES = Rules(
    (
        Add.like(x, ZERO) >> x,
        Sub.like(x, ZERO) >> x,
        Mul.like(x, ONE) >> x,
        Mul.like(x, ZERO) >> filled_like(Constant, "x", 0),
        *[
            op.like(op.like(x, _C), _D) >> op.like(x, op.like(c, d))
            for op in (Add, Mul, MaxS, MaxU, MinS, MinU, And, Or, XOr)
        ],
        Cmp.like(p, x, x) >> computed(_compared_with_itself, p),
        Cmp.like(p, Sub.like(x, y), ZERO) >> Cmp.like(p, x, y),
    )
)
