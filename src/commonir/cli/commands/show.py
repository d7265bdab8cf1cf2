"""`cir show`: prints a program, or a part of it, as text."""

from __future__ import annotations

from functools import partial

import click

from commonir.base.text import PIECE_SEPARATOR
from commonir.cli.answer import Answer
from commonir.cli.options import completed, split_option
from commonir.cli.programs import program_argument
from commonir.cli.session import Session, verb


@verb("cir show model.mlpackage", "cir show model.onnx --node /conv1/Conv --around 2", opens=True)
@program_argument()
@click.option(
    "--node",
    metavar="NAME",
    help="Show this node or value, or all nodes of this type or pattern (`*conv1*`), and neighbours.",
    shell_complete=completed("nodes"),
)
@click.option(
    "--around", metavar="N", type=click.IntRange(min=0), help="Steps to producers and users.  [default: 1, of one node]"
)
@click.option("--all", "is_complete", is_flag=True, help="Show all constants and attributes, as MLIR text.")
@click.option("--no-elide", "is_unelided", is_flag=True, help="As --all, with large constants: can be read back.")
@click.option("--generic", "is_generic", is_flag=True, help="As --all, in the generic form.")
@click.option(
    "--syntax",
    metavar="NAME",
    default="mlir",
    show_default=True,
    help="The syntax: mlir, or mil for Core ML programs.",
)
@click.option(
    "--names",
    type=click.Choice(["own", "mlir"]),
    help="Value names: those of the program, or those of mlir-opt. The default is mlir for programs in MLIR's own"
    " dialects, otherwise own.",
)
@click.option("--locations", is_flag=True, help="Print source locations.")
@split_option
@click.option(
    "--allow-unregistered",
    is_flag=True,
    expose_value=False,
    help="As in `cir check`. Unknown operations are printed anyway.",
)
def show(
    session: Session,
    model: str,
    *,
    node: str | None,
    around: int | None,
    is_complete: bool,
    is_unelided: bool,
    is_generic: bool,
    syntax: str,
    names: str | None,
    locations: bool,
    is_split: bool,
) -> Answer:
    """Print a program as text.

    Small constants stand where they are used, large ones and attributes that only files need are left out. Programs in
    MLIR's own dialects are printed as mlir-opt prints them.
    """
    if around is not None and node is None:
        raise click.UsageError("'--around' needs '--node NAME'")
    if syntax != session.api.MLIR and (is_generic or is_complete or node is not None):
        raise click.UsageError("'--generic', '--all' and '--node' are for MLIR text only")
    programs = session.pieces(model) if is_split else [session.load(model, lenient=True)]
    shown = partial(
        session.api.show,
        generic=is_generic,
        node=node,
        around=around,
        complete=is_complete,
        elide=not is_unelided,
        syntax=syntax,
        names=names or "",
        locations=locations,
    )
    text = f"{PIECE_SEPARATOR}\n".join(map(shown, programs))
    if locations:
        text = session.readable_text(text)
    return Answer({"text": text}, lambda out: out.lines(text))


command = show
