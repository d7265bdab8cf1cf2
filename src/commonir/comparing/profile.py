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
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from commonir.base.files import atomic_file
from commonir.base.tuples import NamedTuple
from commonir.comparing.divergence import Side
from commonir.comparing.piecewise import PiecewiseRun
from commonir.dialects import core
from commonir.dialects.mlir import ml_program
from commonir.ir.module import Module
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.types import FunctionType, f32, tensor
from commonir.passes.count_flops import count_flops
from commonir.reports import Profile, ProfileEntry
from commonir.runtime.engine import EngineOptions, Executable, OperationTime, times_operations
from commonir.runtime.values import flat_array
from commonir.symbolic import Dim

Array = NDArray[np.generic]

_MICROSECONDS = 1e6


class Repeats(NamedTuple):
    """The number of untimed and timed runs."""

    warmup: int
    repeat: int


class Timing(NamedTuple):
    """The median and minimum of several times, in seconds."""

    median: float
    minimum: float


def profile(
    side: Side,
    inputs: Mapping[str, Array],
    repeats: Repeats,
    options: EngineOptions,
    on_progress: Callable[[str], None],
    costs: Mapping[str, ProfileEntry] = MappingProxyType({}),
) -> Profile:
    """Returns the costs of each operation of a program on some inputs. `on_progress` receives messages.

    An engine that times operations itself does so in ordinary runs; what operations compute and move is then taken from
    `costs`, by the name of the value. Raises: DiagnosticError as running does.
    """
    on_progress("running the whole program")
    start = time.perf_counter()
    executable = side.engine.prepare(side.module, side.function.symbol_name, options)
    executable.run(inputs)
    first = time.perf_counter() - start
    timing = timed(executable, inputs, repeats)
    result = Profile(
        engine=side.engine.name,
        function=side.function.symbol_name,
        repeat=repeats.repeat,
        first_seconds=first,
        seconds=timing.median,
        least_seconds=timing.minimum,
        call_seconds=0.0,
        peak_bytes=max([e.live_bytes or 0 for e in costs.values()], default=0),
        entries=(),
        method="total",
    )
    if times_operations(side.engine):
        on_progress("timing operations")
        name = side.function.symbol_name
        times = side.engine.operation_times(side.module, name, inputs, options, repeats.repeat)
        entries = tuple([_timed_entry(side, t, costs) for t in times])
        return result.replaced(entries=entries, method="engine" if entries else "total")
    run, entries = pieces(side, inputs, repeats, options, on_progress)
    return result.replaced(
        call_seconds=_call_overhead(side, repeats, options),
        peak_bytes=run.peak.size_bytes,
        peak_values=run.named_peak(),
        entries=entries,
        method="separate",
    )


def pieces(
    side: Side,
    inputs: Mapping[str, Array],
    repeats: Repeats,
    options: EngineOptions,
    on_progress: Callable[[str], None] = lambda _: None,
    known: Mapping[Value, Array] = MappingProxyType({}),
) -> tuple[ProfiledRun, tuple[ProfileEntry, ...]]:
    """Runs each operation of a function alone and returns the run and the costs; values in `known` are not computed.

    Raises: DiagnosticError as running does.
    """
    values = [
        v for v in dict.fromkeys((*side.values.values(), *side.outputs.values())) if _is_computed(v) and v not in known
    ]
    run = ProfiledRun(side, inputs, values, repeats, options, known)
    for n, _ in enumerate(run.values(values)):
        on_progress(f"running operations: {n + 1} of {len(values)}")
    return run, tuple(run.entries)


