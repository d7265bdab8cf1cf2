"""Isolates the operations that compute one value of a comparison: on each side as a program of its own, with the values
of its inputs and its result.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.tuples import NamedTuple
from commonir.comparing.divergence import Pair, Side, ValueComparison
from commonir.formats.format import Formats
from commonir.ir.module import Module
from commonir.ir.operation import Value
from commonir.ir.types import StateType, TensorType
from commonir.ods import Dialects, verify
from commonir.passes.edit import edit
from commonir.passes.edits import Edits
from commonir.passes.extract import extract

Array = NDArray[np.generic]


class Isolated(NamedTuple):
    """The operations of one side between shared values and one value: a program, its inputs, and its result `name`."""

    side: Side
    name: str
    module: Module
    inputs: Mapping[str, Array]
    result: Array


def isolated(comparing: ValueComparison, pair: Pair) -> tuple[Isolated, Isolated]:
    """Returns the operations that compute a value on each side.

    Raises: DiagnosticError (E0603 for operations that cannot be cut out).
    """
    out: list[Isolated] = []
    sides = zip(
        (comparing.a, comparing.b),
        comparing.slices(pair),
        comparing.run_again(),
        comparing.inputs,
        _ends(pair),
        strict=True,
    )
    for side, part, run, given, (name, value) in sides:
        *arrays, result = run.values([*(v for n, v in part.inputs.items() if n not in given), value])
        computed = iter(arrays)
        inputs = {n: given[n] if n in given else next(computed) for n in part.inputs}
        out.append(Isolated(side, name, part_of(side, tuple(part.inputs), name, given), inputs, result))
    return out[0], out[1]


def _ends(pair: Pair) -> tuple[tuple[str, Value], tuple[str, Value]]:
    return (pair.name, pair.a), (pair.other, pair.b)


def part_of(side: Side, sources: Sequence[str], target: str, inputs: Mapping[str, Array]) -> Module:
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
