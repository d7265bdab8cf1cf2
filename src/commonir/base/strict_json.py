"""Reads strict JSON: refuses what Python's reader accepts beyond the standard.

A name may occur only once in an object; `NaN`, `Infinity` and numbers beyond double precision are refused; strings are
UTF-8 without lone surrogates. Readers of formats report errors under codes of their own. Source: RFC 8259.
"""

from __future__ import annotations

import json
from typing import NoReturn

from commonir.base.text import escape

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]

_SHOWN = 40


class JsonError(ValueError):
    """The error of a text that is not JSON; `line` is its line, where known."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


class JsonNumberError(JsonError):
    """A number that JSON does not have."""


class JsonDepthError(JsonError):
    """Objects and arrays nested deeper than the limit."""


def parse(content: str | bytes) -> Json:
    """Returns the value of a JSON text. Raises: JsonError."""
    try:
        text = content if isinstance(content, str) else content.decode("utf-8")
        value: Json = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse, parse_float=_finite)
        if "\\u" in text:
            _check_texts(value)
        return value
    except JsonError:
        raise
    except UnicodeDecodeError as error:
        raise JsonError(f"byte {error.start} is not UTF-8") from None
    except json.JSONDecodeError as error:
        reason = error.msg.removesuffix(" at")
        message = f"{reason[:1].lower()}{reason[1:]} at column {error.colno}"
        raise JsonError(message, error.lineno) from None
    except RecursionError:
        raise JsonDepthError("it is nested too deep") from None
    except ValueError as error:  # an integer of thousands of digits
        raise JsonNumberError(str(error)) from None


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    result = dict(pairs)
    if len(result) != len(pairs):
        names: set[str] = set()
        twice = next(name for name, _ in pairs if name in names or names.add(name))
        raise JsonError(f"the name '{escape(twice)}' occurs twice in one object")
    return result


def _refuse(word: str) -> NoReturn:
    raise JsonNumberError(f"'{word}' is not a number of JSON")


def _finite(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise JsonNumberError(f"the number {digits[:_SHOWN]} is too large")
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
