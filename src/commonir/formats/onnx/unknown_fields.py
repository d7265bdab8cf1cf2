"""Fields of ONNX files that operations do not have, preserved as undeclared attributes so that nothing is lost.

What an operation can say is written from it; what was read in another way than it would be written, or has no meaning
for the program, is in the attributes named here. Attributes of the outermost graph and of local functions are kept by
their operations, those of nested graphs by the `onnx.return` that ends them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, TypeVar

from commonir.dialects import onnx
from commonir.formats.onnx.declaring import Listed, Message
from commonir.formats.protobuf.attribute_form import UNKNOWN_FIELDS, field_attribute, merge_into, to_attribute
from commonir.formats.protobuf.wire import unknown_fields
from commonir.ir.attributes import ArrayAttr, Attribute, BytesAttr, DictionaryAttr, StringAttr
from commonir.ir.interface import Metadata
from commonir.ir.operation import Operation
from commonir.ir.types import Type
from commonir.ods import Op
from commonir.ods.fields import MISSING

if TYPE_CHECKING:
    from google.protobuf.message import Message as AnyMessage

FIELDS = "onnx.fields"
"""Fields of the message of an operation, graph or model that have no other place, by name."""
ATTRIBUTE_ORDER = "onnx.attribute_order"
"""Names of the attributes of a node in file order, if it is not the writer's order; it also records which
defaults the file states."""
ATTRIBUTE_FIELDS = "onnx.attribute_fields"
"""Fields of the messages of attributes that have no other place, by the name of the attribute."""
STORAGE = onnx.STORAGE
TYPED, KEPT, UNTYPED, IMPLICIT = onnx.TYPED, "kept", "untyped", "implicit"
"""Words of `STORAGE`. A tensor is held in the field of its type, or only by what is kept of its message; in raw form
when it says nothing. An attribute may also lack its kind, or its value when that is zero or empty."""
PACKED = "onnx.packed"
"""Says of a module that the file packs repeated numbers, as writers of proto3 do, which onnx.proto does not."""
UNNAMED = onnx.UNNAMED_GRAPH
VALUE_INFO = "onnx.value_info"
"""Names of the values inside a graph whose types the file states, in its order; all of them when it is absent."""
TYPE_FORMS = onnx.TYPE_FORMS
INITIALIZER_ORDER = "onnx.initializer_order"
"""Names of initializers in the order of the file, where those of inputs do not come last."""
DEFAULT_FIELDS = "onnx.default_fields"
"""Fields of the messages of initializers that are defaults of inputs, by name; how these are held is in `STORAGE`."""
DECLARED_INPUTS = "onnx.declared_inputs"
"""Names of the inputs of a graph in the order of the file, when some are initializers that cannot be given."""
ANNOTATIONS = onnx.QUANTIZATION_ANNOTATION
OPSETS = onnx.OPSET_FORMS
METADATA_FORMS = "onnx.metadata_forms"
"""Entries of metadata of a model or a part of it, in the form of the file when it is another than the writer's."""
TRAINING = "onnx.training_info"
CONFIGURATION = "onnx.configuration"
"""Configurations of several devices that a model can run on."""
DEVICES = onnx.DEVICE_CONFIGURATIONS
"""How a node is distributed over the devices of configurations."""

M = TypeVar("M", bound=Message)


def form_key(part: str, name: str, repetition: int = 0, read_as: Type | None = None) -> str:
    """Returns the key in `TYPE_FORMS` of what a graph says of a value, for the first time or a repetition.

    `read_as` is the type of a value of which the file states another type: what it says holds while the value has it.
    """
    number = f"#{repetition}" if repetition else ""
    return f"{part}{number} {name}" if read_as is None else f"{part}{number}:{read_as} {name}"


