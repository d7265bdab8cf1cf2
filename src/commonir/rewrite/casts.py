"""Casts between the types of operations that a legalization has and has not converted.

They are `builtin.unrealized_conversion_cast`, which stand for conversions that no operation makes yet, and cancel where
one undoes another.
"""

from __future__ import annotations

from commonir.dialects.mlir.builtin import UnrealizedConversionCast
from commonir.ir.module import Module
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, Type


def is_same_type(a: Type, b: Type) -> bool:
    """Returns whether two types are equal except for the names of dims."""
    if a is b:
        return True
    if not isinstance(a, TensorType) or not isinstance(b, TensorType):
        return False
    return a.without_symbolic_dims() is b.without_symbolic_dims()


def cast(value: Value, type: Type) -> Value:
    """Returns the result of a new detached cast of a value to a type."""
    return UnrealizedConversionCast.build({"inputs": (value,)}, (type,), None).results[0]


def fold_casts(module: Module) -> list[UnrealizedConversionCast]:
    """Removes casts that change nothing, undo another one or are not used; returns those that remain."""
    casts = [op for op in module.nested() if isinstance(op, UnrealizedConversionCast)]
    for op in casts:
        values = op.canonicalize()
        if values is not None:
            for old, new in zip(op.results, values, strict=True):
                old.replace_all_uses_with(new)
        elif len(op.inputs) == len(op.outputs) == 1:
            (value,), (result,) = op.inputs, op.outputs
            before = value.owner
            if is_same_type(value.type, result.type):
                result.replace_all_uses_with(value)
            elif (
                isinstance(before, UnrealizedConversionCast)
                and len(before.inputs) == len(before.outputs) == 1
                and is_same_type(before.inputs[0].type, result.type)
            ):
                result.replace_all_uses_with(before.inputs[0])
    remaining: list[UnrealizedConversionCast] = []
    for op in reversed(casts):
        if any(r.is_used for r in op.results):
            remaining.append(op)
        else:
            op.erase()
    return remaining[::-1]
