"""`cir shapes`: the inferred type of every value."""

from __future__ import annotations

import click

from commonir.cli.answer import Answer
from commonir.cli.choices import parse_sizes
from commonir.cli.columns import Column
from commonir.cli.options import PATH, sizes_option
from commonir.cli.session import Session, verb


@verb(opens=True)
@click.argument("model", type=PATH)
@sizes_option("Show the shapes for a size of a dimension.")
@click.option("--constants", "with_constants", is_flag=True, help="List constants too.")
def shapes(session: Session, model: str, *, sizes: tuple[str, ...], with_constants: bool) -> Answer:
    """List the values of a program with their types: sizes are numbers, or expressions of the sizes of inputs.

    Types that the file does not state are inferred. A size that only running tells has a name of its own; MODEL is a
    file or package of any format that is read.
    """
    program = session.load(model, lenient=True)
    entries = session.api.shapes(program, parse_sizes(sizes, "--set"), with_constants=with_constants)
    several = len({entry.function for entry in entries}) > 1
    columns = [Column("value"), Column("operation"), Column("type"), *([Column("function")] if several else [])]
    rows = [(e.name, e.operation, e.type, *([e.function] if several else [])) for e in entries]
    return Answer([entry.to_json() for entry in entries], lambda out: out.table(columns, rows))


command = shapes
