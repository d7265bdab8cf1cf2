"""Whether a converted program computes what the original does: both on the same seeded inputs, by different engines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from commonir.base.text import plural
from commonir.cli.progress import Progress
from commonir.cli.session import Session
from commonir.cli.terminal import Column, Terminal

if TYPE_CHECKING:
    from commonir.api import Module
    from commonir.reports import OutputError

# An implementation that shares nothing with ours, for the format it reads.
_ORACLE = "onnxruntime"
_ORACLE_FORMAT = "onnx"


class Tolerance(NamedTuple):
    """The tolerances the user gave."""

    atol: float | None
    rtol: float | None


def check_agreement(
    session: Session,
    source: Module,
    converted: Module,
    path: str,
    target: str,
    function: str | None,
    runs: int,
    seed: int,
    dimensions: Mapping[str, int],
    tolerance: Tolerance,
    progress: Progress,
) -> list[tuple[OutputError, ...]]:
    """The errors of every output, for each set of inputs.

    What is checked is the file that was written, read again: an ONNX file by onnxruntime, another by our default
    engine, which also runs the original.

    Raises: what loading and running raise; MISSING_PACKAGE without onnxruntime.
    """
    api = session.api
    summary = api.summarize(source)
    types = {*summary.element_types, *api.summarize(converted).element_types}
    rtol = api.default_rtol(types) if tolerance.rtol is None else tolerance.rtol
    errors: list[tuple[OutputError, ...]] = []
    # States go on from one set of inputs to the next, and are compared as outputs are.
    before, after = api.State(), api.State()
    for number in range(runs):
        progress.step(f"checking, inputs {number + 1} of {runs}")
        inputs = api.random_inputs(source, function=function, seed=seed + number, dims=dimensions)
        expected = {**api.run(source, inputs, function=function, seed=seed, state=before), **before}
        if target == _ORACLE_FORMAT:
            found = api.run_with_onnxruntime(path, inputs, state=after)
        else:
            found = api.run_converted(source, api.load(path), inputs, function=function, state=after)
        errors.append(api.compare_outputs(expected, {**found, **after}, rtol=rtol, atol=tolerance.atol))
    return errors


def write_agreement(errors: Sequence[tuple[OutputError, ...]], form: str, out: Terminal) -> None:
    """Writes the largest error of each output over all sets of inputs, for a program of a format."""
    engine = _ORACLE if form == _ORACLE_FORMAT else "the program before"
    out.line(f"check against {engine}, {plural(len(errors), 'set')} of inputs:")
    numbers = [Column(title, is_number=True) for title in ("largest error", "relative", "allowed")]
    columns = [Column("output"), Column("type"), *numbers, Column("")]
    worst = [max(of_output, key=_badness) for of_output in zip(*errors, strict=True)]
    rows = [
        (error.name, error.type, _number(error.absolute), _number(error.relative), _allowed(error), _verdict(error))
        for error in worst
    ]
    out.table(columns, rows, indent=2)


def _badness(error: OutputError) -> tuple[bool, float]:
    return not error.is_within, float("inf") if error.absolute is None else error.absolute


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2g}"


def _allowed(error: OutputError) -> str:
    return f"{error.atol:.2g} + {error.rtol:.2g} |y|" if error.atol or error.rtol else "none"


def _verdict(error: OutputError) -> str:
    if error.is_within:
        return "ok"
    return "differs" + (f" at {list(error.at)}" if error.at else "") + (f": {error.note}" if error.note else "")
