"""The `Model` message without its program: between bytes and the attributes of a module.

What the author says about a model is an attribute that belongs to no format; all the rest is kept in the form of the
message (`attribute_form.py`). Together they are the message again, without loss.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonir.base.limits import Limits
from commonir.base.tuples import NamedTuple
from commonir.dialects.mil.description import MODEL_ATTRIBUTE, description_attribute
from commonir.formats.coreml.derived import derived_description
from commonir.formats.coreml.messages import message_class
from commonir.formats.protobuf.attribute_form import to_attribute, to_message
from commonir.formats.protobuf.wire import parse
from commonir.ir.attributes import DictionaryAttr
from commonir.ir.interface import Metadata, metadata_of
from commonir.ir.module import Module

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from commonir.formats.coreml.messages import MetadataMessage, ModelMessage


class ModelForm(NamedTuple):
    """A `Model` message without its program: its form in a module, and its metadata."""

    attribute: DictionaryAttr
    metadata: Metadata


def decode_model(content: bytes, limits: Limits, file: str = "") -> ModelForm:
    """Reads a `Model` message without its program.

    Raises: DAMAGED_MESSAGE, TRUNCATED_FILE, NESTING_TOO_DEEP.
    """
    message = parse(message_class("Model"), memoryview(content), limits, file=file, where="")
    model: ModelMessage = message  # pyright: ignore[reportAssignmentType]  made at run time
    if not model.description.HasField("metadata"):
        return ModelForm(to_attribute(message), Metadata())
    stored = model.description.metadata
    metadata = Metadata(
        stored.shortDescription,
        stored.versionString,
        stored.author,
        stored.license,
        tuple([(entry.key, entry.value) for entry in stored.userDefined]),
    )
    for name in ("shortDescription", "versionString", "author", "license", "userDefined"):
        stored.ClearField(name)
    return ModelForm(to_attribute(message), metadata)


def encode_model(module: Module) -> Message:
    """The `Model` message of a module, without its program; of a module without a description, one that fits it.

    Raises: WRONG_ATTRIBUTE when the attribute that keeps it was tampered with; NOT_IN_FORMAT.
    """
    stored = module.extra.get(MODEL_ATTRIBUTE)
    if not isinstance(stored, DictionaryAttr):
        stored = description_attribute(derived_description(module))
    message = to_message(message_class("Model"), stored)
    metadata = metadata_of(module)
    if metadata != Metadata():
        model: ModelMessage = message  # pyright: ignore[reportAssignmentType]  made at run time
        _fill_metadata(model.description.metadata, metadata)
    return message


def _fill_metadata(into: MetadataMessage, metadata: Metadata) -> None:
    into.shortDescription = metadata.description
    into.versionString = metadata.version
    into.author = metadata.author
    into.license = metadata.license
    for key, value in metadata.user_defined:
        into.userDefined.add(key=key, value=value)
