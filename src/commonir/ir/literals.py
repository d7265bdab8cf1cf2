r"""Strings, names, numbers and the contents of constant tensors as MLIR text.

Source: MLIR language reference; floating-point numbers are written with the fewest digits that read back
to the same number, and as their bits when they are not finite.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from itertools import islice

from commonir.ir.constant_text import ConstantPrinter
from commonir.ir.data import Data, InlineData, Scalar, data_of
from commonir.ir.types import ComplexType, ElementType, boolean, f16, f32, f64, i64
from commonir.symbolic import Dim, text

ELIDED = "__elided__"
"""The key under which a constant that was left out is written, as by mlir-opt."""

# Whole numbers below this are written out, not with an exponent.
_LARGEST_WHOLE = 1e7

_BARE_ID = re.compile(r"[A-Za-z_][A-Za-z0-9_$.]*", re.ASCII)
_ESCAPED = re.compile(r'[^\x20-\x7e]|["\\]')
_FLOATS = {f16: ("<e", 5), f32: ("<f", 9), f64: ("<d", 17)}


def key_text(name: str) -> str:
    """The name of an attribute, quoted where it is no identifier."""
    return name if _BARE_ID.fullmatch(name) else quoted(name)


def symbol_text(name: str) -> str:
    """The name of a symbol: `@main`, quoted where it is no identifier."""
    return f"@{name if _BARE_ID.fullmatch(name) else quoted(name)}"


def quoted(content: str) -> str:
    r"""A string literal; characters outside of printable ASCII are written as `\HH` for each of their bytes."""
    return f'"{_ESCAPED.sub(_escape, content)}"'


def _escape(found: re.Match[str]) -> str:
    char = found.group()
    if char in '"\\':
        return f"\\{char}"
    return "".join([f"\\{byte:02X}" for byte in char.encode("utf-8", "surrogatepass")])


def dims_text(dims: Sequence[Dim]) -> str:
    """Dimensions: a dense array when all are numbers."""
    if all(isinstance(d, int) for d in dims):
        return f"array<{i64}{': ' if dims else ''}{', '.join(map(str, dims))}>"
    return f"#commonir.dims<{', '.join([dim_literal(d) for d in dims])}>"


def dim_literal(dim: Dim) -> str:
    """A dimension in a list: a number, or a quoted expression."""
    return str(dim) if isinstance(dim, int) else quoted(text(dim))


def scalar_text(value: Scalar | complex, element: ElementType) -> str:
    """One element of an array."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return quoted(value)
        case complex():
            part = element.part if isinstance(element, ComplexType) else f64
            return f"({float_text(value.real, part)}, {float_text(value.imag, part)})"
        case float():
            return float_text(value, element)
        case int():
            return float_text(float(value), element) if element.is_float else str(value)


def float_text(value: float, element: ElementType) -> str:
    """A number with the fewest digits that read back to it in its type, with a point; its bits when not finite."""
    if value - value != 0.0:
        return _bits_text(value, element)
    if value.is_integer() and abs(value) < _LARGEST_WHOLE:
        return f"{value:.1f}"
    if element not in _FLOATS:
        return _with_point(repr(value))
    code, digits = _FLOATS[element]
    wanted = struct.pack(code, value)
    for precision in range(1, digits):
        shown = f"{value:.{precision}g}"
        try:
            if struct.pack(code, float(shown)) == wanted:
                return _with_point(shown)
        except OverflowError:  # rounded up past the largest number of the type
            continue
    return _with_point(repr(value))


def _bits_text(value: float, element: ElementType) -> str:
    content = data_of(element, (), (value,)).buffer()
    return f"0x{int.from_bytes(content, 'little'):0{len(content) * 2}X}"


def _with_point(shown: str) -> str:
    mantissa, e, exponent = shown.partition("e")
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}{e}{exponent}"


def data_text(data: Data, printer: ConstantPrinter) -> str:
    """The contents of a constant tensor with its type. Nothing is read from its file when it is left out."""
    if printer.elide is not None and data.count > printer.elide:
        return f"dense_resource<{ELIDED}> : {printer.type(data.type)}"
    return f"dense<{_contents(data, printer)}> : {printer.type(data.type)}"


def _contents(data: Data, printer: ConstantPrinter) -> str:
    if data.count == 0:
        return ""
    element = data.element
    if element.kind == "string" or element.bits < 8 or element is boolean:
        return _literal(data)
    width = element.bits // 8
    content = data.buffer()
    if data.count > 1 and content.tobytes() == bytes(content[:width]) * data.count:
        return _literal(data, splat=True)
    if data.count > printer.literal:
        return f'"0x{content.hex().upper()}"'
    return _literal(data)


def _literal(data: Data, *, splat: bool = False) -> str:
    """The elements as nested lists; only the first, without brackets, of a splat."""
    if splat:
        return scalar_text(_first(data), data.element)
    shown = [scalar_text(v, data.element) for v in data.values()]
    for size in reversed(data.shape[1:]):
        at = iter(shown)
        shown = [f"[{', '.join(islice(at, size))}]" for _ in range(len(shown) // size)]
    return f"[{', '.join(shown)}]" if data.shape else shown[0]


def _first(data: Data) -> Scalar:
    """The first element of a tensor that has one, without decoding the others."""
    return InlineData(data.type.with_shape(()), data.buffer()[: data.element.bits // 8]).values()[0]
