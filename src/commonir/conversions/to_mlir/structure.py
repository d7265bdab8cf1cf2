"""Rules for functions, what ends them and what a program keeps between runs."""

from __future__ import annotations

from commonir.dialects.mlir import func, ml_program
from commonir.ir.operation import Operation, Value
from commonir.ir.types import FunctionType, TensorType
from commonir.rewrite.legalize import Context, Mismatch, rule

ALSO_LEGAL = frozenset(
    {"func", "ml_program.global", "ml_program.global_load", "ml_program.global_load_const", "ml_program.global_store"}
)
"""The operations of a program beside those that compute."""


@rule(ml_program.Func)
def function(op: ml_program.Func, context: Context) -> Operation | Mismatch:
    """A function of the same name, inputs and outputs, which are tensors of numbers."""
    (content,) = context.regions
    last = content.block.last
    outputs = () if last is None else last.operands
    for value in (*content.block.arguments, *outputs):
        if not isinstance(value.type, TensorType) or value.type.element.kind == "string":
            return Mismatch(f"MLIR has no values of type {value.type}")
    type = FunctionType(tuple([a.type for a in content.block.arguments]), tuple([v.type for v in outputs]))
    return func.Func(op.sym_name, type, content, op.output_names, op.sym_visibility, op.arg_attrs, op.res_attrs)


@rule(ml_program.Return)
def returned(op: ml_program.Return, context: Context, values: tuple[Value, ...]) -> Operation:
    """Ends a function."""
    del op, context
    return func.Return(values)
