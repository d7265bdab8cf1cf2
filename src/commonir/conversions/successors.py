"""Rules for ONNX operators that other versions of the operator set say by another operator, or with one more attribute.

Source: ONNX operator reference, Gemm-11, Scatter-11, Upsample-10, Resize-10 and 11, Split-18.
"""

from __future__ import annotations

from commonir.conversions.core_to_onnx.building import constant, opset_of, vector
from commonir.conversions.core_to_onnx.contraction import no_term
from commonir.conversions.core_to_onnx.sampling import resized_to
from commonir.conversions.operands import dims_of, element_of, shape_of
from commonir.dialects import onnx
from commonir.dialects.onnx.base import known_numbers
from commonir.dialects.onnx.resize import Resize10, ResizingByFactors
from commonir.ir.data import data_of
from commonir.ir.operation import Value
from commonir.ir.types import f32
from commonir.ods import known_data, known_dims
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


@rule(onnx.Gemm)
def product_with_term(op: onnx.Gemm, context: Context, a: Value, b: Value, term: Value | None) -> Result:
    """A product to which nothing is added: earlier versions add a term."""
    added = no_term(context, a) if term is None and element_of(a).is_float else None
    if added is None:
        return _STAYS
    return onnx.Gemm(a, b, added, alpha=op.alpha, beta=op.beta, transA=op.transA, transB=op.transB).Y


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


@rule(onnx.Resize)
def resized_along_all_axes(
    op: onnx.Resize, context: Context, x: Value, region: Value | None, scales: Value | None, sizes: Value | None
) -> Result:
    """The same of all axes, with what versions before 18 need."""
    opset = opset_of(context)
    if not _WITH_MODES <= opset < _WITH_COUNTS or (op.axes is None and opset >= _WITHOUT_REGION):
        return _STAYS
    if op.antialias or op.keep_aspect_ratio_policy != "stretch":
        return Mismatch("onnx.Resize keeps no ratio, and does not smooth, before opset 18")
    if op.axes is not None:
        if region is not None and op.coordinate_transformation_mode == "tf_crop_and_resize":
            return Mismatch("the region of some axes came with opset 18")
        region = None
        whole = _of_all_axes(op, context, x)
        if isinstance(whole, Mismatch):
            return whole
        scales, sizes = whole
    same = ("mode", "nearest_mode", "coordinate_transformation_mode", "cubic_coeff_a", "exclude_outside")
    how: dict[str, object] = {name: getattr(op, name) for name in (*same, "extrapolation_value")}
    return resized_to(context, x, region, scales, sizes, how, op.Y.type)


def _of_all_axes(op: onnx.Resize, context: Context, x: Value) -> tuple[Value | None, Value | None] | Mismatch:
    """Scales and sizes of all axes, of which one is absent: axes that are not named stay as they are."""
    shape = shape_of(x)
    axes = [a + len(shape) if a < 0 else a for a in op.axes or ()]
    expected = None if op.sizes is None else known_dims(op.sizes)
    if expected and len(expected) == len(axes):
        dims = list(dims_of(x))
        for a, dim in zip(axes, expected, strict=True):
            dims[a] = dim
        return None, vector(context, dims)
    if op.scales is None or known_data(op.scales) is None:
        return Mismatch("sizes or scales of some axes must be known before opset 18")
    factors = [1.0] * len(shape)
    for a, factor in zip(axes, known_numbers(op.scales, "scales"), strict=True):
        factors[a] = factor
    return constant(context, f32, (len(factors),), factors), None


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
