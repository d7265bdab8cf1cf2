"""Simpler forms of operations of the func dialect.

Source: MLIR func dialect, canonicalization patterns.
"""

from __future__ import annotations

from commonir.dialects.mlir.func import Call, CallIndirect, Constant
from commonir.ods.rules import Editor, Rules


def _call_by_name(op: CallIndirect, editor: Editor) -> bool:
    """Replaces an indirect call of a known function by a direct call."""
    source = op.callee.owner
    if not isinstance(source, Constant):
        return False
    built = Call.build({"callee_": source.value, "operands_": op.callee_operands}, [r.type for r in op.results])
    editor.insert(built, op)
    editor.replace(op, built.results)
    return True


RULES = Rules((), {CallIndirect: (_call_by_name,)})
