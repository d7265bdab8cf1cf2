"""From the core to tosa, alone or with linalg for what tosa cannot say.

Tosa knows sizes that are numbers best: of a shape that is stated, one size may be open. Files are never touched.
"""

from __future__ import annotations

from functools import partial

from commonir.base.codes import UNSUPPORTED_CONVERSION
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.conversions import core_to_linalg
from commonir.conversions.conversion import Conversion, ConversionOptions
from commonir.conversions.core_to_linalg import elements
from commonir.conversions.core_to_tosa import elementwise, layout, products
from commonir.conversions.to_mlir import structure
from commonir.conversions.to_mlir.finish import finish
from commonir.ir.interface import neutral_attributes
from commonir.ir.module import Module
from commonir.ods import Dialects
from commonir.passes.inline_calls import inline_calls
from commonir.passes.remove_unused import remove_unused
from commonir.rewrite.legalize import Rules, Target, legalize

RULES = Rules(
    [
        *Rules.members(vars(structure), vars(elementwise), vars(layout), vars(products)),
        elements.decoded,
        *elementwise.RULES,
        *layout.REDUCTIONS,
    ]
)
MIXED_RULES = Rules([*RULES.all(), *core_to_linalg.RULES.all()])
"""Those of tosa first."""


TARGET = Target("tosa", beside=structure.BESIDE)
MIXED_TARGET = Target("tosa", beside=core_to_linalg.TARGET.beside | {"linalg"})


def core_to_tosa(module: Module, *, mixed: bool = False) -> Module:
    """All functions of a lowered module as functions of tosa; `mixed`: with linalg for what tosa cannot say.

    Raises: DiagnosticError (E0601) with everything that cannot be expressed.
    """
    rules, target = (MIXED_RULES, MIXED_TARGET) if mixed else (RULES, TARGET)
    made = legalize(inline_calls(module), rules, Dialects(), target)
    for function in made.functions.values():
        remove_unused(function.body)
    finish(made)
    for key, attribute in neutral_attributes(module).items():
        made.set_extra(key, attribute)
    return made


def _convert(module: Module, options: ConversionOptions, lost: Diagnostics, *, mixed: bool) -> Module:
    del lost
    if options.opset is not None or options.target is not None or options.images:
        message = "a program for a compiler has no place for an opset, a system or images"
        raise DiagnosticError(Diagnostic(UNSUPPORTED_CONVERSION, message))
    return core_to_tosa(module, mixed=mixed)


# Forms of the operations of tosa change with versions of MLIR, but for the one that all operations have.
CONVERSION = Conversion("tosa", partial(_convert, mixed=False), format="mlir-generic")
MIXED = Conversion("tosa-linalg", partial(_convert, mixed=True), format="mlir-generic")

__all__ = ["CONVERSION", "MIXED", "MIXED_RULES", "RULES", "core_to_tosa"]
