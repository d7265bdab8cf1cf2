"""Rules for operations that are a reshape, or a transposition between two."""

from __future__ import annotations

from commonir.conversions.operands import dims_of
from commonir.dialects import core
from commonir.ir.operation import Value
from commonir.rewrite.legalize import Context, Result, rule


@rule(core.Squeeze)
def squeeze(op: core.Squeeze, context: Context, x: Value) -> Result:
    return core.reshape(x, dims_of(op.y))


@rule(core.Unsqueeze)
def unsqueeze(op: core.Unsqueeze, context: Context, x: Value) -> Result:
    return core.reshape(x, dims_of(op.y))


@rule(core.DepthToSpace)
def depth_to_space(op: core.DepthToSpace, context: Context, x: Value) -> Result:
    """Blocks as axes of their own, which change places."""
    (n, channels, h, w), b = dims_of(op.x), op.block
    depth = channels // (b * b)
    if op.order is core.BlockOrder.DCR:
        blocks = core.transpose(core.reshape(x, (n, b, b, depth, h, w)), (0, 3, 4, 1, 5, 2))
    else:
        blocks = core.transpose(core.reshape(x, (n, depth, b, b, h, w)), (0, 1, 4, 2, 5, 3))
    return core.reshape(blocks, dims_of(op.y))


@rule(core.SpaceToDepth)
def space_to_depth(op: core.SpaceToDepth, context: Context, x: Value) -> Result:
    """Blocks as axes of their own, which change places."""
    (n, channels, h, w), b = dims_of(op.x), op.block
    blocks = core.reshape(x, (n, channels, h // b, b, w // b, b))
    order = (0, 3, 5, 1, 2, 4) if op.order is core.BlockOrder.DCR else (0, 1, 3, 5, 2, 4)
    return core.reshape(core.transpose(blocks, order), dims_of(op.y))
