"""Single core operations: built from arrays or types, and evaluated as the reference engine does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.arrays import name_of
from commonir.dialects import core
from commonir.ir import Value
from commonir.ir.types import ELEMENT_TYPES, TensorType
from commonir.ods import Form, Op
from commonir.ods.fields import FieldKind
from commonir.runtime.engine import DEFAULT_OPTIONS
from commonir.runtime.interpreter.control import Globals, started_run
from commonir.runtime.interpreter.engine import Evaluator
from commonir.runtime.interpreter.operations import constant_array
from commonir.runtime.interpreter.specialization import Specializations

Array = NDArray[Any]
Operand = Array | tuple[Array, ...] | None
Operands = Sequence[Operand]


def type_of(array: Array) -> TensorType:
    """The tensor type of an array."""
    return TensorType(ELEMENT_TYPES[name_of(array.dtype)], array.shape)


def definition(name: str) -> type[Op]:
    """The core definition of a full name."""
    result = core.DIALECT.find(name)
    assert result is not None
    return result


def built(definition: type[Op], operands: Sequence[Value | tuple[Value, ...] | None], attributes: dict[str, Any]) -> Op:
    """An operation on values that stand for operands in order of declaration.

    Optional ones at the end may be left out.
    """
    fields = [f.name for f in definition.layout.inputs if f.kind is FieldKind.OPERAND]
    return definition(**dict(zip(fields, operands, strict=False)), **attributes)


def values_of(operands: Operands) -> list[Value | tuple[Value, ...] | None]:
    """Values of the types of arrays."""
    out: list[Value | tuple[Value, ...] | None] = []
    for x in operands:
        if isinstance(x, tuple):
            out.append(tuple([Value(type_of(u)) for u in x]))
        else:
            out.append(None if x is None else Value(type_of(x)))
    return out


def flat_arrays(operands: Operands) -> tuple[Array, ...]:
    """The arrays in order."""
    out: list[Array] = []
    for x in operands:
        out += x if isinstance(x, tuple) else () if x is None else (x,)
    return tuple(out)


def grouped(values: Sequence[Value], operands: Operands) -> list[Value | tuple[Value, ...] | None]:
    """Values in the places of arrays: the inverse of `flat_arrays`."""
    rest = iter(values)
    out: list[Value | tuple[Value, ...] | None] = []
    for x in operands:
        if isinstance(x, tuple):
            out.append(tuple([next(rest) for _ in x]))
        else:
            out.append(None if x is None else next(rest))
    return out


def operation(name: str, operands: Operands, attributes: dict[str, Any]) -> Op:
    """A core operation on values of the types of arrays."""
    return built(definition(name), values_of(operands), attributes)


def evaluator(**sizes: int) -> Evaluator:
    """An evaluator of single operations, for values of symbols."""
    return Evaluator(sizes, started_run(Globals(), Specializations(), DEFAULT_OPTIONS))


def evaluated(op: Op, operands: Operands) -> tuple[Array, ...]:
    """The results of an operation for arrays of its operands."""
    return evaluator().apply(op, flat_arrays(operands))


def constant_result(op: Op) -> tuple[Array, ...] | None:
    """The result of an operation that is a constant."""
    result = constant_array(op, {}) if not op.operands and op.form is Form.STRUCTURAL else None
    return None if result is None else (result,)


def run(name: str, *operands: Operand, **attributes: Any) -> Array:
    """The only result of a core operation on arrays."""
    (result,) = evaluated(operation(name, operands, attributes), operands)
    return np.asarray(result)
