"""Rewrites a program of the core so that no tensor has more than five axes.

What stands for a tensor of higher rank is its elements in row-major order, as a vector. Operations on it are stated for
views of few axes of that vector: one for what comes before an axis, the axis, and what comes after it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from commonir.base.codes import UNSUPPORTED_CONVERSION
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.conversions.core_to_mil.moves import moved
from commonir.conversions.operands import axes_from_start, dims_of, rank_of
from commonir.dialects import core
from commonir.dialects.core.base import tensor_type
from commonir.dialects.mil.base import MAX_RANK
from commonir.dialects.mlir import ml_program
from commonir.ir.module import Module
from commonir.ir.operation import Operation, Region, Value
from commonir.ir.types import TensorType, Type
from commonir.ods import Form, Op, traits
from commonir.passes.transcribe import Transcription, copied, with_functions
from commonir.rewrite.expand import expand
from commonir.symbolic import Dim, element_count


def lower_ranks(module: Module) -> Module:
    """A lowered module with tensors of at most five axes; the module itself when it has no others.

    Raises: DiagnosticError (E0601) with every operation that has no such form.
    """
    if not any(_is_high(v.type) for op in module.nested() for v in (*op.operands, *op.results)):
        return module
    diagnostics = Diagnostics()
    functions = [op for op in module.body.operations if isinstance(op, ml_program.Func) and not op.is_declaration]
    result = with_functions(module, [_Lowering(f, diagnostics).function() for f in functions])
    diagnostics.raise_errors()
    return result


def _is_high(type: Type) -> bool:
    return isinstance(type, TensorType) and type.shape is not None and len(type.shape) > MAX_RANK


def _is_compressed(op: Operation) -> bool:
    """Whether an operation is a part of a compressed constant, whose tables have more axes than it."""
    if isinstance(op, core.Constant):
        return op.y.is_used and all(isinstance(user, core.Decoded) for user in op.y.users)
    return isinstance(op, core.Decoded) and not _is_high(op.results[0].type)


def _refused(op: Operation, why: str) -> DiagnosticError:
    message = f"{op.name} on more than {MAX_RANK} axes: {why}"
    return DiagnosticError(Diagnostic(UNSUPPORTED_CONVERSION, message))


class _Lowering(Transcription):
    """The lowering of one function."""

    def argument_type(self, argument: Value) -> Type:
        type = argument.type
        if not _is_high(type) or not isinstance(type, TensorType):
            return type
        if argument.owner is self.source.body:
            message = f"the input '{argument.name}' has rank {type.rank}, and Core ML has tensors of rank at most 5"
            self.diagnostics.add(UNSUPPORTED_CONVERSION, message)
        return type.with_shape((element_count(dims_of(argument)),))

    def returned(self, values: tuple[Value, ...]) -> tuple[Value, ...]:
        for name, old in zip(self.source.output_names, self.source.outputs, strict=True):
            if _is_high(old.type):
                message = f"the output '{name}' has more than 5 axes, and Core ML has tensors of rank at most 5"
                self.diagnostics.add(UNSUPPORTED_CONVERSION, message)
        return values

    def rewritten(self, op: Operation, operands: tuple[Value, ...], regions: tuple[Region, ...]) -> Sequence[Value]:
        if (
            regions
            or isinstance(op, core.Yield)
            or _is_compressed(op)
            or not any(_is_high(v.type) for v in (*op.operands, *op.results))
        ):
            return self.place(copied(op, operands, regions)).results
        built = self._stated(op, operands)
        return [_fitted(new, old) for old, new in zip(op.results, built, strict=True)]

    def _stated(self, op: Operation, operands: tuple[Value, ...]) -> Sequence[Value]:
        """Values with the elements of the results in order, under any shape."""
        for definition, state in _FORMS:
            if isinstance(op, definition):
                return state(op, operands)
        if isinstance(op, Op) and op.has_trait(traits.Broadcastable):
            return _broadcast(op, operands)
        if isinstance(op, Op) and op.has_trait(traits.Elementwise):
            return copied(op, operands).results
        if isinstance(op, Op) and op.form is Form.COMPOSITE:
            return self._expanded(op)
        raise _refused(op, "it has no form for fewer")

    def _expanded(self, op: Op) -> Sequence[Value]:
        expansion = expand(op, op.operands)
        for inner in expansion.operations:
            self.transcribe(inner)
        result = [self.values.get(v, v) for v in expansion.results]
        for inner in reversed(expansion.operations):
            inner.operands = ()
        return result


def _fitted(value: Value, old: Value) -> Value:
    """A value under the shape of the one it stands for, a vector when that has too many axes."""
    shape = dims_of(old)
    return _under(value, (element_count(shape),) if len(shape) > MAX_RANK else shape)


def _under(value: Value, shape: tuple[Dim, ...]) -> Value:
    return value if tensor_type(value).shape == shape else core.reshape(value, shape)


def _around(shape: Sequence[Dim], first: int, end: int) -> tuple[Dim, Dim, Dim]:
    """The number of elements before, along and after some axes in a row."""
    return (
        element_count(tuple(shape[:first])),
        element_count(tuple(shape[first:end])),
        element_count(tuple(shape[end:])),
    )


# -- forms: each gives values with the elements of the results in order


def _same(op: Operation, operands: tuple[Value, ...]) -> Sequence[Value]:
    """Elements that stay in order."""
    return operands[:1]


def _constant(op: Operation, operands: tuple[Value, ...]) -> Sequence[Value]:
    return copied(op, operands).results


def _transpose(op: core.Transpose, operands: tuple[Value, ...]) -> Sequence[Value]:
    rank = rank_of(op.x)
    return (moved(operands[0], dims_of(op.x), tuple([p % rank for p in op.perm])),)


def _broadcast_to(op: core.BroadcastTo, operands: tuple[Value, ...]) -> Sequence[Value]:
    dims = dims_of(op.x)
    return (_spread(operands[0], (*(1,) * (len(op.shape) - len(dims)), *dims), op.shape),)


def _spread(x: Value, dims: Sequence[Dim], expected: Sequence[Dim]) -> Value:
    """A tensor repeated along each run of axes that are to grow."""
    current = list(dims)
    axis = 0
    while axis < len(current):
        end = axis
        while end < len(current) and current[end] == 1 and expected[end] != 1:
            end += 1
        if end > axis:
            before, _, after = _around(current, axis, end)
            count = element_count(tuple(expected[axis:end]))
            x = core.broadcast_to(_under(x, (before, 1, after)), (before, count, after))
            current[axis:end] = expected[axis:end]
        axis = max(end, axis + 1)
    return x


def _broadcast(op: Op, operands: tuple[Value, ...]) -> Sequence[Value]:
    """Merges axes that behave in the same way for all operands; if that is not enough, repeats every operand first."""
    expected = dims_of(op.results[0])
    shapes = [(1,) * (len(expected) - rank_of(v)) + dims_of(v) for v in op.operands]
    runs: list[list[int]] = []
    for axis, dim in enumerate(expected):
        if dim == 1:
            continue
        grows = [s[axis] == 1 for s in shapes]
        if runs and grows == [s[runs[-1][-1]] == 1 for s in shapes]:
            runs[-1].append(axis)
        else:
            runs.append([axis])
    if len(runs) > MAX_RANK:
        flat = [
            _under(_spread(v, s, expected), (element_count(expected),)) for v, s in zip(operands, shapes, strict=True)
        ]
        return copied(op, tuple(flat)).results
    views = [
        _under(v, tuple([element_count(tuple([s[a] for a in run])) for run in runs]))
        for v, s in zip(operands, shapes, strict=True)
    ]
    return copied(op, tuple(views)).results


_AlongAxis = core.Softmax | core.CumSum | core.ArgReduce | core.ArgSort | core.TopK | core.Split


def _along(op: _AlongAxis, operands: tuple[Value, ...]) -> Sequence[Value]:
    """An operation along one axis."""
    axis = op.axis % rank_of(op.x)
    view = _around(dims_of(op.x), axis, axis + 1)
    return copied(op, (_under(operands[0], view),), axis=1).results


def _concat(op: core.Concat, operands: tuple[Value, ...]) -> Sequence[Value]:
    axis = op.axis % rank_of(op.xs[0])
    views = [_under(v, _around(dims_of(old), axis, axis + 1)) for old, v in zip(op.xs, operands, strict=True)]
    return copied(op, tuple(views), axis=1).results


def _reduce(op: core.Reduce, operands: tuple[Value, ...]) -> Sequence[Value]:
    """Run after run of axes, the last one first, so that the positions of the others stay."""
    rank, x, shape = rank_of(op.x), operands[0], list(dims_of(op.x))
    axes = axes_from_start(op.axes, rank) or tuple(range(rank))
    end = rank
    while end:
        first = end
        while first and first - 1 in axes:
            first -= 1
        if first < end:
            x = copied(op, (_under(x, _around(shape, first, end)),), axes=(1,), keep_dims=False).result
            shape[first:end] = [1] * (end - first)
            end = first
        else:
            end -= 1
    return (x,)


def _axis_by_axis(x: Value, shape: list[Dim], step: Callable[[Value, int], Value | None]) -> Sequence[Value]:
    """Steps along one axis after another, each on a view of three axes; `shape` follows the sizes."""
    for axis in range(len(shape)):
        view = _under(x, _around(shape, axis, axis + 1))
        built = step(view, axis)
        if built is not None:
            x = built
            shape[axis] = dims_of(built)[1]
    return (x,)


def _slice(op: core.Slice, operands: tuple[Value, ...]) -> Sequence[Value]:
    def step(view: Value, axis: int) -> Value | None:
        before, dim, after = dims_of(view)
        if op.starts[axis] == 0 and op.stops[axis] == dim and op.steps[axis] == 1:
            return None
        starts, stops = (0, op.starts[axis], 0), (before, op.stops[axis], after)
        return core.slice(view, starts, stops, (1, op.steps[axis], 1))

    return _axis_by_axis(operands[0], list(dims_of(op.x)), step)


def _reverse(op: core.Reverse, operands: tuple[Value, ...]) -> Sequence[Value]:
    axes = axes_from_start(op.axes, rank_of(op.x))

    def step(view: Value, axis: int) -> Value | None:
        return core.reverse(view, (1,)) if axis in axes else None

    return _axis_by_axis(operands[0], list(dims_of(op.x)), step)


def _pad(op: core.Pad, operands: tuple[Value, ...]) -> Sequence[Value]:
    def step(view: Value, axis: int) -> Value | None:
        before, after = op.before[axis], op.after[axis]
        return core.pad(view, (0, before, 0), (0, after, 0), op.mode, op.value) if before or after else None

    return _axis_by_axis(operands[0], list(dims_of(op.x)), step)


def _tile(op: core.Tile, operands: tuple[Value, ...]) -> Sequence[Value]:
    def step(view: Value, axis: int) -> Value | None:
        return None if op.repeats[axis] == 1 else core.tile(view, (1, op.repeats[axis], 1))

    return _axis_by_axis(operands[0], list(dims_of(op.x)), step)


def _gather(op: core.Gather, operands: tuple[Value, ...]) -> Sequence[Value]:
    axis = op.axis % rank_of(op.x)
    view = _under(operands[0], _around(dims_of(op.x), axis, axis + 1))
    return (core.gather(view, _under(operands[1], (element_count(dims_of(op.positions)),)), 1),)


def _one_hot(op: core.OneHot, operands: tuple[Value, ...]) -> Sequence[Value]:
    dims = dims_of(op.positions)
    axis = op.axis % (len(dims) + 1)
    view = _under(operands[0], (element_count(dims[:axis]), element_count(dims[axis:])))
    return (core.one_hot(view, operands[1], operands[2], op.depth, 1),)


def _matmul(op: core.MatMul, operands: tuple[Value, ...]) -> Sequence[Value]:
    """Leading axes, repeated where they are broadcast, become one."""
    shapes = [dims_of(v) for v in op.operands]
    if any(len(s) < 2 for s in shapes):
        raise _refused(op, "an operand is a vector")
    lead = dims_of(op.y)[:-2]
    views: list[Value] = []
    for value, shape in zip(operands, shapes, strict=True):
        own = (1,) * (len(lead) + 2 - len(shape)) + shape
        whole = (*lead, *shape[-2:])
        views.append(_under(_spread(value, own, whole), (element_count(lead), *shape[-2:])))
    return copied(op, tuple(views)).results


_FORMS: tuple[tuple[type[Op], Callable[..., Sequence[Value]]], ...] = (
    (core.Constant, _constant),
    (core.Reshape, _same),
    (core.Squeeze, _same),
    (core.Unsqueeze, _same),
    (core.Transpose, _transpose),
    (core.BroadcastTo, _broadcast_to),
    (core.Softmax, _along),
    (core.CumSum, _along),
    (core.ArgReduce, _along),
    (core.ArgSort, _along),
    (core.TopK, _along),
    (core.Split, _along),
    (core.Concat, _concat),
    (core.Reduce, _reduce),
    (core.Slice, _slice),
    (core.Reverse, _reverse),
    (core.Pad, _pad),
    (core.Tile, _tile),
    (core.Gather, _gather),
    (core.OneHot, _one_hot),
    (core.MatMul, _matmul),
)
