"""Makes a Common IR program a single file by embedding the libraries that it imports, under their own names.

Nothing is renamed, so that calls remain valid. The source does not change.
"""

from __future__ import annotations

from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.file_codes import NOT_A_LIBRARY
from commonir.dialects import common_ir
from commonir.ir.cloning import clone
from commonir.ir.module import Module
from commonir.ir.operation import Operation

_BUILT_IN = "commonir:"
"""The prefix of the URIs of libraries that need no file."""


def bundle_libraries(module: Module) -> Module:
    """Returns the program with all of its libraries embedded.

    Raises: DiagnosticError (E0254) for a program without a graph, such as a library.
    """
    if not any(isinstance(op, common_ir.Graph) for op in module.body.operations):
        raise DiagnosticError(_no_graph(module))
    result = Module(module.extra, module.entry)
    for op in module.body.operations:
        if isinstance(op, common_ir.Library):
            result.body.append(_embedded(op))
        elif not _is_resolved(op):
            result.body.append(clone(op))
    return result


def _no_graph(module: Module) -> Diagnostic:
    if any(isinstance(op, common_ir.Library) for op in module.body.operations):
        message, help = "a library holds no libraries, only a graph does", "bundle the graph that imports the library"
    else:
        message = "there is nothing to bundle: only Common IR graphs import libraries, and the program is none"
        help = "to write it as a Common IR file, convert it: `cir convert M --to common_ir -o OUT`"
    return Diagnostic(NOT_A_LIBRARY, message, help=help)


def _is_resolved(op: Operation) -> bool:
    """Returns whether an operation imports a library that is embedded now."""
    return isinstance(op, common_ir.Import) and not op.uri.startswith(_BUILT_IN)


def _embedded(library: common_ir.Library) -> common_ir.Library:
    copy = clone(library, keep=lambda op: not _is_resolved(op))
    return copy.with_attributes(is_embedded=True, uri="")
