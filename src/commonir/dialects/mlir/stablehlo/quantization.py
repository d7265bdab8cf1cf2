"""Constraints of stablehlo on quantized types that meet in one operation.

Source: StableHLO specification, quantized types, and constraints of reshape, transpose, broadcast_in_dim, add,
convolution, dot_general and uniform_quantize.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from math import prod

from commonir.ir.operation import Value
from commonir.ir.quantized import Quantized, quantized_of
from commonir.ir.types import DialectType, TensorType, Type
from commonir.ods.type_rules import element_of


def quantization_of(value: Value | Type) -> Quantized | None:
    """Returns the quantization of a tensor's elements; None for other elements and for block-wise scales."""
    type = element_of(value.type if isinstance(value, Value) else value)
    result = quantized_of(type) if isinstance(type, DialectType) and type.mnemonic == "uniform" else None
    return None if result is None or any(result.blocks.values()) else result


def fits(type: TensorType) -> bool:
    """Returns whether what stands for zero can be stored, and there are as many factors as places along their axis."""
    quantization = quantization_of(type)
    if quantization is None:
        return True
    if any(not quantization.bounds[0] <= zero <= quantization.bounds[1] for _, zero in quantization.scales):
        return False
    if quantization.axis is None or type.shape is None:
        return True
    if quantization.axis >= len(type.shape):
        return False
    size = type.shape[quantization.axis]
    return not isinstance(size, int) or size == len(quantization.scales)


def moved_faults(source: Value, result: Value) -> Iterator[str]:
    """Yields the faults of the scales of a result that holds the elements of another tensor at other positions."""
    a, b = quantization_of(source), quantization_of(result)
    if a is not None and b is not None and (a.axis is None) == (b.axis is None) and a.scales != b.scales:
        found = f"{element_of(source.type)} and {element_of(result.type)}"
        yield f"expect same quantization scales and zero_points, found {found}"


def transposed_faults(source: Value, result: Value, permutation: Sequence[int]) -> Iterator[str]:
    """Yields the faults of the scales of a transposed tensor."""
    yield from moved_faults(source, result)
    a, b = quantization_of(source), quantization_of(result)
    if a is None or b is None or a.axis is None or b.axis is None or b.axis >= len(permutation):
        return
    if permutation[b.axis] != a.axis:
        yield f"operand quantization_dimension {a.axis} is not same as permutation[{b.axis}] = {permutation[b.axis]}"


def reshaped_faults(source: Value, result: Value) -> Iterator[str]:
    """Yields the faults of the scales of a reshaped tensor."""
    yield from moved_faults(source, result)
    a, b = quantization_of(source), quantization_of(result)
    if a is None or b is None or a.axis is None or b.axis is None:
        return
    before, after = [v.type.shape or () if isinstance(v.type, TensorType) else () for v in (source, result)]
    if max(a.axis - len(before), b.axis - len(after)) >= 0:
        return
    sizes = before[a.axis], after[b.axis]
    if all(isinstance(d, int) for d in sizes) and sizes[0] != sizes[1]:
        yield f"expect same quantization dimension size for operand and result, found {sizes[0]} and {sizes[1]}"
    known = [
        [d for d in islice(shape, axis) if isinstance(d, int)] for shape, axis in ((before, a.axis), (after, b.axis))
    ]
    if len(known[0]) == a.axis and len(known[1]) == b.axis and prod(known[0]) != prod(known[1]):
        message = "product of dimensions before quantization dimension must match between operand and result"
        yield f"{message}, found {prod(known[0])} and {prod(known[1])}"


