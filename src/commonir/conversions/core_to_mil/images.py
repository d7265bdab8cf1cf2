"""Inputs that are images: the pixels that Core ML gives, from 0 to 255, brought to the values that a program takes."""

from __future__ import annotations

from collections.abc import Mapping

from commonir.base.codes import UNKNOWN_INPUT, UNSUPPORTED_CONVERSION
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.conversions.conversion import ImageInput
from commonir.dialects import core
from commonir.dialects.core.base import tensor_type
from commonir.dialects.mlir import ml_program
from commonir.ir.data import data_of
from commonir.ir.interface import NO_PORT, port_attributes
from commonir.ir.module import Module
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, Type, f32
from commonir.passes.transcribe import Transcription, with_functions


def with_images(module: Module, images: Mapping[str, ImageInput]) -> Module:
    """A lowered module whose inputs of some names are images.

    Raises: DiagnosticError (E0601) for an input that cannot be one, or that no function has.
    """
    if not images:
        return module
    functions = [op for op in module.body.operations if isinstance(op, ml_program.Func) and not op.is_declaration]
    known = {v.name for f in functions for v in f.inputs}
    diagnostics = Diagnostics()
    for name in images:
        if name not in known:
            diagnostics.add(UNKNOWN_INPUT, f"the program has no input '{name}' to be an image")
    result = with_functions(module, [_Imaging(f, images, diagnostics).function() for f in functions])
    diagnostics.raise_errors()
    return result


class _Imaging(Transcription):
    """Makes inputs of one function images."""

    def __init__(self, source: ml_program.Func, images: Mapping[str, ImageInput], diagnostics: Diagnostics) -> None:
        super().__init__(source, diagnostics)
        self.images = images

    def argument_type(self, argument: Value) -> Type:
        image = self.images.get(argument.name)
        type = argument.type
        if image is None or argument.owner is not self.source.body or not isinstance(type, TensorType):
            return type
        shape = type.shape or ()
        channels = image.color.channels
        if len(shape) != 4 or shape[0] != 1 or shape[1] != channels or not type.element.is_float:
            message = f"the input '{argument.name}' of type {type} is not an image in {image.color.value}"
            help = f"an image is a tensor of floats [1, {channels}, height, width]"
            self.diagnostics.add(UNSUPPORTED_CONVERSION, message, help=help)
        return type.with_element(f32)

    def function(self) -> ml_program.Func:
        result = super().function()
        names = [v.name for v in result.inputs]
        ports = [result.input_ports.get(n, NO_PORT) for n in names]
        chosen = [
            p._replace(image=self.images[n].color) if n in self.images else p for n, p in zip(names, ports, strict=True)
        ]
        return result.with_attributes(arg_attrs=port_attributes(chosen))

    def prepare(self) -> None:
        for argument in self.source.inputs:
            image, type = self.images.get(argument.name), argument.type
            if image is not None and isinstance(type, TensorType):
                value = self.placed(_adjusted(self.values[argument], image))
                self.values[argument] = (
                    self.placed(core.cast(value, type.element)) if type.element is not f32 else value
                )


def _adjusted(x: Value, image: ImageInput) -> Value:
    """Pixels times a scale plus a bias for each channel."""
    y = x
    if image.scale != 1.0:
        y = core.mul(y, core.splat(image.scale, y))
        y.name = f"{x.name}__scaled__"
    if any(image.bias):
        count = image.color.channels
        if len(image.bias) not in (1, count):
            message = f"an image in {image.color.value} takes 1 or {count} biases, {len(image.bias)} are given"
            raise DiagnosticError(Diagnostic(UNSUPPORTED_CONVERSION, message))
        values = image.bias * count if len(image.bias) == 1 else image.bias
        y = core.add(y, core.constant(data_of(tensor_type(x).element, (1, count, 1, 1), values)))
        y.name = f"{x.name}__biased__"
    return y
