"""From the core to the mil dialect: rules for each family of operations, and the conversion that uses them.

A program is first brought to what Core ML has types for: calls inlined, tensors of rank at most 5, 32-bit elements.
Then rules prefer the operation that Core ML has the best code for, where it means exactly the same; at the end
parameters become constants, values get names, and the description of the model is made. Files are never touched.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from commonir.base.codes import CHANGED_IN_CONVERSION, LOST_IN_CONVERSION
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics, InternalError
from commonir.conversions.conversion import DEFAULT_OPTIONS, ConversionOptions
from commonir.conversions.core_to_core import fourier, image_regions, learning
from commonir.conversions.core_to_core.foreign_kernels import kernel_rule
from commonir.conversions.core_to_core.narrow_numbers import wide_narrow_numbers
from commonir.conversions.core_to_mil import (
    compression,
    contraction,
    counting,
    elementwise,
    indexing,
    loops,
    normalization,
    recurrent,
    sampling,
    shape,
    signals,
    structure,
    unique,
    windows,
)
from commonir.conversions.core_to_mil.building import mil_element
from commonir.conversions.core_to_mil.classifier import Labels, put_labels, take_labels
from commonir.conversions.core_to_mil.describe import Border, describe
from commonir.conversions.core_to_mil.finish import finish
from commonir.conversions.core_to_mil.images import with_images
from commonir.conversions.core_to_mil.legal_types import LegalTypes, refuse_strings, report_type_changes
from commonir.conversions.core_to_mil.low_rank import lower_ranks
from commonir.conversions.core_to_mil.scalars import with_vectors
from commonir.conversions.core_to_mil.versions import CHOICES, least_version, refuse_features, target_of, version_of
from commonir.dialects import core
from commonir.dialects.mil.base import CORE_ML_8, SYSTEMS, VERSIONS, systems_text
from commonir.dialects.mil.description import MAIN
from commonir.dialects.mil.program import Func
from commonir.dialects.mlir import ml_program
from commonir.ir.interface import neutral_attributes
from commonir.ir.module import Module, replace_function
from commonir.ir.operation import Operation
from commonir.ir.types import TensorType, Type, f16, i32
from commonir.ods import Dialects
from commonir.passes.convert_elements import convert_elements
from commonir.passes.inline_calls import inline_calls
from commonir.passes.ports_to_globals import ports_to_globals
from commonir.passes.without_requirements import without_requirements
from commonir.rewrite.legalize import LegalizationRule, Rules, legalize

_ALL: tuple[LegalizationRule, ...] = (
    *Rules.members(vars(compression), vars(structure), vars(shape), vars(indexing), vars(normalization)),
    *Rules.members(vars(contraction), vars(windows), vars(elementwise), vars(recurrent), vars(sampling)),
    *Rules.members(vars(signals), vars(loops), vars(counting), vars(unique)),
    *Rules.members(vars(fourier), vars(image_regions), vars(learning)),
    *elementwise.DIRECT_COUNTERPARTS,
    *elementwise.BITWISE,
    *recurrent.BOTH_WAYS,
)
RULES = Rules([*_ALL, kernel_rule(i32)])
DECOMPRESSING_RULES = Rules([*_ALL, *compression.DECOMPRESSION, kernel_rule(i32)])
"""The same, for operation sets that lack the compression of a weight."""


def core_to_mil(
    module: Module,
    options: ConversionOptions = DEFAULT_OPTIONS,
    lost: Diagnostics | None = None,
    *,
    is_part: bool = False,
) -> Module:
    """A lowered module as a Core ML module, in an operation set or in the oldest one that has all it needs.

    If it is part of another function, inputs and outputs have the types that values have inside of one.

    Raises: DiagnosticError (E0601) with everything that cannot be expressed.
    """
    expected = version_of(options)
    changes = Diagnostics()
    # Without a system that has states, those that a file declares stay inputs and outputs.
    if options.states or expected is None or VERSIONS.index(expected) >= VERSIONS.index(CORE_ML_8):
        module = ports_to_globals(module, changes)
    plain, labels = take_labels(inline_calls(without_requirements(module, lost)))
    wide = wide_narrow_numbers(plain)
    whole = lower_ranks(wide if is_part else with_images(with_vectors(wide), options.images))
    if expected is None:
        choices = CHOICES[CHOICES.index(least_version(whole)) :]
    else:
        refuse_features(whole, expected)
        choices = (expected,)
    attempts = [(v, RULES) for v in choices]
    if any(isinstance(op, core.Decoded) for op in whole.nested()):
        attempts += [(v, DECOMPRESSING_RULES) for v in choices]
    for n, (version, rules) in enumerate(attempts):
        notes = Diagnostics()
        try:
            result = _Work(whole, version, rules, labels, notes).converted(is_part=is_part)
        except DiagnosticError:
            if n == len(attempts) - 1:
                raise
            continue
        if rules is DECOMPRESSING_RULES:
            notes.extend(decompressed_weights(version))
        notes.extend(_changed_states(whole))
        if lost is not None:
            lost.extend(changes)
            lost.extend(notes)
        return result
    raise InternalError("there is an operation set to try")


def decompressed_weights(version: str, forms: Mapping[str, str] = MappingProxyType({})) -> Iterator[Diagnostic]:
    """Yields the warning that weights are stored decompressed for systems that cannot store them compressed.

    `forms` has the operation set that added each form of compression that is lost, where these are known.
    """
    target = systems_text(version)
    known = " and ".join([f"{form} needs {systems_text(since)}" for form, since in forms.items()])
    reason = f"{known}, and the target is {target}" if known else f"{target} cannot store them compressed"
    newest = max(forms.values(), key=VERSIONS.index, default=None)
    help = (
        None if newest is None else f"choose `--target {SYSTEMS[newest][0].replace(' ', '')}` to keep them compressed"
    )
    yield Diagnostic(LOST_IN_CONVERSION, f"weights are stored decompressed: {reason}", help=help)


def _changed_states(module: Module) -> Iterator[Diagnostic]:
    """Yields a note for each state that becomes one of half precision, and a warning for each whose initial value is
    not zero.
    """
    used = {op.target: None for op in module.nested() if isinstance(op, ml_program.GlobalLoad)}
    for state in used:
        if state is not None and isinstance(state.type, TensorType) and state.type.element is not f16:
            message = f"the state '{state.sym_name}' changes from {state.type.element} to f16: Core ML has no others"
            yield Diagnostic(CHANGED_IN_CONVERSION, message)
        if state is not None and state.is_mutable and not state.begins_with_zeros:
            message = f"the initial value of state '{state.sym_name}' is lost: states of Core ML begin with zeros"
            help = "write the value to the state before the first prediction"
            yield Diagnostic(LOST_IN_CONVERSION, message, help=help)


class _Work:
    """One attempt at the conversion of a module."""

    def __init__(
        self, module: Module, version: str, rules: Rules, labels: Mapping[str, Labels], notes: Diagnostics
    ) -> None:
        self.module = module
        self.version = version
        self.rules = rules
        self.labels = labels
        self.notes = notes

    def converted(self, *, is_part: bool) -> Module:
        """The module in the mil dialect."""
        policy = LegalTypes(self.version, is_part=is_part)
        report_type_changes(self.module, policy, self.notes)
        legal = convert_elements(self.module, policy)
        result = legalize(
            legal, self.rules, Dialects(), target_of(self.version), chosen=_is_function, argument_type=_legal_type
        )
        # After operations that cannot be converted, which are the cause of such outputs.
        refuse_strings(self.module)
        result.entry = self.module.entry
        for key, value in neutral_attributes(self.module).items():
            result.set_extra(key, value)
        functions = [op for op in result.body.operations if isinstance(op, Func)]
        self._describe(result, functions)
        return result

    def _describe(self, module: Module, functions: Sequence[Func]) -> None:
        borders: dict[str, Border] = {}
        for function in functions:
            labels = self.labels.get(function.sym_name)
            if labels is not None:
                put_labels(function, labels)
            new = finish(function, self.notes)
            source = self.module.functions[function.sym_name]
            borders[function.sym_name] = Border(
                {new.get(n, n): p for n, p in source.input_ports.items()},
                {new.get(n, n): p for n, p in source.output_ports.items()},
                {new.get(v.name, v.name): v.type.shape or () for v in source.inputs if isinstance(v.type, TensorType)},
            )
        if len(functions) == 1:
            # A model that lists no functions runs the one of this name.
            (only,) = functions
            borders = {MAIN: borders[only.sym_name]}
            replace_function(only, only.with_attributes(sym_name=MAIN))
        diagnostics = Diagnostics()
        describe(module, self.version, borders, diagnostics)
        diagnostics.raise_errors()


def _legal_type(type: Type) -> Type:
    """The type of an argument of a block that a reference made."""
    return type.with_element(mil_element(type.element)) if isinstance(type, TensorType) else type


def _is_function(op: Operation) -> bool:
    return isinstance(op, ml_program.Func) and not op.is_declaration


__all__ = ["DECOMPRESSING_RULES", "RULES", "core_to_mil"]
