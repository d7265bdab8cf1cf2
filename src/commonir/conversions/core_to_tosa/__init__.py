"""From the core to tosa, alone or with linalg for what tosa cannot say.

Tosa knows sizes that are numbers best: of a shape that is stated, one size may be open. Files are never touched.
"""

from __future__ import annotations

from functools import partial

from commonir.base.diagnostics import Diagnostics
from commonir.conversions import core_to_linalg
from commonir.conversions.conversion import Conversion, ConversionOptions
from commonir.conversions.core_to_linalg import elements
from commonir.conversions.core_to_mil import learning, signals
from commonir.conversions.core_to_stablehlo import contraction
from commonir.conversions.core_to_tosa import control, elementwise, indexing, layout, products, sampling
from commonir.conversions.to_mlir import structure
from commonir.conversions.to_mlir.program import converted, refuse_choices
from commonir.dialects import core
from commonir.ir.module import Module
from commonir.ir.types import TensorType
from commonir.ods import Op
from commonir.passes.without_requirements import without_requirements
from commonir.rewrite.legalize import Context, Mismatch, Result, Rule, Rules, Target


def _with_elements(taken: Rule) -> Rule:
    """A rule for tensors that have elements, as those of tosa do; a concatenation leaves out the ones without."""

    def build(op: Op, context: Context, *bound: object) -> Result:
        values = op.results if isinstance(op, core.Concat) else (*op.results, *op.operands)
        if any(isinstance(v.type, TensorType) and v.type.shape and 0 in v.type.shape for v in values):
            return Mismatch("tosa has no tensors without elements")
        return taken.build(op, context, *bound)

    return Rule(taken.definition, build)


_FAMILIES = (elementwise, layout, products, sampling)
_OWN = [*Rules.members(*map(vars, _FAMILIES)), *elementwise.RULES, *layout.REDUCTIONS]
# What linalg says by loops of its own. Of a region of an image, Core ML takes samples too; trees it walks by look-ups
# in tables. Fourier transforms and sums by letters are products of matrices, as for stablehlo.
_WITHOUT_LINALG = [
    signals.region_align,
    learning.tree_ensemble,
    learning.lookup,
    contraction.dft,
    contraction.einsum,
    elements.sparse_to_dense,
    *Rules.members(vars(control), vars(indexing)),
]

_PLAIN_RULES = Rules([*Rules.members(vars(structure)), elements.decoded, *map(_with_elements, _OWN)])
RULES = Rules([*_PLAIN_RULES.all(), *map(_with_elements, _WITHOUT_LINALG)])
MIXED_RULES = Rules([*_PLAIN_RULES.all(), *core_to_linalg.RULES.all()])
"""Those of tosa first; loops and branches as scf has them, which may stand beside them."""


TARGET = Target("tosa", beside=structure.BESIDE)
MIXED_TARGET = Target("tosa", beside=core_to_linalg.TARGET.beside | {"linalg"})


def core_to_tosa(module: Module, *, mixed: bool = False) -> Module:
    """All functions of a lowered module as functions of tosa; `mixed`: with linalg for what tosa cannot say.

    Raises: DiagnosticError (E0601) with everything that cannot be expressed.
    """
    return converted(module, MIXED_RULES, MIXED_TARGET) if mixed else converted(module, RULES, TARGET)


def _convert(module: Module, options: ConversionOptions, lost: Diagnostics, *, mixed: bool) -> Module:
    """The conversion as users choose it; tosa alone has no place for what a program requires."""
    refuse_choices(options)
    return core_to_tosa(module if mixed else without_requirements(module, lost), mixed=mixed)


# Forms of the operations of tosa change with versions of MLIR, but for the one that all operations have.
CONVERSION = Conversion("tosa", partial(_convert, mixed=False), format="mlir-generic")
MIXED = Conversion("tosa-linalg", partial(_convert, mixed=True), format="mlir-generic")

__all__ = ["CONVERSION", "MIXED", "MIXED_RULES", "RULES", "core_to_tosa"]
