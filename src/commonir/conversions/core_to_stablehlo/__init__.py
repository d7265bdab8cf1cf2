"""From the core to stablehlo: functions that jax's compilers, IREE and Core ML tools read.

Operations become those of stablehlo, or of chlo where only that has the function; what neither has and index notation
states becomes operations on whole tensors. Sizes that are expressions are computed, for operations that take them as
operands. States are globals of ml_program. Files are never touched.
"""

from __future__ import annotations

from commonir.base.codes import UNSUPPORTED_CONVERSION
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.conversions.conversion import Conversion, ConversionOptions
from commonir.conversions.core_to_linalg.elements import sparse_to_dense
from commonir.conversions.core_to_mil import signals
from commonir.conversions.core_to_stablehlo import contraction, control, elementwise, indexing, reduction, shape
from commonir.conversions.core_to_stablehlo.finish import finish
from commonir.conversions.to_mlir import structure
from commonir.ir.interface import neutral_attributes
from commonir.ir.module import Module
from commonir.ods import Dialects
from commonir.passes.inline_calls import inline_calls
from commonir.passes.remove_unused import remove_unused
from commonir.passes.without_requirements import without_requirements
from commonir.rewrite.legalize import Rules, Target, legalize

_FAMILIES = (structure, shape, indexing, contraction, reduction, elementwise, control)

# Of a region of an image, Core ML takes samples too; what is sparse is put in its places as for linalg.
RULES = Rules(
    [
        signals.region_align,
        sparse_to_dense,
        *Rules.members(*map(vars, _FAMILIES)),
        *elementwise.PEERS,
        *reduction.REDUCTIONS,
        *reduction.PLACES,
        *reduction.CUMULATIVE,
    ]
)

TARGET = Target("stablehlo", beside=structure.BESIDE | {"chlo"})


def core_to_stablehlo(module: Module) -> Module:
    """All functions of a lowered module as functions of stablehlo.

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

    Raises: as `core_to_stablehlo`, E0601 for choices that MLIR has no place for.
    """
    if options.opset is not None or options.target is not None or options.images:
        message = "a program for a compiler has no place for an opset, a system or images"
        raise DiagnosticError(Diagnostic(UNSUPPORTED_CONVERSION, message))
    return core_to_stablehlo(without_requirements(module, lost))


CONVERSION = Conversion("stablehlo", convert, format="mlir")

__all__ = ["CONVERSION", "RULES", "convert", "core_to_stablehlo"]
