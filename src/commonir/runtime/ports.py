"""Applies the ports of a function to arrays: images, allowed shapes, and default values.

An image is the tensor of the program, [1, channels, height, width] with values from 0 to 255, or a usual image:
`uint8` of shape [height, width, 3] in the order red, green, blue, or [height, width] for grayscale. Its channels are
put in the order of the port. Inputs with enumerated shapes must have shapes of the same position.
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


# -- values as the program takes them


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
        message = f"input '{name}' is a {color.value} image: expected {_layouts(color)}, found {_shown(array)}"
        diagnostics.add(WRONG_INPUT, message)
        return array
    if color is ColorSpace.BGR:
        pixels = pixels[:, :, ::-1]
    return np.ascontiguousarray(pixels.transpose(2, 0, 1)[np.newaxis]).astype(dtype_of(type.element.name))


def _layouts(color: ColorSpace) -> str:
    image = "[height, width]" if color.channels == 1 else "[height, width, 3]"
    return f"uint8 of shape {image}, or a tensor [1, {color.channels}, height, width]"


def _shown(array: Array) -> str:
    return f"{array.dtype} of shape {list(array.shape)}"


def default_array(type: TensorType, shape: tuple[int, ...], port: Port) -> Array:
    """Returns the default value of an input."""
    if port.contents is not None:
        return port.contents.array()
    return np.full(shape, port.default, dtype_of(type.element.name))


# -- shapes


def shape_faults(function: Function, shapes: Shapes) -> Iterator[Diagnostic]:
    """Yields a diagnostic for each input whose port does not allow its shape."""
    listed: list[tuple[str, Port]] = []
    for name, kind, port in named_inputs(function):
        shape = shapes.get(name)
        if shape is None or kind.shape == ():
            continue
        if not port.allows(shape):
            message = f"input '{name}': the shape {list(shape)} is not allowed"
            yield Diagnostic(WRONG_DIMENSIONS, message, notes=[f"allowed: {allowed_text(port)}"])
        elif port.shapes:
            listed.append((name, port))
    yield from _unpaired(listed, shapes)


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


def _unpaired(listed: Sequence[tuple[str, Port]], shapes: Shapes) -> Iterator[Diagnostic]:
    """Yields a diagnostic if inputs with enumerated shapes have shapes of different positions."""
    if len({len(port.shapes) for _, port in listed}) != 1 or len(listed) < 2:
        return
    if not any(all(port.shapes[n] == shapes[name] for name, port in listed) for n in range(len(listed[0][1].shapes))):
        names = [name for name, _ in listed]
        shown = ", ".join(f"'{name}' {list(shapes[name])}" for name in names)
        pairs = zip(*[port.shapes for _, port in listed], strict=True)
        notes = ["allowed: " + " or ".join(" with ".join(str(list(s)) for s in p) for p in pairs)]
        yield Diagnostic(WRONG_DIMENSIONS, f"shapes of inputs do not belong together: {shown}", notes=notes)


def allowed_text(port: Port) -> str:
    """Returns the shapes that a port allows, as text."""
    if port.shapes:
        some = [str(list(s)) for s in port.shapes[:_SHOWN_SHAPES]]
        rest = len(port.shapes) - len(some)
        return ", ".join(some) + (f" and {rest} more" if rest else "")
    return "[" + ", ".join(str(r.lower) if r.lower == r.upper else str(r) for r in port.ranges) + "]"


def chosen_shapes(
    function: Function, shapes: Shapes, fits: Mapping[str, Mapping[int, int]]
) -> dict[str, tuple[int, ...]]:
    """Returns a shape for each input that enumerates some: the default, or one that fits what is known.

    `shapes` are shapes of arrays, `fits` known sizes of axes by input and axis. An input without a shape that fits has
    none here.
    """
    enumerated = [(name, port) for name, _, port in named_inputs(function) if port.shapes]
    groups = [enumerated] if len({len(p.shapes) for _, p in enumerated}) == 1 else [[one] for one in enumerated]
    out: dict[str, tuple[int, ...]] = {}
    for group in groups:
        count = len(group[0][1].shapes) if group else 0
        for n in sorted(range(count), key=lambda k: any(port.shapes[k] != port.shape for _, port in group)):
            chosen = {name: port.shapes[n] for name, port in group}
            if all(_fits(shape, shapes.get(name), fits.get(name, {})) for name, shape in chosen.items()):
                out.update(chosen)
                break
    return out


def _fits(shape: tuple[int, ...], known: tuple[int, ...] | None, sizes: Mapping[int, int]) -> bool:
    return known in (None, shape) and all(shape[axis] == size for axis, size in sizes.items() if axis < len(shape))
