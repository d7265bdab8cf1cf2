"""The default engine."""

from __future__ import annotations

from commonir.ir.module import Module
from commonir.runtime.engine import DEFAULT_OPTIONS, EngineOptions, function_of
from commonir.runtime.reference import ReferenceExecutable


class NumpyEngine:
    """Runs programs with numpy."""

    name = "numpy"

    def prepare(
        self, module: Module, function: str | None = None, options: EngineOptions = DEFAULT_OPTIONS
    ) -> ReferenceExecutable:
        """Makes a function ready to run; see `Engine`."""
        return ReferenceExecutable(function_of(module, function), options)


ENGINE = NumpyEngine()
