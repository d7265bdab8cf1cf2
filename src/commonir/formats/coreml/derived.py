"""The description of a model whose module has none, from the types of its functions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from commonir.base.codes import NOT_IN_FORMAT
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.dialects.mil.base import SPECIFICATION_VERSIONS
from commonir.dialects.mil.description import (
    ARRAY_TYPES,
    IO_TYPES_SINCE,
    MAIN,
    Description,
    Dictionary,
    Feature,
    FeatureType,
    Interface,
    MultiArray,
    Scalar,
    State,
)
from commonir.dialects.mil.program import Func
from commonir.formats.coreml.verify import FUNCTIONS_SINCE, STATES_SINCE
from commonir.ir.interface import DimRange
from commonir.ir.module import Module
from commonir.ir.operation import Value
from commonir.ir.types import MapType, StateType, TensorType, Type, f64, i64, string

# The sizes that coremltools gives a dimension of which nothing is known.
_ANY_SIZE = DimRange(1, 2)


def derived_description(module: Module) -> Description:
    """Returns the description that follows from the functions of a model.

    Raises: DiagnosticError (E0806) with every input and output that no model may have.
    """
    functions = [op for op in module.body.operations if isinstance(op, Func)]
    faults: list[Diagnostic] = []
    interfaces = tuple([_interface(f, faults) for f in functions])
    if faults:
        raise DiagnosticError(*faults)
    has_functions = [f.sym_name for f in functions] != [MAIN]
    return Description(
        specification_version=_specification_version(functions, has_functions=has_functions),
        interfaces=interfaces,
        has_functions=has_functions,
        default_function=(module.entry or next((f.sym_name for f in functions), "")) if has_functions else "",
    )


def _specification_version(functions: Iterable[Func], *, has_functions: bool) -> int:
    """The oldest version that has everything that functions use."""
    needed = [min(SPECIFICATION_VERSIONS.values())]
    if has_functions:
        needed.append(FUNCTIONS_SINCE)
    for function in functions:
        needed.append(SPECIFICATION_VERSIONS.get(function.opset, 0))
        for value in (*function.inputs, *function.outputs):
            if isinstance(value.type, StateType):
                needed.append(STATES_SINCE)
            elif isinstance(value.type, TensorType):
                needed.append(IO_TYPES_SINCE.get(value.type.element, 0))
    return max(needed)


def _interface(function: Func, faults: list[Diagnostic]) -> Interface:
    inputs = [v for v in function.inputs if not isinstance(v.type, StateType)]
    states = [v for v in function.inputs if isinstance(v.type, StateType)]
    outputs = list(zip(function.output_names, function.outputs, strict=False))
    labels = [name for name, v in outputs if _is_label(v.type)]
    scores = [name for name, v in outputs if isinstance(v.type, MapType)]
    where = f"{function.sym_name}"
    return Interface(
        function.sym_name,
        tuple(_features([(v.name, v) for v in inputs], where, faults, is_input=True)),
        tuple(_features(outputs, where, faults, is_input=False)),
        tuple(_features([(v.name, v) for v in states], where, faults, is_input=True)),
        labels[0] if labels and scores else "",
        scores[0] if labels and scores else "",
    )


def _features(
    values: Iterable[tuple[str, Value]], where: str, faults: list[Diagnostic], *, is_input: bool
) -> Iterator[Feature]:
    for name, value in values:
        type = _feature_type(value.type, is_input=is_input)
        if type is None:
            message = f"{'input' if is_input else 'output'} '{name}' is {value.type}, which no model may have there"
            faults.append(Diagnostic(NOT_IN_FORMAT, message, where=where))
        else:
            yield Feature(name, type)


def _feature_type(type: Type, *, is_input: bool) -> FeatureType | None:
    match type:
        case StateType(element=TensorType() as element):
            array = _multi_array(element, is_input=is_input)
            return None if array is None else State(array)
        case TensorType() if not is_input and _is_label(type):
            return Scalar(type.element)
        case TensorType():
            return _multi_array(type, is_input=is_input)
        case MapType(key=TensorType(element=key), value=TensorType(element=element)) if element is f64:
            return Dictionary(key)
        case _:
            return None


def _is_label(type: Type) -> bool:
    return isinstance(type, TensorType) and type.shape == () and type.element in (string, i64)


def _multi_array(type: TensorType, *, is_input: bool) -> MultiArray | None:
    if type.element not in ARRAY_TYPES.values() or type.shape is None:
        return None
    if type.is_static:
        # A scalar is given as a vector of one element.
        return MultiArray(type.element, type.static_shape or ((1,) if is_input else ()))
    if not is_input:
        return MultiArray(type.element, ())
    ranges = tuple([DimRange(d, d) if isinstance(d, int) else _ANY_SIZE for d in type.shape])
    return MultiArray(type.element, tuple([r.lower for r in ranges]), ranges=ranges)
