"""Chooses the functions of a program that lowering keeps: the others are inlined where they are called."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.file_codes import MALFORMED_PROGRAM
from commonir.dialects.mlir.function_operations import FunctionOp, Visibility
from commonir.ir.call_graph import CallGraph, cycle_text, invoked_by
from commonir.ir.module import Function, Invocation, Module
from commonir.ir.operation import Operation
from commonir.ods import path_of


def definitions(module: Module) -> list[Function]:
    """Returns the functions of a module that have a body of their own."""
    functions = [op for op in module.body.operations if isinstance(op, Function)]
    return [f for f in functions if not (f.is_template or f.is_declaration)]


def functions_to_lower(
    module: Module, entry: str | None, stays: Callable[[Operation], bool] | None, *, has_calls: bool
) -> list[Function]:
    """Returns the functions of a module that are lowered. With `has_calls`, calls of them remain: those for which
    `stays` is True.

    Private functions that others call are inlined only, and so are public ones where the calls stand for many more
    operations than the program has: in a chain of functions, each would have a copy of all that follow. The one of the
    name `entry` stays besides.
    Raises: DiagnosticError (E0209) when functions call each other in a cycle, (E0303) when calls stand for too many
    operations.
    """
    inlined: set[Function] = set() if has_calls else _called_only(module, entry)
    functions = [f for f in definitions(module) if f not in inlined]
    graph = checked_calls(functions, stays)
    if not (has_calls or graph.are_few()):
        called, entries = graph.called(), {module.entry, entry, "main"}
        functions = [f for f in functions if f not in called or f.symbol_name in entries]
        graph = checked_calls(functions, stays)
    graph.check_count()
    return functions


def checked_calls(functions: Sequence[Function], stays: Callable[[Operation], bool] | None = None) -> CallGraph:
    """Returns the graph of the calls in some functions without those that stay.

    Raises: DiagnosticError (E0209) when functions call each other in a cycle, so that they cannot be inlined.
    """

    def called_by(op: Operation) -> Operation | None:
        return None if stays is not None and stays(op) else invoked_by(op)

    graph = CallGraph(functions, called_by)
    for cycle in graph.cycles():
        message = f"functions call each other in a cycle: {cycle_text(cycle)}"
        raise DiagnosticError(Diagnostic(MALFORMED_PROGRAM, message, where=path_of(cycle[0])))
    return graph


def _called_only(module: Module, entry: str | None) -> set[Function]:
    """Returns the private functions that others call, if there are public functions: they are inlined. The one of the
    name `entry` stays besides.
    """
    functions = module.functions.values()
    private = {f for f in functions if isinstance(f, FunctionOp) and f.sym_visibility is Visibility.PRIVATE}
    private -= {f for f in private if f.symbol_name in (module.entry, entry)}
    if not private or all(f in private or f.is_declaration for f in functions):
        return set()
    called = {op.callee for f in functions for op in f.walk() if isinstance(op, Invocation)}
    return {f for f in private if f in called}


def left_out(module: Module, lowered: Module) -> list[str]:
    """Returns the names of the public functions of a program that lowering inlined only."""
    kept = {op.symbol_name for op in lowered.body.operations if isinstance(op, Function)}
    functions = [f for f in definitions(module) if isinstance(f, FunctionOp) and f.symbol_name not in kept]
    return [f.symbol_name for f in functions if f.sym_visibility in (None, Visibility.PUBLIC)]
