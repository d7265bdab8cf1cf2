"""Plans kernels as array programs. It recognizes forms of expressions, never names of operations.

An index under floor and mod by constants is first split into mixed-radix digits, which makes most positions affine.
The recognized forms are affine reads (one strided view), sums of products (a matrix product, over windows one of a
copied view), folds over small windows (shifted elementwise steps), sums up to an index (a scan), and positions from
data that separate by axis (take). Other forms raise `NotPlanned`, and the caller evaluates the kernel directly.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.arrays import dtype_of
from commonir.base.tuples import NamedTuple
from commonir.ir.types import ElementType, bf16, f16
from commonir.notation import (
    Access,
    Apply,
    Cast,
    Const,
    Dilated,
    Expr,
    Flat,
    Fold,
    Join,
    Kernel,
    Padded,
    Position,
    Tensor,
    free,
    identity,
    index,
    name_of,
    piece_extents,
    put,
    resolve,
    rewrite,
    walk,
)
from commonir.notation.digits import digits_of, with_digits
from commonir.runtime.interpreter.evaluation import rounds_to_half
from commonir.runtime.limits import check_array
from commonir.runtime.planner.array_graph import (
    Checked,
    Concat,
    Graph,
    Lookup,
    Node,
    PlacedNode,
    Product,
    Reduce,
    Scan,
    is_constant,
    plain_strides,
)
from commonir.runtime.planner.elementary import erf_of
from commonir.runtime.values import compute_dtype
from commonir.symbolic import (
    Dim,
    DimExpr,
    Floor,
    Max,
    Mod,
    Symbol,
    coefficient,
    names,
    plain,
    substitute,
    terms_of,
)

Array = NDArray[Any]

UNROLLED_POINTS = 256
"""A fold over a window of at most this many elements is unrolled into one elementwise step per element."""


class NotPlanned(Exception):
    """The kernel has a form that is not recognized."""


class Slot(NamedTuple):
    """A node and the index of each of its axes, in the order of the plan."""

    node: Node
    axes: tuple[str, ...]


class _Window(NamedTuple):
    """A position `start + stride * outer + step * inner` in windows along an axis."""

    outer: str
    inner: str
    start: int
    stride: int
    step: int


class _Rows(NamedTuple):
    """A slot whose row and column indices are merged into one, and the distance of rows in elements."""

    source: Slot
    joined: str
    axes: tuple[str, str]
    pitch: int


def plan_kernel(graph: Graph, kernel: Kernel, extents: Mapping[str, int], operands: Mapping[str, Node]) -> Node:
    """Returns the result of a kernel as a node.

    Raises: NotPlanned.
    """
    shape = tuple([1 if isinstance(a, int) else extents[name_of(a)] for a in kernel.axes])
    if 0 in shape:
        return graph.constant(np.empty(shape, compute_dtype(kernel.dtype)))
    if any(extents[i] == 0 for e in walk(kernel.body) if isinstance(e, Fold) for i in e.over):
        raise NotPlanned("a fold over nothing")
    if isinstance(kernel.body, Join):
        return _plan_join(graph, kernel, kernel.body, extents, operands)
    if any(isinstance(e, Join) for e in walk(kernel.body)):
        raise NotPlanned("a join inside an expression")
    return _Planner(graph, kernel, extents, operands).result(shape)


def _plan_join(
    graph: Graph, kernel: Kernel, body: Join, extents: Mapping[str, int], operands: Mapping[str, Node]
) -> Node:
    """Returns a concatenation of the pieces, each planned for its own range of the index."""
    axis = next((n for n, a in enumerate(kernel.axes) if not isinstance(a, int) and name_of(a) == body.along), None)
    if axis is None:
        raise NotPlanned("a join along an index that is not an axis")
    others = {i: n for i, n in extents.items() if i != body.along}
    parts: list[Node] = []
    for piece, extent in zip(body.pieces, piece_extents(body, others), strict=True):
        assert isinstance(extent, int)
        if extent:
            parts.append(plan_kernel(graph, Kernel(kernel.axes, piece), {**extents, body.along: extent}, operands))
    return parts[0] if len(parts) == 1 else graph.add(Concat(tuple(parts), axis))


class _Planner:
    """Plans one kernel."""

    def __init__(self, graph: Graph, kernel: Kernel, extents: Mapping[str, int], operands: Mapping[str, Node]) -> None:
        self.graph = graph
        self.operands = operands
        self.extents = dict(extents)
        body, self.digits = split_digits(kernel.body, self.extents)
        ones = {i for i, n in self.extents.items() if n == 1}
        zeros: dict[str, Dim] = dict.fromkeys(ones, 0)
        self.body = _without(body, ones, zeros)
        axes = [name_of(a) for a in kernel.axes if not isinstance(a, int)]
        self.axes = tuple([d for i in axes for d in self.digits.get(i, [i]) if d not in ones])
        folded = [i for e in walk(self.body) if isinstance(e, Fold) for i in e.over]
        free_indices = [i for e in walk(self.body) for i in free(e)]
        self.order = {i: n for n, i in enumerate(dict.fromkeys([*self.axes, *folded, *free_indices]))}
        self.planned: dict[Expr, Slot] = {}
        self.tensors: dict[Tensor, Node] = {}

    def result(self, shape: Sequence[int]) -> Node:
        """Returns the node of the whole kernel."""
        slot = self.slot(self.body)
        node = self.graph.broadcast(self.aligned(slot, self.axes), self.shape_of(self.axes))
        return self.graph.reshaped(node, shape)

    # -- indices and axes

    def shape_of(self, axes: Sequence[str]) -> tuple[int, ...]:
        """Returns the extents of indices."""
        return tuple([self.extents[i] for i in axes])

    def sorted(self, axes: Sequence[str]) -> tuple[str, ...]:
        """Returns indices without duplicates, in the order of the plan."""
        return tuple(sorted(dict.fromkeys(axes), key=self.order.__getitem__))

    def aligned(self, slot: Slot, axes: Sequence[str]) -> Node:
        """Returns the node with an axis for each of the indices, of size 1 where it does not depend on it."""
        if slot.axes == tuple(axes):
            return slot.node
        return self.graph.reshaped(slot.node, [self.extents[i] if i in slot.axes else 1 for i in axes])

    # -- expressions

    def slot(self, e: Expr) -> Slot:
        """Returns the node of an expression; each expression is planned once."""
        result = self.planned.get(e)
        if result is None:
            result = self.planned[e] = self._planned(e)
        return result

    def _planned(self, e: Expr) -> Slot:
        match e:
            case Const(value=v):
                return Slot(self.graph.constant(np.asarray(v, compute_dtype(e.dtype))), ())
            case Position(at=at):
                axes = self.sorted(names(at))
                grid = self.grid(at, axes)
                return Slot(self.graph.constant(grid.astype(compute_dtype(e.dtype))), axes)
            case Access():
                return self.access(e)
            case Apply():
                return self.apply(e)
            case Cast(body=body):
                return self.cast(body, e.dtype)
            case Fold():
                return self.fold(e)
            case _:
                raise NotPlanned(type(e).__name__)

    def cast(self, body: Expr, to: ElementType) -> Slot:
        """Returns a conversion. Between half and single precision there is none, as both are computed in single."""
        slot = self.slot(body)
        node = slot.node
        expected = compute_dtype(to)
        if rounds_to_half(body, to):
            single = to is f16 and node.dtype == expected
            node = self.graph.map(
                "round to half" if single else "cast", [node], expected if single else dtype_of(to.name)
            )
        elif to.is_integer and body.dtype in (f16, bf16):
            node = self.graph.map("cast", [node], dtype_of(body.dtype.name))
        if node.dtype != expected:
            node = self.graph.map("cast", [node], expected)
        return Slot(node, slot.axes)

    def apply(self, e: Apply) -> Slot:
        """Returns a scalar function, over the axes of its operands."""
        args = [self.slot(a) for a in e.args]
        axes = self.sorted([i for a in args for i in a.axes])
        nodes = [self.aligned(a, axes) for a in args]
        if e.fn == "erf":
            return Slot(erf_of(self.graph, nodes[0]), axes)
        return Slot(self.graph.map(e.fn, nodes, compute_dtype(e.dtype), self.shape_of(axes)), axes)

    def grid(self, p: Dim, axes: tuple[str, ...]) -> Array:
        """Returns the values of an index expression over indices."""
        if isinstance(p, int):
            return np.asarray(p, np.int64)
        # numpy's ranges are empty from the largest number on.
        check_array(self.shape_of(axes), np.dtype(np.int64).itemsize)
        return np.broadcast_to(np.asarray(self._grid(p, axes)), self.shape_of(axes)).copy()

    def _grid(self, p: Dim, axes: tuple[str, ...]) -> Array | int:
        out: Array | int = 0
        for m, c in terms_of(p).items():
            term: Array | int = c
            for a in m:
                match a:
                    case Symbol():
                        shape = [-1 if i == a.name else 1 for i in axes]
                        factor: Array | int = np.arange(self.extents[a.name]).reshape(shape)
                    case Floor():
                        factor = self._grid(a.num, axes) // self._grid(a.den, axes)
                    case Mod():
                        factor = self._grid(a.num, axes) % self._grid(a.den, axes)
                    case Max():
                        parts = [self._grid(y, axes) for y in a.args]
                        factor = parts[0]
                        for y in parts[1:]:
                            factor = np.maximum(factor, y)
                term = term * factor
            out = out + term
        return out

    # -- reading operands

    def access(self, e: Access) -> Slot:
        """Returns a read: one view where positions are affine, else a lookup."""
        result = self.reshaped(e)
        if result is None:
            result = self.affine(self.tensor(e.tensor), e.at)
        return result if result is not None else self.lookup(self.tensor(e.tensor), e.at, e.tensor.name)

    def reshaped(self, e: Access) -> Slot | None:
        """Returns a read of all elements in row-major order as a reshape, which copies only if strides require it; None
        for other reads.
        """
        p = e.at[0] if e.at else 0
        if not e.tensor.steps or not isinstance(e.tensor.steps[-1][0], Flat) or isinstance(p, Expr):
            return None
        factors = {i: coefficient(p, i) for i in names(p)}
        positive = {i: c for i, c in factors.items() if c is not None and c > 0}
        axes = sorted(positive, key=lambda i: -positive[i])
        shape = self.shape_of(axes)
        in_order = tuple([positive[i] for i in axes]) == plain_strides(shape)
        if len(positive) != len(factors) or prod(shape) != _number(e.tensor.shape[0]) or not in_order:
            return None
        if substitute(p, dict.fromkeys(axes, 0)) != 0:
            return None
        before = Tensor(e.tensor.name, e.tensor.steps[-1][1], e.tensor.dtype, e.tensor.steps[:-1])
        node = self.graph.reshaped(self.tensor(before), shape)
        order = self.sorted(axes)
        return Slot(self.graph.transposed(node, [axes.index(i) for i in order]), order)

    def affine(self, source: Node, at: Sequence[Dim | Expr]) -> Slot | None:
        """Returns one view, when every position is a sum of multiples of indices."""
        layout = self.graph.layout(source)
        offset, steps = layout.offset, dict[str, int]()
        for p, stride in zip(at, layout.strides, strict=True):
            if isinstance(p, Expr):
                return None
            constant = p
            for i in names(p):
                c = coefficient(p, i)
                if c is None:
                    return None
                steps[i] = steps.get(i, 0) + c * stride
                constant = constant - index(i) * c
            if not isinstance(constant, int):
                return None
            offset += constant * stride
        axes = self.sorted(tuple(steps))
        return Slot(self.graph.view(layout.base, offset, [steps[i] for i in axes], self.shape_of(axes)), axes)

    def tensor(self, tensor: Tensor) -> Node:
        """Returns the node of an operand with its views applied."""
        result = self.tensors.get(tensor)
        if result is None:
            result = self.tensors[tensor] = self._tensor(tensor)
        return result

    def _tensor(self, tensor: Tensor) -> Node:
        if not tensor.steps:
            return self.operands[tensor.name]
        view, before = tensor.steps[-1]
        source = self.tensor(Tensor(tensor.name, before, tensor.dtype, tensor.steps[:-1]))
        shape = tuple([_number(n) for n in tensor.shape])
        match view:
            case Flat():
                return self.graph.reshaped(source, shape)
            case Dilated(factors=factors):
                if 0 in source.shape:
                    raise NotPlanned("an empty operand")
                return self.graph.add(PlacedNode(source, shape, (0,) * len(shape), factors, 0))
            case Padded(before=b, after=a, mode="constant", fill=fill) if not isinstance(fill, complex):
                return self.padded(source, [_number(n) for n in b], [_number(n) for n in a], fill)
            case _:
                return self.repeated(source, view, before)

    def padded(self, source: Node, before: Sequence[int], after: Sequence[int], fill: float) -> Node:
        """Returns a tensor padded with a value; negative amounts crop."""
        layout = self.graph.layout(source)
        offset = layout.offset + sum(max(-b, 0) * s for b, s in zip(before, layout.strides, strict=True))
        shape_cut = [n + min(b, 0) + min(a, 0) for n, b, a in zip(layout.shape, before, after, strict=True)]
        if any(n <= 0 for n in shape_cut):
            raise NotPlanned("padding that leaves nothing")
        cut = self.graph.view(layout.base, offset, layout.strides, shape_cut)
        start = tuple([max(b, 0) for b in before])
        shape = tuple([n + max(b, 0) + max(a, 0) for n, b, a in zip(shape_cut, before, after, strict=True)])
        if shape == tuple(shape_cut):
            return cut
        return self.graph.add(PlacedNode(cut, shape, start, (1,) * len(shape), fill))

    def repeated(self, source: Node, view: Padded | Dilated, shape: Sequence[Dim]) -> Node:
        """Returns a tensor padded with its own elements, which are taken axis by axis."""
        if not isinstance(view, Padded) or 0 in source.shape:
            raise NotPlanned("padding of this kind")
        out = source
        for d, (b, a) in enumerate(zip(view.before, view.after, strict=True)):
            if b == 0 and a == 0:
                continue
            length = _number(shape[d]) + _number(b) + _number(a)
            line = Tensor("line", (shape[d],), f16).padded([b], [a], view.mode)
            (position,), _ = resolve(line, [index("i")])
            self.extents["i of padding"] = length
            positions = self.grid(substitute(position, {"i": index("i of padding")}), ("i of padding",))
            out = self.graph.take(out, self.graph.constant(positions), d)
        return out

    def lookup(self, source: Node, at: Sequence[Dim | Expr], name: str) -> Slot:
        """Returns elements at positions that are data or not affine."""
        used = [self.sorted(free(p) if isinstance(p, Expr) else names(p)) for p in at]
        plain_axes = [
            not isinstance(p, Expr) and plain(p) is not None and self.extents[u[0]] == n
            for p, u, n in zip(at, used, source.shape, strict=True)
        ]
        slots = [self.position(p, source.shape[d], f"axis {d} of '{name}'") for d, p in enumerate(at)]
        all_axes = [i for u in used for i in u]
        if len(set(all_axes)) == len(all_axes) and all(s.axes == u for s, u in zip(slots, used, strict=True)):
            out = source
            for d in reversed(range(len(at))):
                if not plain_axes[d]:
                    out = self.graph.take(out, slots[d].node, d)
            axes = self.sorted(all_axes)
            return Slot(self.graph.transposed(out, [all_axes.index(i) for i in axes]), axes)
        axes = self.sorted(all_axes)
        nodes = tuple([self.aligned(s, axes) for s in slots])
        return Slot(self.graph.add(Lookup(source, nodes, self.shape_of(axes))), axes)

    def position(self, p: Dim | Expr, bound: int, description: str) -> Slot:
        """Returns positions along an axis; those from data are checked at run time."""
        if not isinstance(p, Expr):
            axes = self.sorted(names(p))
            return Slot(self.graph.constant(self.grid(p, axes)), axes)
        slot = self.slot(p)
        node = slot.node
        if node.dtype != np.dtype(np.int64):
            node = self.graph.map("cast", [node], np.dtype(np.int64))
        return Slot(self.graph.add(Checked(node, bound, description)), slot.axes)

    # -- folds

    def fold(self, e: Fold) -> Slot:
        """Returns a scan, a contraction, shifted passes or a reduction."""
        scanned = self.scan(e)
        if scanned is not None:
            return scanned
        over = tuple([i for i in e.over if self.extents[i] != 1])
        if not over:
            return self.slot(e.body)
        factors = _factors(e.body) if e.fn == "add" else [e.body]
        dependent = [x for x in factors if set(free(x)) & set(over)]
        if self.is_windowed(e, over) and len(dependent) != 2:
            return self.separated(e, over) or self.unrolled(e, over)
        different = len(dependent) > 2 or (len(dependent) == 2 and set(free(dependent[0])) != set(free(dependent[1])))
        if different and e.body.dtype.kind != "bool":
            return self.contraction(factors, over)
        return self.reduction(e.fn, self.slot(e.body), over)

    def reduction(self, fn: str, slot: Slot, over: Sequence[str]) -> Slot:
        """Returns a fold along axes of an array."""
        inside = tuple([n for n, i in enumerate(slot.axes) if i in over])
        axes = tuple([i for i in slot.axes if i not in over])
        node = self.graph.add(Reduce(fn, slot.node, inside)) if inside else slot.node
        times = prod(self.shape_of([i for i in over if i not in slot.axes]))
        if times != 1 and fn in ("add", "multiply"):
            factor = self.graph.constant(np.asarray(times, node.dtype))
            node = self.graph.map("multiply" if fn == "add" else "power", [node, factor], node.dtype)
        return Slot(node, axes)

    def is_windowed(self, e: Fold, over: Sequence[str]) -> bool:
        """Returns whether a folded index of a small range shares a position with another index."""
        if prod(self.shape_of(over)) > UNROLLED_POINTS:
            return False
        positions = [p for a in walk(e.body) if isinstance(a, Access) for p in a.at if not isinstance(p, Expr)]
        return any(len(names(p)) > 1 and set(names(p)) & set(over) for p in positions)

    def unrolled(self, e: Fold, over: tuple[str, ...]) -> Slot:
        """Returns the body at each point of the window, combined one after another."""
        out: Expr | None = None
        for point in itertools.product(*(range(self.extents[i]) for i in over)):
            piece = put(e.body, dict(zip(over, point, strict=True)))
            out = piece if out is None else Apply(e.fn, (out, piece))
        assert out is not None
        return self.slot(out)

    def separated(self, e: Fold, over: tuple[str, ...]) -> Slot | None:
        """Returns a fold over windows of several axes as folds along one axis after another.

        None if that takes more steps for each element, or the positions are not those of windows.
        """
        if not isinstance(e.body, Access) or len(over) < 2:
            return None
        windows = [_window(p, over) for p in e.body.at]
        if sorted([w.inner for w in windows if w is not None]) != sorted(over):
            return None
        outer = [w.outer for w in windows if w is not None]
        rest = [p for p, w in zip(e.body.at, windows, strict=True) if w is None]
        if len(set(outer)) != len(outer) or any(isinstance(p, Expr) or set(names(p)) & {*outer, *over} for p in rest):
            return None
        source = self.tensor(e.body.tensor)
        folded, steps, at = source, 0, list(e.body.at)
        for axis, window in enumerate(windows):
            if window is None:
                continue
            pieces = [self._strip(folded, axis, window, n) for n in range(self.extents[window.inner])]
            folded = pieces[0]
            for piece in pieces[1:]:
                folded = self.graph.map(e.fn, [folded, piece], source.dtype)
                steps += folded.size
            at[axis] = index(window.outer)
        points = prod(self.shape_of(over))
        result = self.affine(folded, at)
        return result if result is not None and steps < (points - 1) * result.node.size else None

    def _strip(self, source: Node, axis: int, window: _Window, n: int) -> Node:
        """Returns the elements of a source that are number `n` in the windows along an axis."""
        layout = self.graph.layout(source)
        start = window.start + window.step * n
        shape = [*layout.shape[:axis], self.extents[window.outer], *layout.shape[axis + 1 :]]
        strides = [s * window.stride if d == axis else s for d, s in enumerate(layout.strides)]
        return self.graph.view(layout.base, layout.offset + start * layout.strides[axis], strides, shape)

    def scan(self, e: Fold) -> Slot | None:
        """Returns a sum of the elements on one side of an index: a scan along it."""
        match e:
            case Fold(
                over=(j,),
                body=Apply(
                    fn="select", args=(Apply(fn=relation, args=(Position(at=p), Position(at=q))), x, Const(value=v))
                ),
            ):
                pass
            case _:
                return None
        first, second = plain(p), plain(q)
        bound = second if first == j else first
        sides = ("less", "less_equal")
        if relation not in sides or bound is None or j not in (first, second) or bound in free(x) or first == second:
            return None
        if self.extents.get(bound) != self.extents[j] or v != identity(e.fn, e.dtype):
            return None
        slot = self.slot(put(x, {j: index(bound)}))
        node = Scan(e.fn, slot.node, slot.axes.index(bound), first == bound, relation == "less")
        return Slot(self.graph.add(node), slot.axes)

    # -- contractions

    def contraction(self, factors: Sequence[Expr], over: Sequence[str]) -> Slot:
        """Returns a sum of a product of several factors, contracted from the left."""
        left = self.slot(factors[0])
        for n, f in enumerate(factors[1:], 1):
            right = self.slot(f)
            later = {i for g in factors[n + 1 :] for i in free(g)}
            remaining = self.sorted([i for i in (*left.axes, *right.axes) if i not in over or i in later])
            left = self.product(left, right, remaining)
        missing = prod(self.shape_of([i for i in over if not any(i in free(f) for f in factors)]))
        if missing != 1:
            factor = self.graph.constant(np.asarray(missing, left.node.dtype))
            left = Slot(self.graph.map("multiply", [left.node, factor], left.node.dtype), left.axes)
        return left

    def product(self, a: Slot, b: Slot, remaining: tuple[str, ...]) -> Slot:
        """Returns one product of stacks of matrices, with the indices `remaining` as axes."""
        summed = tuple([i for i in a.axes if i in b.axes and i not in remaining])
        a, b = self.summed_out(a, remaining, b.axes), self.summed_out(b, remaining, a.axes)
        batch = [i for i in remaining if i in a.axes and i in b.axes]
        m = [i for i in remaining if i in a.axes and i not in b.axes]
        n = [i for i in remaining if i in b.axes and i not in a.axes]
        # For a vector times matrices, leading axes become batch axes where that keeps the result in order.
        while not (m and n) and batch and (m or n) and self.order[(m or n)[0]] < self.order[batch[-1]]:
            batch.append((m or n)[0])
            m, n = m[1:], n[1:]
        # Leading axes that would transpose the result become batch axes.
        while m and n and [i for i in remaining if i in m or i in n] not in ([*m, *n], [*n, *m]):
            first = m[0] if self.order[m[0]] < self.order[n[0]] else n[0]
            batch.append(first)
            m, n = ([i for i in g if i != first] for g in (m, n))
        if (m and n and self.order[n[0]] < self.order[m[0]]) or (m and not n):
            a, b, m, n = b, a, n, m
        batch = list(self.sorted(batch))
        rows = None if m else self.running_rows(b, n)
        if rows is not None:
            b, n = rows.source, [*n[:-2], rows.joined]
        left = self.matrices(a, batch, m, summed, not n)
        right = self.matrices(b, batch, summed, n, not m)
        built = self.graph.add(Product(left, right))
        axes = (*batch, *m, *n)
        node = self.graph.reshaped(built, self.shape_of(axes))
        if rows is not None:
            axes = (*axes[:-1], *rows.axes)
            node = self.graph.view(
                built, 0, [*self.graph.layout(node).strides[:-1], rows.pitch, 1], self.shape_of(axes)
            )
        return Slot(self.graph.transposed(node, [axes.index(i) for i in remaining]), remaining)

    def running_rows(self, x: Slot, columns: Sequence[str]) -> _Rows | None:
        """Returns the rows of windows of one image merged into one row; None if the strides do not allow it.

        Copying is then faster, at the cost of unused results between the rows.
        """
        if len(columns) < 2:
            return None
        layout = self.graph.layout(x.node)
        i, j = columns[-2:]
        row, column = x.axes.index(i), x.axes.index(j)
        pitch, length = layout.strides[row], self.extents[j]
        if layout.strides[column] != 1 or not length < pitch <= 2 * length:
            return None
        name = f"{i} and {j}"
        self.extents[name] = (self.extents[i] - 1) * pitch + length
        self.order[name] = self.order[j]
        axes = tuple([name if a == j else a for a in x.axes if a != i])
        strides = [s for d, s in enumerate(layout.strides) if d != row]
        source = Slot(self.graph.view(layout.base, layout.offset, strides, self.shape_of(axes)), axes)
        return _Rows(source, name, (i, j), pitch)

    def summed_out(self, x: Slot, remaining: Sequence[str], others: Sequence[str]) -> Slot:
        """Returns the slot without axes that are summed and that the other factor does not have."""
        over = [i for i in x.axes if i not in remaining and i not in others]
        return self.reduction("add", x, over) if over else x

    def matrices(
        self, x: Slot, batch: Sequence[str], rows: Sequence[str], columns: Sequence[str], by_vector: bool
    ) -> Node:
        """Returns a stack of matrices that BLAS can read: a view where strides allow it, else a copy.

        A constant that is multiplied by a vector is read from memory in every run, which is faster where its longer
        axis is the contiguous one.
        """
        layout = [*(i for i in batch if i in x.axes), *rows, *columns]
        stack = [self.extents[i] if i in x.axes else 1 for i in batch]
        shape = (*stack, prod(self.shape_of(rows)), prod(self.shape_of(columns)))
        view = self.graph.transposed(x.node, [x.axes.index(i) for i in layout])
        node = self.graph.reshaped(view, shape)
        strides = self.graph.layout(node).strides
        if by_vector and is_constant(node) and not batch and shape[0] != shape[1] and strides[shape[0] < shape[1]] != 1:
            transposed = node if shape[0] < shape[1] else self.graph.transposed(node, (1, 0))
            result = self.graph.copy(transposed)
            return result if transposed is node else self.graph.transposed(result, (1, 0))
        return node if is_blas(shape, strides) else self.graph.copy(node)


def _window(p: Dim | Expr, over: Sequence[str]) -> _Window | None:
    """Returns the window of a position in which one index is folded and another one is not; None for others."""
    if isinstance(p, Expr) or len(names(p)) != 2:
        return None
    inner = [i for i in names(p) if i in over]
    outer = [i for i in names(p) if i not in over]
    if len(inner) != 1:
        return None
    stride, step = coefficient(p, outer[0]), coefficient(p, inner[0])
    start = substitute(p, dict.fromkeys(names(p), 0))
    if stride is None or step is None or not isinstance(start, int):
        return None
    return _Window(outer[0], inner[0], start, stride, step)


def is_blas(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Returns whether BLAS can read matrices of the last two axes in place: one axis is contiguous, and the stride of
    the other is at least its length.
    """
    rows, columns = shape[-2:]
    across, along = strides[-2:]
    row_major = (along == 1 or columns == 1) and (rows == 1 or across >= columns)
    column_major = (across == 1 or rows == 1) and (columns == 1 or along >= rows)
    return row_major or column_major


