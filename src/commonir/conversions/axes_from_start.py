"""Axes of ONNX operators counted from the first one, for versions of the operator set that count no others.

Source: ONNX operator reference, whose operators take negative axes from version 11 on.
"""

from __future__ import annotations

from commonir.dialects import onnx
from commonir.ir.attributes import is_sequence
from commonir.ir.module import Module
from commonir.ir.types import TensorType

_FIRST_WITH_NEGATIVE = 11


def count_axes_from_start(module: Module, opset: int) -> None:
    """Makes the axes that attributes give numbers from 0 on, in place, where the version needs that and the rank that
    they are counted in is known.
    """
    if opset >= _FIRST_WITH_NEGATIVE:
        return
    for op in list(module.nested()):
        if isinstance(op, onnx.OnnxOp) and onnx.operator_of(op.name)[0] == "" and op.operands and op.results:
            _count(op)


def _count(op: onnx.OnnxOp) -> None:
    counted = op.counts_axes_in
    rank = counted.type.rank if isinstance(counted.type, TensorType) else None
    stored = op.stored_attributes
    axis, axes = stored.get("axis"), stored.get("axes")
    numbers = [a for a in axes if isinstance(a, int)] if is_sequence(axes) else []
    if rank is None or op.parent is None:
        return
    if isinstance(axis, int) and axis < 0:
        built = op.with_attributes(axis=axis + rank)
    elif any(a < 0 for a in numbers):
        built = op.with_attributes(axes=tuple([a + rank if a < 0 else a for a in numbers]))
    else:
        return
    op.parent.insert_before(op, built)
    for old, new in zip(op.results, built.results, strict=True):
        new.name = old.name
        old.replace_all_uses_with(new)
    op.erase()
