"""Checks of the operations of the quant dialect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from commonir.ir.quantized import Quantized, quantized_of
from commonir.ir.types import DialectType, ElementType, TensorType, Type
from commonir.ods.definition import Definition
from commonir.ods.from_records.verifiers.values import Verifier, numbers, shape_of
from commonir.ods.type_rules import element_of


def _wrong_axes(type: Quantized, container: Type) -> Iterator[str]:
    if not type.blocks:
        return
    if not isinstance(container, TensorType):
        yield "scalar types may not use quantization by axis or block"
        return
    shape, is_by_block = shape_of(container), None not in type.blocks.values()
    if shape is None:
        if is_by_block:
            yield "tensor containing the sub-channel quantized type must be ranked"
        return
    sizes = numbers(shape)
    counts: list[int | None] = [1] * len(sizes)
    for axis, block in type.blocks.items():
        if axis >= len(sizes):
            yield f"quantized dimension {axis} must be less than tensor rank {len(sizes)}"
            return
        size = sizes[axis]
        if block is not None and size is not None and size % block:
            yield f"tensor dimension size {size} at axis {axis} must be divisible by the block size {block}"
            return
        counts[axis] = size if block is None or size is None else size // block
    expected = counts if is_by_block else [counts[axis] for axis in type.blocks]
    if len(expected) != len(type.lengths) or any(
        n is not None and n != m for n, m in zip(expected, type.lengths, strict=False)
    ):
        yield f"quantized dimension size does not match number of scales: {expected} and {list(type.lengths)}"


def _cast(op: Definition) -> Iterator[str]:
    """Checks a cast between a quantized type and its expressed type, or its storage type if it is `quant.scast`."""
    (source,), (result,) = op.operands, op.results
    shapes = shape_of(source.type), shape_of(result.type)
    are_tensors = isinstance(source.type, TensorType), isinstance(result.type, TensorType)
    if are_tensors[0] is not are_tensors[1] or shapes[0] != shapes[1]:
        yield "input and result are both scalars or both tensors with matching shape"
        return
    elements = [element_of(v.type) for v in (source, result)]
    parts = [(v.type, quantized) for v in (source, result) if (quantized := quantized_of(element_of(v.type)))]
    others = [e for e in elements if not isinstance(e, DialectType)]
    is_storage = op.name == "quant.scast"
    if len(parts) != 1 or len(others) != 1 or not isinstance(others[0], ElementType):
        if is_storage:
            yield "input must be integer and result must be quantized, or vice versa"
        return
    (container, quantized), (plain,) = parts[0], others
    what, expected = ("storage", f"i{quantized.bits}") if is_storage else ("expressed", quantized.expressed)
    if str(plain) != expected:
        yield f"{what} type in quantized type expected to match {plain}, found {expected}"
    yield from _wrong_axes(quantized, container)


VERIFIERS: Mapping[str, Verifier] = MappingProxyType(
    dict.fromkeys(("quant.dcast", "quant.qcast", "quant.scast"), _cast)
)
