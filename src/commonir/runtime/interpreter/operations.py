"""Evaluates single operations for all engines: constants, algorithms, and the operands of kernels by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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


def call_algorithm(op: Op, *arrays: Array) -> tuple[Array, ...]:
    """Returns the results of an algorithm for arrays of its operands; see `algorithm_of`."""
    return algorithm_of(op)(*arrays)


def algorithm_of(op: Op) -> Callable[..., tuple[Array, ...]]:
    """Returns an algorithm as a function of arrays of its operands.

    It raises DiagnosticError (E0708) when it fails for these values, (E0711) when there is not enough memory.
    """
    numbers = {v: n for n, v in enumerate(op.operands)}
    grouped = [_numbered(v, numbers) for v in op.grouped_operands()]
    declared = op.layout.results
    gives_tuple = len(declared) != 1 or declared[0].variadic
    reference = op.reference

    def run(*arrays: Array) -> tuple[Array, ...]:
        try:
            with np.errstate(all="ignore"):
                returned: Array | tuple[Array, ...] = reference(*[_taken(n, arrays) for n in grouped])
        except MemoryError as error:
            raise no_memory(error, op.name) from error
        except (ValueError, IndexError, ZeroDivisionError, OverflowError) as error:
            raise DiagnosticError(Diagnostic(EXECUTION_FAILED, f"{op.name}: {error}")) from error
        if gives_tuple and isinstance(returned, tuple):
            return returned
        only: Any = returned  # may be a tuple itself
        return (only,)

    return run


_Numbered = tuple[int, ...] | int | None
"""The numbers of the operands in a group, or of the only one."""


def _numbered(group: Value | tuple[Value, ...] | None, numbers: Mapping[Value, int]) -> _Numbered:
    if isinstance(group, tuple):
        return tuple([numbers[v] for v in group])
    return None if group is None else numbers[group]


def _taken(group: _Numbered, arrays: Sequence[Array]) -> Any:
    if isinstance(group, tuple):
        return tuple([arrays[n] for n in group])
    return None if group is None else arrays[group]
