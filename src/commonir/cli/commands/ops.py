"""`cir ops`: reference pages, generated from the definitions."""

from __future__ import annotations

import click

from commonir.cli.answer import Answer
from commonir.cli.session import Session, verb
from commonir.cli.terminal import Column


@verb(opens=True)
@click.argument("name", required=False)
@click.option("--dialect", metavar="NAME", help="List only the operations of this dialect.")
@click.option(
    "--library",
    metavar="FILE",
    type=click.Path(),
    help="Look among the operators and functions that this Common IR file and its libraries declare.",
)
def ops(session: Session, name: str | None, dialect: str | None, library: str | None) -> Answer:
    """Show the reference page of the operation or dialect NAME; without NAME, list the operations."""
    if dialect is not None and (name is not None or library is not None):
        raise click.UsageError(f"'--dialect' lists operations: leave out {'NAME' if name else '--library'}")
    declaring = None if library is None else session.load(library, lenient=True)
    if name is not None:
        page = session.api.reference_page(name) if declaring is None else session.api.declared_page(declaring, name)
        return Answer({"name": name, "page": page}, lambda out: out.markdown(page))
    found = session.api.operations(dialect) if declaring is None else session.api.declared_operations(declaring)
    rows = [(entry.name, entry.since, entry.summary) for entry in found]
    columns = [Column("operation"), Column("since"), Column("")]
    return Answer([entry.to_json() for entry in found], lambda out: out.table(columns, rows))


command = ops
