"""Rounds of a compiled graph: a function that calls it again and again, and moves the addresses in its table.

What a round reads and writes is at addresses in the table of the graph. After a round, addresses of states are those
that it wrote to, and those of slices move on.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.runtime.native.compiler import Library, object_code
from commonir.runtime.native.target import Target

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


@cache
def _driver(target: Target, parameters: int) -> tuple[Library, Callable[..., int]]:
    """Returns the function that runs rounds of functions with some parameters, the third of which is for faults."""
    fault = (
        "\n  %{0}_faults = inttoptr i64 %{0}_2 to ptr"
        "\n  %{0}_number = load i64, ptr %{0}_faults"
        "\n  %{0}_fault = icmp ne i64 %{0}_number, 0"
    )
    text = _DRIVER
    for function, pack, name in (("%test", "%test_args", "test"), ("%main", "%args", "main")):
        text = text.replace(f"CALL_{name.upper()}", _call(function, pack, name, parameters) + fault.format(name))
    library = Library([object_code(text, target)], target)
    prototype = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 7)
    return library, prototype(library.address("rounds"))


class Moves:
    """What happens between rounds to addresses in memory."""

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


class Callee:
    """A compiled function and its arguments."""

    def __init__(self, address: int, arguments: Sequence[int]) -> None:
        self.address = address
        self.arguments = np.array(arguments, np.int64)


def run_rounds(
    target: Target,
    main: Callee,
    test: Callee | None,
    answer: int,
    moves: Moves,
    most: int,
    check: Callable[[], None],
) -> int:
    """Returns how many rounds ran, which end with a fault, a false answer, or after `most` of them.

    `answer` is where the address of the answer is, 0 if there is none.
    """
    library, driver = _driver(target, len(main.arguments))
    encoded = moves.encoded()
    ran, chunk = 0, FIRST_ROUNDS
    while ran < most:
        count = min(chunk, most - ran)
        done = driver(
            count,
            0 if test is None else test.address,
            0 if test is None else test.arguments.ctypes.data,
            answer,
            main.address,
            main.arguments.ctypes.data,
            encoded.ctypes.data,
        )
        ran += done
        if done < count:
            break
        check()
        chunk = min(2 * chunk, MOST_ROUNDS)
    del library
    return ran
