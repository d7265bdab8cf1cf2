"""Products of matrices and attention in the mil dialect.

Source: MIL operation reference, linear and transformers.
"""

from __future__ import annotations

from commonir.dialects import core
from commonir.dialects.mil.base import CORE_ML_7, CORE_ML_8, MilOp
from commonir.dialects.mil.operands import (
    FLOATS,
    NUMBERS,
    OWN_NUMBERS,
    STRING,
    Condition,
    converted,
    element_of,
    rank_of,
    same_size,
)
from commonir.ir.operation import Value
from commonir.ir.types import boolean, f16, f32
from commonir.notation import NotKnownError
from commonir.ods import attr_types, constraint, element_type, known_data, operand, parameter, result, traits
from commonir.ods.operand_shapes import ranked_shape


class Linear(MilOp, name="mil.linear", traits=(traits.Pure,)):
    """Fully connected layer: rows of x times the transposed weight, plus a bias; the bias is 0 by default.

    Weight and bias are converted to the type of x.

    Source: MIL operation reference, linear (iOS 15). Documented for rank 1 to 3; higher ranks occur.
    """

    x: Value = operand("T[b*, k]")
    weight: Value = operand("U[n, k]", constant=True)
    bias: Value | None = operand("U[n]", default=None, constant=True)
    output: Value = result("T[b*, n]")
    T = NUMBERS
    U = OWN_NUMBERS

    def reference(self, x: Value, weight: Value, bias: Value | None) -> Value:
        element = element_of(x)
        return core.linear(x, converted(weight, element), None if bias is None else converted(bias, element))


class Matmul(MilOp, name="mil.matmul", traits=(traits.Pure,)):
    """Product of matrices as in numpy: leading axes are broadcast, a vector is a row (x) or a column (y).

    `transpose_x` and `transpose_y` swap the last two axes first. A constant is converted to the type of the other
    operand.

    Source: MIL operation reference, matmul (iOS 15). coremltools 9 infers wrong shapes when y is a vector.
    """

    x: Value = operand("T[*]")
    y: Value = operand("U[*]")
    transpose_x: bool = parameter(attr_types.flag, spec="i1[]", default=False)
    transpose_y: bool = parameter(attr_types.flag, spec="i1[]", default=False)
    output: Value = result("any")
    T = NUMBERS
    U = OWN_NUMBERS

    @constraint("C1")
    def _have_axes(self) -> bool:
        """x and y have rank 1 or more."""
        return rank_of(self.x) > 0 and rank_of(self.y) > 0

    @constraint("C2")
    def _transposes_matrices(self) -> bool:
        """a vector is not transposed."""
        return not (self.transpose_x and rank_of(self.x) == 1) and not (self.transpose_y and rank_of(self.y) == 1)

    @constraint("C3")
    def _fit(self) -> Condition:
        """the summed axes have one size."""
        left, right = ranked_shape(self.x), ranked_shape(self.y)
        if not left or not right or (self.transpose_x and len(left) == 1) or (self.transpose_y and len(right) == 1):
            return True  # C1 or C2
        a = left[-2 if self.transpose_x else -1]
        b = right[-1 if self.transpose_y or len(right) == 1 else -2]
        return same_size(a, b, "the summed axes")

    @constraint("C4", since=CORE_ML_7)
    def _mixes_constants_only(self) -> bool:
        """when the types of x and y differ, exactly one of them is constant."""
        constants = [known_data(self.x) is not None, known_data(self.y) is not None]
        return element_of(self.x) is element_of(self.y) or sum(constants) == 1

    def reference(self, x: Value, y: Value) -> Value:
        element = element_of(y if known_data(self.x) is not None else x)
        return core.matmul(converted(x, element), converted(y, element), self.transpose_x, self.transpose_y)

    def trace_key(self) -> object:
        return known_data(self.x) is not None


_EQUATIONS = {3: "chw,whr->chr", 4: "nchw,nwhu->nchu"}


class Einsum(MilOp, name="mil.einsum", traits=(traits.Pure,)):
    """Einstein summation of two tensors by one of two equations: `chw,whr->chr`, or `bchw,bwhr->bchr` with a batch.

    The second-to-last axis, and for rank 4 the first, are batch axes; size 1 is broadcast.
    """

    values: tuple[Value, ...] = operand("T[*]", variadic=True)
    equation: str = parameter(attr_types.string, spec=STRING)
    output: Value = result("T[*]")
    T = FLOATS

    @constraint("C1")
    def _are_two(self) -> bool:
        """there are two operands, of equal rank 3 or 4."""
        ranks = [rank_of(v) for v in self.values]
        return ranks in ([3, 3], [4, 4])

    @constraint("C2")
    def _is_supported(self) -> bool:
        """the equation is nchw,nwhu->nchu or chw,whr->chr for the rank of the operands, up to the choice of letters."""
        expected = _EQUATIONS.get(rank_of(self.values[0])) if self.values else None
        return expected is None or _numbered(self.equation) == _numbered(expected)

    def reference(self, values: tuple[Value, ...]) -> Value:
        first, second = values
        last = rank_of(first) - 1
        # [.., c, h, w] and [.., w, h, u] become batches of matrices [.., h, c, w] and [.., h, w, u].
        swap = (*range(last - 2), last - 1, last - 2, last)
        product = core.matmul(core.transpose(first, swap), core.transpose(second, swap))
        return core.transpose(product, swap)


def _numbered(equation: str) -> tuple[int, ...]:
    """An equation with its letters numbered in order of occurrence; signs are -1."""
    seen: dict[str, int] = {}
    text = equation.replace(" ", "").replace("->", ">")
    return tuple([seen.setdefault(c, len(seen)) if c.isalpha() else -ord(c) for c in text])


class ScaledDotProductAttention(MilOp, name="mil.scaled_dot_product_attention", traits=(traits.Pure,), since=CORE_ML_8):
    """Scaled dot-product attention: softmax(query key^T / sqrt(e) + attn_mask) value, over the last two axes.

    A bool mask keeps scores where it is true, another mask is added to them; masks are broadcast.
    """

    query: Value = operand("T[b*, l, e]")
    key: Value = operand("T[b*, s, e]")
    value: Value = operand("T[b*, s, v]")
    attn_mask: Value | None = operand("M[*]", default=None)
    output: Value = result("T[b*, l, v]")
    T = FLOATS
    M = element_type(f16, f32, boolean)

    @constraint("C1")
    def _have_batches(self) -> bool:
        """the operands have rank 3 or more."""
        return rank_of(self.query) >= 3

    def reference(self, query: Value, key: Value, value: Value, attn_mask: Value | None) -> Value:
        if not isinstance(ranked_shape(query)[-1], int):
            raise NotKnownError("the size of a query is not known before running")
        mask = attn_mask
        if mask is not None and element_of(mask) is not boolean:
            mask = converted(mask, element_of(query))
        return core.attention(query, key, value, mask)
