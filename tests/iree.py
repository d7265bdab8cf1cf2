"""Programs of MLIR compiled and run by IREE, for tests that compare with it.

Compiling costs far more than running: many functions go into one program.
"""

from __future__ import annotations

from collections.abc import Sequence
from platform import machine
from typing import Any

import numpy as np

from tests.oracles import oracle

Array = np.ndarray[Any, Any]

# Code without vectors: compiling takes most of the time, and vectors a third of that.
_FLAGS = (
    # SSE 4.1 rounds; without it IREE calls functions of C that it does not link.
    f"--iree-llvmcpu-target-cpu={'x86-64-v2' if machine() in ('x86_64', 'AMD64') else 'generic'}",
    "--iree-llvmcpu-target-vector-width-in-bytes=4",
    "--iree-input-type=auto",
)


class Refused(Exception):
    """IREE does not compile a program, and why."""


class Compiled:
    """A program that IREE has compiled. States of its globals go on from one call to the next."""

    def __init__(self, text: str, *, flags: Sequence[str] = ()) -> None:
        compiler = oracle("iree.compiler")
        runtime = oracle("iree.runtime")
        try:
            content = compiler.compile_str(text, target_backends=["llvm-cpu"], extra_args=[*_FLAGS, *flags])
        except compiler.CompilerToolError as error:
            raise Refused(str(error)) from None
        self._config = runtime.Config("local-task")
        context = runtime.SystemContext(config=self._config)
        context.add_vm_module(runtime.VmModule.copy_buffer(context.instance, content))
        self._module = context.modules.module

    def run(self, function: str, inputs: Sequence[Array | float]) -> list[Array]:
        """Returns the results of a function; unsigned integers are passed as their bits, scalars as they are."""
        arguments = [_signless(np.asarray(a, order="C")) if isinstance(a, np.ndarray) else a for a in inputs]
        result = self._module[function](*arguments)
        outputs = result if isinstance(result, tuple | list) else () if result is None else (result,)
        return [np.asarray(v.to_host() if hasattr(v, "to_host") else v) for v in outputs]


def _signless(a: Array) -> Array:
    return a.view(f"i{a.dtype.itemsize}") if a.dtype.kind == "u" else a


def as_like(array: Array, expected: Array) -> Array:
    """An array from IREE with the sign of another one."""
    return array.view(expected.dtype) if expected.dtype.kind == "u" and array.dtype.kind == "i" else array


__all__ = ["Compiled", "Refused", "as_like"]
