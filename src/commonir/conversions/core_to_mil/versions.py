"""Operation sets of Core ML: by the names of systems, and which one a program needs at least."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from commonir.base.codes import UNSUPPORTED_CONVERSION
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.suggestions import did_you_mean
from commonir.conversions.conversion import ConversionOptions
from commonir.dialects.mil.base import CORE_ML_5, CORE_ML_6, CORE_ML_7, CORE_ML_8, CORE_ML_9
from commonir.dialects.mlir import ml_program
from commonir.ir.module import Module
from commonir.ir.types import TensorType, f16

CHOICES = (CORE_ML_5, CORE_ML_6, CORE_ML_7, CORE_ML_8)
"""Operation sets to choose from, oldest first: the newest, CoreML9, adds no operation."""

_SYSTEMS: Mapping[str, str] = MappingProxyType(
    {
        **{f"iOS{15 + n}": v for n, v in enumerate(CHOICES)},
        **{f"macOS{12 + n}": v for n, v in enumerate(CHOICES)},
        **{f"watchOS{8 + n}": v for n, v in enumerate(CHOICES)},
        **{f"tvOS{15 + n}": v for n, v in enumerate(CHOICES)},
        **{f"visionOS{1 + n}": v for n, v in enumerate(CHOICES[2:])},
        **dict.fromkeys(("iOS26", "macOS26", "watchOS26", "tvOS26", "visionOS26"), CORE_ML_9),
        **{v: v for v in (*CHOICES, CORE_ML_9)},
    }
)
"""The newest operation set that each system runs."""


def version_of(options: ConversionOptions) -> str | None:
    """Returns the operation set of a target; None for no target.

    Raises: DiagnosticError (E0601).
    """
    if options.target is None:
        return None
    known = {name.lower(): version for name, version in _SYSTEMS.items()}
    result = known.get(options.target.lower())
    if result is None:
        is_older = re.fullmatch(r"(?:ios|tvos)(?:[1-9]|1[0-4])", options.target.lower())
        what = "ML Programs need iOS 15 or later, not" if is_older else "Core ML has no system or operation set"
        message = f"{what} '{options.target}'"
        help = did_you_mean(options.target, _SYSTEMS) or "name one such as iOS17 or macOS14"
        raise DiagnosticError(Diagnostic(UNSUPPORTED_CONVERSION, message, help=help))
    return result


def system_of(version: str) -> str:
    """Returns the first system that runs programs of an operation set, such as iOS15."""
    return next(name for name, known in _SYSTEMS.items() if known == version)


def least_version(module: Module) -> str:
    """Returns the oldest operation set that has the inputs, outputs and states of a lowered module."""
    functions = [op for op in module.body.operations if isinstance(op, ml_program.Func) and not op.is_declaration]
    uses = (ml_program.GlobalLoad, ml_program.GlobalStore)
    if len(functions) > 1 or any(isinstance(op, uses) for op in module.nested()):
        return CORE_ML_8
    if sum(len(p.shapes) > 1 for f in functions for p in f.input_ports.values()) > 1:
        return CORE_ML_8  # before, only one input may list its shapes
    kinds = [v.type for f in functions for v in (*f.inputs, *f.outputs)]
    return CORE_ML_6 if any(isinstance(k, TensorType) and k.element is f16 for k in kinds) else CORE_ML_5
