"""Applies the folders and canonicalization rules of definitions until none applies.

The rules are in definitions (`fold`, `canonicalize`, `constant_dims`) and in dialects; this pass only applies them.
Values keep their names, and outputs stay the same values.
"""

from __future__ import annotations

from commonir.ir.cloning import clone
from commonir.ir.module import Module
from commonir.ir.operation import Operation
from commonir.ir.types import is_collection
from commonir.passes.remove_unused import remove_unused
from commonir.passes.simpler_forms import SimplerForms, simpler
from commonir.rewrite.constants import ConstantPool
from commonir.rewrite.greedy import rewrite_steps
from commonir.rewrite.regions import simplify_regions


def canonicalized(module: Module) -> Module:
    """Returns a canonicalized copy of a module."""
    copy = clone(module)
    canonicalize(copy)
    return copy


def without_inner_collections(module: Module) -> Module:
    """Returns a module that reads elements of the tuples, maps and sparse tensors it makes without making these; the
    module itself if it has none.
    """
    made = any(is_collection(v.type) for op in module.nested() for v in op.results)
    return canonicalized(module) if made else module


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

    It also folds operations on constants, moves each constant to the beginning of the enclosing function, once, and
    removes unused operations without effect and unreachable blocks.

    Raises: DiagnosticError (E0607) when rules lead in a cycle. Source: MLIR, pass `canonicalize`.
    """
    return rewrite_steps(root, forms.of, constants=ConstantPool(), clean=simplify_regions).total()
