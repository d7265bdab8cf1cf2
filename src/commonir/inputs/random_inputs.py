"""Draws random inputs for a function: the same for the same seed and name, on every machine.

Floats are drawn from the standard normal distribution, bools evenly. Integers that a program uses as indices are drawn
below the smallest dimension that they index, others from {0, 1}, as in a mask.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.arrays import dtype_of
from commonir.base.codes import (
    EXECUTION_FAILED,
    FAILED_ASSERTION,
    RUN_LIMIT_EXCEEDED,
    SIZES_CHOSEN,
    UNKNOWN_DIMENSION,
    UNSUPPORTED_EXECUTION,
    VIOLATED_CONSTRAINT,
    WRONG_DIMENSIONS,
    WRONG_RESULT_TYPE,
    WRONG_TYPE,
)
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.base.limits import DEFAULT_LIMITS
from commonir.base.sparse import SparseArray
from commonir.base.suggestions import did_you_mean
from commonir.base.text import escape
from commonir.dialects import core
from commonir.ir.interface import NO_PORT, DimRange, Port
from commonir.ir.module import Function, Module
from commonir.ir.operation import Operation, Value
from commonir.ir.types import (
    ElementType,
    ListType,
    MapType,
    SparseTensorType,
    TensorType,
    TupleType,
    Type,
    boolean,
    is_collection,
    symbols_of,
    tensors_in,
)
from commonir.ods.patterns import as_value
from commonir.passes.data_dependent_dims import dims_by_name
from commonir.runtime.binding.inputs import known_symbol_dims, requirements
from commonir.runtime.binding.ports import (
    allowed_text,
    chosen_shapes,
    default_array,
    in_program_layout,
    named_inputs,
    names_of,
)
from commonir.runtime.binding.signatures import drawn_shapes, free_dims, type_in, with_ranks
from commonir.runtime.drawing import DRAWN_KINDS, NumberDraw, generator_of
from commonir.runtime.limits import check_array
from commonir.symbolic import DimExpr, evaluate, plain_symbol
from commonir.symbolic.constraints import Constraint
from commonir.symbolic.dims import symbols_in

Array = NDArray[Any]

_CANDIDATE_DIMS = (4, 2, 8, 16, 32, 64, 128, 224, 256, 1, 3, 5, 6, 7)
"""Values tried for unbound symbolic dimensions, in this order."""

_LARGEST_POSITION = 1000

_DRAWN_ELEMENTS = 2
"""The number of elements of a random list."""


def random_inputs(
    module: Module,
    *,
    function: str | None = None,
    seed: int = 0,
    dims: Mapping[str, int] | None = None,
    given: Mapping[str, Array] | None = None,
    memory_limit_bytes: int | None = None,
) -> dict[str, Array]:
    """Returns the inputs in `given`, and random ones for all others, which together are within a memory limit.

    `dims` has values of symbolic dimensions; those of given arrays are fixed. Other inputs have an allowed shape, by
    preference their default one. An input with a default value gets that, an image gets pixels.
    Raises: DiagnosticError (E0706, E0707 for impossible dims, E0709, E0711 for an input that is too large, E0712).
    """
    target = module.function(function)
    arrays = _in_layout(target, given or {})
    choice = _DimChoice(target, dims_by_name(target.inputs, dims or {}), {**_default_shapes(target), **arrays})
    symbol_dims = choice.chosen()
    ports = target.input_ports
    known = {name: np.shape(arrays[name]) for name, _, _ in named_inputs(target) if name in arrays}
    shapes = drawn_shapes(target, known, symbol_dims, _CANDIDATE_DIMS[0])
    out: dict[str, Any] = {}
    left = math.inf if memory_limit_bytes is None else memory_limit_bytes
    for n, value in enumerate(target.inputs):
        name = value.name or f"input{n}"
        port = ports.get(name, NO_PORT)
        if name in shapes and isinstance(value.type, TensorType):
            value = Value(TensorType(value.type.element, shapes[name]), name=name)
        elif value.type.parts:
            value = Value(with_ranks(value.type, type_in(name, port)), name=name)
        out[name] = arrays.pop(name) if name in arrays else _drawn(name, value, port, symbol_dims, seed, left)
        left -= out[name].nbytes if isinstance(out[name], np.ndarray) else 0
    return {**out, **arrays}


@contextmanager
def noting_chosen_sizes(
    function: Function, inputs: Mapping[str, Any], given: Iterable[str], dims: Mapping[str, int]
) -> Generator[None]:
    """Adds to errors about shapes in the block which sizes of random inputs were chosen: those of `inputs` that do not
    follow from the inputs in `given`, and are not among `dims`.
    """
    try:
        yield
    except DiagnosticError as error:
        note = _chosen_sizes(function, inputs, set(given), set(dims_by_name(function.inputs, dims)))
        if note is None or not any(d.code in _ABOUT_SHAPES for d in error.diagnostics):
            raise
        raise DiagnosticError(*error.diagnostics, note) from error


_ABOUT_SHAPES = (
    WRONG_TYPE,
    VIOLATED_CONSTRAINT,
    WRONG_RESULT_TYPE,
    WRONG_DIMENSIONS,
    EXECUTION_FAILED,
    FAILED_ASSERTION,
)
"""The errors that other sizes of inputs may not have."""


def _chosen_sizes(function: Function, inputs: Mapping[str, Any], given: set[str], dims: set[str]) -> Diagnostic | None:
    known = known_symbol_dims(function, {name: inputs[name] for name in given if name in inputs})
    sizes: dict[str, int] = {}
    names: dict[str, None] = {}
    for name, type, _ in named_inputs(function):
        if name in given or name not in inputs:
            continue
        for dim, size in zip(type.shape or (), np.shape(inputs[name]), strict=False):
            symbol = plain_symbol(dim)
            if symbol is not None and symbol not in known and symbol not in dims:
                sizes[symbol] = size
                names[name] = None
    if not sizes:
        return None
    message = f"sizes of random inputs were chosen: {', '.join([f'{n} = {size}' for n, size in sizes.items()])}"
    setting = " ".join([f"--set {name}=N" for name in sizes])
    listed = ", ".join([f"'{name}'" for name in names])
    return Diagnostic(SIZES_CHOSEN, message, help=f"set them with `{setting}`, or give {listed}")


def _default_shapes(function: Function) -> dict[str, Array]:
    """Returns arrays without contents of their own that have the shapes of default values with given contents."""
    contents = {name: port.contents for name, port in function.input_ports.items() if port.contents is not None}
    symbolic = [v for v in function.inputs if isinstance(v.type, TensorType) and not v.type.is_static]
    return {v.name: np.broadcast_to(0, contents[v.name].shape) for v in symbolic if v.name in contents}


def _in_layout(function: Function, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Returns arrays in the layout of the program. Errors are reported when the inputs are bound."""
    types_and_ports = {name: (type, port) for name, type, port in named_inputs(function)}
    ignored = Diagnostics()
    return {
        n: in_program_layout(n, np.asarray(x), *types_and_ports[n], ignored) if n in types_and_ports else x
        for n, x in arrays.items()
    }


