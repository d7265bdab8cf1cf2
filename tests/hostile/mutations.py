"""Random changes of a file: of its bytes, and of what protobuf, JSON, text, zip, npy and safetensors are made of."""

from __future__ import annotations

import io
import json
import random
import re
import zipfile
import zlib
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

Random: TypeAlias = random.Random
Mutation = Callable[[bytes, bytes, Random], bytes]
"""Returns changed contents of a file; the second argument is another file, of which parts may be taken."""

NUMBERS = (
    *(0, 1, 2, 3, 7, 8, 16, 17, 63, 64, 127, 128, 255, 256, 65535, 65536, 2**20, 2**24, 2**30),
    *(2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**40, 2**58, 2**62, 2**63 - 1, 2**63, 2**64 - 1),
    *(-1, -2, -3, -128, -(2**31), -(2**62), -(2**63)),
)
STRINGS = (
    *("", "x", "\0", "a\0b", "../x", "/etc/passwd", "@model_path/../../x", "\x1b[31m", "<script>", "%s%n", "'\"\\"),
    *("\N{WORD JOINER}", "\N{RIGHT-TO-LEFT OVERRIDE}", "\ud800", "\U0001f600", "n" * 5000, "0", "-1", "nan", "main"),
    *("tensor<4xi3>", "f32", "i4", "Add", "ai.onnx", "com.microsoft", "core.add", "builtin.module"),
)
_LONGEST_COPY = 2**16
_KNOWING_SHARE = 0.85
_DEEP = (2, 10, 120, 400)


def mutated(content: bytes, other: bytes, rng: Random) -> bytes:
    """Returns the contents of a file with one to three changes."""
    for _ in range(rng.choice((1, 1, 1, 1, 1, 2, 3))):
        known = mutations_of(content)
        # Other changes rarely lead beyond reading.
        change = rng.choice(known) if known and rng.random() < _KNOWING_SHARE else changed_bytes
        content = change(content, other, rng)
    return content


def mutations_of(content: bytes) -> tuple[Mutation, ...]:
    """Returns the changes that know the syntax of a file."""
    if content.startswith(b"PK\x03\x04"):
        return (changed_archive,)
    if content.startswith(b"\x93NUMPY"):
        return (changed_array_header,)
    if content[8:9] == b"{" and int.from_bytes(content[:8], "little") < len(content):
        return (changed_tensor_file,)
    if parsed_message(content) is not None:
        return (changed_message,)
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return ()
    return (changed_json, changed_text) if text.lstrip().startswith(("{", "[")) else (changed_text,)


# -- bytes


def changed_bytes(content: bytes, other: bytes, rng: Random) -> bytes:
    """Returns contents with bytes changed, removed, repeated or taken from another file."""
    at = rng.randrange(min(len(content), rng.choice((64, 1024, 2**30))) + 1)
    length = min(rng.choice((1, 2, 4, 8, 64, 1000)), len(content) - at)
    match rng.randrange(7):
        case 0:
            return content[:at]
        case 1:
            return content[:at] + content[at + length :]
        case 2:
            return content[:at] + content[at : at + length] * rng.choice((2, 3, 100)) + content[at + length :]
        case 3:
            start = rng.randrange(len(other) + 1)
            return content[:at] + other[start : start + length] + content[at + length :]
        case 4:
            width = rng.choice((1, 2, 4, 8))
            number = (rng.choice(NUMBERS) % 2 ** (8 * width)).to_bytes(width, "little")
            return content[:at] + number + content[at + width :]
        case 5:
            return content[:at] + rng.randbytes(length) + content[at + length :]
        case _:
            flipped = bytes([b ^ 1 << rng.randrange(8) for b in content[at : at + 1]])
            return content[:at] + flipped + content[at + 1 :]


# -- protobuf, without its schema


class Field:
    """A field of a message: its number, its wire type, and its integer, its bytes or the fields of its message."""

    def __init__(self, number: int, wire: int, value: int | bytes | list[Field]) -> None:
        self.number = number
        self.wire = wire
        self.value = value


def parsed_message(content: bytes, depth: int = 0) -> list[Field] | None:
    """Returns the fields of a message; None when the bytes are not one."""
    fields: list[Field] = []
    at = 0
    while at < len(content):
        tag, at = _varint(content, at)
        number, wire = tag >> 3, tag & 7
        if at < 0 or not 0 < number < 2**16:
            return None
        value: int | bytes | list[Field]
        if wire == 0:
            value, at = _varint(content, at)
        elif wire in (1, 5):
            width = 8 if wire == 1 else 4
            value, at = content[at : at + width], at + width
        elif wire == 2:
            length, at = _varint(content, at)
            if at < 0 or at + length > len(content):
                return None
            inner, at = content[at : at + length], at + length
            nested = parsed_message(inner, depth + 1) if 0 < length < _LONGEST_COPY and depth < 30 else None
            value = inner if nested is None else nested
        else:
            return None
        if not 0 <= at <= len(content):
            return None
        fields.append(Field(number, wire, value))
    return fields if fields or depth else None


