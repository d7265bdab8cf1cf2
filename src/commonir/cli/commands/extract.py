"""`cir extract`: writes the part of a program between named values as a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from commonir.base import codes
from commonir.cli.options import ExternalData, completed, external_data_options, function_option, output_option
from commonir.cli.programs import program_argument
from commonir.cli.session import Session, verb
from commonir.cli.writing import check_output, written

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonir.cli.answer import Answer


@verb("cir extract model.onnx -o part.onnx --from /conv1/out --to logits", opens=True)
@program_argument("M")
@output_option(renews="model")
@click.option(
    "--from",
    "sources",
    metavar="NAME[,NAME...]",
    multiple=True,
    help="Values that become the inputs.",
    shell_complete=completed("values"),
)
@click.option(
    "--to",
    "targets",
    metavar="NAME[,NAME...]",
    multiple=True,
    help="Values that become the outputs.",
    shell_complete=completed("values"),
)
@function_option("Use this function")
@external_data_options
def extract(
    session: Session,
    model: str,
    *,
    output: str,
    sources: tuple[str, ...],
    targets: tuple[str, ...],
    function: str | None,
    external: ExternalData,
) -> Answer:
    """Write the part of a program between named values, or a function, as a model of the same format.

    The default of --from are the inputs, the default of --to the outputs. Other inputs of the program that the part
    needs remain inputs. Only the weights that the part uses are copied.
    """
    check_output(session, output)
    begin, end = _names(sources), _names(targets)
    if not begin and not end and function is None:
        raise click.UsageError("give first values (--from), last values (--to) or a function (--function)")
    with session.progress(f"reading {model}") as progress:
        before = session.load(model)
        progress.step("extracting")
        after = session.api.extract(before, begin, end, function=function)
        progress.step(f"writing {output}")
        # The first values are the first inputs, whatever they are called by.
        others = [v.name for v in after.inputs[len(begin) :]] if begin else []
        if others:
            session.findings.add(codes.INPUTS_KEPT, f"the part needs more inputs: {', '.join(others)}", file=output)
        return written(session, before, after, output, external, kept_inputs=others)


def _names(texts: Sequence[str]) -> list[str]:
    return [name for text in texts for name in text.split(",") if name]


command = extract
