"""Operators of com.microsoft on matrices as such.

Source: onnxruntime, contrib operator reference, version 1.
"""

from __future__ import annotations

from collections.abc import Sequence

from commonir.dialects import core
from commonir.dialects.onnx.base import FLOATS_1, OnnxOp, element_of, shape_of
from commonir.ir.operation import Value
from commonir.ir.types import i64
from commonir.ods import operand, result


class Inverse(OnnxOp, name="onnx.microsoft.Inverse", since="microsoft1"):
    """The inverses of the square matrices of the last two axes, by elimination with the largest pivot of each column.

    Half precision is computed in single precision. A singular matrix has no inverse: the result then has infinities or
    NaN.
    """

    X: Value = operand("T[b*, n, n]")
    Y: Value = result("T[b*, n, n]")
    T = FLOATS_1

    def reference(self, X: Value) -> Value:
        wide = core.widened(X)
        *batch, size, _ = shape_of(X)
        rank = len(batch) + 2
        lines = core.iota((size, 1))
        columns = core.iota((size,))
        unit = core.cast(core.equal(lines, columns), element_of(wide))
        equations = core.concat((wide, core.broadcast_to(unit, (*batch, size, size))), rank - 1)

        def step(rows: Value, at: Value) -> Sequence[Value]:
            """Swaps the row of the pivot to its place, and subtracts multiples of it from all others."""
            column = core.gather(rows, core.reshape(at, (1,)), rank - 1)
            magnitudes = core.select(core.less(lines, at), core.splat(-1.0, column), core.abs(column))
            pivot = core.arg_max(magnitudes, rank - 2, True)
            is_pivot, is_next = core.equal(lines, pivot), core.equal(lines, at)
            zeros = core.splat(0.0, rows)
            row = core.reduce_sum(core.select(is_pivot, rows, zeros), (rank - 2,), True)
            displaced = core.reduce_sum(core.select(is_next, rows, zeros), (rank - 2,), True)
            scaled = core.div(row, core.gather(row, core.reshape(at, (1,)), rank - 1))
            swapped = core.select(is_pivot, displaced, rows)
            factors = core.gather(swapped, core.reshape(at, (1,)), rank - 1)
            return [core.select(is_next, scaled, core.sub(swapped, core.mul(factors, scaled)))]

        body = core.nested([equations.type, core.tensor_type(core.scalar(0, i64))], step)
        (solved,) = core.scan((equations,), (columns,), body)
        return core.narrowed(core.split(solved, rank - 1, (size, size))[1], X)
