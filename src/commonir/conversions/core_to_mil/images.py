"""Images: the pixels that Core ML gives, from 0 to 255, brought to the values that a program takes, and its values to
pixels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from commonir.base.codes import UNKNOWN_INPUT, UNSUPPORTED_CONVERSION
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.base.suggestions import did_you_mean
from commonir.conversions.conversion import ImageInput
from commonir.dialects import core
from commonir.dialects.core.base import tensor_type
from commonir.dialects.mlir import ml_program
from commonir.ir.attributes import DictionaryAttr
from commonir.ir.data import data_of
from commonir.ir.interface import NO_PORT, Port, port_attributes
from commonir.ir.module import Module
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, Type, f32
from commonir.passes.transcribe import Transcription, with_functions

_NCHW, _NHWC = "nchw", "nhwc"


def with_images(module: Module, images: Mapping[str, ImageInput]) -> Module:
    """A lowered module whose inputs and outputs of some names are images.

    Raises: DiagnosticError (E0601) for one that cannot be an image, (E0702) for names that no function has.
    """
    if not images:
        return module
    functions = [op for op in module.body.operations if isinstance(op, ml_program.Func) and not op.is_declaration]
    known = {name for f in functions for name in (*(v.name for v in f.inputs), *f.output_names)}
    diagnostics = Diagnostics()
    for name in images:
        if name not in known:
            message = f"the program has no input or output '{name}' to be an image"
            diagnostics.add(UNKNOWN_INPUT, message, help=did_you_mean(name, known))
    result = with_functions(module, [_Imaging(f, images, diagnostics).function() for f in functions])
    diagnostics.raise_errors()
    return result


class _Imaging(Transcription):
    """Makes inputs and outputs of one function images."""

    def __init__(self, source: ml_program.Func, images: Mapping[str, ImageInput], diagnostics: Diagnostics) -> None:
        super().__init__(source, diagnostics)
        self.images = images
        self._layouts: dict[str, str] = {}

    def argument_type(self, argument: Value) -> Type:
        image = self.images.get(argument.name)
        type = argument.type
        if image is None or argument.owner is not self.source.body or not isinstance(type, TensorType):
            return type
        if self._layout("input", argument.name, type, image) == _NHWC and type.shape is not None:
            batch, height, width, channels = type.shape
            return type.with_shape((batch, channels, height, width)).with_element(f32)
        return type.with_element(f32)

    def _layout(self, what: str, name: str, type: TensorType, image: ImageInput) -> str:
        """Returns the layout of a tensor that is an image; reports one that cannot be."""
        shape = type.shape or ()
        channels = image.color.channels
        possible = [each for each in (_NCHW, _NHWC) if len(shape) == len(each) and shape[each.index("c")] == channels]
        chosen = next((each for each in possible if image.layout in ("", each)), None)
        if chosen is None or shape[:1] != (1,) or not type.element.is_float:
            message = f"the {what} '{name}' of type {type} is not an image in {image.color.value}"
            help = f"an image is a tensor of floats [1, {channels}, height, width] or [1, height, width, {channels}]"
            self.diagnostics.add(UNSUPPORTED_CONVERSION, message, help=help)
        self._layouts[name] = chosen or _NCHW
        return self._layouts[name]

    def function(self) -> ml_program.Func:
        result = super().function()
        names = [v.name for v in result.inputs]
        return result.with_attributes(
            arg_attrs=self._ports(names, result.input_ports),
            res_attrs=self._ports(result.output_names, result.output_ports),
        )

    def _ports(self, names: Sequence[str], ports: Mapping[str, Port]) -> tuple[DictionaryAttr, ...] | None:
        described = {n: ports.get(n, NO_PORT) for n in names}
        colors = {n: described[n]._replace(image=image.color) for n, image in self.images.items() if n in described}
        return port_attributes((described | colors).values())

    def prepare(self) -> None:
        for argument in self.source.inputs:
            image, type = self.images.get(argument.name), argument.type
            if image is None or not isinstance(type, TensorType):
                continue
            value = _adjusted(self.values[argument], image)
            if self._layouts[argument.name] == _NHWC:
                value = core.transpose(value, (0, 2, 3, 1))
            if type.element is not f32:
                value = core.cast(value, type.element)
            self.values[argument] = self.placed(value)

    def returned(self, values: tuple[Value, ...]) -> tuple[Value, ...]:
        out: list[Value] = []
        for name, value in zip(self.source.output_names, values, strict=True):
            image, type = self.images.get(name), value.type
            if image is None or not isinstance(type, TensorType):
                out.append(value)
                continue
            layout = self._layout("output", name, type, image)
            pixels = core.transpose(value, (0, 3, 1, 2)) if layout == _NHWC else value
            pixels = core.cast(pixels, f32) if type.element is not f32 else pixels
            out.append(self.placed(_adjusted(pixels, image)))
        return tuple(out)


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
