"""Finds the operations between an input and a result: what one operation may replace.

The operations act element by element or reduce axes, so that they mean the same for other sizes of axes. Their
primitives, the core operations with kernels that they consist of, follow from references.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from heapq import heappop, heappush

from commonir.base.diagnostics import DiagnosticError
from commonir.base.tuples import NamedTuple
from commonir.dialects import core
from commonir.ir.data import Data
from commonir.ir.operation import Block, Operation, Value
from commonir.ir.types import TensorType, are_known
from commonir.notation import NotationError
from commonir.ods import Form, Op, known_data, traits
from commonir.passes.core_forms import core_form
from commonir.rewrite.attempts import discard
from commonir.rewrite.expand import expand

_MOST_OPERATIONS = 40
"""The most operations before a result that are looked at."""

_MOST_INPUTS = 8
"""The most values that are tried as the input of a result."""

BOUNDS = frozenset[type[Op]]({core.Maximum, core.Minimum})
ORDERS = frozenset[type[Op]]({core.Less, core.LessEqual, core.Greater, core.GreaterEqual})

Axes = tuple[int, ...]


class Primitives(NamedTuple):
    """The core operations with kernels that some operations consist of, and the axes that they reduce, from the
    start.
    """

    classes: frozenset[type[Op]]
    axes: frozenset[Axes]


def union_of(parts: Sequence[Primitives]) -> Primitives:
    """Returns the primitives of several operations."""
    none = frozenset[type[Op]](), frozenset[Axes]()
    return Primitives(none[0].union(*[p.classes for p in parts]), none[1].union(*[p.axes for p in parts]))


class Subgraph(NamedTuple):
    """Operations in order that compute `root` from `x`.

    `numbers` are constants of one element among their other operands, and `others` what else they use. `outside` is a
    result that something else uses too; None if there is none. `bounds` are numbers that values between are at least;
    None if these are bounded or compared otherwise. Samples need not reach a bound.
    """

    root: Op
    x: Value
    operations: tuple[Op, ...]
    numbers: tuple[float, ...]
    others: tuple[Value, ...]
    outside: Value | None
    primitives: Primitives
    bounds: tuple[float, ...] | None = ()

    @property
    def result(self) -> Value:
        """The value that it computes."""
        return self.root.results[0]


class SubgraphFinder:
    """Finds subgraphs. What follows from a definition is computed once.

    With `of_matrices`, operations may also reshape all axes but the last two.
    """

    def __init__(self, *, of_matrices: bool = False) -> None:
        self._of_matrices = of_matrices
        self._known: dict[object, Primitives | None] = {}
        self._of: dict[Op, Primitives | None] = {}

    def primitives(self, op: Op) -> Primitives | None:
        """Returns the primitives of an operation; None if it does more than act on elements and reduce axes."""
        if op not in self._of:
            self._of[op] = self._primitives(op)
        return self._of[op]

    @cached_property
    def of_matrices(self) -> SubgraphFinder:
        """A finder of subgraphs in which all axes but the last two may be reshaped."""
        return SubgraphFinder(of_matrices=True)

    def _primitives(self, op: Op) -> Primitives | None:
        if self._of_matrices and is_reshape_of_matrices(op):
            return Primitives(frozenset(), frozenset())
        if not op.has_trait(traits.Pure) or op.regions or not op.results:
            return None
        if isinstance(op, core.Reduce):
            rank = op.x.type.rank if isinstance(op.x.type, TensorType) else None
            return None if rank is None else Primitives(frozenset({type(op)}), frozenset({_axes(op.axes, rank)}))
        if op.form is not Form.COMPOSITE:
            is_free = op.has_trait(traits.Elementwise) or isinstance(op, core.Squeeze | core.Unsqueeze)
            return Primitives(frozenset({type(op)}), frozenset()) if is_free else None
        key = _key(op)
        if key not in self._known:
            self._known[key] = self._of_reference(op)
        return self._known[key]

    def _of_reference(self, op: Op) -> Primitives | None:
        arguments = Block([v.type for v in op.operands]).arguments
        # References read constants, such as axes.
        operands = [v if is_fixed(v) else a for v, a in zip(op.operands, arguments, strict=True)]
        try:
            body = expand(op, operands).operations
        except (DiagnosticError, NotationError):
            return None
        parts = [self._primitives(o) if isinstance(o, Op) else None for o in body if not _is_constant(o)]
        # A reference may have built users of them that it does not return.
        discard(body)
        known = [part for part in parts if part is not None]
        return union_of(known) if len(known) == len(parts) else None

    def ending_at(self, root: Op, may_have: Callable[[Primitives], bool]) -> Iterator[Subgraph]:
        """Yields the subgraphs that end with an operation, the shortest ones first, if operations before it have
        primitives that may have a form.
        """
        before = self._before(root)
        parts = [part for op in before if (part := self.primitives(op)) is not None]
        if len(before) < 2 or not may_have(union_of(parts)):
            return
        counts: dict[Value, int] = {}
        for op in before:
            for v in op.operands:
                counts[v] = counts.get(v, 0) + 1
        shared = [v for v, count in counts.items() if count > 1 and v is not root.results[0] and _is_float(v)]
        nearest = sorted(shared, key=lambda v: _position(v, root), reverse=True)[:_MOST_INPUTS]
        for each in nearest:
            source = self._cast_from(each) if known_data(each) is None else None
            for x in [v for v in (each, source) if v is not None and known_data(v) is None]:
                found = self._between(x, root, before)
                if found is not None:
                    yield found

    def _cast_from(self, value: Value) -> Value | None:
        """Returns the value of another element type that a cast takes to a value."""
        owner = value.owner
        part = self.primitives(owner) if isinstance(owner, Op) else None
        if part is None or part.classes != frozenset[type[Op]]({core.Cast}) or not isinstance(owner, Op):
            return None
        return owner.operands[0] if _is_float(owner.operands[0]) else None

    def _before(self, root: Op) -> list[Op]:
        """Returns an operation and those before it in its block that may belong to a subgraph, the last ones first."""
        out: list[Op] = []
        if self.primitives(root) is None:
            return out
        pending: list[tuple[int, Op]] = []
        seen = {root}
        heappush(pending, (0, root))
        while pending and len(out) < _MOST_OPERATIONS:
            _, op = heappop(pending)
            out.append(op)
            for v in op.operands:
                owner = v.owner
                if not isinstance(owner, Op) or owner in seen or owner.parent is not root.parent:
                    continue
                if owner.has_trait(traits.ConstantLike) or known_data(v) is not None:
                    continue
                seen.add(owner)
                if self.primitives(owner) is not None:
                    heappush(pending, (-owner.index_in_block, owner))
        return out

    def values_before(self, root: Op) -> list[Value]:
        """Returns the values that operations before one, and itself, take from operations of another kind."""
        before = self._before(root)
        inside = set(before)
        values = dict.fromkeys([v for op in before for v in op.operands])
        return [v for v in values if isinstance(v.owner, Op) and v.owner not in inside]

    def between(self, x: Value, root: Op) -> Subgraph | None:
        """Returns the subgraph from a value to a result."""
        return self._between(x, root, self._before(root), 1)

    def _between(self, x: Value, root: Op, before: Sequence[Op], least: int = 2) -> Subgraph | None:
        computed = {x}
        operations: list[Op] = []
        for op in reversed(before):
            if op is not x.owner and any(v in computed for v in op.operands):
                operations.append(op)
                computed.update(op.results)
        if root.results[0] not in computed or len(operations) < least:
            return None
        needed = {root}
        for op in reversed(operations):
            if op in needed:
                needed.update([v.owner for v in op.operands if isinstance(v.owner, Op) and v in computed])
        operations = [op for op in operations if op in needed and op is not x.owner]
        inside = set(operations)
        parts = [part for op in operations if (part := self.primitives(op)) is not None]
        results = {r for op in operations for r in op.results}
        free = dict.fromkeys([v for op in operations for v in op.operands if v is not x and v not in results])
        numbers = tuple([n for v in free if (n := number(v)) is not None])
        others = tuple([v for v in free if not is_fixed(v)])
        # A cast of x may stay for others.
        inner = [op for op in operations if op is not root and not any(self._cast_from(r) is x for r in op.results)]
        used = [r for op in inner for r in op.results]
        outside = next((r for r in used if any(u not in inside for u in r.users)), None)
        bounds = self._bounds(operations)
        return Subgraph(root, x, tuple(operations), numbers, others, outside, union_of(parts), bounds)

    def _bounds(self, operations: Sequence[Op]) -> tuple[float, ...] | None:
        """Returns the numbers that operations take the maximum with; None if some bound or compare otherwise."""
        out: list[float] = []
        for op in operations:
            part = self.primitives(op)
            if part is None or part.classes.isdisjoint(BOUNDS | ORDERS):
                continue
            form = core_form(op)
            if form is None or not isinstance(form.op, core.Maximum):
                return None
            found = [n for v in form.operands if isinstance(v, Value) and (n := number(v)) is not None]
            if len(found) != 1:
                return None
            out += found
        return tuple(out)


def is_reshape_of_matrices(op: Op) -> bool:
    """Returns whether an operation only reshapes the axes before the last two, all of known dims."""
    types = [v.type for v in (*op.operands[:1], *op.results)]
    shapes = [t.shape for t in types if isinstance(t, TensorType) and t.shape is not None and are_known(t.shape)]
    if len(shapes) != 2 or min(map(len, shapes)) < 3 or shapes[0][-2:] != shapes[1][-2:]:
        return False
    form = core_form(op)
    return form is not None and isinstance(form.op, core.Reshape | core.DynamicReshape)


def _key(op: Op) -> object:
    """Returns a key of what an operation consists of."""
    attributes = tuple([a if is_hashable(a) else id(a) for a in op.attribute_values])
    operands = tuple([(v.type, None if (d := fixed_data(v)) is None else d.contents()) for v in op.operands])
    return type(op), op.operand_offsets, attributes, operands


def is_hashable(attribute: object) -> bool:
    """Returns whether an attribute can be part of a key."""
    try:
        hash(attribute)
    except TypeError:
        return False
    return True


def _is_constant(op: Operation) -> bool:
    return isinstance(op, Op) and op.has_trait(traits.ConstantLike)


def _axes(axes: Axes, rank: int) -> Axes:
    return tuple(sorted([a % rank for a in axes])) if axes else tuple(range(rank))


def _is_float(value: Value) -> bool:
    return isinstance(value.type, TensorType) and value.type.element.is_float and value.type.shape is not None


def _position(value: Value, root: Op) -> int:
    owner = value.owner
    return owner.index_in_block if isinstance(owner, Operation) and owner.parent is root.parent else -1


def number(value: Value) -> float | None:
    """Returns the only element of a constant of floats."""
    data = known_data(value)
    if data is None or not data.element.is_float or data.count != 1:
        return None
    (only,) = data.values()
    return only if isinstance(only, float) else None


def fixed_data(value: Value) -> Data | None:
    """Returns the contents of a constant that belongs to the form: a number, or what is not of floats, such as axes."""
    data = known_data(value)
    return data if data is not None and (data.count == 1 or not data.element.is_float) else None


def is_fixed(value: Value) -> bool:
    """Returns whether a value is a constant that belongs to the form; weights do not."""
    return fixed_data(value) is not None
