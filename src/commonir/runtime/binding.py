"""Checks the inputs of a run: names, element types, shapes and constraints, and binds symbolic dimensions to sizes.

Values are converted only where that preserves every value of the type (`i32` to `i64`, `f16` to `f32`), and Python
numbers where it preserves the values given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.arrays import dtype_of, name_of
from commonir.base.codes import MISSING_INPUT, UNKNOWN_INPUT, UNSUPPORTED_EXECUTION, WRONG_DIMENSIONS, WRONG_INPUT
from commonir.base.diagnostics import DiagnosticError, Diagnostics
from commonir.base.suggestions import did_you_mean
from commonir.base.tuples import NamedTuple
from commonir.ir.interface import NO_PORT, Port
from commonir.ir.module import Function
from commonir.ir.types import ListType, MapType, OptionalType, TensorType, Type
from commonir.notation import Constraint
from commonir.ods import Op, infer, path_of
from commonir.runtime.instances import is_concrete
from commonir.runtime.ports import default_array, in_program_layout, names_of, shape_faults
from commonir.runtime.signatures import signature_faults
from commonir.runtime.values import is_list, is_map
from commonir.symbolic import Dim, DimExpr, evaluate, plain_symbol, symbols
from commonir.symbolic.dims import symbols_in

Array = NDArray[np.generic]


class BoundInputs(NamedTuple):
    """Arrays for the inputs of a function, and the sizes of its symbolic dimensions."""

    arrays: tuple[Array, ...]
    sizes: dict[str, int]


class Requirement(NamedTuple):
    """A constraint of an operation, which is checked once inputs are bound."""

    constraint: Constraint
    op: Op


def requirements(function: Function) -> tuple[Requirement, ...]:
    """Returns the constraints of operations of a function that inference could not decide, without duplicates."""
    result: dict[object, Requirement] = {}
    for op in function.walk():
        if isinstance(op, Op) and op.operands and not is_concrete(op):
            for c in _constraints(op):
                result.setdefault((c.lhs, c.relation, c.rhs, c.unless_empty), Requirement(c, op))
    return tuple(result.values())


def _constraints(op: Op) -> tuple[Constraint, ...]:
    try:
        return infer(op).constraints
    except DiagnosticError:
        # It is inferred if execution reaches it.
        return ()


def bind(
    function: Function, inputs: Mapping[str, object], required: Sequence[Requirement] = (), *, least: bool = True
) -> BoundInputs:
    """Checks values for the inputs of a function and finds the sizes of its symbolic dimensions.

    Without `least`, a size may be below the lower bound of its symbol.
    Raises: DiagnosticError with every finding (E0701, E0702, E0703, E0707).
    """
    diagnostics = Diagnostics()
    names = names_of(function)
    ports = function.input_ports
    for name in inputs:
        if name not in names:
            help = did_you_mean(name, names) or f"the inputs are {', '.join(names) or 'none'}"
            diagnostics.add(UNKNOWN_INPUT, f"the function has no input '{name}'", help=help)
    arrays: dict[str, Array] = {}
    others: dict[str, Array] = {}
    filled: list[tuple[str, TensorType, Port]] = []
    sizes = _Sizes(diagnostics, least=least)
    for name, value in zip(names, function.inputs, strict=True):
        port = ports.get(name, NO_PORT)
        if name not in inputs and not port.is_optional:
            diagnostics.add(MISSING_INPUT, f"input '{name}' ({value.type}) has no value")
        elif not isinstance(value.type, TensorType):
            others[name] = _bound_value(name, inputs[name], value.type, diagnostics)
        elif name not in inputs:
            filled.append((name, value.type, port))
        else:
            array = _converted(name, inputs[name], value.type, port, diagnostics)
            if array is not None:
                arrays[name] = array
                sizes.match(name, array.shape, value.type)
    diagnostics.raise_errors()
    for name, type, port in filled:
        arrays[name] = default_array(type, sizes.shape_of(type, port), port)
        sizes.match(name, arrays[name].shape, type)
    sizes.settle()
    shapes = {name: x.shape for name, x in arrays.items()}
    diagnostics.extend(shape_faults(function, shapes))
    diagnostics.extend(signature_faults(function, shapes))
    diagnostics.raise_errors()
    _check(required, sizes.bound, diagnostics)
    diagnostics.raise_errors()
    return BoundInputs(tuple([arrays[name] if name in arrays else others[name] for name in names]), sizes.bound)


def symbol_sizes(function: Function, arrays: Sequence[Array]) -> dict[str, int]:
    """Returns the sizes of a function's symbolic dimensions for arrays of its inputs.

    Raises: DiagnosticError (E0703, E0707).
    """
    diagnostics = Diagnostics()
    sizes = _Sizes(diagnostics)
    for value, array in zip(function.inputs, arrays, strict=True):
        if isinstance(value.type, TensorType):
            sizes.match(value.name, array.shape, value.type)
    sizes.settle()
    diagnostics.raise_errors()
    return sizes.bound


def known_symbol_sizes(function: Function, arrays: Mapping[str, Array]) -> dict[str, int]:
    """Returns the sizes of symbolic dimensions that arrays for some of the inputs decide.

    Contradictions are not reported here, but when the inputs are bound.
    """
    sizes = _Sizes(Diagnostics())
    for value in function.inputs:
        if value.name in arrays and isinstance(value.type, TensorType):
            sizes.match(value.name, np.shape(arrays[value.name]), value.type)
    return sizes.bound


def _bound_value(name: str, value: Any, type: Type, diagnostics: Diagnostics) -> Any:
    """Checks a value of a type that is not a tensor, and returns it; elements of a list may differ in shape."""
    match type:
        case TensorType():
            array = _converted(name, value, type, NO_PORT, diagnostics)
            if array is not None:
                own = _Sizes(diagnostics)
                own.match(name, array.shape, type)
            return array
        case ListType() if is_list(value):
            return [_bound_value(f"{name}[{n}]", v, type.element, diagnostics) for n, v in enumerate(value)]
        case OptionalType():
            return None if value is None else _bound_value(name, value, type.element, diagnostics)
        case MapType() if is_map(value):
            return value
        case ListType() | MapType():
            expected = "a list" if isinstance(type, ListType) else "a dictionary"
            diagnostics.add(WRONG_INPUT, f"input '{name}': expected {expected} ({type}), found {_kind_of(value)}")
        case _:
            diagnostics.add(UNSUPPORTED_EXECUTION, f"input '{name}' has type {type}, which cannot be an input")
    return None


def _kind_of(value: object) -> str:
    return "an array" if isinstance(value, np.ndarray) else type(value).__name__


def _converted(name: str, value: object, type: TensorType, port: Port, diagnostics: Diagnostics) -> Array | None:
    expected = dtype_of(type.element.name)
    is_array = isinstance(value, (np.ndarray, np.generic))
    before = len(diagnostics)
    array: Array = in_program_layout(name, np.asarray(value), type, port, diagnostics)
    if len(diagnostics) > before:
        return None
    if array.dtype == expected:
        return array
    if not is_array and _fits(array, expected):
        return array.astype(expected)
    if _preserves(array.dtype, expected):
        return array.astype(expected)
    if expected.kind == "O" and array.dtype.kind in "US":
        return array.astype(object)
    try:
        have = name_of(array.dtype)
    except KeyError:
        have = str(array.dtype)
    diagnostics.add(
        WRONG_INPUT,
        f"input '{name}': expected element type {type.element}, found {have}",
        help=f"convert it: array.astype('{expected.name}')",
    )
    return None


def _preserves(have: np.dtype[np.generic], expected: np.dtype[np.generic]) -> bool:
    """Returns whether one dtype represents every value of the other. numpy considers i64 to f64 safe, which rounds."""
    if have.kind in "iu" and expected.kind in "fc":
        return have.itemsize < 8 and np.can_cast(have, expected, "safe")
    return np.can_cast(have, expected, "safe")


def _fits(array: Array, expected: np.dtype[np.generic]) -> bool:
    """Returns whether a dtype represents Python numbers, floats up to rounding."""
    if array.dtype.kind not in "biuf" or expected.kind not in "biufV":
        return False
    if array.dtype.kind == "f":
        return expected.kind in "fV"
    return bool(np.all(array.astype(expected).astype(array.dtype) == array))


class _Sizes:
    """The sizes of symbolic dimensions bound by inputs, and dimensions that depend on sizes not bound yet."""

    def __init__(self, diagnostics: Diagnostics, *, least: bool = True) -> None:
        self.bound: dict[str, int] = {}
        self._least = least
        self._first: dict[str, str] = {}
        self._waiting: list[tuple[str, int, DimExpr]] = []
        self._diagnostics = diagnostics

    def match(self, name: str, shape: tuple[int, ...], type: TensorType) -> None:
        """Compares a shape with the declared one, and binds plain symbols."""
        if type.shape is None:
            return
        if len(shape) != len(type.shape):
            self._diagnostics.add(
                WRONG_INPUT, f"input '{name}': expected rank {len(type.shape)} ({type}), found rank {len(shape)}"
            )
            return
        for axis, (size, dim) in enumerate(zip(shape, type.shape, strict=True)):
            where = f"axis {axis} of input '{name}'"
            if isinstance(dim, int) and dim != size:
                self._diagnostics.add(
                    WRONG_INPUT, f"{where}: expected {dim}, found {size}", notes=[f"declared type: {type}"]
                )
            elif isinstance(dim, DimExpr):
                self._bind(where, size, dim)

    def _bind(self, where: str, size: int, dim: DimExpr) -> None:
        name = plain_symbol(dim)
        if name is None:
            self._waiting.append((where, size, dim))
            return
        least = symbols_in(dim)[0].least
        if self._least and size < least:
            self._diagnostics.add(WRONG_DIMENSIONS, f"{where}: '{name}' is at least {least}, found {size}")
        before = self.bound.setdefault(name, size)
        first = self._first.setdefault(name, where)
        if before != size:
            self._diagnostics.add(WRONG_DIMENSIONS, f"{where}: '{name}' is {before} ({first}), found {size}")

    def shape_of(self, type: TensorType, port: Port) -> tuple[int, ...]:
        """Returns the shape of an omitted input: from the sizes bound by others, else its default shape."""
        if type.shape is None:
            return port.shape
        return tuple([self._size(d, port.shape[n] if n < len(port.shape) else 1) for n, d in enumerate(type.shape)])

    def _size(self, dim: Dim | None, default: int) -> int:
        if isinstance(dim, DimExpr) and all(n in self.bound for n in symbols(dim)):
            return evaluate(dim, self.bound)
        return dim if isinstance(dim, int) else default

    def settle(self) -> None:
        """Compares sizes with symbolic expressions, after all plain symbols are bound."""
        for where, size, dim in self._waiting:
            missing = [n for n in symbols(dim) if n not in self.bound]
            if missing:
                self._diagnostics.add(WRONG_DIMENSIONS, f"{where}: no input gives the size of '{missing[0]}' in {dim}")
            elif (expected := evaluate(dim, self.bound)) != size:
                self._diagnostics.add(WRONG_DIMENSIONS, f"{where}: expected {dim} = {expected}, found {size}")


def _check(required: Sequence[Requirement], sizes: Mapping[str, int], diagnostics: Diagnostics) -> None:
    for constraint, op in required:
        if all(n in sizes for n in constraint.symbols) and not constraint.holds(sizes):
            names = ", ".join(f"{n} = {sizes[n]}" for n in constraint.symbols)
            diagnostics.add(
                WRONG_DIMENSIONS,
                f"{op.name}: {constraint.why}: expected {constraint.lhs} {constraint.relation} {constraint.rhs}",
                where=path_of(op),
                notes=[f"sizes: {names}"],
                help=_suggested_sizes(constraint, sizes),
            )


def _suggested_sizes(constraint: Constraint, sizes: Mapping[str, int]) -> str | None:
    """Returns a help text with sizes for which a constraint would hold; None if there are none."""
    solutions = {n: constraint.solution(n, sizes) for n in constraint.symbols}
    suggestions = [f"{n} = {size}" for n, size in solutions.items() if size is not None]
    return f"it holds for {' or '.join(suggestions)}" if suggestions else None
