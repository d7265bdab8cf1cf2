"""Rules for ONNX operators that other versions of the operator set say by another operator, or with one more attribute.

Source: ONNX operator reference, Scatter-11, Upsample-10, Resize-10 and 11, Split-18.
"""

from __future__ import annotations

from commonir.conversions.core_to_onnx.building import opset_of
from commonir.dialects import onnx
from commonir.dialects.onnx.base import known_numbers
from commonir.dialects.onnx.resize import Resize10, ResizingByFactors
from commonir.ir.data import data_of
from commonir.ir.operation import Value
from commonir.ir.types import f32
from commonir.rewrite.legalize import Context, Mismatch, Result, rule

_WITH_MODES, _WITH_SCATTER_ELEMENTS, _WITH_RESIZE, _WITH_COUNTS = 11, 11, 10, 18
_WITHOUT_REGION = 13

_STAYS = Mismatch("the version has the operator")


@rule(onnx.Scatter)
def scattered_elements(op: onnx.Scatter, context: Context, data: Value, indices: Value, updates: Value) -> Result:
    """The operator under its later name."""
    if opset_of(context) < _WITH_SCATTER_ELEMENTS:
        return _STAYS
    return onnx.ScatterElements(data, indices, updates, axis=op.axis).output


@rule(onnx.Split)
def split_into_counted_pieces(op: onnx.Split, context: Context, x: Value, split: Value | None) -> Result:
    """Replaces a split into equal pieces: later versions need their number."""
    if opset_of(context) < _WITH_COUNTS or split is not None or op.num_outputs is not None:
        return _STAYS
    arguments = {"input": x, "axis": op.axis, "num_outputs": len(op.results)}
    return onnx.Split.build(arguments, [r.type for r in op.results]).outputs


@rule(onnx.Upsample)
def upsampled(op: onnx.Upsample, context: Context, x: Value, scales: Value) -> Result:
    """Axes times factors of at least 1."""
    return _resized(op, context, x, scales, "floor")


@rule(Resize10)
def resized_by_factors(op: Resize10, context: Context, x: Value, scales: Value) -> Result:
    """The nearest element lies before a position where an axis becomes longer, and after it where shorter."""
    is_older = opset_of(context) < _WITH_RESIZE
    if op.mode == "linear" and not is_older:
        return _resized(op, context, x, scales, "floor")
    factors = known_numbers(scales, "scales")
    if all(f >= 1 for f in factors):
        return onnx.Upsample(x, scales, mode=op.mode).Y if is_older else _resized(op, context, x, scales, "floor")
    if all(f <= 1 for f in factors):
        return _resized(op, context, x, scales, "ceil")
    return Mismatch("some axes become longer and others shorter")


def _resized(op: ResizingByFactors, context: Context, x: Value, scales: Value, nearest: str) -> Result:
    """Axes times factors, with positions that are counted from the first element."""
    opset = opset_of(context)
    if opset < _WITH_RESIZE:
        return _STAYS
    if opset < _WITH_MODES:
        return Resize10(x, scales, mode=op.mode).Y
    how = {"mode": op.mode, "coordinate_transformation_mode": "asymmetric", "nearest_mode": nearest}
    if opset < _WITHOUT_REGION:
        region = onnx.Initializer(data_of(f32, (0,), ())).output
        older = onnx.Resize.at("opset11")
        return older.build({"X": x, "roi": region, "scales": scales, **how}, [op.Y.type]).Y
    return onnx.Resize.build({"X": x, "scales": scales, **how}, [op.Y.type]).Y
