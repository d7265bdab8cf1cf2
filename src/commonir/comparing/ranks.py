"""Compares the outputs of programs of several ranks: on two engines, of two programs, or with the whole program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from commonir.base.codes import NOTHING_TO_COMPARE
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.tuples import NamedTuple
from commonir.comparing.divergence import EXACT, Precision, Side, precisions, value_difference
from commonir.comparing.measures import Requirements
from commonir.inputs.sharding import output_sources, shard_inputs, shard_outputs
from commonir.ir.module import Function, Module
from commonir.ir.operation import Operation, Value
from commonir.reports import Comparison, ValueDifference
from commonir.runtime.engine import Engine, EngineOptions
from commonir.runtime.ranks.execution import prepare_ranks
from commonir.runtime.ranks.program import Ranks, full_name

Array = NDArray[Any]


class RanksSide(NamedTuple):
    """One side of a comparison: a lowered program of several ranks, and the engine that runs it.

    With `whole`, the function that it was divided from, it runs on the inputs of that.
    """

    module: Module
    ranks: Ranks
    engine: Engine
    whole: Function | None = None

    @property
    def outputs(self) -> dict[str, Value]:
        """The outputs of all ranks by name."""
        return {
            full_name(rank, name): value
            for rank, f in enumerate(self.ranks.functions)
            for name, value in zip(f.output_names, f.outputs, strict=True)
        }

    def run(self, inputs: Mapping[str, Array], options: EngineOptions) -> dict[str, Array]:
        """Returns the outputs for some inputs."""
        given = inputs if self.whole is None else shard_inputs(self.whole, self.ranks, inputs)
        return prepare_ranks(self.engine, self.module, self.ranks, options).run(given)

    def precisions(self) -> dict[Value, Precision]:
        """Returns the precision of each value; see `divergence.precisions`."""
        return {value: precision for f in self.ranks.functions for value, precision in precisions(f).items()}


class WholeSide(NamedTuple):
    """One side of a comparison: a program that other ranks were divided from. Its outputs are what each rank has of
    them.
    """

    side: Side
    ranks: Ranks

    @property
    def engine(self) -> Engine:
        """The engine that runs it."""
        return self.side.engine

    @property
    def outputs(self) -> dict[str, Value]:
        """The outputs of which ranks have a part, by the names of the parts."""
        known = self.side.outputs
        return {name: known[source] for name, source in output_sources(self.side.function, self.ranks).items()}

    def run(self, inputs: Mapping[str, Array], options: EngineOptions) -> dict[str, Array]:
        """Returns the outputs for some inputs."""
        side = self.side
        outputs = side.engine.prepare(side.module, side.function.symbol_name, options).run(inputs)
        return shard_outputs(side.function, self.ranks, outputs)

    def precisions(self) -> dict[Value, Precision]:
        """Returns the precision of each value; see `divergence.precisions`."""
        return precisions(self.side.function)


def compare_ranks(
    a: RanksSide | WholeSide,
    b: RanksSide | WholeSide,
    inputs: Mapping[str, Array],
    options: EngineOptions,
    required: Requirements,
) -> Comparison:
    """Runs both sides and compares the outputs that both have.

    Raises: DiagnosticError (E0714 when there is none, and what running raises).
    """
    first, second = a.outputs, b.outputs
    shared = [name for name in first if name in second]
    if not shared:
        message = "the programs have no output of the same name"
        raise DiagnosticError(Diagnostic(NOTHING_TO_COMPARE, message, help="rename outputs with `cir edit --rename`"))
    results = a.run(inputs, options), b.run(inputs, options)
    known = a.precisions(), b.precisions()

    def difference(name: str) -> ValueDifference:
        left, right = first[name], second[name]
        default = known[0].get(left, EXACT).joined(known[1].get(right, EXACT))
        op_names = _operation_name(left), _operation_name(right)
        tolerance = required.of(name, default.rtol, default.largest)
        found = value_difference(name, op_names, results[0][name], results[1][name], tolerance)
        return found.replaced(is_output=True)

    return Comparison(
        engines=(a.engine.name, b.engine.name),
        function="",
        values=tuple([difference(name) for name in shared]),
        outputs=tuple(shared),
        only_first=tuple([name for name in first if name not in second]),
        only_second=tuple([name for name in second if name not in first]),
        divergences=(),
        peak_values=(),
        peak_bytes=(),
    )


def _operation_name(value: Value) -> str:
    return value.owner.name if isinstance(value.owner, Operation) else ""
