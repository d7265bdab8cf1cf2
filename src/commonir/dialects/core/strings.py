"""Core operations on texts.

A text is a sequence of Unicode code points; files hold it as UTF-8.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any

from commonir.dialects.core.base import CoreOp, function, function_of_several, tensor_type
from commonir.dialects.core.patterns import PatternError, compiled
from commonir.ir.operation import Value
from commonir.ir.types import Shape, TensorType, Type, boolean, f32, i64, string
from commonir.notation import NotationError, broadcast_shape
from commonir.ods import (
    all_integers,
    attr_types,
    attribute,
    constraint,
    element_type,
    non_negative,
    operand,
    positive,
    result,
    traits,
)
from commonir.symbolic import Dim

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

_TEXT = element_type(string)


def _objects(texts: Sequence[str], shape: tuple[int, ...]) -> Array:
    from commonir.base.arrays import array_of_texts  # noqa: PLC0415  loads numpy

    return array_of_texts(texts, shape)


def _joined_shape(a: Shape | None, b: Shape | None) -> Shape | None:
    """The shape of two operands broadcast; an axis of unknown size takes that of the other operand if it is not 1."""
    if a is None or b is None:
        return None
    rank = max(len(a), len(b))
    out: list[Dim | None] = []
    for n, m in zip((1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b, strict=True):
        if n is None or m is None:
            known = m if n is None else n
            out.append(None if known == 1 else known)
        else:
            out += broadcast_shape((n,), (m,))[0]
    return tuple(out)


class StringConcat(CoreOp, name="core.string_concat", traits=(traits.Pure, traits.Broadcastable)):
    """Concatenates strings elementwise; the operands are broadcast as in numpy."""

    a: Value = operand("T[*]")
    b: Value = operand("T[*]")
    y: Value = result("T[*]")
    T = _TEXT

    def infer(self) -> tuple[Type, ...]:
        return (TensorType(string, _joined_shape(tensor_type(self.a).shape, tensor_type(self.b).shape)),)

    def reference(self, a: Array, b: Array) -> Array:
        xp: Any = a.__array_namespace__()
        return xp.asarray(xp.add(a, b), object)


class StringSplit(CoreOp, name="core.string_split", traits=(traits.Pure,)):
    """Splits each string at delimiters: the parts along a new last axis, and their number; short rows end in "".

    Without a delimiter, strings are split at white space, and the empty string has no parts. `limit` is the maximum
    number of splits, from the start.
    """

    x: Value = operand("T[s*]")
    delimiter: str = attribute(attr_types.string, default="")
    limit: int | None = attribute(attr_types.integer, default=None, check=non_negative)
    parts: Value = result("T[*]")
    counts: Value = result("i64[s*]")
    T = _TEXT

    def infer(self) -> tuple[Type, ...]:
        shape = tensor_type(self.x).shape
        return TensorType(string, None if shape is None else (*shape, None)), TensorType(i64, shape)

    def reference(self, x: Array) -> tuple[Array, ...]:
        xp: Any = x.__array_namespace__()
        limit = -1 if self.limit is None else self.limit
        rows = [str(v).split(self.delimiter or None, limit) for v in x.reshape(-1)]
        counts = xp.asarray([len(r) for r in rows], xp.int64).reshape(x.shape)
        most = max(map(len, rows), default=0)
        parts = [p for r in rows for p in (*r, *[""] * (most - len(r)))]
        return _objects(parts, (*x.shape, most)), counts


class Case(Enum):
    """Case conversions of letters."""

    NONE = "none"
    LOWER = "lower"
    UPPER = "upper"


class StringNormalize(CoreOp, name="core.string_normalize", traits=(traits.Pure,)):
    """Removes stop words, and converts the other strings to lower or upper case; one empty string if none is left.

    Case conversion is that of Unicode, whatever the locale. Stop words are compared with or without case.
    """

    x: Value = operand("T[*]")
    stopwords: tuple[str, ...] = attribute(attr_types.strings, default=())
    is_case_sensitive: bool = attribute(attr_types.flag, default=False)
    case: Case = attribute(attr_types.enumeration(Case), default=Case.NONE)
    y: Value = result("T[*]")
    T = _TEXT

    @constraint("C1")
    def is_one_row(self) -> object:
        """The operand has one axis, or two, of which the first has size 1."""
        shape = tensor_type(self.x).shape
        return shape is None or len(shape) == 1 or (len(shape) == 2 and shape[0] in (1, None))

    def infer(self) -> tuple[Type, ...]:
        shape = tensor_type(self.x).shape
        if not self.stopwords:
            least = shape is not None and isinstance(shape[-1], int) and shape[-1] > 0
            return (TensorType(string, shape if least or shape is None else (*shape[:-1], None)),)
        return (TensorType(string, None if shape is None else (*shape[:-1], None)),)

    def reference(self, x: Array) -> Array:
        def folded(text: str) -> str:
            return text if self.is_case_sensitive else text.casefold()

        change = {Case.NONE: str, Case.LOWER: str.lower, Case.UPPER: str.upper}[self.case]
        stops = {folded(w) for w in self.stopwords}
        kept = [change(str(v)) for v in x.reshape(-1) if folded(str(v)) not in stops] or [""]
        return _objects(kept, (*x.shape[:-1], len(kept)))


class RegexFullMatch(CoreOp, name="core.regex_full_match", traits=(traits.Pure, traits.Elementwise)):
    """Tests whether a pattern in RE2 syntax matches the whole string. The time is proportional to the product of the
    lengths of pattern and string.
    """

    x: Value = operand("T[s*]")
    pattern: str = attribute(attr_types.string)
    y: Value = result("i1[s*]")
    T = _TEXT

    @constraint("C1")
    def pattern_is_understood(self) -> object:
        """The pattern has RE2 syntax."""
        try:
            compiled(self.pattern)
        except PatternError as error:
            raise NotationError(str(error), label="C1") from None
        return True

    def infer(self) -> tuple[Type, ...]:
        return (tensor_type(self.x).with_element(boolean),)

    def reference(self, x: Array) -> Array:
        xp: Any = x.__array_namespace__()
        program = compiled(self.pattern)
        return xp.asarray([program.matches(str(v)) for v in x.reshape(-1)], bool).reshape(x.shape)


class NgramCounts(CoreOp, name="core.ngram_counts", traits=(traits.Pure,)):
    """Counts of each n-gram of a pool in each row of tokens, in single precision.

    The pool has all n-grams of one token, then those of two, and so on; `starts` has the index at which each length
    begins. N-gram n is counted in column `columns[n]`. Lengths from `least` to `most` are counted, with up to `skips`
    tokens skipped between each two; n-grams of one token are counted once, whatever `skips` is.
    """

    x: Value = operand("T[*]")
    starts: tuple[int, ...] = attribute(attr_types.integers)
    columns: tuple[int, ...] = attribute(attr_types.integers)
    numbers: tuple[int, ...] | None = attribute(attr_types.integers, default=None)
    texts: tuple[str, ...] | None = attribute(attr_types.strings, default=None)
    least: int = attribute(attr_types.integer, default=1, check=positive)
    most: int = attribute(attr_types.integer, default=1, check=positive)
    skips: int = attribute(attr_types.integer, default=0, check=non_negative)
    y: Value = result("f32[*]")
    T = element_type(string) | all_integers

    @constraint("C1")
    def pool_fits_tokens(self) -> object:
        """The pool is of numbers for numbers, of texts for texts."""
        is_text = tensor_type(self.x).element is string
        return (self.texts is not None) == is_text and (self.numbers is not None) != is_text

    @constraint("C2")
    def starts_lie_in_pool(self) -> object:
        """Starts do not decrease and lie in the pool."""
        bounds = [0, *self.starts, len(self.pool)]
        return bounds == sorted(bounds)

    @constraint("C3")
    def columns_are_there(self) -> object:
        """There is a column for each n-gram of the pool, and none is negative."""
        if self.starts_lie_in_pool.holds(self) is not True:
            return True  # C2
        return len(self.columns) == sum(1 for _ in self.ngrams()) and all(c >= 0 for c in self.columns)

    @constraint("C4")
    def is_row_or_rows(self) -> object:
        """The operand has one or two axes."""
        return tensor_type(self.x).rank in (None, 1, 2)

    @property
    def pool(self) -> tuple[int, ...] | tuple[str, ...]:
        """The tokens of the pool."""
        return self.texts if self.texts is not None else self.numbers or ()

    @property
    def lengths(self) -> range:
        """The lengths of n-grams that are counted and that the pool has."""
        return range(self.least, min(self.most, len(self.starts)) + 1)

    def ngrams(self) -> Iterator[tuple[int | str, ...]]:
        """The n-grams of the pool in order."""
        ends = (*self.starts, len(self.pool))[1:]
        for n, (start, end) in enumerate(zip(self.starts, ends, strict=True), 1):
            for k in range(start, end - n + 1, n):
                yield self.pool[k : k + n]

    def infer(self) -> tuple[Type, ...]:
        shape = tensor_type(self.x).shape
        width = max(self.columns, default=-1) + 1
        return (TensorType(f32, None if shape is None else (*shape[:-1], width)),)

    def reference(self, x: Array) -> Array:
        xp: Any = x.__array_namespace__()
        expected: dict[tuple[int | str, ...], list[int]] = {}
        for ngram, column in zip(self.ngrams(), self.columns, strict=True):
            if self.least <= len(ngram) <= self.most:
                expected.setdefault(ngram, []).append(column)
        rows = x.reshape(-1, x.shape[-1])
        out = xp.zeros((len(rows), max(self.columns, default=-1) + 1), xp.float32)
        for row, tokens in zip(out, rows.tolist(), strict=True):
            for ngram in self._occurring(tokens):
                for column in expected.get(ngram, ()):
                    row[column] += 1
        return out.reshape(*x.shape[:-1], out.shape[-1])

    def _occurring(self, tokens: Sequence[int | str]) -> Iterator[tuple[int | str, ...]]:
        """Every n-gram of a row, once for each place and number of tokens left out."""
        for length in self.lengths:
            # A longer step leaves no place in the row.
            for step in range(1, 2 + (min(self.skips, len(tokens) // (length - 1)) if length > 1 else 0)):
                for start in range(len(tokens) - step * (length - 1)):
                    yield tuple(tokens[start : start + step * (length - 1) + 1 : step])


string_concat = function(StringConcat)
string_split = function_of_several(StringSplit)
string_normalize = function(StringNormalize)
regex_full_match = function(RegexFullMatch)
ngram_counts = function(NgramCounts)
