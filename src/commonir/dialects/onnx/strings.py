"""ONNX operators on strings.

Source: ONNX operator reference, default domain, versions 9 to 20.
"""

from __future__ import annotations

from commonir.dialects import core
from commonir.dialects.onnx.base import BOOLEAN, POSITIONS, STRING, OnnxOp, rank_of
from commonir.ir.data import data_of
from commonir.ir.operation import Value
from commonir.ir.types import f32, i64
from commonir.notation import NotationError
from commonir.ods import attr_types, attribute, element_type, one_of, operand, result


class StringConcat(OnnxOp, name="onnx.StringConcat", since="opset20"):
    """Concatenates strings elementwise; the operands are broadcast as in numpy."""

    X: Value = operand("T")
    Y: Value = operand("T")
    Z: Value = result("T")
    T = STRING

    def reference(self, X: Value, Y: Value) -> Value:
        return core.string_concat(X, Y)


class StringSplit(OnnxOp, name="onnx.StringSplit", since="opset20"):
    """Splits each string at delimiters: the parts along a new last axis, and their number; short rows end in "".

    Without a delimiter, strings are split at white space.
    """

    X: Value = operand("T1")
    maxsplit: int | None = attribute(attr_types.integer, default=None)
    delimiter: str | None = attribute(attr_types.string, default=None)
    Y: Value = result("T2")
    Z: Value = result("T3")
    T1 = STRING
    T2 = STRING
    T3 = element_type(i64)

    def reference(self, X: Value) -> tuple[Value, ...]:
        limit = None if self.maxsplit is None or self.maxsplit < 0 else self.maxsplit
        return core.string_split(X, self.delimiter or "", limit)


class StringNormalizer(OnnxOp, name="onnx.StringNormalizer", since="opset10"):
    """Removes stop words, and converts the other strings to lower or upper case; one empty string if none is left.

    Case conversion is that of Unicode, whatever the `locale`.
    """

    X: Value = operand("!builtin.string")
    stopwords: tuple[str, ...] | None = attribute(attr_types.strings, default=None)
    is_case_sensitive: bool = attribute(attr_types.flag, default=False)
    case_change_action: str = attribute(attr_types.string, default="NONE", check=one_of("LOWER", "UPPER", "NONE"))
    locale: str | None = attribute(attr_types.string, default=None)
    Y: Value = result("!builtin.string")

    def reference(self, X: Value) -> Value:
        case = core.Case(self.case_change_action.lower())
        return core.string_normalize(X, self.stopwords or (), self.is_case_sensitive, case)


class RegexFullMatch(OnnxOp, name="onnx.RegexFullMatch", since="opset20"):
    """Tests whether a pattern in RE2 syntax matches the whole string."""

    X: Value = operand("T1")
    pattern: str | None = attribute(attr_types.string, default=None)
    Y: Value = result("T2")
    T1 = STRING
    T2 = BOOLEAN

    def reference(self, X: Value) -> Value:
        if self.pattern is None:
            raise NotationError("'pattern' is not given")
        return core.regex_full_match(X, self.pattern)


class TfIdfVectorizer(OnnxOp, name="onnx.TfIdfVectorizer", since="opset9"):
    """Counts the n-grams of a pool in each row of tokens.

    Mode `TF` gives the counts, mode `IDF` 1 for each n-gram that occurs, mode `TFIDF` the counts; the last two are
    multiplied by the weight of the n-gram.
    """

    X: Value = operand("T")
    max_gram_length: int = attribute(attr_types.integer)
    max_skip_count: int = attribute(attr_types.integer)
    min_gram_length: int = attribute(attr_types.integer)
    mode: str = attribute(attr_types.string, check=one_of("TF", "IDF", "TFIDF"))
    ngram_counts: tuple[int, ...] = attribute(attr_types.integers)
    ngram_indexes: tuple[int, ...] = attribute(attr_types.integers)
    pool_int64s: tuple[int, ...] | None = attribute(attr_types.integers, default=None)
    pool_strings: tuple[str, ...] | None = attribute(attr_types.strings, default=None)
    weights: tuple[float, ...] | None = attribute(attr_types.numbers, default=None)
    Y: Value = result("T1")
    T = STRING | POSITIONS
    T1 = element_type(f32)

    def reference(self, X: Value) -> Value:
        counts = core.ngram_counts(
            core.reshape(X, (1,)) if rank_of(X) == 0 else X,
            self.ngram_counts,
            self.ngram_indexes,
            self.pool_int64s,
            self.pool_strings,
            self.min_gram_length,
            self.max_gram_length,
            self.max_skip_count,
        )
        if self.mode == "IDF":
            counts = core.minimum(counts, core.scalar(1.0, f32))
        if self.mode == "TF" or not self.weights:
            return counts
        if len(self.weights) != len(self.ngram_indexes):
            raise NotationError(f"{len(self.weights)} weights for {len(self.ngram_indexes)} n-grams")
        of_column = dict(zip(self.ngram_indexes, self.weights, strict=True))
        width = max(self.ngram_indexes, default=-1) + 1
        factors = [of_column.get(n, 0.0) for n in range(width)]
        return core.mul(counts, core.constant(data_of(f32, (width,), factors)))
