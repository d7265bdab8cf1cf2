"""Rules for constants, and for every operation that a kernel explains."""

from __future__ import annotations

from collections.abc import Sequence

from commonir.conversions.core_to_linalg.kernels import kernel_value
from commonir.conversions.core_to_linalg.scalars import Scalars
from commonir.conversions.operands import named_operands
from commonir.conversions.to_mlir.dims import size
from commonir.conversions.to_mlir.finish import bytes_of_truth, constant_value
from commonir.dialects import core
from commonir.dialects.mlir import arith, tensor
from commonir.ir.operation import Block, Value
from commonir.ods import Form, Op, infer
from commonir.ods.kernel_op import KernelOp
from commonir.rewrite.legalize import Context, Mismatch, Result, rule


@rule(core.Constant)
def constant(op: core.Constant, context: Context) -> Result:
    if not op.value.element.is_numeric and op.value.element.kind != "bool":
        return Mismatch(f"MLIR has no tensors of {op.value.element}")
    data = bytes_of_truth(op.value)
    if data is not None:
        return core.cast(core.constant(data), op.value.element)
    return arith.Constant.build({"value": constant_value(op.value)}, [op.y.type])


@rule(core.Dims)
def dims(op: core.Dims, context: Context) -> Result:
    """Sizes as the elements of a tensor."""
    block = Block()
    s = Scalars(context, block)
    elements = [s.of_index(size(context, d), op.element) for d in op.values]
    for built in list(block.operations):
        built.detach()
    return tensor.FromElements.build({"elements": tuple(elements)}, [op.y.type])


@rule(core.CoreOp)
def kernel(op: core.CoreOp, context: Context, *operands: Value | tuple[Value, ...] | None) -> Result:
    """A kernel, whatever operation it is of."""
    return _by_kernels(op, context, operands)


@rule(KernelOp)
def foreign_kernel(op: KernelOp, context: Context, *operands: Value | tuple[Value, ...] | None) -> Result:
    """A kernel of an operation of another dialect."""
    return _by_kernels(op, context, operands)


def _by_kernels(op: Op, context: Context, operands: Sequence[Value | tuple[Value, ...] | None]) -> Result:
    if op.form is not Form.KERNEL:
        return Mismatch(f"{op.name} is not defined in index notation")
    by_name = named_operands(op, operands)
    derived = infer(op)
    if not derived.kernels:
        return Mismatch(f"{op.name} on operands of which the ranks are not known")
    kernels = zip(derived.kernels, derived.extents, strict=True)
    return tuple([kernel_value(context, k, extents, by_name) for k, extents in kernels])
