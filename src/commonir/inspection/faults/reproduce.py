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

from commonir.base.arrays import dtype_of
from commonir.base.files import atomic_file
from commonir.formats.format import Format, Formats
from commonir.inspection.faults.isolating import isolated
from commonir.ir.module import Module
from commonir.reports import Comparison, ValueDifference
from commonir.runtime.comparing.divergence import Side, ValueComparison, compare
from commonir.runtime.comparing.measures import Criterion, Requirements

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
    is_one = a.original is b.original
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    chosen = parts[: 1 if is_one else 2]
    models = [write_model(part.module, target, stem) for part, stem in zip(chosen, "ab", strict=False)]
    save_arrays(target / "inputs.npz", inputs)
    save_arrays(target / "expected.npz", {pair.name: parts[0].result})
    save_arrays(target / "actual.npz", {pair.other: parts[1].result})
    command = _command(models, comparison.engines, required, first.difference)
    with atomic_file(target / COMMAND_FILE) as stream:
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
    """Writes arrays by name to an archive of numpy. Raises: DiagnosticError (E08xx)."""
    with atomic_file(path) as stream:
        np.savez(stream, **{name: _storable(array) for name, array in arrays.items()})  # pyright: ignore[reportArgumentType]  names are free


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