def _varint(content: bytes, at: int) -> tuple[int, int]:
    """Returns an integer and the offset after it; -1 when there is none."""
    result = shift = 0
    while 0 <= at < len(content) and shift < 70:
        byte = content[at]
        at += 1
        result |= (byte & 0x7F) << shift
        if byte < 0x80:
            return result, at
        shift += 7
    return 0, -1


def _varint_bytes(value: int) -> bytes:
    value %= 2**64
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*out, value))


def message_bytes(fields: Sequence[Field]) -> bytes:
    """Returns fields as the bytes of a message."""
    parts: list[bytes] = []
    for field in fields:
        parts.append(_varint_bytes(field.number << 3 | field.wire))
        if isinstance(field.value, int):
            parts.append(_varint_bytes(field.value))
        else:
            inner = field.value if isinstance(field.value, bytes) else message_bytes(field.value)
            parts += [_varint_bytes(len(inner)), inner] if field.wire == 2 else [inner]
    return b"".join(parts)


def _messages(fields: list[Field]) -> list[list[Field]]:
    out = [fields]
    for field in fields:
        if isinstance(field.value, list):
            out += _messages(field.value)
    return out


def changed_message(content: bytes, other: bytes, rng: Random) -> bytes:
    """Returns a message with one field changed, removed, repeated, moved or taken from another message."""
    fields = parsed_message(content) or []
    messages = _messages(fields)
    message = rng.choice(messages)
    if not message:
        return content
    field = rng.choice(message)
    match rng.randrange(13):
        case 9 | 10 | 11 if isinstance(field.value, bytes) and field.wire == 2:
            # The name of something else, most often.
            inner = [f for m in messages for f in m if isinstance(f.value, bytes) and f.wire == 2]
            field.value = rng.choice(inner).value
        case 0:
            message.remove(field)
        case 1:
            message += [field] * rng.choice((1, 2, 50))
        case 2:
            rng.choice(messages).append(Field(field.number, field.wire, _value_of(field)))
        case 3:
            source = rng.choice(_messages(parsed_message(other) or []))
            if source:
                message.insert(rng.randrange(len(message) + 1), rng.choice(source))
        case 4:
            field.number = rng.choice((field.number + 1, max(field.number - 1, 1), rng.randrange(1, 30)))
        case 5 if isinstance(field.value, list):
            _nest(field, rng)
        case 6:
            rng.shuffle(message)
        case _:
            _change_value(field, rng)
    return message_bytes(fields)


def _value_of(field: Field) -> int | bytes:
    return field.value if isinstance(field.value, int | bytes) else message_bytes(field.value)


def _nest(field: Field, rng: Random) -> None:
    """Puts copies of a message inside of one another, under the number of one of its own fields."""
    inner = _value_of(field)
    assert isinstance(inner, bytes)
    numbers = [f.number for f in field.value] if isinstance(field.value, list) else [1]
    number = rng.choice([*numbers, field.number])
    for _ in range(rng.choice(_DEEP)):
        nested = _varint_bytes(number << 3 | 2) + _varint_bytes(len(inner)) + inner
        inner = nested
    field.value = inner


def _change_value(field: Field, rng: Random) -> None:
    if isinstance(field.value, int):
        field.value = rng.choice((*NUMBERS, field.value + 1, field.value - 1, rng.randrange(30)))
    elif field.wire != 2:
        field.value = rng.choice((b"\0" * 8, b"\xff" * 8, rng.randbytes(8), b"\0\0\xc0\x7f" * 2))[
            : len(_bytes_of(field))
        ]
    elif rng.random() < 0.5:
        field.value = rng.choice(STRINGS).encode("utf-8", "surrogatepass")
    else:
        # Packed integers.
        field.value = b"".join([_varint_bytes(rng.choice(NUMBERS)) for _ in range(rng.choice((0, 1, 2, 5, 70)))])


def _bytes_of(field: Field) -> bytes:
    value = _value_of(field)
    assert isinstance(value, bytes)
    return value


# -- JSON

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


def changed_json(content: bytes, other: bytes, rng: Random) -> bytes:
    """Returns a document with one value or key changed, removed, repeated or nested."""
    del other
    try:
        document: Json = json.loads(content)
    except (ValueError, RecursionError):
        return content
    places = [p for p in _places(document) if p[0]]
    if not places:
        return content
    holder, key = rng.choice(places)
    _change_place(holder, key, rng)
    return json.dumps(document).encode("utf-8", "surrogatepass")


def _places(value: Json) -> list[tuple[list[Json] | dict[str, Json], int | str]]:
    pairs = enumerate(value) if isinstance(value, list) else value.items() if isinstance(value, dict) else ()
    out: list[tuple[list[Json] | dict[str, Json], int | str]] = []
    for key, inner in pairs:
        assert isinstance(value, list | dict)
        out.append((value, key))
        out += _places(inner)
    return out


