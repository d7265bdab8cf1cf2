"""Programs that are lowered again when what lowering took for granted does not hold.

Where two unknown sizes meet, lowering takes them to be equal and says so; other facts about sizes are assumed likewise.
When inputs, or values computed from them, turn out to have other sizes, the program is lowered for the shapes of these
inputs; and when that does not do, because sizes depend on the contents of inputs, every operation is stated when it is
reached. Only what is wrong for the sizes at hand is refused.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from commonir.base.codes import (
    EXECUTION_FAILED,
    NOT_KNOWN_BEFORE_RUNNING,
    VIOLATED_CONSTRAINT,
    WRONG_DIMENSIONS,
    WRONG_RESULT_TYPE,
    WRONG_TYPE,
)
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.ir.module import Module
from commonir.passes.lower import Deferral, lower
from commonir.runtime.binding import bind
from commonir.runtime.engine import Engine, EngineOptions, Executable
from commonir.runtime.ports import Shapes, names_of
from commonir.runtime.state import State
from commonir.runtime.values import is_array

Array = NDArray[Any]

KEPT_PROGRAMS = 4
"""Programs kept for shapes of inputs, beside the one for all."""

_ABOUT_SIZES = (
    VIOLATED_CONSTRAINT,
    WRONG_TYPE,
    WRONG_RESULT_TYPE,
    WRONG_DIMENSIONS,
    NOT_KNOWN_BEFORE_RUNNING,
)


class FlexibleExecutable:
    """A function that is ready to run, for all sizes that its declared types allow."""

    def __init__(
        self, source: Module, lowered: Module, engine: Engine, function: str | None, options: EngineOptions
    ) -> None:
        self._source = source
        self._engine = engine
        self._options = options
        self._function = lowered.function(function)
        self._general = engine.prepare(lowered, function, options)
        self._special: OrderedDict[object, Executable] = OrderedDict()

    @property
    def state(self) -> State:
        """What mutable globals hold; see `Executable`."""
        return self._general.state

    @state.setter
    def state(self, state: State) -> None:
        self._general.state = state

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """Returns the outputs by name; see `Executable`."""
        if self._special:
            key = _key(inputs)
            found = self._special.get(key)
            if found is not None:
                self._special.move_to_end(key)
                return self._run(found, inputs)
        try:
            return self._general.run(inputs)
        except DiagnosticError as error:
            if any(d.code not in _ABOUT_SIZES for d in error.diagnostics):
                raise
            first = error
        # What contradicts the declared types of inputs is wrong however the program is lowered. That a size is not zero
        # was only taken for granted.
        bound = bind(self._function, inputs, least=False).arrays
        named = zip(names_of(self._function), bound, strict=True)
        shapes = {n: x.shape for n, x in named if is_array(x)}
        try:
            return self._run_specialized(inputs, shapes)
        except DiagnosticError as error:
            # What was told of sizes says more than what went wrong when the same operation was reached with them.
            reported = {_operation_at(d) for d in first.diagnostics}
            if all(d.code is EXECUTION_FAILED and _operation_at(d) in reported for d in error.diagnostics):
                raise first from None
            raise

    def _run_specialized(self, inputs: Mapping[str, Array], shapes: Shapes) -> dict[str, Array]:
        try:
            return self._run_lowered(Deferral.OPEN, inputs, shapes)
        except DiagnosticError as error:
            if any(d.code not in _ABOUT_SIZES for d in error.diagnostics):
                raise
        return self._run_lowered(Deferral.ALL, inputs, shapes)

    def _run_lowered(self, defer: Deferral, inputs: Mapping[str, Array], shapes: Shapes) -> dict[str, Array]:
        name = self._function.symbol_name
        lowered = lower(self._source, defer, shapes, name)
        built = self._engine.prepare(lowered, name, self._options)
        outputs = self._run(built, inputs)
        self._special[_key(inputs)] = built
        if len(self._special) > KEPT_PROGRAMS:
            self._special.popitem(last=False)
        return outputs

    def _run(self, executable: Executable, inputs: Mapping[str, Array]) -> dict[str, Array]:
        executable.state = self.state
        return executable.run(inputs)


def _operation_at(found: Diagnostic) -> str:
    """Returns the name of the operation that a finding is about, which stays while its position changes with
    lowering.
    """
    return (found.where or "").rpartition("] ")[2]


def _key(inputs: Mapping[str, Array]) -> object:
    return tuple([(name, x.shape if is_array(x) else None) for name, x in sorted(inputs.items())])
