"""Makes the function of a model that is not a program from its description: what a pipeline or one of its stages does.

The models of a pipeline run in order. An input of a model is the last output of that name before it, or the input of
the pipeline of that name, or else what fills it by default.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from commonir.base.diagnostics import Diagnostics
from commonir.base.file_codes import MALFORMED_PROGRAM
from commonir.base.suggestions import did_you_mean
from commonir.dialects.mil.description import (
    MAIN,
    MODEL_ATTRIBUTE,
    Dictionary,
    Feature,
    Image,
    Interface,
    MultiArray,
    Scalar,
    Sequence,
    description_of,
)
from commonir.dialects.mil.pipeline import Composition, HandOver, OpaqueModel, PickTop, RunModel
from commonir.dialects.mil.program import Const, Return
from commonir.formats.coreml.messages import message_class
from commonir.formats.protobuf.attribute_form import to_message
from commonir.ir.attributes import DictionaryAttr, FloatAttr, IntegerAttr
from commonir.ir.data import data_of
from commonir.ir.interface import NO_PORT, Port
from commonir.ir.module import Function, Module
from commonir.ir.operation import Block, Region, Value
from commonir.ir.types import ListType, MapType, StateType, TensorType, Type, f32, f64, none, string, tensor

if TYPE_CHECKING:
    from commonir.formats.coreml.messages import NonMaximumSuppressionMessage

SUPPRESSION = "nonMaximumSuppression"
Defaults = dict[str, int | float]


def compose_stage(module: Module, kind: str) -> None:
    """Adds the function of a model that is neither program nor pipeline."""
    interface = _interface(module)
    block = Block([_type_of(f) for f in interface.inputs], [f.name for f in interface.inputs])
    names = tuple([f.name for f in interface.outputs])
    arguments = dict(zip([a.name for a in block.arguments], block.arguments, strict=True))
    defaults: Defaults = {}
    model = module.extra.get(MODEL_ATTRIBUTE)
    content = dict(model.entries).get(kind) if isinstance(model, DictionaryAttr) else None
    if kind == SUPPRESSION and isinstance(content, DictionaryAttr):
        message: NonMaximumSuppressionMessage = to_message(message_class("NonMaximumSuppression"), content)  # pyright: ignore[reportAssignmentType]  made at run time
        built = _suppression(message, arguments, interface, block, defaults)
    else:
        built = {}
    if set(built) != set(names):
        types = [_type_of(f) for f in interface.outputs]
        op = block.append(OpaqueModel.build({"kind": kind, "inputs": tuple(block.arguments)}, types))
        built = dict(zip(names, op.results, strict=True))
    _finish(module, block, [(name, built[name]) for name in names], defaults)


def _suppression(
    message: NonMaximumSuppressionMessage,
    arguments: Mapping[str, Value],
    interface: Interface,
    block: Block,
    defaults: Defaults,
) -> dict[str, Value]:
    """The outputs of a model that suppresses boxes; nothing when its description lacks an input."""
    confidence = arguments.get(message.confidenceInputFeatureName)
    coordinates = arguments.get(message.coordinatesInputFeatureName)
    if confidence is None or coordinates is None:
        return {}
    thresholds: list[Value] = []
    for name, value in (
        (message.iouThresholdInputFeatureName, message.iouThreshold),
        (message.confidenceThresholdInputFeatureName, message.confidenceThreshold),
    ):
        if name in arguments:
            defaults[name] = value
            thresholds.append(arguments[name])
        else:
            thresholds.append(block.append(_number(value)).results[0])
    outputs = (message.confidenceOutputFeatureName, message.coordinatesOutputFeatureName)
    least, most = _row_limits(interface, outputs)
    op = PickTop.build(
        {
            "confidence": confidence,
            "coordinates": coordinates,
            "iou_threshold": thresholds[0],
            "confidence_threshold": thresholds[1],
            "per_class": message.pickTop.perClass,
            "least": least,
            "most": most,
        },
        [_rows_of(v.type) for v in (confidence, coordinates)],
    )
    return dict(zip(outputs, block.append(op).results, strict=True))


def _number(value: float) -> Const:
    return Const.build({"val": data_of(f64, (), (value,))}, [tensor(f64)])


def _rows_of(type: Type) -> Type:
    """The type of some of the rows of a matrix."""
    if isinstance(type, TensorType) and type.shape is not None and len(type.shape) == 2:
        return type.with_shape((None, type.shape[1]))
    return type


def _row_limits(interface: Interface, outputs: tuple[str, ...]) -> tuple[int, int]:
    """The least and the greatest number of rows that the description of some outputs allows; 0 for no limit."""
    least, most = 0, 0
    for f in interface.outputs:
        if f.name in outputs and isinstance(f.type, MultiArray):
            if f.type.ranges:
                least = max(least, f.type.ranges[0].lower)
                most = f.type.ranges[0].upper or most
            elif f.type.shape:
                least = most = f.type.shape[0]
    return least, most


def compose_pipeline(module: Module, diagnostics: Diagnostics) -> None:
    """Adds the function that runs the nested models of a module. Unmatched inputs and outputs are reported."""
    interface = _interface(module)
    models = module.modules
    expected = _first_uses(models)
    inputs = [(f.name, expected.get(f.name, (_type_of(f), NO_PORT))) for f in interface.inputs]
    block = Block([kind for _, (kind, _) in inputs], [name for name, _ in inputs])
    defaults = {name: port.default for name, (_, port) in inputs if port.default is not None}
    known = dict(zip([a.name for a in block.arguments], block.arguments, strict=True))
    outside = set(known)
    for n, model in enumerate(models):
        function = _main_of(model)
        if function is None:
            diagnostics.add(
                MALFORMED_PROGRAM, f"the model has no function '{model.entry or MAIN}'", where=f"modules[{n}]"
            )
            continue
        operands: list[Value] = []
        ports = function.input_ports
        for v in function.inputs:
            if isinstance(v.type, StateType):
                continue
            port = ports.get(v.name, NO_PORT)
            source = known.get(v.name)
            if source is None and port.default is not None and isinstance(v.type, TensorType):
                source = _filled(block, v.type, port)
            if source is None:
                message = (
                    f"input '{v.name}' of model {n} is not an input of the pipeline and no output of an earlier model"
                )
                diagnostics.add(MALFORMED_PROGRAM, message, where=f"modules[{n}]", help=did_you_mean(v.name, known))
                source = Value(v.type, name=v.name)
            operands.append(_handed_over(block, source, v.type, port, is_outside=v.name in outside))
        op = block.append(RunModel.build({"model": n, "inputs": tuple(operands)}, [v.type for v in function.outputs]))
        for name, r in zip(function.output_names, op.results, strict=True):
            r.name = name
            known[name] = r
            outside.discard(name)
    outputs: list[tuple[str, Value]] = []
    for f in interface.outputs:
        value = known.get(f.name)
        if value is None:
            message = f"output '{f.name}' of the pipeline is not an output of one of its models"
            diagnostics.add(MALFORMED_PROGRAM, message, where="description.output", help=did_you_mean(f.name, known))
            value = Value(_type_of(f), name=f.name)
        outputs.append((f.name, value))
    _finish(module, block, outputs, defaults)


def _first_uses(models: tuple[Module, ...]) -> dict[str, tuple[Type, Port]]:
    """The type and port of each input of a model that no model before it gives, by name."""
    out: dict[str, tuple[Type, Port]] = {}
    built: set[str] = set()
    for model in models:
        function = _main_of(model)
        if function is None:
            continue
        ports = function.input_ports
        for v in function.inputs:
            if v.name not in built and not isinstance(v.type, StateType):
                out.setdefault(v.name, (v.type, ports.get(v.name, NO_PORT)))
        built.update(function.output_names)
    return out


def _main_of(module: Module) -> Function | None:
    return module.functions.get(module.entry or MAIN)


def _handed_over(block: Block, source: Value, type: Type, port: Port, *, is_outside: bool) -> Value:
    """A value as a model receives it."""
    as_image = port.image is not None and not is_outside
    have, want = source.type, type
    same = isinstance(have, TensorType) and isinstance(want, TensorType) and have.element is want.element
    if not as_image and (same or not isinstance(want, TensorType)):
        return source
    built = HandOver.build({"input": source, "as_image": as_image}, [type])
    built.results[0].name = source.name
    return block.append(built).results[0]


def _filled(block: Block, type: TensorType, port: Port) -> Value:
    """Returns the value that replaces a missing optional input."""
    shape = port.shape if type.shape is None or not type.is_static else type.static_shape
    value = port.default if port.default is not None else 0
    count = 1
    for n in shape:
        count *= n
    data = data_of(type.element, shape, [value] * count)
    return block.append(Const.build({"val": data}, [TensorType(type.element, shape)])).results[0]


def _finish(module: Module, block: Block, outputs: list[tuple[str, Value]], defaults: Defaults) -> None:
    names = tuple([name for name, _ in outputs])
    block.append(Return.build({"values": tuple([v for _, v in outputs]), "names": names}, ()))
    values = tuple([(k, IntegerAttr(v) if isinstance(v, int) else FloatAttr(v)) for k, v in defaults.items()])
    built = Composition.build({"sym_name": MAIN, "defaults": DictionaryAttr(values), "content": Region([block])}, ())
    module.body.append(built)


def _interface(module: Module) -> Interface:
    description = description_of(module)
    return Interface(MAIN, (), ()) if description is None else description.top_level


def _type_of(feature: Feature) -> Type:
    """The type of a value that a feature describes."""
    match feature.type:
        case MultiArray(element=element, shape=shape, shapes=shapes, ranges=ranges):
            dims: list[int | None] = list(shape) or [None if r.lower != r.upper else r.lower for r in ranges]
            for n, r in enumerate(ranges[: len(dims)]):
                dims[n] = r.lower if r.lower == r.upper else None
            for other in shapes:
                dims = [a if a == b else None for a, b in zip(dims, other, strict=False)]
            return TensorType(element or f32, tuple(dims) if dims else None)
        case Image() as image:
            is_fixed = not image.sizes and image.widths is None
            height_and_width = (image.height, image.width) if is_fixed else (None, None)
            return TensorType(f32, (1, image.channels, *height_and_width))
        case Scalar(element=element):
            return tensor(element)
        case Dictionary(key=key):
            return MapType(tensor(key or string), tensor(f64))
        case Sequence(element=element):
            return ListType(tensor(element or string), None)
        case _:
            return none
