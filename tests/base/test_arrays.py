"""Packed bytes as arrays."""

from __future__ import annotations

import pytest

from commonir.base.arrays import array_of_bytes
from commonir.base.diagnostics import DiagnosticError


def test_a_shape_without_elements_that_numpy_does_not_have_is_an_error() -> None:
    with pytest.raises(DiagnosticError, match="numpy has no array of shape"):
        array_of_bytes(memoryview(b""), "f32", 32, (0, 2**62))
    assert array_of_bytes(memoryview(b""), "f32", 32, (0, 2**60)).shape == (0, 2**60)
