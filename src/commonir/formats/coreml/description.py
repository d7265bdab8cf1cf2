"""The description of a Core ML model: what its users see of it, beside the program.

A module read from a file keeps the description as it was; `description_of` gives the typed view of it that `cir info`,
the verifier and the engines use: features with their shapes, flexibility, images, defaults and states.
Source: facts on Core ML, sections 2 and 3 (Model.proto, FeatureTypes.proto of coremltools 9).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from commonir.base.limits import DEFAULT_LIMITS, Limits
from commonir.formats.coreml.wire import parse
from commonir.ir.attributes import BytesAttr
from commonir.ir.module import Module
from commonir.ir.types import ElementType, f16, f32, f64, i8, i32, i64, string

if TYPE_CHECKING:
    from commonir.formats.coreml.message_types import (
        ArrayFeatureMessage,
        DescriptionMessage,
        FeatureMessage,
        ImageFeatureMessage,
        InterfaceMessage,
        MetadataMessage,
        ModelMessage,
        SizeRangeMessage,
    )

MODEL_ATTRIBUTE = "coreml.model"
"""Undeclared attribute of a module: the `Model` message without its program."""
MANIFEST_ATTRIBUTE = "coreml.manifest"
"""Undeclared attribute of a module: the manifest of the package, as text."""

MAIN = "main"
"""The only function of a model that does not list functions."""

ARRAY_TYPES: Mapping[int, ElementType] = MappingProxyType({65552: f16, 65568: f32, 65600: f64, 131080: i8, 131104: i32})
"""Element types of multi-arrays by their number in `ArrayDataType`."""
COLOR_SPACES: Mapping[int, str] = MappingProxyType({10: "GRAYSCALE", 20: "RGB", 30: "BGR", 40: "GRAYSCALE_FLOAT16"})


class Range(NamedTuple):
    """Sizes from `lower` to `upper`, both inclusive; no upper bound when it is None."""

    lower: int
    upper: int | None

    def __contains__(self, size: object) -> bool:
        return isinstance(size, int) and self.lower <= size and (self.upper is None or size <= self.upper)

    def __str__(self) -> str:
        return f"{self.lower}..{'' if self.upper is None else self.upper}"


class MultiArray(NamedTuple):
    """A tensor. `shape` is the default shape; `shapes` lists all that are allowed, or `ranges` the sizes of each axis.

    `element` is None for a number of no known type. `default` fills an optional input that is not given.
    """

    element: ElementType | None
    shape: tuple[int, ...]
    shapes: tuple[tuple[int, ...], ...] = ()
    ranges: tuple[Range, ...] = ()
    default: int | float | None = None


class Image(NamedTuple):
    """An image. Units: pixels. `color` is "" for a number of no known color space."""

    width: int
    height: int
    color: str
    sizes: tuple[tuple[int, int], ...] = ()
    widths: Range | None = None
    heights: Range | None = None

    @property
    def channels(self) -> int:
        """Number of channels of the tensor that holds it."""
        return 1 if self.color.startswith("GRAYSCALE") else 3


class Scalar(NamedTuple):
    """One number or one string."""

    element: ElementType


class Dictionary(NamedTuple):
    """A dictionary from labels to double-precision numbers; `key` is None for a kind of no known type."""

    key: ElementType | None


class Sequence(NamedTuple):
    """A sequence of labels; `element` is None for a kind of no known type."""

    element: ElementType | None
    lengths: Range | None


class State(NamedTuple):
    """Storage that keeps its contents between calls."""

    array: MultiArray


class Unknown(NamedTuple):
    """A kind of feature that is missing or of a later version of the format."""


FeatureType = MultiArray | Image | Scalar | Dictionary | Sequence | State | Unknown


class Feature(NamedTuple):
    """An input, output or state, as users of the model see it."""

    name: str
    type: FeatureType
    is_optional: bool = False
    summary: str = ""


class Interface(NamedTuple):
    """What one function receives and returns. The last two are the names of the outputs of a classifier, else ""."""

    name: str
    inputs: tuple[Feature, ...]
    outputs: tuple[Feature, ...]
    states: tuple[Feature, ...] = ()
    label_name: str = ""
    probabilities_name: str = ""


class Metadata(NamedTuple):
    """What the author of a model says about it."""

    summary: str = ""
    version: str = ""
    author: str = ""
    license: str = ""
    user_defined: tuple[tuple[str, str], ...] = ()


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
    """The description that a module has kept from its file; None when it comes from elsewhere.

    Raises: DAMAGED_MESSAGE when the attribute that keeps it was tampered with.
    """
    kept = module.extra.get(MODEL_ATTRIBUTE)
    return decode_description(kept.value) if isinstance(kept, BytesAttr) else None


def decode_description(content: bytes, limits: Limits = DEFAULT_LIMITS, file: str = "") -> Description:
    """The typed view of a `Model` message without its program.

    Raises: DAMAGED_MESSAGE, TRUNCATED_FILE, NESTING_TOO_DEEP.
    """
    # Loads protobuf, which `import commonir` must not.
    from commonir.formats.coreml.messages import message_class  # noqa: PLC0415

    # The class is made at run time, so only the declaration can tell what it is.
    model: ModelMessage = parse(message_class("Model"), memoryview(content), limits, file=file, where="")  # pyright: ignore[reportAssignmentType]
    message = model.description
    top_level = _interface(MAIN, message)
    listed = tuple([_interface(f.name, f) for f in message.functions])
    return Description(
        specification_version=model.specificationVersion,
        interfaces=listed or (top_level,),
        has_functions=bool(listed),
        default_function=message.defaultFunctionName,
        metadata=_metadata(message),
        is_updatable=model.isUpdatable,
        training_inputs=_features(message.trainingInput),
        top_level=top_level,
    )


def _metadata(message: DescriptionMessage) -> Metadata:
    m: MetadataMessage = message.metadata
    user_defined = tuple([(entry.key, entry.value) for entry in m.userDefined])
    return Metadata(m.shortDescription, m.versionString, m.author, m.license, user_defined)


def _interface(name: str, message: InterfaceMessage) -> Interface:
    return Interface(
        name,
        _features(message.input),
        _features(message.output),
        _features(message.state),
        message.predictedFeatureName,
        message.predictedProbabilitiesName,
    )


def _features(messages: Iterable[FeatureMessage]) -> tuple[Feature, ...]:
    return tuple([Feature(m.name, _feature_type(m), m.type.isOptional, m.shortDescription) for m in messages])


def _feature_type(message: FeatureMessage) -> FeatureType:
    kind = message.type
    match kind.WhichOneof("Type"):
        case "int64Type":
            return Scalar(i64)
        case "doubleType":
            return Scalar(f64)
        case "stringType":
            return Scalar(string)
        case "multiArrayType":
            return _multi_array(kind.multiArrayType)
        case "imageType":
            return _image(kind.imageType)
        case "dictionaryType":
            key = {"int64KeyType": i64, "stringKeyType": string}.get(kind.dictionaryType.WhichOneof("KeyType") or "")
            return Dictionary(key)
        case "sequenceType":
            sequence = kind.sequenceType
            element = {"int64Type": i64, "stringType": string}.get(sequence.WhichOneof("Type") or "")
            return Sequence(element, _range(sequence.sizeRange) if sequence.HasField("sizeRange") else None)
        case "stateType":
            return State(_multi_array(kind.stateType.arrayType))
        case _:
            return Unknown()


def _multi_array(message: ArrayFeatureMessage) -> MultiArray:
    default: int | float | None = None
    match message.WhichOneof("defaultOptionalValue"):
        case "intDefaultValue":
            default = message.intDefaultValue
        case "floatDefaultValue":
            default = message.floatDefaultValue
        case "doubleDefaultValue":
            default = message.doubleDefaultValue
        case _:
            pass
    return MultiArray(
        ARRAY_TYPES.get(message.dataType),
        tuple(message.shape),
        tuple([tuple(s.shape) for s in message.enumeratedShapes.shapes]),
        tuple(map(_range, message.shapeRange.sizeRanges)),
        default,
    )


def _image(message: ImageFeatureMessage) -> Image:
    has_ranges = message.WhichOneof("SizeFlexibility") == "imageSizeRange"
    return Image(
        message.width,
        message.height,
        COLOR_SPACES.get(message.colorSpace, ""),
        tuple([(s.width, s.height) for s in message.enumeratedSizes.sizes]),
        _range(message.imageSizeRange.widthRange) if has_ranges else None,
        _range(message.imageSizeRange.heightRange) if has_ranges else None,
    )


def _range(message: SizeRangeMessage) -> Range:
    return Range(message.lowerBound, None if message.upperBound < 0 else message.upperBound)
