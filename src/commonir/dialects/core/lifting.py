"""Scalar programs applied to all points of an iteration space at once.

A value of the scalar program becomes a tensor with an axis for each dimension of the space, of size 1 along those that
it does not depend on, followed by the axes it has itself. Values that do not depend on the point are unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from commonir.dialects import core
from commonir.ir.cloning import clone
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.types import Shape, TensorType, are_known, i64
from commonir.ods import Op, infer, traits
from commonir.symbolic import Dim

_STRUCTURAL = (core.Yield,)


class NotLiftable(Exception):
    """A scalar program has an operation that cannot be vectorized."""


class LoopIndex(Value):
    """The position along a dimension of the iteration space of the operation around.

    It belongs to no operation: the reference of that operation replaces it by positions.
    """

    __slots__ = ("dim",)

    def __init__(self, dim: int) -> None:
        super().__init__(TensorType(i64, ()))
        self.dim = dim


def rank_of(value: Value) -> int:
    """The number of axes of a value of a lowered program."""
    return len(core.tensor_type(value).shape or ())


def on(op: Op, operands: Sequence[Value]) -> tuple[Value, ...]:
    """The results of an operation on other operands. It must be without regions."""
    result = op.clone_shallow(tuple(operands), ())
    for found, type in zip(result.results, infer(result).types, strict=True):
        found.retype(type)
    return result.results


def operations_of(block: Block) -> Iterator[Operation]:
    """The operations of a block but the one that ends it."""
    for op in block.operations:
        if not isinstance(op, _STRUCTURAL):
            yield op


def yielded(block: Block) -> tuple[Value, ...]:
    """Returns the values that a block yields."""
    last = block.last
    return last.values if isinstance(last, core.Yield) else ()


def replayed(block: Block, given: Mapping[Value, Value], index: Callable[[int], Value]) -> tuple[Value, ...]:
    """Returns the yielded values of a scalar program at one point, by detached copies of its operations."""
    known = dict(given)
    for op in operations_of(block):
        for v in _used(op):
            if isinstance(v, LoopIndex) and v not in known:
                known[v] = index(v.dim)
        clone(op, known)
    return tuple([_found(v, known, index) for v in yielded(block)])


def _found(value: Value, known: Mapping[Value, Value], index: Callable[[int], Value]) -> Value:
    return index(value.dim) if isinstance(value, LoopIndex) and value not in known else known.get(value, value)


def _used(op: Operation) -> tuple[Value, ...]:
    return op.operands if not op.regions else op.values_used


class Lifting:
    """The lifting of one scalar program. `sizes` are those of the dimensions, `index` returns positions along one.

    `lifted` are the values that depend on the point, `same` copies of those that do not.
    """

    def __init__(self, sizes: Sequence[Dim], index: Callable[[int], Value]) -> None:
        self.sizes = tuple(sizes)
        self.index = index
        self.lifted: dict[Value, Value] = {}
        self.same: dict[Value, Value] = {}

    def values(self, block: Block, arguments: Mapping[Value, Value]) -> tuple[Value, ...]:
        """Returns the yielded values of a scalar program at all points, for lifted arguments. Raises: NotLiftable."""
        self.run(operations_of(block), arguments)
        return tuple([self.value(v) for v in yielded(block)])

    def run(self, operations: Iterable[Operation], arguments: Mapping[Value, Value]) -> None:
        """Lifts some operations, in order, for lifted arguments. Raises: NotLiftable."""
        self.lifted.update(arguments)
        for op in operations:
            self._operation(op)

    def value(self, value: Value) -> Value:
        """A value at all points; one that does not depend on the point gets axes of size 1."""
        if self._depends(value):
            return self.lifted[value]
        value = self.same.get(value, value)
        shape = core.tensor_type(value).shape or ()
        return core.reshape(value, (*(1,) * len(self.sizes), *_known(shape)))

    def _depends(self, value: Value) -> bool:
        if isinstance(value, LoopIndex) and value not in self.lifted:
            self.lifted[value] = self.index(value.dim)
        return value in self.lifted

    def _operation(self, op: Operation) -> None:
        depends = [self._depends(v) for v in _used(op)]
        if not any(depends):
            clone(op, self.same)
            return
        if not isinstance(op, Op):
            raise NotLiftable(op.name)
        self.lifted.update(zip(op.results, self._results(op), strict=True))

    def _results(self, op: Op) -> tuple[Value, ...]:
        if op.has_trait(traits.Elementwise):
            return self._elementwise(op)
        match op:
            case core.If(condition=condition, then=then, orelse=orelse):
                return self._choice(condition, then, orelse)
            case core.Unsqueeze(x=x, axes=axes):
                rank = rank_of(op.result)
                return (core.unsqueeze(self.value(x), tuple([len(self.sizes) + a % rank for a in axes])),)
            case core.Reshape(x=x, shape=shape) if -1 not in shape:
                return (core.reshape(self.value(x), (*self._leading(self.value(x)), *shape)),)
            case core.Concat(xs=xs, axis=axis):
                return (self._concat(xs, axis % rank_of(op.result)),)
            case core.GatherNd(x=x, positions=positions, batch=0) if not self._depends(x):
                return (core.gather_nd(self.same.get(x, x), self.value(positions)),)
            case core.Gather(x=x, positions=positions) if not self._depends(x) and op.axis in (0, -rank_of(x)):
                return (core.gather(self.same.get(x, x), self.value(positions), 0),)
            case core.CheckedPositions(positions=positions, limits=limits) if not self._depends(limits):
                return (core.checked_positions(self.value(positions), self.same.get(limits, limits)),)
            case _:
                raise NotLiftable(op.name)

    def _leading(self, value: Value) -> tuple[Dim, ...]:
        return _known((core.tensor_type(value).shape or ())[: len(self.sizes)])

    def _elementwise(self, op: Op) -> tuple[Value, ...]:
        own = max([rank_of(v) for v in op.operands], default=0)
        operands: list[Value] = []
        for v in op.operands:
            if not self._depends(v):
                operands.append(self.same.get(v, v))
                continue
            lifted, missing, at = self.lifted[v], own - rank_of(v), len(self.sizes)
            operands.append(core.unsqueeze(lifted, tuple(range(at, at + missing))) if missing else lifted)
        return on(op, operands)

    def _concat(self, xs: Sequence[Value], axis: int) -> Value:
        """Pieces made along all points, as their other axes must have one size."""
        whole = [core.broadcast_to(v, (*self.sizes, *_known(own))) for x in xs for v, own in [self._with_own(x)]]
        return core.concat(tuple(whole), len(self.sizes) + axis)

    def _with_own(self, x: Value) -> tuple[Value, tuple[Dim | None, ...]]:
        return self.value(x), core.tensor_type(x).shape or ()

    def _choice(self, condition: Value, then: Region, orelse: Region) -> tuple[Value, ...]:
        """Evaluates both branches at all points and selects one per point. Only branches that cannot fail are evaluated
        so.
        """
        for region in (then, orelse):
            for op in operations_of(region.block):
                if not isinstance(op, Op) or not (
                    op.has_trait(traits.Elementwise) or op.has_trait(traits.ConstantLike)
                ):
                    raise NotLiftable(op.name)
        first, second = self.values(then.block, {}), self.values(orelse.block, {})
        where = self.value(condition)
        return tuple([core.select(where, a, b) for a, b in zip(first, second, strict=True)])


def _known(shape: Shape) -> tuple[Dim, ...]:
    """A shape of known sizes. Raises: NotLiftable."""
    if not are_known(shape):
        raise NotLiftable("unknown size")
    return shape
