"""Writes the first divergence of a comparison to a folder from which it can be reproduced.

The folder has the operations at fault of each program as a model with its constants (`a.*` and `b.*`, in the format of
the program if that can be read and written, else as MLIR text), the inputs (`inputs.npz`), the results of each
(`expected.npz`, `actual.npz`) and the command that compares them again (`command.txt`). It must be new or empty, or
have an earlier reproducer.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from commonir.base.arrays import dtype_of, flat_values
from commonir.base.codes import IMPOSSIBLE_EDIT
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.files import atomic_file
from commonir.comparing.divergence import (
    Side,
    ValueComparison,
    compare,
    converted,
    same_names,
    single_divergence,
)
from commonir.comparing.measures import Criterion, Requirements
from commonir.comparing.stored import compare_with_stored
from commonir.formats.format import Format, Formats
from commonir.inspection.faults.isolating import isolated, part_of
from commonir.ir.module import Module
from commonir.reports import Comparison, Divergence, ValueDifference
from commonir.runtime.engine import EngineOptions

Array = NDArray[np.generic]

_TEXT = "mlir"
COMMAND_FILE = "command.txt"
"""The file that marks the folder of a reproducer."""


def reproduce(comparing: ValueComparison, comparison: Comparison, folder: str | os.PathLike[str]) -> Comparison:
    """Writes the first divergence, and reports whether it can be reproduced on its own.

    Raises: DiagnosticError (E0603 for operations that cannot be cut out, E08xx).
    """
    first = comparison.divergences[0]
    pair = next(p for p in comparing.pairs if p.name == first.name)
    a, b = comparing.a, comparing.b
    parts = isolated(comparing, pair)
    inputs = {**parts[1].inputs, **parts[0].inputs}
    # What an overflow leads to is cut off here.
    required = comparing.required._replace(strict=comparing.required.strict or pair.name in comparing.overflows)
    alone = ValueComparison(
        Side(parts[0].module, a.engine),
        Side(parts[1].module, b.engine),
        inputs,
        required=required,
        options=comparing.options,
    )
    is_isolated = not compare(alone, all_decide=True).is_within
    chosen = parts[: 1 if a.original is b.original else 2]
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    models = [write_model(part.module, target, stem) for part, stem in zip(chosen, "ab", strict=False)]
    arrays = inputs, {pair.name: parts[0].result}, {pair.other: parts[1].result}
    command = _command(models, comparison.engines, required, first.difference)
    return _written(comparison, first, target, arrays, command, is_isolated=is_isolated)


def reproduce_stored(
    comparison: Comparison,
    side: Side,
    inputs: Mapping[str, Array],
    stored: Mapping[str, Array],
    required: Requirements,
    options: EngineOptions,
    folder: str | os.PathLike[str],
) -> Comparison:
    """Writes the first divergence of a program from stored values: the operations that compute it from values that are
    also stored, or from the inputs. There is one model, and `expected.npz` has the stored value.

    Raises: DiagnosticError (E0603 for operations that cannot be cut out, E08xx).
    """
    first = comparison.first_divergence or _of_an_output(comparison, side)
    known = dict(same_names({**side.inputs, **side.values, **side.outputs}, stored))
    given = {n: inputs[n] if n in inputs else converted(stored[known[n]], side.values[n]) for n in first.inputs}
    part = part_of(side, first.inputs, first.name, given)
    expected = {first.name: stored[known[first.name]]}
    alone = Side(part, side.engine)
    actual = side.engine.prepare(alone.module, alone.function.symbol_name, options).run(given)
    again = compare_with_stored(alone, given, expected, required, options, ran=actual)
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    models = [write_model(part, target, "a"), "expected.npz"]
    command = _command(models, (side.engine.name,), required, first.difference)
    arrays = given, expected, flat_values(actual)[0]
    return _written(comparison, first, target, arrays, command, is_isolated=not again.is_within)


def _of_an_output(comparison: Comparison, side: Side) -> Divergence:
    """Returns the divergence of the first output that differs, which is computed from the inputs."""
    wrong = [v for v in comparison.values if not v.is_within and v.name in side.outputs]
    if not wrong:
        message = "what differs is an element of a list, and nothing is cut out that computes only this"
        raise DiagnosticError(Diagnostic(IMPOSSIBLE_EDIT, message))
    return single_divergence(side, side.outputs[wrong[0].name], wrong[0], set())


def _written(
    comparison: Comparison,
    first: Divergence,
    folder: Path,
    arrays: tuple[Mapping[str, Array], Mapping[str, Array], Mapping[str, Array]],
    command: str,
    *,
    is_isolated: bool,
) -> Comparison:
    """Writes the arrays and the command, and returns a comparison whose first divergence names the folder."""
    for name, part in zip(("inputs", "expected", "actual"), arrays, strict=True):
        save_arrays(folder / f"{name}.npz", part)
    with atomic_file(folder / COMMAND_FILE) as stream:
        stream.write(f"{command}\n".encode())
    written = first.replaced(is_isolated=is_isolated, folder=os.fspath(folder))
    return comparison.replaced(divergences=(written, *comparison.divergences[1:]))


def write_model(part: Module, folder: Path, stem: str) -> str:
    """Writes a model and returns the name of its file."""
    formats = Formats()
    own = formats.of_module(part)
    chosen: Format = own if own is not None and own.is_readable and own.is_writable else formats.get(_TEXT)
    name = f"{stem}{chosen.suffixes[0]}"
    chosen.write(part, folder / name)
    return name


def save_arrays(path: Path, arrays: Mapping[str, Array]) -> None:
    """Writes arrays by name to an archive of numpy, those in lists as `scores[0]`. Raises: DiagnosticError (E08xx)."""
    with atomic_file(path) as stream:
        np.savez(stream, **{name: _storable(array) for name, array in flat_values(arrays)[0].items()})  # pyright: ignore[reportArgumentType]  names are free


def _storable(array: Array) -> Array:
    """Returns an array of a type that numpy files support: strings of fixed width, single precision for narrower
    floats.
    """
    if array.dtype.kind == "O":
        return array.astype(np.str_)
    return array.astype(dtype_of("f32")) if array.dtype.kind == "V" else array


def _command(models: Sequence[str], engines: Sequence[str], required: Requirements, difference: ValueDifference) -> str:
    tolerance = required.of(difference.name, difference.rtol)
    words = ["cir", "compare", *models, "@inputs.npz", "--engines", ",".join(engines), "--rtol", f"{tolerance.rtol:g}"]
    words += [] if tolerance.atol is None else ["--atol", f"{tolerance.atol:g}"]
    words += ["--exact-infinities"] if required.strict else []
    for criterion in required.criteria if required.criteria != (Criterion(),) else ():
        words += ["--metric", str(criterion)]
    return shlex.join(words)