class Repetitions:
    """Counts how often names have come before."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def of(self, name: str) -> int:
        """Returns how often a name has come before, and counts it."""
        count = self._counts.get(name, 0)
        self._counts[name] = count + 1
        return count


def form_of(message: Message) -> DictionaryAttr:
    """A message as an attribute."""
    whole: AnyMessage = message  # pyright: ignore[reportAssignmentType]  the class is made at run time
    return to_attribute(whole)


def array(forms: Iterable[Attribute]) -> ArrayAttr:
    """Several messages as one attribute."""
    return ArrayAttr(tuple(forms))


def metadata_entries(metadata: Metadata) -> list[tuple[str, str]]:
    """Returns the metadata of a model as strings by name, without the description."""
    named = {"author": metadata.author, "license": metadata.license, "version": metadata.version}
    return [*[(k, v) for k, v in named.items() if v], *metadata.user_defined]


def metadata_from(description: str, entries: Iterable[tuple[str, str]]) -> Metadata:
    """Returns the metadata of a model from its documentation and strings by name."""
    texts = {"version": "", "author": "", "license": ""}
    others: list[tuple[str, str]] = []
    for key, value in entries:
        if texts.get(key) == "":
            texts[key] = value
        else:
            others.append((key, value))
    return Metadata(description, **texts, user_defined=tuple(others))


def merge(form: Attribute | None, into: M) -> M:
    """Puts what was kept of a message back into it and returns it; absent stands for nothing.

    Raises: DiagnosticError (WRONG_ATTRIBUTE) when it was tampered with.
    """
    if isinstance(form, DictionaryAttr):
        whole: AnyMessage = into  # pyright: ignore[reportAssignmentType]  the class is made at run time
        merge_into(whole, form)
    return into


def leftover(
    message: Message, values: Collection[int], listed: Listed | None = None, *, keeps_unknown: bool
) -> list[tuple[str, Attribute]]:
    """The fields of a message that have no place, `held` being the numbers of those that have one, and `listed` all
    that are present, where they are present.

    A text or number that is present but empty has none either.
    """
    entries = [
        (f.name, field_attribute(f, v))
        for f, v in (message.ListFields() if listed is None else listed)
        if f.number not in values or (not v and type(v) in (str, int))
    ]
    if keeps_unknown:
        whole: AnyMessage = message  # pyright: ignore[reportAssignmentType]  the class is made at run time
        unknown = unknown_fields(whole)
        if unknown:
            entries.append((UNKNOWN_FIELDS, BytesAttr(unknown)))
    return entries


def has_unknown(message: Message) -> bool:
    """Whether a message has fields that its declaration does not know."""
    whole: AnyMessage = message  # pyright: ignore[reportAssignmentType]  the class is made at run time
    return bool(unknown_fields(whole))


def keep(op: Operation, name: str, entries: Iterable[tuple[str, Attribute]]) -> None:
    """Keeps a dictionary as an attribute, when there is anything in it."""
    preserved = tuple(entries)
    if preserved:
        op.set_extra(name, DictionaryAttr(preserved))


def add(op: Operation, name: str, key: str, value: Attribute) -> None:
    """Adds an entry to a dictionary that is kept."""
    keep(op, name, [*stored(op, name).items(), (key, value)])


def written_attributes(op: Op) -> list[str]:
    """The names of the attributes of a node in the writer's order: those that are not their defaults, then graphs."""
    # Regions are spelled after attributes, and have no values.
    values = zip(op.layout.spelled, op.attribute_values, op.layout.unset, strict=False)
    names = [name for name, v, unset in values if v is not None and v is not MISSING and v != unset]
    if op.layout.regions:
        names += [f.spelling for f in op.layout.regions if op.field_value(f) is not None]
    return names


def stored(op: Operation, name: str) -> dict[str, Attribute]:
    """The entries of a dictionary that was kept."""
    result = op.extra.get(name)
    return dict(result.entries) if isinstance(result, DictionaryAttr) else {}


def keep_names(op: Operation, name: str, names: Iterable[str]) -> None:
    """Keeps a list of names, be it empty."""
    op.set_extra(name, ArrayAttr(tuple(map(StringAttr, names))))


def kept_names(op: Operation, name: str) -> list[str] | None:
    """A list of names that was kept; None when there is none."""
    result = op.extra.get(name)
    if not isinstance(result, ArrayAttr):
        return None
    return [v.value for v in result.values if isinstance(v, StringAttr)]
