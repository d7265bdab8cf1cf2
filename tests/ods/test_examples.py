"""The examples that reference pages show."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import commonir
from commonir.ods import Dialects, check_operation
from commonir.ods.documentation import operation_page
from commonir.ods.examples import example_of

_TYPES = re.compile(r"(\w+): ([^=]*?)(?=, \w+(?:: | = )|\)$)")


def _lines() -> Iterator[tuple[str, str]]:
    for path in sorted(Path(commonir.__file__).parent.rglob("examples.txt")):
        for line in path.read_text(encoding="utf-8").splitlines():
            yield line.partition("(")[0], line


_LINES = dict(_lines())


@pytest.mark.parametrize("name", _LINES)
def test_a_written_example_stands_on_its_page(name: str) -> None:
    dialect = Dialects().get(name.partition(".")[0])
    assert dialect is not None
    page = operation_page(dialect, name)
    example = example_of(dialect.operations[name][-1])
    assert example is not None
    assert not [d.message for d in check_operation(example) if "must be constant" not in d.message]
    _, result, rest = page.partition("## Example\n\n```\n")
    assert result
    shown = rest.partition("\n")[0]
    for field, types in _TYPES.findall(_LINES[name].partition(" -> ")[0]):
        assert f"{field}: {types.replace(' and ', ', ')}" in shown


def test_the_example_of_a_convolution() -> None:
    dialect = Dialects().get("mil")
    assert dialect is not None
    assert (
        'mil.conv(x: f32[n, 3, 32, 32], weight: f32[16, 3, 3, 3], bias: f32[16], strides = [2, 2], pad_type = "same")'
        " -> f32[n, 16, 16, 16]\n"
    ) in operation_page(dialect, "mil.conv")


def test_no_operation_has_two_examples() -> None:
    assert len(_LINES) == len(list(_lines()))
