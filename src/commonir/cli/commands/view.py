"""`cir view`: a program as a drawing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from commonir.base.text import format_bytes
from commonir.cli.answer import Answer
from commonir.cli.options import PATH, output_option
from commonir.cli.ranks import check_division, ranks_options
from commonir.cli.session import Session, verb
from commonir.cli.terminal import Style, Terminal

if TYPE_CHECKING:
    from commonir.reports import SavedDrawing


@verb(opens=True)
@click.argument("model", type=PATH)
@click.argument("other", required=False, type=PATH)
@output_option("Where the drawing goes; `.svg` is an image, `.html` a page with zoom and search.", "FILE")
@click.option("--to", type=click.Choice(["svg", "html"]), help="What is written, whatever the suffix says.")
@click.option("--open", "is_opened", is_flag=True, help="Show it in the browser.")
@ranks_options
def view(
    session: Session,
    model: str,
    other: str | None,
    *,
    output: str,
    to: str | None,
    is_opened: bool,
    ranks: int | None,
    parallel: str | None,
) -> Answer:
    """Draw a program as a graph, two programs side by side, or ranks as lanes.

    Boxes are operations, lines the values that go from one to another; pointing at a box shows its attributes.
    Operations that hold blocks are drawn around them. With OTHER, what differs (`cir diff`) stands out on both sides.

    Of a program of ranks - an ARK model, a program of the core in which each rank has a function, or with `--ranks` any
    program, which is divided first - the ranks are lanes, with what they send each other as arrows. Operations stand in
    the order in which they run, a receive below its send; a deadlock and what nobody receives are marked.
    """
    check_division(ranks, parallel)
    if other is not None and ranks is not None:
        raise click.UsageError("'--ranks' divides one program; it has no meaning for two")
    program = session.load(model, lenient=True)
    if ranks is not None:
        program = session.api.shard(program, ranks, parallel, findings=session.findings)
    beside = None if other is None else session.load(other, lenient=True)
    titles = [Path(name).name if name not in (None, "-") else "" for name in (model, other)]
    figure = session.api.view(program, output, other=beside, to=to, title=titles[0], other_title=titles[1])
    if is_opened:
        click.launch(Path(output).resolve().as_uri())
    return Answer(figure.to_json(), lambda out: _write(figure, out))


def _write(figure: SavedDrawing, out: Terminal) -> None:
    out.line(figure.summary)
    for finding in figure.findings:
        out.line(f"  {finding}", Style.WARNING)
    for note in figure.left_out:
        out.line(f"  {note}")
    out.line(f"  wrote {figure.path} ({format_bytes(figure.size_bytes)})")


command = view
