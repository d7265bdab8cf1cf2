"""Protobuf on the wire: where the fields of a message lie, and why a message cannot be read.

Fields are located without copying or decoding them, so a model of another kind that has gigabytes of weights inside its
message costs nothing to look at. The protobuf runtime only says that a message is wrong; `explain` says where and how.

Limits: `Limits.max_message_bytes` and `Limits.max_nesting_depth`, both also limits of protobuf itself.
Source: Protocol Buffers documentation, encoding.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from commonir.base.diagnostics import Code, Diagnostic, DiagnosticError
from commonir.base.file_codes import DAMAGED_MESSAGE, LIMIT_EXCEEDED, NESTING_TOO_DEEP, TRUNCATED_FILE
from commonir.base.limits import Limits
from commonir.base.tuples import NamedTuple
from commonir.base.varints import varint

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor, FieldDescriptor
    from google.protobuf.message import Message

VARINT, FIXED64, BYTES, GROUP_START, GROUP_END, FIXED32 = range(6)

_FIXED_BYTES = {FIXED64: 8, FIXED32: 4}
_MAX_VARINT_BYTES = 10
_MAX_GROUP_DEPTH = 100
_MAX_FIELD_NUMBER = 2**29 - 1


class WireField(NamedTuple):
    """One field of a message. Units: bytes from the start of the buffer; `start` is where the tag lies."""

    number: int
    wire_type: int
    start: int
    content: int
    end: int


class WireError(Exception):
    """The bytes are not a protobuf message; `offset` is where that shows."""

    def __init__(self, code: Code, reason: str, offset: int) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason
        self.offset = offset


def fields(buffer: memoryview, start: int = 0, end: int | None = None) -> Iterator[WireField]:
    """The fields of the message in `buffer[start:end]`, in order.

    Raises: WireError.
    """
    at = start
    stop = len(buffer) if end is None else end
    while at < stop:
        tag, content = _varint(buffer, at, stop)
        number, wire_type = tag >> 3, tag & 7
        if not 0 < number <= _MAX_FIELD_NUMBER:
            raise WireError(DAMAGED_MESSAGE, f"{number} is not a field number", at)
        if wire_type == VARINT:
            _, following = _varint(buffer, content, stop)
        elif wire_type == BYTES:
            length, content = _varint(buffer, content, stop)
            following = content + length
        elif wire_type in _FIXED_BYTES:
            following = content + _FIXED_BYTES[wire_type]
        elif wire_type == GROUP_START:
            following = _group_end(buffer, at, stop)
        else:
            raise WireError(DAMAGED_MESSAGE, f"{wire_type} is not a wire type of this format", at)
        if following > stop:
            missing = following - stop
            raise WireError(TRUNCATED_FILE, f"field {number} ends {missing} bytes after the message around it", at)
        yield WireField(number, wire_type, at, content, following)
        at = following


def _group_end(buffer: memoryview, start: int, stop: int) -> int:
    """The end of the group that starts at a tag. No format here uses groups; as unknown fields they are valid."""
    open_groups: list[int] = []
    at = start
    while at < stop:
        tag, content = _varint(buffer, at, stop)
        number, wire_type = tag >> 3, tag & 7
        if wire_type == GROUP_START:
            open_groups.append(number)
            if len(open_groups) > _MAX_GROUP_DEPTH:
                raise WireError(NESTING_TOO_DEEP, "groups are nested too deeply", at)
        elif wire_type == GROUP_END:
            if open_groups.pop() != number:
                raise WireError(DAMAGED_MESSAGE, f"group {number} ends where another should", at)
        elif wire_type == VARINT:
            _, content = _varint(buffer, content, stop)
        elif wire_type == BYTES:
            length, content = _varint(buffer, content, stop)
            content += length
        elif wire_type in _FIXED_BYTES:
            content += _FIXED_BYTES[wire_type]
        else:
            raise WireError(DAMAGED_MESSAGE, f"{wire_type} is not a wire type of this format", at)
        at = content
        if not open_groups:
            return at
    raise WireError(TRUNCATED_FILE, "a group has no end", start)


def _varint(buffer: memoryview, at: int, stop: int) -> tuple[int, int]:
    value = 0
    for n in range(_MAX_VARINT_BYTES):
        if at + n >= stop:
            raise WireError(TRUNCATED_FILE, "the bytes end within a number", at)
        byte = buffer[at + n]
        value |= (byte & 0x7F) << (7 * n)
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, at + n + 1
    raise WireError(DAMAGED_MESSAGE, "a number has more than ten bytes", at)


def length_delimited(number: int, content: bytes) -> bytes:
    """A field of bytes, text or a message."""
    return varint(number << 3 | BYTES) + varint(len(content)) + content


def parse(kind: type[Message], buffer: memoryview, limits: Limits, *, file: str, where: str) -> Message:
    """Reads a message.

    Raises: DAMAGED_MESSAGE, TRUNCATED_FILE, LIMIT_EXCEEDED, NESTING_TOO_DEEP.
    """
    # Heavy, and only loaded where a message is read anyway.
    from google.protobuf.message import DecodeError  # noqa: PLC0415

    if len(buffer) > limits.max_message_bytes:
        message = f"a message of {len(buffer):,} bytes exceeds the limit of {limits.max_message_bytes:,}"
        raise DiagnosticError(Diagnostic(LIMIT_EXCEEDED, message, where=where, file=file))
    if limits.max_nesting_depth < Limits().max_nesting_depth:
        _check(kind, buffer, limits, file=file, where=where)
    result = kind()
    try:
        # Takes any buffer; the stub only knows of bytes.
        result.ParseFromString(buffer)  # pyright: ignore[reportArgumentType]
    except DecodeError:
        _check(kind, buffer, limits, file=file, where=where)
        message = "the content is not a valid protobuf message"
        raise DiagnosticError(Diagnostic(DAMAGED_MESSAGE, message, where=where, file=file)) from None
    return result


def _check(kind: type[Message], buffer: memoryview, limits: Limits, *, file: str, where: str) -> None:
    """Raises what is wrong with a message at the first place where something is, and returns if nothing is found."""
    result = explain(kind, buffer, limits)
    if result is not None:
        raise DiagnosticError(result.located(file=file, where=where))


def explain(kind: type[Message], buffer: memoryview, limits: Limits) -> Diagnostic | None:
    """Returns the first error that keeps bytes from being a message, with its offset; None when there is none."""
    outermost: Descriptor = kind.DESCRIPTOR  # pyright: ignore[reportAssignmentType]  either implementation will do
    pending: list[tuple[Descriptor, int, int, str, int]] = [(outermost, 0, len(buffer), "", 1)]
    while pending:
        message, start, end, path, depth = pending.pop()
        if depth > limits.max_nesting_depth:
            text = f"messages are nested deeper than {limits.max_nesting_depth} levels"
            return Diagnostic(NESTING_TOO_DEEP, text, where=path)
        counts: dict[int, int] = {}
        children: list[tuple[Descriptor, int, int, str, int]] = []
        try:
            for part in fields(buffer, start, end):
                field = message.fields_by_number.get(part.number)
                if field is None or part.wire_type != BYTES:
                    continue
                place = _place(path, field, counts)
                if field.message_type is not None:
                    children.append((field.message_type, part.content, part.end, place, depth + 1))
                elif field.type == field.TYPE_STRING:
                    _check_text(buffer, part, place)
        except WireError as error:
            return Diagnostic(error.code, error.reason, where=path, notes=(f"at byte {error.offset}",))
        except DiagnosticError as error:
            return error.diagnostics[0]
        pending.extend(reversed(children))
    return None


def _place(path: str, field: FieldDescriptor, counts: dict[int, int]) -> str:
    name = field.name
    if field.is_repeated:
        counts[field.number] = counts.get(field.number, -1) + 1
        name = f"{name}[{counts[field.number]}]"
    return f"{path}.{name}" if path else name


def _check_text(buffer: memoryview, field: WireField, place: str) -> None:
    try:
        str(buffer[field.content : field.end], "utf-8")
    except UnicodeDecodeError as error:
        notes = (f"at byte {field.content + error.start}",)
        raise DiagnosticError(Diagnostic(DAMAGED_MESSAGE, "text is not UTF-8", where=place, notes=notes)) from None


def unknown_fields(message: Message, without: Collection[str] = ()) -> bytes:
    """The bytes of the fields of a message itself that its declaration does not know, or that `without` names."""
    kind: Descriptor = message.DESCRIPTOR  # pyright: ignore[reportAssignmentType]  either implementation will do
    known = {n: _wire_types(f) for n, f in kind.fields_by_number.items() if f.name not in without}
    content = message.SerializeToString()
    return b"".join(
        # A number of a known field with another wire type is an unknown field.
        [content[f.start : f.end] for f in fields(memoryview(content)) if f.wire_type not in known.get(f.number, ())]
    )


def had_unknown_fields(message: Message) -> bool:
    """Whether a message has fields that its declaration does not know; if it had, it has lost them."""
    before = message.ByteSize()
    message.DiscardUnknownFields()
    return message.ByteSize() != before


def _wire_types(field: FieldDescriptor) -> tuple[int, ...]:
    """How a field may lie on the wire: one that is repeated also with its elements packed."""
    if field.type in (field.TYPE_MESSAGE, field.TYPE_STRING, field.TYPE_BYTES):
        return (BYTES,)
    single = FIXED64 if field.type == field.TYPE_DOUBLE else FIXED32 if field.type == field.TYPE_FLOAT else VARINT
    return (single, BYTES) if field.is_repeated else (single,)
