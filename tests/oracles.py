"""Programs of others that tests compare with.

A missing one skips the test, or fails it where the variable `CI` says that all are there. `onnx` and `onnxruntime` come
with the extra `test`; torch, coremltools and transformers with `conformance`, which such a machine may be without.
"""

from __future__ import annotations

import os
from importlib import import_module
from types import ModuleType

import pytest

ALWAYS_THERE = ("onnx", "onnxruntime", "hypothesis")


def oracle(name: str) -> ModuleType:
    """Imports a package that a test, or at module level a whole file of tests, compares with."""
    try:
        return import_module(name)
    except ImportError:
        missing = f"the oracle '{name}' is not installed"
        if os.environ.get("CI") and name.partition(".")[0] in ALWAYS_THERE:
            raise AssertionError(missing) from None
        pytest.skip(missing, allow_module_level=True)
