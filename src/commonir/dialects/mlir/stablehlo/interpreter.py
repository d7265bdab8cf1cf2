"""The interpreter dialect: what StableHLO's reference interpreter shows and stores while it runs a program.

Source: StableHLO repository, interpreter dialect.
"""

from __future__ import annotations

from collections.abc import Iterator

from commonir.base.diagnostics import Diagnostic
from commonir.dialects.mlir.stablehlo.base import AnyHlo, HloOp, TensorOrToken
from commonir.ir.attributes import ArrayAttr, Attribute, SymbolRefAttr
from commonir.ir.module import Function, Module
from commonir.ir.operation import Value
from commonir.ir.types import TensorType
from commonir.ods import Dialect, attr_types, attribute, definitions_in, operand, result
from commonir.ods.type_rules import SameOperandsAndResultType


class Print(HloOp, name="interpreter.print", assembly="$operand attr-dict `:` type($operand)"):
    """Prints a tensor while a program runs; no output depends on it."""

    operand: Value = operand(AnyHlo)

    def reference(self, operand: Value) -> tuple[Value, ...]:
        del operand
        return ()


class Probe(
    HloOp,
    name="interpreter.probe",
    traits=(SameOperandsAndResultType,),
    assembly="$operand `,` `probe_id` `=` $probe_id attr-dict `:` type($result)",
):
    """Returns a tensor, and marks it to be stored in a file. Runs here store none."""

    operand: Value = operand(AnyHlo)
    probe_id: str = attribute(attr_types.string)
    result_: Value = result(AnyHlo)

    def reference(self, operand: Value) -> Value:
        return operand


class RunParallel(HloOp, name="interpreter.run_parallel"):
    """Runs functions as the processes of a grid, a row for each replica and a column for each partition; inputs and
    results are those of all processes, one after the other.

    C1: there are programs, equally many in each row. C2: each is a function. C3: operands and results are as many as
    theirs. C4: each source of inputs is a function that returns one tensor.
    """

    assembly = ""

    inputs: tuple[Value, ...] = operand(TensorOrToken, variadic=True)
    programs: Attribute = attribute(attr_types.any_attribute)
    infeed: Attribute | None = attribute(attr_types.any_attribute, default=None)
    results_: tuple[Value, ...] = result(TensorOrToken, variadic=True)

    def verify(self) -> Iterator[Diagnostic]:
        rows = [_symbols(row) for row in _members(self.programs)]
        if not rows or not rows[0]:
            yield self.violated("C1: `programs` attribute cannot be empty")
            return
        other = next((len(row) for row in rows if len(row) != len(rows[0])), None)
        if other is not None:
            message = f"C1: sizes of second dimension of `programs` should all match {len(rows[0])}"
            yield self.violated(f"{message} but got {other}")
        functions = [self._function(name) for row in rows for name in row]
        found = [f for f in functions if f is not None]
        if len(found) < len(functions):
            missing = next(n for n in (n for row in rows for n in row) if self._function(n) is None)
            yield self.violated(f"C2: function '{missing}' not found")
            return
        for what, count, expected in (
            ("inputs", len(self.inputs), sum([len(f.inputs) for f in found])),
            ("results", len(self.results), sum([len(f.outputs) for f in found])),
        ):
            if count != expected:
                message = f"C3: number of {what} ({count}) should match the sum of the number of {what} of all programs"
                yield self.violated(f"{message} ({expected})")
        yield from self._check_infeed()

    def _function(self, name: str) -> Function | None:
        found = [m.symbol(name) for m in self.ancestors() if isinstance(m, Module)]
        return next((f for f in found if isinstance(f, Function)), None)

    def _check_infeed(self) -> Iterator[Diagnostic]:
        if self.infeed is None:
            return
        if not _members(self.infeed):
            yield self.violated("C4: infeed attribute is optional or should not be empty")
        for name in _symbols(self.infeed):
            function = self._function(name)
            if function is None:
                yield self.violated(f"C4: function '{name}' not found")
            elif len(function.outputs) != 1:
                message = f"C4: function '{name}' should return 1 tensor but returns {len(function.outputs)}"
                yield self.violated(message)
            elif not isinstance(function.outputs[0].type, TensorType):
                message = f"C4: function '{name}' should return a tensor type, but instead returns"
                yield self.violated(f"{message} {function.outputs[0].type}")


def _members(attr: Attribute) -> tuple[Attribute, ...]:
    return attr.values if isinstance(attr, ArrayAttr) else ()


def _symbols(attr: Attribute) -> list[str]:
    return [v.path[-1] for v in _members(attr) if isinstance(v, SymbolRefAttr)]


DIALECT = Dialect(
    "interpreter",
    definitions_in(globals(), "interpreter"),
    summary="What StableHLO's interpreter shows and stores of a run.",
)
