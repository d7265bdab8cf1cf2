"""Contents of the tensors of ONNX files: in a raw field, in a field of their type, or in a file of their own.

Raw contents are the packed elements as `ir.data` has them. In fields by type, narrow elements are numbers of 32 bits.
Source: onnx.proto of ONNX 1.23, `TensorProto`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

from commonir.formats.onnx.messages import TensorProto
from commonir.ir.data import Data, InlineData, TextData
from commonir.ir.types import ElementType, TensorType, string

_NARROWEST_WHOLE = 8


class TensorError(Exception):
    """The contents of a tensor cannot be those of its type and shape."""


def read_contents(proto: TensorProto, kind: TensorType) -> Data:
    """The elements that a message holds itself.

    Raises: TensorError.
    """
    if kind.element is string:
        return _texts(proto, kind)
    raw = proto.raw_data
    expected = kind.element.size_bytes(kind.count)
    if not raw and expected:
        raw = _packed(proto, kind.element)
    if len(raw) != expected:
        raise TensorError(f"{kind} takes {expected} bytes, found {len(raw)}")
    return InlineData(kind, raw)


def _texts(proto: TensorProto, kind: TensorType) -> Data:
    texts = [content.decode("utf-8", "surrogateescape") for content in proto.string_data]
    if len(texts) != kind.count:
        raise TensorError(f"{kind} has {kind.count} elements, found {len(texts)}")
    return TextData(kind, texts)


def _packed(proto: TensorProto, element: ElementType) -> bytes:
    """The packed elements of a field by type.

    Raises: TensorError for a number that is none of the element type.
    """
    match element.name:
        case "f32" | "complex<f32>":
            return _pack("f", proto.float_data)
        case "f64" | "complex<f64>":
            return _pack("d", proto.double_data)
        case "i64":
            return _pack("q", proto.int64_data)
        case "ui64":
            return _pack("Q", proto.uint64_data)
        case "ui32":
            return _pack("I", proto.uint64_data)
        case "i32":
            return _pack("i", proto.int32_data)
        case _:
            code = "H" if element.bits == 2 * _NARROWEST_WHOLE else "B"
            mask = 0xFFFF if code == "H" else 0xFF
            return _pack(code, [v & mask for v in proto.int32_data])


def _pack(code: str, values: Iterable[int | float]) -> bytes:
    given = tuple(values)
    try:
        return struct.pack(f"<{len(given)}{code}", *given)
    except (struct.error, OverflowError) as error:
        raise TensorError(f"the elements are not of the type of the tensor: {error}") from None
