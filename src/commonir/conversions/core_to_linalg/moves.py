"""Rules for operations that move elements: the tensor dialect has them, but for those read backwards or in cycles."""

from __future__ import annotations

from collections.abc import Sequence

from commonir.conversions.core_to_linalg.tensors import amounts, cast_to, empty, part
from commonir.conversions.operands import dims_of, element_of, rank_of
from commonir.conversions.to_mlir.finish import signless
from commonir.dialects import core
from commonir.dialects.core.base import axis_of
from commonir.dialects.core.shape import slice_range
from commonir.dialects.mlir import tensor
from commonir.dialects.mlir.linalg.base import Yield
from commonir.dialects.mlir.linalg.generic import Transpose
from commonir.ir.operation import Block, Region, Value
from commonir.ir.types import TensorType
from commonir.rewrite.legalize import Context, Mismatch, Result, rule
from commonir.symbolic import Dim, at_least, element_count

Groups = list[tuple[list[int], list[int]]]


@rule(core.Reshape)
def reshape(op: core.Reshape, context: Context, x: Value) -> Result:
    return reshaped(context, x, dims_of(op.x), dims_of(op.y))


@rule(core.Squeeze)
def squeeze(op: core.Squeeze, context: Context, x: Value) -> Result:
    return reshaped(context, x, dims_of(op.x), dims_of(op.y))


@rule(core.Unsqueeze)
def unsqueeze(op: core.Unsqueeze, context: Context, x: Value) -> Result:
    return reshaped(context, x, dims_of(op.x), dims_of(op.y))


def reshaped(context: Context, x: Value, source: Sequence[Dim], target: Sequence[Dim]) -> Value:
    """The elements in row-major order under another shape: neighbouring axes made one, and axes divided."""
    if tuple(source) == tuple(target):
        return x
    element = element_of(x)
    groups = _groups(source, target)
    if not source or not target:
        groups = []
    collapsed = tuple([element_count([source[a] for a in left]) for left, _ in groups])
    if any(len(left) > 1 for left, _ in groups) or len(groups) < len(source):
        source_groups = tuple([tuple(left) for left, _ in groups])
        type = TensorType(element, collapsed)
        x = tensor.CollapseShape.build({"src": x, "reassociation": source_groups}, [type]).result_
    if tuple(collapsed) == tuple(target):
        return x
    x = _as_divided(x, collapsed, [[target[a] for a in right] for _, right in groups])
    if all(len(right) == 1 for _, right in groups) and len(groups) == len(target):
        return x
    dims = amounts(context, target)
    arguments = {
        "src": x,
        "reassociation": tuple([tuple(right) for _, right in groups]),
        "static_output_shape": dims[0],
        "output_shape": dims[1],
    }
    return tensor.ExpandShape.build(arguments, [TensorType(element, tuple(target))]).result_


def _as_divided(x: Value, whole: Sequence[Dim], parts: Sequence[Sequence[Dim]]) -> Value:
    """The tensor under a type that knows a size exactly where all sizes are known that it is divided into."""
    expected: list[Dim] = []
    for n, group in zip(whole, parts, strict=True):
        product = element_count(group)
        fits = isinstance(n, int) == isinstance(product, int)
        expected.append(n if fits else product)
    if tuple(expected) == tuple(whole):
        return x
    return cast_to(x, TensorType(element_of(x), tuple(expected)))


def _groups(source: Sequence[Dim], target: Sequence[Dim]) -> Groups:
    """The smallest runs of axes of two shapes that have equally many elements."""
    whole = [(list(range(len(source))), list(range(len(target))))]
    if 0 in (*source, *target) or not source or not target:
        return whole
    out: Groups = []
    left: list[int] = []
    right: list[int] = []
    i = j = 0
    while i < len(source) or j < len(target):
        if not left or not right or not _agree(source, left, target, right):
            grows_left = j >= len(target) or (i < len(source) and (not left or _is_less(source, left, target, right)))
            if grows_left:
                left.append(i)
                i += 1
            else:
                right.append(j)
                j += 1
        else:
            out.append((left, right))
            left, right = [], []
    if left and right and (not out or _agree(source, left, target, right)):
        out.append((left, right))
    elif out:
        out[-1] = (out[-1][0] + left, out[-1][1] + right)
    else:
        out.append((left, right))
    return out if all(_agree(source, a, target, b) for a, b in out) else whole


def _product(shape: Sequence[Dim], axes: Sequence[int]) -> Dim:
    return element_count([shape[a] for a in axes])


def _agree(source: Sequence[Dim], left: Sequence[int], target: Sequence[Dim], right: Sequence[int]) -> bool:
    return _product(source, left) == _product(target, right)


def _is_less(source: Sequence[Dim], left: Sequence[int], target: Sequence[Dim], right: Sequence[int]) -> bool:
    """Whether the axes on the left side have fewer elements, as far as that is known."""
    if not right:
        return False
    return at_least(_product(target, right), _product(source, left))


@rule(core.Transpose)
def transpose(op: core.Transpose, context: Context, x: Value) -> Result:
    rank = rank_of(op.x)
    perm = tuple([axis_of(p, rank) for p in op.perm])
    if not perm:
        return x
    block = Block([signless(element_of(x))] * 2)
    block.append(Yield((block.arguments[0],)))
    target = empty(context, element_of(x), dims_of(op.y))
    arguments = {"input": x, "init": target, "permutation": perm, "region": Region([block])}
    return Transpose.build(arguments, [target.type]).results[0]


@rule(core.Slice)
def slice_(op: core.Slice, context: Context, x: Value) -> Result:
    if any(step < 1 for step in op.steps):
        return Mismatch("tensor.extract_slice does not go backwards")
    rows = zip(dims_of(op.x), op.starts, op.stops, op.steps, strict=True)
    ranges = [slice_range(n, start, stop, step) for n, start, stop, step in rows]
    return part(context, x, [first for first, _ in ranges], dims_of(op.y), op.steps)


@rule(core.Split)
def split(op: core.Split, context: Context, x: Value) -> Result:
    shape = dims_of(op.x)
    axis = axis_of(op.axis, len(shape))
    start: Dim = 0
    out: list[Value] = []
    for y in op.results:
        dims = dims_of(y)
        offsets = [start if a == axis else 0 for a in range(len(shape))]
        out.append(part(context, x, offsets, dims, (1,) * len(shape)))
        start = start + dims[axis]
    return tuple(out)


@rule(core.Concat)
def concat(op: core.Concat, context: Context, xs: tuple[Value, ...]) -> Result:
    axis = axis_of(op.axis, rank_of(op.xs[0]))
    pieces = [x for x, source in zip(xs, op.xs, strict=True) if dims_of(source)[axis] != 0]
    if not pieces:
        return empty(context, element_of(xs[0]), dims_of(op.y))
    if len(pieces) == 1:
        return pieces[0]
    return tensor.Concat.build({"dim": axis, "inputs": tuple(pieces)}, [op.y.type]).result_
