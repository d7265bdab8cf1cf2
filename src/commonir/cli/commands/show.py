"""`cir show`: prints a program, or a part of it, as MLIR text."""

from __future__ import annotations

from functools import partial

import click

from commonir.base.text import PIECE_SEPARATOR
from commonir.cli.answer import Answer
from commonir.cli.options import PATH, split_option
from commonir.cli.session import Session, verb


@verb("cir show model.mlpackage", "cir show model.onnx --node /conv1/Conv --around 2", opens=True)
@click.argument("model", type=PATH)
@click.option("--generic", "is_generic", is_flag=True, help="Print all operations in the generic form.")
@click.option("--node", metavar="NAME", help="Show only this operation, or the one that defines this value.")
@click.option(
    "--around",
    default=0,
    metavar="N",
    type=click.IntRange(min=0),
    help="With --node: also show N operations before and after.",
)
@click.option("--no-elide", "is_complete", is_flag=True, help="Print the elements of large constants too.")
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
    is_generic: bool,
    node: str | None,
    around: int,
    is_complete: bool,
    syntax: str,
    names: str | None,
    locations: bool,
    is_split: bool,
) -> Answer:
    """Print a program as MLIR text; large constants are elided."""
    if around and node is None:
        raise click.UsageError("'--around' needs '--node NAME'")
    if syntax != session.api.MLIR and (is_generic or node is not None):
        raise click.UsageError("'--generic' and '--node' are for MLIR text only")
    programs = session.pieces(model) if is_split else [session.load(model, lenient=True)]
    shown = partial(
        session.api.show,
        generic=is_generic,
        node=node,
        around=around,
        elide=not is_complete,
        syntax=syntax,
        names=names or "",
        locations=locations,
    )
    text = f"{PIECE_SEPARATOR}\n".join(map(shown, programs))
    if locations:
        text = session.readable_text(text)
    return Answer({"text": text}, lambda out: out.lines(text))


command = show
