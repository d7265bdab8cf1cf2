"""Simpler forms of operations of the tosa dialect.

Source: MLIR tosa dialect, folders and canonicalization patterns.
"""

from __future__ import annotations

from commonir.dialects.tosa.elementwise import Abs, Add, Cast, Sub
from commonir.dialects.tosa.layout import Reshape, Transpose
from commonir.ir.operation import Value
from commonir.ir.types import TensorType
from commonir.ods import known_data
from commonir.ods.rules import Editor, Rules
from commonir.ods.terms import computed, variables

x, p, q, s = variables("x p q s")


def _one_after_another(first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...]:
    return tuple([first[n] for n in second])


def _keeps_order(op: Transpose, editor: Editor) -> bool:
    """Axes that stay where they are."""
    if op.perms != tuple(range(len(op.perms))) or op.input1.type is not op.output.type:
        return False
    editor.replace(op, (op.input1,))
    return True


def _is_zero(value: Value) -> bool:
    data = known_data(value)
    return data is not None and data.splat() == 0


def _adds_nothing(op: Add | Sub, editor: Editor) -> bool:
    """Zero added or taken away, of the type of the result."""
    pairs = [(op.input1, op.input2)] if isinstance(op, Sub) else [(op.input1, op.input2), (op.input2, op.input1)]
    for kept, zero in pairs:
        if kept.type is op.output.type and _is_zero(zero):
            editor.replace(op, (kept,))
            return True
    return False


def _changes_nothing(op: Cast | Reshape, editor: Editor) -> bool:
    """A conversion to the type that the operand has; of a reshape, where all sizes are known."""
    source, kind = op.operands[0], op.output.type
    if source.type is not kind or (isinstance(op, Reshape) and not (isinstance(kind, TensorType) and kind.is_static)):
        return False
    editor.replace(op, (source,))
    return True


RULES = Rules(
    (
        Transpose.like(Transpose.like(x, p), q) >> Transpose.like(x, computed(_one_after_another, p, q)),
        Reshape.like(Reshape.like(x), s) >> Reshape.like(x, s),
        Abs.like(Abs.like(x).named("s")) >> s,
    ),
    {
        Transpose: (_keeps_order,),
        Add: (_adds_nothing,),
        Sub: (_adds_nothing,),
        Cast: (_changes_nothing,),
        Reshape: (_changes_nothing,),
    },
)