def _timed_entry(side: Side, timed: OperationTime, costs: Mapping[str, ProfileEntry]) -> ProfileEntry:
    """Returns the cost of an operation that the engine has timed."""
    known = costs.get(timed.value)
    together = [costs[value] for _, value in timed.origins if value in costs]
    flops = [entry.flops for entry in together or [known] if entry is not None and entry.flops is not None]
    return ProfileEntry(
        name=timed.value or timed.name,
        operation=_operations_of(side, timed) + (f" ({timed.note})" if timed.note else ""),
        type="" if known is None else known.type,
        operations=tuple([operation for operation, _ in timed.origins]) or (timed.operation,),
        seconds=timed.seconds,
        least_seconds=timed.least_seconds,
        size_bytes=timed.size_bytes if known is None else known.size_bytes,
        flops=sum(flops) if flops else None,
        node=side.node_name(timed.value) if timed.value else "",
        # What fused operations move between them is not moved.
        moved_bytes=None if known is None or len(together) > 1 else known.moved_bytes,
        live_bytes=None if known is None else known.live_bytes,
    )


def _operations_of(side: Side, timed: OperationTime) -> str:
    """Returns the operations of the source program that an engine computes together."""
    named = [side.operation_name(value) for _, value in timed.origins if value]
    together = dict.fromkeys([name for name in named if name])
    own = side.operation_name(timed.value) if timed.value and not together else ""
    return " + ".join(together) or own or timed.operation


def _call_overhead(side: Side, repeats: Repeats, options: EngineOptions) -> float:
    """Returns the overhead of a call, measured with a trivial program, in seconds."""
    scalar = tensor(f32)
    block = Block([scalar], ["x"])
    operation = block.append(core.Neg(block.arguments[0]))
    block.append(ml_program.Return((operation.result,)))
    module = Module()
    module.body.append(ml_program.Func("main", FunctionType((scalar,), (scalar,)), Region([block]), ("y",)))
    return timed(side.engine.prepare(module, None, options), {"x": np.zeros((), np.float32)}, repeats).median


def _is_computed(value: Value) -> bool:
    return isinstance(value.owner, Operation) and value.owner.constant_data() is None


def timed(executable: Executable, inputs: Mapping[str, Array], repeats: Repeats) -> Timing:
    """Runs a program several times and returns its times."""
    for _ in range(repeats.warmup):
        executable.run(inputs)
    seconds: list[float] = []
    for _ in range(repeats.repeat):
        start = time.perf_counter()
        executable.run(inputs)
        seconds.append(time.perf_counter() - start)
    return Timing(statistics.median(seconds), min(seconds))


class _Prepared(NamedTuple):
    """A piece that is prepared: the number of its operations on floats, and the bytes of its constants."""

    executable: Executable
    flops: Dim
    weights_bytes: int


_MOST_SHARED, _MOST_SHARED_BYTES = 256, 2**16
"""How many prepared pieces are kept for equal ones, and how many bytes they read at most: they hold buffers."""


