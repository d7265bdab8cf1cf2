"""Einstein summation as products of matrices, for programs whose tensors have rank at most 5."""

from __future__ import annotations

from collections.abc import Sequence

from commonir.conversions.core_to_mil.moves import moved
from commonir.conversions.operands import dims_of, refused
from commonir.dialects import core
from commonir.dialects.core.base import tensor_type
from commonir.ir.operation import Value
from commonir.ir.types import i32
from commonir.symbolic import Dim, element_count


def einsum_of_products(equation: str, xs: Sequence[Value]) -> Value:
    """The sum that an equation names, operand after operand from the left.

    Raises: DiagnosticError (E0601) when a size is unknown.
    """
    left, _, result = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    dims: dict[str, Dim] = {}
    for term, x in zip(terms, xs, strict=True):
        dims.update(zip(term, dims_of(x), strict=True))
    product_, named = _once_each(terms[0], xs[0], dims)
    for n in range(1, len(terms)):
        other, other_named = _once_each(terms[n], xs[n], dims)
        needed = set(result).union(*terms[n + 1 :])
        product_, named = _product(product_, named, other, other_named, needed, dims)
    return _arranged(product_, named, result, dims)


def _once_each(term: str, x: Value, dims: dict[str, Dim]) -> tuple[Value, str]:
    """An operand with the diagonal taken where a letter stands twice."""
    while len(set(term)) < len(term):
        first = next(n for n, c in enumerate(term) if c in term[n + 1 :])
        second = term.index(term[first], first + 1)
        dim = dims[term[first]]
        shape = [dim if n in (first, second) else 1 for n in range(len(term))]
        rows, columns = (core.iota(tuple(shape), n, i32) for n in (first, second))
        diagonal = core.select(core.equal(rows, columns), x, core.splat(0, x))
        x = core.reduce_sum(diagonal, (second,), False)
        term = term[:second] + term[second + 1 :]
    return x, term


def _summed(x: Value, named: str, remaining: set[str]) -> tuple[Value, str]:
    """A tensor summed over the letters that nothing else has."""
    axes = tuple([n for n, c in enumerate(named) if c not in remaining])
    if not axes:
        return x, named
    return core.reduce_sum(x, axes, False), "".join([c for c in named if c in remaining])


def _product(
    a: Value, named_a: str, b: Value, named_b: str, needed: set[str], dims: dict[str, Dim]
) -> tuple[Value, str]:
    """The product of two tensors, summed over what they share and nothing else needs."""
    a, named_a = _summed(a, named_a, needed | set(named_b))
    b, named_b = _summed(b, named_b, needed | set(named_a))
    shared = [c for c in named_a if c in named_b]
    batch = [c for c in shared if c in needed]
    inner = [c for c in shared if c not in needed]
    rows = [c for c in named_a if c not in named_b]
    columns = [c for c in named_b if c not in named_a]
    left = _matrices(a, named_a, (batch, rows, inner), dims)
    right = _matrices(b, named_b, (batch, inner, columns), dims)
    product = core.matmul(left, right, False, False)
    return product, "".join([*batch, *rows, *columns])


def _matrices(x: Value, named: str, groups: tuple[list[str], ...], dims: dict[str, Dim]) -> Value:
    """A tensor as a batch of matrices: one axis for each group of letters."""
    order = [c for group in groups for c in group]
    shape = tuple([dims[c] for c in named])
    flat = moved(x, shape, tuple([named.index(c) for c in order]))
    return core.reshape(flat, tuple([element_count(tuple([dims[c] for c in group])) for group in groups]))


def _arranged(x: Value, named: str, result: str, dims: dict[str, Dim]) -> Value:
    """A tensor whose elements are in the order of some letters, with the axes of the result."""
    if tensor_type(x).rank == len(named) and named:
        x, named = _summed(x, named, set(result))
    elif set(named) - set(result):
        raise refused(f"the sum over {''.join(sorted(set(named) - set(result)))} has no form here")
    shape = tuple([dims[c] for c in named])
    y = moved(x, shape, tuple([named.index(c) for c in result]))
    return core.reshape(y, tuple([dims[c] for c in result]))
