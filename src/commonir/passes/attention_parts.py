"""Finds what computes attention: a product of matrices, its softmax with a scale and a mask, and the product of that
with values.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from commonir.base.tuples import NamedTuple
from commonir.dialects import core
from commonir.ir.data import Data, data_of
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, boolean
from commonir.ods import Op, known_data
from commonir.ods.operand_shapes import known_dims_of
from commonir.passes.attention_masks import LEAST, Masking, is_bounded, masking_of
from commonir.passes.core_forms import core_form, is_tensor, shared_form
from commonir.passes.parameters import MOST_ELEMENTS, behind_reshaping, of_shape
from commonir.passes.proposals import Proposal, Samples
from commonir.passes.sample_runs import SampleSizes, random_mask, random_numbers
from commonir.passes.subgraphs import Subgraph, SubgraphFinder, number, union_of
from commonir.symbolic import Dim

_QUERIES, _KEYS, _SIZE, _VALUES = 4, 5, 6, 7
"""Sizes of samples: the numbers of queries and keys, and their sizes and those of values."""
_MOST_MASKED = -1e3
"""A number that masks, where it is added to a score, is not larger."""
_USUAL = 1e-4, 1e4
_MOST_MASKS = 4
_GUARDS = frozenset[type[Op]]({core.IsNan, core.IsInf, core.Equal, core.NotEqual})
"""Operations by which weights of a query without keys may become 0."""
_HEADS = 1
"""The axis of heads, where there is one besides that of batches."""


class _Scores(NamedTuple):
    """Factors and transpositions between an operand and the product of queries and keys."""

    value: Value
    operations: tuple[Op, ...]
    scale: float
    perm: tuple[int, ...]


class AttentionParts(NamedTuple):
    """The operands of attention; `perm` transposes the key to the order of the query.

    `mask` is the only value that is used between the product of queries and keys and the weights, if there is one.
    `masking` has all that is computed there. If `is_guarded`, queries without keys may have a result of their own.
    """

    query: Value
    key: Value
    value: Value
    mask: Value | None
    scale: float
    perm: tuple[int, ...]
    masking: Masking
    is_guarded: bool


def attention_ending_at(root: Op, finder: SubgraphFinder) -> Iterator[tuple[Subgraph, AttentionParts]]:
    """Yields the subgraphs of attention that end with an operation, if it may be the product of weights and values."""
    form = core_form(root)
    if form is None or not isinstance(form.op, core.MatMul) or form.op.transpose_a or form.op.transpose_b:
        return
    weights, value = form.operands
    owner = weights.owner if isinstance(weights, Value) else None
    if not isinstance(owner, Op) or owner.parent is not root.parent or not isinstance(value, Value):
        return
    finder = finder.of_matrices
    for scores in finder.values_before(owner):
        product = core_form(scores.owner) if isinstance(scores.owner, Op) else None
        if product is None or not isinstance(product.op, core.MatMul) or product.op.transpose_a:
            continue
        between = finder.between(scores, owner)
        if between is None or core.Exp not in between.primitives.classes or len(between.others) > _MOST_MASKS:
            continue
        if is_bounded(between, scores):
            continue
        masking = masking_of(between, scores, root.results[0], finder)
        found = _parts(root, between, masking, product.operands, value, is_transposed=product.op.transpose_b)
        if found is not None:
            yield found


def _parts(
    root: Op, between: Subgraph, masking: Masking, operands: Sequence[object], value: Value, *, is_transposed: bool
) -> tuple[Subgraph, AttentionParts] | None:
    scores = between.x
    left, right = operands
    if not isinstance(left, Value) or not isinstance(right, Value) or not isinstance(scores.owner, Op):
        return None
    query, key = _behind(left, transposes=False), _behind(right, transposes=True)
    # Constants that are masks belong to the form, too, where they are of several bools.
    masks = (*between.others, *[v for v in masking.constants if v not in between.others])
    inputs = [query.value, key.value, value, *masks]
    if len(set(inputs)) < len(inputs) or not all(map(is_tensor, inputs)):
        return None
    rank = len(key.perm)
    swap = tuple(range(rank)) if is_transposed else (*range(rank - 2), rank - 1, rank - 2)
    perm = tuple([key.perm[p] for p in swap])
    shared = known_dims_of(query.value)[:-2]
    leads = [known_dims_of(value)[:-2], tuple([known_dims_of(key.value)[p] for p in perm[:-2]])]
    if any(len(own) != len(shared) or any(n not in (1, m) for n, m in zip(own, shared, strict=True)) for own in leads):
        return None
    before = (*query.operations, *key.operations)
    operations = sorted((*before, scores.owner, *between.operations, root), key=lambda op: op.index_in_block)
    inside = set(operations)
    # Factors and transpositions of the operands may stay for others.
    inner = [r for op in (scores.owner, *between.operations) for r in op.results]
    outside = next((r for r in inner if any(u not in inside for u in r.users)), None)
    others = tuple(inputs[1:])
    subgraph = Subgraph(
        root, query.value, tuple(operations), between.numbers, others, outside, union_of([between.primitives])
    )
    mask = masks[0] if len(masks) == 1 else None
    scale, is_guarded = query.scale * key.scale, not _GUARDS.isdisjoint(between.primitives.classes)
    return subgraph, AttentionParts(query.value, key.value, value, mask, scale, perm, masking, is_guarded)


def _behind(value: Value, *, transposes: bool) -> _Scores:
    """Returns the value behind factors that are numbers and, once, a transposition."""
    rank = len(value.type.shape or ()) if isinstance(value.type, TensorType) else 0
    perm, scale = tuple(range(rank)), 1.0
    operations: list[Op] = []
    block = value.owner.parent if isinstance(value.owner, Op) else None
    while isinstance(owner := value.owner, Op) and owner.parent is block:
        form = core_form(owner)
        if form is None:
            break
        if isinstance(form.op, core.Transpose) and transposes:
            perm = tuple([form.op.perm[p] % rank for p in perm])
            transposes = False
            value = form.x
        else:
            factor = _factor(form.op, form.operands)
            if factor is None:
                break
            value, scale = factor[0], scale * factor[1]
        operations.append(owner)
    return _Scores(value, tuple(operations), scale, perm)


def _factor(op: core.CoreOp, operands: Sequence[object]) -> tuple[Value, float] | None:
    """Returns a value and the number that an operation multiplies it by."""
    if not isinstance(op, core.Mul | core.Div):
        return None
    a, b = operands
    for x, c in ((a, b), (b, a))[: 2 if isinstance(op, core.Mul) else 1]:
        factor = number(c) if isinstance(c, Value) else None
        if factor and isinstance(x, Value) and x.type is op.results[0].type:
            return x, factor if isinstance(op, core.Mul) else 1 / factor
    return None


class _Use(NamedTuple):
    """How a mask is meant: `number` is added to scores where it is true or, `is_inverted`, where it is not."""

    is_inverted: bool = False
    number: float | None = None

    def applied(self, mask: Value, like: Value) -> Value:
        """Returns the mask as an operand of attention."""
        if self.number is None:
            return core.logical_not(mask) if self.is_inverted else mask
        assert isinstance(like.type, TensorType)
        zero, other = [core.constant(data_of(like.type.element, (), (n,))) for n in (0.0, max(self.number, LEAST))]
        return core.select(mask, zero, other) if self.is_inverted else core.select(mask, other, zero)


def _with_heads_repeated(value: Value) -> Value | None:
    """Returns a value whose heads are repeated as core operations on one with fewer heads; None for another one.

    Formats may have attention with fewer heads of keys and values than of queries.
    """
    last = shared_form(value, core.Reshape)
    wide = None if last is None else shared_form(last.x, core.BroadcastTo)
    first = None if wide is None else shared_form(wide.x, core.Unsqueeze)
    if last is None or first is None or not all(map(is_tensor, (value, last.x, first.x))):
        return None
    assert isinstance(first.op, core.Unsqueeze)
    wide_dims, dims = known_dims_of(last.x), known_dims_of(value)
    axes = [a % len(wide_dims) for a in first.op.axes]
    # Each head is repeated, one after the other.
    if axes != [_HEADS + 1] or len(dims) != 4 or dims[_HEADS] != wide_dims[_HEADS] * wide_dims[_HEADS + 1]:
        return None
    return core.reshape(core.broadcast_to(core.unsqueeze(first.x, (_HEADS + 1,)), wide_dims), dims)


def _broadcast_to_lead(value: Value, lead: tuple[Dim, ...]) -> Value:
    """Returns a key or value with the axes before matrices that the query has; one head is repeated as several are."""
    own, matrix = known_dims_of(value)[:-2], known_dims_of(value)[-2:]
    if own == lead:
        return value
    if len(own) == _HEADS + 1 and own[_HEADS] == 1 and own[:_HEADS] == lead[:_HEADS]:
        repeated = core.broadcast_to(core.unsqueeze(value, (_HEADS + 1,)), (*own, lead[_HEADS], *matrix))
        return core.reshape(repeated, (*lead, *matrix))
    return core.broadcast_to(value, (*lead, *matrix))


def _operands(query: Value, key: Value, value: Value, perm: tuple[int, ...]) -> tuple[Value, Value, Value]:
    """Returns the operands of an attention, with equal axes before matrices; `perm` transposes the key."""
    is_ordered = perm == tuple(range(len(perm)))
    repeated = _with_heads_repeated(key) if is_ordered else None, _with_heads_repeated(value)
    if repeated[0] is not None and repeated[1] is not None:
        return query, repeated[0], repeated[1]
    lead = known_dims_of(query)[:-2]
    ordered = key if is_ordered else core.transpose(key, perm)
    return query, _broadcast_to_lead(ordered, lead), _broadcast_to_lead(value, lead)


class _Building(NamedTuple):
    """How an attention is made of what computes it."""

    perm: tuple[int, ...]
    scale: float
    masked_is_zero: bool
    use: _Use

    def build(self, query: Value, key: Value, value: Value, mask: Value | None = None) -> Value:
        """Returns the result of the attention."""
        used = None if mask is None else self.use.applied(mask, query)
        operands = _operands(query, key, value, self.perm)
        return core.attention(*operands, used, self.scale, self.masked_is_zero)


def propose_attention(parts: AttentionParts, subgraph: Subgraph) -> Iterator[Proposal]:
    """Yields the operations that may compute the same: with each number between as a scale, and each use of a mask;
    then with the mask that is computed between.
    """
    inputs = (subgraph.x, *subgraph.others)
    most = len(subgraph.operations) - 1
    low, high = _USUAL
    factors = [1.0, *[f for n in subgraph.numbers if low < n < high for f in (n, 1 / n) if f != 1]]
    is_simple = len(inputs) == (3 if parts.mask is None else 4) and not parts.masking.lead
    samples = tuple(_samples(parts)) if is_simple and parts.mask not in parts.masking.constants else ()
    for factor in dict.fromkeys(factors) if samples else ():
        for use in _uses_of_mask(subgraph, parts):
            for is_zero in (False, True) if parts.mask is not None else (False,):
                build = _Building(parts.perm, parts.scale * factor, is_zero, use).build
                yield Proposal(inputs, build, samples, most=most)
    if samples and parts.mask is None:
        return
    sizes = SampleSizes()
    samples = tuple(_samples_of_known_sizes(parts, inputs, sizes))
    # With others, queries may have no keys.
    constants = tuple([data.contents() for v in inputs if (data := known_data(v)) is not None])
    for is_zero in (False, True) if samples else ():
        build = _Masked(parts, inputs[3:], subgraph.result, sizes, is_zero).build
        yield Proposal(inputs, build, samples, most=most, sizes=sizes, assumed=constants)


def _samples_of_known_sizes(parts: AttentionParts, inputs: Sequence[Value], sizes: SampleSizes) -> Iterator[Samples]:
    """Yields samples of the sizes that operands have, if these are known; constants are as they are."""
    shapes = [sizes.of(v) for v in (*inputs, parts.masking.scores)]
    known = [shape for shape in shapes if shape is not None and math.prod(shape) <= MOST_ELEMENTS]
    types = [v.type for v in inputs if isinstance(v.type, TensorType)]
    if len(known) < len(shapes) or len(types) < len(inputs):
        return
    constants = [known_data(v) for v in inputs]
    matrices = [random_numbers(t, shape, n + 1) for n, (t, shape) in enumerate(zip(types[:3], known, strict=False))]
    for masks in _masks(types[3:], known[3:-1], is_guarded=parts.is_guarded):
        made = (*matrices, *masks)
        yield tuple([m if constant is None else constant for m, constant in zip(made, constants, strict=True)])


def _masks(types: Sequence[TensorType], shapes: Sequence[Sequence[int]], *, is_guarded: bool) -> Iterator[list[Data]]:
    """Yields samples of masks: with a key for each query, and with queries without keys. Of these, what masks of
    numbers give matters only where it is guarded against.
    """
    yield [random_mask(t, shape, has_masked_row=False) for t, shape in zip(types, shapes, strict=True)]
    masked = [is_guarded or not t.element.is_float for t in types]
    if any(masked):
        yield [random_mask(t, s, has_masked_row=m) for t, s, m in zip(types, shapes, masked, strict=True)]


class _Masked(NamedTuple):
    """An attention with the mask that is computed between the product of queries and keys and the weights.

    `masks` are what it is computed from, `result` is that of the attention.
    """

    parts: AttentionParts
    masks: tuple[Value, ...]
    result: Value
    sizes: SampleSizes
    masked_is_zero: bool

    def build(self, query: Value, key: Value, value: Value, *masks: Value) -> Value:
        """Returns the result of the attention."""
        parts, masking = self.parts, self.parts.masking
        is_sample = query is not parts.query
        lead: tuple[Dim, ...] = masking.lead
        result: tuple[Dim, ...] = known_dims_of(self.result)
        if is_sample and lead:
            lead = (self.sizes.of(masking.widest) or ())[:-2]
        if is_sample:
            result = self.sizes.of(self.result) or ()
        query, key, value = _operands(query, key, value, parts.perm)
        masked = masking.mask(dict(zip(self.masks, masks, strict=True)), query, lead)
        if lead:
            query, key, value = [_with_lead(v, lead) for v in (query, key, value)]
        y = core.attention(query, key, value, masked.added, parts.scale * masked.scale, self.masked_is_zero)
        return core.reshape(y, result) if lead else y


def _with_lead(value: Value, lead: tuple[Dim, ...]) -> Value:
    """Returns a value in a shape with other axes before matrices: what it is reshaped from, if that has the shape."""
    shape = (*lead, *known_dims_of(value)[-2:])
    return of_shape(behind_reshaping(value, shape), shape)


def _uses_of_mask(subgraph: Subgraph, parts: AttentionParts) -> Iterator[_Use]:
    """Yields how a mask may be meant."""
    yield _Use()
    mask = parts.mask
    if mask is None or not isinstance(mask.type, TensorType) or mask.type.element is not boolean:
        return
    yield _Use(is_inverted=True)
    for n in dict.fromkeys(subgraph.numbers):
        if -math.inf < n < _MOST_MASKED:
            yield _Use(number=n)
            yield _Use(is_inverted=True, number=n)


def _samples(parts: AttentionParts) -> Iterator[Samples]:
    """Yields samples of small sizes, which the operations between do not know of."""
    query, key, value = parts.query.type, parts.key.type, parts.value.type
    assert isinstance(query, TensorType)
    assert isinstance(key, TensorType)
    assert isinstance(value, TensorType)
    small = (2, 3, 2, 2)

    def lead_of(shape: Sequence[Dim | None]) -> tuple[int, ...]:
        return tuple([1 if n == 1 else small[a % 4] for a, n in enumerate(shape[:-2])])

    dims = key.shape or ()
    in_order = (*lead_of([dims[p] for p in parts.perm]), _KEYS, _SIZE)
    source = [0] * len(in_order)
    for a, p in enumerate(parts.perm):
        source[p] = in_order[a]
    lead = lead_of(query.shape or ())
    full = (*lead, _QUERIES, _KEYS)
    matrices = (
        random_numbers(query, (*lead, _QUERIES, _SIZE), 1),
        random_numbers(key, source, 2),
        random_numbers(value, (*lead_of(value.shape or ()), _KEYS, _VALUES), 3),
    )
    types = [t for v in (parts.mask,) if v is not None and isinstance(t := v.type, TensorType)]
    shapes = [_aligned_sizes(t.shape or (), full) for t in types]
    for masks in _masks(types, shapes, is_guarded=parts.is_guarded):
        yield (*matrices, *masks)


def _aligned_sizes(shape: Sequence[Dim | None], full: Sequence[int]) -> tuple[int, ...]:
    """Returns the sizes that a mask has, aligned at the end with those of scores."""
    return tuple([1 if n == 1 else m for n, m in zip(shape, full[len(full) - len(shape) :], strict=False)])
