"""Sorts the operations of a block by the data that they use. Changes nothing unless asked to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush

from commonir.base.tuples import NamedTuple
from commonir.ir.operation import Block, Operation


class Order(NamedTuple):
    """Operations in an order that data and tokens allow, the positions of those that each waits for, and a cycle.

    If there is a cycle, the order is empty.
    """

    operations: list[Operation]
    behind: list[list[int]]
    cycle: list[Operation]


def data_order(block: Block) -> Order:
    """Returns the operations of a block in topological order; otherwise they keep the order of the text."""
    operations = list(block.operations)
    index_of = {op: n for n, op in enumerate(operations)}
    waits = [_awaited(op, index_of) for op in operations]
    last = block.last
    if last is not None:
        # The end of the block comes last, whatever it returns.
        waits[-1] = list(range(len(operations) - 1))
    users: list[list[int]] = [[] for _ in operations]
    for n, awaited in enumerate(waits[:-1]):
        for m in awaited:
            users[m].append(n)
    missing = [len(awaited) for awaited in waits]
    free = [n for n, count in enumerate(missing[:-1]) if not count]
    heapify(free)
    order: list[int] = []
    while free:
        n = heappop(free)
        order.append(n)
        for user in users[n]:
            missing[user] -= 1
            if not missing[user]:
                heappush(free, user)
    if len(order) < len(operations) - 1:
        return Order([], [], _cycle(operations, waits, set(order)))
    order.append(len(operations) - 1)
    position = {n: k for k, n in enumerate(order)}
    behind = [[position[m] for m in waits[n]] for n in order[:-1]]
    return Order([operations[n] for n in order], [*behind, []], [])


def _awaited(op: Operation, index_of: Mapping[Operation, int]) -> list[int]:
    """Returns the positions of the operations whose results an operation uses, also in its regions."""
    owners = [value.defining_op for each in op.walk() for value in each.operands]
    return list(dict.fromkeys([index_of[owner] for owner in owners if owner is not None and owner in index_of]))


def _cycle(operations: Sequence[Operation], waits: Sequence[Sequence[int]], ordered: set[int]) -> list[Operation]:
    """Returns operations that wait for each other, by following dependencies from one that is not ordered."""
    current = next(n for n in range(len(operations) - 1) if n not in ordered)
    seen: dict[int, int] = {}
    path: list[int] = []
    while current not in seen:
        seen[current] = len(path)
        path.append(current)
        current = next(m for m in waits[current] if m not in ordered)
    return [operations[n] for n in reversed(path[seen[current] :])]


def rearrange(block: Block, order: Iterable[Operation]) -> None:
    """Reorders the operations of a block."""
    operations = list(order)
    for op in operations:
        op.detach()
    for op in operations:
        block.append(op)
