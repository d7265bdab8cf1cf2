"""Rules for branches and loops, whose nested programs tosa has as the core has them."""

from __future__ import annotations

from commonir.conversions.core_to_core.counted_rounds import counted
from commonir.dialects import core
from commonir.dialects.mlir import tosa
from commonir.ir.operation import Operation, Value
from commonir.ir.types import TensorType, i32
from commonir.rewrite.legalize import Context, Mismatch, Result, rule


@rule(core.Yield)
def yielded(op: core.Yield, context: Context, values: tuple[Value, ...]) -> Operation:
    del op, context
    return tosa.Yield(values)


@rule(core.If)
def if_(op: core.If, context: Context, condition: Value) -> Result:
    then, orelse = context.regions
    if not op.ys:
        return Mismatch("the branches give no values, and tosa has no operations but for their values")
    fields = {"condition": condition, "input_list": (), "then_graph": then, "else_graph": orelse}
    return tosa.CondIf.build(fields, [y.type for y in op.ys]).results


@rule(core.While)
def while_(op: core.While, context: Context, initial: tuple[Value, ...]) -> Result:
    """A loop goes round with tensors of the same sizes."""
    condition, body = context.regions
    if len(op.ys) != len(initial):
        return Mismatch("a loop whose number of rounds is data cannot stack values of its rounds")
    if any(not isinstance(v.type, TensorType) for v in initial):
        return Mismatch("a loop goes round with values that are not tensors")
    fields = {"input_list": initial, "cond_graph": condition, "body_graph": body}
    return tosa.WhileLoop.build(fields, [y.type for y in op.ys]).results


@rule(core.Scan)
def scan(op: core.Scan, context: Context, initial: tuple[Value, ...], sequences: tuple[Value, ...]) -> Result:
    return counted(op, context.regions[0], initial, sequences, i32)
