"""From the core to the mil dialect: rules for each family of operations, and the conversion that uses them.

A program is first brought to what Core ML has types for: calls inlined, tensors of rank at most 5, 32-bit elements.
Then rules prefer the operation that Core ML has the best code for, where it means exactly the same; at the end
parameters become constants, values get names, and the description of the model is made. Files are never touched.
"""

from __future__ import annotations

from commonir.base.codes import UNSUPPORTED_CONVERSION
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.conversions.conversion import Conversion
from commonir.conversions.core_to_mil import (
    contraction,
    elementwise,
    indexing,
    normalization,
    shape,
    structure,
    windows,
)
from commonir.conversions.core_to_mil.describe import SPECIFICATION_VERSIONS, describe
from commonir.conversions.core_to_mil.finish import finish
from commonir.conversions.core_to_mil.legal_types import LegalTypes, tell_changes
from commonir.conversions.core_to_mil.low_rank import lower_ranks
from commonir.dialects import ml_program
from commonir.dialects.mil.base import CORE_ML_5, CORE_ML_6, CORE_ML_7, CORE_ML_8
from commonir.dialects.mil.program import Func
from commonir.ir.interface import Port, neutral_attributes
from commonir.ir.module import Function, Module
from commonir.ir.operation import Operation
from commonir.ods import Dialects
from commonir.passes.convert_elements import convert_elements
from commonir.passes.inline_calls import inline_calls
from commonir.rewrite.legalize import Rules, Target, legalize

CHOICES = (CORE_ML_5, CORE_ML_6, CORE_ML_7, CORE_ML_8)
"""Operation sets to choose from, oldest first: the newest, CoreML9, adds no operation."""

RULES = Rules(
    [
        *Rules.members(vars(structure), vars(shape), vars(indexing), vars(normalization)),
        *Rules.members(vars(contraction), vars(windows), vars(elementwise)),
        *elementwise.PEERS,
        *elementwise.BITWISE,
    ]
)


def core_to_mil(module: Module, version: str | None = None, lost: Diagnostics | None = None) -> Module:
    """A lowered module as a Core ML module, in an operation set or in the oldest one that has all it needs.

    Raises: DiagnosticError (E0601) with everything that cannot be expressed.
    """
    if version is not None and version not in SPECIFICATION_VERSIONS:
        known = ", ".join(SPECIFICATION_VERSIONS)
        message = f"'{version}' is no operation set of Core ML"
        raise DiagnosticError(Diagnostic(UNSUPPORTED_CONVERSION, message, help=f"choose one of {known}"))
    choices = CHOICES if version is None else (version,)
    for choice in choices:
        notes = Diagnostics()
        try:
            made = _converted(module, choice, notes)
        except DiagnosticError:
            if choice == choices[-1]:
                raise
            continue
        if lost is not None:
            lost.extend(notes)
        return made
    raise AssertionError("there is a choice")


def _converted(module: Module, version: str, lost: Diagnostics) -> Module:
    policy = LegalTypes(version)
    tell_changes(module, policy, lost)
    legal = convert_elements(lower_ranks(inline_calls(module)), policy)
    made = legalize(legal, RULES, Dialects(), Target("mil", version), chosen=_is_function)
    made.entry = module.entry
    for key, value in neutral_attributes(module).items():
        made.set_extra(key, value)
    inputs: dict[str, dict[str, Port]] = {}
    outputs: dict[str, dict[str, Port]] = {}
    for function in made.functions.values():
        if not isinstance(function, Func):
            continue
        renamed = finish(function, lost)
        source = module.functions[function.sym_name]
        inputs[function.sym_name] = {renamed.get(n, n): p for n, p in source.input_ports.items()}
        outputs[function.sym_name] = {renamed.get(n, n): p for n, p in source.output_ports.items()}
    found = Diagnostics()
    describe(made, version, inputs, outputs, found)
    found.raise_errors()
    return made


def _is_function(op: Operation) -> bool:
    return isinstance(op, Function) and not (isinstance(op, ml_program.Func) and op.is_declaration)


def _convert(module: Module, version: int | None, lost: Diagnostics) -> Module:
    names = {n: name for name, n in SPECIFICATION_VERSIONS.items()}
    return core_to_mil(module, None if version is None else names.get(version, str(version)), lost)


CONVERSION = Conversion("coreml", _convert)

__all__ = ["CONVERSION", "RULES", "core_to_mil"]
