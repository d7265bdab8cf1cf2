"""Rules for compressed constants, for targets that hold none."""

from __future__ import annotations

from commonir.conversions.operands import dims_of, element_of
from commonir.dialects import core
from commonir.ir.operation import Value
from commonir.ir.types import boolean, i32
from commonir.rewrite.legalize import Context, Mismatch, Result, rule


@rule(core.Decoded)
def decoded(op: core.Decoded, context: Context, *operands: Value | None) -> Result:
    """Constants are written decoded."""
    data = op.constant_data()
    if data is None:
        return Mismatch("what is compressed is not constant")
    return core.constant(data)


@rule(core.SparseToDense)
def sparse_to_dense(op: core.SparseToDense, context: Context, mask: Value, values: Value) -> Result:
    """A value stands where the mask is set, after as many others as the mask has before."""
    flat = core.reshape(mask, (-1,))
    is_set = flat if element_of(mask) is boolean else core.cast(flat, boolean)
    before = core.cumsum(core.cast(is_set, i32), 0, True)
    result = core.select(is_set, core.gather(values, before, 0), core.splat(0, values))
    return core.reshape(result, dims_of(op.y))
