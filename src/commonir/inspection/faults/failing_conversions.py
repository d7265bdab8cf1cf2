"""Decides whether parts of a program have the fault for which the whole cannot be converted.

A part that is cut out may fail for a reason that the whole does not have, such as an output of a type that only values
inside may have. So a fault is known by its code and its message, without the names and sizes that differ in parts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.ir.module import Module

Array = NDArray[np.generic]

# A quoted name, dims of a type such as `1x?x"N"x` before its element type, and a number that is a word.
_NAME = re.compile(r"'[^']*'")
_DIMS = re.compile(r'(?:\b\d+|\?|"[^"]*")x')
_NUMBER = re.compile(r"(?:, )?\b\d+\b")


class FailingConversion:
    """A condition for a `Reducer`: the first fault of the whole program, or the first in whose message `text` is found,
    which is tried first.
    """

    def __init__(self, convert: Callable[[Module], object], format: str, text: re.Pattern[str] | None = None) -> None:
        self._convert = convert
        self._format = format
        self._text = text
        self._fault: Diagnostic | None = None

    def words(self, model: str, inputs: str) -> list[str]:
        """Returns the command that has the fault on a model."""
        del inputs
        return ["cir", "convert", model, "--to", self._format, "-o", "converted"]

    def __call__(self, module: Module, inputs: Mapping[str, Array]) -> bool:
        """Returns whether the conversion of a program has the fault."""
        del inputs
        try:
            self._convert(module)
        except DiagnosticError as error:
            found = [d for d in error.diagnostics if d.is_error]
        else:
            return False
        if self._fault is None:
            chosen = (d for d in found if self._text is None or self._text.search(d.message))
            self._fault = next(chosen, None)
        return self._fault is not None and _signature(self._fault) in map(_signature, found)


def _signature(fault: Diagnostic) -> tuple[str, str]:
    text = fault.message
    for pattern in (_NAME, _DIMS, _NUMBER):
        text = pattern.sub("", text)
    return fault.code.id, text
