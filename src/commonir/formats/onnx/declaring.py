"""Protobuf messages declared as classes whose fields carry their numbers, and the message classes made from them.

The classes are what type checkers see. The classes of the messages themselves are made from these declarations by the
protobuf runtime, in a descriptor pool of their own: no generated code is needed, any version of the runtime will do,
and other packages that have the same messages may live in the same process.

It knows no format.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, SupportsIndex, TypeVar, overload

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

if TYPE_CHECKING:
    from google.protobuf.descriptor import FieldDescriptor

T = TypeVar("T")
Listed = list[tuple["FieldDescriptor", Any]]
"""The fields of a message that are present, with what they hold."""

_FieldProto = descriptor_pb2.FieldDescriptorProto


class Declared:
    """The number and type of one field; `name` is set when its class is complete."""

    __slots__ = ("name", "number", "oneof", "packed", "repeated", "type")

    def __init__(self, number: int, type: str, *, repeated: bool, packed: bool, oneof: str) -> None:
        self.number = number
        self.type = type
        self.repeated = repeated
        self.packed = packed
        self.oneof = oneof
        self.name = ""

    def __set_name__(self, owner: object, name: str) -> None:
        self.name = name


def one(number: int, type: str, oneof: str = "") -> Any:
    """A field that occurs at most once. `type` is a scalar type of protobuf or the name of a message."""
    return Declared(number, type, repeated=False, packed=False, oneof=oneof)


def many(number: int, type: str, *, packed: bool = False) -> Any:
    """A field that occurs any number of times."""
    return Declared(number, type, repeated=True, packed=packed, oneof="")


class Repeated(Generic[T]):
    """The interface of a repeated field."""

    def __len__(self) -> int:
        raise NotImplementedError

    def __iter__(self) -> Iterator[T]:
        raise NotImplementedError

    @overload
    def __getitem__(self, index: SupportsIndex) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: SupportsIndex | slice) -> T | list[T]:
        raise NotImplementedError

    def append(self, value: T) -> None:
        """Adds a copy of a value at the end."""
        raise NotImplementedError

    def extend(self, values: Any) -> None:
        """Adds copies of several values at the end."""
        raise NotImplementedError

    def add(self) -> T:
        """Adds an empty message at the end and returns it."""
        raise NotImplementedError


class Message:
    """The interface of every message; one that extends another has its fields, except those named by `without`."""

    _without: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls, *, without: str = "") -> None:
        cls._without = frozenset(without.split())

    def SerializeToString(self) -> bytes:  # noqa: N802
        """Its bytes."""
        raise NotImplementedError

    def ParseFromString(self, serialized: bytes | memoryview) -> int:  # noqa: N802
        """Fills it from bytes. Raises: google.protobuf.message.DecodeError."""
        raise NotImplementedError

    def DiscardUnknownFields(self) -> None:  # noqa: N802
        """Removes the fields that are not declared, here and in everything inside."""
        raise NotImplementedError

    def ByteSize(self) -> int:  # noqa: N802
        """Number of its bytes."""
        raise NotImplementedError

    def HasField(self, name: str) -> bool:  # noqa: N802
        """Whether a field that occurs at most once is present."""
        raise NotImplementedError

    def WhichOneof(self, name: str) -> str | None:  # noqa: N802
        """Which of the fields of a oneof is present."""
        raise NotImplementedError

    def SetInParent(self) -> None:  # noqa: N802
        """Makes an empty message present."""
        raise NotImplementedError

    def ListFields(self) -> Listed:  # noqa: N802
        """The fields that are present, with what they hold, in order of their numbers."""
        raise NotImplementedError

    def ClearField(self, name: str) -> None:  # noqa: N802
        """Removes a field."""
        raise NotImplementedError

    def CopyFrom(self, other: Self) -> None:  # noqa: N802
        """Makes it a copy of another message."""
        raise NotImplementedError


@cache
def declared_fields(declared: type[Message]) -> Mapping[str, Declared]:
    """The fields of a message by name, in order of declaration, those of what it extends first."""
    result: dict[str, Declared] = {}
    for base in reversed(declared.__mro__):
        omitted: Collection[str] = vars(base).get("_without", ())
        result = {name: f for name, f in result.items() if name not in omitted}
        result |= {name: f for name, f in vars(base).items() if isinstance(f, Declared)}
    return MappingProxyType(result)


def declared_in(namespace: Mapping[str, object]) -> tuple[type[Message], ...]:
    """Every message declared in a module, in order."""
    result = [m for m in namespace.values() if isinstance(m, type) and issubclass(m, Message) and m is not Message]
    return tuple(result)


def message_classes(declared: Iterable[type[Message]], package: str, *, packs: bool = False) -> Mapping[str, Any]:
    """The classes of messages by the names of their declarations, which refer to each other only. All repeated numbers
    are packed if it `packs`, as in proto3.

    Texts that are not UTF-8 keep a message from being parsed, which proto2 would not.
    """
    all_declared = tuple(declared)
    file = descriptor_pb2.FileDescriptorProto(
        name=f"commonir/{package}.proto", package=package, syntax="editions", edition=descriptor_pb2.EDITION_2023
    )
    file.options.features.repeated_field_encoding = (
        descriptor_pb2.FeatureSet.PACKED if packs else descriptor_pb2.FeatureSet.EXPANDED
    )
    for message in all_declared:
        _declare(message, file.message_type.add(name=message.__name__), package)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        d.__name__: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.{d.__name__}"))
        for d in all_declared
    }


def _declare(declared: type[Message], descriptor: descriptor_pb2.DescriptorProto, package: str) -> None:
    for f in declared_fields(declared).values():
        label = _FieldProto.LABEL_REPEATED if f.repeated else _FieldProto.LABEL_OPTIONAL
        field = descriptor.field.add(name=f.name, number=f.number, label=label)
        if f.type.islower():
            field.type = _FieldProto.Type.Value(f"TYPE_{f.type.upper()}")
        else:
            field.type = _FieldProto.TYPE_MESSAGE
            field.type_name = f".{package}.{f.type}"
        if f.packed:
            field.options.features.repeated_field_encoding = descriptor_pb2.FeatureSet.PACKED
        if f.oneof:
            names = [o.name for o in descriptor.oneof_decl]
            if f.oneof not in names:
                descriptor.oneof_decl.add(name=f.oneof)
                names.append(f.oneof)
            field.oneof_index = names.index(f.oneof)