def _change_place(holder: Any, key: int | str, rng: Random) -> None:
    """Changes a value in a list, or in a dictionary."""
    old: Json = holder[key]
    new: Json = old
    match rng.randrange(6):
        case 0:
            del holder[key]
            return
        case 1 if isinstance(holder, dict):
            del holder[str(key)]
            holder[rng.choice((*STRINGS, f"{key}x", *holder))] = old
            return
        case 1 if isinstance(holder, list):
            holder.extend([old] * rng.choice((1, 2, 70)))
            return
        case 2:
            for _ in range(rng.choice(_DEEP)):
                new = [new]
        case 3:
            new = rng.choice(STRINGS)
        case 4 if isinstance(old, int | float) or rng.random() < 0.3:
            new = rng.choice((*NUMBERS, 0.5, 1e300, float("nan"), float("inf"), True, None))
        case _:
            new = rng.choice((None, [], {}, 0, -1, 2**63, "", [0], {"a": 0}, True, 1.5))
    holder[key] = new


# -- text

_TOKENS = re.compile(r"\d+(?:\.\d+)?|\w+|\s+|\"(?:[^\"\\]|\\.)*\"|.", re.DOTALL)


def changed_text(content: bytes, other: bytes, rng: Random) -> bytes:
    """Returns a text with one token or line changed, removed, repeated, moved, nested or taken from another text."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return content
    if rng.random() < 0.25:
        return _changed_lines(text, other, rng).encode()
    tokens = _TOKENS.findall(text)
    if not tokens:
        return content
    places = [n for n, token in enumerate(tokens) if not token.isspace()] or [0]
    place, second = rng.choice(places), rng.choice(places)
    token: str = tokens[place]
    if token[0].isdigit() and rng.random() < 0.3:
        tokens[place] = str(int(token) + rng.choice((1, -1, 2))) if token.isdecimal() else "1"
    elif token[0].isdigit() and rng.random() < 0.8:
        tokens[place] = str(rng.choice((*NUMBERS, "0x1", "1e99", "?", "-0.0", rng.randrange(100))))
    else:
        match rng.randrange(6):
            case 0:
                tokens[place] = ""
            case 1:
                tokens[place] = token * rng.choice((2, 3, 500))
            case 2:
                tokens[place], tokens[second] = tokens[second], token
            case 3:
                tokens[place] = tokens[second]
            case 4:
                tokens[place] = rng.choice(STRINGS)
            case _:
                opening, closing = rng.choice(("()", "[]", "{}", "<>", ("tuple<", ">"), ("tensor<2x", ">")))
                depth = rng.choice(_DEEP)
                tokens[place] = opening * depth + token + closing * depth
    return "".join(tokens).encode("utf-8", "surrogatepass")


def _changed_lines(text: str, other: bytes, rng: Random) -> str:
    lines = text.splitlines(keepends=True) or [""]
    place = rng.randrange(len(lines))
    length = rng.choice((1, 1, 2, 5))
    match rng.randrange(4):
        case 0:
            del lines[place : place + length]
        case 1:
            lines[place:place] = lines[place : place + length] * rng.choice((1, 2, 100))
        case 2:
            target = rng.randrange(len(lines))
            lines[target:target] = lines[place : place + length]
        case _:
            theirs = other.decode("utf-8", "replace").splitlines(keepends=True) or [""]
            start = rng.randrange(len(theirs))
            lines[place:place] = theirs[start : start + length]
    return "".join(lines)


# -- files of arrays


def changed_array_header(content: bytes, other: bytes, rng: Random) -> bytes:
    """Returns an .npy file with a change in the text of its header, whose length is right again."""
    length = int.from_bytes(content[8:10], "little")
    header = changed_text(content[10 : 10 + length], other, rng)[: 2**16 - 1]
    return content[:8] + len(header).to_bytes(2, "little") + header + content[10 + length :]


def changed_tensor_file(content: bytes, other: bytes, rng: Random) -> bytes:
    """Returns a safetensors file with a change in its header, whose length is right again."""
    length = int.from_bytes(content[:8], "little")
    header = rng.choice((changed_json, changed_text))(content[8 : 8 + length], other, rng)
    return len(header).to_bytes(8, "little") + header + content[8 + length :]


def changed_archive(content: bytes, other: bytes, rng: Random) -> bytes:
    """Returns an archive with a change in one member, in a name, or in the bytes of the archive."""
    if rng.random() < 0.3:
        return changed_bytes(content, other, rng)
    out = io.BytesIO()
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive, zipfile.ZipFile(out, "w") as built:
            members = [(info.filename, archive.read(info)) for info in archive.infolist()]
            chosen = rng.randrange(len(members) + 1)
            for n, (name, member) in enumerate(members):
                is_renamed = n == chosen and rng.random() < 0.2
                built.writestr(
                    rng.choice(STRINGS).replace("\ud800", "") or "x" if is_renamed else name,
                    mutated(member, other, rng) if n == chosen and not is_renamed else member,
                    rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)),
                )
    except (ValueError, zipfile.BadZipFile, zlib.error, RuntimeError, EOFError, UnicodeError, IndexError):
        return changed_bytes(content, other, rng)
    return out.getvalue()
