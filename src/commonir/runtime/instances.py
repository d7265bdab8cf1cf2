"""Instances of operations for operands of static shapes.

When inputs are bound, an operation on dynamic shapes is constructed again for static ones. The instance is an ordinary
operation: its types, kernels and checks follow from its definition.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from commonir.base.codes import WRONG_DIMENSIONS
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.ir.operation import Value
from commonir.ir.types import SparseTensorType, TensorType, Type
from commonir.ods import Known, Op, infer, known_data, known_dims
from commonir.ods.fields import FieldKind
from commonir.ods.specialize import is_tuple
from commonir.symbolic import DimExpr, evaluate


def is_static(type: Type) -> bool:
    """Returns whether a type has no dynamic dimensions."""
    if isinstance(type, SparseTensorType):
        return type.dense.is_static
    return not isinstance(type, TensorType) or type.is_static


def is_concrete(op: Op) -> bool:
    """Returns whether operands, results and attributes of an operation mention no symbols."""
    if not all(is_static(v.type) for v in (*op.operands, *op.results)):
        return False
    return all(is_fixed(v) for v in op.stored_attributes.values())


def is_fixed(value: object) -> bool:
    """Returns whether the value of an attribute mentions no symbols."""
    if is_tuple(value):
        return all(is_fixed(v) for v in value)
    return not isinstance(value, DimExpr)


def instance(op: Op, operands: Sequence[Value], dims: Mapping[str, int]) -> Op:
    """Returns a copy of an operation on other operands (one for each of its own), with integers for symbols.

    Raises: DiagnosticError when the operands contradict the definition, or `dims` lacks a symbol.
    """
    try:
        arguments = _instance_arguments(op, dict(zip(op.operands, operands, strict=True)), dims)
    except ValueError as error:
        raise DiagnosticError(Diagnostic(WRONG_DIMENSIONS, f"{op.name}: {error}")) from None
    built = type(op).build(arguments, [r.type for r in op.results])
    for result, inferred in zip(built.results, infer(built).types, strict=False):
        result.retype(inferred)
    return built


def _instance_arguments(op: Op, values: Mapping[Value, Value], dims: Mapping[str, int]) -> dict[str, object]:
    """Returns the arguments of an instance on other operands. Raises: ValueError when `dims` lacks a symbol."""
    arguments: dict[str, object] = {}
    for f in op.layout.arguments:
        match f.kind:
            case FieldKind.OPERAND:
                value = op.field_value(f)
                if isinstance(value, Value):
                    arguments[f.name] = _with_known(value, values[value], dims) if f.by_value else values[value]
                elif value is not None:
                    arguments[f.name] = tuple([values[v] for v in value])
            case FieldKind.ATTRIBUTE:
                arguments[f.name] = with_static_dims(op.field_value(f), dims)
            case FieldKind.PARAMETER:
                # A constant that it is bound to stays an operand.
                bound = op.bound_value(f)
                arguments[f.name] = with_static_dims(op.field_value(f), dims) if bound is None else bound
            case _:
                arguments[f.name] = op.field_value(f)
    return arguments


def static_attributes(op: Op, dims: Mapping[str, int]) -> dict[str, object]:
    """Returns the symbolic attributes of an operation with integers for their symbols.

    Raises: ValueError when `dims` lacks a symbol.
    """
    return {name: with_static_dims(v, dims) for name, v in op.stored_attributes.items() if not is_fixed(v)}


def _with_known(original: Value, value: Value, dims: Mapping[str, int]) -> Value:
    """Returns a value with known elements, if those of the original are known symbolically."""
    if known_dims(value) is not None or known_data(value) is not None:
        return value
    elements = known_dims(original)
    if elements is None or any(n not in dims for d in elements if isinstance(d, DimExpr) for n in d.names[1]):
        return value
    return Known(value.type, tuple([evaluate(d, dims) for d in elements])).result


def with_static_dims(value: object, dims: Mapping[str, int]) -> object:
    """Returns an attribute value with integers for its symbolic dimensions.

    Raises: ValueError when `dims` lacks a symbol.
    """
    if isinstance(value, DimExpr):
        return evaluate(value, dims)
    if is_tuple(value):
        return tuple([with_static_dims(v, dims) for v in value])
    if isinstance(value, TensorType) and value.shape is not None:
        return value.with_shape(tuple([None if d is None else evaluate(d, dims) for d in value.shape]))
    return value
