"""Rounds of a compiled graph: a function that calls it again and again, and moves the addresses in its table.

What a round reads and writes is at addresses in the table of the graph. After a round, addresses of states are those
that it wrote to, and those of slices move on.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.tuples import NamedTuple
from commonir.llvm.code_loading import loaded_code
from commonir.llvm.compiler import object_code
from commonir.llvm.target import Target
from commonir.runtime.kernel_graph.loops import Rounds, Slice, State
from commonir.runtime.native.compiled_graph import CompiledGraph
from commonir.runtime.native.program import MAIN

Array = NDArray[Any]

_DRIVER = """
define i64 @rounds(i64 %count, ptr %test, ptr %test_args, ptr %answer, ptr %main, ptr %args, ptr %moves) {
entry:
  %tests = icmp ne ptr %test, null
  %answers = icmp ne ptr %answer, null
  br label %head
head:
  %n = phi i64 [ 0, %entry ], [ %next, %moved ]
  %more = icmp slt i64 %n, %count
  br i1 %more, label %first, label %end
first:
  br i1 %tests, label %ask, label %asked
ask:
CALL_TEST
  br i1 %test_fault, label %end, label %asked
asked:
  br i1 %answers, label %look, label %round
look:
  %answer_at = load ptr, ptr %answer
  %byte = load i8, ptr %answer_at
  %holds = icmp ne i8 %byte, 0
  br i1 %holds, label %round, label %end
round:
CALL_MAIN
  br i1 %main_fault, label %end, label %done
done:
  %copies = load i64, ptr %moves
  br label %copy
copy:
  %c = phi i64 [ 0, %done ], [ %c_next, %copied ]
  %c_more = icmp slt i64 %c, %copies
  br i1 %c_more, label %copied, label %steps
copied:
  %c_at = mul i64 %c, 2
  %c_to = add i64 %c_at, 1
  %c_from = add i64 %c_at, 2
  %c_to_at = getelementptr i64, ptr %moves, i64 %c_to
  %c_from_at = getelementptr i64, ptr %moves, i64 %c_from
  %to = load ptr, ptr %c_to_at
  %from = load ptr, ptr %c_from_at
  %address = load i64, ptr %from
  store i64 %address, ptr %to
  %c_next = add i64 %c, 1
  br label %copy
steps:
  %s_first = mul i64 %copies, 2
  %s_count_at = add i64 %s_first, 1
  %s_count_pointer = getelementptr i64, ptr %moves, i64 %s_count_at
  %s_count = load i64, ptr %s_count_pointer
  br label %step
step:
  %s = phi i64 [ 0, %steps ], [ %s_next, %stepped ]
  %s_more = icmp slt i64 %s, %s_count
  br i1 %s_more, label %stepped, label %moved
stepped:
  %s_by = mul i64 %s, 3
  %s_at = add i64 %s_by, 1
  %s_base = getelementptr i64, ptr %s_count_pointer, i64 %s_at
  %s_step_at = getelementptr i64, ptr %s_base, i64 1
  %s_mask_at = getelementptr i64, ptr %s_base, i64 2
  %slot = load ptr, ptr %s_base
  %by = load i64, ptr %s_step_at
  %mask = load i64, ptr %s_mask_at
  %before = load i64, ptr %slot
  %sum = add i64 %before, %by
  %after = xor i64 %sum, %mask
  store i64 %after, ptr %slot
  %s_next = add i64 %s, 1
  br label %step
moved:
  %next = add i64 %n, 1
  br label %head
end:
  ret i64 %n
}
"""


def _call(function: str, pack: str, name: str, count: int) -> str:
    """Returns a call with arguments from memory, of which the first is where faults are stored."""
    lines: list[str] = []
    for n in range(count):
        lines.append(f"  %{name}_at{n} = getelementptr i64, ptr {pack}, i64 {n}")
        lines.append(f"  %{name}_{n} = load i64, ptr %{name}_at{n}")
    lines.append(f"  call void {function}({', '.join(f'i64 %{name}_{n}' for n in range(count))})")
    return "\n".join(lines)


class _Driver:
    """The function that runs rounds of functions with some parameters, of which the third is where faults are."""

    def __init__(self, target: Target, parameters: int) -> None:
        fault = (
            "\n  %{0}_faults = inttoptr i64 %{0}_2 to ptr"
            "\n  %{0}_number = load i64, ptr %{0}_faults"
            "\n  %{0}_fault = icmp ne i64 %{0}_number, 0"
        )
        text = _DRIVER
        for function, pack, name in (("%test", "%test_args", "test"), ("%main", "%args", "main")):
            call = _call(function, pack, name, parameters) + fault.format(name)
            text = text.replace(f"CALL_{name.upper()}", call)
        self._library = loaded_code(object_code(text, target), target)
        self.run = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 7)(self._library.address("rounds"))


_driver = cache(_Driver)


class Moves:
    """Changes of addresses in memory between rounds."""

    def __init__(self) -> None:
        self._copies: list[int] = []
        self._steps: list[int] = []

    def copy(self, to: int, source: int) -> None:
        """Copies an address to one place from another, before others move."""
        self._copies += [to, source]

    def step(self, place: int, by: int) -> None:
        """Adds bytes to the address at a place."""
        self._steps += [place, by, 0]

    def alternate(self, place: int, first: int, second: int) -> None:
        """Exchanges two addresses at a place."""
        self._steps += [place, 0, first ^ second]

    def encoded(self) -> Array:
        """Returns the moves as the driver reads them."""
        counted = [len(self._copies) // 2, *self._copies, len(self._steps) // 3, *self._steps]
        return np.array(counted, np.int64)


FIRST_ROUNDS = 16
MOST_ROUNDS = 1 << 16
"""How many rounds run before the time limit is checked: few at first, as a round may take long."""


class RepeatableCode(CompiledGraph):
    """A compiled program that can also run many times in a row; see `RepeatableGraph`."""

    def repeat(self, rounds: Rounds, dims: Mapping[str, int], check: Callable[[], None]) -> list[Array] | None:
        """Returns the last values of all states, or None if it cannot; `check` is called now and then.

        Threads share the work of one round, and do not run several in a row.
        """
        test = None if rounds.test is None else rounds.test.graph
        if not self._computes_outputs() or self._is_shared(self._buffers_for_dims(dims)):
            return None
        if test is not None and not (isinstance(test, RepeatableCode) and test._computes_outputs()):
            return None
        return _Repetition(self, test, rounds, dims).run(check)

    def _computes_outputs(self) -> bool:
        """Returns whether all outputs are results of kernels, and none is an input or a constant."""
        known = {*self._program.constants, *[t.name for t in self._program.inputs]}
        return not any(t.name in known for t in self._program.outputs)

    def frame(self, inputs: Sequence[Array], dims: Mapping[str, int]) -> Frame:
        """Returns the table for some sizes, with the addresses of inputs, and what is needed to run with it."""
        buffers = self._buffers_for_dims(dims)
        kept = [np.ascontiguousarray(a) for a in inputs]
        frame = Frame(
            {name: buffers.table.ctypes.data + 8 * n for name, n in self._numbers.items()},
            [t.name for t in self._program.inputs],
            [t.name for t in self._program.outputs],
            buffers.outputs,
            self._library.address(MAIN),
            np.array(self._arguments(buffers), np.int64),
            lambda: self._raise_fault(buffers),
            [],
        )
        for name, array in zip(frame.inputs, kept, strict=True):
            frame.put(name, array)
        return frame


class Frame(NamedTuple):
    """A table of a compiled graph that rounds change: where the address of each tensor is, and its main function."""

    places: dict[str, int]
    inputs: list[str]
    outputs: list[str]
    shapes: Mapping[str, tuple[tuple[int, ...], np.dtype[Any]]]
    main: int
    arguments: Array
    raise_fault: Callable[[], None]
    kept: list[Array]

    def place(self, name: str) -> int:
        """Returns where the address of a tensor is; of one that no kernel uses, a place that nothing reads."""
        if name not in self.places:
            spare = np.zeros(1, np.int64)
            self.kept.append(spare)
            self.places[name] = spare.ctypes.data
        return self.places[name]

    def put(self, name: str, array: Array, offset_bytes: int = 0) -> None:
        """Makes an array the memory of a tensor."""
        self.kept.append(array)
        ctypes.c_int64.from_address(self.place(name)).value = array.ctypes.data + offset_bytes


class _Repetition:
    """Rounds of a graph: what its table has before the first one, and how that moves.

    Outputs that are not slices are written to two arrays by turns, so that a round can read those of the one before.
    """

    def __init__(
        self, graph: RepeatableCode, test: RepeatableCode | None, rounds: Rounds, dims: Mapping[str, int]
    ) -> None:
        self._target = graph.target
        self._rounds = rounds
        self._moves = Moves()
        self._body = graph.frame(rounds.inputs, dims)
        self._test: Frame | None = None
        self._answer = np.ones(1, np.bool_)
        self._written: dict[int, tuple[Array, Array]] = {}
        self._stacked = {s.number: s for s in reversed(rounds.written)}
        self._places = np.zeros(len(rounds.states), np.int64)
        for s in rounds.read:
            self._move(self._body.inputs[s.number], s)
        for s in self._stacked.values():
            self._move(self._body.outputs[s.number], s)
        self._place_outputs()
        if test is not None and rounds.test is not None:
            self._test = test.frame(rounds.test.inputs, dims)
            self._test.put(self._test.outputs[0], self._answer)
        for n, state in enumerate(rounds.states):
            self._pass_state(n, state)

    def _move(self, name: str, s: Slice) -> None:
        """Makes the slices of an array the memory of a tensor, one after another."""
        step = s.array.strides[0] if len(s.array) else 0
        self._body.put(name, s.array, step * (len(s.array) - 1) if self._rounds.is_reversed else 0)
        self._moves.step(self._body.place(name), -step if self._rounds.is_reversed else step)

    def _place_outputs(self) -> None:
        for n, name in enumerate(self._body.outputs):
            if n not in self._stacked:
                shape, dtype = self._body.shapes[name]
                first, second = np.empty(shape, dtype), np.empty(shape, dtype)
                self._written[n] = first, second
                self._body.put(name, first)
                self._moves.alternate(self._body.place(name), first.ctypes.data, second.ctypes.data)

    def _pass_state(self, n: int, state: State) -> None:
        """Makes what a round writes the value of a state."""
        self._places[n] = self._rounds.initial[n].ctypes.data
        if state.written is None:
            return
        source = self._body.place(self._body.outputs[state.written])
        self._moves.copy(self._places.ctypes.data + 8 * n, source)
        if state.read is not None:
            self._moves.copy(self._body.place(self._body.inputs[state.read]), source)
        if state.tested is not None and self._test is not None:
            self._moves.copy(self._test.place(self._test.inputs[state.tested]), source)

    def run(self, check: Callable[[], None]) -> list[Array]:
        """Returns the last values of all states."""
        test, condition = self._test, self._rounds.condition
        answer = 0
        if condition is not None:
            answer = self._places.ctypes.data + 8 * condition
        elif test is not None:
            answer = test.place(test.outputs[0])
        arguments = (0, 0) if test is None else (test.main, test.arguments.ctypes.data)
        moves = self._moves.encoded()
        parameters = (*arguments, answer, self._body.main, self._body.arguments.ctypes.data, moves.ctypes.data)
        driver, ran, together = _driver(self._target, len(self._body.arguments)), 0, FIRST_ROUNDS
        while ran < self._rounds.most:
            count = min(together, self._rounds.most - ran)
            done = driver.run(count, *parameters)
            ran += done
            if done < count:
                break
            check()
            together = min(2 * together, MOST_ROUNDS)
        self._body.raise_fault()
        if test is not None:
            test.raise_fault()
        return [self._last(n, state, ran) for n, state in enumerate(self._rounds.states)]

    def _last(self, n: int, state: State, ran: int) -> Array:
        if state.written is None or ran == 0:
            return self._rounds.initial[n]
        if state.written in self._stacked:
            array = self._stacked[state.written].array
            return array[0 if self._rounds.is_reversed else ran - 1]
        return self._written[state.written][(ran - 1) % 2]
