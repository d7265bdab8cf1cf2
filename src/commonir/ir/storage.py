"""The bytes of elements as MLIR stores and prints them, which differ from ours for elements of fewer than 8 bits.

MLIR rounds the width of an element up to whole bytes, and packs bools eight in a byte, the first in the least
significant bit. Here narrow elements are packed one after the other, and a bool is one byte.
Source: MLIR 22, dense elements attributes.
"""

from __future__ import annotations

from commonir.ir.data import Data, InlineData, codes_of, packed_codes
from commonir.ir.types import ComplexType, ElementType, TensorType, boolean

_TO_DIGITS = bytes([0x30, *([0x31] * 255)])
_FROM_DIGITS = bytes([n == 0x31 for n in range(256)])


def mlir_size_bytes(type: TensorType) -> int:
    """Returns the number of bytes in which MLIR stores the elements of a static tensor."""
    return (type.count + 7) // 8 if type.element is boolean else type.count * _width(type.element)


def _width(element: ElementType) -> int:
    """Returns the number of bytes of one element, except for bools, which are packed."""
    if isinstance(element, ComplexType):
        return 2 * _width(element.part)
    return 1 if element is boolean else (element.bits + 7) // 8


def mlir_bytes(data: Data) -> bytes | memoryview:
    """Returns the elements as MLIR stores them."""
    element, content = data.element, data.buffer()
    if element is boolean:
        digits = content.tobytes().translate(_TO_DIGITS)[::-1]
        return int(digits or b"0", 2).to_bytes((data.count + 7) // 8, "little")
    part, parts = (element.part, 2) if isinstance(element, ComplexType) else (element, 1)
    if part.bits % 8 == 0:
        return content
    width = (part.bits + 7) // 8
    codes = codes_of(content, part.bits, parts * data.count)
    return bytes(codes) if width == 1 else b"".join([code.to_bytes(width, "little") for code in codes])


def data_of_mlir_bytes(type: TensorType, content: bytes | memoryview) -> Data | None:
    """Returns data from the bytes of MLIR, of all elements or one for all; None when their number is wrong.

    Bools may also be one byte each, as LLVM 23 prints them.
    """
    element, count = type.element, type.count
    if element is boolean:
        return _of_bits(type, content)
    width = _width(element)
    if len(content) == width and count != 1 and width:
        content = bytes(content) * count
    if len(content) != count * width:
        return None
    part = element.part if isinstance(element, ComplexType) else element
    if part.bits % 8 == 0:
        return InlineData(type, content)
    part_width = (part.bits + 7) // 8
    codes = codes_of(content, part_width * 8, len(content) // part_width if part_width else 0)
    return InlineData(type, packed_codes(codes, part.bits) if part_width else b"")


def _of_bits(type: TensorType, content: bytes | memoryview) -> Data | None:
    count = type.count
    if len(content) == 1 and (count == 1 or content[0] in (0, 0xFF)):
        return InlineData(type, bytes([content[0] != 0]) * count)
    if len(content) == (count + 7) // 8:
        digits = f"{int.from_bytes(content, 'little'):0{count}b}"[::-1][:count]
        return InlineData(type, digits.encode().translate(_FROM_DIGITS))
    if len(content) == count:
        return InlineData(type, bytes([byte != 0 for byte in content]))
    return None
