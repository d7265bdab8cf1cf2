"""Changes of the description of a Core ML model, so that it follows the interface of a function that was changed.

Descriptions of unchanged inputs and outputs are preserved, except for names. New ones, and those with other dims, are
described by their types and ports.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from commonir.base.codes import IMPOSSIBLE_EDIT
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.dialects.mil.description import (
    ARRAY_TYPES,
    COLOR_SPACES,
    IO_TYPES_SINCE,
    MODEL_ATTRIBUTE,
    Feature,
    FeatureType,
    Image,
    Interface,
    MultiArray,
    State,
    Unknown,
    feature_attribute,
    port_of_feature,
    read_description,
)
from commonir.ir.attributes import ArrayAttr, Attribute, DictionaryAttr, IntegerAttr, StringAttr
from commonir.ir.interface import NO_PORT, ColorSpace, Port
from commonir.ir.module import Function, Module
from commonir.ir.ports import NewInterface
from commonir.ir.types import StateType, TensorType, Type

_VERSION = "specificationVersion"
_DESCRIPTION = "description"
_FUNCTIONS = "functions"
_DEFAULT_FUNCTION = "defaultFunctionName"
_LISTS = ("input", "output", "state")
_CLASSIFIER_NAMES = ("predictedFeatureName", "predictedProbabilitiesName")


def describe_function(module: Module, function: Function, new: NewInterface) -> None:
    """Makes the description of a module, if it has one, speak of the new interface of one of its functions, and no
    longer of functions that are gone.
    """
    kept = module.extra.get(MODEL_ATTRIBUTE)
    if not isinstance(kept, DictionaryAttr):
        return
    known = read_description(kept).interface(function.symbol_name)
    model = _fields(kept)
    about = _fields(model.get(_DESCRIPTION))
    listed = about.get(_FUNCTIONS)
    if isinstance(listed, ArrayAttr):
        names = module.functions
        present = [f for f in listed.values if _text(f, "name") in names]
        edited = [_edited(f, known, function, new) if _text(f, "name") == function.symbol_name else f for f in present]
        about[_FUNCTIONS] = ArrayAttr(tuple(edited))
        if _text(_dictionary(about), _DEFAULT_FUNCTION) not in names:
            about[_DEFAULT_FUNCTION] = StringAttr(function.symbol_name)
    else:
        about = _fields(_edited(_dictionary(about), known, function, new))
    model[_DESCRIPTION] = _dictionary(about)
    version = model.get(_VERSION)
    if isinstance(version, IntegerAttr):
        model[_VERSION] = IntegerAttr(max(version.value, _needed_version(function, new)))
    module.set_extra(MODEL_ATTRIBUTE, _dictionary(model))


def describe_only(module: Module, function: str) -> None:
    """Makes the description of a module, if it has one, that of a model of one of its functions, which lists none."""
    kept = module.extra.get(MODEL_ATTRIBUTE)
    model = _fields(kept)
    about = _fields(model.get(_DESCRIPTION))
    listed = about.pop(_FUNCTIONS, None)
    about.pop(_DEFAULT_FUNCTION, None)
    for entry in listed.values if isinstance(listed, ArrayAttr) else ():
        if _text(entry, "name") == function:
            about |= {name: value for name, value in _fields(entry).items() if name != "name"}
    if kept is not None:
        module.set_extra(MODEL_ATTRIBUTE, _dictionary(model | {_DESCRIPTION: _dictionary(about)}))


def set_specification_version(module: Module, version: int) -> None:
    """Makes the description of a module, if it has one, speak of a version of the specification."""
    kept = module.extra.get(MODEL_ATTRIBUTE)
    if isinstance(kept, DictionaryAttr):
        module.set_extra(MODEL_ATTRIBUTE, _dictionary(_fields(kept) | {_VERSION: IntegerAttr(version)}))


def _needed_version(function: Function, new: NewInterface) -> int:
    """The oldest specification version whose inputs and outputs may be of the types of new ones."""
    values = [(v.name, v.type) for v in function.inputs] + [(name, v.type) for name, v in new.outputs]
    types = [t for name, t in values if name not in new.renamed]
    return max((IO_TYPES_SINCE.get(t.element, 0) for t in types if isinstance(t, TensorType)), default=0)


def _edited(content: Attribute, known: Interface | None, function: Function, new: NewInterface) -> DictionaryAttr:
    """An interface in the form of a message, of the new inputs, outputs and states."""
    fields = _fields(content)
    states = [v for v in function.inputs if isinstance(v.type, StateType)]
    inputs = [v for v in function.inputs if not isinstance(v.type, StateType)]
    ports = {**new.input_ports, **new.output_ports}
    expected = {
        "input": [(v.name, v.type) for v in inputs],
        "output": [(name, v.type) for name, v in new.outputs],
        "state": [(v.name, v.type) for v in states],
    }
    before = {"input": known.inputs, "output": known.outputs, "state": known.states} if known is not None else {}
    for name in _LISTS:
        features = tuple(_features(fields.get(name), before.get(name, ()), expected[name], ports, new.renamed))
        fields.pop(name, None)
        if features:
            fields[name] = ArrayAttr(features)
    current = {old: name for name, old in new.renamed.items()}
    returned = {name for name, _ in new.outputs}
    for name in _CLASSIFIER_NAMES:
        text = current.get(_text(content, name), "")
        if name in fields:
            del fields[name]
            if text in returned:
                fields[name] = StringAttr(text)
    return _dictionary(fields)


def _features(
    content: Attribute | None,
    before: Iterable[Feature],
    expected: Iterable[tuple[str, Type]],
    ports: Mapping[str, Port],
    renamed: Mapping[str, str],
) -> Iterator[Attribute]:
    raw = {_text(f, "name"): f for f in (content.values if isinstance(content, ArrayAttr) else ())}
    typed = {f.name: f for f in before}
    for name, type in expected:
        old = renamed.get(name, "")
        feature = typed.get(old)
        port = ports.get(name, NO_PORT)
        if feature is not None and old in raw and port == port_of_feature(feature) and _is_of(feature, type):
            yield _renamed(raw[old], name)
        else:
            yield feature_attribute(_feature(name, type, port, feature))


def _is_of(feature: Feature, type: Type) -> bool:
    """Returns whether a feature describes a type; kinds that are not tensors follow from the operation that
    makes them.
    """
    if isinstance(feature.type, MultiArray) and isinstance(type, TensorType):
        return feature.type.element is type.element
    return True


def _renamed(content: Attribute, name: str) -> DictionaryAttr:
    return _dictionary({**_fields(content), "name": StringAttr(name)})


def _feature(name: str, type: Type, port: Port, before: Feature | None) -> Feature:
    """A feature by the type of its value and what its port says."""
    is_optional = before is not None and before.is_optional
    return Feature(name, _feature_type(name, type, port, before), is_optional, port.doc)


def _feature_type(name: str, type: Type, port: Port, before: Feature | None) -> FeatureType:
    if isinstance(type, StateType):
        return State(_array(type.element, NO_PORT)) if isinstance(type.element, TensorType) else Unknown()
    if not isinstance(type, TensorType):
        return before.type if before is not None else Unknown()
    if type.element not in ARRAY_TYPES.values():
        message = f"'{name}' is {type}, and no input or output of a model may be of element type {type.element}"
        raise DiagnosticError(Diagnostic(IMPOSSIBLE_EDIT, message, help="choose a value before or after it"))
    if port.image is not None and len(port.shape) == 4:
        return _image(port, port.image, before)
    return _array(type, port)


def _array(type: TensorType, port: Port) -> MultiArray:
    shape = port.shape or (type.static_shape if type.is_static else ())
    return MultiArray(type.element, shape, port.shapes, port.ranges, port.default)


def _image(port: Port, order: ColorSpace, before: Feature | None) -> Image:
    # Grayscale of either precision has the same order of channels; only the description has the precision.
    color = before.type.color if before is not None and isinstance(before.type, Image) else order.name
    assert color in COLOR_SPACES.values()
    *_, height, width = port.shape
    ranges = port.ranges[2:] if port.ranges else (None, None)
    return Image(width, height, color, tuple([(s[3], s[2]) for s in port.shapes]), ranges[1], ranges[0])


def _fields(content: Attribute | None) -> dict[str, Attribute]:
    return dict(content.entries) if isinstance(content, DictionaryAttr) else {}


def _dictionary(fields: Mapping[str, Attribute]) -> DictionaryAttr:
    return DictionaryAttr(tuple(fields.items()))


def _text(content: Attribute, name: str) -> str:
    result = _fields(content).get(name)
    return result.value if isinstance(result, StringAttr) else ""
