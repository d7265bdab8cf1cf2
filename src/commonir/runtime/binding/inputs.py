"""Checks the inputs of a run (names, element types, shapes, constraints), and binds symbolic dimensions to integers.

Arrays and Python numbers are converted where the declared type represents all their values, floats up to rounding
(`fitting.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.arrays import dtype_of, name_of
from commonir.base.codes import MISSING_INPUT, UNKNOWN_INPUT, UNSUPPORTED_EXECUTION, WRONG_DIMENSIONS, WRONG_INPUT
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.base.sparse import SparseArray
from commonir.base.suggestions import did_you_mean, known_names
from commonir.base.tuples import NamedTuple
from commonir.dialects.core import map_key
from commonir.ir.interface import NO_PORT, Port
from commonir.ir.module import Function
from commonir.ir.types import ListType, MapType, OptionalType, SparseTensorType, TensorType, TupleType, Type
from commonir.notation import Constraint
from commonir.ods import Op, infer, path_of
from commonir.ods.patterns import as_value
from commonir.runtime.binding.fitting import fitted, range_text
from commonir.runtime.binding.ports import default_array, in_program_layout, names_of, shape_faults
from commonir.runtime.binding.signatures import signature_faults
from commonir.runtime.instances import is_concrete
from commonir.runtime.values import is_array, is_list, is_map
from commonir.symbolic import Dim, DimExpr, evaluate, plain_symbol, symbols
from commonir.symbolic.dims import symbols_in

Array = NDArray[np.generic]


class BoundInputs(NamedTuple):
    """Arrays for the inputs of a function, and the values of its symbolic dimensions."""

    arrays: tuple[Array, ...]
    dims: dict[str, int]


class Requirement(NamedTuple):
    """A constraint of an operation that is checked when inputs are bound."""

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
        # Reported if execution reaches the operation.
        return ()


def bind(
    function: Function,
    inputs: Mapping[str, object],
    required: Sequence[Requirement] = (),
    *,
    check_lower_bounds: bool = True,
) -> BoundInputs:
    """Checks values for the inputs of a function, and returns them with the values of its symbolic dimensions.

    Without `check_lower_bounds`, a dimension may be below the lower bound of its symbol.
    Raises: DiagnosticError with all diagnostics (E0701, E0702, E0703, E0707).
    """
    diagnostics = Diagnostics()
    names = names_of(function)
    ports = function.input_ports
    for name in inputs:
        if name not in names:
            diagnostics.extend([unknown_input(name, names)])
    arrays: dict[str, Array] = {}
    non_tensors: dict[str, Array] = {}
    omitted: list[tuple[str, TensorType, Port]] = []
    dims = _DimBinding(diagnostics, check_lower_bounds=check_lower_bounds)
    for name, value in zip(names, function.inputs, strict=True):
        port = ports.get(name, NO_PORT)
        if name not in inputs and not port.is_optional:
            diagnostics.add(MISSING_INPUT, f"input '{name}' ({value.type}) has no value")
        elif not isinstance(value.type, TensorType):
            before = len(diagnostics)
            non_tensors[name] = _bound_value(name, inputs[name], value.type, diagnostics)
            if len(diagnostics) == before:
                dims.match_parts(name, non_tensors[name], value.type)
        elif name not in inputs:
            omitted.append((name, value.type, port))
        else:
            array = _converted(name, inputs[name], value.type, port, diagnostics)
            if array is not None:
                arrays[name] = array
                dims.match(name, array.shape, value.type)
    diagnostics.raise_errors()
    for name, type, port in omitted:
        arrays[name] = default_array(type, dims.shape_of(type, port), port)
        dims.match(name, arrays[name].shape, type)
    dims.check_expressions()
    shapes = {name: x.shape for name, x in arrays.items()}
    diagnostics.extend(shape_faults(function, shapes))
    diagnostics.extend(signature_faults(function, shapes))
    diagnostics.raise_errors()
    _check_requirements(required, dims.bound, diagnostics)
    diagnostics.raise_errors()
    return BoundInputs(tuple([arrays[name] if name in arrays else non_tensors[name] for name in names]), dims.bound)


def symbol_dims(function: Function, arrays: Sequence[Array]) -> dict[str, int]:
    """Returns the values of a function's symbolic dimensions for arrays of its inputs.

    Raises: DiagnosticError (E0703, E0707).
    """
    diagnostics = Diagnostics()
    dims = _DimBinding(diagnostics)
    for value, array in zip(function.inputs, arrays, strict=True):
        dims.match_parts(value.name, array, value.type)
    dims.check_expressions()
    diagnostics.raise_errors()
    return dims.bound


def known_symbol_dims(function: Function, arrays: Mapping[str, Array]) -> dict[str, int]:
    """Returns the values of symbolic dimensions that follow from arrays for some of the inputs.

    Contradictions are not reported here, but when the inputs are bound.
    """
    ignored = Diagnostics()
    dims = _DimBinding(ignored)
    for value in function.inputs:
        if value.name not in arrays:
            continue
        if isinstance(value.type, TensorType):
            dims.match(value.name, np.shape(arrays[value.name]), value.type)
            continue
        before = len(ignored)
        bound = _bound_value(value.name, arrays[value.name], value.type, ignored)
        if len(ignored) == before:
            dims.match_parts(value.name, bound, value.type)
    return dims.bound


def unknown_input(name: str, names: Sequence[str]) -> Diagnostic:
    """Returns the error for a value of an input that a function does not have."""
    help = did_you_mean(name, names) or known_names("input", names)
    return Diagnostic(UNKNOWN_INPUT, f"the function has no input '{name}'", help=help)


def _bound_value(name: str, value: Any, type: Type, diagnostics: Diagnostics) -> Any:
    """Checks a value of any type, and returns it; elements of a list may differ in shape.

    Dims outside of lists are checked by the caller, with those of other inputs.
    """
    match type:
        case TensorType():
            return _converted(name, value, type, NO_PORT, diagnostics)
        case SparseTensorType() if isinstance(value, SparseArray):
            elements = _converted(name, value.values, TensorType(type.element, (None,)), NO_PORT, diagnostics)
            return None if elements is None else value.with_values(elements)
        case ListType() if is_list(value):
            return [_bound_element(f"{name}[{n}]", v, type.element, diagnostics) for n, v in enumerate(value)]
        case TupleType() if is_list(value) and len(value) == len(type.elements):
            pairs = enumerate(zip(value, type.elements, strict=True))
            return tuple([_bound_value(f"{name}[{n}]", v, t, diagnostics) for n, (v, t) in pairs])
        case OptionalType():
            return None if value is None else _bound_value(name, value, type.element, diagnostics)
        case MapType() if is_map(value):
            return _bound_map(name, value, type, diagnostics)
        case SparseTensorType() | ListType() | TupleType() | MapType():
            message = f"input '{name}': expected {_EXPECTED[type.__class__]} ({type}), found {_type_name(value)}"
            is_dense = isinstance(type, SparseTensorType) and isinstance(value, np.ndarray)
            diagnostics.add(WRONG_INPUT, message, help="commonir.SparseArray.of_dense(array)" if is_dense else None)
        case _:
            diagnostics.add(UNSUPPORTED_EXECUTION, f"input '{name}' has type {type}, which cannot be an input")
    return None


_EXPECTED: Mapping[type[Type], str] = {
    ListType: "a list",
    TupleType: "a tuple of as many values",
    MapType: "a dictionary",
    SparseTensorType: "a commonir.SparseArray",
}


def _bound_element(name: str, value: Any, type: Type, diagnostics: Diagnostics) -> Any:
    """Checks an element of a list, whose symbolic dims are its own, and returns it."""
    before = len(diagnostics)
    result = _bound_value(name, value, type, diagnostics)
    if len(diagnostics) == before:
        _DimBinding(diagnostics).match_parts(name, result, type)
    return result


def _bound_map(name: str, value: dict[object, object], type: MapType, diagnostics: Diagnostics) -> dict[Any, Any]:
    """Checks the keys and values of a map, and returns them as Python scalars, in the order of the dictionary."""
    out: dict[Any, Any] = {}
    for key, content in value.items():
        pair = (key, as_value(type.key)), (content, as_value(type.value))
        bound = [_bound_element(f"{name}[{key!r}]", v, t, diagnostics) for v, t in pair]
        if bound[0] is not None and bound[1] is not None:
            k, v = [x.item() if is_array(x) and x.ndim == 0 else x for x in bound]
            out[map_key(k)] = v
    return out


def _type_name(value: object) -> str:
    return "an array" if isinstance(value, np.ndarray) else type(value).__name__


def _converted(name: str, value: object, type: TensorType, port: Port, diagnostics: Diagnostics) -> Array | None:
    expected = dtype_of(type.element.name)
    before = len(diagnostics)
    array: Array = in_program_layout(name, np.asarray(value), type, port, diagnostics)
    if len(diagnostics) > before:
        return None
    if array.dtype == expected and (expected.kind != "O" or _are_texts(array)):
        return array
    if expected.kind == "O" and array.dtype.kind in "US":
        return array.astype(object)
    result = fitted(array, expected)
    if isinstance(result, np.ndarray):
        return result
    try:
        has_objects = array.size > 0 and array.dtype.kind == "O" and not _are_texts(array)
        actual = f"a Python {_type_name(array.flat[0])}" if has_objects else name_of(array.dtype)
    except KeyError:
        actual = str(array.dtype)
    message = f"input '{name}': expected element type {type.element}, found {actual}"
    if array.dtype.kind in "OUS":
        help = "pass an array of numbers; `commonir.read_image` reads an image, and `numpy.load` a file of arrays"
        diagnostics.add(WRONG_INPUT, message, help=help)
    elif result is None:
        diagnostics.add(WRONG_INPUT, message, help=f"convert it: array.astype('{expected.name}')")
    else:
        at = f" at {list(result.at)}" if result.at else ""
        diagnostics.add(WRONG_INPUT, f"{message}; {result.value}{at} does not fit", notes=[range_text(type.element)])
    return None


def _are_texts(array: Array) -> bool:
    return all(isinstance(v, str) for v in array.reshape(-1).tolist())


# How numpy gives an array another layout of images or a batch of one, and the axes of the result: None is a new one.
_REARRANGEMENTS: tuple[tuple[str, tuple[int | None, ...]], ...] = (
    ("array[numpy.newaxis]", (None, 0)),
    ("array[numpy.newaxis]", (None, 0, 1)),
    ("array[numpy.newaxis]", (None, 0, 1, 2)),
    ("array.transpose(2, 0, 1)[numpy.newaxis]", (None, 2, 0, 1)),
    ("array.transpose(1, 2, 0)[numpy.newaxis]", (None, 1, 2, 0)),
    ("array.transpose(2, 0, 1)", (2, 0, 1)),
    ("array.transpose(1, 2, 0)", (1, 2, 0)),
    ("array.transpose(0, 3, 1, 2)", (0, 3, 1, 2)),
    ("array.transpose(0, 2, 3, 1)", (0, 2, 3, 1)),
)


def _rearranged(shape: tuple[int, ...], expected: tuple[Dim | None, ...]) -> str | None:
    """Returns the advice to rearrange an array if another layout of it, or a batch of it, has the expected shape."""
    for text, axes in _REARRANGEMENTS:
        if len(axes) - axes.count(None) != len(shape) or len(axes) != len(expected):
            continue
        result = tuple([1 if axis is None else shape[axis] for axis in axes])
        if all(not isinstance(dim, int) or dim == size for dim, size in zip(expected, result, strict=True)):
            return f"`{text}` has the shape {list(result)}"
    return None


class _DimBinding:
    """Symbols bound by input shapes, and dimensions that are expressions of symbols, which are checked at the end."""

    def __init__(self, diagnostics: Diagnostics, *, check_lower_bounds: bool = True) -> None:
        self.bound: dict[str, int] = {}
        self._check_lower_bounds = check_lower_bounds
        self._first_places: dict[str, str] = {}
        self._expressions: list[tuple[str, int, DimExpr]] = []
        self._diagnostics = diagnostics

    def match(self, name: str, shape: tuple[int, ...], type: TensorType) -> None:
        """Compares a shape with the declared one, and binds symbols."""
        if type.shape is None:
            return
        if len(shape) != len(type.shape):
            message = f"input '{name}': expected rank {len(type.shape)} ({type}), found rank {len(shape)}"
            self._diagnostics.add(WRONG_INPUT, message, help=_rearranged(shape, type.shape))
            return
        help = _rearranged(shape, type.shape)
        for axis, (actual, dim) in enumerate(zip(shape, type.shape, strict=True)):
            place = f"axis {axis} of input '{name}'"
            if isinstance(dim, int) and dim != actual:
                message = f"{place}: expected {dim}, found {actual}"
                self._diagnostics.add(WRONG_INPUT, message, notes=[f"declared type: {type}"], help=help)
            elif isinstance(dim, DimExpr):
                self._bind(place, actual, dim)

    def match_parts(self, name: str, value: Any, type: Type) -> None:
        """Compares the shapes of the tensors in a value with the declared ones; elements of lists have their own."""
        match type:
            case TensorType():
                self.match(name, np.shape(value), type)
            case SparseTensorType():
                self.match(name, value.shape, type.dense)
            case TupleType():
                for n, (v, t) in enumerate(zip(value, type.elements, strict=True)):
                    self.match_parts(f"{name}[{n}]", v, t)
            case OptionalType() if value is not None:
                self.match_parts(name, value, type.element)
            case _:
                return

    def _bind(self, place: str, actual: int, dim: DimExpr) -> None:
        name = plain_symbol(dim)
        if name is None:
            self._expressions.append((place, actual, dim))
            return
        lower = symbols_in(dim)[0].least
        if self._check_lower_bounds and actual < lower:
            self._diagnostics.add(WRONG_DIMENSIONS, f"{place}: '{name}' is at least {lower}, found {actual}")
        before = self.bound.setdefault(name, actual)
        first = self._first_places.setdefault(name, place)
        if before != actual:
            self._diagnostics.add(WRONG_DIMENSIONS, f"{place}: '{name}' is {before} ({first}), found {actual}")

    def shape_of(self, type: TensorType, port: Port) -> tuple[int, ...]:
        """Returns the shape of an omitted input: from symbols that other inputs bind, else its default shape."""
        if type.shape is None:
            return port.shape
        return tuple([self._dim(d, port.shape[n] if n < len(port.shape) else 1) for n, d in enumerate(type.shape)])

    def _dim(self, dim: Dim | None, default: int) -> int:
        if isinstance(dim, DimExpr) and all(n in self.bound for n in symbols(dim)):
            return evaluate(dim, self.bound)
        return dim if isinstance(dim, int) else default

    def check_expressions(self) -> None:
        """Compares dimensions with the values of their expressions, after all symbols are bound."""
        for place, actual, dim in self._expressions:
            missing = [n for n in symbols(dim) if n not in self.bound]
            if missing:
                self._diagnostics.add(WRONG_DIMENSIONS, f"{place}: no input gives the size of '{missing[0]}' in {dim}")
            elif (expected := evaluate(dim, self.bound)) != actual:
                self._diagnostics.add(WRONG_DIMENSIONS, f"{place}: expected {dim} = {expected}, found {actual}")


def _check_requirements(required: Sequence[Requirement], dims: Mapping[str, int], diagnostics: Diagnostics) -> None:
    for constraint, op in required:
        if all(n in dims for n in constraint.symbols) and not constraint.holds(dims):
            names = ", ".join(f"{n} = {dims[n]}" for n in constraint.symbols)
            diagnostics.add(
                WRONG_DIMENSIONS,
                f"{op.name}: {constraint.violation(dims)}",
                where=path_of(op),
                notes=[f"sizes: {names}"],
                help=_suggested_dims(constraint, dims),
            )


def _suggested_dims(constraint: Constraint, dims: Mapping[str, int]) -> str | None:
    """Returns a help text with dimensions for which a constraint would hold; None if there are none."""
    solutions = {n: constraint.solution(n, dims) for n in constraint.symbols}
    suggestions = [f"{n} = {dim}" for n, dim in solutions.items() if dim is not None]
    return f"it holds for {' or '.join(suggestions)}" if suggestions else None
