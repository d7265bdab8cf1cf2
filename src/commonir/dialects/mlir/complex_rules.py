"""Simpler forms of operations of the complex dialect.

Source: MLIR complex dialect, folders and canonicalization patterns.
"""

from __future__ import annotations

from commonir.dialects.mlir.complex import Add, Constant, Create, Div, Exp, Im, Log, Mul, Re, Sub
from commonir.ir.attributes import FloatAttr
from commonir.ir.operation import Value
from commonir.ods.rules import Editor, Rules
from commonir.ods.terms import variables

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
        Create.like(Re.like(x), Im.like(x)) >> x,
        Add.like(Sub.like(x, y), y).either_way() >> x,
        Sub.like(Add.like(x, y), y) >> x,
        Log.like(Exp.like(x)) >> x,
        Exp.like(Log.like(x)) >> x,
    ),
    {Add: (_zero,), Sub: (_zero,), Mul: (_one,), Div: (_one,)},
)