class _DimChoice:
    """Chooses values for the symbolic dimensions of a function's inputs."""

    def __init__(self, function: Function, dims: Mapping[str, int], arrays: Mapping[str, Array]) -> None:
        self._function = function
        self._dims = dims
        self._inputs = named_inputs(function)
        self._shapes = {name: np.shape(arrays[name]) for name, _, _ in self._inputs if name in arrays}
        self._lower_bounds: dict[str, int] = {}
        self._ranges: dict[str, list[DimRange]] = {}
        self._defaults: dict[str, int] = {}
        for _, type, port in self._inputs:
            for axis, d in enumerate(type.shape or ()):
                if isinstance(d, DimExpr):
                    self._lower_bounds.update({s.name: s.least for s in symbols_in(d)})
                name = plain_symbol(d)
                if name is not None and port.ranges and axis < len(port.ranges):
                    self._ranges.setdefault(name, []).append(port.ranges[axis])
                if name is not None and axis < len(port.shape):
                    self._defaults.setdefault(name, port.shape[axis])
        for type in [t for v in function.inputs if is_collection(v.type) for t in tensors_in(v.type)]:
            for d in type.shape or ():
                self._lower_bounds.update({s.name: s.least for s in symbols_in(d)} if isinstance(d, DimExpr) else {})
        for name in free_dims(function):
            self._lower_bounds.setdefault(name, 0)
        self._bound = known_symbol_dims(function, arrays)

    def chosen(self) -> dict[str, int]:
        """Returns values of all symbolic dimensions: known ones, then defaults, then small allowed ones.

        Raises: DiagnosticError (E0707, E0712) for a requested dimension that is impossible.
        """
        _require_dimensions(self._lower_bounds, self._dims)
        diagnostics = Diagnostics()
        for name, dim in self._dims.items():
            diagnostics.extend(self._contradictions(name, dim))
        diagnostics.raise_errors()
        known = {**self._dims, **self._bound}
        known |= self._enumerated(known, diagnostics)
        diagnostics.raise_errors()
        return self._completed(known)

    def _contradictions(self, name: str, dim: int) -> Iterator[Diagnostic]:
        """Yields a diagnostic for each fact that contradicts a requested dimension."""
        bound = self._bound.get(name, dim)
        if bound != dim:
            message = f"the dimension '{name}' is set to {dim}, but a given input makes it {bound}"
            yield Diagnostic(WRONG_DIMENSIONS, message, help="leave out one of the two")
        for allowed in self._ranges.get(name, ()):
            if dim not in allowed:
                message = f"the dimension '{name}' cannot be {dim}"
                yield Diagnostic(WRONG_DIMENSIONS, message, notes=[f"allowed: {allowed}"])

    def _enumerated(self, known: Mapping[str, int], diagnostics: Diagnostics) -> dict[str, int]:
        """Returns the dimensions that follow from inputs with enumerated shapes."""
        fixed: dict[str, dict[int, int]] = {}
        axis_symbols: dict[str, dict[int, str]] = {}
        for name, type, port in self._inputs:
            if port.shapes:
                axes = {a: s for a, d in enumerate(type.shape or ()) if (s := plain_symbol(d)) is not None}
                axis_symbols[name] = axes
                fixed[name] = {a: known[s] for a, s in axes.items() if s in known}
        chosen = chosen_shapes(self._function, self._shapes, fixed)
        out: dict[str, int] = {}
        for name, _, port in self._inputs:
            if name in chosen:
                out |= {s: chosen[name][a] for a, s in axis_symbols[name].items()}
            elif port.shapes and name not in self._shapes:
                message = f"input '{name}' has no shape with these sizes"
                diagnostics.add(WRONG_DIMENSIONS, message, notes=[f"allowed: {allowed_text(port)}"])
        return out

    def _completed(self, known: Mapping[str, int]) -> dict[str, int]:
        unbound = [n for n in self._lower_bounds if n not in known]
        constraints = [q.constraint for q in requirements(self._function)] if unbound else []
        preferred = {**known, **{n: self._candidate(n, None) for n in unbound}}
        for candidate in (None, *_CANDIDATE_DIMS):
            dims = {**known, **{n: self._candidate(n, candidate) for n in unbound}}
            if _satisfies(constraints, dims):
                return _prefer(dims, preferred, constraints)
        return self._one_by_one(known, unbound, constraints)

    def _one_by_one(
        self, known: Mapping[str, int], unbound: Iterable[str], constraints: Sequence[Constraint]
    ) -> dict[str, int]:
        """Returns dims of which each satisfies, where possible, the constraints on it and on those before it."""
        dims = dict(known)
        for name in unbound:
            options = [self._candidate(name, size) for size in (None, *known.values(), *_CANDIDATE_DIMS)]
            own = [c for c in constraints if name in c.symbols]
            dims[name] = next((size for size in options if _satisfies(own, {**dims, name: size})), options[0])
        return dims

    def _candidate(self, name: str, requested: int | None) -> int:
        """Returns the allowed value of a dimension that is nearest to `requested`, by default to its default value."""
        result = max(
            self._defaults.get(name, _CANDIDATE_DIMS[0]) if requested is None else requested, self._lower_bounds[name]
        )
        for allowed in self._ranges.get(name, ()):
            upper = result if allowed.upper is None else allowed.upper
            result = min(max(result, allowed.lower), upper)
        return result