def split_digits(body: Expr, extents: dict[str, int]) -> tuple[Expr, dict[str, list[str]]]:
    """Replaces indices under floor and mod by constants by mixed-radix digits, where the constants divide one another.

    Adds the extents of the digits; returns the digits of each index that was split, leading digit first.
    """
    positions: list[Dim] = []

    def find(p: Dim) -> Dim:
        positions.append(p)
        return p

    rewrite(body, find)
    digits = digits_of(positions, extents)
    if not digits:
        return body, {}
    extents.update({name: _number(n) for of_index in digits.values() for name, n, _ in of_index})
    return with_digits(body, digits, extents), {i: [name for name, _, _ in d] for i, d in digits.items()}


def _without(body: Expr, ones: set[str], zeros: Mapping[str, Dim]) -> Expr:
    """Returns the expression without indices of extent 1; a fold over only such indices keeps one."""
    if not ones:
        return body

    def remaining(over: tuple[str, ...]) -> tuple[str, ...]:
        return tuple([i for i in over if i not in ones]) or over[:1]

    return rewrite(body, lambda p: substitute(p, zeros), remaining)


def _factors(e: Expr) -> list[Expr]:
    """Returns the factors of a product."""
    if isinstance(e, Apply) and e.fn == "multiply":
        return [f for a in e.args for f in _factors(a)]
    return [e]


def _number(n: Dim) -> int:
    if isinstance(n, DimExpr):
        raise NotPlanned(f"the size {n} is not known")
    return n
