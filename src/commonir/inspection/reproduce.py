"""Writes the first divergence of a comparison to a folder from which it can be reproduced.

The folder has the operations at fault of each program as a model with its constants (`a.*` and `b.*`, in the format of
the program if that can be read and written, else as MLIR text), the inputs (`inputs.npz`), the results of each
(`expected.npz`, `actual.npz`) and the command that compares them again (`command.txt`).
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from commonir.base.arrays import dtype_of
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.files import atomic_file
from commonir.formats.format import Format, Formats
from commonir.ir.module import Module
from commonir.ir.operation import Value
from commonir.ir.types import StateType, TensorType
from commonir.ods import Dialects, verify
from commonir.passes.edit import Edits, edit
from commonir.passes.extract import extract
from commonir.reports import Comparison, ValueDifference
from commonir.runtime.comparing.divergence import Pair, Side, ValueComparison, compare
from commonir.runtime.comparing.measures import Criterion, Requirements

Array = NDArray[np.generic]

_TEXT = "mlir"


def reproduce(comparing: ValueComparison, comparison: Comparison, folder: str | os.PathLike[str]) -> Comparison:
    """Writes the first divergence, and reports whether it can be reproduced on its own.

    Raises: DiagnosticError (E0603 for operations that cannot be cut out, E08xx).
    """
    first = comparison.divergences[0]
    pair = next(p for p in comparing.pairs if p.name == first.name)
    a, b = comparing.a, comparing.b
    inputs: list[dict[str, Array]] = []
    results: list[Array] = []
    parts: list[Module] = []
    sides = zip((a, b), comparing.slices(pair), comparing.run_again(), comparing.inputs, _ends(pair), strict=True)
    for side, part, run, given, (name, value) in sides:
        *arrays, result = run.values([*(v for n, v in part.inputs.items() if n not in given), value])
        computed = iter(arrays)
        inputs.append({n: given[n] if n in given else next(computed) for n in part.inputs})
        results.append(result)
        parts.append(_part(side, tuple(part.inputs), name, given))
    # What an overflow leads to is cut off here.
    required = comparing.required._replace(strict=comparing.required.strict or pair.name in comparing.overflows)
    alone = ValueComparison(
        Side(parts[0], a.engine),
        Side(parts[1], b.engine),
        {**inputs[1], **inputs[0]},
        required=required,
        options=comparing.options,
    )
    is_isolated = not compare(alone, all_decide=True).is_within
    is_one = a.original is b.original
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    models = [write_model(part, target, stem) for part, stem in zip(parts[: 1 if is_one else 2], "ab", strict=False)]
    save_arrays(target / "inputs.npz", {**inputs[1], **inputs[0]})
    save_arrays(target / "expected.npz", {pair.name: results[0]})
    save_arrays(target / "actual.npz", {pair.other: results[1]})
    command = _command(models, comparison.engines, required, first.difference)
    with atomic_file(target / "command.txt") as stream:
        stream.write(f"{command}\n".encode())
    written = first.replaced(is_isolated=is_isolated, folder=os.fspath(folder))
    return comparison.replaced(divergences=(written, *comparison.divergences[1:]))


def _ends(pair: Pair) -> tuple[tuple[str, Value], tuple[str, Value]]:
    return (pair.name, pair.a), (pair.other, pair.b)


def _part(side: Side, sources: Sequence[str], target: str, inputs: Mapping[str, Array]) -> Module:
    """Returns the operations at fault as a program in the dialect of the side, or in core where that is impossible."""
    try:
        whole = sized(side.original, side.source.symbol_name, inputs)
        part = extract(whole, sources, [target], function=side.source.symbol_name)
    except DiagnosticError:
        part = None
    # States are handed over as inputs here, which only the core can say of them.
    has_states = part is not None and any(isinstance(v.type, StateType) for v in part.inputs)
    if part is not None and not has_states and not any(d.is_error for d in _faults(part)):
        return part
    name = side.function.symbol_name
    return extract(sized(side.module, name, inputs), sources, [target], function=name)


def sized(module: Module, function: str, inputs: Mapping[str, Array]) -> Module:
    """Returns a program specialized for the sizes of some inputs, so that values inside need no input of that size."""
    sizes = {
        f"{v.name}.{axis}": inputs[v.name].shape[axis]
        for v in module.function(function).inputs
        if isinstance(v.type, TensorType) and not v.type.is_static and v.name in inputs
        for axis in range(inputs[v.name].ndim)
    }
    return edit(module, Edits(dims=sizes), function=function) if sizes else module


def _faults(part: Module) -> Iterator[Diagnostic]:
    own = Formats().of_module(part)
    yield from verify(part, Dialects())
    yield from own.verify(part) if own is not None else ()


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
