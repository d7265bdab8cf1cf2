"""Removes faults of a model that have only one right remedy, which the diagnostics themselves carry."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from commonir.api.opening import Path_, load, read_model, save, writable_format
from commonir.base.codes import CANNOT_WRITE
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.tuples import NamedTuple
from commonir.formats.format import Formats
from commonir.ir.module import Module
from commonir.ods import Dialect, Dialects
from commonir.ods import verify as verify_operations
from commonir.reports import FileEntry

if TYPE_CHECKING:
    from commonir.api.running import Array

_MAX_ROUNDS = 16
"""A fix may reveal another fault; no chain of them is longer."""
_SECONDS = 60.0
"""The time limit of each run that compares the outputs."""


class Fixed(NamedTuple):
    """A model after `fix`: the program, None if the file could not be read, what was fixed, and what was not."""

    module: Module | None
    fixed: tuple[Diagnostic, ...]
    remaining: tuple[Diagnostic, ...]

    @property
    def is_sound(self) -> bool:
        """Whether no error remains."""
        return self.module is not None and not any(d.is_error for d in self.remaining)


def fix(path: Path_ | Sequence[Path_], *, dialects: Sequence[Dialect] = ()) -> Fixed:
    """Opens a model, and removes each fault of it whose diagnostic has a `fix`: those with only one right remedy.

    Several paths must be the files of one program, as for `load`. Writes nothing; `save` writes the program, if no
    error remains.

    Raises: DiagnosticError for a file of no known format.
    """
    used = Dialects(dialects=dialects)
    module, reading = read_model(path, used)
    if module is None:
        return Fixed(None, (), tuple(reading))
    own = Formats().of_module(module)
    file = os.fspath(path) if isinstance(path, str | os.PathLike) else os.fspath(path[0])
    fixed = _apply(reading)
    found: list[Diagnostic] = []
    for _ in range(_MAX_ROUNDS):
        found = [*verify_operations(module, used), *(own.verify(module) if own is not None else ())]
        done = _apply(found)
        if not done:
            break
        fixed += [d.located(file=file) for d in done]
    unread = [d for d in reading if d.fix is None]
    return Fixed(module, tuple(_once(fixed)), (*unread, *(d.located(file=file) for d in found)))


def _apply(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Applies each fix of some diagnostics once, and returns those that had it."""
    result = _once(diagnostics)
    for finding in result:
        assert finding.fix is not None
        finding.fix.apply()
    return result


def _once(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Returns the first diagnostic with each fix."""
    first: dict[object, Diagnostic] = {}
    for d in diagnostics:
        if d.fix is not None:
            place = (d.file, d.where) if d.fix.target is None else id(d.fix.target)
            first.setdefault((d.fix.text, place), d)
    return list(first.values())


def save_fixed(path: Path_ | Sequence[Path_], fixed: Module, output: Path_) -> tuple[tuple[FileEntry, ...], str]:
    """Writes a program that `fix` returned, after comparing its outputs with those of the original on random inputs.

    Returns the files, and the engine that ran both; "" where the original cannot run.

    Raises: DiagnosticError (E08xx) when it cannot be written, and when its outputs are not those of the original.
    """
    engine = _checked(path, fixed)
    return save(fixed, output), engine


def _checked(path: Path_ | Sequence[Path_], fixed: Module) -> str:
    """Runs the original and the fixed program on the same inputs, and returns the engine.

    Raises: DiagnosticError (E0801) when the outputs differ.
    """
    from commonir.api.running import engine_options, random_inputs, run, run_with_onnxruntime  # noqa: PLC0415

    options = engine_options(time_limit_seconds=_SECONDS)
    before, engine = None, ""
    try:
        inputs = random_inputs(fixed)
        try:
            before, engine = run(load(path), inputs, options=options), "numpy"
            after = run(fixed, inputs, options=options)
        except DiagnosticError:
            if before is not None or writable_format(fixed) != "onnx" or not isinstance(path, str | os.PathLike):
                raise
            before, engine = run_with_onnxruntime(path, inputs, options=options), "onnxruntime"
            with TemporaryDirectory(prefix="commonir-") as folder:
                trial = Path(folder, "trial.onnx")
                save(fixed, trial)
                after = run_with_onnxruntime(trial, inputs, options=options)
    except DiagnosticError:
        if before is not None:
            raise
        return ""
    wrong = next((name for name, array in before.items() if not _are_equal(array, after.get(name))), None)
    if wrong is not None:
        message = f"the output '{wrong}' of the fixed program is not that of the original, so nothing is written"
        raise DiagnosticError(Diagnostic(CANNOT_WRITE, message, help="please report this"))
    return engine


def _are_equal(expected: Array, actual: Array | None) -> bool:
    import numpy as np  # noqa: PLC0415  only a run loads it

    if actual is None or np.shape(expected) != np.shape(actual):
        return False
    is_float = np.asarray(expected).dtype.kind == "f"
    return bool(np.array_equal(expected, actual, equal_nan=is_float))
