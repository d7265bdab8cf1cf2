"""Applies the folders and canonicalization rules of definitions until none applies.

What an operation equals is stated in its definition (`fold`, `canonicalize`, `constant_dims`) and in the rules of its
dialect; this pass only goes where they lead. Values keep their names, and a value that the program returns stays the
one it returns.
"""

from __future__ import annotations

from commonir.ir.cloning import clone
from commonir.ir.module import Module
from commonir.ir.operation import Operation
from commonir.passes.remove_unused import remove_unused
from commonir.passes.simpler_forms import SimplerForms, simpler
from commonir.rewrite.constants import ConstantPool
from commonir.rewrite.greedy import rewrite_steps
from commonir.rewrite.regions import simplify_regions


def canonicalized(module: Module) -> Module:
    """A simpler equal module; the one given is not touched."""
    copy = clone(module)
    canonicalize(copy)
    return copy


def canonicalize(module: Module) -> int:
    """Rewrites a lowered module in place and returns the number of rewrites.

    Raises: DiagnosticError (E0607) when rules lead in a cycle.
    """
    count = rewrite_steps(module, lambda _: (simpler,), removes_unused=False).total()
    for function in module.functions.values():
        remove_unused(function.body)
    return count


def canonicalize_operations(root: Operation, forms: SimplerForms) -> int:
    """Rewrites everything in an operation of any dialect, in place, and returns the number of rewrites.

    Also, what depends on constants alone is computed, each constant stands once, at the beginning of the function
    around it, and operations without effect that nobody uses go, with blocks that nothing leads to.

    Raises: DiagnosticError (E0607) when rules lead in a cycle. Source: MLIR, pass `canonicalize`.
    """
    return rewrite_steps(root, forms.of, constants=ConstantPool(), clean=simplify_regions).total()
