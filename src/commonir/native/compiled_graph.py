"""A compiled program that is ready to run: its code in memory, and buffers for each set of sizes so far."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.tuples import NamedTuple
from commonir.llvm.code_loading import CodeLibrary, loaded_code
from commonir.native.output_arrays import OutputArrays
from commonir.native.program import BROKEN, MAIN, OUTGROWN, CompiledProgram
from commonir.native.size_limits import Ranges, SizeLimits, changes, largest, ranges_of, with_room
from commonir.native.threads.sharing_choice import SharingChoice
from commonir.native.watching import Watch
from commonir.runtime.kernel_graph.buffers import ALIGNMENT, LARGE_PAGES, PAGE_BYTES, arena_of
from commonir.runtime.limits import OutOfRange, check_memory

if TYPE_CHECKING:
    from commonir.native.threads.team import Team
    from commonir.native.threads.workers import Workers
    from commonir.runtime.kernel_graph.timing import OnKernel
    from commonir.symbolic import Dim

Array = NDArray[Any]

MAX_SIZES = 8
"""The sets of sizes for which buffers are kept."""

SHARED_COST = 1 << 23
"""The cost from which on work is shared: some 100 microseconds, as long as a worker takes to come."""


class Buffers(NamedTuple):
    """Memory for one set of sizes: the table of addresses, with those of inputs and outputs still open.

    `slots` are the elements of the table, which Python changes faster there, and `addresses` those of the table and of
    the sizes.
    Scratch memory is at the end of the arena, at the address `scratch`, for one thread after the other. `cost` is that
    of the work that threads can share, and `choice` says whether they do. `outputs` are the shapes and dtypes of those
    that are computed, and `kept` has memory for those whose sizes change.
    """

    table: Array
    slots: memoryview[int]
    sizes: Array
    addresses: tuple[int, int]
    arena: Array
    scratch: int
    scratch_bytes: int
    cost: int
    choice: SharingChoice
    outputs: Mapping[str, tuple[tuple[int, ...], np.dtype[Any]]]
    kept: Mapping[str, Array]


class _ProgramBroken(Exception):
    """Sizes that changed, or other data, are not as the program assumes."""


class _SizesOutgrown(Exception):
    """Sizes that changed have reached their limits."""


CHANGES_BEFORE_ROOM = 4
"""The changes of sizes from run to run after which memory has room for others."""

MAX_ROOMY = 2
"""The memories with room that are kept."""

MANY_PAGES = 1 << 18
"""Bytes from which on memory of intermediates is in large pages."""


class CompiledGraph:
    """A compiled program in memory. One thread at a time may run it; others of the process may help."""

    def __init__(
        self,
        program: CompiledProgram,
        threads: int = 1,
        workers: Workers | None = None,
        memory_limit_bytes: int | None = None,
    ) -> None:
        self._program = program
        known = {*program.constants, *[t.name for t in program.inputs]}
        names = [t.name for t in program.outputs]
        # See `PreparedGraph`.
        self.is_output_new = [name not in known and names.count(name) == 1 for name in names]
        self._memory_limit_bytes = memory_limit_bytes
        self._threads = threads
        self._numbers = {name: n for n, name in enumerate(program.table)}
        self._library = loaded_code(program.object_code, program.target)
        self._main = self._library.function(MAIN, 5)
        self._team = _team_of(self._library, program, threads, workers) if threads > 1 else None
        self._buffers: OrderedDict[tuple[int, ...], Buffers] = OrderedDict()
        self._limits = SizeLimits(program)
        self._shapes = {t.name: t.shape for t in program.outputs}
        # Sizes in other runs than the first one, and the positions of those that have differed.
        self._previous_key: tuple[int, ...] | None = None
        self._changes_of_sizes = 0
        self._varying = set[int]()
        self._roomy: OrderedDict[tuple[int, ...], Buffers] = OrderedDict()
        self._may_have_room = memory_limit_bytes is None and all(
            isinstance(t.offset, int) and (t.border is None or isinstance(t.size, int)) for t in program.intermediates
        )
        faults = np.zeros(2, np.int64)
        self._faults, self._faults_address = faults.data, faults.ctypes.data
        self._watch = Watch()
        # What is read of a tensor without elements does not matter, but it must be memory.
        self._outputs = OutputArrays()
        self._nothing = np.zeros(ALIGNMENT, np.uint8)

    @property
    def program(self) -> CompiledProgram:
        """The program."""
        return self._program

    def run(
        self, arrays: Sequence[Array], dims: Mapping[str, int], on_kernel: OnKernel | None = None
    ) -> list[Array] | None:
        """Returns the outputs for arrays of the inputs and values of the symbols; None if the program does not fit.

        With `on_kernel` kernels run in this thread; it is called after each.
        Raises: OutOfRange when a position read from data is outside of its tensor; DiagnosticError (E0711) when more
        memory is needed than the limit.
        """
        while (sizes := self._limits.sizes(dims) if self._program.changing else dims) is not None:
            try:
                return self._run(arrays, sizes, on_kernel)
            except _ProgramBroken:
                return None
            except _SizesOutgrown:
                # A size may exceed the bound that an operation states.
                if not self._limits.enlarge():
                    return None
        return None

    def _run(self, arrays: Sequence[Array], dims: Mapping[str, int], on_kernel: OnKernel | None) -> list[Array]:
        program = self._program
        buffers = self._buffers_for(tuple([dims[s] for s in program.symbols]))
        # Keeps copies alive until the end of the run.
        inputs = [np.ascontiguousarray(a) for a in arrays]
        computed = {n: self._outputs.array(n, shape, dtype) for n, (shape, dtype) in buffers.outputs.items()}
        for tensor, array in zip(program.inputs, inputs, strict=True):
            self._place(buffers, tensor.name, array)
        for name, array in (*computed.items(), *buffers.kept.items()):
            self._place(buffers, name, array)
        try:
            if self._team is not None and on_kernel is None and self._is_shared(buffers):
                self._run_shared(self._team, buffers)
            else:
                self._main(*self._arguments(buffers, on_kernel))
            self._watch.raise_error()
            self._raise_fault(buffers)
        finally:
            self._faults[0] = 0
        if len(computed) == len(program.outputs):
            return [computed[t.name] for t in program.outputs]
        given = {t.name: a for t, a in zip(program.inputs, arrays, strict=True)}
        everything = {**program.constants, **given, **computed, **self._of_changed_sizes(buffers)}
        return [everything[t.name] for t in program.outputs]

    def _of_changed_sizes(self, buffers: Buffers) -> dict[str, Array]:
        """Returns copies of the outputs whose sizes have changed, for those that they have in the end."""
        if not buffers.kept:
            return {}
        dims = dict(zip(self._program.symbols, buffers.sizes.tolist(), strict=True))
        shapes = {t.name: [_value(d, dims) for d in t.shape] for t in self._program.outputs if t.name in buffers.kept}
        return {name: buffers.kept[name][: prod(shape)].reshape(shape).copy() for name, shape in shapes.items()}

    def _place(self, buffers: Buffers, name: str, array: Array) -> None:
        """Puts the address of an input or output into the table."""
        number = self._numbers.get(name)
        if number is not None:
            kept = array if array.size else self._nothing
            buffers.slots[number] = kept.__array_interface__["data"][0]

    def _on_event(self, on_kernel: OnKernel) -> Callable[[int], None]:
        """Returns the function to call after each kernel, and after rounds of loops with -1."""
        calls = self._program.calls

        def on_event(step: int) -> None:
            on_kernel(*("", ()) if step < 0 else (calls[step].node, calls[step].origins))

        on_event(-1)
        return on_event

    def _check_memory(self, size_bytes: int) -> None:
        """Checks the limit for memory of one set of sizes. Raises: DiagnosticError (E0711)."""
        limit = self._memory_limit_bytes
        if limit is None:
            return
        # With a limit only the memory in use is kept.
        self._buffers.clear()
        check_memory(size_bytes + sum([a.nbytes for a in self._program.constants.values()]), limit)

    def _run_shared(self, team: Team, buffers: Buffers) -> None:
        """Runs the program in several threads if that is likely to be faster."""
        start, on_processor = time.perf_counter(), time.thread_time()
        if buffers.choice.is_shared:
            table, _, faults, scratch, watch = self._arguments(buffers)
            team.run((table, faults, scratch, buffers.scratch_bytes, watch), buffers.sizes, self._threads)
            if self._program.changing:
                buffers.sizes[:] = team.sizes(len(buffers.sizes))
        else:
            self._main(*self._arguments(buffers))
        buffers.choice.record(time.perf_counter() - start, time.thread_time() - on_processor)

    def _arguments(self, buffers: Buffers, on_kernel: OnKernel | None = None) -> tuple[int, int, int, int, int]:
        """Returns the arguments of the main function."""
        watch = 0
        if self._program.has_loops or on_kernel is not None:
            watch = self._watch.started(None if on_kernel is None else self._on_event(on_kernel))
        return *buffers.addresses, self._faults_address, buffers.scratch, watch

    def _raise_fault(self, buffers: Buffers) -> None:
        """Raises an exception if a fault was stored: OutOfRange, or one of those of sizes that change."""
        if not self._faults[0]:
            return
        number, position = self._faults
        if number == BROKEN:
            raise _ProgramBroken
        if number == OUTGROWN:
            raise _SizesOutgrown
        check = self._program.checks[number - 1]
        size = _value(check.size, dict(zip(self._program.symbols, [int(v) for v in buffers.sizes], strict=True)))
        raise OutOfRange(f"position {position} on axis {check.axis} of '{check.tensor}', which has size {size}")

    def _is_shared(self, buffers: Buffers) -> bool:
        """Returns whether threads share the work of a run."""
        return self._team is not None and buffers.cost >= SHARED_COST

    def _buffers_for(self, key: tuple[int, ...]) -> Buffers:
        result = self._buffers.get(key)
        if result is None:
            result = self._buffers[key] = self._sized(self._memory_for(key), key)
            if len(self._buffers) > MAX_SIZES:
                self._buffers.popitem(last=False)
        return result

    def _sized(self, memory: Buffers, key: tuple[int, ...]) -> Buffers:
        """Returns memory that is large enough, for some sizes."""
        dims = dict(zip(self._program.symbols, key, strict=True))
        sizes = np.array(key, np.int64)
        shapes = {name: tuple([_value(d, dims) for d in self._shapes[name]]) for name in memory.outputs}
        outputs = {name: (shapes[name], dtype) for name, (_, dtype) in memory.outputs.items()}
        addresses = memory.addresses[0], sizes.ctypes.data
        return memory._replace(sizes=sizes, addresses=addresses, outputs=outputs, choice=SharingChoice())

    def _memory_for(self, key: tuple[int, ...]) -> Buffers:
        """Returns memory for some sizes; where they differ from run to run, it is that of others or has room for such.

        Borders would move with sizes, so there is none with room then.
        """
        program, previous = self._program, self._previous_key
        self._previous_key = key
        if previous is not None:
            self._varying.update([n for n, (a, b) in enumerate(zip(key, previous, strict=True)) if a != b])
            self._changes_of_sizes += 1
        dims = dict(zip(program.symbols, key, strict=True))
        if self._changes_of_sizes < CHANGES_BEFORE_ROOM or not self._may_have_room:
            return self._new_memory(ranges_of(program, dims))
        wide = tuple([with_room(n) if at in self._varying else n for at, n in enumerate(key)])
        result = self._roomy.get(wide)
        if result is None:
            ranges = ranges_of(program, dict(zip(program.symbols, wide, strict=True)), least=0)
            result = self._roomy[wide] = self._new_memory(ranges)
            if len(self._roomy) > MAX_ROOMY:
                self._roomy.popitem(last=False)
        return result

    def _new_memory(self, ranges: Ranges) -> Buffers:
        """Returns memory for sizes in ranges, without those of a run."""
        program, bound = self._program, partial(largest, ranges=ranges)
        sizes = {t.memory: bound(t.size) * t.dtype.itemsize for t in program.intermediates}
        assigned = arena_of(sizes, {t.memory: t.lifetime for t in program.intermediates})
        # Borders are filled from the start, and nothing else is stored there.
        scratch = max([bound(d) for d in program.scratch], default=0)
        scratch = -(-scratch // ALIGNMENT) * ALIGNMENT
        known = {*program.constants, *[t.name for t in program.inputs]}
        outputs, kept = dict[str, tuple[tuple[int, ...], np.dtype[Any]]](), dict[str, Array]()
        for t in program.outputs:
            if t.name in known:
                continue
            shape = tuple([bound(d) for d in t.shape])
            if changes(t.shape, program):
                kept[t.name] = np.empty(prod(shape), t.dtype)
            else:
                outputs[t.name] = shape, t.dtype
        arena_bytes = assigned.size_bytes + self._threads * scratch
        self._check_memory(arena_bytes + sum([prod(shape) * dtype.itemsize for shape, dtype in outputs.values()]))
        arena, start = _memory(arena_bytes)
        for t in program.intermediates:
            if t.border:
                at = start - arena.ctypes.data + assigned.offsets[t.memory]
                arena[at : at + sizes[t.memory]] = t.border
        table = np.full(len(self._numbers), start, np.int64)
        for t in program.intermediates:
            number = self._numbers.get(t.name)
            if number is not None:
                table[number] = start + assigned.offsets[t.memory] + bound(t.offset) * t.dtype.itemsize
        for name, array in program.constants.items():
            if name in self._numbers:
                table[self._numbers[name]] = array.ctypes.data
        cost = sum([bound(c.units * c.rounds) * c.unit_cost for c in program.calls if c.units != 1])
        no_sizes = np.empty(0, np.int64)
        return Buffers(
            table,
            table.data,
            no_sizes,
            (table.ctypes.data, 0),
            arena,
            start + assigned.size_bytes,
            scratch,
            cost,
            SharingChoice(),
            outputs,
            kept,
        )


def _memory(size_bytes: int) -> tuple[Array, int]:
    """Returns memory of zeros, and the aligned address in it where so many bytes start.

    In large pages neighbours do not displace each other from the caches, as in small ones that lie anywhere.
    """
    if size_bytes < MANY_PAGES:
        alignment, reserved = ALIGNMENT, size_bytes + ALIGNMENT
    else:
        alignment, reserved = PAGE_BYTES, max(size_bytes + PAGE_BYTES, LARGE_PAGES)
    memory = np.zeros(reserved, np.uint8)
    return memory, -(-memory.ctypes.data // alignment) * alignment


def _team_of(library: CodeLibrary, program: CompiledProgram, threads: int, workers: Workers | None) -> Team:
    # Only runs in several threads need these.
    from commonir.native.threads.team import Team  # noqa: PLC0415
    from commonir.native.threads.workers import Workers  # noqa: PLC0415

    return Team(library, len(program.symbols), len(program.table), threads, workers or Workers())


def _value(dim: Dim, dims: Mapping[str, int]) -> int:
    if isinstance(dim, int):
        return dim
    from commonir.symbolic import evaluate  # noqa: PLC0415  only programs of unknown sizes need it

    return evaluate(dim, dims)
