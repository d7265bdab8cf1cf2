"""Rules for operations of other dialects whose references are kernels, such as those of TableGen records.

Each target has one: it has no rules for operations that it does not know, but for what their kernels become.
"""

from __future__ import annotations

from commonir.conversions.core_to_core.whole_tensors import of_kernels
from commonir.ir.operation import Value
from commonir.ir.types import ElementType
from commonir.ods.kernel_op import KernelOp
from commonir.rewrite.legalize import Context, LegalizationRule, Result


def kernel_rule(positions: ElementType) -> LegalizationRule:
    """Returns the rule that replaces kernels by operations of the core; positions are integers of a type."""

    def kernel(op: KernelOp, context: Context, *operands: Value | tuple[Value, ...] | None) -> Result:
        del context
        return of_kernels(op, operands, positions, contracts=True)

    return LegalizationRule(KernelOp, kernel)
