"""Rules on the description of a Core ML model: it must agree with the program that it describes.

Each rule has a label, which begins its message; the tests that break the rules are named after the labels.

D1: the functions of the description are those of the program; without a list of functions it is the function `main`.
D2: inputs and states of a function are described under their names, and so are its outputs.
D3: a feature has the kind and element type of its value.
D4: a feature has the rank of its value and its fixed dimensions.
D5: the default shape is one of those that the feature allows, and the allowed shapes are well formed; likewise sizes
    of images.
D6: the default function is one of those listed; it is empty when none is listed.
D7: an image is a tensor of shape [1, channels, height, width].
D8: the label and the probabilities of a classifier are outputs, as is what a regressor predicts, and a model with
several functions is not a classifier.
D9: a state is half precision with a fixed shape, and only described as a state.
D10: an optional input has a default value.
D11: enumerated shapes of several inputs are as many for each, and only from specification version 9 on.
D12: a model that lists functions describes inputs and outputs only there.
D13: element types of inputs and outputs are those that the specification version allows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from commonir.base.diagnostics import Diagnostic, Diagnostics
from commonir.base.file_codes import INTERFACE_MISMATCH, NOT_IN_VERSION
from commonir.base.suggestions import did_you_mean
from commonir.dialects.mil.description import (
    IO_TYPES_SINCE,
    MAIN,
    Description,
    Dictionary,
    Feature,
    Image,
    Interface,
    MultiArray,
    Scalar,
    State,
    Unknown,
)
from commonir.dialects.mil.program import Func
from commonir.formats.coreml.types import MIL_NAMES
from commonir.ir.module import Function
from commonir.ir.types import ElementType, MapType, StateType, TensorType, Type, f16, f32, i64, string, u8

MAX_ENUMERATED_SHAPES = 128
SEVERAL_ENUMERATED_SINCE = 9
_IMAGE_HEIGHT = 2
"""The axis of the height of an image; those before are a batch of one image and its channels."""
IMAGE_TYPES_SINCE: Mapping[ElementType, int] = {f32: 6, f16: 7, u8: 8}


def verify_description(functions: Mapping[str, Function], description: Description) -> Iterator[Diagnostic]:
    """Yields contradictions between a description and the functions of its program."""
    yield from _check_functions(functions, description)
    for interface in description.interfaces:
        function = functions.get(interface.name)
        if function is not None:
            yield from _InterfaceCheck(interface, function, description).findings()


def _check_functions(functions: Mapping[str, Function], description: Description) -> Iterator[Diagnostic]:
    described = [i.name for i in description.interfaces]
    if not description.has_functions:
        if MAIN not in functions:
            message = f"D1: a model that lists no functions runs '{MAIN}', which the program does not have"
            yield _mismatch(message, "description", notes=_found(functions))
        if description.default_function:
            message = f"D6: the default function is '{description.default_function}', but no functions are listed"
            yield _mismatch(message, "description.defaultFunctionName")
        return
    for n, name in enumerate(described):
        place = f"description.functions['{name}']"
        if name in described[:n]:
            yield _mismatch(f"D1: the function '{name}' is described twice", place)
        elif name not in functions:
            help = did_you_mean(name, functions)
            yield _mismatch(f"D1: the program has no function '{name}'", place, help=help)
    for name in functions:
        if name not in described:
            yield _mismatch(f"D1: the function '{name}' is not described", "description.functions")
    if description.default_function not in described:
        message = f"D6: the default function '{description.default_function}' is not among the functions listed"
        help = did_you_mean(description.default_function, described)
        yield _mismatch(message, "description.defaultFunctionName", notes=_found(described), help=help)
    top = description.top_level
    if top.inputs or top.outputs or top.states:
        yield _mismatch("D12: inputs, outputs and states must be described with the functions only", "description")


class _InterfaceCheck:
    """Checks the interface of one function."""

    def __init__(self, interface: Interface, function: Function, description: Description) -> None:
        self.interface = interface
        self.function = function
        self.version = description.specification_version
        self.several = description.has_functions
        self.place = f"description.functions['{interface.name}']" if self.several else "description"
        self.diagnostics = Diagnostics()
        # Other models than programs have values of more types, whose shapes their descriptions need not have.
        self.is_program = isinstance(function, Func)

    def findings(self) -> Diagnostics:
        """Returns the diagnostics."""
        inputs = {v.name: v.type for v in self.function.inputs}
        outputs = dict(zip(self.function.output_names, [v.type for v in self.function.outputs], strict=False))
        plain = {name: t for name, t in inputs.items() if not isinstance(t, StateType)}
        states = {name: t for name, t in inputs.items() if isinstance(t, StateType)}
        self._match("input", self.interface.inputs, plain)
        self._match("output", self.interface.outputs, outputs)
        if self.is_program:
            # Those of a pipeline are those of its models, named there.
            self._match("state", self.interface.states, states)
        self._check_enumerations()
        self._check_classifier()
        return self.diagnostics

    def _fault(self, message: str, part: str, *notes: str, help: str | None = None) -> None:
        self.diagnostics.add(INTERFACE_MISMATCH, message, where=f"{self.place}.{part}", notes=notes, help=help)

    def _match(self, role: str, features: tuple[Feature, ...], values: Mapping[str, Type]) -> None:
        seen: set[str] = set()
        for feature in features:
            part = f"{role}['{feature.name}']"
            if feature.name in seen:
                self._fault(f"D2: the {role} '{feature.name}' is described twice", part)
            seen.add(feature.name)
            type = values.get(feature.name)
            if type is None:
                help = did_you_mean(feature.name, values)
                self._fault(f"D2: the function has no {role} '{feature.name}'", part, *_found(values), help=help)
            else:
                self._check_feature(role, feature, type, part)
        for name in values:
            if name not in seen:
                self._fault(f"D2: the {role} '{name}' of the function is not described", role)

    def _check_feature(self, role: str, feature: Feature, type: Type, part: str) -> None:
        match feature.type:
            case MultiArray() as array if isinstance(type, TensorType) and not self.is_program:
                if array.element is not type.element:
                    message = f"D3: the {role} is described as {_name(array.element)}, but its value is {type}"
                    self._fault(message, part)
            case MultiArray() as array if isinstance(type, TensorType):
                self._check_io_type(array.element, IO_TYPES_SINCE, part)
                self._check_array(role, array, type, part)
                if feature.is_optional and role == "input" and array.default is None:
                    self._fault("D10: an optional input needs a default value", part)
            case Image() as image if isinstance(type, TensorType):
                self._check_image(role, image, type, part)
                self._check_sizes(role, image, part)
            case State(array=array) if isinstance(type, StateType) and isinstance(type.element, TensorType):
                self._check_state(array, type.element, part)
            case Scalar(element=element) if isinstance(type, TensorType) and (role == "output" or not self.is_program):
                if type.element is not element or type.shape != ():
                    self._fault(f"D3: the {role} is described as {_name(element)}, but its value is {type}", part)
            case Dictionary(key=key) if isinstance(type, MapType) and (role == "output" or not self.is_program):
                if not isinstance(type.key, TensorType) or type.key.element is not key:
                    self._fault(f"D3: the keys of the dictionary are described as {_name(key)}, found {type}", part)
            case kind:
                what = "nothing known" if isinstance(kind, Unknown) else f"a {kind.__class__.__name__.lower()}"
                self._fault(f"D3: the {role} is described as {what}, but its value is {type}", part)

    def _check_io_type(
        self, element: ElementType | None, since: Mapping[ElementType, int], part: str, what: str = "input or output"
    ) -> None:
        first = None if element is None else since.get(element)
        if first is None:
            allowed = ", ".join(_name(e) for e, v in since.items() if v <= self.version)
            self._fault(f"D13: {_name(element)} cannot be the type of an {what}", part, f"expected: {allowed}")
        elif first > self.version:
            message = f"D13: an {what} of type {_name(element)} needs specification version {first}"
            notes = (f"found: version {self.version}",)
            self.diagnostics.add(NOT_IN_VERSION, message, where=f"{self.place}.{part}", notes=notes)

    def _check_array(self, role: str, array: MultiArray, type: TensorType, part: str) -> None:
        if array.element is not type.element:
            message = f"D3: the {role} is described as {_name(array.element)}, but its value is {type}"
            self._fault(message, part)
        self._check_flexibility(role, array, part)
        dims = type.shape
        if dims is None:
            return
        # A scalar is described as a vector of one element, or without shape.
        if not array.shape and (role == "output" or not dims):
            return
        described = array.shape
        if dims == () and described == (1,):
            return
        if len(described) != len(dims):
            self._fault(f"D4: the {role} is described with rank {len(described)}, but its value is {type}", part)
            return
        for axis, (described_dim, dim) in enumerate(zip(described, dims, strict=True)):
            allowed = [described_dim, *(s[axis] for s in array.shapes if len(s) == len(dims))]
            if isinstance(dim, int) and any(s != dim for s in allowed):
                wrong = next(s for s in allowed if s != dim)
                message = f"D4: dimension {axis} of the {role} is described as {wrong}, but it is fixed at {dim}"
                self._fault(message, part)
            elif isinstance(dim, int) and array.ranges and len(array.ranges) == len(dims):
                bounds = array.ranges[axis]
                if (bounds.lower, bounds.upper) != (dim, dim):
                    message = f"D4: dimension {axis} of the {role} is described as {bounds}, but it is fixed at {dim}"
                    self._fault(message, part)

    def _check_flexibility(self, role: str, array: MultiArray, part: str) -> None:
        if array.shapes:
            if array.shape not in array.shapes:
                self._fault(f"D5: the default shape {array.shape} is not among the enumerated shapes", part)
            if len(array.shapes) > MAX_ENUMERATED_SHAPES:
                count = len(array.shapes)
                self._fault(f"D5: at most {MAX_ENUMERATED_SHAPES} shapes can be enumerated, found {count}", part)
        if not array.ranges:
            return
        if len(array.ranges) != len(array.shape) and array.shape:
            count, rank = len(array.ranges), len(array.shape)
            self._fault(f"D5: there are {count} ranges of sizes for a default shape of rank {rank}", part)
            return
        for axis, bounds in enumerate(array.ranges):
            if bounds.upper is not None and bounds.upper < bounds.lower:
                self._fault(f"D5: the range {bounds} of dimension {axis} is empty", part)
            elif role == "input" and bounds.upper is None:
                self._fault(f"D5: the range {bounds} of dimension {axis} of an input must have an upper bound", part)
            elif array.shape and array.shape[axis] not in bounds:
                dim = array.shape[axis]
                self._fault(f"D5: the default size {dim} of dimension {axis} is outside of its range {bounds}", part)

    def _check_image(self, role: str, image: Image, type: TensorType, part: str) -> None:
        self._check_io_type(type.element, IMAGE_TYPES_SINCE, part, "image")
        if not image.color:
            self._fault("D7: the image has no known color space", part)
            return
        if image.color == "GRAYSCALE_FLOAT16" and type.element is not f16:
            self._fault(f"D7: an image of color space GRAYSCALE_FLOAT16 is fp16, but its value is {type}", part)
        if type.element is f16 and image.color != "GRAYSCALE_FLOAT16" and role == "input":
            self._fault(f"D7: an input image of color space {image.color} is fp32, but its value is {type}", part)
        if type.element is u8 and image.color != "GRAYSCALE":
            self._fault("D7: only a grayscale image can be uint8", part)
        dims = type.shape
        if dims is None or len(dims) != 4:
            self._fault(f"D7: an image is a tensor of rank 4, but its value is {type}", part)
            return
        is_flexible = bool(image.sizes) or image.widths is not None
        expected = (1, image.channels, None if is_flexible else image.height, None if is_flexible else image.width)
        for axis, (expected_dim, dim) in enumerate(zip(expected, dims, strict=True)):
            if expected_dim is None or dim == expected_dim:
                continue
            # Programs have unknown heights and widths; which ones are allowed is described.
            if isinstance(dim, int) or axis < _IMAGE_HEIGHT:
                result = dim if isinstance(dim, int) else "an unknown size"
                message = f"D7: dimension {axis} of the image must be {expected_dim}, found {result}"
                self._fault(message, part, f"found: {type}")

    def _check_sizes(self, role: str, image: Image, part: str) -> None:
        default = (image.width, image.height)
        if image.sizes and default not in image.sizes:
            message = f"D5: the default size {default[0]} x {default[1]} of the image is not among the enumerated sizes"
            self._fault(message, part)
        for what, dim, bounds in (("width", image.width, image.widths), ("height", image.height, image.heights)):
            if bounds is None:
                continue
            if bounds.upper is not None and bounds.upper < bounds.lower:
                self._fault(f"D5: the range {bounds} of the {what} of the image is empty", part)
            elif role == "input" and bounds.upper is None:
                self._fault(f"D5: the range {bounds} of the {what} of an input must have an upper bound", part)
            elif dim not in bounds:
                self._fault(f"D5: the default {what} {dim} of the image is outside of its range {bounds}", part)

    def _check_state(self, array: MultiArray, type: TensorType, part: str) -> None:
        if type.element is not f16 or not type.is_static:
            self._fault(f"D9: a state must be fp16 with a fixed shape, found {type}", part)
        elif array.element is not type.element or array.shape != type.static_shape:
            described = f"{_name(array.element)} of shape {array.shape}"
            self._fault(f"D9: the state is described as {described}, but its value is {type}", part)
        if array.shapes or array.ranges:
            self._fault("D9: the shape of a state cannot be flexible", part)

    def _check_enumerations(self) -> None:
        enumerated = [(f.name, len(_enumerated(f))) for f in self.interface.inputs if _enumerated(f)]
        if len(enumerated) < 2:
            return
        names = ", ".join(f"'{name}'" for name, _ in enumerated)
        if self.version < SEVERAL_ENUMERATED_SINCE:
            message = f"D11: enumerated shapes of several inputs ({names}) need version {SEVERAL_ENUMERATED_SINCE}"
            notes = (f"found: version {self.version}",)
            self.diagnostics.add(NOT_IN_VERSION, message, where=f"{self.place}.input", notes=notes)
        elif len({count for _, count in enumerated}) > 1:
            counts = ", ".join(f"'{name}' has {count}" for name, count in enumerated)
            self._fault("D11: inputs with enumerated shapes must have equally many", "input", f"found: {counts}")

    def _check_classifier(self) -> None:
        label, probabilities = self.interface.label_name, self.interface.probabilities_name
        if not label:
            return
        if self.several:
            self._fault("D8: a model with several functions cannot be a classifier", "predictedFeatureName")
        outputs = {f.name: f.type for f in self.interface.outputs}
        if not self.is_program and not probabilities:
            # A regressor names what it predicts in the same field.
            if label not in outputs:
                message = f"D8: the predicted '{label}' must be an output"
                self._fault(message, "predictedFeatureName", help=did_you_mean(label, outputs))
        elif outputs.get(label) not in (Scalar(string), Scalar(i64)):
            message = f"D8: the label '{label}' must be an output of type string or int64"
            self._fault(message, "predictedFeatureName", help=did_you_mean(label, outputs))
        if probabilities and not isinstance(outputs.get(probabilities), Dictionary):
            message = f"D8: the probabilities '{probabilities}' must be an output that is a dictionary"
            self._fault(message, "predictedProbabilitiesName", help=did_you_mean(probabilities, outputs))


def _enumerated(feature: Feature) -> tuple[tuple[int, ...], ...]:
    match feature.type:
        case MultiArray(shapes=shapes) | Image(sizes=shapes):
            return shapes
        case _:
            return ()


def _name(element: ElementType | None) -> str:
    return "an unknown type" if element is None else MIL_NAMES[element]


def _found(names: Iterable[str]) -> tuple[str, ...]:
    listed = ", ".join(f"'{name}'" for name in names)
    return (f"found: {listed or 'none'}",)


def _mismatch(message: str, where: str, *, notes: Iterable[str] = (), help: str | None = None) -> Diagnostic:
    return Diagnostic(INTERFACE_MISMATCH, message, where=where, notes=notes, help=help)
