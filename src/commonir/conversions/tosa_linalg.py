"""From the core to tosa with linalg for what tosa cannot say: the rules of both, in programs for compilers of both."""

from __future__ import annotations

from commonir.base.diagnostics import Diagnostics
from commonir.conversions import core_to_linalg
from commonir.conversions.conversion import Conversion, ConversionOptions, CoreRules
from commonir.conversions.core_to_tosa import TOSA_FIRST
from commonir.conversions.to_mlir.finish import finish
from commonir.conversions.to_mlir.program import converted
from commonir.ir.module import Module
from commonir.rewrite.legalize import Rules, Target

RULES = Rules([*TOSA_FIRST.all(), *core_to_linalg.RULES.all()])
"""The rules of tosa first, then loops and branches of scf, which may stand beside them."""

TARGET = Target("tosa", also_legal=core_to_linalg.TARGET.also_legal | {"linalg"})


def core_to_tosa_and_linalg(module: Module) -> Module:
    """All functions of a lowered module as functions of tosa, with linalg for what tosa cannot say.

    Raises: DiagnosticError (E0601) with everything that cannot be expressed.
    """
    return converted(module, RULES, TARGET)


def _convert(module: Module, options: ConversionOptions, lost: Diagnostics) -> Module:
    """The conversion as users choose it."""
    del options, lost
    return core_to_tosa_and_linalg(module)


# As of tosa alone, the form that all operations have.
CONVERSION = Conversion(
    "tosa-linalg",
    _convert,
    format="mlir-generic",
    core_rules=CoreRules(RULES, TARGET, finish, has_requirements=True),
)