class ProfiledRun(PiecewiseRun):
    """A run whose pieces compute one named value each, and are timed."""

    def __init__(
        self,
        side: Side,
        inputs: Mapping[str, Array],
        values: Sequence[Value],
        repeats: Repeats,
        options: EngineOptions,
        known: Mapping[Value, Array] = MappingProxyType({}),
    ) -> None:
        super().__init__(side.module, side.function, inputs, side.engine, options=options, known=known)
        self.entries: list[ProfileEntry] = []
        self._side = side
        self._repeats = repeats
        self._values = set(values)
        names = (*side.outputs.items(), *reversed(side.values.items()))
        self._names = {v: n for n, v in names}
        self._piece: Sequence[Operation] = ()
        self._prepared: dict[tuple[object, ...], _Prepared] = {}

    def _pieces(self, steps: Sequence[Operation]) -> Iterator[list[Operation]]:
        piece: list[Operation] = []
        for op in steps:
            piece.append(op)
            if not self._values.isdisjoint(op.results):
                self._piece = piece
                yield piece
                piece = []

    def named_peak(self) -> dict[str, int]:
        """Returns the values that were live when most memory was used, with their sizes, largest first."""
        names = {v: n for n, v in (*self._side.inputs.items(), *self._side.values.items(), *self._side.outputs.items())}
        live = self._live
        sizes = {names.get(v, v.name or "unnamed"): live.sizes_bytes[v] for v in live.at_peak}
        return dict(sorted(sizes.items(), key=lambda item: -item[1]))

    def _run_piece(self, piece: Sequence[Operation], uses_left: Counter[Value]) -> None:
        count = len(self.entries)
        super()._run_piece(piece, uses_left)
        if len(self.entries) > count:
            self.entries[-1] = self.entries[-1].replaced(live_bytes=self.live_bytes)

    def _prepare(
        self,
        piece: Sequence[Operation],
        captured: Sequence[Value],
        outputs: Sequence[Value],
        feeds: Mapping[str, Array],
    ) -> _Prepared:
        """Prepares a piece, or returns what an equal one was prepared to: preparing takes longer than a run of few
        elements.
        """
        is_small = sum(flat_array(x).nbytes for x in feeds.values()) <= _MOST_SHARED_BYTES
        key = self._key_of(piece, captured, outputs) if is_small else None
        known = None if key is None else self._prepared.get(key)
        if known is not None:
            return known
        module = self._module_of(piece, captured, outputs)
        flops = count_flops(module.main)
        weights = sum(d.size_bytes for op in module.main.body.operations if (d := op.constant_data()) is not None)
        built = _Prepared(self._engine.prepare(module, None, self._options), flops, weights)
        if key is not None and weights <= _MOST_SHARED_BYTES and len(self._prepared) < _MOST_SHARED:
            self._prepared[key] = built
        return built

    def _run_operations(
        self,
        piece: Sequence[Operation],
        captured: Sequence[Value],
        outputs: Sequence[Value],
        feeds: Mapping[str, Array],
    ) -> Mapping[str, Array]:
        executable, flops, weights = self._prepare(piece, captured, outputs, feeds)
        result = executable.run(feeds)
        timing = timed(executable, feeds, self._repeats)
        named = [v for op in self._piece for v in op.results if v in self._values]
        name = next((self._names[v] for v in named), "")
        size_bytes = sum(flat_array(x).nbytes for x in result.values())
        self.entries.append(
            ProfileEntry(
                name=name,
                operation=self._side.operation_name(name),
                type=str(named[-1].type) if named else "",
                operations=tuple([op.name for op in self._piece]),
                seconds=timing.median,
                least_seconds=timing.minimum,
                size_bytes=size_bytes,
                flops=flops if isinstance(flops, int) else None,
                node=self._side.node_name(name),
                moved_bytes=size_bytes + weights + sum(flat_array(x).nbytes for x in feeds.values()),
            )
        )
        return result


def save_trace(profiles: Sequence[Profile], path: str | os.PathLike[str]) -> None:
    """Writes the entries of profiles as consecutive events, for trace viewers (chrome://tracing, Perfetto): a process
    for each engine. Ranks are threads, with their steps.

    Source: Trace Event Format. Raises: DiagnosticError (E08xx).
    """
    events: list[dict[str, object]] = []
    for number, profile in enumerate(profiles, 1):
        process = {"pid": number, "cat": profile.engine}
        if len(profiles) > 1:
            events.append({"name": "process_name", "ph": "M", "pid": number, "args": {"name": profile.engine}})
        at = 0.0
        for entry in profile.entries if not profile.ranks else ():
            duration = entry.seconds * _MICROSECONDS
            reported = {"value": entry.name, "type": entry.type, "bytes": entry.size_bytes, "flops": entry.flops}
            name = entry.operation or entry.name
            events.append({"name": name, "ph": "X", "tid": 1, "ts": at, "dur": duration, "args": reported, **process})
            at += duration
        for rank in profile.ranks:
            named = {"name": "thread_name", "ph": "M", "tid": rank.rank, "args": {"name": rank.name}}
            events.append({**named, "pid": number})
            for step in rank.steps:
                reported = {"counterpart": step.counterpart, "tag": step.tag, "bytes": step.size_bytes}
                times = {"ts": step.start * _MICROSECONDS, "dur": step.seconds * _MICROSECONDS}
                events.append({"name": step.kind, "ph": "X", "tid": rank.rank, "args": reported, **times, **process})
    with atomic_file(path) as out:
        out.write(json.dumps({"traceEvents": events, "displayTimeUnit": "ms"}).encode())
