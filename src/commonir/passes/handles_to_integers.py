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
from commonir.ods import Op
from commonir.passes.transcribe import Transcription, copied, with_functions


def handles_to_integers(module: Module, diagnostics: Diagnostics) -> Module:
    """Returns a lowered module with integers of 64 bits instead of handles; the module itself if it has none.

    `diagnostics` receives the inputs and outputs that change.
    """
    functions = [op for op in module.body.operations if isinstance(op, ml_program.Func) and not op.is_declaration]
    if not any(_has_handles(v.type) for f in functions for v in (*f.inputs, *f.outputs, *_results(f))):
        return module
    for function in functions:
        named = [("input", v.name, v) for v in function.inputs]
        named += [("output", n, v) for n, v in zip(function.output_names, function.outputs, strict=True)]
        for what, name, value in named:
            changed = _without_handles(value.type)
            if changed is not value.type:
                message = f"the {what} '{name}' changes from {value.type} to {changed}: a handle becomes its number"
                diagnostics.add(CHANGED_IN_CONVERSION, message)
    return with_functions(module, [_Replacement(f, diagnostics).function() for f in functions])


def _results(function: ml_program.Func) -> list[Value]:
    return [r for op in function.walk() for r in op.results]


def _has_handles(type: Type) -> bool:
    return _without_handles(type) is not type


def _without_handles(type: Type) -> Type:
    """Returns a type with integers in the place of handles, also in its parts."""
    if isinstance(type, TensorType):
        return type.with_element(i64) if type.element is handle else type
    return type.with_parts(tuple(map(_without_handles, type.parts))) if type.parts else type


class _Replacement(Transcription):
    """The copy of one function without handles."""

    def argument_type(self, argument: Value) -> Type:
        return _without_handles(argument.type)

    def rewritten(self, op: Operation, operands: tuple[Value, ...], regions: tuple[Region, ...]) -> Sequence[Value]:
        match op:
            case core.HandleOf() | core.HandleValue():
                return operands
            case core.HandleEqual():
                return (core.equal(*operands),)
            case _:
                return self.place(copied(op, operands, regions, **_changed_types(op))).results


def _changed_types(op: Operation) -> dict[str, object]:
    """Returns the attributes that name types of handles, changed."""
    fields = op.layout.attributes if isinstance(op, Op) else ()
    types = {f.name: value for f in fields if isinstance(value := getattr(op, f.name), Type)}
    return {name: _without_handles(type) for name, type in types.items() if _has_handles(type)}