def broadcast_faults(source: Value, result: Value, dimensions: Sequence[int]) -> Iterator[str]:
    """Yields the faults of the scales of a broadcast tensor."""
    a, b = quantization_of(source), quantization_of(result)
    if a is None or b is None:
        return
    if a.axis is None or b.axis is None:
        yield from moved_faults(source, result)
        return
    if a.axis >= len(dimensions):
        return
    if b.axis != dimensions[a.axis]:
        where = f"broadcast_dimensions[{a.axis}] = {dimensions[a.axis]}"
        yield f"result quantization_dimension {b.axis} not same as {where}"
    elif len(a.scales) == 1:
        for n, (scale, zero) in enumerate(b.scales):
            if scale != a.scales[0][0]:
                yield f"mismatch result scale {n} ({scale}) and operand scale 0 ({a.scales[0][0]})"
            elif zero != a.scales[0][1]:
                yield f"mismatch result zero_point {n} ({zero}) and operand zero_point 0 ({a.scales[0][1]})"


def quantized_faults(source: Value, result: Value) -> Iterator[str]:
    """Yields the faults of the result type of a quantization or requantization."""
    a, b = quantization_of(source), quantization_of(result)
    expected = str(element_of(source.type)) if a is None else a.expressed
    if b is not None and b.expressed != expected:
        yield f"expressed type of result expected to be {expected}, but got {b.expressed}"


def added_faults(lhs: Value, rhs: Value, result: Value) -> Iterator[str]:
    """Yields the faults of the types of a sum."""
    a, b, out = map(quantization_of, (lhs, rhs, result))
    if a is None or b is None or out is None:
        return
    if len({q.storage for q in (a, b, out)}) > 1:
        yield "mismatched operands and result quantization storage types"
    elif len({q.expressed for q in (a, b, out)}) > 1:
        yield "mismatched operands and result quantization expressed types"
    elif out.axis is None and (a.axis is not None or b.axis is not None):
        yield "result is not per_axis quantized but lhs or rhs are"
    for name, q in (("lhs", a), ("rhs", b)):
        if out.axis is not None and q.axis is not None and q.axis != out.axis:
            yield f"quantization_dimension of {name} and result are not same {q.axis} vs {out.axis}"


def product_faults(lhs: Value, rhs: Value, result: Value) -> Iterator[str]:
    """Yields the faults of the types of sums of products."""
    a, b, out = map(quantization_of, (lhs, rhs, result))
    if a is None and b is None and out is None:
        return
    if b is None or (a is None) != (out is None):
        message = "rhs should be quantized for quantized operations and is_quantized(lhs)=is_quantized(result)"
        yield f"{message} should hold"
    elif a is None or out is None:
        if len({b.expressed, str(element_of(lhs.type)), str(element_of(result.type))}) > 1:
            yield "mismatched rhs quantization expressed type and lhs and result element type"
    elif a.storage != b.storage:
        yield "mismatched lhs and rhs quantization storage types"
    elif len({a.expressed, b.expressed, out.expressed}) > 1:
        yield "mismatched lhs, rhs and result quantization expressed types"
    elif b.axis is None and out.axis is not None:
        yield "mismatched rhs and result quantization granularity"


def dot_faults(lhs: Value, rhs: Value, result: Value, contracting: Sequence[int]) -> Iterator[str]:
    """Yields the faults of the types of a product of tensors; `contracting` are the axes of `rhs` that are summed."""
    quantization = quantization_of(rhs)
    if quantization is not None and any(zero for _, zero in quantization.scales):
        yield "zero points of rhs should be 0"
    elif quantization is not None and quantization.axis in contracting:
        yield "quantization dimension of rhs should not be in the contracting dimension of rhs"
    else:
        yield from product_faults(lhs, rhs, result)


def convolution_faults(lhs: Value, rhs: Value, result: Value, features: tuple[int, int]) -> Iterator[str]:
    """Yields the faults of the types of a convolution; `features` are the axes of filters in `rhs` and the result."""
    kernel, out = quantization_of(rhs), quantization_of(result)
    if kernel is not None and kernel.axis not in (None, features[0]):
        yield "quantization dimension of rhs should be same with kernel_output_feature_dimension"
    elif out is not None and out.axis not in (None, features[1]):
        yield "quantization dimension of result should be same with output_feature_dimension"
    else:
        yield from product_faults(lhs, rhs, result)