def _satisfies(constraints: Iterable[Constraint], dims: Mapping[str, int]) -> bool:
    """Returns whether dims satisfy all constraints, except those on other symbols."""
    return all(c.holds(dims) for c in constraints if all(n in dims for n in c.symbols))


def _prefer(dims: dict[str, int], preferred: Mapping[str, int], constraints: Sequence[Constraint]) -> dict[str, int]:
    """Returns dims that differ from the preferred ones only where a constraint requires it."""
    for name, dim in preferred.items():
        affected = [c for c in constraints if name in c.symbols] if dims[name] != dim else []
        if dims[name] != dim and _satisfies(affected, {**dims, name: dim}):
            dims[name] = dim
    return dims


def _require_dimensions(known: Mapping[str, int], names: Iterable[str]) -> None:
    unknown = [n for n in names if n not in known]
    if unknown:
        listed = f"dynamic dimensions: {', '.join(known) or 'none'}"
        raise DiagnosticError(
            *(
                Diagnostic(
                    UNKNOWN_DIMENSION, f"no input has a dimension '{n}'", notes=[listed], help=did_you_mean(n, known)
                )
                for n in unknown
            )
        )


def _drawn(name: str, value: Value, port: Port, dims: Mapping[str, int], seed: int, most_bytes: float) -> Any:
    type = value.type
    if is_collection(type):
        return _drawn_parts(name, type, port, {**_dims_in(type), **dims}, seed, most_bytes)
    if not isinstance(type, TensorType) or type.shape is None:
        message = f"no random value for input '{name}' of type {type}"
        raise DiagnosticError(Diagnostic(UNSUPPORTED_EXECUTION, message, help=f"give a value for '{name}'"))
    shape = tuple([_CANDIDATE_DIMS[0] if d is None else evaluate(d, dims) for d in type.shape])
    element = type.element
    if element.size_bytes(math.prod(shape)) > DEFAULT_LIMITS.max_tensor_bytes:
        message = f"input '{name}' of shape {list(shape)} is larger than {DEFAULT_LIMITS.max_tensor_bytes:,} bytes"
        raise DiagnosticError(Diagnostic(RUN_LIMIT_EXCEEDED, message, help=f"give a value for '{name}'"))
    check_array(shape, (element.bits + 7) // 8, f"input '{name}'")
    if element.size_bytes(math.prod(shape)) > most_bytes:
        message = f"input '{name}' of shape {list(shape)} does not fit in the memory limit"
        raise DiagnosticError(
            Diagnostic(RUN_LIMIT_EXCEEDED, message, help=f"give a value for '{name}', or raise the limit")
        )
    if port.is_optional:
        return default_array(type, shape, port)
    if port.image is not None:
        return generator_of(name, seed).integers(0, 256, shape).astype(dtype_of(element.name))
    return _sample(name, seed, element, shape, value)


def _drawn_parts(name: str, type: Type, port: Port, dims: Mapping[str, int], seed: int, most_bytes: float) -> Any:
    """Draws a value that is not a dense tensor."""

    def part(suffix: str, type: Type) -> Any:
        return _drawn(f"{name}{suffix}", Value(type, name=f"{name}{suffix}"), port, dims, seed, most_bytes)

    match type:
        case ListType():
            element = type.element
            if isinstance(element, TensorType) and element.shape is None:
                element = element.with_shape((None,))  # any rank will do
            return [part(f"[{n}]", element) for n in range(_DRAWN_ELEMENTS)]
        case TupleType():
            return tuple([part(f"[{n}]", t) for n, t in enumerate(type.elements)])
        case MapType() if not is_collection(type.value):
            keys = _keys(as_value(type.key))
            return {key: part(f"[{key!r}]", as_value(type.value)).item() for key in keys}
        case SparseTensorType():
            elements = part("", type.dense)
            is_stored = part(" is stored", type.dense.with_element(boolean))
            return SparseArray(elements[is_stored], np.flatnonzero(is_stored), elements.shape)
        case MapType():
            message = f"no random value for input '{name}' of type {type}"
            raise DiagnosticError(Diagnostic(UNSUPPORTED_EXECUTION, message, help=f"give a value for '{name}'"))
        case _:
            return part("", type.parts[0])


def _keys(type: Type) -> list[Any]:
    """Returns different keys for a random map."""
    if not isinstance(type, TensorType) or type.element.kind == "string":
        return list(_WORDS[:_DRAWN_ELEMENTS])
    return np.arange(_DRAWN_ELEMENTS).astype(dtype_of(type.element.name)).tolist()


def _dims_in(type: Type) -> dict[str, int]:
    """Returns a value for each symbol in the types of the parts of a value, which no other input binds."""
    return dict.fromkeys(symbols_of([type]), _CANDIDATE_DIMS[0])


_WORDS = ("a", "b", "Cat", "dog", "the", "two words", "3", "ä")
"""The strings that random inputs are drawn from; they differ in case, spaces, digits and characters beyond ASCII."""


_DRAWN_BYTES = 4
"""The least size of an element that is drawn, before it is converted to its type."""


def _sample(name: str, seed: int, element: ElementType, shape: tuple[int, ...], value: Value) -> Array:
    dtype = dtype_of(element.name)
    # numpy refuses shapes by their sizes beside 0, too.
    if math.prod([max(dim, 1) for dim in shape]) * max(dtype.itemsize, _DRAWN_BYTES) > DEFAULT_LIMITS.max_tensor_bytes:
        message = f"the input '{escape(value.name or '')}' of {value.type} is too large to be random"
        help = f"give it, or smaller sizes; random inputs have up to {DEFAULT_LIMITS.max_tensor_bytes:,} bytes"
        raise DiagnosticError(Diagnostic(RUN_LIMIT_EXCEEDED, message, help=help))
    if element.kind in DRAWN_KINDS:
        return _draw_of(name, element, shape, value).array(seed)
    generator = generator_of(name, seed)
    match element.kind:
        case "complex":
            return (generator.standard_normal(shape) + 1j * generator.standard_normal(shape)).astype(dtype)
        case "handle":
            return generator.integers(0, 2**63 - 1, shape)
        case "string":
            return np.asarray(np.array(_WORDS, object)[generator.integers(0, len(_WORDS), shape)], object)
        case _:
            message = f"no random values of element type {element}"
            raise DiagnosticError(Diagnostic(UNSUPPORTED_EXECUTION, message, help=f"give a value for '{value.name}'"))


def _draw_of(name: str, element: ElementType, shape: tuple[int, ...], value: Value) -> NumberDraw:
    axes = [n for n in _selected_axes(value) if n > 0]
    below = min([_LARGEST_POSITION, *axes]) if axes else 2
    return NumberDraw(name, element.name, element.kind, shape, below)


def number_draws(function: Function, drawn: Mapping[str, Array]) -> list[NumberDraw] | None:
    """Returns how the random inputs of a function were drawn; None if they are more than tensors of numbers."""
    out: list[NumberDraw] = []
    for name, value in zip(names_of(function), function.inputs, strict=True):
        type = value.type
        if function.input_ports or not isinstance(type, TensorType) or type.element.kind not in DRAWN_KINDS:
            return None
        out.append(_draw_of(name, type.element, drawn[name].shape, value))
    return out


_FORWARDING = (
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
"""Operations whose results contain elements of their operands."""


def _selected_axes(value: Value) -> Iterator[int]:
    """Yields the dims that a value indexes, directly or after operations that move or cast its elements."""
    seen = {value}
    pending = [value]
    while pending:
        current = pending.pop()
        for user in current.users:
            if isinstance(user, _FORWARDING):
                pending += [r for r in user.results if r not in seen]
                seen.update(user.results)
            else:
                yield from _selected_by(user, current)


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
