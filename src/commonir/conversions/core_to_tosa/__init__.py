"""From the core to tosa alone.

Tosa knows sizes that are numbers best: of a shape that is stated, one size may be open. Files are never touched.
"""

from __future__ import annotations

from commonir.base.diagnostics import Diagnostics
from commonir.conversions.conversion import Conversion, ConversionOptions, CoreRules
from commonir.conversions.core_to_core import compression, einsum, fourier, image_regions, learning, reshaping
from commonir.conversions.core_to_core.foreign_kernels import kernel_rule
from commonir.conversions.core_to_tosa import control, elementwise, indexing, layout, products, sampling
from commonir.conversions.to_mlir import structure
from commonir.conversions.to_mlir.finish import finish
from commonir.conversions.to_mlir.program import converted
from commonir.dialects import core
from commonir.ir.module import Module
from commonir.ir.types import TensorType, i32
from commonir.ods import Op
from commonir.passes.without_requirements import without_requirements
from commonir.rewrite.legalize import Context, LegalizationRule, Mismatch, Result, Rules, Target


def _with_elements(taken: LegalizationRule) -> LegalizationRule:
    """A rule for tensors that have elements, as those of tosa do; a concatenation leaves out the ones without."""

    def build(op: Op, context: Context, *bound: object) -> Result:
        values = op.results if isinstance(op, core.Concat) else (*op.results, *op.operands)
        if any(isinstance(v.type, TensorType) and v.type.shape and 0 in v.type.shape for v in values):
            return Mismatch("tosa has no tensors without elements")
        return taken.build(op, context, *bound)

    return LegalizationRule(taken.definition, build)


_FAMILIES = (elementwise, layout, products, sampling, reshaping)
_OWN = [*Rules.members(*map(vars, _FAMILIES)), *elementwise.RULES, *layout.REDUCTIONS]
_OF_MANY_TARGETS = (compression, einsum, fourier, image_regions, learning)

TOSA_FIRST = Rules([*Rules.members(vars(structure)), *map(_with_elements, _OWN)])
"""The rules whose results are preferred in tosa, whatever else a program may have."""
_WITHOUT_LINALG = Rules.members(*map(vars, (*_OF_MANY_TARGETS, control, indexing)))
RULES = Rules([*TOSA_FIRST.all(), *map(_with_elements, _WITHOUT_LINALG), kernel_rule(i32)])

TARGET = Target("tosa", also_legal=structure.ALSO_LEGAL)


def core_to_tosa(module: Module) -> Module:
    """All functions of a lowered module as functions of tosa.

    Raises: DiagnosticError (E0601) with everything that cannot be expressed.
    """
    return converted(module, RULES, TARGET)


def _convert(module: Module, options: ConversionOptions, lost: Diagnostics) -> Module:
    """The conversion as users choose it; tosa has no place for what a program requires."""
    del options
    return core_to_tosa(without_requirements(module, lost))


def _beside(module: Module, _operation_set: str) -> Module:
    return core_to_tosa(module)


# Forms of the operations of tosa change with versions of MLIR, but for the one that all operations have.
CONVERSION = Conversion(
    "tosa", _convert, format="mlir-generic", core_rules=CoreRules(RULES, TARGET, finish), beside=_beside
)

__all__ = ["CONVERSION", "RULES", "TOSA_FIRST", "core_to_tosa"]
