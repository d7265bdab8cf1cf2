"""Simpler forms of operations of the complex dialect.

Source: MLIR complex dialect, folders and canonicalization patterns.
"""

from __future__ import annotations

from commonir.dialects.mlir.complex import Add, Constant, Create, Div, Exp, Im, Log, Mul, Re, Sub
from commonir.ir.attributes import FloatAttr
from commonir.ir.operation import Value
from commonir.ods.rules import Editor, Rules
from commonir.ods.terms import term, variables

x, y = variables("x y")


def _is_number(value: Value, real: float) -> bool:
    """Returns whether a value is a real number; zeros have one sign here."""
    source = value.owner
    parts = source.parts if isinstance(source, Constant) else ()
    return [p.value for p in parts if isinstance(p, FloatAttr)] == [real, 0.0]


def _without_effect(op: Add | Sub | Mul | Div, number: float, editor: Editor) -> bool:
    """Passes over an operation whose second operand is a number."""
    if not _is_number(op.rhs, number):
        return False
    editor.replace(op, (op.lhs,))
    return True


def _zero(op: Add | Sub, editor: Editor) -> bool:
    return _without_effect(op, 0.0, editor)


def _one(op: Mul | Div, editor: Editor) -> bool:
    return _without_effect(op, 1.0, editor)


RULES = Rules(
    (
        term(Create, term(Re, x), term(Im, x)) >> x,
        term(Add, term(Sub, x, y), y).either_way() >> x,
        term(Sub, term(Add, x, y), y) >> x,
        term(Log, term(Exp, x)) >> x,
        term(Exp, term(Log, x)) >> x,
    ),
    {Add: (_zero,), Sub: (_zero,), Mul: (_one,), Div: (_one,)},
)
