"""Sorts operations topologically in functions in which data alone determine the order.

ONNX demands sorted nodes. Tools that append nodes write files that are not sorted, and onnxruntime runs them.
"""

from __future__ import annotations

from collections.abc import Iterator

from commonir.ir.cloning import clone
from commonir.ir.data_order import data_order, rearrange
from commonir.ir.module import Module
from commonir.ir.operation import Block, Operation
from commonir.ods import Op, traits


def order_nodes(module: Module) -> Module:
    """Returns the module with sorted operations; the module itself if they are sorted, or form a cycle."""
    if not any(map(_is_disordered, _blocks(module))):
        return module
    result = clone(module)
    changed = False
    for block in list(_blocks(result)):
        order = data_order(block).operations if _is_disordered(block) else []
        if order:
            rearrange(block, order)
            changed = True
    return result if changed else module


def _blocks(module: Module) -> Iterator[Block]:
    for function in module.functions.values():
        if function.ordered_by_data:
            for op in function.walk():
                yield from (block for region in op.regions for block in region.blocks)


def _is_disordered(block: Block) -> bool:
    """Returns whether an operation uses a value, also in its regions, that a later one in the block defines."""
    last = block.last
    if not isinstance(last, Op) or not last.has_trait(traits.Terminator):
        return False
    before: set[object] = set()
    for op in block.operations:
        for v in op.values_used:
            owner = v.owner
            if owner not in before and isinstance(owner, Operation) and owner.parent is block:
                return True
        before.add(op)
    return False
