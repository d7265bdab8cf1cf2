"""`cir extract`: the part of a program between named values, as a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from commonir.base import codes
from commonir.cli.options import PATH, function_option, output_option
from commonir.cli.session import Session, verb
from commonir.cli.writing import check_output, written

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonir.cli.answer import Answer


@verb(opens=True)
@click.argument("model", metavar="M", type=PATH)
@output_option()
@click.option("--from", "sources", metavar="NAME[,NAME...]", multiple=True, help="Values that become the inputs.")
@click.option("--to", "targets", metavar="NAME[,NAME...]", multiple=True, help="Values that become the outputs.")
@function_option("Cut this function")
def extract(
    session: Session,
    model: str,
    *,
    output: str,
    sources: tuple[str, ...],
    targets: tuple[str, ...],
    function: str | None,
) -> Answer:
    """Write the part of a program between named values as a model of the same format.

    Without --from it begins at the inputs, without --to it ends at the outputs. Inputs of the program that the part
    needs besides those named stay inputs. Only the weights that the part uses are written, as they are.
    """
    check_output(session, output)
    begin, end = _names(sources), _names(targets)
    if not begin and not end:
        raise click.UsageError("give values to begin with (--from) or to end with (--to)")
    with session.progress(f"reading {model}") as progress:
        before = session.load(model)
        progress.step("cutting it out")
        after = session.api.extract(before, begin, end, function=function)
        progress.step(f"writing {output}")
        kept = [v.name for v in after.inputs if v.name not in begin] if begin else []
        if kept:
            session.findings.add(codes.INPUTS_KEPT, f"the part needs more inputs: {', '.join(kept)}", file=output)
        return written(session, before, after, output, kept_inputs=kept)


def _names(texts: Sequence[str]) -> list[str]:
    return [name for text in texts for name in text.split(",") if name]


command = extract
