"""JSON as ARK's serializer writes it, and a strict reader of it.

Source: the layout of files written by ARK (its serializer prints the upper levels of a document one item per line).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from json.encoder import encode_basestring as quoted

from commonir.base import strict_json
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.file_codes import LIMIT_EXCEEDED, MALFORMED_ARK_JSON, NESTING_TOO_DEEP
from commonir.base.limits import DEFAULT_LIMITS, Limits
from commonir.base.strict_json import Json, JsonDepthError, JsonError
from commonir.formats.ark.numbers import float_text

_INDENT = 2
_CONSTANTS = {None: "null", True: "true", False: "false"}


def parse(content: bytes, file: str | None = None, limits: Limits = DEFAULT_LIMITS) -> Json:
    """The value of a JSON text.

    Raises: DiagnosticError (E0302, E0303 for limits; E0270 for what is not JSON, for a name that occurs twice in one
        object, and for numbers that are not finite).
    """
    if len(content) > limits.max_text_bytes:
        message = f"the text has {len(content):,} bytes, more than {limits.max_text_bytes:,}"
        raise DiagnosticError(Diagnostic(LIMIT_EXCEEDED, message, file=file))
    try:
        return strict_json.parse(content)
    except JsonDepthError as error:
        raise DiagnosticError(Diagnostic(NESTING_TOO_DEEP, str(error), file=file)) from None
    except JsonError as error:
        raise DiagnosticError(Diagnostic(MALFORMED_ARK_JSON, str(error), file=file, line=error.line)) from None


def text_of(value: Json, depth: int) -> str:
    """A document as ARK writes it: `depth` levels with one item per line, what is below in one line."""
    return "".join(_pieces(value, depth, 0)) + "\n"


def compact(value: Json) -> str:
    """A value in one line without blanks."""
    match value:
        case str():
            return quoted(value)
        case None | bool():
            return _CONSTANTS[value]
        case int():
            return str(value)
        case float():
            return float_text(value)
        case dict():
            return "{" + ",".join([f"{quoted(name)}:{compact(part)}" for name, part in value.items()]) + "}"
        case list():
            return "[" + ",".join(map(compact, value)) + "]"


def _pieces(value: Json, level: int, indent: int) -> Iterator[str]:
    if not isinstance(value, dict | list) or not value:
        yield compact(value)
        return
    is_object = isinstance(value, dict)
    items: Sequence[tuple[str, Json]] = (
        [(f"{quoted(name)}: ", part) for name, part in value.items()] if is_object else [("", part) for part in value]
    )
    inner = " " * (indent + _INDENT)
    yield "{\n" if is_object else "[\n"
    for n, (key, part) in enumerate(items):
        yield f"{inner}{key}" if n == 0 else f",\n{inner}{key}"
        if level <= 0 or _stands_in_line(part):
            yield compact(part)
        else:
            yield from _pieces(part, level - 1, indent + _INDENT)
    yield f"\n{' ' * indent}{'}' if is_object else ']'}"


def _stands_in_line(value: Json) -> bool:
    """Whether a value is never broken: scalars, and arrays that begin with a number."""
    if isinstance(value, list):
        return bool(value) and isinstance(value[0], int | float) and not isinstance(value[0], bool)
    return not isinstance(value, dict)
