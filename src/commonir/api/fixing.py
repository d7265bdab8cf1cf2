"""Removes faults of a model that have only one right remedy, which the diagnostics themselves carry."""

from __future__ import annotations

import os
from collections.abc import Sequence
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
    fixed = [d for d in reading if d.fix is not None]
    unread = [d for d in reading if d.fix is None]
    if module is None:
        return Fixed(None, (), tuple(reading))
    own = Formats().of_module(module)
    file = os.fspath(path) if isinstance(path, str | os.PathLike) else os.fspath(path[0])
    found: list[Diagnostic] = []
    for finding in fixed:
        assert finding.fix is not None
        finding.fix.apply()
    for _ in range(_MAX_ROUNDS):
        found = [*verify_operations(module, used), *(own.verify(module) if own is not None else ())]
        done: dict[str, Diagnostic] = {}
        for finding in found:
            if finding.fix is not None and finding.fix.text not in done:
                done[finding.fix.text] = finding
        for finding in done.values():
            assert finding.fix is not None
            finding.fix.apply()
        if not done:
            break
        fixed += [d.located(file=file) for d in done.values()]
    remaining = [*unread, *(d.located(file=file) for d in found)]
    unique = {(d.fix.text, d.file, d.where): d for d in fixed if d.fix is not None}
    return Fixed(module, tuple(unique.values()), tuple(remaining))


def save_fixed(path: Path_ | Sequence[Path_], fixed: Module, output: Path_) -> tuple[tuple[Path, ...], str]:
    """Writes a program that `fix` returned, after comparing its outputs with those of the original on random inputs.

    Returns the files, and the engine that ran both; "" where the original cannot run.

    Raises: DiagnosticError (E08xx) when it cannot be written, and when its outputs are not those of the original.
    """
    with TemporaryDirectory(prefix="commonir-") as folder:
        trial = Path(folder, f"trial{Path(output).suffix}")
        save(fixed, trial, format=writable_format(fixed))
        engine = _checked(path, fixed, trial)
    files = save(fixed, output, format=writable_format(fixed))
    return tuple([Path(file.path) for file in files]), engine


def _checked(path: Path_ | Sequence[Path_], fixed: Module, written: Path) -> str:
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
            after = run(load(written), inputs, options=options)
        except DiagnosticError:
            if before is not None or writable_format(fixed) != "onnx" or not isinstance(path, str | os.PathLike):
                raise
            before, engine = run_with_onnxruntime(path, inputs, options=options), "onnxruntime"
            after = run_with_onnxruntime(written, inputs, options=options)
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
