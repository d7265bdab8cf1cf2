"""`cir diff`: shows structural differences of two programs."""

from __future__ import annotations

import click

from commonir.base.diagnostics import ExitStatus
from commonir.cli.answer import Answer
from commonir.cli.programs import two_programs_argument
from commonir.cli.session import Session, verb
from commonir.reports.difference_tables import DIFFERENCES_SHOWN, Listed, write_differences


@verb("cir diff old.onnx new.onnx --weights", opens=True)
@two_programs_argument("A B", needs_both=True)
@click.option("--weights", is_flag=True, help="Show how far each pair of different weights is apart.")
@click.option(
    "--tolerance",
    metavar="X",
    type=click.FloatRange(min=0),
    help="Relative tolerance of weights. It is a fraction of their largest magnitude.",
)
@click.option("--summary", "is_summary", is_flag=True, help="Only count differences.")
@click.option("--all", "is_complete", is_flag=True, help="List all differences, also names and inferred types.")
def diff(
    session: Session,
    first: str,
    second: str,
    *,
    weights: bool,
    tolerance: float | None,
    is_summary: bool,
    is_complete: bool,
) -> Answer:
    """Show the differences of two programs: interface, operations, attributes, weights. Nothing is run.

    Programs of the same format are compared directly, others as core programs. Operations are matched by their inputs
    and by the uses of their results; names only decide between several candidates. Except for inputs and outputs,
    different names are not a difference. Exit status 1 when the programs differ.

    `cir compare` runs both programs and compares values.
    """
    with session.progress(f"reading {first}") as progress:
        a = session.load(first, lenient=True)
        progress.step(f"reading {second}")
        b = session.load(second, lenient=True)
        progress.step("comparing")
        differences = session.api.diff(a, b, tolerance=tolerance, measure=weights)
    shown = 0 if is_summary else None if is_complete else DIFFERENCES_SHOWN
    status = ExitStatus.YES if differences.are_same else ExitStatus.NO
    result = {"are_same": differences.are_same, **differences.to_json()}
    listed = Listed(shown, "--all")
    return Answer(result, lambda out: write_differences(differences, out, listed), status)


command = diff
