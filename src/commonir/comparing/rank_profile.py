"""Profiles programs of several ranks: what each computes apart from what it sends and waits for.

Ranks of one process take turns, so the time in which a rank waits for its turn says nothing. The measured times of
computing and sending are put on a time line with a processor for each rank: a rank waits for a message until its sender
has sent it, and at a barrier until the last rank is there.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any

from numpy.typing import NDArray

from commonir.base.codes import UNSUPPORTED_EXECUTION
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.tuples import NamedTuple
from commonir.comparing.divergence import Side
from commonir.comparing.profile import Repeats, Timing, pieces, timed
from commonir.ir.module import Function, Module
from commonir.ir.operation import Operation, Value
from commonir.ir.types import TensorType
from commonir.reports import Profile, ProfileEntry, RankProfile, RankStep
from commonir.runtime.engine import Engine, EngineOptions, runs_ranks
from commonir.runtime.ranks.communicator import Arrays, Communicator
from commonir.runtime.ranks.execution import RanksExecutable
from commonir.runtime.ranks.program import Ranks, communicates, full_name
from commonir.runtime.ranks.transport import Posted, Transport
from commonir.runtime.ranks.waiting import Key, Tag, Wait

Array = NDArray[Any]

_MAX_STEPS = 20_000
"""Steps of a rank that a profile lists."""


class _Call(NamedTuple):
    """A call of the transport; `key` is None for a barrier, and `is_send` is false for receives."""

    started: float
    ended: float
    key: Key | None
    is_send: bool
    size_bytes: int


class _Run(NamedTuple):
    """The calls of a rank in one run, when it began and when it ended."""

    started: float
    calls: list[_Call]
    ended: float

    def before(self, n: int) -> float:
        """Returns when the call before another one ended."""
        return self.calls[n - 1].ended if n else self.started


class _Transport:
    """A transport that records its calls."""

    def __init__(self, transport: Transport, calls: list[_Call]) -> None:
        self._transport = transport
        self._calls = calls
        self.rank = transport.rank
        self.world_size = transport.world_size

    def check(self) -> None:
        """See `Transport`."""
        self._transport.check()

    def isend(self, destination: int, tag: Tag, array: Array) -> None:
        """See `Transport`."""
        start = time.perf_counter()
        self._transport.isend(destination, tag, array)
        key = Key(self.rank, destination, tag)
        self._calls.append(_Call(start, time.perf_counter(), key, True, array.nbytes))

    def post_recv(self, source: int, tag: Tag, type: TensorType) -> Posted:
        """See `Transport`."""
        return self._transport.post_recv(source, tag, type)

    def wait(self, posted: Posted, wait: Wait) -> Array:
        """See `Transport`."""
        start = time.perf_counter()
        result = self._transport.wait(posted, wait)
        self._calls.append(_Call(start, time.perf_counter(), posted.key, False, result.nbytes))
        return result

    def barrier(self, wait: Wait) -> None:
        """See `Transport`."""
        start = time.perf_counter()
        self._transport.barrier(wait)
        self._calls.append(_Call(start, time.perf_counter(), None, False, 0))


class _Recorder(Communicator):
    """A communicator that records the calls of each run, when it began and ended, and the results of the last one."""

    def __init__(self) -> None:
        super().__init__()
        self.runs: list[_Run] = []
        self.results: list[Arrays] = []
        self._calls: list[_Call] = []
        self._started = 0.0

    def begin(self, transport: Transport, function: Function) -> None:
        self._calls, self.results = [], []
        super().begin(_Transport(transport, self._calls), function)
        self._started = time.perf_counter()

    def end(self) -> None:
        self.runs.append(_Run(self._started, self._calls, time.perf_counter()))

    def usual_run(self, repeat: int) -> _Run:
        """Returns a run with the median of each time between calls, and in a call, of the last runs."""
        runs = self.runs[-repeat:]
        runs = [run for run in runs if len(run.calls) == len(runs[-1].calls)]
        calls: list[_Call] = []
        at = 0.0
        for n, call in enumerate(runs[-1].calls):
            start = at + median(run.calls[n].started - run.before(n) for run in runs)
            at = start + median(run.calls[n].ended - run.calls[n].started for run in runs)
            calls.append(call._replace(started=start, ended=at))
        return _Run(0.0, calls, at + median(run.ended - run.before(len(run.calls)) for run in runs))

    def execute(self, op: Operation, values: Mapping[Value, Array]) -> Arrays:
        result = super().execute(op, values)
        self.results.append(result)
        return result


def profile_ranks(
    source: Module,
    module: Module,
    ranks: Ranks,
    engine: Engine,
    inputs: Mapping[str, Array],
    repeats: Repeats,
    options: EngineOptions,
    on_progress: Callable[[str], None],
) -> Profile:
    """Returns the costs of a program of several ranks; `module` is the `source` lowered.

    Raises: DiagnosticError (E0709 for an engine that does not run all ranks in one process) as running does.
    """
    if runs_ranks(engine):
        message = f"the engine '{engine.name}' runs ranks in processes of their own, which are not profiled"
        help = "leave out the engine: the ranks then run in one process"
        raise DiagnosticError(Diagnostic(UNSUPPORTED_EXECUTION, message, help=help))
    on_progress("running all ranks")
    recorders = [_Recorder() for _ in ranks.functions]
    start = time.perf_counter()
    executable = RanksExecutable(engine, module, ranks, options, recorders)
    executable.run(inputs)
    first = time.perf_counter() - start
    timing: Timing = timed(executable, inputs, repeats)
    by_rank = ranks.inputs_by_rank(inputs)
    runs = [recorder.usual_run(repeats.repeat) for recorder in recorders]
    lines = _time_lines(runs)
    profiles: list[RankProfile] = []
    entries: list[ProfileEntry] = []
    for rank, function in enumerate(ranks.functions):
        on_progress(f"running the operations of rank {rank}")
        side = Side(source, engine, function.symbol_name, lowered=module)
        peak_bytes, own = _entries(side, by_rank[rank], recorders[rank], repeats, options)
        entries += [e.replaced(name=full_name(rank, e.name), rank=rank) for e in own]
        profiles.append(_rank_profile(rank, function.symbol_name, lines[rank], runs[rank], peak_bytes))
    return Profile(
        engine=engine.name,
        function=", ".join(f.symbol_name for f in ranks.functions),
        repeat=repeats.repeat,
        first_seconds=first,
        seconds=timing.median,
        least_seconds=timing.minimum,
        call_seconds=0.0,
        peak_bytes=sum(p.peak_bytes for p in profiles),
        entries=tuple(entries),
        ranks=tuple(profiles),
        parallel_seconds=max([p.seconds for p in profiles], default=0.0),
    )


def _rank_profile(rank: int, name: str, steps: Sequence[RankStep], run: _Run, peak_bytes: int) -> RankProfile:
    seconds = {kind: sum(s.seconds for s in steps if s.kind in kinds) for kind, *kinds in _KINDS}
    sent = [call for call in run.calls if call.is_send]
    return RankProfile(
        rank=rank,
        name=name,
        seconds=max([s.start + s.seconds for s in steps], default=0.0),
        compute_seconds=seconds["compute"],
        send_seconds=seconds["send"],
        wait_seconds=seconds["wait"],
        messages=len(sent),
        sent_bytes=sum(call.size_bytes for call in sent),
        peak_bytes=peak_bytes,
        steps=tuple(steps[:_MAX_STEPS]),
    )


_KINDS = (("compute", "compute"), ("send", "send"), ("wait", "wait", "barrier"))


def _entries(
    side: Side,
    inputs: Mapping[str, Array],
    recorder: _Recorder,
    repeats: Repeats,
    options: EngineOptions,
) -> tuple[int, Sequence[ProfileEntry]]:
    """Returns the memory and the costs of the operations of a rank, which takes what it received in an earlier run; no
    costs where it communicates in loops or branches.
    """
    exchanging = [op for op in side.function.body.operations if communicates(op)]
    is_nested = any(
        communicates(inner) for op in side.function.body.operations for inner in op.walk() if inner is not op
    )
    if is_nested or len(exchanging) != len(recorder.results):
        return 0, ()
    known = {
        v: array
        for op, arrays in zip(exchanging, recorder.results, strict=True)
        for v, array in zip(op.results, arrays, strict=True)
    }
    run, entries = pieces(side, {**side.initial, **inputs}, repeats, options, known=known)
    return run.peak.size_bytes, entries


# -- the time line


def _time_lines(runs: Sequence[_Run]) -> list[list[RankStep]]:
    """Returns the steps of each rank with a processor for each, from the measured times of one run."""
    clocks = [0.0] * len(runs)
    ends = [run.started for run in runs]
    position = [0] * len(runs)
    steps: list[list[RankStep]] = [[] for _ in runs]
    arrived: dict[Key, deque[float]] = {}
    at_barrier: dict[int, float] = {}
    active = True
    while active:
        active = False
        for rank, run in enumerate(runs):
            while position[rank] < len(run.calls):
                call = run.calls[position[rank]]
                if rank not in at_barrier:
                    _compute(steps[rank], clocks, rank, call.started - ends[rank])
                    ends[rank] = call.started
                if call.key is not None and call.is_send:
                    _step(steps[rank], clocks, rank, "send", call.ended - call.started, call)
                    arrived.setdefault(call.key, deque()).append(clocks[rank])
                elif call.key is not None:
                    messages = arrived.get(call.key)
                    if not messages:
                        break
                    _step(steps[rank], clocks, rank, "wait", max(messages.popleft() - clocks[rank], 0.0), call)
                else:
                    at_barrier[rank] = clocks[rank]
                    if len(at_barrier) < len(runs):
                        break
                    latest = max(at_barrier.values())
                    for other in at_barrier:
                        own = runs[other].calls[position[other]]
                        _step(steps[other], clocks, other, "barrier", latest - clocks[other], own)
                        ends[other] = own.ended
                        if other != rank:
                            position[other] += 1
                    at_barrier.clear()
                ends[rank] = call.ended
                position[rank] += 1
                active = True
    for rank, run in enumerate(runs):
        _compute(steps[rank], clocks, rank, run.ended - ends[rank])
    return steps


def _compute(steps: list[RankStep], clocks: list[float], rank: int, seconds: float) -> None:
    if seconds > 0:
        steps.append(RankStep("compute", clocks[rank], seconds))
        clocks[rank] += seconds


def _step(steps: list[RankStep], clocks: list[float], rank: int, kind: str, seconds: float, call: _Call) -> None:
    key = call.key
    counterpart = None if key is None else key.destination if call.is_send else key.source
    steps.append(RankStep(kind, clocks[rank], seconds, counterpart, None if key is None else key.tag, call.size_bytes))
    clocks[rank] += seconds
