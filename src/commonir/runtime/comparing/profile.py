"""Measures time, memory and arithmetic of the operations of a program on an engine, each separately.

A program runs piece by piece (`piecewise.py`), one piece for each named value. Each piece is prepared once and run
repeatedly. Operations that an engine fuses in an ordinary run are computed separately here, so the whole program is
timed too. Each entry includes the overhead of calling the engine, which is reported.
"""

from __future__ import annotations

import json
import os
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from commonir.base.files import atomic_file
from commonir.base.tuples import NamedTuple
from commonir.dialects import core
from commonir.dialects.mlir import ml_program
from commonir.ir.module import Module
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.types import FunctionType, f32, tensor
from commonir.passes.count_flops import count_flops
from commonir.reports import Profile, ProfileEntry
from commonir.runtime.comparing.divergence import Side
from commonir.runtime.comparing.piecewise import PiecewiseRun
from commonir.runtime.engine import EngineOptions, Executable
from commonir.runtime.values import flat_array

Array = NDArray[np.generic]

_MICROSECONDS = 1e6


class Repeats(NamedTuple):
    """The number of untimed and timed runs."""

    warmup: int
    repeat: int


class _Timing(NamedTuple):
    """The median and minimum of several times, in seconds."""

    median: float
    minimum: float


def profile(
    side: Side,
    inputs: Mapping[str, Array],
    repeats: Repeats,
    options: EngineOptions,
    on_progress: Callable[[str], None],
) -> Profile:
    """Returns the costs of each operation of a program on some inputs. `on_progress` receives messages.

    Raises: DiagnosticError as running does.
    """
    on_progress("running the whole program")
    start = time.perf_counter()
    executable = side.engine.prepare(side.module, side.function.symbol_name, options)
    executable.run(inputs)
    first = time.perf_counter() - start
    timing = _timed(executable, inputs, repeats)
    values = [v for v in dict.fromkeys((*side.values.values(), *side.outputs.values())) if _is_computed(v)]
    run = _ProfiledRun(side, inputs, values, repeats, options)
    for n, _ in enumerate(run.values(values)):
        on_progress(f"running operations: {n + 1} of {len(values)}")
    return Profile(
        engine=side.engine.name,
        function=side.function.symbol_name,
        repeat=repeats.repeat,
        first_seconds=first,
        seconds=timing.median,
        least_seconds=timing.minimum,
        call_seconds=_call_overhead(side, repeats, options),
        peak_bytes=run.peak.size_bytes,
        entries=tuple(run.entries),
    )


def _call_overhead(side: Side, repeats: Repeats, options: EngineOptions) -> float:
    """Returns the overhead of a call, measured with a trivial program, in seconds."""
    scalar = tensor(f32)
    block = Block([scalar], ["x"])
    operation = block.append(core.Neg(block.arguments[0]))
    block.append(ml_program.Return((operation.result,)))
    module = Module()
    module.body.append(ml_program.Func("main", FunctionType((scalar,), (scalar,)), Region([block]), ("y",)))
    return _timed(side.engine.prepare(module, None, options), {"x": np.zeros((), np.float32)}, repeats).median


def _is_computed(value: Value) -> bool:
    return isinstance(value.owner, Operation) and value.owner.constant_data() is None


def _timed(executable: Executable, inputs: Mapping[str, Array], repeats: Repeats) -> _Timing:
    """Runs a program several times and returns its times."""
    for _ in range(repeats.warmup):
        executable.run(inputs)
    seconds: list[float] = []
    for _ in range(repeats.repeat):
        start = time.perf_counter()
        executable.run(inputs)
        seconds.append(time.perf_counter() - start)
    return _Timing(statistics.median(seconds), min(seconds))


class _ProfiledRun(PiecewiseRun):
    """A run whose pieces compute one named value each, and are timed."""

    def __init__(
        self, side: Side, inputs: Mapping[str, Array], values: Sequence[Value], repeats: Repeats, options: EngineOptions
    ) -> None:
        super().__init__(side.module, side.function, inputs, side.engine, options=options)
        self.entries: list[ProfileEntry] = []
        self._side = side
        self._repeats = repeats
        self._values = set(values)
        self._piece: Sequence[Operation] = ()

    def _pieces(self, steps: Sequence[Operation]) -> Iterator[list[Operation]]:
        piece: list[Operation] = []
        for op in steps:
            piece.append(op)
            if not self._values.isdisjoint(op.results):
                self._piece = piece
                yield piece
                piece = []

    def _run_module(self, module: Module, feeds: Mapping[str, Array]) -> Mapping[str, Array]:
        executable = self._engine.prepare(module, None, self._options)
        result = executable.run(feeds)
        timing = _timed(executable, feeds, self._repeats)
        named = [v for op in self._piece for v in op.results if v in self._values]
        name = next((n for n, v in (*self._side.values.items(), *self._side.outputs.items()) if v in named), "")
        flops = count_flops(module.main)
        self.entries.append(
            ProfileEntry(
                name=name,
                operation=self._side.operation_name(name),
                type=str(named[-1].type) if named else "",
                operations=tuple([op.name for op in self._piece]),
                seconds=timing.median,
                least_seconds=timing.minimum,
                size_bytes=sum(flat_array(x).nbytes for x in result.values()),
                flops=flops if isinstance(flops, int) else None,
                node=self._side.node_name(name),
            )
        )
        return result


def save_trace(profile: Profile, path: str | os.PathLike[str]) -> None:
    """Writes the entries of a profile as consecutive events, for trace viewers (chrome://tracing, Perfetto).

    Source: Trace Event Format. Raises: DiagnosticError (E08xx).
    """
    events: list[dict[str, object]] = []
    at = 0.0
    for entry in profile.entries:
        duration = entry.seconds * _MICROSECONDS
        reported = {"value": entry.name, "type": entry.type, "bytes": entry.size_bytes, "flops": entry.flops}
        common = {"ph": "X", "pid": 1, "tid": 1, "cat": profile.engine, "args": reported}
        events.append({"name": entry.operation or entry.name, "ts": at, "dur": duration, **common})
        at += duration
    with atomic_file(path) as out:
        out.write(json.dumps({"traceEvents": events, "displayTimeUnit": "ms"}).encode())
