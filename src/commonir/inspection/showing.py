"""Prints programs as text: MLIR, or the text of another format, all or in part."""

from __future__ import annotations

from commonir.base.codes import NOT_IN_FORMAT, UNKNOWN_OUTPUT_FORMAT
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.formats.format import MLIR, Formats, described
from commonir.ir.constant_text import DEFAULT_ELISION
from commonir.ir.lookup import find_operations
from commonir.ir.module import Module
from commonir.ir.printing import Neighbourhood
from commonir.text.printer import Naming, naming_of, print_module


def show(
    module: Module,
    *,
    generic: bool,
    node: str | None,
    around: int,
    elide: bool,
    syntax: str,
    names: str,
    locations: bool,
) -> str:
    """Returns the text of a program, or of the neighbourhood of one of its operations; see `api.show`."""
    limit = DEFAULT_ELISION if elide else None
    if syntax != MLIR:
        return _shown_as(module, syntax, limit)
    near = None if node is None else Neighbourhood.around(find_operations(module, node), around)
    naming = Naming(names) if names else naming_of(module)
    return print_module(module, generic=generic, elide=limit, around=near, naming=naming, locations=locations)


def _shown_as(module: Module, syntax: str, limit: int | None) -> str:
    formats = Formats()
    shown = formats.get(syntax)
    own = formats.of_module(module)
    if not shown.has_text:
        known = ", ".join([MLIR, *sorted(f.name for f in formats.working() if f.has_text and f.name != MLIR)])
        message = f"programs of format '{syntax}' are not text"
        raise DiagnosticError(Diagnostic(UNKNOWN_OUTPUT_FORMAT, message, help=f"texts are {known}"))
    if own is None or own.dialect != shown.dialect:
        message = f"{described(own)} has no text of format '{syntax}'"
        help = f"convert it first: `cir convert MODEL -o OUT{shown.suffixes[0]}`"
        raise DiagnosticError(Diagnostic(NOT_IN_FORMAT, message, help=help))
    return shown.show(module, limit)
