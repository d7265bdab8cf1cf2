"""Prints programs as text: MLIR, or the text of another format, all or in part."""

from __future__ import annotations

from collections.abc import Sequence

from commonir.base.codes import NOT_IN_FORMAT, UNKNOWN_OUTPUT_FORMAT
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.formats.format import MLIR, Formats, described
from commonir.ir.constant_text import DEFAULT_ELISION
from commonir.ir.lookup import find_operations
from commonir.ir.module import Module, Symbol
from commonir.ir.operation import Operation
from commonir.ir.printing import Part
from commonir.text.abridged import abridged_text, stored_contents
from commonir.text.printer import Naming, naming_of, print_module
from commonir.text.upstream_names import UpstreamNames


def show(
    module: Module,
    *,
    generic: bool,
    node: str | None,
    around: int | None,
    complete: bool,
    elide: bool,
    syntax: str,
    names: str,
    locations: bool,
) -> str:
    """Returns the text of a program, or of the neighbourhood of one of its operations; see `api.show`."""
    limit = DEFAULT_ELISION if elide else None
    if syntax != MLIR:
        return _shown_as(module, syntax, limit)
    part = None
    if node is not None:
        ops = _printed_as(module, node) or find_operations(module, node)
        part = part_around(ops, int(len(ops) == 1) if around is None else around)
    naming = Naming(names) if names else naming_of(module)
    if naming is Naming.OWN and elide and not (complete or generic or locations):
        return abridged_text(module, elide=limit, part=part)
    has_names = part is not None
    return print_module(
        module, generic=generic, elide=limit, part=part, naming=naming, locations=locations, names=has_names
    )


def _printed_as(module: Module, name: str) -> list[Operation]:
    """Returns the operations that define values which the text of mlir-opt names so."""
    if not name.startswith("%") or naming_of(module) is Naming.OWN:
        return []
    names = UpstreamNames(generic=False)
    names.start(module)
    return [v.defining_op for v in names.named(name) if v.defining_op is not None]


def part_around(ops: Sequence[Operation], distance: int) -> Part:
    """Returns the part of a program with these operations and all that is nested in them, and those at up to `distance`
    steps from an operation to one that computes its operand or uses its result. Users of a constant are near only to
    one that was asked for.
    """
    centre = frozenset([nested for op in ops for nested in op.walk()])
    shown: set[Operation] = set(centre)
    edge: Sequence[Operation] = ops
    for _ in range(distance):
        producers = [v.defining_op for op in edge for v in op.values_used]
        spread = [op for op in edge if op in centre or stored_contents(op) is None]
        users = [user for op in spread for v in op.results for user in v.users]
        edge = list(dict.fromkeys(op for op in (*producers, *users) if op is not None and op not in shown))
        shown.update(edge)
    enclosing = {a for op in shown for a in op.ancestors()}
    titles: dict[Operation, str] = {a: f"@{a.symbol_name}" for a in enclosing if isinstance(a, Symbol)}
    return Part(centre, frozenset(shown), frozenset(enclosing | shown), titles if len(titles) > 1 else {})


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
        help = f"convert it first: `cir convert M --to {shown.name} -o OUT`"
        raise DiagnosticError(Diagnostic(NOT_IN_FORMAT, message, help=help))
    return shown.show(module, limit)
