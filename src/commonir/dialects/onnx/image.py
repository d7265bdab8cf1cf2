"""ONNX operators on image files.

Source: ONNX operator reference, default domain, ImageDecoder.
"""

from __future__ import annotations

from commonir.dialects import core
from commonir.dialects.onnx.base import OnnxOp
from commonir.ir.operation import Value
from commonir.ir.types import u8
from commonir.ods import attr_types, attribute, element_type, one_of, operand, result


class ImageDecoder(OnnxOp, name="onnx.ImageDecoder", since="opset20"):
    """Decodes an image file, given as bytes, to pixels [height, width, channel]; empty if it is not an image."""

    encoded_stream: Value = operand("T1")
    pixel_format: str = attribute(attr_types.string, default="RGB", check=one_of("RGB", "BGR", "Grayscale"))
    image: Value = result("T2")
    T1 = element_type(u8)
    T2 = element_type(u8)

    def reference(self, encoded_stream: Value) -> Value:
        return core.decode_image(encoded_stream, core.PixelFormat(self.pixel_format.lower()))
