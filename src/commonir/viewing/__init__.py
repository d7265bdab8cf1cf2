"""Pictures of programs, as SVG and as pages that need nothing but a browser."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from commonir.base.codes import NOT_DRAWN, UNKNOWN_OUTPUT_FORMAT
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.files import atomic_file
from commonir.dialects import ark, core
from commonir.ir.module import Module
from commonir.ods import Dialects, verify
from commonir.passes.ark.timeline import timeline
from commonir.passes.timeline import core_timeline
from commonir.reports import Picture
from commonir.viewing.lanes import Drawing, draw_lanes
from commonir.viewing.page import page


def draw(module: Module, name: str) -> Drawing:
    """The picture of a program.

    Raises: DiagnosticError (E0807) for a program that is not of ranks; with everything that is wrong with one whose
        tensors do not say where they lie.
    """
    ranks = [op for op in module.body.operations if isinstance(op, ark.Rank)]
    if not all(rank.is_placed for rank in ranks):
        raise DiagnosticError(*[finding for finding in verify(module, Dialects()) if finding.is_error])
    if ranks:
        return draw_lanes(timeline(module), name)
    functions = core.ranks_of(module)
    if functions:
        return draw_lanes(core_timeline(functions), name)
    message = "only programs of ranks are drawn: ARK models, and programs of the core whose functions are ranks"
    help = "`cir view MODEL --ranks N` divides a program first; `cir show MODEL` prints any program as text"
    raise DiagnosticError(Diagnostic(NOT_DRAWN, message, help=help))


_FORMS: Mapping[str, Callable[[Drawing], str]] = {"svg": Drawing.svg, "html": page}


def save_picture(module: Module, path: str | os.PathLike[str], to: str | None, title: str) -> Picture:
    """Writes the picture of a program as SVG or as a page; without `to`, the suffix of the path tells which.

    Raises: DiagnosticError (E0804, E0807, E08xx).
    """
    form = Path(path).suffix.removeprefix(".").lower() if to is None else to
    if form not in _FORMS:
        message = f"a picture is written as {' or '.join(_FORMS)}, and '{Path(path).name}' is neither"
        raise DiagnosticError(Diagnostic(UNKNOWN_OUTPUT_FORMAT, message, help="call it NAME.svg or NAME.html"))
    drawing = draw(module, title or Path(path).stem)
    content = _FORMS[form](drawing).encode()
    with atomic_file(path) as out:
        out.write(content)
    size = (round(drawing.width), round(drawing.height))
    return Picture(os.fspath(path), len(content), *size, drawing.summary, drawing.findings, drawing.left_out)


__all__ = ["Drawing", "draw", "save_picture"]
