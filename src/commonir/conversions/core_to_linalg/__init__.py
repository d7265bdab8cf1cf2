"""From the core to what compilers read: functions of linalg, tensor, arith, math, complex and scf.

An operation becomes the named operation that means the same where there is one; every other one that index notation
explains becomes `linalg.generic` by its kernel. States are globals of ml_program. Files are never touched.
"""

from __future__ import annotations

from commonir.base.codes import UNSUPPORTED_CONVERSION
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.conversions.conversion import Conversion, ConversionOptions
from commonir.conversions.core_to_linalg import constants, control, elements, moves, ordering, products, running_sizes
from commonir.conversions.core_to_mil import signals
from commonir.conversions.to_mlir import structure
from commonir.conversions.to_mlir.finish import finish
from commonir.ir.interface import neutral_attributes
from commonir.ir.module import Module
from commonir.ods import Dialects
from commonir.passes.inline_calls import inline_calls
from commonir.passes.remove_unused import remove_unused
from commonir.rewrite.legalize import Rules, Target, legalize

_FAMILIES = (structure, moves, products, control, elements, running_sizes, ordering, constants)

# Of a region of an image, Core ML takes samples too.
RULES = Rules([signals.region_align, *Rules.members(*map(vars, _FAMILIES))])

TARGET = Target("linalg", beside=structure.BESIDE | {"arith", "cf", "math", "complex", "tensor", "scf"})


def core_to_linalg(module: Module) -> Module:
    """All functions of a lowered module as functions of linalg.

    Raises: DiagnosticError (E0601) with everything that cannot be expressed.
    """
    made = legalize(inline_calls(module), RULES, Dialects(), TARGET)
    for function in made.functions.values():
        remove_unused(function.body)
    finish(made)
    for key, attribute in neutral_attributes(module).items():
        made.set_extra(key, attribute)
    return made


def convert(module: Module, options: ConversionOptions, lost: Diagnostics) -> Module:
    """The conversion as users choose it.

    Raises: as `core_to_linalg`, E0601 for choices that MLIR has no place for.
    """
    del lost
    if options.opset is not None or options.target is not None or options.images:
        message = "a program for a compiler has no place for an opset, a system or images"
        raise DiagnosticError(Diagnostic(UNSUPPORTED_CONVERSION, message))
    return core_to_linalg(module)


CONVERSION = Conversion("linalg", convert, format="mlir")

__all__ = ["CONVERSION", "RULES", "convert", "core_to_linalg"]
