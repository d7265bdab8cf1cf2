"""Images: the pixels that Core ML gives, from 0 to 255, brought to the values that a program takes, and its values to
pixels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from commonir.base.codes import UNKNOWN_INPUT, UNSUPPORTED_CONVERSION
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.base.suggestions import did_you_mean
from commonir.base.tuples import NamedTuple
from commonir.conversions.conversion import ImageInput
from commonir.dialects import core
from commonir.dialects.core.base import tensor_type
from commonir.dialects.mlir import ml_program
from commonir.ir.cloning import clone
from commonir.ir.data import data_of
from commonir.ir.interface import NO_PORT, Port, port_attributes
from commonir.ir.module import Function, Module, replace_function
from commonir.ir.operation import Value
from commonir.ir.types import FunctionType, TensorType, f32
from commonir.ods import operations_behind

_NCHW, _NHWC = "nchw", "nhwc"


class ImageLayouts(NamedTuple):
    """The layouts that the tensors of a function had which are images now, by name."""

    inputs: dict[str, str]
    outputs: dict[str, str]


def with_images(module: Module, images: Mapping[str, ImageInput]) -> Module:
    """A lowered module whose inputs and outputs of some names are images.

    Raises: DiagnosticError (E0601) for one that cannot be an image, (E0702) for names that no function has.
    """
    if not images:
        return module
    result = clone(module)
    functions = [op for op in result.body.operations if isinstance(op, ml_program.Func) and not op.is_declaration]
    for function, layouts in zip(functions, put_images(functions, images), strict=True):
        types = [tuple([v.type for v in values]) for values in (function.inputs, function.outputs)]
        changed = function.with_attributes(
            function_type=FunctionType(*types),
            arg_attrs=port_attributes(
                with_colors([v.name for v in function.inputs], function.input_ports, images, layouts.inputs)
            ),
            res_attrs=port_attributes(
                with_colors(function.output_names, function.output_ports, images, layouts.outputs)
            ),
        )
        replace_function(function, changed)
    return result


def with_colors(
    names: Sequence[str], ports: Mapping[str, Port], images: Mapping[str, ImageInput], layouts: Mapping[str, str]
) -> list[Port]:
    """The ports of inputs or outputs, of which some are images now; `layouts` are those that the tensors had."""
    return [
        _image_port(ports.get(n, NO_PORT), images[n], layouts.get(n, _NCHW)) if n in images else ports.get(n, NO_PORT)
        for n in names
    ]


def _image_port(port: Port, image: ImageInput, layout: str) -> Port:
    at = [layout.index(letter) for letter in _NCHW]
    shapes = [tuple([s[n] for n in at]) for s in (port.shape, *port.shapes) if s]
    return port._replace(
        image=image.color,
        shape=shapes[0] if port.shape else (),
        shapes=tuple(shapes[1:] if port.shape else shapes),
        ranges=tuple([port.ranges[n] for n in at]) if port.ranges else (),
        dims=tuple([port.dims[n] for n in at]) if port.dims else (),
    )


def put_images(functions: Sequence[Function], images: Mapping[str, ImageInput]) -> list[ImageLayouts]:
    """Makes inputs and outputs of some names images, in place, by operations of the core; returns the layouts that the
    tensors of each function had.

    Raises: DiagnosticError (E0601) for one that cannot be an image, (E0702) for names that no function has.
    """
    known = {name for f in functions for name in (*(v.name for v in f.inputs), *f.output_names)}
    diagnostics = Diagnostics()
    result: list[ImageLayouts] = []
    for name in images:
        if name not in known:
            message = f"the program has no input or output '{name}' to be an image"
            diagnostics.add(
                UNKNOWN_INPUT, message, help=did_you_mean(name, known) or f"there are {', '.join(sorted(known))}"
            )
    for function in functions:
        layouts = ImageLayouts({}, {})
        result.append(layouts)
        for argument in function.inputs:
            if argument.name in images and isinstance(argument.type, TensorType):
                image = images[argument.name]
                layout = _layout("input", argument.name, argument.type, image, diagnostics)
                layouts.inputs[argument.name] = layout
                _put_input(function, argument, argument.type, image, layout)
        last = function.body.last
        new: list[Value] = []
        for name, value in zip(function.output_names, function.outputs, strict=True):
            if name in images and isinstance(value.type, TensorType):
                layout = _layout("output", name, value.type, images[name], diagnostics)
                layouts.outputs[name] = layout
                new.append(_output(value, value.type, images[name], layout))
            else:
                new.append(value)
        if last is not None and new != list(last.operands):
            for op in operations_behind(new):
                function.body.insert_before(last, op)
            last.operands = tuple(new)
    diagnostics.raise_errors()
    return result


def _put_input(function: Function, argument: Value, type: TensorType, image: ImageInput, layout: str) -> None:
    """Makes an input an image, and gives its users the values that they expect; does nothing without a layout."""
    if not layout:
        return
    users = Value(type)
    argument.replace_all_uses_with(users)
    shape = type.shape or ()
    axes = shape if layout == _NCHW else tuple([shape[_NHWC.index(letter)] for letter in _NCHW])
    argument.retype(type.with_shape(axes).with_element(f32))
    value = _adjusted(argument, image)
    if layout == _NHWC:
        value = core.transpose(value, (0, 2, 3, 1))
    if type.element is not f32:
        value = core.cast(value, type.element)
    first = function.body.first
    for op in operations_behind((value,)):
        if first is None:
            function.body.append(op)
        else:
            function.body.insert_before(first, op)
    users.replace_all_uses_with(value)


def _output(value: Value, type: TensorType, image: ImageInput, layout: str) -> Value:
    """The pixels that an output becomes, defined by detached operations; the output itself without a layout."""
    if not layout:
        return value
    pixels = core.transpose(value, (0, 3, 1, 2)) if layout == _NHWC else value
    pixels = core.cast(pixels, f32) if type.element is not f32 else pixels
    return _adjusted(pixels, image)


def _layout(what: str, name: str, type: TensorType, image: ImageInput, diagnostics: Diagnostics) -> str:
    """The layout of a tensor that is an image; "" for one that cannot be, which is reported."""
    shape = type.shape or ()
    channels = image.color.channels
    possible = [each for each in (_NCHW, _NHWC) if len(shape) == len(each) and shape[each.index("c")] == channels]
    chosen = next((each for each in possible if image.layout in ("", each)), None)
    if chosen is not None and shape[:1] == (1,) and type.element.is_float:
        return chosen
    message = f"the {what} '{name}' of type {type} is not an image in {image.color.value}"
    help = f"an image is a tensor of floats [1, {channels}, height, width] or [1, height, width, {channels}]"
    diagnostics.add(UNSUPPORTED_CONVERSION, message, help=help)
    return ""


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
