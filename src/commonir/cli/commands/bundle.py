"""`cir bundle`: a Common IR program and the libraries that it imports, as one file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from commonir.cli.options import PATH, output_option
from commonir.cli.session import Session, verb
from commonir.cli.writing import check_output, written

if TYPE_CHECKING:
    from commonir.cli.answer import Answer


@verb(opens=True)
@click.argument("model", metavar="M", type=PATH)
@output_option()
def bundle(session: Session, model: str, *, output: str) -> Answer:
    """Write a Common IR program with all libraries that it imports, directly and through others, in one file.

    Libraries keep their names, and nodes call what they called before. Weights stay in a file beside it.
    """
    check_output(session, output)
    with session.progress(f"reading {model}") as progress:
        before = session.load(model)
        progress.step("putting libraries into it")
        after = session.api.bundle(before)
        progress.step(f"writing {output}")
        return written(session, before, after, output)


command = bundle
