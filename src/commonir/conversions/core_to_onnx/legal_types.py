"""Element types that a version of the operator set does not know, as wider ones that it does.

Floats of 8, 6 and 4 bits are computed in single precision, integers of 4 and 2 bits in those of 8: both hold all
numbers of the narrow type. Source: ONNX operator reference, `Cast`.
"""

from __future__ import annotations

from collections.abc import Iterator

from commonir.base.codes import CHANGED_IN_CONVERSION
from commonir.base.diagnostics import Diagnostics
from commonir.conversions.core_to_core.narrow_numbers import wide_narrow_numbers
from commonir.dialects import onnx
from commonir.dialects.mlir import ml_program
from commonir.ir.module import Module
from commonir.ir.operation import Operation, Value
from commonir.ir.types import ElementType, TensorType, f32, i8, u8
from commonir.passes.convert_elements import ElementPolicy, convert_elements


def known_elements(opset: int) -> frozenset[ElementType]:
    """The element types of a version of the operator set."""
    return onnx.ANY.at(onnx.version_of(opset)).elements


def _known_element(element: ElementType, known: frozenset[ElementType]) -> ElementType:
    """The type itself where it is known, else the one that holds its numbers, if it is a narrow one of ONNX."""
    if element in known or element not in onnx.ANY.elements or element.bits > i8.bits:
        return element
    if element.is_float:
        return f32
    return i8 if element.kind == "int" else u8


def uses_illegal_types(module: Module, opset: int) -> bool:
    """Whether a value of a module has an element type that the version holds in a wider one."""
    policy = _LegalTypes(opset)
    return any(policy.changes(v) for op in module.nested() for v in _defined(op))


def _defined(op: Operation) -> Iterator[Value]:
    yield from op.results
    for region in op.regions:
        for block in region.blocks:
            yield from block.arguments


def with_legal_types(module: Module, opset: int, diagnostics: Diagnostics) -> Module:
    """Returns a lowered module in the element types of a version; `found` reports changed inputs and outputs."""
    if not uses_illegal_types(module, opset):
        return module
    policy = _LegalTypes(opset)
    for function in module.body.operations:
        if isinstance(function, ml_program.Func) and not function.is_declaration:
            policy.report(function, diagnostics)
    return convert_elements(wide_narrow_numbers(module, policy.known), policy)


class _LegalTypes(ElementPolicy):
    def __init__(self, opset: int) -> None:
        self.known = known_elements(opset)
        self._opset = opset

    def inside(self, element: ElementType) -> ElementType:
        return _known_element(element, self.known)

    def at_border(self, element: ElementType) -> ElementType:
        return self.inside(element)

    def changes(self, value: Value) -> bool:
        """Whether a value gets another element type."""
        type = value.type
        return isinstance(type, TensorType) and self.inside(type.element) is not type.element

    def report(self, function: ml_program.Func, diagnostics: Diagnostics) -> None:
        """Reports inputs and outputs whose element type changes."""
        named = [("input", v.name, v) for v in function.inputs]
        named += [("output", n, v) for n, v in zip(function.output_names, function.outputs, strict=True)]
        for what, name, value in named:
            if self.changes(value) and isinstance(value.type, TensorType):
                type, built = value.type.element, self.inside(value.type.element)
                text = f"the {what} '{name}' changes from {type} to {built}: opset {self._opset} has no {type}"
                diagnostics.add(CHANGED_IN_CONVERSION, text)
