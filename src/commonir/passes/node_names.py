"""Names of nodes after a conversion, which may make several operations of one."""

from __future__ import annotations

from collections import Counter

from commonir.ir.operation import Block, Operation
from commonir.ir.origins import Location
from commonir.ods import Op, traits


def number_nodes(block: Block) -> None:
    """Makes the names of the nodes of a block unique, in place.

    The last of several operations that come from one node computes what the node did and keeps the name; those before
    it get a number. Constants have no names of nodes.
    """
    named = [op for op in block.operations if op.source_name and not _is_constant(op)]
    remaining = Counter([op.source_name for op in named])
    taken = {*remaining}
    seen: Counter[str] = Counter()
    for op in named:
        name = op.source_name
        remaining[name] -= 1
        if not remaining[name]:
            continue
        while (numbered := f"{name}_{seen[name] + 1}") in taken:
            seen[name] += 1
        taken.add(numbered)
        op.location = Location(name=numbered)


def _is_constant(op: Operation) -> bool:
    return isinstance(op, Op) and op.has_trait(traits.ConstantLike)
