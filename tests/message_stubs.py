"""Writes the types of the messages of Core ML for type checkers: `python -m tests.message_stubs`.

Messages are declared in `formats/coreml/messages.py`, and their classes are made at run time; the stub beside it says
which fields they have.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from commonir.formats.coreml.messages import message_class

STUB = Path(__file__).parent.parent / "src" / "commonir" / "formats" / "coreml" / "messages.pyi"

_HEAD = '''\
# Written by `python -m tests.message_stubs` from the declarations in messages.py.

from collections.abc import Iterable, Sequence
from typing import Any, Literal, Protocol, Self, TypeVar

from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message

T = TypeVar("T")
PACKAGE: str
MIL: str

def message_class(name: str) -> type[Message]: ...

class Repeated(Sequence[T]):
    def append(self, value: T) -> None: ...
    def extend(self, values: Iterable[T]) -> None: ...
    def add(self, **fields: Any) -> T: ...

class AnyMessage(Protocol):
    DESCRIPTOR: Descriptor
    def HasField(self, field_name: str) -> bool: ...
    def ClearField(self, field_name: str) -> None: ...
    def SerializeToString(self) -> bytes: ...
    def MergeFromString(self, serialized: bytes) -> int: ...
    def SetInParent(self) -> None: ...
    def CopyFrom(self, other: Self) -> None: ...

class NumbersMessage(AnyMessage, Protocol):
    """RepeatedFloats, RepeatedInts and the like."""

    @property
    def values(self) -> Repeated[int | float | bool]: ...
'''

_SCALARS = {
    FieldDescriptor.CPPTYPE_BOOL: "bool",
    FieldDescriptor.CPPTYPE_DOUBLE: "float",
    FieldDescriptor.CPPTYPE_FLOAT: "float",
    FieldDescriptor.CPPTYPE_INT32: "int",
    FieldDescriptor.CPPTYPE_INT64: "int",
    FieldDescriptor.CPPTYPE_UINT64: "int",
}


def _type_of(field: FieldDescriptor) -> str:
    """Returns the type of one value of a field."""
    if field.message_type is not None:
        return f"{field.message_type.name}Message"
    return "bytes" if field.type == field.TYPE_BYTES else _SCALARS.get(field.cpp_type, "str")


def _lines_of(message: Descriptor) -> Iterator[str]:
    """Yields the class of a message."""
    yield f"class {message.name}Message(AnyMessage, Protocol):"
    for field in message.fields:
        if field.is_repeated or field.message_type is not None:
            type = f"Repeated[{_type_of(field)}]" if field.is_repeated else _type_of(field)
            yield from ("    @property", f"    def {field.name}(self) -> {type}: ...")
        else:
            yield f"    {field.name}: {_type_of(field)}"
    if message.oneofs:
        yield f"    def WhichOneof(self, oneof_group: str) -> {message.name}Field | None: ..."
    elif not message.fields:
        yield "    pass"
    yield ""
    if message.oneofs:
        names = [f'"{field.name}"' for group in message.oneofs for field in group.fields]
        yield from (f"{message.name}Field = Literal[{', '.join(names)}]", "")


def stub() -> str:
    """Returns the text of the stub."""
    messages: list[Descriptor] = []
    for name in ("MILSpec.Program", "Model"):
        messages += message_class(name).DESCRIPTOR.file.message_types_by_name.values()  # pyright: ignore[reportOperatorIssue]  either implementation will do
    return "\n".join([_HEAD, *[line for message in messages for line in _lines_of(message)]])


if __name__ == "__main__":
    STUB.write_text(stub())
