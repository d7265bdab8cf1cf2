"""The description of a Core ML model, from the functions of a new module and what their ports say."""

from __future__ import annotations

from collections.abc import Mapping

from commonir.base.codes import UNSUPPORTED_CONVERSION
from commonir.base.diagnostics import Diagnostics
from commonir.base.tuples import NamedTuple
from commonir.dialects.mil.base import SPECIFICATION_VERSIONS
from commonir.dialects.mil.description import (
    MODEL_ATTRIBUTE,
    Description,
    Dictionary,
    Feature,
    Image,
    Interface,
    MultiArray,
    Scalar,
    State,
    description_attribute,
)
from commonir.dialects.mil.program import PROGRAM_VERSION, Func
from commonir.ir.attributes import IntegerAttr
from commonir.ir.interface import NO_PORT, ColorSpace, DimRange, Port
from commonir.ir.module import Module
from commonir.ir.operation import Value
from commonir.ir.types import MapType, StateType, TensorType, f16
from commonir.symbolic import Dim, plain_symbol

Ports = Mapping[str, Port]


class Border(NamedTuple):
    """The description of the inputs and outputs of a function, under their new names.

    `sizes` are the shapes of inputs with the names of dimensions.
    """

    inputs: Ports
    outputs: Ports
    sizes: Mapping[str, tuple[Dim | None, ...]]


_COLORS = {ColorSpace.GRAYSCALE: "GRAYSCALE", ColorSpace.RGB: "RGB", ColorSpace.BGR: "BGR"}


def describe(module: Module, version: str, borders: Mapping[str, Border], diagnostics: Diagnostics) -> None:
    """Gives a module of the mil dialect its description."""
    functions = [op for op in module.body.operations if isinstance(op, Func)]
    interfaces = [_interface(f, borders[f.sym_name], diagnostics) for f in functions]
    several = len(functions) > 1
    description = Description(
        SPECIFICATION_VERSIONS[version],
        tuple(interfaces),
        has_functions=several,
        default_function=(module.entry or functions[0].sym_name) if several else "",
    )
    module.set_extra(PROGRAM_VERSION, IntegerAttr(1))
    module.set_extra(MODEL_ATTRIBUTE, description_attribute(description))
    if not several:
        module.entry = ""


def _interface(function: Func, border: Border, diagnostics: Diagnostics) -> Interface:
    plain = [v for v in function.inputs if not isinstance(v.type, StateType)]
    states = [v for v in function.inputs if isinstance(v.type, StateType)]
    built = [
        _output(name, v, border.outputs.get(name, NO_PORT))
        for name, v in zip(function.output_names, function.outputs, strict=True)
    ]
    scores = [f for f in built if isinstance(f.type, Dictionary)]
    labels = [f for f in built if isinstance(f.type, Scalar)]
    return Interface(
        function.sym_name,
        tuple([_input(v, border, diagnostics) for v in plain]),
        (*labels, *scores, *(f for f in built if f not in labels and f not in scores)),
        tuple([Feature(v.name, State(MultiArray(f16, _static(v.type)))) for v in states]),
        labels[0].name if labels and scores else "",
        scores[0].name if labels and scores else "",
    )


def _static(kind: object) -> tuple[int, ...]:
    inner = kind.element if isinstance(kind, StateType) else kind
    return inner.static_shape if isinstance(inner, TensorType) else ()


