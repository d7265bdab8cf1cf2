"""Drawings of programs: self-contained HTML pages, SVG, PNG and PDF."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from html import escape as escape_markup
from pathlib import Path

from commonir.base.codes import NOT_DRAWN, UNKNOWN_OUTPUT_FORMAT, WRONG_OVERLAY
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.files import atomic_file
from commonir.base.text import escape
from commonir.dialects import ark, core
from commonir.inspection.viewing.boxes import draw_graphs
from commonir.inspection.viewing.details import NO_MARKS, Details, Marks
from commonir.inspection.viewing.drawing import Drawing
from commonir.inspection.viewing.graphs import Figure, figure_of
from commonir.inspection.viewing.lanes import draw_lanes
from commonir.inspection.viewing.overlays import Overlaid, overlays_of
from commonir.inspection.viewing.page import page
from commonir.inspection.viewing.pdf import pdf
from commonir.inspection.viewing.png import png, scale_of
from commonir.inspection.viewing.svg import svg
from commonir.ir.module import Module
from commonir.ods import Dialects, verify
from commonir.passes.ark.timeline import timeline
from commonir.passes.timeline import core_timeline
from commonir.reports import SavedDrawing


def draw(module: Module, name: str, overlays: Sequence[Overlaid] = ()) -> Drawing:
    """Returns the drawing of a program, with operations coloured by reports about it.

    Programs of several ranks are drawn as lanes with messages between them, others as graphs of operations.

    Raises: DiagnosticError (E0807 for a program without a function, E0809 for a report that is not about it or for
    lanes), and errors of a program of ranks whose tensors have no buffers.
    """
    ranks = [op for op in module.body.operations if isinstance(op, ark.Rank)]
    if not all(rank.is_placed for rank in ranks):
        raise DiagnosticError(*[finding for finding in verify(module, Dialects()) if finding.is_error])
    functions = core.ranks_of(module)
    if overlays and (ranks or functions):
        message = "an overlay colours the operations of a graph, and the ranks of a program are drawn as lanes"
        help = "`cir profile MODEL -o profile.html` draws the time of each rank"
        raise DiagnosticError(Diagnostic(WRONG_OVERLAY, message, help=help))
    if ranks:
        return draw_lanes(timeline(module), name)
    if functions:
        return draw_lanes(core_timeline(functions), name)
    return draw_graphs([_graphs(module, details=Details(NO_MARKS, overlays_of(overlays, [module])))], name)


def draw_beside(
    a: Module, b: Module, marks: Marks, names: tuple[str, str], overlays: Sequence[Overlaid] = ()
) -> Drawing:
    """Returns the drawing of two programs as graphs side by side, with marked operations highlighted, and coloured by
    reports about them.

    Raises: DiagnosticError (E0807 for a program without a function, E0809 for a report that is not about them).
    """
    details = Details(marks, overlays_of(overlays, [a, b]))
    figures = [_graphs(module, name, details=details) for module, name in zip((a, b), names, strict=True)]
    return draw_graphs(figures, " | ".join(names))


def _graphs(module: Module, name: str = "", *, details: Details) -> Figure:
    result = figure_of(module, name, details)
    if not result.graphs:
        message = "there is nothing to draw: the program has no function with a body"
        help = "`cir show MODEL` prints any program as text"
        raise DiagnosticError(Diagnostic(NOT_DRAWN, message, help=help))
    return result


_FORMS: Mapping[str, Callable[[Drawing], bytes]] = {
    "html": lambda drawing: page(drawing).encode(),
    "svg": lambda drawing: svg(drawing).encode(),
    "png": png,
    "pdf": pdf,
}


def form_of(path: str | os.PathLike[str], to: str | None) -> str:
    """Returns the format of a drawing: the requested one, else by the suffix of its path.

    Raises: DiagnosticError (E0804) for another suffix.
    """
    form = Path(path).suffix.removeprefix(".").lower() if to is None else to
    if form not in _FORMS:
        *others, last = _FORMS
        message = f"a drawing is written as {', '.join(others)} or {last}, not as '{Path(path).name}'"
        raise DiagnosticError(Diagnostic(UNKNOWN_OUTPUT_FORMAT, message, help="call it NAME.html or NAME.svg"))
    return form


def save_drawing(drawing: Drawing, path: str | os.PathLike[str], form: str) -> SavedDrawing:
    """Writes a drawing. Raises: DiagnosticError (E0303 and E0705 for PNG files, E08xx)."""
    content = _FORMS[form](drawing)
    with atomic_file(path) as out:
        out.write(content)
    # The page opens what other formats leave folded.
    left_out = () if form == "html" and drawing.page_data is not None else drawing.left_out
    if form == "png" and scale_of(drawing) < 1:
        left_out = (*left_out, f"at {scale_of(drawing):.0%} of its size: svg and pdf have any size")
    size = (round(drawing.width), round(drawing.height))
    return SavedDrawing(
        os.fspath(path), len(content), *size, drawing.summary, drawing.findings, left_out, drawing.overlays
    )


class View:
    """A drawing of a program that notebooks show: a page with zoom, folding, search and details."""

    def __init__(self, drawing: Drawing) -> None:
        self._drawing = drawing

    def save(self, path: str | os.PathLike[str], *, to: str | None = None) -> SavedDrawing:
        """Writes the drawing in the format of its suffix: html, svg, png or pdf. Raises: DiagnosticError (E08xx)."""
        return save_drawing(self._drawing, path, form_of(path, to))

    def __repr__(self) -> str:
        return f"<View of {escape(self._drawing.name)}: {self._drawing.summary}>"

    def _repr_html_(self) -> str:
        # The page has a policy of its own; in the frame it can reach neither the notebook nor a network.
        content = escape_markup(page(self._drawing))
        return f'<iframe sandbox="allow-scripts" style="width:100%;height:640px;border:0" srcdoc="{content}"></iframe>'


__all__ = ["Drawing", "Overlaid", "View", "draw", "draw_beside", "form_of", "save_drawing"]
