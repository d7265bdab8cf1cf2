"""The element types of Core ML: which ones values get inside of a program, and which inputs and outputs."""

from __future__ import annotations

from collections.abc import Iterator

from commonir.base.codes import CHANGED_IN_CONVERSION
from commonir.base.diagnostics import DiagnosticError, Diagnostics
from commonir.conversions.core_to_mil.building import mil_element
from commonir.conversions.operands import refused
from commonir.dialects import core
from commonir.dialects.mil.base import CORE_ML_5
from commonir.dialects.mlir import ml_program
from commonir.ir.module import Module
from commonir.ir.operation import Operation
from commonir.ir.types import ElementType, TensorType, boolean, f16, f32, i32, string
from commonir.passes.convert_elements import OF_OWN_TYPES, ElementPolicy

_COMPRESSIONS = (core.Decoded, core.Quantize)


class LegalTypes(ElementPolicy):
    """Half and single precision, integers of 32 bits and bools; no bools at the border, which a part of a function
    does not have.
    """

    def __init__(self, version: str, *, is_part: bool = False) -> None:
        self._halves_at_border = version != CORE_ML_5
        self._is_part = is_part

    def inside(self, element: ElementType) -> ElementType:
        return mil_element(element)

    def keeps(self, op: Operation) -> bool:
        """Compressed constants, and integers of few bits between quantization and its inverse, stay what they are.

        So do other operations whose result is about an element type, which no rule takes.
        """
        if isinstance(op, core.Constant):
            return op.y.is_used and all(isinstance(user, _COMPRESSIONS) for user in op.y.users)
        return isinstance(op, OF_OWN_TYPES)

    def at_border(self, element: ElementType) -> ElementType:
        inside = mil_element(element)
        if self._is_part:
            return inside
        if inside is boolean:
            return i32
        return f32 if inside is f16 and not self._halves_at_border else inside


def _border_tensors(module: Module) -> Iterator[tuple[ml_program.Func, str, str, TensorType]]:
    """Yields the tensors among inputs and outputs: the function, "input" or "output", the name and the type."""
    for function in module.body.operations:
        if not isinstance(function, ml_program.Func) or function.is_declaration:
            continue
        named = [(v.name, v, "input") for v in function.inputs]
        named += [(n, v, "output") for n, v in zip(function.output_names, function.outputs, strict=True)]
        yield from [(function, what, name, v.type) for name, v, what in named if isinstance(v.type, TensorType)]


def refuse_strings(module: Module) -> None:
    """Raises: DiagnosticError (E0601) for an input or output of strings. Labels of classifiers are taken out before."""
    for _, what, name, type in _border_tensors(module):
        if type.element is string:
            raise refused(f"the {what} '{name}' has strings, and Core ML has them only as labels of a classifier")


def report_type_changes(module: Module, policy: LegalTypes, lost: Diagnostics) -> None:
    """Reports inputs and outputs whose element type changes."""
    for function, what, name, type in _border_tensors(module):
        try:
            built = policy.at_border(type.element)
        except DiagnosticError as error:
            place = f"{function.sym_name}.{what} '{name}'"
            raise DiagnosticError(*[d.located(where=place) for d in error.diagnostics]) from None
        if built is not type.element:
            text = f"the {what} '{name}' of '{function.sym_name}' changes from {type.element} to {built}"
            lost.add(CHANGED_IN_CONVERSION, text)
