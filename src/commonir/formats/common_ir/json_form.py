"""Messages as JSON, one to one: for review, differences, and libraries behind a URI.

A document is an object with one key, the name of the message (`ModelProto` or `LibraryProto`). Fields have the names of
the messages and stand in the order of their numbers; what is absent in a message is absent here. Numbers of element
types and of kinds of attributes are written as names, bytes as text where they are printable UTF-8 and as
`{"base64": ...}` elsewhere and for raw contents, numbers that are not finite as `"nan"`, `"inf"` and `"-inf"`.

The form follows from the declarations of the messages; nothing here knows one of them. Limits: `Limits.max_text_bytes`
and `Limits.max_nesting_depth`.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TypeGuard

from commonir.base import strict_json
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.base.file_codes import LIMIT_EXCEEDED, MALFORMED_JSON, NESTING_TOO_DEEP
from commonir.base.limits import DEFAULT_LIMITS, Limits
from commonir.base.strict_json import Json, JsonDepthError, JsonError, JsonNumberError
from commonir.base.suggestions import did_you_mean
from commonir.base.tuples import NamedTuple
from commonir.formats.common_ir.kinds import OwnType
from commonir.formats.onnx.attributes import AttributeType
from commonir.formats.onnx.declaring import Declared, Message, declared_fields
from commonir.formats.onnx.element_types import DATA_TYPE_NAMES
from commonir.formats.onnx.messages import (
    AttributeProto,
    LibraryProto,
    MapTypeProto,
    ModelProto,
    SparseTensorTypeProto,
    TensorProto,
    TensorTypeProto,
    create,
    declared_messages,
)

_ATTRIBUTE_TYPES: Mapping[int, str] = {kind.value: kind.name for kind in (*AttributeType, *OwnType)}
_NAMED: Mapping[tuple[type[Message], str], Mapping[int, str]] = MappingProxyType(
    {
        **{
            (m, f): dict(enumerate(DATA_TYPE_NAMES))
            for m, f in (
                (TensorProto, "data_type"),
                (TensorTypeProto, "elem_type"),
                (SparseTensorTypeProto, "elem_type"),
                (MapTypeProto, "key_type"),
            )
        },
        (AttributeProto, "type"): _ATTRIBUTE_TYPES,
    }
)
"""Fields whose numbers have names."""

_ALWAYS_BASE64 = frozenset({(TensorProto, "raw_data")})
_INTEGERS = MappingProxyType({"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1), "uint64": (0, 2**64 - 1)})
_DOCUMENTS: tuple[type[Message], ...] = (ModelProto, LibraryProto)
DOCUMENT_NAMES = tuple(d.__name__ for d in _DOCUMENTS)


class JsonForm(NamedTuple):
    """A message that was read: that of a model or that of a library."""

    model: ModelProto | None = None
    library: LibraryProto | None = None


# -- writing


def dumps(message: Message, declared: type[Message]) -> str:
    """A document as JSON text, ending in a line break.

    Raises: ValueError when the message has fields that are not declared, which would be lost.
    """
    before = message.ByteSize()
    known = create(declared)
    known.ParseFromString(message.SerializeToString())
    known.DiscardUnknownFields()
    if known.ByteSize() != before:
        raise ValueError("the message has fields that are not known here, which JSON cannot hold")
    return "\n".join(_lines({declared.__name__: _written(message, declared)}, 0)) + "\n"


_WIDTH = 120


def _lines(value: Json, depth: int, key: str = "", end: str = "") -> Iterator[str]:
    """A value as lines of text: what fits into a line stands in one."""
    head = " " * depth + (json.dumps(key, ensure_ascii=False) + ": " if key else "")
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    is_document = depth == 0
    if not isinstance(value, dict | list) or (len(head) + len(text) < _WIDTH and not is_document):
        yield f"{head}{text}{end}"
        return
    opened, closed = ("{", "}") if isinstance(value, dict) else ("[", "]")
    parts = list(value.items()) if isinstance(value, dict) else [("", v) for v in value]
    yield head + opened
    for n, (name, part) in enumerate(parts):
        yield from _lines(part, depth + 1, name, "," if n + 1 < len(parts) else "")
    yield " " * depth + closed + end


def _written(message: Message, declared: type[Message]) -> dict[str, Json]:
    out: dict[str, Json] = {}
    for name, field in sorted(declared_fields(declared).items(), key=lambda item: item[1].number):
        content: object = getattr(message, name)
        if field.repeated:
            values: list[object] = list(content)  # pyright: ignore[reportArgumentType, reportUnknownVariableType]  a repeated field
            if values:
                out[name] = [_value(v, field, declared) for v in values]
        elif message.HasField(name):
            out[name] = _value(content, field, declared)
    return out


def _value(value: object, field: Declared, owner: type[Message]) -> Json:
    match value:
        case Message() | bool() | None:
            raise TypeError(f"no field holds {value!r}")
        case int():
            return _NAMED.get((owner, field.name), {}).get(value, value)
        case float():
            return _shortest(value, field.type) if math.isfinite(value) else str(value)
        case str():
            return value
        case bytes():
            return _text_of(value, is_raw=(owner, field.name) in _ALWAYS_BASE64)
        case _:
            return _written(value, _declaration(field.type))  # pyright: ignore[reportArgumentType]  made by protobuf


def _shortest(value: float, type: str) -> float:
    """The number with the fewest digits that reads back to the same value of the type of the field."""
    if type == "float":
        for digits in range(6, 10):
            short = float(f"{value:.{digits}g}")
            if struct.pack("<f", short) == struct.pack("<f", value):
                return short
    return value


def _text_of(content: bytes, *, is_raw: bool) -> Json:
    if not is_raw:
        try:
            text = content.decode()
        except UnicodeDecodeError:
            text = "\0"
        if text.replace("\n", "").replace("\t", "").isprintable():
            return text
    return {"base64": base64.b64encode(content).decode()}


def _declaration(name: str) -> type[Message]:
    return _BY_NAME[name]


_BY_NAME: Mapping[str, type[Message]] = MappingProxyType({d.__name__: d for d in declared_messages()})


# -- reading


def loads(text: str, *, file: str | None = None, limits: Limits = DEFAULT_LIMITS) -> JsonForm:
    """The message of a document.

    Raises: DiagnosticError (MALFORMED_JSON, NESTING_TOO_DEEP, LIMIT_EXCEEDED) with everything that is wrong, each with
        its place as in `ModelProto.graph.node[3].attribute[0].i`.
    """
    if len(text) > limits.max_text_bytes:
        message = f"the document has more than {limits.max_text_bytes:,} characters"
        raise DiagnosticError(Diagnostic(LIMIT_EXCEEDED, message, file=file))
    document = _parsed(text, file)
    diagnostics = Diagnostics()
    names = list(document) if _is_object(document) else []
    if len(names) != 1 or names[0] not in DOCUMENT_NAMES or not _is_object(document):
        shown = ", ".join(map(repr, names[:3])) or ("one without keys" if _is_object(document) else "no object")
        text = f"expected an object with one key, {' or '.join(DOCUMENT_NAMES)}, found {shown}"
        diagnostics.add(MALFORMED_JSON, text, file=file, help=did_you_mean(names[0], DOCUMENT_NAMES) if names else None)
        raise DiagnosticError(*diagnostics)
    is_model = names[0] == ModelProto.__name__
    result = JsonForm(create(ModelProto)) if is_model else JsonForm(library=create(LibraryProto))
    into = result.model or result.library
    assert into is not None
    _Reading(diagnostics, file, limits).message(document[names[0]], into, _BY_NAME[names[0]], names[0], 0)
    diagnostics.raise_errors()
    return result


def _parsed(text: str, file: str | None) -> Json:
    try:
        return strict_json.parse(text)
    except JsonDepthError:
        raise DiagnosticError(Diagnostic(NESTING_TOO_DEEP, "the document is nested too deeply", file=file)) from None
    except JsonError as error:
        help = 'write it as a text, as in "nan"' if isinstance(error, JsonNumberError) else None
        if not error.token and error.line is not None and error.line > text.rstrip().count("\n"):
            help = "the document breaks off there: compare its size with that of the original"
        message = f"the document is not JSON: {error}"
        raise DiagnosticError(Diagnostic(MALFORMED_JSON, message, file=file, line=error.line, help=help)) from None


def _is_object(value: object) -> TypeGuard[Mapping[str, object]]:
    return isinstance(value, dict)


def _is_list(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, list)


class _Reading:
    """Fills messages from JSON values; reports everything that does not fit, with its location."""

    def __init__(self, diagnostics: Diagnostics, file: str | None, limits: Limits) -> None:
        self._found = diagnostics
        self._file = file
        self._deepest = limits.max_nesting_depth

    def _fault(self, place: str, expected: str, value: object) -> None:
        shown = json.dumps(value, ensure_ascii=False, default=str)
        shown = shown if len(shown) <= 40 else shown[:40] + "..."
        self._found.add(MALFORMED_JSON, f"expected {expected}, found {shown}", where=place, file=self._file)

    def message(self, value: object, into: Message, declared: type[Message], place: str, depth: int) -> None:
        """Fills in a message from an object."""
        if depth > self._deepest:
            text = f"messages are nested more than {self._deepest} deep"
            raise DiagnosticError(Diagnostic(NESTING_TOO_DEEP, text, where=place, file=self._file))
        if not _is_object(value):
            self._fault(place, "an object", value)
            return
        into.SetInParent()
        known = declared_fields(declared)
        self._one_of_each(value, known, place)
        for name, content in value.items():
            field = known.get(name)
            if field is None:
                text = f"{declared.__name__} has no field '{name}'"
                help = did_you_mean(name, known) or f"it has {', '.join(known)}"
                self._found.add(MALFORMED_JSON, text, where=place, file=self._file, help=help)
            elif field.repeated:
                self._repeated(content, into, field, declared, f"{place}.{name}", depth)
            elif field.type.islower():
                self._scalar(content, field, declared, f"{place}.{name}", lambda v, name=name: setattr(into, name, v))
            else:
                self.message(content, getattr(into, name), _declaration(field.type), f"{place}.{name}", depth + 1)

    def _one_of_each(self, value: Mapping[str, object], known: Mapping[str, Declared], place: str) -> None:
        """Finds alternatives that are given together."""
        alternatives: dict[str, str] = {}
        for name in value:
            group = known[name].oneof if name in known else ""
            if group and alternatives.setdefault(group, name) != name:
                text = f"'{alternatives[group]}' and '{name}' exclude each other"
                self._found.add(MALFORMED_JSON, text, where=place, file=self._file)

    def _repeated(
        self, value: object, into: Message, field: Declared, owner: type[Message], place: str, depth: int
    ) -> None:
        if not _is_list(value):
            self._fault(place, "a list", value)
            return
        items = getattr(into, field.name)
        for n, item in enumerate(value):
            if field.type.islower():
                self._scalar(item, field, owner, f"{place}[{n}]", items.append)
            else:
                self.message(item, items.add(), _declaration(field.type), f"{place}[{n}]", depth + 1)

    def _scalar(
        self, value: object, field: Declared, owner: type[Message], place: str, put: Callable[[object], object]
    ) -> None:
        expected, decoded = self._decoded(value, field, owner)
        if decoded is None:
            self._fault(place, expected, value)
            return
        try:
            put(decoded)
        except (ValueError, TypeError):
            self._fault(place, expected, value)

    def _decoded(self, value: object, field: Declared, owner: type[Message]) -> tuple[str, object | None]:
        """Returns a description of the expected value, and the value where it matches."""
        match field.type:
            case "string":
                return "a text", value if isinstance(value, str) else None
            case "bytes":
                return 'a text or {"base64": ...}', _bytes_of(value)
            case "float" | "double":
                return 'a number, "nan", "inf" or "-inf"', _float_of(value, _FLOATS[field.type])
            case _:
                named = _NAMED.get((owner, field.name))
                if named is not None and isinstance(value, str):
                    number = next((n for n, name in named.items() if name == value), None)
                    near = did_you_mean(value, named.values())
                    return f"the name of a type ({near})" if near else "the name of a type", number
                least, largest = _INTEGERS[field.type]
                whole = value if isinstance(value, int) and not isinstance(value, bool) else None
                fits = whole is not None and least <= whole <= largest
                return f"an integer of {field.type}", whole if fits else None


def _bytes_of(value: object) -> bytes | None:
    if isinstance(value, str):
        try:
            return value.encode()
        except UnicodeEncodeError:
            return None
    content = value.get("base64") if _is_object(value) and len(value) == 1 else None
    if not isinstance(content, str):
        return None
    try:
        return base64.b64decode(content, validate=True)
    except (binascii.Error, ValueError):
        return None


_FLOATS = {"float": struct.Struct("<f"), "double": struct.Struct("<d")}


def _float_of(value: object, type: struct.Struct) -> float | None:
    """Returns a number; None where it is none, or beyond the largest of its type."""
    if isinstance(value, str):
        return float(value) if value in ("nan", "inf", "-inf") else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        type.pack(value)
        return float(value)
    except (OverflowError, struct.error):
        return None


def is_document(keys: Iterable[str]) -> bool:
    """Whether an object with these keys is a document of Common IR."""
    return tuple(keys) in {(name,) for name in DOCUMENT_NAMES}
