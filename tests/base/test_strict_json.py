"""JSON is read as its standard has it."""

from __future__ import annotations

import pytest

from commonir.base.strict_json import Json, JsonDepthError, JsonError, JsonNumberError, parse


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": [1, 2.5, true, null, "x"]}', {"a": [1, 2.5, True, None, "x"]}),
        (b'"gr\xc3\xb6\xc3\x9fe"', "größe"),
        ('"\\ud83d\\ude00"', "\U0001f600"),
        ("1e308", 1e308),
    ],
)
def test_json_is_read(text: str | bytes, value: Json) -> None:
    assert parse(text) == value


@pytest.mark.parametrize(
    ("text", "kind", "message", "line"),
    [
        ('{"a": 1,\n "a": 2}', JsonError, "the name 'a' occurs twice in one object", 2),
        ('[{"b": {"a\\n": 1, "a\\n": 2}}]', JsonError, r"the name 'a\n' occurs twice in one object", 1),
        ("[NaN]", JsonNumberError, "'NaN' is not a number of JSON", 1),
        ("[-Infinity]", JsonNumberError, "'-Infinity' is not a number of JSON", 1),
        ("[1e999]", JsonNumberError, "the number 1e999 is too large", 1),
        ("[1,\n" + "9" * 5000 + "]", JsonNumberError, f"the number {'9' * 40}... has more digits than", 2),
        ("[1,\n 2", JsonError, "expecting ',' delimiter at column 3", 2),
        ("", JsonError, "expecting value at column 1", 1),
        ("\ufeff{}", JsonError, "the text begins with a byte order mark", 1),
        (b'["\xff"]', JsonError, "byte 2 is not UTF-8", None),
        ('["\\ud83d"]', JsonError, 'the text "\\ud83d" has half of a character', None),
        ('{"\\udc00": 1}', JsonError, 'the text "\\udc00" has half of a character', None),
        ("[" * 100_000, JsonDepthError, "it is nested too deep", None),
    ],
)
def test_what_is_none_is_refused(text: str | bytes, kind: type[JsonError], message: str, line: int | None) -> None:
    with pytest.raises(JsonError) as caught:
        parse(text)
    assert type(caught.value) is kind
    assert str(caught.value).startswith(message)
    assert caught.value.line == line
