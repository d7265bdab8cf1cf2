"""Evaluates single operations for all engines: constants, algorithms, and the operands of kernels by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.arrays import dtype_of
from commonir.base.codes import EXECUTION_FAILED, UNSUPPORTED_EXECUTION
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.ir.data import ArrayData, Data, TextData
from commonir.ir.operation import Operation, Value
from commonir.ir.types import TensorType
from commonir.ods import Op, known_data, known_dims, path_of
from commonir.ods.inference import operand_names
from commonir.runtime.limits import no_memory
from commonir.symbolic import evaluate

Array = NDArray[Any]


def unsupported(op: Operation) -> Diagnostic:
    """Returns the error that an operation cannot be evaluated."""
    is_defined = isinstance(op, Op)
    message = f"{op.name} cannot be run: {'lower the program first' if is_defined else 'it is not defined'}"
    help = None if is_defined else "`cir check` names the nearest operations; `--dialect FILE.td` defines others"
    return Diagnostic(UNSUPPORTED_EXECUTION, message, where=path_of(op), help=help)


def constant_array(op: Op, symbol_dims: Mapping[str, int]) -> Array | None:
    """Returns the result of a constant operation, or of one with known dims; None for other operations."""
    if len(op.results) != 1 or not isinstance(type := op.results[0].type, TensorType):
        return None
    data = known_data(op.results[0])
    if data is not None:
        return data.array()
    dims = known_dims(op.results[0])
    if dims is None:
        return None
    numbers = [evaluate(d, symbol_dims) for d in dims]
    return np.asarray(numbers, dtype_of(type.element.name)).reshape(type.static_shape)


def data_of_array(type: TensorType, array: Array) -> Data:
    """Returns the elements of an array as the contents of a constant."""
    if type.element.kind == "string":
        return TextData(type, [str(v) for v in array.reshape(-1).tolist()])
    return ArrayData(type, np.asarray(array, dtype_of(type.element.name), order="C"))


def named_operands(op: Op, operands: Sequence[Any]) -> dict[str, Any]:
    """Returns the operands of a kernel by the names that it uses for them."""
    return dict(zip(operand_names(op), operands, strict=True))


def flat_values(grouped: Sequence[Value | tuple[Value, ...] | None]) -> list[Value]:
    """Returns the values of grouped operands in order."""
    out: list[Value] = []
    for v in grouped:
        out += v if isinstance(v, tuple) else () if v is None else (v,)
    return out


def replaced(value: Value | tuple[Value, ...] | None, arrays: Mapping[Value, Array]) -> Any:
    """Returns a grouped operand with arrays in place of values."""
    if isinstance(value, tuple):
        return tuple([arrays[v] for v in value])
    return None if value is None else arrays[value]


def call_algorithm(op: Op, *arrays: Array) -> tuple[Array, ...]:
    """Returns the results of an algorithm for arrays of its operands.

    Raises: DiagnosticError (E0708) when it fails for these values, (E0711) when there is not enough memory.
    """
    by_value = dict(zip(op.operands, arrays, strict=True))
    try:
        with np.errstate(all="ignore"):
            returned: Array | tuple[Array, ...] = op.reference(*[replaced(v, by_value) for v in op.grouped_operands()])
    except MemoryError as error:
        raise no_memory(error, op.name) from error
    except (ValueError, IndexError, ZeroDivisionError, OverflowError) as error:
        raise DiagnosticError(Diagnostic(EXECUTION_FAILED, f"{op.name}: {error}")) from error
    declared = op.layout.results
    if isinstance(returned, tuple) and (len(declared) != 1 or declared[0].variadic):
        return returned
    # The only result may be a tuple itself.
    only: Any = returned
    return (only,)
