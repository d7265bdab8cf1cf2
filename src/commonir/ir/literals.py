r"""Strings, names, numbers and the contents of constant tensors as MLIR text.

Source: MLIR language reference; floating-point numbers are written with the fewest digits that read back
to the same number, and as their bits when they are not finite.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from itertools import islice

from commonir.base.lazy import lazy_pattern
from commonir.ir.constant_text import ConstantPrinter
from commonir.ir.data import AbsentData, Data, InlineData, ResourceData, Scalar, SplatData, TextData, codes_of
from commonir.ir.floats import bits_of, float_literal
from commonir.ir.storage import mlir_bytes
from commonir.ir.types import MORE_FLOATS, ComplexType, ElementType, boolean, complex64, complex128, f16, f32, f64, i64
from commonir.symbolic import Dim, text

ELIDED = "__elided__"
"""The resource key that is printed for an elided constant, as by mlir-opt."""

# Integers below this are written without an exponent.
_LARGEST_INTEGER = 1e7

_BARE_ID = lazy_pattern(r"[A-Za-z_][A-Za-z0-9_$.]*", re.ASCII)
_ESCAPED = lazy_pattern(r'[^\x20-\x7e]|["\\]')
_FLOATS = {f16: ("<e", 5), f32: ("<f", 9), f64: ("<d", 17)}


def key_text(name: str) -> str:
    """Returns the name of an attribute, quoted where it is not an identifier."""
    return name if _BARE_ID.fullmatch(name) else quoted(name)


def symbol_text(name: str) -> str:
    """Returns the name of a symbol: `@main`, quoted where it is not an identifier."""
    return f"@{name if _BARE_ID.fullmatch(name) else quoted(name)}"


def quoted(content: str) -> str:
    r"""Returns a string literal; characters outside of printable ASCII are written as `\HH` for each of their bytes."""
    is_plain = content.isascii() and content.isprintable() and '"' not in content and "\\" not in content
    return f'"{content if is_plain else _ESCAPED.sub(_escape, content)}"'


def bytes_of_text(text: str) -> bytes:
    """Returns the UTF-8 bytes of a string, in which surrogates encode other bytes, as in Python."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def _escape(match: re.Match[str]) -> str:
    char = match.group()
    if char == "\\":
        return "\\\\"
    return "".join([f"\\{byte:02X}" for byte in bytes_of_text(char)])


def dims_text(dims: Sequence[Dim]) -> str:
    """Returns dimensions: a dense array when all are numbers."""
    if all(isinstance(d, int) for d in dims):
        return f"array<{i64}{': ' if dims else ''}{', '.join(map(str, dims))}>"
    return f"#commonir.dims<{', '.join([dim_literal(d) for d in dims])}>"


def dim_literal(dim: Dim) -> str:
    """Returns a dimension in a list: a number, or a quoted expression."""
    return str(dim) if isinstance(dim, int) else quoted(text(dim))


def scalar_text(value: Scalar | complex, element: ElementType) -> str:
    """Returns one element of an array."""
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
    """Returns the shortest decimal literal that reads back to a number in its type; its bits when it is not finite."""
    if value - value != 0.0:
        return _bits_text(value, element)
    if value.is_integer() and abs(value) < _LARGEST_INTEGER:
        return f"{value:.1f}"
    if element not in _FLOATS:
        return _with_point(repr(value))
    code, digits = _FLOATS[element]
    expected = struct.pack(code, value)
    for precision in range(1, digits + 1):
        shown = f"{value:.{precision}g}"
        try:
            if struct.pack(code, float(shown)) == expected:
                return _with_point(shown)
        except OverflowError:  # rounded up past the largest number of the type
            continue
    return _with_point(repr(value))


def _bits_text(value: float, element: ElementType) -> str:
    return f"0x{bits_of(value, element.name):0{element.bits // 4}X}"


def _with_point(shown: str) -> str:
    mantissa, e, exponent = shown.partition("e")
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}{e}{exponent}"


def upstream_scalar_text(value: Scalar, element: ElementType) -> str:
    """Returns one element of an array as mlir-opt writes it."""
    return float_literal(bits_of(value, element.name), element.name) if isinstance(value, float) else str(value).lower()


