"""Rules for functions, what ends them and what a program keeps between runs."""

from __future__ import annotations

from collections.abc import Collection

from commonir.dialects.mlir import func, ml_program
from commonir.ir.attributes import DictionaryAttr
from commonir.ir.interface import NO_PORT, Port, port_attributes
from commonir.ir.operation import Operation, Value
from commonir.ir.types import FunctionType, TensorType, Type, symbols_of
from commonir.passes.data_dependent_dims import DimNames
from commonir.rewrite.legalize import Context, Mismatch, rule
from commonir.symbolic import plain_symbol

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
    inputs, results = _with_dim_names(op)
    return func.Func(op.sym_name, type, content, op.output_names, op.sym_visibility, inputs, results)


def _with_dim_names(op: ml_program.Func) -> list[tuple[DictionaryAttr, ...] | None]:
    """Returns attributes of arguments and results with the names of dims, which types of MLIR cannot have.

    Those that inputs have if nothing else is known are left out.
    """
    unknown = [v.type.without_symbolic_dims() if isinstance(v.type, TensorType) else v.type for v in op.inputs]
    defaults = symbols_of([DimNames(()).named(t, v.name) for t, v in zip(unknown, op.inputs, strict=True)])
    inputs = [(v.name, v.type) for v in op.inputs]
    outputs = [(n, v.type) for n, v in zip(op.output_names, op.outputs, strict=True)]
    return [
        port_attributes([_with_names(type, ports.get(name, NO_PORT), defaults) for name, type in values])
        for values, ports in ((inputs, op.input_ports), (outputs, op.output_ports))
    ]


def _with_names(type: Type, port: Port, defaults: Collection[str]) -> Port:
    if port.dims or not isinstance(type, TensorType):
        return port
    names = [plain_symbol(d) or "" for d in type.shape or ()]
    names = ["" if n in defaults else n for n in names]
    return port._replace(dims=tuple(names)) if any(names) else port


@rule(ml_program.Return)
def returned(op: ml_program.Return, context: Context, values: tuple[Value, ...]) -> Operation:
    """Ends a function."""
    del op, context
    return func.Return(values)
