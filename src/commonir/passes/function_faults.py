"""Errors of MLIR functions: terminators of their blocks, and names that are defined twice.

The verifier finds that too, but nobody has to ask it before a program runs. Lowering meets what is wrong with the
other operations of a function one by one.
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
    """The faults of the functions of a module, with their places."""
    seen: set[str] = set()
    for op in module.body.operations:
        if not isinstance(op, FunctionOp):
            continue
        if op.symbol_name in seen:
            yield Diagnostic(DUPLICATE_NAME, f"'{op.symbol_name}' is defined twice", where=path_of(op))
        seen.add(op.symbol_name)
        for part in (op, *_ends(op)):
            for found in check_operation(part, inferring=False):
                yield found.located(where=path_of(part))


def _ends(function: Operation) -> Iterator[Op]:
    """The operations that end blocks of a function, wherever they stand."""
    for region in function.regions:
        for block in region.blocks:
            yield from [op for op in block.operations if isinstance(op, Op) and op.has_trait(traits.Terminator)]
