"""`cir view`: draws a program."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from commonir.base.text import format_bytes
from commonir.cli.answer import Answer
from commonir.cli.options import OUTPUT, PATH
from commonir.cli.programs import two_programs_argument
from commonir.cli.ranks import check_sharding, ranks_options
from commonir.cli.session import Session, verb
from commonir.cli.terminal import Style, Terminal

if TYPE_CHECKING:
    from commonir.reports import SavedDrawing


@verb(
    "cir view model.onnx",
    "cir view old.onnx new.onnx -o both.html",
    "cir view model.onnx --overlay profile.json -o hot.html",
    opens=True,
)
@two_programs_argument("MODEL [OTHER]", needs_both=False)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=OUTPUT,
    help="Where to write an `.html`, `.svg`, `.png` or `.pdf` file; without it, the browser opens a page.",
)
@click.option(
    "--to",
    type=click.Choice(["html", "svg", "png", "pdf"]),
    help="The file type, if the suffix of FILE does not determine it.",
)
@click.option(
    "--overlay",
    "overlays",
    metavar="FILE",
    type=PATH,
    multiple=True,
    help="Colour operations by a report: `cir compare`, `profile` or `check` with `--json`; may be repeated.",
)
@click.option("--open", "is_opened", is_flag=True, help="Open the drawing in the browser.")
@ranks_options
def view(
    session: Session,
    first: str,
    second: str | None,
    *,
    output: str | None,
    to: str | None,
    overlays: tuple[str, ...],
    is_opened: bool,
    ranks: int | None,
    parallel: str | None,
) -> Answer:
    """Draw a program as a graph, two programs side by side, or ranks as lanes.

    Boxes are operations, lines are values; clicking a box of the page shows its attributes, operands, users and
    weights. Regions, modules and repeated layers are boxes that fold. With OTHER, the differences (`cir diff`) are
    marked on both sides.

    An overlay colours operations by the error of their values, with the first divergence, by their time and memory, or
    by findings. The page switches between several; an image shows the first.

    The ranks of a program - an ARK model, a core program with one function for each rank, or any program sharded by
    `--ranks` - are lanes, and messages are arrows. Operations are in program order, a receive below its send. Deadlocks
    and messages without a receiver are marked.
    """
    check_sharding(ranks, parallel)
    if second is not None and ranks is not None:
        raise click.UsageError("'--ranks' needs a single program")
    program = session.load(first, lenient=True)
    if ranks is not None:
        program = session.api.shard(program, ranks, parallel, findings=session.findings)
    beside = None if second is None else session.load(second, lenient=True)
    titles = _titles(first, second)
    where = _temporary(first) if output is None else output
    reports = [session.api.load_overlay(session.input_path(path), session.input_path(first)) for path in overlays]
    figure = session.api.view(
        program, where, other=beside, overlay=reports or None, to=to, title=titles[0], other_title=titles[1]
    )
    if is_opened or output is None:
        click.launch(Path(where).resolve().as_uri())
    return Answer(figure.to_json(), lambda out: _write(figure, out))


def _titles(*models: str | None) -> list[str]:
    """Returns the names of files, with those of their folders where they have one name."""
    paths = [None if model in (None, "-") else Path(model).absolute() for model in models]
    names = ["" if path is None else path.name for path in paths]
    if len(set(names)) == len(names):
        return names
    return ["" if path is None else f"{path.parent.name}/{path.name}" for path in paths]


def _temporary(model: str) -> str:
    """Returns the path of a page in a new folder, which stays there for the browser."""
    name = "program" if model == "-" else Path(model).stem
    return str(Path(tempfile.mkdtemp(prefix="cir-")) / f"{name}.html")


def _write(figure: SavedDrawing, out: Terminal) -> None:
    out.line(figure.summary)
    for overlay in figure.overlays:
        out.line(f"  {overlay}")
    for finding in figure.findings:
        out.line(f"  {finding}", Style.WARNING)
    for note in figure.left_out:
        out.line(f"  {note}")
    out.line(f"  wrote {figure.path} ({format_bytes(figure.size_bytes)})")


command = view
