"""Counts the floating-point operations of a function, as a formula in its symbolic dimensions.

Kernels are counted: each scalar function on floats once per value of the indices it depends on, and each step of a
fold; a matrix product of m x k by k x n counts 2 m n k. Algorithms, casts and selections count nothing, and the body of
a loop counts once.
"""

from __future__ import annotations

from collections.abc import Mapping

from commonir.ir.module import Function
from commonir.ir.operation import Operation
from commonir.notation import Apply, Expr, Fold, Kernel, free, walk
from commonir.ods import Form, Op, infer, operations_behind
from commonir.symbolic import Dim, element_count, total

_FREE_OF_CHARGE = frozenset({"select"})


def count_flops(function: Function) -> Dim:
    """Returns the number of floating-point operations in one run of a lowered function."""
    counts: list[Dim] = []
    cache: dict[tuple[object, ...], Dim] = {}
    pending: list[Operation] = list(function.body.operations)
    while pending:
        op = pending.pop()
        pending.extend(child for region in op.regions for block in region.blocks for child in block.operations)
        if not isinstance(op, Op) or op.form in (Form.STRUCTURAL, Form.ALGORITHM):
            continue
        key = (type(op), op.decoded_attributes(), *(v.type for v in op.operands))
        if key not in cache:
            cache[key] = _of_operation(op)
        counts.append(cache[key])
    return total(counts)


def _of_operation(op: Op) -> Dim:
    derived = infer(op)
    if op.form is Form.KERNEL:
        return total(_of_kernel(k, e) for k, e in zip(derived.kernels, derived.extents, strict=True))
    nested = (o for o in operations_behind(derived.outputs) if isinstance(o, Op))
    return total(_of_operation(o) for o in nested if o.form in (Form.KERNEL, Form.COMPOSITE))


def _of_kernel(kernel: Kernel, extents: Mapping[str, Dim]) -> Dim:
    def evaluations(e: Expr) -> Dim:
        return element_count(tuple([extents[i] for i in free(e)]))

    steps: dict[Expr, Dim] = {}
    for e in walk(kernel.body):
        match e:
            case Apply(fn=fn) if fn not in _FREE_OF_CHARGE and e.args[-1].dtype.is_float:
                steps[e] = evaluations(e)
            case Fold(body=body) if e.dtype.is_float:
                steps[e] = evaluations(body)
            case _:
                pass
    return total(steps.values())
