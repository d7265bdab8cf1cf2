"""The rule for sums by letters: as products of matrices, two operands at a time."""

from __future__ import annotations

from collections.abc import Sequence

from commonir.conversions.operands import dims_of
from commonir.dialects import core
from commonir.ir.operation import Value
from commonir.ir.types import i64
from commonir.rewrite.legalize import Context, Mismatch, Result, rule
from commonir.symbolic import Dim


@rule(core.Einsum)
def einsum(op: core.Einsum, context: Context, xs: tuple[Value, ...]) -> Result:
    """Two operands at a time: axes that nothing else needs are summed."""
    inputs, _, output = op.equation.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if "." in op.equation or len(terms) != len(xs) or len(set(output)) != len(output):
        return Mismatch("an equation with an ellipsis, or with a letter of the result twice")
    operands = [_without_diagonals(x, term) for x, term in zip(xs, terms, strict=True)]
    value, letters = operands[0]
    terms = [term for _, term in operands]
    for n, (other, term) in enumerate(operands[1:], 2):
        needed = {*output, *"".join(terms[n:])}
        value, letters = _pair(value, letters, other, term, needed)
    gone = tuple([n for n, c in enumerate(letters) if c not in output])
    if gone:
        value, letters = core.reduce_sum(value, gone), "".join([c for c in letters if c in output])
    return core.transpose(value, tuple([letters.index(c) for c in output])) if letters != output else value


def _without_diagonals(x: Value, letters: str) -> tuple[Value, str]:
    """A tensor in which each letter names one axis: the diagonal takes the place of two axes of one letter."""
    for letter in dict.fromkeys(letters):
        while letters.count(letter) > 1:
            first = letters.index(letter)
            second = letters.index(letter, first + 1)
            others = [n for n in range(len(letters)) if n not in (first, second)]
            dims = dims_of(x)
            size = dims[first]
            x = core.transpose(x, (*others, first, second))
            x = core.reshape(x, (*[dims[n] for n in others], size * size))
            places = core.mul(core.iota((size,), 0, i64), core.dims((size + 1,), i64, True))
            x = core.gather(x, places, len(others))
            letters = "".join([letters[n] for n in others]) + letter
    return x, letters


def _pair(a: Value, left: str, b: Value, right: str, needed: set[str]) -> tuple[Value, str]:
    for own, other in ((left, right), (right, left)):
        alone = tuple([n for n, c in enumerate(own) if c not in other and c not in needed])
        if alone and own is left:
            a, left = core.reduce_sum(a, alone), "".join([c for c in left if c in right or c in needed])
        elif alone:
            b, right = core.reduce_sum(b, alone), "".join([c for c in right if c in left or c in needed])
    shared = [c for c in left if c in right and c in needed]
    summed = [c for c in left if c in right and c not in needed]
    rows = [c for c in left if c not in right]
    columns = [c for c in right if c not in left]
    first = core.transpose(a, tuple([left.index(c) for c in (*shared, *rows, *summed)]))
    second = core.transpose(b, tuple([right.index(c) for c in (*shared, *summed, *columns)]))
    if len(rows) == len(columns) == len(summed) == 1:
        return core.matmul(first, second), "".join([*shared, *rows, *columns])
    dims = {**dict(zip(right, dims_of(b), strict=True)), **dict(zip(left, dims_of(a), strict=True))}

    def together(group: Sequence[str]) -> Dim:
        count: Dim = 1
        for c in group:
            count = count * dims[c]
        return count

    batch = [dims[c] for c in shared]
    first = core.reshape(first, (*batch, together(rows), together(summed)))
    second = core.reshape(second, (*batch, together(summed), together(columns)))
    shape = (*batch, *[dims[c] for c in (*rows, *columns)])
    return core.reshape(core.matmul(first, second), shape), "".join([*shared, *rows, *columns])
