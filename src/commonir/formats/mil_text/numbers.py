"""Elements of constants as text, without loss.

Source: C99, hexadecimal floating constants, as Apple's compiler writes them; the bits of a NaN are ours.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from commonir.dialects.mil.program import Compound
from commonir.formats.mil_text.lexer import quoted
from commonir.ir.data import Data, data_of
from commonir.ir.types import TensorType, Type, boolean, string


def element_texts(data: Data) -> list[str]:
    """The elements of a tensor, each as text."""
    element = data.element
    values = data.values()
    if element is string:
        return [quoted(str(v)) for v in values]
    if element is boolean:
        return ["true" if v else "false" for v in values]
    if element.is_integer:
        return [str(v) for v in values]
    numbers = [v for v in values if isinstance(v, float)]
    texts = [hex_text(v) for v in numbers]
    for n, v in enumerate(numbers):
        if math.isnan(v):
            texts[n] = _nan_text(data, n)
    return texts


def hex_text(value: float) -> str:
    """A number in hexadecimal notation.

    Example:
        >>> hex_text(2.0), hex_text(-0.15625), hex_text(0.0), hex_text(float("-inf"))
        ('0x1p+1', '-0x1.4p-3', '0x0p+0', '-inf')
    """
    mantissa, mark, exponent = value.hex().partition("p")
    return f"{mantissa.rstrip('0').rstrip('.')}p{exponent}" if mark else mantissa


def _nan_text(data: Data, n: int) -> str:
    """A NaN; its bits where they are not those that the bare word stands for."""
    width = data.element.size_bytes(1)
    bits = bytes(data.buffer()[n * width : (n + 1) * width])
    for word in ("nan", "-nan"):
        if bytes(data_of(data.element, (), (float(word),)).buffer()) == bits:
            return word
    return f"nan(0x{int.from_bytes(bits, 'little'):0{2 * width}x})"


def nested(texts: Sequence[str], shape: Sequence[int]) -> str:
    """Elements as a list that is nested like a tensor."""
    if not shape:
        return texts[0]
    rows = list(texts)
    for dim in reversed(shape):
        if not dim:
            return "[]"
        rows = [f"[{', '.join(rows[n : n + dim])}]" for n in range(0, len(rows), dim)]
    return rows[0]


def is_inferable(expected: Type, value: Data | Compound) -> bool:
    """Whether a constant inside another, given without its type, is read back with its type."""
    type = value.type
    if type is expected or not isinstance(type, TensorType) or not isinstance(expected, TensorType):
        return type is expected
    dims = type.static_shape
    return (
        type.element is expected.element
        and expected.shape is not None
        and len(dims) == len(expected.shape)
        and bool(dims)
        and all(n and (d is None or d == n) for n, d in zip(dims, expected.shape, strict=True))
    )
