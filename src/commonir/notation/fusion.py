"""Fusion: replaces reads of the result of a producer by its kernel.

It works on expressions; the caller decides whether fusion is profitable. Producers read their operands by name, so all
tensors must have different names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from commonir.notation.expressions import Access, Expr, Fold, Join, Kernel, Tensor, Update, name_of
from commonir.notation.ranges import piece_extents, ranges, resolve, shape_of
from commonir.notation.traversal import Visit, free, mapped, put, replace_accesses, rewrite, walk, with_children
from commonir.symbolic import Dim, index, names, plain, substitute_indices, within
from commonir.symbolic.constraints import Constraint, require
from commonir.symbolic.errors import NotationError


def is_fusible(access: Access, producer: Kernel) -> bool:
    """Returns whether a read of a producer's result can be replaced by its body.

    It cannot when the position comes from data, when it goes through a view that may read a fill value, when it is
    not an index where the producer joins pieces, or when the producer updates elements.
    """
    if isinstance(producer.body, Update) or any(isinstance(p, Expr) for p in access.at):
        return False
    at, guards = resolve(access.tensor, [p for p in access.at if not isinstance(p, Expr)])
    joined = {e.along for e in walk(producer.body) if isinstance(e, Join)}
    return not guards and all(
        plain(p) is not None
        for a, p in zip(producer.axes, at, strict=True)
        if not isinstance(a, int) and name_of(a) in joined
    )


def fuse(
    consumer: Kernel,
    producers: Mapping[str, Kernel],
    known: Mapping[str, Dim] | None = None,
    *,
    are_checked: bool = False,
) -> Kernel:
    """Returns the consumer with every read of a producer's result replaced by the expression that defines it.

    `producers` are kernels by the name under which the consumer (or another producer) reads their result; `known` are
    extents of the consumer that are known from elsewhere; a producer has its own (`where`). The result has an explicit
    extent for every index, because the reads that determined them may be gone, and the constraints of all kernels.
    Indices of producers are renamed to be distinct. Kernels that `are_checked` have explicit extents for all indices,
    and their constraints are known: proving again that reads stay inside takes minutes where positions are long.
    Raises: NotationError when a read cannot be replaced (see `is_fusible`), or producers read each other in a cycle.
    """
    extents, constraints = (dict(consumer.extents), ()) if are_checked else ranges(consumer, known)
    fusion = _Fusion(producers, extents, are_checked=are_checked)
    body = fusion.expanded(with_extents(consumer.body, extents), ())
    mentioned = {*free(body), *(n for a in consumer.axes for n in names(a)), *_bound(body)}
    declared = tuple((n, v) for n, v in fusion.extents.items() if n in mentioned)
    return Kernel(consumer.axes, body, declared, tuple(dict.fromkeys((*constraints, *fusion.constraints))))


def _bound(e: Expr) -> Iterator[str]:
    for x in walk(e):
        if isinstance(x, Fold | Update):
            yield from x.over
        elif isinstance(x, Join):
            yield x.along


def with_extents(e: Expr, extents: Mapping[str, Dim]) -> Expr:
    """Returns the expression with explicit extents in every join."""

    def joined(x: Expr, visit: Visit) -> Expr:
        return with_children(Join(x.along, x.pieces, piece_extents(x, extents)) if isinstance(x, Join) else x, visit)

    return mapped(e, joined)


class _Fusion:
    """Inlines producers, with separate names of bound indices for each."""

    def __init__(self, producers: Mapping[str, Kernel], extents: Mapping[str, Dim], *, are_checked: bool) -> None:
        self.producers = producers
        self.are_checked = are_checked
        self.extents = dict(extents)
        self.constraints: list[Constraint] = []
        self.ready: dict[str, Kernel] = {}
        self.shapes: dict[str, tuple[Dim, ...]] = {}

    def expanded(self, e: Expr, path: tuple[str, ...]) -> Expr:
        """Returns the expression without reads of producers."""
        return replace_accesses(e, lambda a: self.replaced(a, path))

    def replaced(self, a: Access, path: tuple[str, ...]) -> Expr:
        name = a.tensor.name
        producer = self.producers.get(name)
        if producer is None:
            return a
        if name in path:
            raise NotationError(f"{name} is defined by itself: {' <- '.join((*path, name))}")
        if not is_fusible(a, producer):
            raise NotationError(f"{name} is read through a fill value or from data: not fused")
        k = self.renamed(name, producer, path)
        self.shapes_agree(a.tensor, producer)
        at, _ = resolve(a.tensor, [p for p in a.at if not isinstance(p, Expr)])
        values = {
            name_of(i): within(p, self.extents) for i, p in zip(k.axes, at, strict=True) if not isinstance(i, int)
        }
        return put(k.body, values)

    def renamed(self, name: str, producer: Kernel, path: tuple[str, ...]) -> Kernel:
        """Returns the producer with fresh index names and its own reads replaced; cached by name."""
        result = self.ready.get(name)
        if result is None:
            extents, constraints = (dict(producer.extents), ()) if self.are_checked else ranges(producer)
            self.constraints += constraints
            self.shapes[name] = shape_of(producer, extents)
            fresh: dict[str, str] = {}
            for n, extent in extents.items():
                fresh[n] = self.unused(f"{name}_{n}")
                self.extents[fresh[n]] = extent
            moved = {n: index(m) for n, m in fresh.items()}
            body = rewrite(
                with_extents(producer.body, extents),
                lambda p: substitute_indices(p, moved),
                lambda over: tuple(fresh[n] for n in over),
            )
            axes = tuple(a if isinstance(a, int) else substitute_indices(a, moved) for a in producer.axes)
            result = self.ready[name] = Kernel(axes, self.expanded(body, (*path, name)))
        return result

    def shapes_agree(self, tensor: Tensor, producer: Kernel) -> None:
        """Checks that the tensor read has the shape of its producer."""
        built = self.shapes[tensor.name]
        if len(built) != tensor.source.rank or tensor.dtype is not producer.dtype:
            raise NotationError(
                f"{tensor.name} is read with rank {tensor.source.rank} and element type {tensor.dtype}, "
                f"but made with rank {len(built)} and element type {producer.dtype}"
            )
        for axis, (n, m) in enumerate(zip(tensor.source.shape, built, strict=True)):
            if n != m:
                self.constraints += require(n, "==", m, f"axis {axis} of {tensor.name}, read and made")

    def unused(self, name: str) -> str:
        """Returns a name for an index, made unique."""
        while name in self.extents:
            name += "_"
        return name
