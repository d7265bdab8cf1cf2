"""Proves that two operations have the same meaning, by their references.

Two composites on the same operands are lowered to core and compared operation by operation. The proof is one-sided: if
it succeeds, they compute the same; equivalent operations may be expressed differently.
"""

from __future__ import annotations

from commonir.base.diagnostics import DiagnosticError
from commonir.ir.data import Data
from commonir.ir.operation import Operation, Value
from commonir.ods import Form, Op, known_data
from commonir.rewrite.expand import expand

_MAX_STEPS = 10_000


def have_same_meaning(a: Op, b: Op) -> bool:
    """Returns whether two operations without regions compute the same results from the same operands."""
    if a.regions or b.regions or a.form is not Form.COMPOSITE or b.form is not Form.COMPOSITE:
        return False
    try:
        pairs = list(zip(expand(a, a.operands).results, expand(b, b.operands).results, strict=False))
    except DiagnosticError:
        return False
    return bool(pairs) and _are_equal(pairs)


def _are_equal(pairs: list[tuple[Value, Value]]) -> bool:
    compared: set[tuple[Value, Value]] = set()
    for _ in range(_MAX_STEPS):
        if not pairs:
            return True
        a, b = pairs.pop()
        if a is b or (a, b) in compared:
            continue
        compared.add((a, b))
        if a.type is not b.type:
            return False
        x, y = known_data(a), known_data(b)
        if x is not None and y is not None:
            if not _have_same_elements(x, y):
                return False
            continue
        p, q = a.owner, b.owner
        if not isinstance(p, Op) or not isinstance(q, Op) or not _differ_only_in_operands(p, q) or a.index != b.index:
            return False
        pairs += zip(p.operands, q.operands, strict=True)
    return False


def _differ_only_in_operands(p: Op, q: Op) -> bool:
    """Returns whether two operations differ only in their operands."""
    if type(p) is not type(q) or p.regions or p.parent is not None or q.parent is not None:
        return False
    return (
        p.operand_offsets == q.operand_offsets
        and _attributes_of(p) == _attributes_of(q)
        and len(p.operands) == len(q.operands)
    )


def _attributes_of(op: Operation) -> list[object]:
    values = op.attribute_values if isinstance(op, Op) else ()
    return [(type(v), repr(v) if isinstance(v, float) else v) for v in values]


def _have_same_elements(x: Data, y: Data) -> bool:
    return x.element is y.element and x.shape == y.shape and x.values() == y.values()
