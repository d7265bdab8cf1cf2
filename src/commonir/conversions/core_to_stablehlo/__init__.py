"""From the core to stablehlo: functions that jax's compilers, IREE and Core ML tools read.

Operations become those of stablehlo, or of chlo where only that has the function; what neither has and index notation
states becomes operations on whole tensors. Sizes that are expressions are computed, for operations that take them as
operands. States are globals of ml_program. Files are never touched.
"""

from __future__ import annotations

from commonir.base.diagnostics import Diagnostics
from commonir.conversions.conversion import Conversion, ConversionOptions, CoreRules
from commonir.conversions.core_to_core import compression, einsum, fourier, image_regions, learning, reshaping
from commonir.conversions.core_to_core.foreign_kernels import kernel_rule
from commonir.conversions.core_to_stablehlo import contraction, control, elementwise, indexing, reduction, shape
from commonir.conversions.core_to_stablehlo.finish import finish
from commonir.conversions.to_mlir import structure
from commonir.conversions.to_mlir.program import converted
from commonir.ir.module import Module
from commonir.ir.types import i64
from commonir.passes.without_requirements import without_requirements
from commonir.rewrite.legalize import Rules, Target

_FAMILIES = (structure, shape, indexing, contraction, reduction, elementwise, control)
_OF_MANY_TARGETS = (compression, einsum, fourier, image_regions, learning, reshaping)

RULES = Rules(
    [
        *Rules.members(*map(vars, (*_OF_MANY_TARGETS, *_FAMILIES))),
        *elementwise.DIRECT_COUNTERPARTS,
        *reduction.REDUCTIONS,
        *reduction.PLACES,
        *reduction.CUMULATIVE,
        kernel_rule(i64),
    ]
)

TARGET = Target("stablehlo", also_legal=structure.ALSO_LEGAL | {"chlo"})


def core_to_stablehlo(module: Module) -> Module:
    """All functions of a lowered module as functions of stablehlo.

    Raises: DiagnosticError (E0601) with everything that cannot be expressed.
    """
    return converted(module, RULES, TARGET, finish)


def convert(module: Module, options: ConversionOptions, lost: Diagnostics) -> Module:
    """The conversion as users choose it; there is nothing to choose. Raises: as `core_to_stablehlo`."""
    del options
    return core_to_stablehlo(without_requirements(module, lost))


def _beside(module: Module, _operation_set: str) -> Module:
    return core_to_stablehlo(module)


CONVERSION = Conversion(
    "stablehlo", convert, format="mlir", core_rules=CoreRules(RULES, TARGET, finish), beside=_beside
)

__all__ = ["CONVERSION", "RULES", "convert", "core_to_stablehlo"]
