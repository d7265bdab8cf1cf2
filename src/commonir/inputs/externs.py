"""Gives extern globals their contents from arrays by name.

Source: MLIR ml_program dialect, ExternAttr: `sym_name` is the key for locating the value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from commonir.base.arrays import dtype_of
from commonir.base.codes import MISSING_INPUT, WRONG_INPUT
from commonir.base.diagnostics import Diagnostic, Diagnostics
from commonir.base.suggestions import did_you_mean
from commonir.dialects.mlir.ml_program import Global
from commonir.ir.attributes import Attribute, DataAttr, DialectAttr
from commonir.ir.cloning import clone
from commonir.ir.core_types import core_type
from commonir.ir.data import ArrayData
from commonir.ir.module import Module
from commonir.ir.types import TensorType, Type
from commonir.ods import path_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.generic]


def with_externs(module: Module, arrays: Mapping[str, Array]) -> Module:
    """Returns a program whose extern globals hold the arrays of their names; the program itself when it has none.

    Arrays without a global are ignored: an archive may serve several programs.

    Raises: DiagnosticError (E0701 for a global without an array, E0703 for an array that is not of its type).
    """
    if not any(isinstance(op, Global) and op.is_extern for op in module.nested()):
        return module
    result = clone(module)
    diagnostics = Diagnostics()
    for op in [op for op in result.nested() if isinstance(op, Global) and op.is_extern]:
        if op.sym_name not in arrays:
            message = f"the extern global @{op.sym_name} has no value"
            diagnostics.add(MISSING_INPUT, message, where=path_of(op), help=did_you_mean(op.sym_name, arrays))
            continue
        array = np.asarray(arrays[op.sym_name])
        wrong = list(_misfit(op, array))
        diagnostics.extend(wrong)
        if not wrong and op.parent is not None:
            filled = op.with_attributes(value=_value(op.type, array))
            op.parent.insert_before(op, filled)
            op.erase()
    diagnostics.raise_errors()
    return result


def _declared_type(op: Global) -> Type:
    """Returns the declared type of a global: that of its extern value, else its own."""
    value = op.value
    return value.type if isinstance(value, DialectAttr) and value.type is not None else op.type


def _misfit(op: Global, array: Array) -> Iterator[Diagnostic]:
    declared = _declared_type(op)
    type = core_type(declared)
    fits = isinstance(type, TensorType) and array.dtype == dtype_of(type.element.name)
    if isinstance(type, TensorType) and type.shape is not None:
        dims = zip(type.shape, array.shape, strict=False)
        fits = fits and len(type.shape) == array.ndim and all(not isinstance(d, int) or d == n for d, n in dims)
    if not fits:
        message = f"extern global @{op.sym_name}: expected {declared}, found {array.dtype} of shape {list(array.shape)}"
        yield Diagnostic(WRONG_INPUT, message, where=path_of(op))


def _value(type: Type, array: Array) -> Attribute:
    core_tensor = core_type(type)
    assert isinstance(core_tensor, TensorType)
    return DataAttr(ArrayData(TensorType(core_tensor.element, array.shape), array))
