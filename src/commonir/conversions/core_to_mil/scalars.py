"""Inputs without axes become vectors of one element: the inputs of Core ML are arrays, which have axes.

Source: coremltools' loader, which takes no function with a scalar input; feature descriptions, where a shape is given.
"""

from __future__ import annotations

from commonir.base.diagnostics import Diagnostics
from commonir.dialects import core
from commonir.dialects.mlir import ml_program
from commonir.ir.module import Module
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, Type
from commonir.passes.transcribe import Transcription, with_functions


def with_vectors(module: Module) -> Module:
    """A lowered module without scalar inputs; the module itself when it has none."""
    functions = [op for op in module.body.operations if isinstance(op, ml_program.Func) and not op.is_declaration]
    if not any(_is_scalar(v.type) for f in functions for v in f.inputs):
        return module
    return with_functions(module, [_Widening(f, Diagnostics()).function() for f in functions])


def _is_scalar(type: Type) -> bool:
    return isinstance(type, TensorType) and type.shape == ()


class _Widening(Transcription):
    """Gives the scalar inputs of one function an axis."""

    def argument_type(self, argument: Value) -> Type:
        type = argument.type
        if argument.owner is self.source.body and isinstance(type, TensorType) and type.shape == ():
            return type.with_shape((1,))
        return type

    def prepare(self) -> None:
        for argument in self.source.inputs:
            if _is_scalar(argument.type):
                self.values[argument] = self.placed(core.reshape(self.values[argument], ()))
