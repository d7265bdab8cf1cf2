"""Finds errors of MLIR functions: terminators of their blocks, and names that are defined twice.

The verifier finds them too, but a program may run without it. Lowering reports errors of all other operations.
"""

from __future__ import annotations

from collections.abc import Iterator

from commonir.base.codes import DUPLICATE_NAME
from commonir.base.diagnostics import Diagnostic
from commonir.dialects.mlir.function_operations import FunctionOp
from commonir.ir.module import Module
from commonir.ir.operation import Operation
from commonir.ods import Op, check_operation, path_of, traits


def function_faults(module: Module) -> Iterator[Diagnostic]:
    """Yields the errors of the functions of a module, with their paths."""
    names: set[str] = set()
    for op in module.body.operations:
        if not isinstance(op, FunctionOp):
            continue
        if op.symbol_name in names:
            yield Diagnostic(DUPLICATE_NAME, f"'{op.symbol_name}' is defined twice", where=path_of(op))
        names.add(op.symbol_name)
        for part in (op, *_ends(op)):
            for diagnostic in check_operation(part, inferring=False):
                yield diagnostic.located(where=path_of(part))


def _ends(function: Operation) -> Iterator[Op]:
    """Yields the terminators of the blocks of a function."""
    for region in function.regions:
        for block in region.blocks:
            yield from [op for op in block.operations if isinstance(op, Op) and op.has_trait(traits.Terminator)]
