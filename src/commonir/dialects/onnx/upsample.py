"""The ONNX operator Upsample.

Source: ONNX operator reference, default domain, Upsample 7 to 10, which Resize replaces.
"""

from __future__ import annotations

from commonir.dialects.onnx.resize import ResizingByFactors


class Upsample(ResizingByFactors, name="onnx.Upsample", since="opset7 opset9 opset10"):
    """Upsamples a tensor: each axis by a scale of at least 1; coordinates are asymmetric (x / scale).

    The nearest element is the floor of a coordinate. From opset 10 on, `Resize`.
    """

    deprecated_since = "opset10"
    successor = "Resize"
