"""Products of matrices in ARK.

Source: ARK model files, operations; the specification of model files for the arguments of generation v1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from commonir.base.diagnostics import Diagnostic
from commonir.dialects import core
from commonir.dialects.ark.base import BOOL, DIMS, AnyTensor, ArkOp, broadcast, dims_of, element_of, stored, widened
from commonir.dialects.ark.structure import view_of
from commonir.ir.operation import Value
from commonir.ods import attribute, operand, result

_MATRIX = 2
_V1 = frozenset({"InputDimNC", "OtherDimNC", "ShapeMNK", "StridesACDB"})


class Matmul(ArkOp, name="ark.Matmul"):
    """Matrix product over the last two axes; the others are broadcast. A vector on the left is a row, one on the right
    a column.

    C1: all tensors have the same data type. C2: after transposing, the left has as many columns as the right has rows.
    C3: the output has the shape of the product. C4: arguments of generation v1 agree with the tensors. C5: so do padded
    shapes.
    """

    v1_arguments = _V1

    input: Value = operand(AnyTensor)
    other: Value = operand(AnyTensor)
    output: Value = operand(AnyTensor)
    TransposeInput: bool = attribute(BOOL, doc="whether the left matrix is transposed")
    TransposeOther: bool = attribute(BOOL, doc="whether the right matrix is transposed")
    InputDimNC: tuple[int, ...] | None = attribute(DIMS, default=None, doc="leading dims of the left, as 4D")
    OtherDimNC: tuple[int, ...] | None = attribute(DIMS, default=None, doc="leading dims of the right, as 4D")
    ShapeMNK: tuple[int, ...] | None = attribute(DIMS, default=None, doc="rows, columns and contracted size")
    StridesACDB: tuple[int, ...] | None = attribute(DIMS, default=None, doc="last extents of left, result and right")
    result_: Value = result(AnyTensor)

    def _sides(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The shapes of both factors, transposed, each with two axes at least."""
        return self._turned(dims_of(self.input), dims_of(self.other))

    def _turned(self, left: tuple[int, ...], right: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        left = (1, *left) if len(left) < _MATRIX else left
        right = (*right, 1) if len(right) < _MATRIX else right
        turned_left = (*left[:-2], left[-1], left[-2]) if self.TransposeInput else left
        turned_right = (*right[:-2], right[-1], right[-2]) if self.TransposeOther else right
        return turned_left, turned_right

    def product_shape(self, left: tuple[int, ...], right: tuple[int, ...]) -> tuple[int, ...] | None:
        """The shape of the product of factors of some shapes; None for those that do not fit."""
        left, right = self._turned(left, right)
        leading = broadcast(left[:-2], right[:-2])
        return None if leading is None or left[-1] != right[-2] else (*leading, left[-2], right[-1])

    @property
    def written_shape(self) -> tuple[int, ...] | None:
        return self.product_shape(dims_of(self.input), dims_of(self.other))

    def derived_arguments(self) -> Mapping[str, tuple[int, ...]]:
        """Returns the additional arguments of generation v1, which follow from the tensors."""
        left, right = self._sides()
        m, k, n = left[-2], left[-1], right[-1]
        extents = [(1,) if v is None else v.strides for v in map(view_of, (self.input, self.output, self.other))]
        return {
            "InputDimNC": (1, 1, *left)[-4:-2],
            "OtherDimNC": (1, 1, *right)[-4:-2],
            "ShapeMNK": (m, n, k),
            "StridesACDB": (extents[0][-1], extents[1][-1], extents[1][-1], extents[2][-1]),
        }

    def broken_rules(self) -> Iterator[Diagnostic]:
        elements = [element_of(v) for v in self.operands]
        if any(e is not elements[0] for e in elements):
            yield self.broken("C1", f"tensors must have one data type, found {', '.join(map(str, elements))}")
        left, right = self._sides()
        if left[-1] != right[-2]:
            yield self.broken("C2", f"{left[-1]} columns on the left, but {right[-2]} rows on the right")
            return
        expected = self.written_shape
        if expected is None:
            axes = f"{list(left[:-2])} on the left and {list(right[:-2])} on the right"
            yield self.broken("C3", f"the leading axes, {axes}, do not broadcast")
        elif dims_of(self.output) != expected:
            yield self.broken("C3", f"expected {list(expected)}, found {list(dims_of(self.output))}")
        for name, value in self.derived_arguments().items():
            declared: tuple[int, ...] | None = getattr(self, name)
            if declared is not None and declared != value:
                yield self.broken("C4", f"'{name}' must be {list(value)} by the tensors, found {list(declared)}")

    def reference(self, input: Value, other: Value, output: Value) -> Value:
        left, right = widened(input), widened(other)
        if len(dims_of(left)) < _MATRIX:
            left = core.reshape(left, (1, *dims_of(left)))
        if len(dims_of(right)) < _MATRIX:
            right = core.reshape(right, (*dims_of(right), 1))
        return stored(core.matmul(left, right, self.TransposeInput, self.TransposeOther), output)
