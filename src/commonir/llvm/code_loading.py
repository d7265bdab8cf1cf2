"""Object code to functions in memory: without LLVM where this process can run images, else by LLVM's loader."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from commonir.llvm.code_image import LoadedImage, image_of, is_loadable
from commonir.llvm.target import Target


class CodeLibrary(Protocol):
    """Machine code in memory: its functions can be called while it lives."""

    def function(self, name: str, parameters: int) -> Callable[..., None]:
        """Returns a function whose parameters are addresses and integers of 64 bits."""
        ...


def loaded_code(object_code: bytes, target: Target) -> CodeLibrary:
    """Returns the functions of an object file. Raises: DiagnosticError (E0705 where it takes llvmlite)."""
    image = image_of(object_code) if is_loadable() else None
    if image is not None:
        # Systems may forbid executable memory to all but chosen libraries.
        with suppress(OSError):
            return LoadedImage(image)
    from commonir.llvm.compiler import Library  # noqa: PLC0415  loads llvmlite

    return Library([object_code], target)
