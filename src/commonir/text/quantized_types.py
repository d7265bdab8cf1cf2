"""Reader of the quantized types of the quant dialect in MLIR text.

They are stored as dialect types with bodies in one canonical form, so that equal types are identical.
Limits: those of `text/types.py`. Source: MLIR's quant dialect; the texts that mlir-opt reads, prints and rejects.
"""

from __future__ import annotations

import re

from commonir.base.lazy import lazy_pattern
from commonir.ir.floats import bits_of, float_literal, float_of
from commonir.ir.types import DialectType, ElementType, f64, integer_type
from commonir.text.elements import ElementReader
from commonir.text.types import TypeReader

_STORAGE = lazy_pattern(r"(si|ui|i|u)([1-9]\d?)", re.ASCII)
_MOST_BITS = 32


def read_any(reader: TypeReader) -> DialectType:
    """Reads `<storage>` or `<storage:expressed>`, without scales."""
    tokens = reader.tokens
    tokens.expect("<")
    body = _storage(reader)
    if tokens.take(":"):
        body += f":{_expressed(reader)}"
    tokens.expect(">")
    return DialectType("quant", "any", body)


def read_uniform(reader: TypeReader) -> DialectType:
    """Reads `<storage:expressed, scale:zero>`, or by slice of an axis, `:1, {..}`, or block, `:{0:2, 1:4}, {{..}}`."""
    tokens = reader.tokens
    tokens.expect("<")
    storage = _storage(reader)
    tokens.expect(":")
    expressed = _expressed(reader)
    axes, is_listed, between = "", False, ","
    if tokens.take(":"):
        is_listed = True
        if tokens.take("{"):
            axes, between = f":{{{', '.join(tokens.separated(lambda: _block(reader), '}'))}}}", ", "
        else:
            axes = f":{_count(reader, 'an axis')}"
    tokens.expect(",")
    if is_listed and not tokens.at("{"):
        tokens.unexpected("'{'")
    shown = _scales(reader, expressed, between) if is_listed else _scale(reader, expressed)
    tokens.expect(">")
    return DialectType("quant", "uniform", f"{storage}:{expressed}{axes}, {shown}")


def read_calibrated(reader: TypeReader) -> DialectType:
    """Reads `<expressed<least:most>>`, the range of calibrated values."""
    tokens = reader.tokens
    tokens.expect("<")
    expressed = _expressed(reader)
    tokens.expect("<")
    at = tokens.start
    least = _real(reader)
    tokens.expect(":")
    most = _real(reader)
    if not least < most:
        tokens.fail(f"the minimum {least:.6e} is not below the maximum {most:.6e}", at=at)
    tokens.expect(">")
    tokens.expect(">")
    return DialectType("quant", "calibrated", f"{expressed}<{_number(least)}:{_number(most)}>")


def _storage(reader: TypeReader) -> str:
    """Reads the storage type, with bounds if they differ from those of the type."""
    tokens = reader.tokens
    at = tokens.start
    match = _STORAGE.fullmatch(tokens.text)
    if match is None or int(match[2]) > _MOST_BITS:
        tokens.unexpected(f"an integer storage type of at most {_MOST_BITS} bits")
    tokens.advance()
    bits, has_sign = int(match[2]), match[1][0] != "u"
    least, most = integer_type(bits, "signed" if has_sign else "unsigned").integer_limits
    name = f"{'i' if has_sign else 'u'}{bits}"
    if not tokens.take("<"):
        return name
    first = tokens.integer()
    tokens.expect(":")
    last = tokens.integer()
    tokens.expect(">")
    if not least <= first < last <= most:
        tokens.fail(f"{name} has no values from {first} to {last}", at=at)
    return name if (first, last) == (least, most) else f"{name}<{first}:{last}>"


def _expressed(reader: TypeReader) -> ElementType:
    at = reader.tokens.start
    type = reader.type()
    if not isinstance(type, ElementType) or not type.is_float:
        reader.tokens.fail(f"the expressed type must be a floating-point type, found {type}", at=at)
    return type


def _count(reader: TypeReader, what: str) -> int:
    tokens = reader.tokens
    at = tokens.start
    return tokens.integer_value(tokens.expect_kind("int", what), at)


def _block(reader: TypeReader) -> str:
    axis = _count(reader, "an axis")
    reader.tokens.expect(":")
    return f"{axis}:{_count(reader, 'the size of a block')}"


def _scales(reader: TypeReader, expressed: ElementType, between: str) -> str:
    tokens = reader.tokens
    tokens.expect("{")
    if tokens.at("}"):
        tokens.unexpected("a scale")
    with tokens.nested():
        shown = tokens.separated(
            lambda: _scales(reader, expressed, between) if tokens.at("{") else _scale(reader, expressed), "}"
        )
    return f"{{{between.join(shown)}}}"


def _scale(reader: TypeReader, expressed: ElementType) -> str:
    tokens = reader.tokens
    at = tokens.start
    scale = _real(reader)
    name = expressed.name
    least, most = float_of(1, name), float_of(bits_of(float("inf"), name) - 1, name)
    if not least <= scale <= most:
        tokens.fail(f"the scale {scale:.6e} is not one of {name}: {least:.6e} to {most:.6e}", at=at)
    zero = tokens.integer() if tokens.take(":") else 0
    return f"{_number(scale)}:{zero}" if zero else _number(scale)


def _real(reader: TypeReader) -> float:
    return float_of(ElementReader(reader.tokens).code(f64), f64.name)


def _number(value: float) -> str:
    return float_literal(bits_of(value, f64.name), f64.name)
