"""From the core to what compilers read: functions of linalg, tensor, arith, math, complex and scf.

An operation becomes the named operation that means the same where there is one; every other one that index notation
explains becomes `linalg.generic` by its kernel. States are globals of ml_program. Files are never touched.
"""

from __future__ import annotations

from commonir.base.diagnostics import Diagnostics
from commonir.conversions.conversion import Conversion, ConversionOptions, CoreRules
from commonir.conversions.core_to_core import compression, image_regions, learning
from commonir.conversions.core_to_linalg import (
    constants,
    control,
    elements,
    moves,
    ordering,
    products,
    rounds,
    runtime_dims,
)
from commonir.conversions.to_mlir import structure
from commonir.conversions.to_mlir.finish import finish
from commonir.conversions.to_mlir.program import converted
from commonir.ir.module import Module
from commonir.rewrite.legalize import Rules, Target

_FAMILIES = (structure, moves, products, control, elements, runtime_dims, rounds, ordering, constants)
_OF_MANY_TARGETS = (compression, image_regions, learning)

RULES = Rules(Rules.members(*map(vars, (*_OF_MANY_TARGETS, *_FAMILIES))))

TARGET = Target("linalg", also_legal=structure.ALSO_LEGAL | {"arith", "cf", "math", "complex", "tensor", "scf"})


def core_to_linalg(module: Module) -> Module:
    """All functions of a lowered module as functions of linalg.

    Raises: DiagnosticError (E0601) with everything that cannot be expressed.
    """
    return converted(module, RULES, TARGET)


def convert(module: Module, options: ConversionOptions, lost: Diagnostics) -> Module:
    """The conversion as users choose it; there is nothing to choose. Raises: as `core_to_linalg`."""
    del options, lost
    return core_to_linalg(module)


def _beside(module: Module, _operation_set: str) -> Module:
    return core_to_linalg(module)


CONVERSION = Conversion(
    "linalg",
    convert,
    format="mlir",
    core_rules=CoreRules(RULES, TARGET, finish, has_requirements=True),
    beside=_beside,
)

__all__ = ["CONVERSION", "RULES", "convert", "core_to_linalg"]
