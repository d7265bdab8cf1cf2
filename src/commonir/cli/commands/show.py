"""`cir show`: a program, or a part of it, as MLIR text."""

from __future__ import annotations

import click

from commonir.cli.answer import Answer
from commonir.cli.session import Session, verb


@verb(opens=True)
@click.argument("model", type=click.Path())
@click.option("--generic", "is_generic", is_flag=True, help="Write every operation in the generic form.")
@click.option("--node", metavar="NAME", help="Show only the operation that has this name or defines this value.")
@click.option(
    "--around", default=0, metavar="N", type=click.IntRange(min=0), help="With --node: also N before and after."
)
@click.option(
    "--no-elide", "is_complete", is_flag=True, help="Write the elements of all constants, also of large ones."
)
@click.option(
    "--syntax",
    metavar="NAME",
    default="mlir",
    show_default=True,
    help="The language of the text: mlir, or mil for programs of Core ML.",
)
def show(
    session: Session, model: str, *, is_generic: bool, node: str | None, around: int, is_complete: bool, syntax: str
) -> Answer:
    """Print a program as MLIR text; large constants are elided."""
    if around and node is None:
        raise click.UsageError("'--around' needs '--node NAME'")
    if syntax != session.api.MLIR and (is_generic or node is not None):
        raise click.UsageError("'--generic' and '--node' are for MLIR text only")
    program = session.load(model, lenient=True)
    text = session.api.show(program, generic=is_generic, node=node, around=around, elide=not is_complete, syntax=syntax)
    return Answer({"text": text}, lambda out: out.lines(text))


command = show
