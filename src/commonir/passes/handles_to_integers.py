"""Replaces handles by their numbers, for targets that have no handles.

Source: Common IR specification, standard data types.
"""

from __future__ import annotations

from collections.abc import Sequence

from commonir.base.codes import CHANGED_IN_CONVERSION
from commonir.base.diagnostics import Diagnostics
from commonir.dialects import core
from commonir.dialects.mlir import ml_program
from commonir.ir.module import Module
from commonir.ir.operation import Operation, Region, Value
from commonir.ir.types import TensorType, Type, handle, i64
from commonir.passes.transcribe import Transcription, copied, with_functions


def handles_to_integers(module: Module, diagnostics: Diagnostics) -> Module:
    """Returns a lowered module with integers of 64 bits instead of handles; the module itself if it has none.

    `diagnostics` receives the inputs and outputs that change.
    """
    functions = [op for op in module.body.operations if isinstance(op, ml_program.Func) and not op.is_declaration]
    if not any(_is_handle(v.type) for f in functions for v in (*f.inputs, *f.outputs, *_results(f))):
        return module
    for function in functions:
        named = [("input", v.name, v) for v in function.inputs]
        named += [("output", n, v) for n, v in zip(function.output_names, function.outputs, strict=True)]
        for what, name, value in named:
            if _is_handle(value.type):
                diagnostics.add(
                    CHANGED_IN_CONVERSION, f"the {what} '{name}' changes from a handle to its number, an i64"
                )
    return with_functions(module, [_Replacement(f, diagnostics).function() for f in functions])


def _results(function: ml_program.Func) -> list[Value]:
    return [r for op in function.walk() for r in op.results]


def _is_handle(type: Type) -> bool:
    return isinstance(type, TensorType) and type.element is handle


class _Replacement(Transcription):
    """The copy of one function without handles."""

    def argument_type(self, argument: Value) -> Type:
        type = argument.type
        return type.with_element(i64) if isinstance(type, TensorType) and _is_handle(type) else type

    def rewritten(self, op: Operation, operands: tuple[Value, ...], regions: tuple[Region, ...]) -> Sequence[Value]:
        match op:
            case core.HandleOf() | core.HandleValue():
                return operands
            case core.HandleEqual():
                return (core.equal(*operands),)
            case _:
                return self.place(copied(op, operands, regions)).results
