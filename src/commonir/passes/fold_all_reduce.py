"""Folds sends, receives and additions of ranks into `core.all_reduce`.

An all-reduce is recognized if all ranks take part in it: each sends one tensor to every other rank, and adds the
received ones to its own in the order of `core.all_reduce_steps`. Partial sums with other uses, sums in another order,
and sums with other messages in between are not folded. The results are bit-identical: `core.all_reduce` makes the same
additions, half-precision ones in single precision with one rounding. No rank waits longer than before, as no other
message is exchanged in between. Works in place, on programs with a core function for each rank.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence

from commonir.base.tuples import NamedTuple
from commonir.dialects import core
from commonir.ir.module import Function, Module
from commonir.ir.operation import Operation, Value
from commonir.ir.types import bf16, f16, f32
from commonir.ods import Op, traits

Reasons = dict[str, list[Operation]]
"""Why sums of what was received stay as they are, and the operations that receive what is added first."""


class _Addition(NamedTuple):
    """The addition of a value with a single use: the other operand, the sum, and the operations that compute it."""

    other: Value
    total: Value
    ops: tuple[Operation, ...]


class _Sum(NamedTuple):
    """A sum of one rank: its own tensor, the received ones in the order of additions, and the last sum."""

    rank: int
    x: Value
    received: tuple[core.Recv, ...]
    total: Value
    ops: tuple[Operation, ...]


_Group = tuple[_Sum, ...]
"""The sums of all ranks, by rank."""


def fold_all_reduce(module: Module, reasons: Reasons | None = None) -> int:
    """Folds all-reduces of a program of ranks; returns their number. `reasons` receives why others were not folded."""
    ranks = core.ranks_of(module)
    refusals: Reasons = {} if reasons is None else reasons
    if not ranks:
        return 0
    if not core.are_all_ranks(ranks):
        refusals["the functions are not those of all ranks"] = [*ranks]
        return 0
    folding = _Folding(ranks, refusals)
    groups = folding.groups()
    for group in groups:
        for rank_sum in group:
            folding.fold(rank_sum, group)
    return len(groups)


class _Folding:
    """One run of the pass."""

    def __init__(self, ranks: Sequence[Function], reasons: Reasons) -> None:
        self._reasons = reasons
        self._events = [[op for op in f.walk() if _communicates(op)] for f in ranks]
        self._order = {op: n for f in ranks for n, op in enumerate(f.body.operations)}
        self._positions = {op: n for events in self._events for n, op in enumerate(events)}
        # What is sent within branches and loops may be sent any number of times.
        self._is_straight = all(op.parent is f.body for f, ops in zip(ranks, self._events, strict=True) for op in ops)
        self._senders = _matched(self._events if self._is_straight else ())
        # Sums that are in no group yet, by the tensor that their rank gives.
        self._ungrouped: dict[Value, list[_Sum]] = {}

    def groups(self) -> list[_Group]:
        """Returns the groups of sums that are all-reduces, in the order in which ranks reach them."""
        sums = [s for rank in range(len(self._events)) for s in self._sums(rank)]
        for rank_sum in sums:
            self._ungrouped.setdefault(rank_sum.x, []).append(rank_sum)
        result: list[_Group] = []
        for first in [s for s in sums if s.rank == 0]:
            group = self._group(first)
            if group is not None:
                result.append(group)
                for member in group:
                    self._ungrouped[member.x].remove(member)
        for ungrouped in [s for sums_of_tensor in self._ungrouped.values() for s in sums_of_tensor]:
            self._report(ungrouped.received[0], f"other ranks do not form the sum that rank {ungrouped.rank} forms")
        return self._in_one_order([g for g in result if self._is_apart(g)])

    def _report(self, op: Operation, reason: str) -> None:
        self._reasons.setdefault(reason, []).append(op)

    # -- what one rank does

    def _sums(self, rank: int) -> Iterator[_Sum]:
        """Yields the sums of a rank in the order of an all-reduce."""
        sent = {op.x for op in self._events[rank] if isinstance(op, core.Send)}
        for op in self._events[rank]:
            first = _addition(op.result) if isinstance(op, core.Recv) else None
            if not isinstance(op, core.Recv) or first is None or first.other not in sent:
                continue
            if not self._is_straight:
                self._report(op, "messages are exchanged within branches or loops")
                continue
            built = self._sum(rank, op, first)
            if isinstance(built, str):
                self._report(op, built)
            else:
                yield built

    def _sum(self, rank: int, op: core.Recv, at: _Addition) -> _Sum | str:
        """Returns the sum that begins with a received tensor, or the reason why it is not part of an all-reduce."""
        x, received, ops = at.other, [op], [*at.ops]
        steps = core.all_reduce_steps(rank, len(self._events))
        for n, step in enumerate(steps):
            if n:
                following = _addition(at.total)
                owner = None if following is None else following.other.owner
                if following is None or not isinstance(owner, core.Recv) or owner.result.use_count != 1:
                    return f"the tensor of rank {step.source} is not added, or a partial sum is used otherwise"
                at = following
                received.append(owner)
                ops += at.ops
            if received[-1].source != step.source:
                result = received[-1].source
                return f"the tensor of rank {result} is added where an all-reduce adds that of rank {step.source}"
            if not received[-1].result.type is x.type is at.total.type:
                return "tensors of several types are added"
        return _Sum(rank, x, tuple(received), at.total, tuple(ops))

    # -- what ranks do together

    def _group(self, first: _Sum) -> _Group | None:
        """Returns the sums of all ranks that belong to one of the first rank; None if some are missing."""
        group = [first]
        for op in sorted(first.received, key=lambda op: op.source):
            sent = self._senders.get(op)
            candidates = () if sent is None else self._ungrouped.get(sent.x)
            if not candidates:
                return None
            group.append(candidates[0])
        return tuple(group) if all(self._sends(group, member) for member in group) else None

    def _sends(self, group: Sequence[_Sum], member: _Sum) -> bool:
        """Returns whether the tensors that a rank adds are those that the other ranks send for this sum."""
        senders = [(self._senders.get(op), group[op.source].x) for op in member.received]
        return all(sent is not None and sent.x is x and x.type is member.x.type for sent, x in senders)

    def messages(self, member: _Sum, group: _Group) -> list[Operation]:
        """Returns the sends and receives of a sum in program order."""
        sent = [self._senders[op] for other in group for op in other.received if op.source == member.rank]
        return sorted([*sent, *member.received], key=self._positions.__getitem__)

    def _is_apart(self, group: _Group) -> bool:
        """Returns whether no rank exchanges other messages between those of a sum, and all of them arrive."""
        for member in group:
            messages = self.messages(member, group)
            if self._positions[messages[-1]] - self._positions[messages[0]] != len(messages) - 1:
                self._report(member.received[0], "something else is exchanged between the messages of the sum")
                return False
        if not self._arrive(group):
            self._report(group[0].received[0], "ranks wait for each other forever")
            return False
        return True

    def _arrive(self, group: _Group) -> bool:
        """Returns whether all messages of a sum are received if ranks exchange nothing else."""
        waiting = [deque(self.messages(member, group)) for member in group]
        sent: set[Operation] = set()
        moved = True
        while moved:
            moved = False
            for ops in waiting:
                while ops and (isinstance(ops[0], core.Send) or self._senders.get(ops[0]) in sent):
                    sent.add(ops.popleft())
                    moved = True
        return not any(waiting)

    def _in_one_order(self, groups: list[_Group]) -> list[_Group]:
        """Returns the groups if all ranks reach them and existing all-reduces in one order; else none."""
        orders: list[list[int]] = []
        for rank, events in enumerate(self._events):
            group_at = {self._positions[self.messages(g[rank], g)[0]]: n for n, g in enumerate(groups)}
            group_at |= {n: -1 for n, op in enumerate(events) if isinstance(op, core.AllReduce)}
            orders.append([group_at[n] for n in sorted(group_at)])
        if any(order != orders[0] for order in orders):
            for group in groups:
                for member in group:
                    self._report(member.received[0], "ranks come to the sums in several orders")
            return []
        return [groups[n] for n in orders[0] if n >= 0]

    def fold(self, rank_sum: _Sum, group: _Group) -> None:
        """Replaces a sum and its messages by an all-reduce."""
        messages = self.messages(rank_sum, group)
        last, summed = messages[-1], rank_sum.ops[-1]
        # The sum may be used before the own tensor is sent to all.
        anchor = min(last, summed, key=self._order.__getitem__)
        assert anchor.parent is not None
        # What was sent may be the sum of one that was folded before.
        sent = next(op.x for op in messages if isinstance(op, core.Send))
        built = anchor.parent.insert_before(anchor, core.AllReduce(sent))
        built.location = rank_sum.received[-1].location
        built.result.name = rank_sum.total.name
        rank_sum.total.replace_all_uses_with(built.result)
        for op in reversed(rank_sum.ops):
            # The own tensor in single precision may be used by others.
            if not any(result.is_used for result in op.results):
                op.erase()
        for op in messages:
            op.erase()


def _communicates(op: Operation) -> bool:
    return isinstance(op, Op) and op.has_trait(traits.Communicates)


def _matched(events: Sequence[Sequence[Operation]]) -> Mapping[Operation, core.Send]:
    """Maps receives to sends: messages of two ranks and a tag arrive in the order in which they were sent."""
    waiting: dict[tuple[int, int, int], deque[core.Send]] = {}
    for rank, ops in enumerate(events):
        for op in ops:
            if isinstance(op, core.Send):
                waiting.setdefault((rank, op.destination, op.tag), deque()).append(op)
    result: dict[Operation, core.Send] = {}
    for rank, ops in enumerate(events):
        for op in ops:
            left = waiting.get((op.source, rank, op.tag)) if isinstance(op, core.Recv) else None
            if isinstance(op, core.Recv) and left:
                result[op] = left.popleft()
    return result


def _addition(value: Value) -> _Addition | None:
    """Returns the addition that uses a value; None if the value has several uses, or another one."""
    user = _only_user(value)
    if isinstance(user, core.Add):
        return _Addition(user.b if user.a is value else user.a, user.y, (user,))
    if not isinstance(user, core.Cast) or user.to is not f32 or core.as_tensor(value.type).element not in (f16, bf16):
        return None
    add = _only_user(user.y)
    if not isinstance(add, core.Add):
        return None
    other = (add.b if add.a is user.y else add.a).owner
    rounded = _only_user(add.y)
    if not isinstance(other, core.Cast) or not isinstance(rounded, core.Cast):
        return None
    if not value.type is other.x.type is rounded.y.type:
        return None
    return _Addition(other.x, rounded.y, (user, other, add, rounded))


def _only_user(value: Value) -> Operation | None:
    return value.users[0] if value.use_count == 1 else None
