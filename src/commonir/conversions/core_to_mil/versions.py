"""Operation sets of Core ML: by the names of systems, and which one a program needs at least."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from commonir.base.codes import UNSUPPORTED_CONVERSION
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.suggestions import did_you_mean
from commonir.base.tuples import NamedTuple
from commonir.conversions.conversion import ConversionOptions
from commonir.dialects.mil.base import CORE_ML_5, CORE_ML_6, CORE_ML_8, SYSTEMS, VERSIONS, systems_text
from commonir.dialects.mlir import ml_program
from commonir.ir.module import Module
from commonir.ir.types import StateType, TensorType, f16
from commonir.rewrite.legalize import Target

CHOICES = VERSIONS[:-1]
"""Operation sets to choose from, oldest first: the newest, CoreML9, adds no operation."""

_TARGETS: Mapping[str, str] = MappingProxyType(
    {name.replace(" ", ""): version for version, names in SYSTEMS.items() for name in (*names, version)}
)
"""The newest operation set that each system runs, and each operation set itself, by the names of `--target`."""


def version_of(options: ConversionOptions) -> str | None:
    """Returns the operation set of a target; None for no target.

    Raises: DiagnosticError (E0601).
    """
    if options.target is None:
        return None
    known = {name.lower(): version for name, version in _TARGETS.items()}
    target = options.target.lower().replace(" ", "")
    result = known.get(target)
    if result is None:
        is_older = re.fullmatch(r"(?:ios|tvos)(?:[1-9]|1[0-4])|macos(?:[1-9]|1[01])|watchos[1-7]", target)
        what = (
            "ML Programs need iOS 15 / macOS 12 or later, not" if is_older else "Core ML has no system or operation set"
        )
        message = f"{what} '{options.target}'"
        oldest = "the oldest are `--target iOS15` and `--target macOS12`"
        near = did_you_mean(options.target, _TARGETS) or "name one such as iOS17 or macOS14"
        help = oldest if is_older else near
        raise DiagnosticError(Diagnostic(UNSUPPORTED_CONVERSION, message, help=help))
    return result


def target_of(version: str) -> Target:
    """Returns the target of legalizations to an operation set."""
    return Target("mil", version, name=f"Core ML for {systems_text(version)}")


class Feature(NamedTuple):
    """A feature that the oldest operation sets lack, the set that added it, and what to do without it."""

    name: str
    since: str
    help: str = ""


_STATES = Feature("states", CORE_ML_8, "pass what they hold as inputs and outputs")
_FUNCTIONS = Feature("several functions", CORE_ML_8, "`--function NAME` converts one of them")
_SHAPES = Feature(
    "lists of shapes for several inputs", CORE_ML_8, "fix the dims with `--set-dim`, or give ranges with `--range`"
)
HALVES = Feature("inputs and outputs of f16", CORE_ML_6)


def features_of(module: Module) -> Iterator[Feature]:
    """Yields the features of the interface of a module, lowered or of Core ML, that not every operation set has."""
    functions = [f for f in module.functions.values() if not f.is_declaration]
    uses = ml_program.GlobalLoad, ml_program.GlobalStore
    has_states = any(isinstance(v.type, StateType) for f in functions for v in f.inputs)
    if has_states or any(isinstance(op, uses) for op in module.nested()):
        yield _STATES
    if len(functions) > 1:
        yield _FUNCTIONS
    if sum(len(p.shapes) > 1 for f in functions for p in f.input_ports.values()) > 1:
        yield _SHAPES
    kinds = [v.type for f in functions for v in (*f.inputs, *f.outputs)]
    if any(isinstance(k, TensorType) and k.element is f16 for k in kinds):
        yield HALVES


def least_version(module: Module) -> str:
    """Returns the oldest operation set that has the inputs, outputs and states of a module."""
    return max([CORE_ML_5, *(f.since for f in features_of(module))], key=VERSIONS.index)


def refuse_features(module: Module, version: str) -> None:
    """Refuses a module with states, functions or shapes that an operation set lacks.

    Raises: DiagnosticError (E0601) with each such feature.
    """
    target = systems_text(version)
    # Inputs and outputs of other types are converted, which is reported.
    missing = [f for f in features_of(module) if VERSIONS.index(f.since) > VERSIONS.index(version) and f is not HALVES]
    if missing:
        raise DiagnosticError(
            *[
                Diagnostic(
                    UNSUPPORTED_CONVERSION,
                    f"{f.name} need {systems_text(f.since)}, and the target is {target}",
                    help=f"choose `--target {SYSTEMS[f.since][0].replace(' ', '')}`, or {f.help}",
                )
                for f in missing
            ]
        )
