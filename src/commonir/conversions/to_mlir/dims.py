"""Symbolic dims as values of type `index`, computed once for a function from its arguments."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from commonir.conversions.operands import refused
from commonir.conversions.symbolic_dims import ComputedDims, early
from commonir.dialects.mlir import arith, tensor
from commonir.ir.attributes import IntegerAttr
from commonir.ir.operation import Value
from commonir.ir.types import DYNAMIC, index
from commonir.rewrite.legalize import Context
from commonir.symbolic import Dim, DimExpr, bounds, terms_of


def index_constant(context: Context, number: int) -> Value:
    """A number of type `index`."""
    key = ("index", number)
    if key not in context.memo:
        context.memo[key] = context.hoist(arith.Constant(IntegerAttr(number, index)))
    return context.memo[key]


def size(context: Context, dim: Dim | None) -> Value:
    """A size as a value.

    Raises: DiagnosticError (E0601) if the program cannot compute it.
    """
    if dim is None:
        raise refused("a size is not known before running, and nothing names it")
    return IndexDims(context).value(dim)


def dynamic_sizes(context: Context, shape: Sequence[Dim | None]) -> tuple[Value, ...]:
    """Returns the dynamic dims of a shape as values."""
    return tuple([size(context, d) for d in shape if not isinstance(d, int)])


def static_sizes(shape: Sequence[Dim | None]) -> tuple[int, ...]:
    """A shape with what stands for a value in place of sizes that are not numbers."""
    return tuple([d if isinstance(d, int) else DYNAMIC for d in shape])


class IndexDims(ComputedDims):
    """Dims as values of type `index`."""

    add, subtract, multiply, divide = arith.AddI, arith.SubI, arith.MulI, arith.DivSI

    def number(self, number: int) -> Value:
        return index_constant(self.context, number)

    def axis(self, value: Value, axis: int) -> Value:
        return axis_size(self.context, value, axis)

    def sum(self, dim: DimExpr) -> Value:
        # Constants come first, and terms with negative coefficients are subtracted.
        total: Value | None = None
        for monomial, coefficient in sorted(terms_of(dim).items(), key=lambda term: (not term[0], term[1] < 0)):
            product = reduce(self.product, map(self.atom, monomial)) if monomial else self.number(coefficient)
            if monomial and (abs(coefficient) != 1 or (total is None and coefficient == -1)):
                product = self.product(product, self.number(coefficient if total is None else abs(coefficient)))
            if total is None:
                total = product
            else:
                is_subtracted = coefficient < 0 and bool(monomial)
                total = self.put((arith.SubI if is_subtracted else arith.AddI)(total, product))
        return self.number(0) if total is None else total

    def quotient(self, num: Dim, dividend: Value, divisor: Value) -> Value:
        return self.put((arith.DivUI if bounds(num)[0] >= 0 else arith.FloorDivSI)(dividend, divisor))

    def remainder(self, num: Dim, dividend: Value, divisor: Value) -> Value:
        if bounds(num)[0] >= 0:
            return self.put(arith.RemUI(dividend, divisor))
        whole = self.put(arith.FloorDivSI(dividend, divisor))
        return self.put(arith.SubI(dividend, self.product(whole, divisor)))

    def largest(self, values: Sequence[Value]) -> Value:
        return reduce(lambda a, b: self.put(arith.MaxSI(a, b)), values)


def axis_size(context: Context, value: Value, axis: int) -> Value:
    """The size of an axis of a tensor."""
    return early(context, tensor.Dim_(value, index_constant(context, axis)))
