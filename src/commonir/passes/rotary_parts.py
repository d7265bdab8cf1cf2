"""Finds what computes a rotary position embedding: products of parts of a tensor with cosines and sines, which are
added and put together again.

Exporters write cosines and sines for each element, with both of a pair equal, or for each pair.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from commonir.base.tuples import NamedTuple
from commonir.dialects import core
from commonir.ir.data import Data
from commonir.ir.operation import Value
from commonir.ir.types import TensorType
from commonir.ods import Op, known_data
from commonir.ods.operand_shapes import ranked_shape
from commonir.passes.core_forms import CoreForm, core_form, form_of_all_results, is_tensor
from commonir.passes.paired_angles import Pairing, pairings_of
from commonir.passes.parameters import MOST_ELEMENTS, behind_reshaping, of_shape
from commonir.passes.proposals import Proposal, Samples
from commonir.passes.sample_runs import SampleSizes, random_numbers
from commonir.passes.subgraphs import Subgraph, SubgraphFinder, union_of
from commonir.symbolic import Dim

_RANK = 4
_MOST_STEPS = 12
"""The most operations that are followed from a product to the tensor."""
_MOST_WRITTEN = 16
"""The most operations that a format may take: those that prepare cosines and sines are shared by queries and keys."""
_MOVEMENT = (
    core.Slice, core.Split, core.Concat, core.Reshape, core.DynamicReshape, core.Squeeze, core.Unsqueeze, core.Gather,
    core.Transpose,
)  # fmt: skip


class _Products(NamedTuple):
    """The operations between products and what they are put together to; `kept` are the other parts."""

    operations: tuple[Op, ...]
    products: tuple[Op, ...]
    kept: tuple[Value, ...]


class RotaryParts(NamedTuple):
    """The operands of a rotary embedding: cosines and sines, in either order, as products use them.

    `shape` is that of their elements: of batches or 1, positions, and elements or pairs.
    """

    x: Value
    angles: tuple[Value, Value]
    heads: int
    shape: tuple[Dim, Dim, int]


def rotary_embedding_ending_at(root: Op, finder: SubgraphFinder) -> Iterator[tuple[Subgraph, RotaryParts]]:
    """Yields the subgraphs of rotary embeddings that end with an operation."""
    result = root.results[0] if root.results else None
    if result is None or not is_tensor(result) or not isinstance(result.type, TensorType):
        return
    shape = result.type.shape or ()
    if len(shape) != _RANK or not isinstance(shape[-1], int) or not result.type.element.is_float:
        return
    found = _products_before(root)
    if found is None or len(found.products) not in (2, 4):
        return
    for x in _tensors_behind(found.products[0], result.type):
        subgraph = _from(x, root, found, finder)
        if subgraph is None:
            continue
        heads = _heads(subgraph.others, shape)
        if heads is not None:
            yield subgraph, RotaryParts(x, (subgraph.others[0], subgraph.others[1]), *heads)
        return


def _products_before(root: Op) -> _Products | None:
    """Returns the products whose sums and differences an operation puts together; None if there are none."""
    form = core_form(root)
    if form is None or not isinstance(form.op, core.Add | core.Concat | core.Reshape | core.DynamicReshape):
        return None
    operations: list[Op] = []
    products: list[Op] = []
    kept: list[Value] = []
    pending: list[Op] = [root]
    while pending:
        op = pending.pop()
        form = core_form(op)
        if form is None or op in operations or len(operations) > _MOST_STEPS:
            return None
        operations.append(op)
        if isinstance(form.op, core.Add | core.Sub):
            factors = [_owner(v, core.Mul) for v in _values(form)]
            known = [o for o in factors if o is not None]
            if len(known) < 2:
                return None
            products += known
            continue
        for v in _values(form):
            owner = _owner(v, core.Add, core.Sub, core.Concat, core.Reshape, core.DynamicReshape, core.Unsqueeze)
            if owner is None:
                kept.append(v)
            else:
                pending.append(owner)
    return _Products((*operations, *products), tuple(dict.fromkeys(products)), tuple(kept))


def _owner(value: Value, *classes: type[core.CoreOp]) -> Op | None:
    owner = value.owner
    form = core_form(owner) if isinstance(owner, Op) else None
    return owner if isinstance(owner, Op) and form is not None and isinstance(form.op, classes) else None


def _values(form: CoreForm) -> list[Value]:
    """Returns the operands of a core operation that are tensors of floats."""
    out: list[Value] = []
    for v in form.operands:
        out += v if isinstance(v, tuple) else () if v is None else (v,)
    return [v for v in out if isinstance(v.type, TensorType) and v.type.element.is_float]


def _moving_form(op: Op) -> CoreForm | None:
    """Returns the core form of an operation that moves elements, or negates them."""
    form = form_of_all_results(op) if len(op.results) > 1 else core_form(op)
    return form if form is not None and isinstance(form.op, (*_MOVEMENT, core.Neg)) else None


def _tensors_behind(product: Op, type: TensorType) -> list[Value]:
    """Returns the values of a type that factors of a product are parts of, the nearest ones first."""
    out: dict[Value, None] = {}
    pending = list(product.operands)
    for _ in range(_MOST_STEPS):
        if not pending:
            break
        value = pending.pop(0)
        if value.type is type and known_data(value) is None:
            out[value] = None
        owner = value.owner
        form = _moving_form(owner) if isinstance(owner, Op) else None
        pending += _values(form) if form is not None else []
    return list(out)


def _from(x: Value, root: Op, combined: _Products, finder: SubgraphFinder) -> Subgraph | None:
    """Returns the subgraph from a tensor to what its parts are put together to."""
    moving: dict[Op, None] = {}
    angles: dict[Value, None] = {}
    for product in combined.products:
        parts = [_path(v, x) for v in product.operands]
        factors = [v for v, path in zip(product.operands, parts, strict=True) if path is None]
        if len(factors) != 1:
            return None
        angles[factors[0]] = None
        moving.update(dict.fromkeys([op for path in parts for op in path or ()]))
    for v in combined.kept:
        path = _path(v, x)
        if path is None:
            return None
        moving.update(dict.fromkeys(path))
    inside = {*combined.operations, *moving}
    if len(angles) != 2 or any(op.parent is not root.parent for op in inside):
        return None
    operations = tuple(sorted(inside, key=lambda op: op.index_in_block))
    # Parts of the tensor may be used for more.
    inner = [r for op in combined.operations if op is not root for r in op.results]
    outside = next((r for r in inner if any(u not in inside for u in r.users)), None)
    primitives = union_of([part for op in operations if (part := finder.primitives(op)) is not None])
    return Subgraph(root, x, operations, (), tuple(angles), outside, primitives)


def _path(value: Value, x: Value) -> list[Op] | None:
    """Returns the operations that move elements of `x` to a value; None if it has others."""
    operations: dict[Op, None] = {}
    pending = [value]
    while pending:
        v = pending.pop()
        if v is x:
            continue
        owner = v.owner
        form = _moving_form(owner) if isinstance(owner, Op) and len(operations) < _MOST_STEPS else None
        if form is None or not isinstance(owner, Op):
            return None
        if owner not in operations:
            operations[owner] = None
            pending += _values(form)
    return list(operations)


def _heads(angles: Sequence[Value], shape: Sequence[Dim | None]) -> tuple[int, tuple[Dim, Dim, int]] | None:
    """Returns the axis of heads, which share angles, and the shape of angles without it."""
    shapes = {v.type.shape for v in angles if isinstance(v.type, TensorType) and is_tensor(v)}
    if len(shapes) != 1:
        return None
    (own,) = shapes
    aligned = (1,) * (_RANK - len(own or ())) + (own or ())
    batches, size = aligned[0], aligned[-1]
    for heads in (1, 2):
        positions = aligned[3 - heads]
        if len(aligned) != _RANK or aligned[heads] != 1 or batches not in (1, shape[0]):
            continue
        if positions == shape[3 - heads] and positions is not None and batches is not None and isinstance(size, int):
            return heads, (batches, positions, size)
    return None


class _Building(NamedTuple):
    """How a rotary embedding is made of its operands; `pairing` says which elements of angles are equal."""

    parts: RotaryParts
    pairing: Pairing | None
    interleaved: bool
    is_swapped: bool

    def build(self, x: Value, first: Value, second: Value) -> Value:
        """Returns the result of the embedding."""
        assert isinstance(x.type, TensorType)
        is_ordered = self.parts.heads == 1
        ordered = x if is_ordered else core.transpose(x, (0, 2, 1, 3))
        cos, sin = [self._angles(v, x) for v in ((second, first) if self.is_swapped else (first, second))]
        y = core.rotary_embedding(ordered, cos, sin, self.interleaved)
        return y if is_ordered else core.transpose(y, (0, 2, 1, 3))

    def _angles(self, value: Value, x: Value) -> Value:
        """Returns the angles of pairs, for each batch."""
        assert isinstance(x.type, TensorType)
        assert isinstance(value.type, TensorType)
        own = (1,) * (_RANK - len(value.type.shape or ())) + (value.type.shape or ())
        dims = [n for a, n in enumerate(own) if a != self.parts.heads and n is not None]
        value = behind_reshaping(value, tuple(dims))
        if self.pairing is not None:
            value = self.pairing.half(value)
        batches = ranked_shape(x)[0]
        assert batches is not None
        pairs = dims[-1] if self.pairing is None else self.parts.shape[-1] // 2
        shape = (dims[0], dims[1], pairs)
        value = of_shape(value, shape)
        return value if dims[0] == batches else core.broadcast_to(value, (batches, *shape[1:]))


def propose_rotary_embedding(parts: RotaryParts, subgraph: Subgraph) -> Iterator[Proposal]:
    """Yields the rotary embeddings that may compute the same, for each pairing of elements."""
    sizes = SampleSizes()
    x = sizes.of(parts.x)
    angles = [sizes.of(v) for v in parts.angles]
    if x is None or None in angles or math.prod(x) > MOST_ELEMENTS:
        return
    kinds = [pairings_of(v) for v in parts.angles]
    common = [p for p in kinds[0] if p in kinds[1]]
    for pairing in (*common, None):
        contents: list[Data] = [random_numbers(_type(parts.x), x, 1)]
        for n, v in enumerate(parts.angles):
            *lead, size = angles[n] or (0,)
            data = random_numbers(_type(v), (*lead, size if pairing is None else size // 2), 2 + n)
            contents.append(data if pairing is None else pairing.doubled(data))
        samples: tuple[Samples, ...] = (tuple(contents),)
        pairs = parts.shape[-1] if pairing is None else parts.shape[-1] // 2
        if pairs * 2 > x[-1]:
            continue
        for interleaved in (False, True):
            for is_swapped in (False, True):
                build = _Building(parts, pairing, interleaved, is_swapped).build
                inputs = (subgraph.x, *subgraph.others)
                yield Proposal(inputs, build, samples, False, _MOST_WRITTEN, sizes, pairing)


def _type(value: Value) -> TensorType:
    assert isinstance(value.type, TensorType)
    return value.type
