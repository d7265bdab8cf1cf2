"""Images as they are stored in files, and as pixels."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from commonir.dialects.core.base import CoreOp, function
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, Type, u8
from commonir.ods import attr_types, attribute, operand, result, traits

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Bytes = NDArray[np.uint8]
    Array = Bytes


class PixelFormat(Enum):
    """Orders of the channels of a pixel."""

    RGB = "rgb"
    BGR = "bgr"
    GRAYSCALE = "grayscale"

    @property
    def channels(self) -> int:
        """The number of channels."""
        return 1 if self is PixelFormat.GRAYSCALE else 3


class DecodeImage(CoreOp, name="core.decode_image", traits=(traits.Pure,)):
    """Decodes an image file, given as bytes, to pixels [height, width, channel]; empty if it is not an image.

    Formats are BMP, JPEG, JPEG 2000, TIFF, PNG, WebP and those of Netpbm. Transparency is dropped, and orientation
    metadata is ignored. Grayscale is the luminance of ITU-R BT.601.
    """

    content: Value = operand("ui8[n]")
    format: PixelFormat = attribute(attr_types.enumeration(PixelFormat), default=PixelFormat.RGB)
    pixels: Value = result("ui8[h, w, c]")

    def infer(self) -> tuple[Type, ...]:
        return (TensorType(u8, (None, None, self.format.channels)),)

    def reference(self, content: Bytes) -> Array:
        from commonir.base.images import decoded_image  # noqa: PLC0415  loads numpy and Pillow

        xp = content.__array_namespace__()
        result = decoded_image(content.tobytes(), grayscale=self.format is PixelFormat.GRAYSCALE)
        if result is None:
            return xp.zeros((0, 0, self.format.channels), xp.uint8)
        return (
            result[..., None] if result.ndim == 2 else result[..., ::-1] if self.format is PixelFormat.BGR else result
        )


decode_image = function(DecodeImage)
