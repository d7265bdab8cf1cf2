"""Mistakes in definitions of operations: said where the class is written, not where it is used."""

from __future__ import annotations

import pytest

from commonir.dialects import core
from commonir.ir import Value
from commonir.ods import Op, operand, result


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("f32[s*", "the type pattern 'f32[s*' does not end with ']'"),
        ("f32[s*]]x", "the type pattern 'f32[s*]]x' does not end with ']'"),
        ("f32[2 3]", "'2 3' in the type pattern 'f32[2 3]' is not a dim: n, 3, or s* for any number"),
        ("f32[n-1]", "'n-1' in the type pattern 'f32[n-1]' is not a dim: n, 3, or s* for any number"),
    ],
)
def test_pattern_that_is_not_one_is_refused(pattern: str, message: str) -> None:
    with pytest.raises(ValueError, match=r"type pattern") as caught:
        operand(pattern)
    assert str(caught.value) == message


def test_reference_says_what_it_returns() -> None:
    with pytest.raises(TypeError, match=r"Twice\.reference: annotate what it returns.*`Value` for operations"):

        class Twice(Op, name="test.twice"):  # pyright: ignore[reportUnusedClass]
            x: Value = operand("f32[s*]")
            y: Value = result("f32[s*]")

            def reference(self, x: Value):
                return core.add(x, x)
