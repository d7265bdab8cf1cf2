"""Applies the ports of a function to arrays: images, allowed shapes, and default values.

An image is the tensor of the program, [1, channels, height, width] with values from 0 to 255, or a usual image:
`uint8` of shape [height, width, 3] in the order red, green, blue, or [height, width] for grayscale. Its channels are
put in the order of the port. Inputs with enumerated shapes must have shapes at the same position of their lists.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.arrays import dtype_of
from commonir.base.codes import WRONG_DIMENSIONS, WRONG_INPUT
from commonir.base.diagnostics import Diagnostic, Diagnostics
from commonir.base.file_codes import QUESTIONABLE_MODEL
from commonir.ir.interface import NO_PORT, ColorSpace, Port
from commonir.ir.module import Function
from commonir.ir.types import TensorType

Array = NDArray[Any]
Shapes = Mapping[str, tuple[int, ...]]

_SHOWN_SHAPES = 8


def named_inputs(function: Function) -> list[tuple[str, TensorType, Port]]:
    """Returns the names, types and ports of the tensor inputs of a function."""
    ports = function.input_ports
    return [
        (name, v.type, ports.get(name, NO_PORT))
        for name, v in zip(names_of(function), function.inputs, strict=True)
        if isinstance(v.type, TensorType)
    ]


def names_of(function: Function) -> list[str]:
    """Returns the names of inputs; those without one are numbered."""
    return [v.name or f"input{n}" for n, v in enumerate(function.inputs)]


# -- arrays


def in_program_layout(name: str, array: Array, type: TensorType, port: Port, diagnostics: Diagnostics) -> Array:
    """Returns an array in the layout of the program, converted from an image or a scalar where the port allows it."""
    if type.shape is None or array.ndim == len(type.shape):
        return array
    if port.image is not None and array.ndim in (2, 3):
        return _image(name, array, type, port.image, diagnostics)
    if type.shape == () and array.shape == (1,) == port.shape:
        return array.reshape(())
    return array


def _image(name: str, array: Array, type: TensorType, color: ColorSpace, diagnostics: Diagnostics) -> Array:
    """Returns an image as a tensor [1, channels, height, width]."""
    pixels = array[:, :, np.newaxis] if array.ndim == 2 else array
    if array.dtype != np.uint8 or pixels.shape[2] != color.channels:
        message = (
            f"input '{name}' is a {color.value} image: expected {_layouts(color)}, found {_array_type_text(array)}"
        )
        diagnostics.add(WRONG_INPUT, message)
        return array
    if color is ColorSpace.BGR:
        pixels = pixels[:, :, ::-1]
    return np.ascontiguousarray(pixels.transpose(2, 0, 1)[np.newaxis]).astype(dtype_of(type.element.name))


def _layouts(color: ColorSpace) -> str:
    image = "[height, width]" if color.channels == 1 else "[height, width, 3]"
    return f"uint8 of shape {image}, or a tensor [1, {color.channels}, height, width]"


def _array_type_text(array: Array) -> str:
    return f"{array.dtype} of shape {list(array.shape)}"


def default_array(type: TensorType, shape: tuple[int, ...], port: Port) -> Array:
    """Returns the default value of an input."""
    if port.contents is not None:
        return port.contents.array()
    return np.full(shape, port.default, dtype_of(type.element.name))


# -- shapes


def shape_faults(function: Function, shapes: Shapes) -> Iterator[Diagnostic]:
    """Yields a diagnostic for each input whose port does not allow its shape."""
    enumerated: list[tuple[str, Port]] = []
    for name, type, port in named_inputs(function):
        shape = shapes.get(name)
        if shape is None or type.shape == ():
            continue
        if not port.allows(shape):
            message = f"input '{name}': the shape {list(shape)} is not allowed"
            yield Diagnostic(WRONG_DIMENSIONS, message, notes=[f"allowed: {allowed_text(port)}"])
        elif port.shapes:
            enumerated.append((name, port))
    yield from _unpaired(enumerated, shapes)


def shape_mismatches(function: Function, outputs: Mapping[str, Array]) -> Iterator[Diagnostic]:
    """Yields a warning for each output whose shape differs from the declared one."""
    for name, value in zip(function.output_names, function.outputs, strict=True):
        declared = value.type.shape if isinstance(value.type, TensorType) else None
        if declared is None or name not in outputs:
            continue
        shape = np.shape(outputs[name])
        if len(declared) != len(shape) or any(
            isinstance(d, int) and d != n for d, n in zip(declared, shape, strict=True)
        ):
            text = f"output '{name}' is declared as {value.type}, but has shape {list(shape)}"
            yield Diagnostic(QUESTIONABLE_MODEL, text)


def _unpaired(enumerated: Sequence[tuple[str, Port]], shapes: Shapes) -> Iterator[Diagnostic]:
    """Yields a diagnostic if inputs with enumerated shapes have shapes at different positions of their lists."""
    if len({len(port.shapes) for _, port in enumerated}) != 1 or len(enumerated) < 2:
        return
    if not any(
        all(port.shapes[n] == shapes[name] for name, port in enumerated) for n in range(len(enumerated[0][1].shapes))
    ):
        names = [name for name, _ in enumerated]
        shown = ", ".join(f"'{name}' {list(shapes[name])}" for name in names)
        pairs = zip(*[port.shapes for _, port in enumerated], strict=True)
        notes = ["allowed: " + " or ".join(" with ".join(str(list(s)) for s in p) for p in pairs)]
        yield Diagnostic(WRONG_DIMENSIONS, f"shapes of inputs do not belong together: {shown}", notes=notes)


def allowed_text(port: Port) -> str:
    """Returns the shapes that a port allows, as text."""
    if port.shapes:
        shown = [str(list(s)) for s in port.shapes[:_SHOWN_SHAPES]]
        more = len(port.shapes) - len(shown)
        return ", ".join(shown) + (f" and {more} more" if more else "")
    return "[" + ", ".join(str(r.lower) if r.lower == r.upper else str(r) for r in port.ranges) + "]"


def chosen_shapes(
    function: Function, shapes: Shapes, known_dims: Mapping[str, Mapping[int, int]]
) -> dict[str, tuple[int, ...]]:
    """Returns a shape for each input with enumerated shapes: the default if possible, else the first compatible one.

    `shapes` are shapes of arrays, `known_dims` dimensions by input and axis. Inputs without a compatible shape are left
    out.
    """
    enumerated = [(name, port) for name, _, port in named_inputs(function) if port.shapes]
    groups = [enumerated] if len({len(p.shapes) for _, p in enumerated}) == 1 else [[one] for one in enumerated]
    out: dict[str, tuple[int, ...]] = {}
    for group in groups:
        count = len(group[0][1].shapes) if group else 0
        for n in sorted(range(count), key=lambda k: any(port.shapes[k] != port.shape for _, port in group)):
            chosen = {name: port.shapes[n] for name, port in group}
            if all(_is_compatible(shape, shapes.get(name), known_dims.get(name, {})) for name, shape in chosen.items()):
                out.update(chosen)
                break
    return out


def _is_compatible(shape: tuple[int, ...], actual: tuple[int, ...] | None, dims: Mapping[int, int]) -> bool:
    return actual in (None, shape) and all(shape[axis] == dim for axis, dim in dims.items() if axis < len(shape))