def data_text(data: Data, printer: ConstantPrinter) -> str:
    """Returns the contents of a constant tensor. Elided contents are not read from their file; one number that stands
    for all elements is not elided, as by mlir-opt.
    """
    if isinstance(data, AbsentData):
        return f"dense_resource<{key_text(data.key)}>"
    if printer.elide is not None and data.count > printer.elide and not isinstance(data, SplatData):
        return f"dense_resource<{ELIDED}>"
    if printer.refers_to_resources and isinstance(data, ResourceData):
        printer.resources[data.key] = data
        return f"dense_resource<{key_text(data.key)}>"
    return f"dense<{contents_text(data, printer)}>"


def contents_text(data: Data, printer: ConstantPrinter) -> str:
    """Returns the elements of a constant tensor: one if all are equal, hexadecimal digits if they are many."""
    is_short = data.count <= printer.literal or isinstance(data, TextData)
    if not is_short and (printer.upstream or _has_whole_bytes(data)) and not _is_splat(data):
        return f'"0x{mlir_bytes(data).hex().upper()}"'
    return literal_text(data, printer)


def _has_whole_bytes(data: Data) -> bool:
    """Returns whether elements are stored here as MLIR stores them; others have no hexadecimal form in our text."""
    return data.element.bits % 8 == 0 and data.element is not boolean


def _is_splat(data: Data) -> bool:
    """Returns whether all elements are bitwise equal; False for elements without bits (`i0`), as in mlir-opt."""
    if isinstance(data, SplatData):
        return data.element.bits != 0
    if isinstance(data, TextData):
        return len(set(data.values())) == 1
    width = data.element.bits // 8
    if data.element.bits % 8 or not width:
        return data.element.bits != 0 and len(set(codes_of(data.buffer(), data.element.bits, data.count))) == 1
    content = data.buffer()
    if content[:width] != content[(data.count - 1) * width :]:
        return False
    return content[: -width or None] == content[width:] if data.count > 1 else True


def literal_text(data: Data, printer: ConstantPrinter) -> str:
    """Returns the elements as nested lists; only the first, without brackets, if all are equal."""
    if data.count == 0 and not (printer.upstream and isinstance(data, SplatData)):
        return ""
    shortens = printer.upstream or (data.count > 1 and _has_whole_bytes(data) and not isinstance(data, TextData))
    splat = shortens and _is_splat(data)
    shown = _elements(data, printer.upstream, 1 if splat else data.count)
    return shown[0] if splat else _nested_lists(shown, data.shape)


def all_elements_text(data: Data) -> str:
    """Returns the elements as nested lists, equal ones too."""
    return _nested_lists(_elements(data, upstream=False, count=data.count), data.shape) if data.count else "[]"


def _nested_lists(shown: list[str], shape: Sequence[int]) -> str:
    for dim in reversed(shape[1:]):
        at = iter(shown)
        shown = [f"[{', '.join(islice(at, dim))}]" for _ in range(len(shown) // dim)]
    return f"[{', '.join(shown)}]" if shape else shown[0]


def _elements(data: Data, upstream: bool, count: int) -> list[str]:
    """Returns the text of the first elements."""
    element = data.element
    if isinstance(data, TextData):
        return [scalar_text(v, element) for v in islice(data.values(), count)]
    content = (
        data.element_bytes if isinstance(data, SplatData) and count == 1 else data.buffer()[: element.size_bytes(count)]
    )
    part = element.part if isinstance(element, ComplexType) else element
    if not upstream and element.name not in MORE_FLOATS and (part is element or element in (complex64, complex128)):
        return [scalar_text(v, element) for v in InlineData(data.type.with_shape((count,)), content).values()]
    if part is element:
        return [_code_text(code, element) for code in codes_of(content, element.bits, count)]
    shown = [_code_text(code, part) for code in codes_of(content, part.bits, 2 * count)]
    comma = "," if upstream else ", "
    return [f"({real}{comma}{imaginary})" for real, imaginary in zip(shown[::2], shown[1::2], strict=True)]


def _code_text(code: int, element: ElementType) -> str:
    """Returns the number with a code, as mlir-opt prints it."""
    if element.is_float:
        return float_literal(code, element.name)
    if element is boolean:
        return "true" if code else "false"
    if element.kind == "uint" or not element.bits:
        return str(code)
    sign = 1 << (element.bits - 1)
    return str((code ^ sign) - sign)
