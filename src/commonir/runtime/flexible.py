"""Executables that lower a program again when the assumptions of lowering do not hold.

Lowering makes assumptions about unknown dimensions, such as that two of them are equal. When inputs, or values computed
from them, have other shapes, the program is lowered again for the shapes of these inputs. If that fails because dims
depend on data, each operation is lowered when it is reached. So a program is refused only if it is wrong for the
actual shapes.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from threading import Lock
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
from commonir.runtime.binding.inputs import bind
from commonir.runtime.binding.ports import Shapes, names_of
from commonir.runtime.binding.signatures import has_declared_lists, result_faults
from commonir.runtime.engine import Engine, EngineOptions, Executable
from commonir.runtime.state import State
from commonir.runtime.values import is_array

Array = NDArray[Any]

MAX_PROGRAMS = 4
"""The number of programs for particular input shapes that are cached, besides the general one."""

_SHAPE_CODES = (VIOLATED_CONSTRAINT, WRONG_TYPE, WRONG_RESULT_TYPE, WRONG_DIMENSIONS, NOT_KNOWN_BEFORE_RUNNING)


class FlexibleExecutable:
    """A prepared function that runs for all shapes that its declared types allow."""

    def __init__(
        self, source: Module, lowered: Module, engine: Engine, function: str | None, options: EngineOptions
    ) -> None:
        self._source = source
        self._engine = engine
        self._options = options
        self._function = lowered.function(function)
        self._general = engine.prepare(lowered, function, options)
        self._special: OrderedDict[object, Executable] = OrderedDict()
        declared = source.function(function)
        self._declared = declared if has_declared_lists(declared) else None
        self._running = Lock()

    def __repr__(self) -> str:
        return f"<executable {self._function.symbol_name} on {self._engine.name}>"

    @property
    def general(self) -> Executable | None:
        """The program that runs for all shapes; None after a run for which it was lowered again."""
        return None if self._special else self._general

    @property
    def state(self) -> State:
        """The contents of mutable globals; see `Executable`."""
        return self._general.state

    @state.setter
    def state(self, state: State) -> None:
        self._general.state = state

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """Returns the outputs by name; see `Executable`. Runs of several threads take turns: plans reuse buffers."""
        with self._running:
            outputs = self._outputs(inputs)
        if self._declared is not None:
            faults = tuple(result_faults(self._declared, inputs, outputs))
            if faults:
                raise DiagnosticError(*faults)
        return outputs

    def _outputs(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        if self._special:
            key = _key(inputs)
            executable = self._special.get(key)
            if executable is not None:
                self._special.move_to_end(key)
                return self._run(executable, inputs)
        try:
            return self._general.run(inputs)
        except DiagnosticError as error:
            if any(d.code not in _SHAPE_CODES for d in error.diagnostics):
                raise
            first = error
        # Inputs that contradict their declared types are wrong for any lowering. That a dimension is not
        # zero was only assumed.
        bound = bind(self._function, inputs, check_lower_bounds=False).arrays
        named = zip(names_of(self._function), bound, strict=True)
        shapes = {n: x.shape for n, x in named if is_array(x)}
        try:
            return self._run_specialized(inputs, shapes)
        except DiagnosticError as error:
            # The first errors about shapes explain more than the failure of the same operations when they ran.
            reported = {_operation_at(d) for d in first.diagnostics}
            if all(d.code is EXECUTION_FAILED and _operation_at(d) in reported for d in error.diagnostics):
                raise first from None
            raise

    def _run_specialized(self, inputs: Mapping[str, Array], shapes: Shapes) -> dict[str, Array]:
        try:
            return self._run_lowered(Deferral.OPEN, inputs, shapes)
        except DiagnosticError as error:
            if any(d.code not in _SHAPE_CODES for d in error.diagnostics):
                raise
        return self._run_lowered(Deferral.ALL, inputs, shapes)

    def _run_lowered(self, defer: Deferral, inputs: Mapping[str, Array], shapes: Shapes) -> dict[str, Array]:
        name = self._function.symbol_name
        lowered = lower(self._source, defer, shapes, name)
        executable = self._engine.prepare(lowered, name, self._options)
        outputs = self._run(executable, inputs)
        self._special[_key(inputs)] = executable
        if len(self._special) > MAX_PROGRAMS:
            self._special.popitem(last=False)
        return outputs

    def _run(self, executable: Executable, inputs: Mapping[str, Array]) -> dict[str, Array]:
        executable.state = self.state
        return executable.run(inputs)


def _operation_at(diagnostic: Diagnostic) -> str:
    """Returns the name of the operation that a diagnostic is about, which lowering preserves, unlike its position."""
    return (diagnostic.where or "").rpartition("] ")[2]


def _key(inputs: Mapping[str, Array]) -> object:
    return tuple([(name, x.shape if is_array(x) else None) for name, x in sorted(inputs.items())])
