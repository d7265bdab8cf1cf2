"""The builtin dialect: what belongs to no other. `builtin.module` itself is `ir.Module`.

Source: MLIR builtin dialect, operations.
"""

from __future__ import annotations

from collections.abc import Iterator

from commonir.base.codes import VIOLATED_CONSTRAINT
from commonir.base.diagnostics import Diagnostic
from commonir.ir.operation import Value
from commonir.ods import DeclaredResults, Dialect, any_type, operand, result
from commonir.ods.traits import Pure


class UnrealizedConversionCast(
    DeclaredResults,
    name="builtin.unrealized_conversion_cast",
    traits=(Pure,),
    assembly="($inputs^ `:` type($inputs))? `to` type($outputs) attr-dict",
):
    """Casts values between types while a program is only partly converted; it must be gone in the end. C1: there is at
    least one result.
    """

    inputs: tuple[Value, ...] = operand(any_type, variadic=True)
    outputs: tuple[Value, ...] = result(any_type, variadic=True)

    def canonicalize(self) -> tuple[Value, ...] | None:
        """Returns the operands where the types stay the same, or the operands of a cast that this one undoes."""
        expected = [v.type for v in self.outputs]
        if [v.type for v in self.inputs] == expected:
            return self.inputs
        before = self.inputs[0].owner if self.inputs else None
        if not isinstance(before, UnrealizedConversionCast) or self.inputs != before.outputs:
            return None
        return before.inputs if [v.type for v in before.inputs] == expected else None

    def verify(self) -> Iterator[Diagnostic]:
        if not self.outputs:
            yield Diagnostic(VIOLATED_CONSTRAINT, f"{self.name}: C1: expected at least one result for cast operation")


DIALECT = Dialect(
    "builtin",
    (UnrealizedConversionCast,),
    summary="modules, and casts between types that have no operation of their own",
)
