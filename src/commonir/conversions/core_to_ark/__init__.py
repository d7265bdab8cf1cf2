"""Programs as ARK models. A program that is one already is taken to another generation of files."""

from __future__ import annotations

from commonir.base.codes import UNSUPPORTED_CONVERSION
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.conversions.conversion import Conversion, ConversionOptions
from commonir.ir.module import Module
from commonir.passes.ark.generations import in_generation


def _convert(_module: Module, _options: ConversionOptions, _lost: Diagnostics) -> Module:
    message = "programs of other formats cannot be made ARK models yet"
    raise DiagnosticError(Diagnostic(UNSUPPORTED_CONVERSION, message))


def _within(module: Module, options: ConversionOptions) -> Module:
    """The program in the generation of a number: 1 to 4."""
    return module if options.opset is None else in_generation(module, f"v{options.opset}")


CONVERSION = Conversion("ark", _convert, _within)
