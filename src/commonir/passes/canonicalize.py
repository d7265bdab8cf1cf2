"""Applies the folders and canonicalization rules of definitions until none applies.

What an operation equals is stated in its definition (`fold`, `canonicalize`, `constant_dims`); this pass only goes
where they lead. Values keep their names, and a value that the program returns stays the one it returns.
"""

from __future__ import annotations

from collections.abc import Sequence

from commonir.ir.module import Module
from commonir.ir.operation import Operation, Value, clone
from commonir.notation import NotKnownError
from commonir.ods import Dialects, Op
from commonir.passes.fold_to_constants import constant_step
from commonir.passes.remove_unused import remove_unused
from commonir.passes.simplify import Evaluate
from commonir.rewrite.constants import ConstantPool
from commonir.rewrite.expand import folded
from commonir.rewrite.greedy import rewrite_steps


def canonicalized(module: Module) -> Module:
    """A simpler equal module; the one given is not touched."""
    copy = clone(module)
    canonicalize(copy)
    return copy


def canonicalize(module: Module) -> int:
    """Rewrites a lowered module in place and returns the number of rewrites.

    Raises: DiagnosticError (E0607) when rules lead in a circle.
    """
    count = rewrite_steps(module, (simpler,), removes_unused=False).total()
    for function in module.functions.values():
        remove_unused(function.body)
    return count


def canonicalize_operations(root: Operation, evaluate: Evaluate, dialects: Dialects) -> int:
    """Rewrites everything in an operation of any dialect, in place, and returns the number of rewrites.

    Also, what depends on constants alone is computed, each constant stands once, at the beginning of the function
    around it, and operations without effect that nobody uses go.

    Raises: DiagnosticError (E0607) when rules lead in a circle. Source: MLIR, pass `canonicalize`.
    """
    steps = (simpler, constant_step(evaluate, dialects))
    return rewrite_steps(root, steps, constants=ConstantPool()).total()


def simpler(op: Op) -> tuple[str, Sequence[Value]] | None:
    """The step that the definition of an operation states."""
    try:
        value = folded(op)
        found = op.canonicalize() if value is None else (value,)
    except NotKnownError:
        # Of operands of unknown types nothing simpler is known.
        return None
    return None if found is None else (op.name, found)
