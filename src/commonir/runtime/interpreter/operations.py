"""What engines ask of single operations: constants, algorithms, and operands by the names that kernels use."""

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
    """Returns the finding that an operation has no evaluation."""
    return Diagnostic(UNSUPPORTED_EXECUTION, f"{op.name} cannot be run: lower the program first", where=path_of(op))


def constant_array(op: Op, sizes: Mapping[str, int]) -> Array | None:
    """Returns the result of an operation that defines a constant, or a vector of dimensions whose sizes are given."""
    if len(op.results) != 1 or not isinstance(type := op.results[0].type, TensorType):
        return None
    data = known_data(op.results[0])
    if data is not None:
        return data.array()
    dims = known_dims(op.results[0])
    if dims is None:
        return None
    numbers = [evaluate(d, sizes) for d in dims]
    return np.asarray(numbers, dtype_of(type.element.name)).reshape(type.static_shape)


def data_of_array(type: TensorType, array: Array) -> Data:
    """Returns the elements of an array as those of a constant of a type."""
    if type.element.kind == "string":
        return TextData(type, [str(v) for v in array.reshape(-1).tolist()])
    return ArrayData(type, np.asarray(array, dtype_of(type.element.name), order="C"))


def named_operands(op: Op, operands: Sequence[Any]) -> dict[str, Any]:
    """Returns what stands for the operands of a kernel, by the names under which the kernel reads them."""
    return dict(zip(operand_names(op), operands, strict=True))


def flat_values(grouped: Sequence[Value | tuple[Value, ...] | None]) -> list[Value]:
    """Returns the values of grouped operands in order."""
    out: list[Value] = []
    for v in grouped:
        out += v if isinstance(v, tuple) else () if v is None else (v,)
    return out


def replaced(value: Value | tuple[Value, ...] | None, given: Mapping[Value, Array]) -> Any:
    """Returns a grouped operand with arrays in place of values."""
    if isinstance(value, tuple):
        return tuple([given[v] for v in value])
    return None if value is None else given[value]


def call_algorithm(op: Op, *arrays: Array) -> tuple[Array, ...]:
    """Returns the results of an algorithm for arrays of its operands.

    Raises: DiagnosticError (E0708) when it has none for these values, (E0711) when there is no memory for them.
    """
    given = dict(zip(op.operands, arrays, strict=True))
    try:
        with np.errstate(all="ignore"):
            returned: Array | tuple[Array, ...] = op.reference(*[replaced(v, given) for v in op.grouped_operands()])
    except MemoryError as error:
        raise no_memory(error, op.name) from error
    except (ValueError, IndexError, ZeroDivisionError, OverflowError) as error:
        raise DiagnosticError(Diagnostic(EXECUTION_FAILED, f"{op.name}: {error}")) from error
    return returned if isinstance(returned, tuple) else (returned,)
