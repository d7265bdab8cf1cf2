"""Rules for core operations on texts, and for conversions to narrow types, of bits, and between numbers and texts."""

from __future__ import annotations

from commonir.conversions.core_to_onnx.building import cast
from commonir.conversions.operands import element_of
from commonir.dialects import core, onnx
from commonir.ir.operation import Value
from commonir.ir.types import boolean, f8e8m0fnu, i64, string
from commonir.rewrite.legalize import Context, rule


@rule(core.NarrowCast)
def narrow_cast(op: core.NarrowCast, context: Context, x: Value) -> Value:
    if not op.to.is_integer:
        round_mode = op.toward.value if op.to is f8e8m0fnu else "up"
        return onnx.Cast(x, to=op.to, saturate=op.saturate, round_mode=round_mode).output
    # Beyond the range ONNX says what a conversion from integers gives, and not what one from floats gives.
    is_exact = element_of(x).is_integer or element_of(x) is boolean
    return onnx.Cast(x if is_exact else cast(x, i64), to=op.to).output


@rule(core.BitCast)
def bit_cast(op: core.BitCast, context: Context, x: Value) -> Value:
    if element_of(x).is_integer and op.to.is_integer:
        return cast(x, op.to)  # which keeps the bits
    return onnx.BitCast(x, to=op.to).output


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
