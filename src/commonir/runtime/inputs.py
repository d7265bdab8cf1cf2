"""Random inputs for a function: the same for the same seed and name, on every machine.

Floats are drawn from the standard normal distribution, truth values evenly. Integers are positions wherever the
program uses them as such, so they are drawn below the size of the smallest axis they select from, and from {0, 1} (as
masks are) when they select from none.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.arrays import dtype_of
from commonir.base.codes import RUN_LIMIT_EXCEEDED, UNKNOWN_DIMENSION, UNSUPPORTED_EXECUTION
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.limits import DEFAULT_LIMITS
from commonir.base.suggestions import did_you_mean
from commonir.dialects import core
from commonir.ir.module import Function, Module
from commonir.ir.operation import Operation, Value
from commonir.ir.types import ElementType, TensorType
from commonir.runtime.binding import known_sizes, requirements
from commonir.symbolic import DimExpr, evaluate
from commonir.symbolic.dims import symbols_in

Array = NDArray[Any]

_SIZES = (4, 2, 8, 16, 32, 64, 128, 224, 256, 1, 3, 5, 6, 7)
"""Sizes tried for symbolic dimensions that nothing decides, in this order."""

_LARGEST_POSITION = 1000


def random_inputs(
    module: Module,
    *,
    function: str | None = None,
    seed: int = 0,
    dims: Mapping[str, int] | None = None,
    given: Mapping[str, Array] | None = None,
) -> dict[str, Array]:
    """Inputs for a function: those given, and random ones for the others.

    `dims` gives sizes of symbolic dimensions; arrays that are given decide theirs.
    Raises: DiagnosticError (E0706, E0709, E0711 for an input that is too large, E0712).
    """
    target = module.function(function)
    have = dict(given or {})
    _require_dimensions(target, dims or {})
    sizes = _sizes(target, {**(dims or {}), **known_sizes(target, have)})
    out: dict[str, Array] = {}
    for n, value in enumerate(target.inputs):
        name = value.name or f"input{n}"
        out[name] = have.pop(name) if name in have else _drawn(name, value, sizes, seed)
    return {**out, **have}


def _dimensions(function: Function) -> dict[str, int]:
    """The symbolic dimensions of the inputs by name, with the least size of each."""
    return {
        s.name: s.least
        for v in function.inputs
        if isinstance(v.type, TensorType)
        for d in v.type.shape or ()
        if isinstance(d, DimExpr)
        for s in symbols_in(d)
    }


def _require_dimensions(function: Function, names: Iterable[str]) -> None:
    known = _dimensions(function)
    unknown = [n for n in names if n not in known]
    if unknown:
        listed = f"dynamic dimensions: {', '.join(known) or 'none'}"
        raise DiagnosticError(
            *(
                Diagnostic(
                    UNKNOWN_DIMENSION,
                    f"no input has a dimension '{n}'",
                    notes=[listed],
                    help=did_you_mean(n, known),
                )
                for n in unknown
            )
        )


def _sizes(function: Function, known: Mapping[str, int]) -> dict[str, int]:
    """Sizes for all symbolic dimensions of the inputs, equal for those that nothing decides, that break no
    constraint.
    """
    least = _dimensions(function)
    loose = [n for n in least if n not in known]
    needed = [r.constraint for r in requirements(function)] if loose else []
    first: dict[str, int] | None = None
    for size in _SIZES:
        sizes = {**known, **{n: max(size, least[n]) for n in loose}}
        first = first or sizes
        if all(c.holds(sizes) for c in needed if all(n in sizes for n in c.symbols)):
            return sizes
    return first or dict(known)


def _drawn(name: str, value: Value, sizes: Mapping[str, int], seed: int) -> Array:
    kind = value.type
    if not isinstance(kind, TensorType) or kind.shape is None:
        message = f"no random value for input '{name}' of type {kind}"
        raise DiagnosticError(Diagnostic(UNSUPPORTED_EXECUTION, message, help=f"give a value for '{name}'"))
    shape = tuple([_SIZES[0] if d is None else evaluate(d, sizes) for d in kind.shape])
    element = kind.element
    if element.size_bytes(math.prod(shape)) > DEFAULT_LIMITS.max_tensor_bytes:
        message = f"input '{name}' of shape {list(shape)} is larger than {DEFAULT_LIMITS.max_tensor_bytes:,} bytes"
        raise DiagnosticError(Diagnostic(RUN_LIMIT_EXCEEDED, message, help=f"give a value for '{name}'"))
    digest = hashlib.sha256(f"{seed}:{name}".encode()).digest()
    source = np.random.Generator(np.random.PCG64(int.from_bytes(digest[:8], "little")))
    return _sample(source, element, shape, value)


def _sample(source: np.random.Generator, element: ElementType, shape: tuple[int, ...], value: Value) -> Array:
    dtype = dtype_of(element.name)
    match element.kind:
        case "float":
            return source.standard_normal(shape, np.float32).astype(dtype)
        case "complex":
            return (source.standard_normal(shape) + 1j * source.standard_normal(shape)).astype(dtype)
        case "bool":
            return source.integers(0, 2, shape).astype(dtype)
        case "int" | "uint":
            axes = [n for n in _selected_axes(value) if n > 0]
            return source.integers(0, min([_LARGEST_POSITION, *axes]) if axes else 2, shape).astype(dtype)
        case _:
            message = f"no random values of element type {element}"
            raise DiagnosticError(Diagnostic(UNSUPPORTED_EXECUTION, message, help=f"give a value for '{value.name}'"))


_PASSING = (
    core.Cast,
    core.Reshape,
    core.Squeeze,
    core.Unsqueeze,
    core.Transpose,
    core.BroadcastTo,
    core.Slice,
    core.Concat,
    core.Select,
    core.Maximum,
    core.Tile,
)
"""Operations that hand positions on."""


def _selected_axes(value: Value) -> Iterator[int]:
    """Sizes of the axes from which a value, or what is made of it by moving and converting, selects."""
    seen = {value}
    pending = [value]
    while pending:
        here = pending.pop()
        for user in here.users:
            if isinstance(user, _PASSING):
                pending += [r for r in user.results if r not in seen]
                seen.update(user.results)
            else:
                yield from _selected_by(user, here)


def _selected_by(user: Operation, positions: Value) -> Iterator[int]:
    match user:
        case core.Gather() | core.GatherElements() | core.ScatterElements() if user.positions is positions:
            axes = (user.axis,)
        case core.GatherNd() | core.ScatterNd() if user.positions is positions:
            axes = None
        case _:
            return
    shape = user.x.type.shape if isinstance(user.x.type, TensorType) else None
    for n in shape or () if axes is None else [shape[a] for a in axes if shape is not None]:
        if isinstance(n, int):
            yield n
