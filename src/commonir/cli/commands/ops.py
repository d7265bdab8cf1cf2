"""`cir ops`: shows reference pages, generated from the definitions."""

from __future__ import annotations

import click

from commonir.cli.answer import Answer, listed_operations
from commonir.cli.options import PATH, completed
from commonir.cli.session import Session, verb


@verb("cir ops mil.conv", "cir ops --dialect onnx", opens=True)
@click.argument("name", required=False, shell_complete=completed("operations"))
@click.option(
    "--library",
    metavar="FILE",
    type=PATH,
    help="Show what this Common IR file and its libraries declare.",
)
def ops(session: Session, name: str | None, library: str | None) -> Answer:
    """Show the page of an operation or dialect; without NAME, list all operations.

    `--dialect NAME` lists the operations of one dialect, also of one that only MLIR's TableGen files define.
    """
    named = [each for each in session.definitions if not each.endswith(".td") and session.api.is_dialect(each)]
    session.definitions = tuple([each for each in session.definitions if each not in named])
    if len(named) > 1 or (named and (name is not None or library is not None)):
        raise click.UsageError(
            "'--dialect' with a name lists the operations of one dialect; it takes neither NAME nor --library"
        )
    declaring = None if library is None else session.load(library, lenient=True)
    if name is not None:
        page = (
            session.api.declared_page(declaring, name)
            if declaring is not None
            else session.api.reference_page(name, dialects=session.dialects)
        )
        return Answer({"name": name, "page": page}, lambda out: out.markdown(page))
    operations = (
        session.api.declared_operations(declaring)
        if declaring is not None
        else session.api.operations(named[0] if named else None, dialects=session.dialects)
    )
    # The files of a dialect of MLIR include those of others.
    prefixes = tuple([f"{each}." for each in session.definitions if not each.endswith(".td")])
    return listed_operations([entry for entry in operations if not prefixes or entry.name.startswith(prefixes)])


command = ops
