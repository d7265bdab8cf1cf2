"""Finds what computes a group normalization: a tensor reshaped to groups, which are normalized and reshaped back, and a
scale and a shift of each channel.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from commonir.base.tuples import NamedTuple
from commonir.dialects import core
from commonir.ir.data import Data, computed_data
from commonir.ir.operation import Value
from commonir.ir.types import TensorType
from commonir.ods import Op, known_data, traits
from commonir.ods.operand_shapes import static_dims
from commonir.passes.core_forms import core_form
from commonir.passes.parameters import MOST_ELEMENTS, covers, epsilons_among, of_shape
from commonir.passes.proposals import Proposal, Samples
from commonir.passes.sample_runs import ROW_FACTORS, random_numbers, random_rows
from commonir.passes.subgraphs import Subgraph, SubgraphFinder, union_of

_SAMPLE_SIZE = 2
"""The sample size of an axis whose size is not known."""
_LINEAR = frozenset[type[Op]]({core.Add, core.Sub, core.Mul, core.Div})
_CHANNELS = (1,)


class GroupParts(NamedTuple):
    """The attributes that a group normalization may have."""

    groups: int
    epsilons: tuple[float, ...]


class _Tail(NamedTuple):
    """The value whose channels are scaled and shifted, and by which operations and parameters, the first one first."""

    value: Value
    operations: tuple[Op, ...]
    parameters: tuple[Value, ...]


class _Reshaping(NamedTuple):
    """The value that another one is reshaped from, the operation, and those that compute the new shape."""

    x: Value
    operation: Op
    shapes: tuple[Op, ...]


class _Middle(NamedTuple):
    """The normalization of groups: the value that it takes, its operations, and numbers that may be its epsilon."""

    grouped: Value
    operations: tuple[Op, ...]
    numbers: tuple[float, ...]


def group_norm_ending_at(root: Op, finder: SubgraphFinder) -> Iterator[tuple[Subgraph, GroupParts]]:
    """Yields the subgraphs of group normalizations that end with an operation."""
    type = root.results[0].type if root.results else None
    if not isinstance(type, TensorType) or type.shape is None or not type.element.is_float or len(type.shape) < 3:
        return
    tail = _tail(root.results[0], type, finder)
    back = _reshaped(tail.value, finder)
    if back is None or not isinstance(type.shape[1], int):
        return
    for middle in _middles(back.x, finder):
        front = _reshaped(middle.grouped, finder)
        shape = middle.grouped.type.shape if isinstance(middle.grouped.type, TensorType) else None
        if front is None or front.x.type is not type or not shape or len(shape) < 3:
            continue
        shapes = {*front.shapes, *back.shapes}
        groups = shape[1]
        if not isinstance(groups, int) or groups < 1 or type.shape[1] % groups:
            continue
        found = {front.operation, *middle.operations, back.operation, *tail.operations, *shapes}
        if any(op.parent is not root.parent for op in found) or any(op.operands != (front.x,) for op in shapes):
            continue
        operations = tuple(sorted(found, key=lambda op: op.index_in_block))
        # The shape may be used for more.
        inner = [r for op in operations if op is not root and op not in shapes for r in op.results]
        outside = next((r for r in inner if any(u not in found for u in r.users)), None)
        primitives = union_of([part for op in operations if (part := finder.primitives(op)) is not None])
        subgraph = Subgraph(root, front.x, operations, middle.numbers, tail.parameters, outside, primitives)
        yield subgraph, GroupParts(groups, epsilons_among(middle.numbers))


def _tail(value: Value, type: TensorType, finder: SubgraphFinder) -> _Tail:
    """Returns the value before up to two operations that scale or shift channels."""
    operations: list[Op] = []
    parameters: list[Value] = []
    while len(parameters) < 2:
        owner = value.owner
        part = finder.primitives(owner) if isinstance(owner, Op) and len(owner.operands) == 2 else None
        if part is None or not isinstance(owner, Op) or not part.classes <= _LINEAR:
            break
        scaled = [v for v in owner.operands if v.type is type]
        by = [v for v in owner.operands if v.type is not type and covers(v.type, type.shape or (), _CHANNELS)]
        if len(scaled) != 1 or len(by) != 1 or by[0] in parameters:
            break
        (value,) = scaled
        operations.insert(0, owner)
        parameters.insert(0, by[0])
    return _Tail(value, tuple(operations), tuple(parameters))


def _reshaped(value: Value, finder: SubgraphFinder) -> _Reshaping | None:
    """Returns the reshaping that computes a value, if the new shape is known or computed from one value alone."""
    owner = value.owner
    # What acts on elements is not looked at twice.
    if not isinstance(owner, Op) or finder.primitives(owner) is not None:
        return None
    form = core_form(owner)
    if form is None or not isinstance(form.op, core.Reshape | core.DynamicReshape):
        return None
    shapes = [v.owner for v in owner.operands if v is not form.x and known_data(v) is None]
    sources = [op for op in shapes if isinstance(op, Op) and len(op.operands) == 1 and op.has_trait(traits.Pure)]
    return _Reshaping(form.x, owner, tuple(sources)) if len(sources) == len(shapes) else None


def _middles(value: Value, finder: SubgraphFinder) -> Iterator[_Middle]:
    """Yields the normalizations of reshaped values that a value may be."""
    owner = value.owner
    if not isinstance(owner, Op):
        return
    form = core_form(owner)
    if form is not None and isinstance(form.op, core.InstanceNorm | core.LayerNorm):
        first, *others = owner.operands
        if all(known_data(v) is not None for v in others):
            yield _Middle(first, (owner,), (form.op.epsilon,))
        return
    for grouped in finder.values_before(owner):
        if _reshaped(grouped, finder) is not None:
            between = finder.between(grouped, owner)
            if between is not None and not between.others and between.primitives.axes:
                yield _Middle(grouped, between.operations, between.numbers)


class _Building(NamedTuple):
    """How a group normalization is made; `names` are those of the parameters."""

    groups: int
    epsilon: float
    names: tuple[str, ...]

    def build(self, x: Value, *parameters: Value) -> Value:
        """Returns the result of the group normalization."""
        shape = x.type.shape if isinstance(x.type, TensorType) else None
        channels = (shape or (None, None))[1]
        assert channels is not None
        named = {n: of_shape(v, (channels,)) for n, v in zip(self.names, parameters, strict=True)}
        return core.group_norm(x, named.get("scale"), named.get("bias"), self.groups, self.epsilon)


def propose_group_norm(parts: GroupParts, subgraph: Subgraph) -> Iterator[Proposal]:
    """Yields the group normalizations that may compute the same, with each number between as epsilon."""
    samples = tuple(_samples(parts, subgraph))
    if not samples:
        return
    several = (("scale", "bias"),) if len(subgraph.others) > 1 else (("scale",), ("bias",))
    for names in several if subgraph.others else ((),):
        for epsilon in parts.epsilons:
            yield Proposal((subgraph.x, *subgraph.others), _Building(parts.groups, epsilon, names).build, samples)


def _samples(parts: GroupParts, subgraph: Subgraph) -> Iterator[Samples]:
    """Yields samples in which groups are of several magnitudes, with all sizes that are known."""
    type = subgraph.x.type
    assert isinstance(type, TensorType)
    sizes = [n if isinstance(n, int) else _SAMPLE_SIZE for n in type.shape or ()]
    count = math.prod(sizes)
    rows = sizes[0] * parts.groups
    if not 0 < count <= MOST_ELEMENTS:
        return
    for seed in range(-(-len(ROW_FACTORS) // rows)):
        grouped = random_rows(type, (sizes[0], parts.groups, count // rows), (2,), seed)
        more = [
            random_numbers(v.type, static_dims(v), 100 + 10 * n + seed)
            for n, v in enumerate(subgraph.others)
            if isinstance(v.type, TensorType)
        ]
        yield (_of_sizes(grouped, sizes), *more)


def _of_sizes(data: Data, sizes: Sequence[int]) -> Data:
    return computed_data(data.type.with_shape(tuple(sizes)), lambda: data.array().reshape(sizes))
