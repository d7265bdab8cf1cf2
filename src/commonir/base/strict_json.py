"""Reads strict JSON: refuses what Python's reader accepts beyond the standard.

A name may occur only once in an object; `NaN`, `Infinity` and numbers beyond double precision are refused; strings are
UTF-8 without lone surrogates. Readers of formats report errors under codes of their own. Source: RFC 8259.
"""

from __future__ import annotations

import json
import re
from typing import NoReturn

from commonir.base.text import escape

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]

_SHOWN = 40
_BOM = "\ufeff"
_INTEGERS = re.compile(r"-?[0-9]+")
_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:]|-?[A-Za-z0-9.+-]+')


class JsonError(ValueError):
    """The error of a text that is not JSON; `line` is its line, where known, `token` what is wrong there."""

    def __init__(self, message: str, line: int | None = None, token: str = "") -> None:
        super().__init__(message)
        self.line = line
        self.token = token


class JsonNumberError(JsonError):
    """A number that JSON does not have."""


class JsonDepthError(JsonError):
    """Objects and arrays nested deeper than the limit."""


def parse(content: str | bytes) -> Json:
    """Returns the value of a JSON text. Raises: JsonError."""
    text = ""
    try:
        text = content if isinstance(content, str) else content.decode("utf-8")
        if text.startswith(_BOM):
            raise JsonError("the text begins with a byte order mark, which JSON does not have", 1)
        value: Json = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse, parse_float=_finite)
        if "\\u" in text:
            _check_texts(value)
        return value
    except JsonError as error:
        if error.token:
            error.line = _line_of(error.token, text)
        raise
    except UnicodeDecodeError as error:
        raise JsonError(f"byte {error.start} is not UTF-8") from None
    except json.JSONDecodeError as error:
        reason = error.msg.removesuffix(" at")
        message = f"{reason[:1].lower()}{reason[1:]} at column {error.colno}"
        raise JsonError(message, error.lineno) from None
    except RecursionError:
        raise JsonDepthError("it is nested too deep") from None
    except ValueError:  # Python reads no integer of thousands of digits
        raise _too_long(text) from None


def _too_long(text: str) -> JsonNumberError:
    """Returns the error of a text with an integer that has more digits than Python reads."""
    digits = max(_INTEGERS.findall(text), key=len)
    message = f"the number {digits[:_SHOWN]}... has more digits than any number that is read"
    found = JsonNumberError(message, token=digits)
    found.line = _line_of(digits, text)
    return found


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    result = dict(pairs)
    if len(result) != len(pairs):
        names: set[str] = set()
        twice = next(name for name, _ in pairs if name in names or names.add(name))
        raise JsonError(f"the name '{escape(twice)}' occurs twice in one object", token=json.dumps(twice))
    return result


def _line_of(token: str, text: str) -> int | None:
    """Returns the line of a number that is refused, or of a name that an object has a second time.

    Python's reader does not report it; only a text with an error is searched again.
    """
    twice = json.loads(token) if token.startswith('"') else None
    counts: list[int] = []
    last = ""
    for match in _TOKENS.finditer(text):
        part = match[0]
        if part in "{[":
            counts.append(0)
        elif part in "}]":
            counts.pop()
        elif part == ":" and twice is not None:
            counts[-1] += json.loads(last) == twice
        if (part == token) if twice is None else (part == ":" and counts[-1] > 1):
            return text.count("\n", 0, match.start()) + 1
        last = part
    return None


def _refuse(word: str) -> NoReturn:
    raise JsonNumberError(f"'{word}' is not a number of JSON", token=word)


def _finite(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise JsonNumberError(f"the number {digits[:_SHOWN]} is too large", token=digits)
    return value


def _check_texts(value: Json) -> None:
    """Checks that strings can be encoded as UTF-8, since escapes may be lone surrogates. Raises: JsonError."""
    pending: list[Json] = [value]
    while pending:
        current = pending.pop()
        match current:
            case str():
                try:
                    current.encode()
                except UnicodeEncodeError:
                    raise JsonError(f"the text {json.dumps(current)[:_SHOWN]} has half of a character") from None
            case list():
                pending += current
            case dict():
                pending += [*current, *current.values()]
            case _:
                pass
