"""Finds where a program computes symbolic dims, for conversions whose programs compute them while running."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from commonir.base.tuples import NamedTuple
from commonir.conversions.operands import refused
from commonir.dialects.core.base import Function2
from commonir.ir.operation import Value
from commonir.ir.types import TensorType
from commonir.ods import Op
from commonir.rewrite.legalize import Context
from commonir.symbolic import Dim, DimExpr, Symbol, terms_of
from commonir.symbolic.dims import Atom, symbols_in


class Axis(NamedTuple):
    """An axis of a value of the target."""

    value: Value
    axis: int


class Measured(NamedTuple):
    """An axis whose size is `factor` times a symbol plus `offset`."""

    axis: Axis
    factor: int = 1
    offset: int = 0


def early(context: Context, op: Op) -> Value:
    """The result of an operation, which is hoisted when what it needs is there early enough."""
    return context.hoist(op) if all(map(context.is_hoisted, op.operands)) else op.results[0]


def carrying(context: Context, dim: Dim) -> Axis | None:
    """The axis of an argument that has a size as it is."""
    return next((axis for axis, size in _dims_of_arguments(context) if size == dim), None)


def measuring(context: Context, expected: Symbol) -> Measured:
    """Returns the source of a symbol: an axis with it as its dim, else an argument with a linear expression of it.

    Raises: DiagnosticError (E0601) when there is none.
    """
    result = carrying(context, DimExpr({(expected,): 1}))
    if result is not None:
        return Measured(result)
    local = context.dims.get(expected.name)
    if local is not None:
        return Measured(Axis(*local))
    for axis, size in _dims_of_arguments(context):
        if not isinstance(size, DimExpr) or symbols_in(size) != (expected,):
            continue
        terms = dict(terms_of(size))
        factor, offset = terms.pop((expected,), 0), terms.pop((), 0)
        if factor and not terms:
            return Measured(axis, factor, offset)
    raise refused(f"no input has the dimension '{expected.name}' as the size of an axis")


def _dims_of_arguments(context: Context) -> Iterator[tuple[Axis, Dim | None]]:
    for argument in context.prologue.arguments:
        type = argument.type
        for axis, size in enumerate((type.shape or ()) if isinstance(type, TensorType) else ()):
            yield Axis(argument, axis), size


def sum_of_products(
    dim: DimExpr,
    atom: Callable[[Atom], Value],
    number: Callable[[int], Value],
    multiply: Function2,
    add: Function2,
) -> Value:
    """An expression by the operations of a target on its atoms and on numbers."""
    total: Value | None = None
    for monomial, coefficient in terms_of(dim).items():
        product: Value | None = None
        for factor in map(atom, monomial):
            product = factor if product is None else multiply(product, factor)
        if product is None:
            product = number(coefficient)
        elif coefficient != 1:
            product = multiply(product, number(coefficient))
        total = product if total is None else add(total, product)
    return number(0) if total is None else total
