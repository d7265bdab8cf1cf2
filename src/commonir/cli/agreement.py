"""Compares the outputs of a converted program with the original, on the same seeded inputs."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import commonir
from commonir.base import codes
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.text import plural
from commonir.base.tuples import NamedTuple
from commonir.cli.options import Tolerance
from commonir.cli.progress import Progress
from commonir.cli.session import Session
from commonir.cli.terminal import Terminal
from commonir.reports.columns import Column, type_text
from commonir.reports.comparison_tables import write_divergence

if TYPE_CHECKING:
    from commonir import Module
    from commonir.api import Array
    from commonir.cli.limits import TimeLeft
    from commonir.reports import Comparison, OutputError

# An independent implementation, for the format that it reads.
_ORACLE = "onnxruntime"
_ORACLE_FORMAT = "onnx"


class Check(NamedTuple):
    """The options of a check."""

    runs: int
    seed: int
    dimensions: Mapping[str, int]
    atol: Tolerance
    rtol: Tolerance
    inputs: Sequence[str] = ()

    def without_dims(self, fixed: Container[str]) -> Check:
        """Returns the check of a program in which dims are fixed already."""
        return self._replace(dimensions={name: n for name, n in self.dimensions.items() if name not in fixed})


class Agreement(NamedTuple):
    """The errors of every output for each set of inputs, the engine that ran the converted program, and where the
    programs first diverge if an output differs.
    """

    errors: Sequence[tuple[OutputError, ...]]
    engine: str
    explanation: Comparison | None


def check_agreement(
    session: Session,
    source: Module,
    converted: Module,
    path: str,
    target: str,
    function: str | None,
    check: Check,
    left: TimeLeft,
    progress: Progress,
) -> Agreement:
    """Runs both programs on seeded inputs and returns the errors.

    Reads the written file and runs it: an ONNX file with onnxruntime, other files with the engine for single runs. That
    also runs the original, and ONNX files that onnxruntime does not support.

    Raises: errors of loading and running; MISSING_PACKAGE without onnxruntime.
    """
    api = session.api
    rtol = _relative_tolerance(session, source, converted, check)
    written = _WrittenProgram(session, source, path, target, function, left)
    errors: list[tuple[OutputError, ...]] = []
    differing: Mapping[str, Array] | None = None
    # States continue from one set of inputs to the next, and are compared like outputs.
    before = commonir.State()
    known = session.inputs(source, check.inputs, function=function, seed=check.seed, resize=False)
    for number in range(check.runs):
        progress.step(f"checking, inputs {number + 1} of {check.runs}")
        inputs = api.random_inputs(
            source, function=function, seed=check.seed + number, dims=check.dimensions, given=known
        )
        ran = api.run(
            source,
            inputs,
            function=function,
            seed=check.seed,
            state=before,
            options=api.engine_options(time_limit_seconds=left.seconds),
        )
        result = written.run(inputs)
        errors.append(api.compare_outputs({**ran, **before}, {**result, **written.state}, rtol=rtol, atol=check.atol))
        if differing is None and not all(error.is_within for error in errors[-1]):
            differing = inputs
    if differing is None:
        return Agreement(errors, written.engine, None)
    progress.step("looking for the cause")
    explanation = _explanation(session, source, path, function, differing, written.engine, rtol, check, left)
    return Agreement(errors, written.engine, explanation)


def _relative_tolerance(
    session: Session, source: Module, converted: Module, check: Check
) -> float | Mapping[str, float]:
    """Returns the relative tolerance of a check: what users do not set follows from the types of both programs."""
    api = session.api
    types = {*api.summarize(source).element_types, *api.summarize(converted).element_types}
    default = api.default_rtol(types)
    if isinstance(check.rtol, Mapping):
        return {"*": default, **check.rtol}
    return default if check.rtol is None else check.rtol


class _WrittenProgram:
    """A converted program as it is in its file, and its state: onnxruntime runs it if it is ONNX, until it refuses."""

    def __init__(
        self, session: Session, source: Module, path: str, target: str, function: str | None, left: TimeLeft
    ) -> None:
        self._session = session
        self._source = source
        self._path = path
        self._function = function
        self._left = left
        self.engine = _ORACLE if target == _ORACLE_FORMAT else session.api.engine_for_one_run()
        self.state = commonir.State()

    def run(self, inputs: Mapping[str, Array]) -> Mapping[str, Array]:
        """Returns the outputs, by the names of the original. Raises: errors of loading and running."""
        result = self._run_with_onnxruntime(inputs) if self.engine == _ORACLE else None
        if result is not None:
            return result
        api = self._session.api
        return api.run_converted(
            self._source,
            api.load(self._path),
            inputs,
            function=self._function,
            state=self.state,
            options=api.engine_options(time_limit_seconds=self._left.seconds),
        )

    def _run_with_onnxruntime(self, inputs: Mapping[str, Array]) -> Mapping[str, Array] | None:
        """Returns the outputs; None if onnxruntime does not support the file: another engine runs it then."""
        api = self._session.api
        try:
            return api.run_with_onnxruntime(
                self._path,
                inputs,
                source=self._source,
                function=self._function,
                state=self.state,
                options=api.engine_options(time_limit_seconds=self._left.seconds),
            )
        except DiagnosticError as error:
            self.engine = api.engine_for_one_run()
            self._session.findings.extend(_not_by_the_oracle(error, self._path))
            return None


def _explanation(
    session: Session,
    source: Module,
    path: str,
    function: str | None,
    inputs: Mapping[str, Array],
    engine: str,
    rtol: Tolerance,
    check: Check,
    left: TimeLeft,
) -> Comparison | None:
    """Returns the comparison of both programs value by value, None where they cannot be compared so."""
    api = session.api
    try:
        return api.compare(
            source,
            api.load(path),
            inputs,
            engines=(api.engine_for_one_run(), engine),
            function=function,
            seed=check.seed,
            rtol=rtol,
            atol=check.atol,
            options=api.engine_options(time_limit_seconds=left.seconds),
        )
    except DiagnosticError:
        # Such as programs of several ranks, and inputs that the conversion renamed.
        return None


def _not_by_the_oracle(error: DiagnosticError, path: str) -> list[Diagnostic]:
    """Returns the findings when onnxruntime refuses a file. Raises: the error, when it has another cause."""
    if any(d.code is not codes.UNSUPPORTED_EXECUTION for d in error.diagnostics):
        raise error
    message = f"{_ORACLE} does not support the written file; an engine of commonir checked it instead"
    return [Diagnostic(codes.OTHER_ENGINE, message, file=path, notes=d.notes) for d in error.diagnostics]


def write_agreement(agreement: Agreement, form: str, out: Terminal) -> None:
    """Writes the largest error of each output over all sets of inputs, for a program of a format."""
    errors = agreement.errors
    engine = agreement.engine if form == _ORACLE_FORMAT else "the program before"
    out.line(f"check against {engine}, {plural(len(errors), 'set')} of inputs:")
    numbers = [Column(title, is_number=True) for title in ("largest error", "relative", "allowed")]
    columns = [Column("output"), Column("type"), *numbers, Column("")]
    worst = [max(of_output, key=_badness) for of_output in zip(*errors, strict=True)]
    rows = [
        (
            error.name,
            type_text(error.type),
            _number(error.absolute),
            _number(error.relative),
            _allowed(error),
            _verdict(error),
        )
        for error in worst
    ]
    out.table(columns, rows, indent=2)
    if agreement.explanation is not None and agreement.explanation.first_divergence is not None:
        write_divergence(agreement.explanation, agreement.explanation.first_divergence, out)


def differences(errors: Iterable[OutputError], of: str = "") -> list[str]:
    """Returns a line for each output beyond the tolerance, with its worst element; `of` names the function."""
    worst: dict[str, OutputError] = {}
    for error in errors:
        if not error.is_within:
            worst[error.name] = max(worst.get(error.name, error), error, key=_badness)
    return [f"output '{name}'{of}{_description(error)}" for name, error in worst.items()]


def _description(error: OutputError) -> str:
    if error.absolute is None:
        return f": {error.note}"
    at = f" at {list(error.at)}" if error.at else ""
    note = f": {error.note}" if error.note else ""
    return f" differs by {_number(error.absolute)}{at}, allowed: {_allowed(error)}{note}"


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
