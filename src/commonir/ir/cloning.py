"""Deep copies of operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from commonir.ir.operation import Block, Operation, Region, Value

Op = TypeVar("Op", bound=Operation)
_Copied = TypeVar("_Copied", bound=Operation)


def clone(op: Op, mapping: dict[Value, Value] | None = None, keep: Callable[[Operation], bool] | None = None) -> Op:
    """Returns a deep copy.

    `mapping` replaces values defined outside of the operation, and receives the values of the copy. Nested operations
    for which `keep` is False are dropped; their results must be in `mapping` if they are used.
    """
    known: dict[Value, Value] = {} if mapping is None else mapping
    copies: dict[Operation, Operation] = {}
    blocks: dict[Block, Block] = {}
    # Copies with operands that have no copy yet: defined outside, or by a later operation.
    unresolved: list[Operation] = []

    def shallow(source: _Copied) -> _Copied:
        regions = tuple([_empty_copy(region, known, blocks) for region in source.regions]) if source.regions else ()
        operands = source.operands
        try:
            result = source.clone_shallow(tuple([known[v] for v in operands]), regions)
        except KeyError:
            result = source.clone_shallow(tuple([known.get(v, v) for v in operands]), regions)
            unresolved.append(result)
        if source.successors:
            result.successors = tuple([blocks.get(block, block) for block in source.successors])
        if len(source.results) == 1:
            # The most frequent case, three times as fast as the general one.
            known[source.results[0]] = result.results[0]
        else:
            known.update(zip(source.results, result.results, strict=True))
        if regions:
            copies[source] = result
        return result

    root = shallow(op)
    pending: list[Operation] = [op] if op.regions else []
    while pending:
        source = pending.pop()
        nested: list[Operation] = []
        for region, region_copy in zip(source.regions, copies[source].regions, strict=True):
            for block, block_copy in zip(region.blocks, region_copy.blocks, strict=True):
                for child in block.operations:
                    if keep is None or keep(child):
                        block_copy.append(shallow(child))
                        nested.append(child)
        pending.extend(reversed([child for child in nested if child.regions]))
    for copy in unresolved:
        if any(v in known for v in copy.operands):
            copy.operands = tuple([known.get(v, v) for v in copy.operands])
    return root


def _empty_copy(region: Region, known: dict[Value, Value], blocks: dict[Block, Block]) -> Region:
    """Returns a region with blocks of the same arguments and no operations."""
    result = Region()
    for block in region.blocks:
        copy = Block([a.type for a in block.arguments], [a.name for a in block.arguments], block.label)
        known.update(zip(block.arguments, copy.arguments, strict=True))
        copy.origins = block.origins
        blocks[block] = result.add(copy)
    return result
