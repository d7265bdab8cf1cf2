"""The rule for n-grams of tokens that are numbers: windows of a row are compared with all n-grams of a length."""

from __future__ import annotations

from functools import reduce

from commonir.conversions.core_to_mil.building import cast
from commonir.conversions.operands import dims_of, rank_of, refused, require_computable
from commonir.dialects import core
from commonir.ir.data import data_of
from commonir.ir.operation import Value
from commonir.ir.types import f32, i32
from commonir.rewrite.legalize import Context, Mismatch, Result, rule

_Ngrams = list[tuple[tuple[int, ...], int]]
"""N-grams with the columns they count in."""
_MOST_SKIPS = 256


@rule(core.NgramCounts)
def ngram_counts(op: core.NgramCounts, context: Context, x: Value) -> Result:
    if op.numbers is None:
        return Mismatch("Core ML computes nothing of texts")
    width = max(op.columns, default=-1) + 1
    rows = core.unsqueeze(cast(x, i32), (0,)) if rank_of(x) == 1 else cast(x, i32)
    result = [c for c in (_counted(op, rows, length) for length in op.lengths) if c is not None]
    if not result:
        return core.fill(core.scalar(0.0, f32), (*dims_of(x)[:-1], width))
    counts = reduce(core.add, result)
    return core.squeeze(counts, (0,)) if rank_of(x) == 1 else counts


def _counted(op: core.NgramCounts, rows: Value, length: int) -> Value | None:
    """How often the n-grams of one length occur in each row, by column; None where none can.

    Raises: DiagnosticError (E0601) for rows of open length.
    """
    expected: _Ngrams = [
        (tuple([int(t) for t in ngram]), column)
        for ngram, column in zip(op.ngrams(), op.columns, strict=True)
        if len(ngram) == length
    ]
    if not expected:
        return None
    dim = dims_of(rows)[1]
    if not isinstance(dim, int):
        raise refused("the number of tokens in a row is not known")
    most = min(op.skips, dim // (length - 1)) if length > 1 else 0
    if most > _MOST_SKIPS:
        raise refused(f"n-grams skip up to {most} tokens, and each number of them needs operations of its own")
    sums = [_windows(rows, dim, expected, step) for step in range(1, 2 + most)]
    result = [s for s in sums if s is not None]
    if not result:
        return None
    width = max(op.columns) + 1
    require_computable(width * len(expected))
    places = [float(column == n) for n in range(width) for _, column in expected]
    matrix = core.constant(data_of(f32, (width, len(expected)), places))
    return core.linear(reduce(core.add, result), matrix)


def _windows(rows: Value, dim: int, expected: _Ngrams, step: int) -> Value | None:
    """In how many windows of tokens that lie so many places apart each n-gram occurs; None without windows."""
    count, length = dims_of(rows)[0], len(expected[0][0])
    windows = dim - (length - 1) * step
    if windows <= 0:
        return None
    matches: list[Value] = []
    for n in range(length):
        part = core.slice(rows, (0, n * step), (count, n * step + windows), (1, 1))
        tokens = core.vector(tuple([ngram[n] for ngram, _ in expected]), i32)
        matches.append(core.equal(core.unsqueeze(part, (2,)), tokens))
    return core.reduce_sum(core.cast(reduce(core.logical_and, matches), f32), (1,))
