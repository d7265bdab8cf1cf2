"""Orders functions by calls: callees first, and functions that call each other in a cycle together.

Source: Tarjan, Depth-First Search and Linear Graph Algorithms, 1972.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from commonir.ir.module import Function


def in_cycles(functions: Iterable[Function], calls: Mapping[Function, Sequence[Function]]) -> Iterator[list[Function]]:
    """Yields the strongly connected components of the call graph, callees first."""
    number: dict[Function, int] = {}
    lowest: dict[Function, int] = {}
    open_functions: dict[Function, None] = {}
    for start in functions:
        if start in number:
            continue
        pending = [(start, iter(calls.get(start, ())))]
        number[start] = lowest[start] = len(number)
        open_functions[start] = None
        while pending:
            current, following = pending[-1]
            called = next(following, None)
            if called is None:
                pending.pop()
                if pending:
                    lowest[pending[-1][0]] = min(lowest[pending[-1][0]], lowest[current])
                if lowest[current] == number[current]:
                    yield _closed(current, open_functions)
            elif called not in number:
                number[called] = lowest[called] = len(number)
                open_functions[called] = None
                pending.append((called, iter(calls.get(called, ()))))
            elif called in open_functions:
                lowest[current] = min(lowest[current], number[called])


def _closed(root: Function, open_functions: dict[Function, None]) -> list[Function]:
    out: list[Function] = []
    while not out or out[-1] is not root:
        last = next(reversed(open_functions))
        del open_functions[last]
        out.append(last)
    return out[::-1]
