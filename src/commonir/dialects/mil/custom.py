"""Custom layers of the mil dialect: preserved unchanged, since a program does not define what they compute.

Source: MIL operation `custom_layer`, as coremltools writes it; Core ML, MLCustomLayer.
"""

from __future__ import annotations

from collections.abc import Iterator

from commonir.base.codes import UNSUPPORTED_CONVERSION, WRONG_ATTRIBUTE
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.dialects.mil.base import MilOp
from commonir.dialects.mil.program import COMPOUND, PARAMETERS, Compound, tensor_of_list
from commonir.ir.attributes import DictionaryAttr
from commonir.ir.operation import Value
from commonir.ods import DeclaredResults, attr_types, constraint, operand, result
from commonir.ods.fields import attribute


class CustomLayer(DeclaredResults, MilOp, name="mil.custom_layer"):
    """Calls a custom layer, a class of an app, with inputs of any names.

    The names of the inputs are in the undeclared attribute `mil.parameters`; the types of the results are declared.

    C2: input_order and parameters name inputs.

    Source: MIL operation `custom_layer`.
    """

    inputs: tuple[Value, ...] = operand("any", variadic=True)
    class_name: str = attribute(attr_types.string)
    input_order: Compound | None = attribute(COMPOUND, default=None)
    parameters: Compound | None = attribute(COMPOUND, default=None)
    weights: Compound | None = attribute(COMPOUND, default=None)
    description: str | None = attribute(attr_types.string, default=None)
    outputs: tuple[Value, ...] = result("any", variadic=True)

    @constraint("C1")
    def _has_class(self) -> bool:
        """class_name is not empty."""
        return bool(self.class_name)

    def verify(self) -> Iterator[Diagnostic]:
        kept = self.extra.get(PARAMETERS)
        known = dict(kept.entries) if isinstance(kept, DictionaryAttr) else {}
        for what, names in (("input_order", self.input_order), ("parameters", self.parameters)):
            listed = None if names is None else tensor_of_list(names)
            for name in () if listed is None else map(str, listed.values()):
                if name not in known:
                    text = f"{self.name}: C2: {what} names '{name}', which is not an input"
                    yield Diagnostic(WRONG_ATTRIBUTE, text, help=f"the inputs are {', '.join(known) or 'none'}")

    def reference(self, inputs: tuple[Value, ...]) -> tuple[Value, ...]:  # noqa: ARG002  the form of a reference
        text = f"{self.name}: what the class '{self.class_name}' computes is code of an app, which the program has not"
        help = "put operations that compute the same in its place"
        raise DiagnosticError(Diagnostic(UNSUPPORTED_CONVERSION, text, help=help))
