"""ONNX operators that enlarge images by factors.

Source: ONNX operator reference, default domain, Upsample 7 to 10, which Resize has taken the place of.
"""

from __future__ import annotations

from commonir.dialects.onnx.resize import ResizingByFactors


class Upsample(ResizingByFactors, name="onnx.Upsample", since="opset7 opset9 opset10"):
    """Upsamples a tensor: each axis times a factor of at least 1; positions are counted from the first element.

    The nearest element is the one before a position. From opset 10 on, `Resize`.
    """

    deprecated_since = "opset10"
    successor = "Resize"
