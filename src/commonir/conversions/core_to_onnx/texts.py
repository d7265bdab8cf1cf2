"""Rules for core operations on texts, and for conversions between numbers and texts."""

from __future__ import annotations

from commonir.dialects import core, onnx
from commonir.ir.operation import Value
from commonir.ir.types import string
from commonir.rewrite.legalize import Context, rule


@rule(core.ParseNumbers)
def parse_numbers(op: core.ParseNumbers, context: Context, x: Value) -> Value:
    return onnx.Cast(x, to=op.to).output


@rule(core.FormatNumbers)
def format_numbers(op: core.FormatNumbers, context: Context, x: Value) -> Value:
    return onnx.Cast(x, to=string).output


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
