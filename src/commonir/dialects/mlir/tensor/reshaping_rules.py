"""Simpler forms of operations of the tensor dialect that give elements another shape or type.

Source: MLIR tensor dialect, folders and canonicalization patterns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from commonir.dialects.mlir.tensor.elements import Splat
from commonir.dialects.mlir.tensor.reshaping import Bitcast, CollapseShape, ExpandShape, Reshape
from commonir.ir.data import Data, data_of
from commonir.ir.operation import Value
from commonir.ir.types import TensorType
from commonir.ods import Op, known_data
from commonir.ods.rules import Editor, Simplification
from commonir.ods.type_rules import static_dims_of

Groups = tuple[tuple[int, ...], ...]


def _same_bits(op: Bitcast, editor: Editor) -> bool:
    """Removes a bitcast to the same type, and merges two in a row."""
    if editor.forward(op, op.source):
        return True
    before = op.source.owner
    if not isinstance(before, Bitcast):
        return False
    built = Bitcast.build({"source": before.source}, (op.dest.type,))
    return editor.substitute(op, built)


def _same_list(op: Reshape, editor: Editor) -> bool:
    """Removes a conversion to the same type."""
    type = op.source.type
    is_list = isinstance(type, TensorType) and type.shape is not None and len(type.shape) == 1
    return is_list and editor.forward(op, op.source)


def _back(op: CollapseShape | ExpandShape, editor: Editor) -> bool:
    """Removes a reshape to the shape of the operand, or back to the shape before another reshape."""
    value, expected = op.src, op.result_.type
    before = value.owner
    if value.type is not expected and isinstance(before, CollapseShape | ExpandShape) and type(before) is not type(op):
        value = before.src
    return static_dims_of(expected) is not None and editor.forward(op, value)


def _grouped(fine: Sequence[int], coarse: Sequence[int]) -> Groups | None:
    """The groups of axes of one shape that are the axes of another."""
    groups: list[tuple[int, ...]] = []
    at = 0
    for size in coarse:
        group: list[int] = []
        count = 1
        while at < len(fine) and (count < size or not group):
            group.append(at)
            count *= fine[at]
            at += 1
        if count != size:
            return None
        groups.append(tuple(group))
    if at < len(fine) and (not groups or any(n != 1 for n in fine[at:])):
        return None
    if at < len(fine):
        groups[-1] += tuple(range(at, len(fine)))
    return tuple(groups)


def _at_once(op: CollapseShape | ExpandShape, editor: Editor) -> bool:
    """Merges two static reshapes in a row."""
    before, expected = op.src.owner, op.result_.type
    if not isinstance(before, CollapseShape | ExpandShape):
        return False
    source, target = static_dims_of(before.src.type), static_dims_of(expected)
    if source is None or target is None or len(source) == len(target):
        return False
    is_wider = len(target) > len(source)
    groups = _joined(before, op) if type(before) is type(op) else _between(before, op, source, target)
    if groups is None:
        return False
    built: CollapseShape | ExpandShape
    if is_wider:
        fields = {"src": before.src, "reassociation": groups, "output_shape": (), "static_output_shape": target}
        built = ExpandShape.build(fields, (expected,))
    else:
        built = CollapseShape.build({"src": before.src, "reassociation": groups}, (expected,))
    return editor.substitute(op, built)


def _joined(before: CollapseShape | ExpandShape, op: CollapseShape | ExpandShape) -> Groups:
    """The groups of two changes of one kind in a row."""
    inner, outer = (before, op) if isinstance(op, CollapseShape) else (op, before)
    return tuple([tuple([a for n in group for a in inner.reassociation[n]]) for group in outer.reassociation])


def _between(
    before: CollapseShape | ExpandShape, op: CollapseShape | ExpandShape, source: Sequence[int], target: Sequence[int]
) -> Groups | None:
    """The groups of a change and the opposite one, where one of both does not matter along each axis between."""
    if isinstance(before, ExpandShape):
        return _grouped(source, target) if len(source) > len(target) else _grouped(target, source)
    groups: list[tuple[int, ...]] = []
    is_wider = len(target) > len(source)
    for mine, other in zip(before.reassociation, op.reassociation, strict=True):
        fine, coarse = (other, mine) if is_wider else (mine, other)
        sizes = (target, source) if is_wider else (source, target)
        result = _grouped([sizes[0][a] for a in fine], [sizes[1][a] for a in coarse])
        if result is None:
            return None
        groups += [tuple([fine[n] for n in group]) for group in result]
    return tuple(groups)


def _reshaped_constant(op: CollapseShape | ExpandShape, editor: Editor) -> bool:
    """Reshapes constants, and tensors built from one element, when they are made."""
    expected = op.result_.type
    shape = static_dims_of(expected)
    if shape is None:
        return False
    source = op.src.owner
    built: Value | None = None
    if isinstance(source, Splat):
        splat = Splat.build({"input": source.input, "dynamic_sizes": ()}, (expected,))
        editor.insert(splat, op)
        built = splat.aggregate
    elif (data := known_data(op.src)) is not None:
        built = editor.constant(_in_shape(data, shape), expected, op)
    return editor.forward(op, built)


def _in_shape(data: Data, shape: tuple[int, ...]) -> Data:
    return data_of(data.element, shape, data.values())


RESHAPING: Mapping[type[Op], tuple[Simplification, ...]] = {
    Bitcast: (_same_bits,),
    Reshape: (_same_list,),
    CollapseShape: (_back, _reshaped_constant, _at_once),
    ExpandShape: (_back, _reshaped_constant, _at_once),
}
