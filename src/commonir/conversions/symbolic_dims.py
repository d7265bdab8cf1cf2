"""Symbolic dims as values, for conversions whose programs compute them while running."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence

from commonir.base.tuples import NamedTuple
from commonir.conversions.operands import refused, runs_of
from commonir.dialects.core.base import Function2
from commonir.ir.operation import Value
from commonir.ir.types import TensorType
from commonir.ods import Op
from commonir.rewrite.legalize import Context
from commonir.symbolic import Dim, DimExpr, Floor, Max, Mod, Symbol, terms_of
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


def set_dim(context: Context, dim: Dim, value: Value) -> None:
    """Records the value of a dim that an operation computes."""
    context.memo["dimension", dim] = value


def carrying(context: Context, dim: Dim) -> Axis | None:
    """The axis of an argument that has a size as it is."""
    return next((axis for axis, length in _dims_of_arguments(context) if length == dim), None)


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
    for axis, dim in _dims_of_arguments(context):
        if not isinstance(dim, DimExpr) or symbols_in(dim) != (expected,):
            continue
        terms = dict(terms_of(dim))
        factor, offset = terms.pop((expected,), 0), terms.pop((), 0)
        if factor and not terms:
            return Measured(axis, factor, offset)
    raise refused(f"no input has the dimension '{expected.name}' as the size of an axis")


def _dims_of_arguments(context: Context) -> Iterator[tuple[Axis, Dim | None]]:
    for argument in context.prologue.arguments:
        type = argument.type
        for axis, dim in enumerate((type.shape or ()) if isinstance(type, TensorType) else ()):
            yield Axis(argument, axis), dim


class ComputedDims(ABC):
    """Builds the operations of a target that compute dims, from axes of arguments and data-dependent axes.

    A dim is computed once for a function if what it needs is available at its beginning.
    """

    add: Callable[[Value, Value], Op]
    subtract: Callable[[Value, Value], Op]
    multiply: Callable[[Value, Value], Op]
    divide: Callable[[Value, Value], Op]
    """Quotients without remainder."""

    def __init__(self, context: Context) -> None:
        self.context = context

    @abstractmethod
    def number(self, number: int) -> Value:
        """Returns a number in the form of a dim."""

    @abstractmethod
    def axis(self, value: Value, axis: int) -> Value:
        """Returns the dim of an axis."""

    @abstractmethod
    def quotient(self, num: Dim, dividend: Value, divisor: Value) -> Value:
        """Returns the quotient of `num` and a positive divisor, rounded downward."""

    @abstractmethod
    def remainder(self, num: Dim, dividend: Value, divisor: Value) -> Value:
        """Returns `num` modulo a positive divisor."""

    @abstractmethod
    def largest(self, values: Sequence[Value]) -> Value:
        """Returns the maximum."""

    def put(self, op: Op) -> Value:
        """Inserts an operation and returns its result."""
        return early(self.context, op)

    def shared(self, key: object, build: Callable[[], Value]) -> Value:
        """Returns a value that is built once per key if it can be hoisted."""
        memo = self.context.memo
        if key in memo:
            return memo[key]
        result = build()
        if self.context.is_hoisted(result):
            memo[key] = result
        return result

    def value(self, dim: Dim) -> Value:
        """Returns a dim. Raises: DiagnosticError (E0601) if the program cannot compute it."""
        return (
            self.number(dim) if isinstance(dim, int) else self.shared(("dimension", dim), lambda: self._computed(dim))
        )

    def _computed(self, dim: DimExpr) -> Value:
        axis = carrying(self.context, dim)
        return self.sum(dim) if axis is None else self.axis(*axis)

    def sum(self, dim: DimExpr) -> Value:
        """Returns an expression, computed from its atoms."""
        return sum_of_products(dim, self.atom, self.number, self.product, lambda a, b: self.put(self.add(a, b)))

    def product(self, a: Value, b: Value) -> Value:
        """Returns a product."""
        return self.put(self.multiply(a, b))

    def atom(self, atom: Atom) -> Value:
        """Returns an atom of an expression."""
        match atom:
            case Symbol():
                return self.symbol(atom)
            case Floor(num=num, den=den):
                return self.quotient(num, self.value(num), self.value(den))
            case Mod(num=num, den=den):
                return self.remainder(num, self.value(num), self.value(den))
            case Max(args=args):
                return self.largest([self.value(a) for a in args])

    def symbol(self, expected: Symbol) -> Value:
        """Returns a symbol, from an axis that has it or a linear expression of it as its dim."""
        axis, factor, offset = measuring(self.context, expected)
        result = self.axis(*axis)
        if offset:
            result = self.put(self.subtract(result, self.number(offset)))
        return result if factor == 1 else self.put(self.divide(result, self.number(factor)))


class VectorDims(ComputedDims):
    """Dims as vectors of one element."""

    integers: Callable[[Context, Sequence[int]], Value]
    """A constant vector."""

    @abstractmethod
    def concatenated(self, parts: tuple[Value, ...]) -> Op:
        """Returns the operation that joins vectors."""

    def number(self, number: int) -> Value:
        return type(self).integers(self.context, (number,))

    def vector(self, dims: Sequence[Dim]) -> Value:
        """Returns a vector of dims. Raises: DiagnosticError (E0601) if the program cannot compute one."""
        return self.shared(("vector", tuple(dims)), lambda: self._joined(dims))

    def _joined(self, dims: Sequence[Dim]) -> Value:
        integers = type(self).integers
        parts = [integers(self.context, r) if isinstance(r, tuple) else self.value(r) for r in runs_of(dims)]
        if not parts:
            return integers(self.context, ())
        return parts[0] if len(parts) == 1 else self.put(self.concatenated(tuple(parts)))


def sum_of_products(
    dim: DimExpr, atom: Callable[[Atom], Value], number: Callable[[int], Value], multiply: Function2, add: Function2
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
