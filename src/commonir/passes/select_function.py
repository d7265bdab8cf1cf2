"""Leaves one function of a program, with what it needs."""

from __future__ import annotations

from commonir.dialects import core
from commonir.dialects.mlir import ml_program
from commonir.ir.cloning import clone
from commonir.ir.module import Function, Module


def with_called(function: Function) -> tuple[Function, ...]:
    """A function of a lowered program, and those that it calls, directly or not."""
    result: dict[Function, None] = {}
    pending = [function]
    while pending:
        here = pending.pop()
        if here not in result:
            result[here] = None
            called = [op.function() for op in here.walk() if isinstance(op, core.Call)]
            pending += [f for f in called if f is not None]
    return tuple(result)


def select_function(module: Module, name: str) -> Module:
    """A lowered program whose entry is a function of the one given, without the functions it does not call.

    Raises: DiagnosticError (E0706) when there is no function of this name.
    """
    kept = with_called(module.function(name))
    names = {op.global_name for f in kept for op in f.walk() if isinstance(op, ml_program.GlobalUse)}
    dropped = {
        op
        for op in module.body.operations
        if (isinstance(op, Function) and op not in kept)
        or (isinstance(op, ml_program.Global) and op.sym_name not in names)
    }
    result = clone(module, keep=lambda op: op not in dropped)
    result.entry = name
    return result