def _input(value: Value, border: Border, diagnostics: Diagnostics) -> Feature:
    """The feature of an input. A size that is not fixed needs a range with an end."""
    type, port = value.type, border.inputs.get(value.name, NO_PORT)
    if not isinstance(type, TensorType) or type.shape is None:
        diagnostics.add(UNSUPPORTED_CONVERSION, f"the rank of the input '{value.name}' is not known")
        return Feature(value.name, MultiArray(None, ()))
    if 0 in type.shape:
        diagnostics.add(
            UNSUPPORTED_CONVERSION,
            f"the input '{value.name}' is empty, and there are no tensors without elements in Core ML",
        )
        return Feature(value.name, MultiArray(type.element, ()))
    open_axes = [n for n, d in enumerate(type.shape) if not isinstance(d, int)]
    shapes, ranges = port.shapes, port.ranges
    if open_axes and not shapes and not _is_bounded(ranges, open_axes):
        _report_unbounded(value.name, open_axes, border.sizes.get(value.name, ()), diagnostics)
        return Feature(value.name, MultiArray(type.element, ()))
    if not open_axes:
        shapes, ranges = (), ()
    shape = _default_shape(type, port, shapes, ranges)
    image = port.image
    if image is not None:
        return Feature(value.name, _image(image, type, shape, shapes, ranges), summary=port.doc)
    is_optional = port.default is not None
    array = MultiArray(type.element, shape or (1,), shapes, ranges, port.default)
    return Feature(value.name, array, is_optional, port.doc)


def _report_unbounded(name: str, axes: list[int], dims: tuple[Dim | None, ...], diagnostics: Diagnostics) -> None:
    """Reports dims of an input without an upper bound, and what to do."""
    given = [dims[n] for n in axes if n < len(dims)]
    named = list(dict.fromkeys([plain_symbol(d) or str(d) for d in given if d is not None]))
    what = " and ".join(f"'{text}'" for text in named) if named else f"of axis {', '.join(map(str, axes))}"
    example = named[0] if named else "NAME"
    diagnostics.add(
        UNSUPPORTED_CONVERSION,
        f"the input '{name}' has no largest size {what}, and Core ML needs one",
        help=f"give it with `--range {example}=1..16`, or fix it with `--set-dim {example}=1`",
    )


def _is_bounded(ranges: tuple[DimRange, ...], open_axes: list[int]) -> bool:
    return all(n < len(ranges) and ranges[n].upper is not None for n in open_axes)


def _default_shape(
    type: TensorType, port: Port, shapes: tuple[tuple[int, ...], ...], ranges: tuple[DimRange, ...]
) -> tuple[int, ...]:
    dims = type.shape or ()
    if len(port.shape) == len(dims) and all(
        not isinstance(d, int) or d == n for d, n in zip(dims, port.shape, strict=True)
    ):
        return port.shape
    if shapes:
        return shapes[0]
    return tuple([d if isinstance(d, int) else max(ranges[n].lower, 1) for n, d in enumerate(dims)])


def _image(
    order: ColorSpace,
    type: TensorType,
    shape: tuple[int, ...],
    shapes: tuple[tuple[int, ...], ...],
    ranges: tuple[DimRange, ...],
) -> Image:
    color = "GRAYSCALE_FLOAT16" if type.element is f16 and order is ColorSpace.GRAYSCALE else _COLORS[order]
    height, width = shape[-2:]
    dims = tuple([(s[-1], s[-2]) for s in shapes])
    if not ranges or all(r.lower == r.upper for r in ranges):
        return Image(width, height, color, dims)
    return Image(width, height, color, dims, ranges[-1], ranges[-2])


def _output(name: str, value: Value, port: Port) -> Feature:
    type = value.type
    if isinstance(type, MapType):
        key = type.key if isinstance(type.key, TensorType) else None
        return Feature(name, Dictionary(None if key is None else key.element), summary=port.doc)
    if not isinstance(type, TensorType):
        return Feature(name, MultiArray(None, ()), summary=port.doc)
    if type.element.kind == "string" or (type.element.name == "i64" and not type.shape):
        return Feature(name, Scalar(type.element), summary=port.doc)
    fixed = type.is_static
    shape = type.static_shape if fixed else ()
    if port.image is not None and len(shape) == 4:
        color = (
            "GRAYSCALE_FLOAT16" if type.element is f16 and port.image is ColorSpace.GRAYSCALE else _COLORS[port.image]
        )
        return Feature(name, Image(shape[-1], shape[-2], color), summary=port.doc)
    if port.image is not None:
        unbounded = DimRange(1, None)
        return Feature(name, Image(1, 1, _COLORS[port.image], (), unbounded, unbounded), summary=port.doc)
    return Feature(name, MultiArray(type.element, shape), summary=port.doc)
