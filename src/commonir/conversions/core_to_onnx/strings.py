"""Rules for core operations on texts, and for conversions between numbers and texts."""

from __future__ import annotations

from commonir.conversions.operands import dims_of, element_of
from commonir.dialects import core, onnx
from commonir.ir.operation import Value
from commonir.ir.types import string
from commonir.rewrite.legalize import Context, Mismatch, Result, rule
from commonir.symbolic import element_count


@rule(core.ParseNumbers)
def parse_numbers(op: core.ParseNumbers, context: Context, x: Value) -> Value:
    return onnx.Cast(x, to=op.to).output


@rule(core.FormatNumbers)
def format_numbers(op: core.FormatNumbers, context: Context, x: Value) -> Value:
    return onnx.Cast(x, to=string).output


@rule(core.Equal)
def equal_texts(op: core.Equal, context: Context, a: Value, b: Value) -> Result:
    """For versions that compare no texts: equal ones have one place among all that differ."""
    if element_of(a) is not string:
        return Mismatch("these are not texts")
    dims = [dims_of(v) for v in (a, b)]
    counts = [element_count(s) for s in dims]
    _, _, places, _ = core.unique(core.concat((core.reshape(a, (counts[0],)), core.reshape(b, (counts[1],))), 0))
    first = core.slice(places, (0,), (counts[0],), (1,))
    second = core.slice(places, (counts[0],), (counts[0] + counts[1],), (1,))
    return core.equal(core.reshape(first, dims[0]), core.reshape(second, dims[1]))


@rule(core.StringConcat)
def string_concat(op: core.StringConcat, context: Context, a: Value, b: Value) -> Value:
    return onnx.StringConcat(a, b).Z


@rule(core.StringSplit)
def string_split(op: core.StringSplit, context: Context, x: Value) -> tuple[Value, ...]:
    return onnx.StringSplit(x, maxsplit=op.limit, delimiter=op.delimiter or None).results


@rule(core.StringNormalize)
def string_normalize(op: core.StringNormalize, context: Context, x: Value) -> Value:
    return onnx.StringNormalizer(x, op.stopwords or None, op.is_case_sensitive, op.case.value.upper()).Y


@rule(core.RegexFullMatch)
def regex_full_match(op: core.RegexFullMatch, context: Context, x: Value) -> Value:
    return onnx.RegexFullMatch(x, op.pattern).Y


@rule(core.NgramCounts)
def ngram_counts(op: core.NgramCounts, context: Context, x: Value) -> Value:
    return onnx.TfIdfVectorizer(
        x,
        max_gram_length=op.most,
        max_skip_count=op.skips,
        min_gram_length=op.least,
        mode="TF",
        ngram_counts=op.starts,
        ngram_indexes=op.columns,
        pool_int64s=op.numbers,
        pool_strings=op.texts,
    ).Y
