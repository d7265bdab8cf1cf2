"""`cir ops`: reference pages, generated from the definitions."""

from __future__ import annotations

import click

from commonir.cli.answer import Answer
from commonir.cli.session import Session, verb
from commonir.cli.terminal import Column


@verb()
@click.argument("name", required=False)
@click.option("--dialect", metavar="NAME", help="List only the operations of this dialect.")
def ops(session: Session, name: str | None, dialect: str | None) -> Answer:
    """Show the reference page of the operation or dialect NAME; without NAME, list the operations."""
    if name is not None:
        if dialect is not None:
            raise click.UsageError("'--dialect' lists operations: leave out NAME")
        page = session.api.reference_page(name)
        return Answer({"name": name, "page": page}, lambda out: out.markdown(page))
    entries = session.api.operations(dialect)
    rows = [(entry.name, entry.since, entry.summary) for entry in entries]
    columns = [Column("operation"), Column("since"), Column("")]
    return Answer([entry.to_json() for entry in entries], lambda out: out.table(columns, rows))


command = ops
