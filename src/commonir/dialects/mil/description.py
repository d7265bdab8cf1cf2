"""The description of a Core ML model: the interface that its users see, without the program.

A module keeps it as `coreml.model`: the `Model` message without its program, in which each message is a dictionary of
the fields that it has, a repeated field is an array, an enumeration its number, and the bytes of unknown fields stand
under the empty name. `description_of` gives the typed view of it that `cir info`, the verifier and lowering use, and
`description_attribute` makes it of such a view. Metadata are not in it: they belong to no format (`ir/interface.py`).
Source: Model.proto, FeatureTypes.proto of coremltools 9.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from commonir.base.tuples import NamedTuple
from commonir.ir.attributes import ArrayAttr, Attribute, BoolAttr, DictionaryAttr, FloatAttr, IntegerAttr, StringAttr
from commonir.ir.interface import ColorSpace, DimRange, Metadata, Port, metadata_of
from commonir.ir.module import Module
from commonir.ir.types import ElementType, f16, f32, f64, i8, i32, i64, string

MODEL_ATTRIBUTE = "coreml.model"
"""Undeclared attribute of a module: the `Model` message without its program and its metadata."""
MANIFEST_ATTRIBUTE = "coreml.manifest"
"""Undeclared attribute of a module: the manifest of the package, as text."""
FILES_ATTRIBUTE = "coreml.files"
"""Undeclared attribute of a module: contents of further files of the package, by their paths below `Data`."""

MAIN = "main"
"""The only function of a model that does not list functions."""

ARRAY_TYPES: Mapping[int, ElementType] = MappingProxyType({65552: f16, 65568: f32, 65600: f64, 131080: i8, 131104: i32})
"""Element types of multi-arrays by their number in `ArrayDataType`."""
IO_TYPES_SINCE: Mapping[ElementType, int] = MappingProxyType({f32: 6, i32: 6, f16: 7, i8: 10})
"""The specification version from which on an element type may be that of an input or output."""
COLOR_SPACES: Mapping[int, str] = MappingProxyType({10: "GRAYSCALE", 20: "RGB", 30: "BGR", 40: "GRAYSCALE_FLOAT16"})
"""Names of color spaces by their number in `ColorSpace`."""
_CHANNEL_ORDERS = {
    "GRAYSCALE": ColorSpace.GRAYSCALE,
    "GRAYSCALE_FLOAT16": ColorSpace.GRAYSCALE,
    "RGB": ColorSpace.RGB,
    "BGR": ColorSpace.BGR,
}


class MultiArray(NamedTuple):
    """A tensor. `shape` is the default shape; `shapes` lists all that are allowed, or `ranges` the sizes of each axis.

    `element` is None for an unknown type number. `default` fills an optional input that is not given.
    """

    element: ElementType | None
    shape: tuple[int, ...]
    shapes: tuple[tuple[int, ...], ...] = ()
    ranges: tuple[DimRange, ...] = ()
    default: int | float | None = None


class Image(NamedTuple):
    """An image. Units: pixels. `color` is "" for an unknown color space number."""

    width: int
    height: int
    color: str
    sizes: tuple[tuple[int, int], ...] = ()
    widths: DimRange | None = None
    heights: DimRange | None = None

    @property
    def order(self) -> ColorSpace | None:
        """The order of its channels; None for a number of no known color space."""
        return _CHANNEL_ORDERS.get(self.color)

    @property
    def channels(self) -> int:
        """Number of channels of the tensor that holds it."""
        return 3 if self.order is None else self.order.channels


class Scalar(NamedTuple):
    """One number or one string."""

    element: ElementType


class Dictionary(NamedTuple):
    """A dictionary from labels to double-precision numbers; `key` is None for an unknown type."""

    key: ElementType | None


class Sequence(NamedTuple):
    """A sequence of labels; `element` is None for an unknown type."""

    element: ElementType | None
    lengths: DimRange | None


class State(NamedTuple):
    """Storage that keeps its contents between calls."""

    array: MultiArray


class Unknown(NamedTuple):
    """A feature type that is missing or of a later version of the format."""


FeatureType = MultiArray | Image | Scalar | Dictionary | Sequence | State | Unknown


class Feature(NamedTuple):
    """An input, output or state, as users of the model see it."""

    name: str
    type: FeatureType
    is_optional: bool = False
    summary: str = ""


class Interface(NamedTuple):
    """The inputs and outputs of one function. The last two are the names of the outputs of a classifier, else ""."""

    name: str
    inputs: tuple[Feature, ...]
    outputs: tuple[Feature, ...]
    states: tuple[Feature, ...] = ()
    label_name: str = ""
    probabilities_name: str = ""


class Description(NamedTuple):
    """The description of a model.

    `interfaces` has one entry, named `main`, when the model lists no functions (`has_functions` is False).
    """

    specification_version: int
    interfaces: tuple[Interface, ...]
    has_functions: bool = False
    default_function: str = ""
    metadata: Metadata = Metadata()
    is_updatable: bool = False
    training_inputs: tuple[Feature, ...] = ()
    top_level: Interface = Interface(MAIN, (), ())

    def interface(self, function: str) -> Interface | None:
        """The interface of a function by its name."""
        return next((i for i in self.interfaces if i.name == function), None)


def description_of(module: Module) -> Description | None:
    """The description that a module has; None when it comes from elsewhere."""
    kept = module.extra.get(MODEL_ATTRIBUTE)
    return read_description(kept)._replace(metadata=metadata_of(module)) if isinstance(kept, DictionaryAttr) else None


def read_description(attribute: DictionaryAttr) -> Description:
    """The typed view of a `Model` message without its program; what is not of the expected form counts as missing."""
    model = _Fields(attribute)
    about = model.message("description")
    top_level = _interface(MAIN, about)
    listed = tuple([_interface(f.text("name"), f) for f in about.messages("functions")])
    return Description(
        specification_version=model.number("specificationVersion"),
        interfaces=listed or (top_level,),
        has_functions=bool(listed),
        default_function=about.text("defaultFunctionName"),
        is_updatable=model.number("isUpdatable") != 0,
        training_inputs=_features(about, "trainingInput"),
        top_level=top_level,
    )


def port_of_feature(feature: Feature) -> Port:
    """Returns the port of a feature: what it declares beyond the type of its value."""
    match feature.type:
        case MultiArray(shape=shape, shapes=shapes, ranges=ranges, default=default):
            return Port(feature.summary, None, shape, shapes, ranges, default)
        case Image() as image:
            fixed = (1, image.channels)
            shapes = tuple([(*fixed, height, width) for width, height in image.sizes])
            ranges: tuple[DimRange, ...] = ()
            if image.widths is not None and image.heights is not None:
                ranges = (*[DimRange(n, n) for n in fixed], image.heights, image.widths)
            return Port(feature.summary, image.order, (*fixed, image.height, image.width), shapes, ranges)
        case _:
            return Port(feature.summary)


class _Fields:
    """The fields of a message in the form of a dictionary."""

    __slots__ = ("_held",)

    def __init__(self, attribute: Attribute | None) -> None:
        self._held = dict(attribute.entries) if isinstance(attribute, DictionaryAttr) else {}

    def __contains__(self, name: str) -> bool:
        return name in self._held

    def text(self, name: str) -> str:
        result = self._held.get(name)
        return result.value if isinstance(result, StringAttr) else ""

    def number(self, name: str) -> int:
        result = self._held.get(name)
        return int(result.value) if isinstance(result, IntegerAttr | BoolAttr) else 0

    def numbers(self, name: str) -> tuple[int, ...]:
        return tuple([a.value for a in self._array(name) if isinstance(a, IntegerAttr)])

    def message(self, name: str) -> _Fields:
        return _Fields(self._held.get(name))

    def messages(self, name: str) -> list[_Fields]:
        return list(map(_Fields, self._array(name)))

    def scalar(self, *names: str) -> int | float | None:
        """The first of some fields that is there."""
        for name in names:
            result = self._held.get(name)
            if isinstance(result, IntegerAttr | FloatAttr):
                return result.value
        return None

    def first(self, *names: str) -> str:
        """Returns the name of the set field of a oneof, "" for none."""
        return next((n for n in names if n in self._held), "")

    def _array(self, name: str) -> tuple[Attribute, ...]:
        result = self._held.get(name)
        return result.values if isinstance(result, ArrayAttr) else ()


def _interface(name: str, fields: _Fields) -> Interface:
    return Interface(
        name,
        _features(fields, "input"),
        _features(fields, "output"),
        _features(fields, "state"),
        fields.text("predictedFeatureName"),
        fields.text("predictedProbabilitiesName"),
    )


def _features(fields: _Fields, name: str) -> tuple[Feature, ...]:
    return tuple(
        [
            Feature(
                f.text("name"),
                _feature_type(f.message("type")),
                f.message("type").number("isOptional") != 0,
                f.text("shortDescription"),
            )
            for f in fields.messages(name)
        ]
    )


_KEY_TYPES = MappingProxyType({"int64KeyType": i64, "stringKeyType": string})
_LABEL_TYPES = MappingProxyType({"int64Type": i64, "stringType": string})
_SCALAR_TYPES = MappingProxyType({"int64Type": i64, "doubleType": f64, "stringType": string})
_OTHER_TYPES = ("multiArrayType", "imageType", "dictionaryType", "sequenceType", "stateType")


def _feature_type(fields: _Fields) -> FeatureType:
    match fields.first(*_SCALAR_TYPES, *_OTHER_TYPES):
        case "multiArrayType":
            return _multi_array(fields.message("multiArrayType"))
        case "imageType":
            return _image(fields.message("imageType"))
        case "dictionaryType":
            return Dictionary(_KEY_TYPES.get(fields.message("dictionaryType").first(*_KEY_TYPES)))
        case "sequenceType":
            sequence = fields.message("sequenceType")
            lengths = _range(sequence.message("sizeRange")) if "sizeRange" in sequence else None
            return Sequence(_LABEL_TYPES.get(sequence.first(*_LABEL_TYPES)), lengths)
        case "stateType":
            return State(_multi_array(fields.message("stateType").message("arrayType")))
        case "":
            return Unknown()
        case scalar:
            return Scalar(_SCALAR_TYPES[scalar])


def _multi_array(fields: _Fields) -> MultiArray:
    return MultiArray(
        ARRAY_TYPES.get(fields.number("dataType")),
        fields.numbers("shape"),
        tuple([s.numbers("shape") for s in fields.message("enumeratedShapes").messages("shapes")]),
        tuple(map(_range, fields.message("shapeRange").messages("sizeRanges"))),
        fields.scalar("intDefaultValue", "floatDefaultValue", "doubleDefaultValue"),
    )


def _image(fields: _Fields) -> Image:
    ranges = fields.message("imageSizeRange")
    has_ranges = "imageSizeRange" in fields
    sizes = fields.message("enumeratedSizes").messages("sizes")
    return Image(
        fields.number("width"),
        fields.number("height"),
        COLOR_SPACES.get(fields.number("colorSpace"), ""),
        tuple([(s.number("width"), s.number("height")) for s in sizes]),
        _range(ranges.message("widthRange")) if has_ranges else None,
        _range(ranges.message("heightRange")) if has_ranges else None,
    )


def _range(fields: _Fields) -> DimRange:
    upper = fields.number("upperBound")
    return DimRange(fields.number("lowerBound"), None if upper < 0 else upper)


def description_attribute(description: Description) -> DictionaryAttr:
    """A description in the form in which a module keeps it; metadata are left out."""
    about: dict[str, Attribute] = {}
    top = (
        description.interfaces[0] if not description.has_functions and description.interfaces else description.top_level
    )
    about.update(_interface_fields(top))
    if description.has_functions:
        about["functions"] = ArrayAttr(
            tuple([_message({"name": StringAttr(i.name), **_interface_fields(i)}) for i in description.interfaces])
        )
    if description.default_function:
        about["defaultFunctionName"] = StringAttr(description.default_function)
    _put_features(about, "trainingInput", description.training_inputs)
    model: dict[str, Attribute] = {"specificationVersion": IntegerAttr(description.specification_version)}
    model["description"] = _message(about)
    if description.is_updatable:
        model["isUpdatable"] = BoolAttr(True)
    return _message(model)


def _message(fields: Mapping[str, Attribute]) -> DictionaryAttr:
    return DictionaryAttr(tuple(fields.items()))


def _interface_fields(interface: Interface) -> dict[str, Attribute]:
    out: dict[str, Attribute] = {}
    _put_features(out, "input", interface.inputs)
    _put_features(out, "output", interface.outputs)
    _put_features(out, "state", interface.states)
    if interface.label_name:
        out["predictedFeatureName"] = StringAttr(interface.label_name)
    if interface.probabilities_name:
        out["predictedProbabilitiesName"] = StringAttr(interface.probabilities_name)
    return out


def _put_features(into: dict[str, Attribute], name: str, features: tuple[Feature, ...]) -> None:
    if features:
        into[name] = ArrayAttr(tuple(map(feature_attribute, features)))


def feature_attribute(feature: Feature) -> DictionaryAttr:
    """A feature in the form of the message that describes it."""
    fields: dict[str, Attribute] = {"name": StringAttr(feature.name)}
    if feature.summary:
        fields["shortDescription"] = StringAttr(feature.summary)
    type = _type_fields(feature.type)
    if feature.is_optional:
        type["isOptional"] = BoolAttr(True)
    fields["type"] = _message(type)
    return _message(fields)


def _type_fields(type: FeatureType) -> dict[str, Attribute]:
    empty = _message({})
    match type:
        case MultiArray():
            return {"multiArrayType": _multi_array_fields(type)}
        case Image():
            return {"imageType": _image_fields(type)}
        case Scalar(element=element):
            return {name: empty for name, e in _SCALAR_TYPES.items() if e is element}
        case Dictionary(key=key):
            return {"dictionaryType": _message({name: empty for name, e in _KEY_TYPES.items() if e is key})}
        case Sequence(element=element, lengths=lengths):
            fields: dict[str, Attribute] = {name: empty for name, e in _LABEL_TYPES.items() if e is element}
            if lengths is not None:
                fields["sizeRange"] = _range_fields(lengths)
            return {"sequenceType": _message(fields)}
        case State(array=array):
            return {"stateType": _message({"arrayType": _multi_array_fields(array)})}
        case _:
            return {}


def _multi_array_fields(array: MultiArray) -> DictionaryAttr:
    fields: dict[str, Attribute] = {}
    if array.shape:
        fields["shape"] = _integers(array.shape)
    number = next((n for n, e in ARRAY_TYPES.items() if e is array.element), 0)
    if number:
        fields["dataType"] = IntegerAttr(number)
    if array.shapes:
        shapes = ArrayAttr(tuple([_message({"shape": _integers(s)} if s else {}) for s in array.shapes]))
        fields["enumeratedShapes"] = _message({"shapes": shapes})
    elif array.ranges:
        fields["shapeRange"] = _message({"sizeRanges": ArrayAttr(tuple(map(_range_fields, array.ranges)))})
    match array.default:
        case int() as default:
            fields["intDefaultValue"] = IntegerAttr(default)
        case float() as default if array.element is f64:
            fields["doubleDefaultValue"] = FloatAttr(default)
        case float() as default:
            fields["floatDefaultValue"] = FloatAttr(default, f32)
        case None:
            pass
    return _message(fields)


def _image_fields(image: Image) -> DictionaryAttr:
    fields: dict[str, Attribute] = {"width": IntegerAttr(image.width), "height": IntegerAttr(image.height)}
    number = next((n for n, name in COLOR_SPACES.items() if name == image.color), 0)
    if number:
        fields["colorSpace"] = IntegerAttr(number)
    if image.sizes:
        sizes = [_message({"width": IntegerAttr(w), "height": IntegerAttr(h)}) for w, h in image.sizes]
        fields["enumeratedSizes"] = _message({"sizes": ArrayAttr(tuple(sizes))})
    elif image.widths is not None and image.heights is not None:
        ranges = {"widthRange": _range_fields(image.widths), "heightRange": _range_fields(image.heights)}
        fields["imageSizeRange"] = _message(ranges)
    return _message(fields)


def _range_fields(range: DimRange) -> DictionaryAttr:
    upper = -1 if range.upper is None else range.upper
    arguments = {"lowerBound": range.lower, "upperBound": upper}
    return _message({name: IntegerAttr(n) for name, n in arguments.items() if n})


def _integers(values: tuple[int, ...]) -> ArrayAttr:
    return ArrayAttr(tuple(map(IntegerAttr, values)))
