"""Converted programs as MLIR text, accepted by mlir-opt, and run by IREE in batches."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from commonir.base.arrays import name_of
from commonir.ir.module import Module
from commonir.ir.operation import Value
from commonir.ir.types import ELEMENT_TYPES, TensorType, tensor
from commonir.ods import Dialects, verify
from commonir.text.printer import print_lines

from tests.conversions.programs import core_module
from tests.iree import Compiled, as_like
from tests.oracles import mlir_opt

Array = np.ndarray[Any, Any]
Build = Callable[..., Value | Sequence[Value]]
Convert = Callable[[Module], Module]


def text_of(module: Module, *, generic: bool = False) -> str:
    """The text of a converted program, which our verifier accepts."""
    assert [d.message for d in verify(module, Dialects())] == []
    return "\n".join(print_lines(module, generic=generic, elide=None, names=True)) + "\n"


def check_with_mlir_opt(text: str) -> None:
    """Asserts that mlir-opt reads and verifies a program, or several with lines `// -----` between them."""
    ran = subprocess.run(
        [mlir_opt(), "--split-input-file", "-o", "/dev/null"], input=text, text=True, capture_output=True, check=False
    )
    assert ran.returncode == 0, ran.stderr[:2000]


def types_of(arrays: Mapping[str, Array]) -> dict[str, TensorType]:
    """Types of inputs."""
    return {name: tensor(ELEMENT_TYPES[name_of(a.dtype)], *a.shape) for name, a in arrays.items()}


def joined(texts: Sequence[str]) -> str:
    """One program of the functions of several, each the only content of a module."""
    inner = ["\n".join(text.strip().split("\n")[1:-1]) for text in texts]
    return "module {\n" + "\n".join(inner) + "\n}\n"


def run(
    convert: Convert, build: Callable[..., Value | Sequence[Value]], *arrays: Array, **typed: TensorType
) -> list[Array]:
    """Returns what IREE gives for one core program that a function builds, on inputs of the types given by name."""
    names = list(typed) or [f"x{n}" for n in range(len(arrays))]
    inputs = dict(zip(names, arrays, strict=True))
    text = text_of(convert(core_module(build, typed or types_of(inputs))))
    check_with_mlir_opt(text)
    return Compiled(text).run("main", list(arrays))


def assert_near(result: Sequence[Array], expected_value: Any, message: str = "") -> None:
    """Asserts that arrays from IREE are those expected."""
    expected = [expected_value] if isinstance(expected_value, np.ndarray | np.generic) else list(expected_value)
    assert len(result) == len(expected)
    for f, w in zip(result, expected, strict=True):
        array = np.asarray(w)
        assert f.shape == array.shape, message
        np.testing.assert_allclose(as_like(f, array), array, rtol=2e-4, atol=2e-5, err_msg=message)
