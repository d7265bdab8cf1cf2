"""Puts the operations of functions in which data alone decides when something runs in an order that data allow.

ONNX demands that nodes are listed in such an order. Tools that append nodes write files in which they are not, and
onnxruntime runs these; there is one meaning that they can have.
"""

from __future__ import annotations

from collections.abc import Iterator

from commonir.ir.cloning import clone
from commonir.ir.module import Module
from commonir.ir.operation import Block, Operation
from commonir.ods import Op, traits
from commonir.passes.order_subgraphs import data_order, rearrange


def order_nodes(module: Module) -> Module:
    """The module with such operations in order; the module itself when they are, or when they wait for each other."""
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
    """Whether an operation uses a value, also inside of its regions, that one behind it in a block gives."""
    last = block.last
    if not isinstance(last, Op) or not last.has_trait(traits.Terminator):
        return False
    seen: set[object] = set()
    for op in block.operations:
        for v in op.values_used:
            owner = v.owner
            if owner not in seen and isinstance(owner, Operation) and owner.parent is block:
                return True
        seen.add(op)
    return False
