"""Facts of a compiled model beside its program: the description of its inputs and outputs, and metadata.

It stands in `coremldata.bin`, as the message that a package has; where that cannot be read, `metadata.json` and the
attribute `FlexibleShapeInformation` of functions contain most of it.

Limits: `Limits.max_text_bytes` for each file.
Source: the attribute as Apple's compiler writes it for ranges and enumerated shapes.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeGuard

from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.base.file_codes import MALFORMED_BUNDLE, NO_DESCRIPTION, NO_PROGRAM
from commonir.base.limits import Limits
from commonir.base.tuples import NamedTuple
from commonir.base.varints import varint
from commonir.dialects.mil.description import (
    COLOR_SPACES,
    Description,
    Feature,
    FeatureType,
    Image,
    Interface,
    MultiArray,
    description_attribute,
)
from commonir.dialects.mil.program import FLEXIBLE_SHAPES, PROGRAM_ATTRIBUTES, Compound, Func, attribute_value
from commonir.formats.coreml.derived import derived_description
from commonir.formats.coreml.envelope import PIPELINES
from commonir.formats.protobuf.wire import BYTES, WireError, fields, length_delimited
from commonir.ir.attributes import DictionaryAttr, is_sequence
from commonir.ir.data import Data
from commonir.ir.interface import DimRange, Metadata
from commonir.ir.module import Module

MODEL_DATA = "coremldata.bin"
SCHEMA = "metadata.json"

# The number of `mlProgram` in `Model.Type`, with which the data of a program begin and end.
_PROGRAM = 502
_HEAD = struct.Struct("<II20xQ")
"""Number of the type, specification version (of programs), zeros, length of the name of a target."""
_LENGTH = struct.Struct("<Q")
_NUMBER = struct.Struct("<I")
# Between the name and the length of the description there are 32 bytes in every file seen.
_FARTHEST = 256
# A pipeline names the targets of all its models.
_LONGEST_TARGET = 4096
_TRAILER_BYTES = 16
# Fields of `ModelDescription`, all of which are messages or strings.
_DESCRIPTION_FIELDS = frozenset({1, 10, 11, 12, 13, 20, 21, 50, 100})
_SPECIFICATION_VERSION, _DESCRIPTION = 1, 2
_PIPELINE_NAMES = 2


class ModelFacts(NamedTuple):
    """Facts of a model beside its program, in the forms in which a module stores them."""

    attribute: DictionaryAttr
    metadata: Metadata
    default_function: str


def read_facts(folder: Path, module: Module, diagnostics: Diagnostics, limits: Limits) -> ModelFacts | None:
    """Reads the files of a compiled model beside its program. Warnings go to `found`.

    Raises: NO_PROGRAM when the model is of another type.
    """
    place = folder / MODEL_DATA
    try:
        content = _content(place, limits)
    except OSError:
        return _from_schema(folder, module, diagnostics, limits, f"'{MODEL_DATA}' cannot be read")
    message = model_message(content, os.fspath(place))
    if message is None:
        return _from_schema(folder, module, diagnostics, limits, f"'{MODEL_DATA}' is not laid out as expected")
    # Loads protobuf, which `import commonir` must not.
    from commonir.dialects.mil.description import read_description  # noqa: PLC0415
    from commonir.formats.coreml.model import decode_model  # noqa: PLC0415

    form = decode_model(message, limits, os.fspath(place))
    return ModelFacts(form.attribute, form.metadata, read_description(form.attribute).default_function)


def _content(place: Path, limits: Limits) -> bytes:
    if place.is_symlink() or not place.is_file() or place.stat().st_size > limits.max_text_bytes:
        raise OSError(f"{place} is not a file of the expected size")
    return place.read_bytes()


# -- coremldata.bin


class _Data(NamedTuple):
    """The data of a compiled model: its type by number, its specification version, and its description."""

    kind: int
    version: int
    description: bytes


def model_message(content: bytes, file: str) -> bytes | None:
    """The `Model` message, without a program, that the data of a compiled model hold; None when there is none.

    Raises: NO_PROGRAM when the model is of another type.
    """
    kind = _NUMBER.unpack_from(content)[0] if len(content) >= _NUMBER.size else 0
    if kind != _PROGRAM and _type_name(kind):
        message = f"the compiled model holds no ML Program: it is of type '{_type_name(kind)}'"
        raise DiagnosticError(Diagnostic(NO_PROGRAM, message, file=file))
    data = _data(content)
    if data is None:
        return None
    described = length_delimited(_DESCRIPTION, data.description)
    return _version_field(data.version) + described


def pipeline_message(bundle: Path, limits: Limits) -> bytes | None:
    """Returns the `Model` message of a compiled pipeline, without its models; None if its files do not have it."""
    try:
        data = _data(_content(bundle / MODEL_DATA, limits))
    except OSError:
        return None
    if data is None or _type_name(data.kind) not in PIPELINES:
        return None
    pipeline = b"".join([length_delimited(_PIPELINE_NAMES, name) for name in _stage_names(bundle, limits)])
    if _type_name(data.kind) != "pipeline":
        # Classifiers and regressors hold their pipeline.
        pipeline = length_delimited(1, pipeline)
    described = length_delimited(_DESCRIPTION, data.description)
    version = _version_field(data.version)
    return version + described + length_delimited(data.kind, pipeline)


def _stage_names(bundle: Path, limits: Limits) -> list[bytes]:
    """The names of the models of a pipeline; none when they are those that the compiler makes."""
    try:
        content = _content(bundle / "modelNames" / MODEL_DATA, limits)
        (count,) = _LENGTH.unpack_from(content)
        names: list[bytes] = []
        at = _LENGTH.size
        for _ in range(min(count, len(content))):
            (length,) = _LENGTH.unpack_from(content, at)
            names.append(content[at + _LENGTH.size : at + _LENGTH.size + length])
            at += _LENGTH.size + length
        for name in names:
            name.decode("utf-8")
    except (OSError, struct.error, UnicodeDecodeError):
        return []
    return [] if names == [f"model{n}".encode() for n in range(len(names))] else names


def _data(content: bytes) -> _Data | None:
    """The parts of `coremldata.bin`; None when it is not laid out as expected."""
    if len(content) < _HEAD.size:
        return None
    kind, declared, target_bytes = _HEAD.unpack_from(content)
    begin = _HEAD.size + target_bytes
    if target_bytes > _LONGEST_TARGET or begin + _NUMBER.size > len(content):
        return None
    (version,) = _NUMBER.unpack_from(content, begin)
    for at in range(begin, min(begin + _FARTHEST, len(content) - _LENGTH.size)):
        (length,) = _LENGTH.unpack_from(content, at)
        start = at + _LENGTH.size
        if length and start + length <= len(content) and _is_description(content, start, start + length, kind):
            return _Data(kind, version or declared, content[start : start + length])
    return None


def _is_description(content: bytes, start: int, end: int, kind: int) -> bool:
    """Whether bytes are a description: all of its fields are known, and the trailer follows."""
    rest = len(content) - end
    # Of a program the trailer begins with the number of the type, of a pipeline with that of its models.
    if rest % _TRAILER_BYTES or (rest and kind == _PROGRAM and _NUMBER.unpack_from(content, end)[0] != kind):
        return False
    try:
        result = list(fields(memoryview(content), start, end))
    except WireError:
        return False
    return bool(result) and all(f.wire_type == BYTES and f.number in _DESCRIPTION_FIELDS for f in result)


def _version_field(version: int) -> bytes:
    return varint(_SPECIFICATION_VERSION << 3) + varint(version)


def _types() -> Mapping[int, str]:
    # Loads protobuf, which `import commonir` must not.
    from commonir.formats.coreml.messages import message_class  # noqa: PLC0415

    return {f.number: f.name for f in message_class("Model").DESCRIPTOR.oneofs_by_name["Type"].fields}


def _type_name(number: int) -> str:
    """The name of a type of model, "" for a number of none."""
    return _types().get(number, "")


# -- metadata.json


def _from_schema(
    folder: Path, module: Module, diagnostics: Diagnostics, limits: Limits, reason: str
) -> ModelFacts | None:
    """The description made of the program and of `metadata.json`."""
    help = "copy the folder of the model as a whole"
    diagnostics.add(
        NO_DESCRIPTION, f"the description of the model is incomplete: {reason}", file=os.fspath(folder), help=help
    )
    description = flexible_description(module)
    if description is None:
        return None
    try:
        content: object = json.loads(_content(folder / SCHEMA, limits))
    except OSError:
        return ModelFacts(description_attribute(description), Metadata(), description.default_function)
    except (ValueError, RecursionError) as error:
        message = f"'{SCHEMA}' is not JSON: {error}"
        raise DiagnosticError(Diagnostic(MALFORMED_BUNDLE, message, file=os.fspath(folder / SCHEMA))) from None
    schema = _Schema(content[0] if is_sequence(content) and content else content)
    described = _described(description, schema)
    metadata = Metadata(
        schema.text("shortDescription"),
        schema.text("version"),
        schema.text("author"),
        schema.text("license"),
        tuple(schema.object("userDefinedMetadata").texts()),
    )
    return ModelFacts(description_attribute(described), metadata, described.default_function)


class _Schema:
    """One object of `metadata.json`."""

    __slots__ = ("_held",)

    def __init__(self, content: object) -> None:
        self._held: Mapping[object, object] = content if _is_mapping(content) else {}

    def text(self, key: str) -> str:
        result = self._held.get(key)
        return result if isinstance(result, str) else ""

    def number(self, key: str) -> int:
        """A number, which may be written as a string."""
        result = self._held.get(key)
        if isinstance(result, int):
            return int(result)
        return (
            int(result)
            if isinstance(result, str) and result.isascii() and result.isdecimal() and len(result) < 10
            else 0
        )

    def object(self, key: str) -> _Schema:
        return _Schema(self._held.get(key))

    def objects(self, key: str) -> list[_Schema]:
        result = self._held.get(key)
        return [_Schema(item) for item in result] if is_sequence(result) else []

    def texts(self) -> Iterator[tuple[str, str]]:
        """All entries that are strings."""
        for key, value in self._held.items():
            if isinstance(key, str) and isinstance(value, str):
                yield key, value

    def rows(self, key: str) -> tuple[tuple[int, ...], ...]:
        """Rows of numbers in a string such as `[[0, 4], [2, 2]]`."""
        result = _loaded(self.text(key))
        return tuple(map(_integers, result)) if is_sequence(result) else ()


def _is_mapping(value: object) -> TypeGuard[Mapping[object, object]]:
    return isinstance(value, dict)


def _integers(row: object) -> tuple[int, ...]:
    return tuple([n for n in row if isinstance(n, int)]) if is_sequence(row) else ()


def _described(description: Description, schema: _Schema) -> Description:
    """A description with what `metadata.json` adds."""
    listed = {s.text("name"): s for s in schema.objects("functions")}
    interfaces = tuple([_with_schema(i, listed.get(i.name, schema)) for i in description.interfaces])
    version = schema.number("specificationVersion") or description.specification_version
    default = schema.text("defaultFunctionName")
    known = {i.name for i in interfaces}
    return description._replace(
        specification_version=version,
        interfaces=interfaces,
        default_function=default if description.has_functions and default in known else description.default_function,
    )


def _with_schema(interface: Interface, schema: _Schema) -> Interface:
    def features(items: tuple[Feature, ...], key: str) -> tuple[Feature, ...]:
        declared = {s.text("name"): s for s in schema.objects(key)}
        return tuple([_feature(f, declared[f.name]) if f.name in declared else f for f in items])

    return interface._replace(
        inputs=features(interface.inputs, "inputSchema"),
        outputs=features(interface.outputs, "outputSchema"),
        states=features(interface.states, "stateSchema"),
    )


def _feature(feature: Feature, schema: _Schema) -> Feature:
    return feature._replace(
        type=_feature_type(feature.type, schema),
        is_optional=schema.text("isOptional") == "1",
        summary=schema.text("shortDescription"),
    )


def _feature_type(type: FeatureType, schema: _Schema) -> FeatureType:
    color = schema.text("colorspace").upper()
    if schema.text("type") == "Image" and isinstance(type, MultiArray):
        known = color if color in COLOR_SPACES.values() else ""
        return Image(schema.number("width"), schema.number("height"), known)
    if not isinstance(type, MultiArray):
        return type
    ranges = tuple([DimRange(*r) for r in schema.rows("shapeRange") if len(r) == 2])
    shapes = schema.rows("enumeratedShapes")
    shape = _integers(_loaded(schema.text("shape")))
    if ranges:
        return type._replace(shape=shape or type.shape, ranges=ranges, shapes=())
    return type._replace(shape=shape or type.shape, shapes=shapes, ranges=()) if shapes else type


def _loaded(text: str) -> object:
    try:
        return json.loads(text or "[]")
    except (ValueError, RecursionError):
        return []


# -- FlexibleShapeInformation


def flexible_description(module: Module) -> Description | None:
    """A description from the types of functions and what they say of flexible shapes; None when there can be none."""
    try:
        description = derived_description(module)
    except DiagnosticError:
        return None
    functions = {op.sym_name: op for op in module.body.operations if isinstance(op, Func)}
    interfaces = [
        i._replace(inputs=tuple([_flexible(f, _flexible_shapes(functions[i.name])) for f in i.inputs]))
        for i in description.interfaces
    ]
    return description._replace(interfaces=tuple(interfaces))


def has_flexible_shapes(module: Module) -> bool:
    """Whether a function says something of flexible shapes."""
    return any(_flexible_shapes(op) for op in module.body.operations if isinstance(op, Func))


def _flexible(feature: Feature, declared: Mapping[str, object]) -> Feature:
    type = feature.type
    if not isinstance(type, MultiArray):
        return feature
    default = _tensor(_mapping(declared.get("DefaultShapes")).get(feature.name)) or type.shape
    bounds = _mapping(declared.get("RangeDims")).get(feature.name)
    listed = _mapping(declared.get("EnumeratedShapes")).values()
    shapes = [s for s in [_tensor(_mapping(one).get(feature.name)) for one in listed] if s]
    if isinstance(bounds, Compound):
        pairs = [_tensor(row) for row in bounds.values]
        ranges = tuple([DimRange(p[0], None if p[1] < 0 else p[1]) for p in pairs if len(p) == 2])
        return feature._replace(type=type._replace(shape=default, ranges=ranges))
    if shapes:
        # The default shape stands first, and none twice.
        distinct = tuple(dict.fromkeys([default, *shapes]))
        return feature._replace(type=type._replace(shape=default, shapes=distinct, ranges=()))
    return feature


def _flexible_shapes(function: Func) -> Mapping[str, object]:
    """The parts of the attribute of a function by name: default shapes, ranges, enumerated shapes."""
    stored = function.extra.get(PROGRAM_ATTRIBUTES)
    attribute = dict(stored.entries).get(FLEXIBLE_SHAPES) if isinstance(stored, DictionaryAttr) else None
    try:
        value = None if attribute is None else attribute_value(attribute)
    except ValueError:
        return {}
    out: dict[str, object] = {}
    for part in value.values if isinstance(value, Compound) else ():
        if isinstance(part, Compound) and len(part.values) == 2:
            name = part.values[0]
            if isinstance(name, Data) and name.shape == ():
                out[str(name.values()[0])] = part.values[1]
    return out


def _mapping(value: object) -> Mapping[str, object]:
    """The entries of a constant dictionary whose keys are strings."""
    if not isinstance(value, Compound):
        return {}
    keys, content = value.values[::2], value.values[1::2]
    return {str(k.values()[0]): v for k, v in zip(keys, content, strict=False) if isinstance(k, Data) and k.shape == ()}


def _tensor(value: object) -> tuple[int, ...]:
    """The numbers of a constant vector."""
    if not isinstance(value, Data) or len(value.shape) != 1 or not value.element.is_integer:
        return ()
    return tuple([int(v) for v in value.values()])
