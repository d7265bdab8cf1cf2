"""Reduces a program to one function and its dependencies."""

from __future__ import annotations

from commonir.dialects import core
from commonir.dialects.mlir import ml_program
from commonir.ir.cloning import clone
from commonir.ir.module import Function, Module


def with_called(function: Function) -> tuple[Function, ...]:
    """Returns a function of a lowered program, and its direct and indirect callees."""
    result: dict[Function, None] = {}
    pending = [function]
    while pending:
        current = pending.pop()
        if current not in result:
            result[current] = None
            called = [op.function() for op in current.walk() if isinstance(op, core.Call)]
            pending += [f for f in called if f is not None]
    return tuple(result)


def select_function(module: Module, name: str) -> Module:
    """Returns a lowered program with a function as its entry, without functions that it does not call.

    Raises: DiagnosticError (E0706) when there is no function of this name.
    """
    included = with_called(module.function(name))
    names = {op.global_name for f in included for op in f.walk() if isinstance(op, ml_program.GlobalUse)}
    dropped = {
        op
        for op in module.body.operations
        if (isinstance(op, Function) and op not in included)
        or (isinstance(op, ml_program.Global) and op.sym_name not in names)
    }
    result = clone(module, keep=lambda op: op not in dropped)
    result.entry = name
    return result
