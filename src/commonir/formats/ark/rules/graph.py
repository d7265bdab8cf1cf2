"""Rules of nodes and their edges, and of the order in which tensors are given and used.

Source: ARK model files, structure.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from commonir.base.diagnostics import Diagnostic
from commonir.base.file_codes import ARK_EDGES
from commonir.base.text import plural
from commonir.dialects import ark
from commonir.formats.ark.rules.faults import Fault, RankTensors, fault, number_of, place_of

_SHOWN = 8
_PRODUCERS, _CONSUMERS = "ProducerNodeIds", "ConsumerNodeIds"

Lists = Sequence[Sequence[int]]


def graph_faults(tensors: RankTensors) -> Iterator[Fault]:
    """Yields findings about the nodes of a rank."""
    rank = tensors.rank
    if len(rank.producers) != len(rank.consumers):
        message = f"{len(rank.producers)} nodes have producers, but {len(rank.consumers)} have consumers"
        yield _at(rank, 0, message)
        return
    misplaced = list(_misplaced(tensors))
    yield from misplaced
    yield from _wrong_edges(rank, _PRODUCERS, rank.producers, _CONSUMERS, rank.consumers)
    yield from _wrong_edges(rank, _CONSUMERS, rank.consumers, _PRODUCERS, rank.producers)
    yield from _wrong_order(rank)
    yield from _early(tensors)
    if not misplaced:
        yield from _missing_edges(tensors)


def _at(rank: ark.Rank, node: int, message: str, where: str = "", help: str | None = None) -> Fault:
    return Fault(rank, node, Diagnostic(ARK_EDGES, message, where=where, help=help))


def _misplaced(tensors: RankTensors) -> Iterator[Fault]:
    """Operations of no node, or out of order; nodes with another number of operations than their files have."""
    rank = tensors.rank
    counts = [0] * len(rank.producers)
    last = 0
    for op in tensors.ops:
        if not last <= op.node < len(counts):
            reason = f"of node {op.node}, after one of node {last}" if op.node < last else f"of no node: {op.node}"
            yield fault(op, ARK_EDGES, f"{op.name}: the operation is {reason}")
            continue
        last = op.node
        counts[last] += 1
    is_single = rank.generation not in ark.MERGING_GENERATIONS
    for node, count in enumerate(counts):
        if count == 0 or (is_single and count > 1):
            expected = "one operation" if is_single else "an operation at least"
            result = f"a node of generation {rank.generation} has {expected}, found {count}"
            yield _at(rank, node, result, f"Nodes[{node}]", help="convert the program to another generation")


def _wrong_edges(rank: ark.Rank, field: str, lists: Lists, other_field: str, others: Lists) -> Iterator[Fault]:
    """Edges to nodes that do not exist, to the node itself, and those that the other side does not state."""
    declared = [frozenset(ids) for ids in others]
    name = rank.node_id
    for node, ids in enumerate(lists):
        seen: set[int] = set()
        for n, other in enumerate(ids):
            place = f"Nodes[{node}].{field}[{n}]"
            if not 0 <= other < len(lists):
                known = f"there {'is' if len(lists) == 1 else 'are'} {plural(len(lists), 'node')}"
                yield _at(rank, node, f"node {other} does not exist, {known}", place)
            elif other == node:
                yield _at(rank, node, f"node {name(node)} comes after itself", place, help="remove the edge")
            elif other in seen:
                yield _at(rank, node, f"node {name(other)} is listed twice", place, help="list it once")
            elif node not in declared[other]:
                help = f"add {name(node)} to '{other_field}' of node {name(other)}, or remove {name(other)} here"
                message = f"the edge to node {name(other)} is stated on this side only"
                yield _at(rank, node, message, place, help=help)
            seen.add(other)


def _wrong_order(rank: ark.Rank) -> Iterator[Fault]:
    """Nodes that stand before one that they come after: cycles, each once, and others."""
    count, name = len(rank.producers), rank.node_id
    backward = [
        (before, node, n)
        for node, ids in enumerate(rank.producers)
        for n, before in enumerate(ids)
        if node < before < count
    ]
    if not backward:
        return
    after = [sorted({n for n in ids if 0 <= n < count}) for ids in rank.consumers]
    for before, node, _ in backward:
        if node not in after[before]:
            after[before].append(node)
    group = _groups(after)
    reported: set[int] = set()
    for before, node, n in backward:
        place = f"Nodes[{node}].{_PRODUCERS}[{n}]"
        if group[before] != group[node]:
            message = f"node {name(node)} comes after node {name(before)}, which stands behind it"
            yield _at(rank, node, message, place, help="sort nodes so that each stands behind those it comes after")
        elif group[node] not in reported:
            reported.add(group[node])
            cycle = _way(after, node, before, group)
            shown = " -> ".join([str(name(n)) for n in cycle[:_SHOWN]]) + (" -> ..." if len(cycle) > _SHOWN else "")
            message = f"nodes come after each other in a cycle: {shown} -> {name(node)}"
            yield _at(rank, node, message, place, help="remove one of the edges")


def _groups(after: Lists) -> list[int]:
    """For each node the number of its group: nodes of one group can all be reached from each other."""
    length = len(after)
    order, low, group = [-1] * length, [0] * length, [-1] * length
    stack: list[int] = []
    count = 0
    for start in range(length):
        path = [(start, 0)] if order[start] < 0 else []
        while path:
            node, n = path.pop()
            if n == 0:
                order[node] = low[node] = count
                count += 1
                stack.append(node)
            else:
                low[node] = min(low[node], low[after[node][n - 1]])
            while n < len(after[node]):
                other = after[node][n]
                n += 1
                if order[other] < 0:
                    path += [(node, n), (other, 0)]
                    break
                if group[other] < 0:
                    low[node] = min(low[node], order[other])
            else:
                if low[node] == order[node]:
                    _close(stack, node, group)
    return group


def _close(stack: list[int], root: int, group: list[int]) -> None:
    """Takes a group from the stack."""
    while group[root] < 0:
        group[stack.pop()] = root


def _way(after: Lists, start: int, end: int, group: Sequence[int]) -> list[int]:
    """A shortest way from a node to another of its group."""
    came: dict[int, int] = {start: start}
    pending = deque([start])
    while pending and end not in came:
        node = pending.popleft()
        for other in after[node]:
            if other not in came and group[other] == group[start]:
                came[other] = node
                pending.append(other)
    way = [end]
    while way[-1] != start and way[-1] in came:
        way.append(came[way[-1]])
    return way[::-1]


def _early(tensors: RankTensors) -> Iterator[Fault]:
    """Tensors that are mentioned before the operation that gives them."""
    first: dict[int, ark.Tensor] = {}
    for op in tensors.rank.body.operations:
        if isinstance(op, ark.Tensor):
            first.setdefault(op.tensor_id, op)
        elif isinstance(op, ark.ArkOp) and op.result_id in first:
            early = first.pop(op.result_id)
            users = [user for user in early.result_.users if isinstance(user, ark.ArkOp)]
            node = users[0].node if users else op.node
            giver = tensors.rank.node_id(op.node)
            message = f"tensor {op.result_id} is used before node {giver}, '{op.op_name}', gives it"
            sorted_ones = "the operations of the node" if node == op.node else "nodes"
            yield Fault(early, node, Diagnostic(ARK_EDGES, message, help=f"sort {sorted_ones} by what they use"))


def _missing_edges(tensors: RankTensors) -> Iterator[Fault]:
    """Nodes that mention a tensor of another node without an edge from it."""
    before = [set(ids) for ids in tensors.rank.producers]
    for op in tensors.ops:
        for value in op.operands:
            giver = value.owner
            if isinstance(giver, ark.ArkOp) and giver.node != op.node and giver.node not in before[op.node]:
                before[op.node].add(giver.node)
                first, second = map(tensors.rank.node_id, (giver.node, op.node))
                message = f"tensor {number_of(value)} is given by node {first}, without an edge from there"
                help = f"add {first} to '{_PRODUCERS}' of node {second}, and the other way round"
                yield fault(op, ARK_EDGES, message, place_of(op, value), help)


def reached(before: Lists, pairs: Iterable[tuple[int, int]]) -> set[tuple[int, int]]:
    """Of pairs of nodes those where the second comes after the first by a chain of edges from lower to higher numbers.

    Many pairs are followed at once: time grows with the edges, times the number of first nodes by `_TOGETHER`.
    """
    expected: dict[int, set[int]] = {}
    for first, second in pairs:
        expected.setdefault(first, set()).add(second)
    starts = sorted(expected)
    out: set[tuple[int, int]] = set()
    for at in range(0, len(starts), _TOGETHER):
        bits = {start: 1 << n for n, start in enumerate(starts[at : at + _TOGETHER])}
        marks = [0] * len(before)
        for node in range(starts[at], len(before)):
            mark = bits.get(node, 0)
            for other in before[node]:
                if 0 <= other < node:
                    mark |= marks[other]
            marks[node] = mark
        out |= {(start, end) for start, bit in bits.items() for end in expected[start] if marks[end] & bit}
    return out


_TOGETHER = 1024
