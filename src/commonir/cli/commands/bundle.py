"""`cir bundle`: copies imported libraries into a Common IR file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from commonir.cli.options import PATH, output_option
from commonir.cli.session import Session, verb
from commonir.cli.writing import check_output, written

if TYPE_CHECKING:
    from commonir.cli.answer import Answer


@verb("cir bundle model.cir -o alone.cir", opens=True)
@click.argument("model", metavar="M", type=PATH)
@output_option(renews="model")
def bundle(session: Session, model: str, *, output: str) -> Answer:
    """Copy all libraries that a Common IR program imports, directly or indirectly, into its file.

    Libraries and calls keep their names. Weights stay in the file beside it.
    """
    check_output(session, output)
    with session.progress(f"reading {model}") as progress:
        before = session.load(model)
        progress.step("copying libraries")
        after = session.api.bundle(before)
        progress.step(f"writing {output}")
        return written(session, before, after, output)


command = bundle
