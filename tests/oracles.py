"""Programs of others that tests compare with.

A missing one skips the test, or fails it where the variable `CI` says that all are there. `onnx` and `onnxruntime` come
with the extra `test`; `.ci/run` installs coremltools, mlir-opt and IREE besides; torch and transformers come with the
extra `conformance`, which such a machine may be without.

The variable `HIDDEN_ORACLES` names those that count as missing though installed: `HIDDEN_ORACLES=iree,mlir-opt`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from shutil import which
from types import ModuleType
from typing import NoReturn

import pytest

ALWAYS_THERE = ("onnx", "onnxruntime", "hypothesis", "coremltools", "mlir-opt", "iree", "llvmlite", "mpi4py", "mpiexec")


def oracle(name: str) -> ModuleType:
    """Imports a package that a test, or at module level a whole file of tests, compares with."""
    if _is_hidden(name):
        report_missing(name)
    try:
        return import_module(name)
    except ImportError:
        report_missing(name)


def require_package(name: str) -> None:
    """Skips or fails a test whose oracle runs in a process of its own."""
    if _is_hidden(name) or find_spec(name) is None:
        report_missing(name)


def find_program(name: str, candidates: Iterable[str]) -> str:
    """Returns the path of the first candidate, a name or a path, that is installed; skips or fails without any."""
    result = () if _is_hidden(name) else filter(None, map(which, filter(None, candidates)))
    return next(iter(result), None) or report_missing(name)


def report_missing(name: str) -> NoReturn:
    """Skips, or fails where the oracle must be there."""
    missing = f"the oracle '{name}' is not installed"
    if os.environ.get("CI") and name.partition(".")[0] in ALWAYS_THERE and not _is_hidden(name):
        raise AssertionError(missing) from None
    pytest.skip(missing, allow_module_level=True)


@cache
def mlir_opt() -> str:
    """Returns the path of MLIR's optimizer, of LLVM 22: what `MLIR_OPT` names, else that of Debian."""
    return find_program("mlir-opt", (os.environ.get("MLIR_OPT", ""), "mlir-opt-22", "mlir-opt"))


def _is_hidden(name: str) -> bool:
    return name.partition(".")[0] in os.environ.get("HIDDEN_ORACLES", "").split(",")
