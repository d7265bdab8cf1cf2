"""Array programs: a graph of whole-array operations, the form in which the numpy engine plans.

Nodes are positional (axes have no names), their shapes are numbers, and equal nodes are one object, so common
subexpressions of a whole program are computed once. A `View` selects elements of its base by strides and costs
nothing; every other node makes a contiguous array. Knows nothing of operations or index notation, and computes only
through `array_steps`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.runtime.interpreter.evaluation import OutOfRange

Array = NDArray[Any]
DType = np.dtype[Any]
Shape = tuple[int, ...]
Evaluate = Callable[["Node", Sequence[Array]], Array]


class Node:
    """An array that the program computes. `id` grows in order of creation, which is an order of evaluation."""

    __slots__ = ("dtype", "id", "inputs", "shape")

    def __init__(self, inputs: tuple[Node, ...], shape: Shape, dtype: DType) -> None:
        self.inputs = inputs
        self.shape = shape
        self.dtype = dtype
        self.id = -1

    @property
    def size(self) -> int:
        """Number of elements."""
        return prod(self.shape)

    @property
    def size_bytes(self) -> int:
        """Bytes of the elements."""
        return self.size * self.dtype.itemsize

    @property
    def parameters(self) -> tuple[Hashable, ...]:
        """A key that distinguishes it from other nodes of its class with the same inputs."""
        return ()

    def rebuilt(self, graph: Graph, inputs: tuple[Node, ...]) -> Node:
        """Returns the node rebuilt on other inputs of the same shapes."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{self.id} {type(self).__name__.lower()} {self.dtype.name}{list(self.shape)}>"


class Input(Node):
    """An array that is given when the program runs."""

    __slots__ = ("position",)

    def __init__(self, position: int, shape: Shape, dtype: DType) -> None:
        super().__init__((), shape, dtype)
        self.position = position

    @property
    def parameters(self) -> tuple[Hashable, ...]:
        return (self.position,)

    def rebuilt(self, graph: Graph, inputs: tuple[Node, ...]) -> Node:  # noqa: ARG002  it has none
        return graph.add(Input(self.position, self.shape, self.dtype))


class Constant(Node):
    """An array known while planning."""

    __slots__ = ("array", "content")

    def __init__(self, array: Array) -> None:
        super().__init__((), array.shape, array.dtype)
        self.array = array
        self.content: Hashable = (
            (array.tobytes(), array.shape, array.dtype) if array.size <= 16 and array.dtype.kind != "O" else id(array)
        )

    @property
    def parameters(self) -> tuple[Hashable, ...]:
        return (self.content,)

    def elements(self) -> Array:
        """Returns the array, for one use."""
        return self.array

    def rebuilt(self, graph: Graph, inputs: tuple[Node, ...]) -> Node:  # noqa: ARG002  it has none
        return self


class Folded(Constant):
    """A constant computed from others, which may be as large as weights are: it is computed when a plan takes it, and
    not kept where it only serves to compute another, so that weights in several forms are never in memory together.
    """

    __slots__ = ("_array", "_evaluate", "origin")

    def __init__(self, origin: Node, evaluate: Evaluate) -> None:
        Node.__init__(self, (), origin.shape, origin.dtype)
        self.content = id(self)
        self.origin = origin
        self._evaluate = evaluate
        self._array: Array | None = None

    @property
    def array(self) -> Array:
        """The elements, which are kept from now on."""
        if self._array is None:
            self._array = self.elements()
        return self._array

    def elements(self) -> Array:
        return (
            self._evaluate(self.origin, [elements_of(n) for n in self.origin.inputs])
            if self._array is None
            else self._array
        )


class View(Node):
    """Elements of a contiguous base: the one at `offset + sum(index * stride)`. Units: elements."""

    __slots__ = ("offset", "strides")

    def __init__(self, base: Node, offset: int, strides: Shape, shape: Shape) -> None:
        super().__init__((base,), shape, base.dtype)
        self.offset = offset
        self.strides = strides

    @property
    def parameters(self) -> tuple[Hashable, ...]:
        return self.offset, self.strides, self.shape

    def rebuilt(self, graph: Graph, inputs: tuple[Node, ...]) -> Node:
        return graph.view(inputs[0], self.offset, self.strides, self.shape)


class Map(Node):
    """A scalar function of each element; inputs are broadcast to the shape."""

    __slots__ = ("fn",)

    def __init__(self, fn: str, inputs: tuple[Node, ...], shape: Shape, dtype: DType) -> None:
        super().__init__(inputs, shape, dtype)
        self.fn = fn

    @property
    def parameters(self) -> tuple[Hashable, ...]:
        return self.fn, self.shape, self.dtype

    def rebuilt(self, graph: Graph, inputs: tuple[Node, ...]) -> Node:
        return graph.map(self.fn, inputs, self.dtype, self.shape)


class Copy(Node):
    """The elements of a view, contiguous."""

    __slots__ = ()

    def rebuilt(self, graph: Graph, inputs: tuple[Node, ...]) -> Node:
        return graph.copy(inputs[0])


class Reduce(Node):
    """Elements along axes combined; the axes are gone from the shape."""

    __slots__ = ("axes", "fn")

    def __init__(self, fn: str, source: Node, axes: tuple[int, ...]) -> None:
        super().__init__((source,), tuple([n for d, n in enumerate(source.shape) if d not in axes]), source.dtype)
        self.fn = fn
        self.axes = axes

    @property
    def parameters(self) -> tuple[Hashable, ...]:
        return self.fn, self.axes

    def rebuilt(self, graph: Graph, inputs: tuple[Node, ...]) -> Node:
        return graph.add(Reduce(self.fn, inputs[0], self.axes))


class InnerProduct(Node):
    """Sums of products of two arrays along their last axis."""

    __slots__ = ()

    def __init__(self, a: Node, b: Node) -> None:
        super().__init__((a, b), a.shape[:-1], a.dtype)

    def rebuilt(self, graph: Graph, inputs: tuple[Node, ...]) -> Node:
        return graph.add(InnerProduct(*inputs))


class Scan(Node):
    """Elements combined up to each position along an axis; `reverse` starts from the end, `exclusive` leaves out the
    element.
    """

    __slots__ = ("axis", "exclusive", "fn", "reverse")

    def __init__(self, fn: str, source: Node, axis: int, reverse: bool, exclusive: bool) -> None:
        super().__init__((source,), source.shape, source.dtype)
        self.fn = fn
        self.axis = axis
        self.reverse = reverse
        self.exclusive = exclusive

    @property
    def parameters(self) -> tuple[Hashable, ...]:
        return self.fn, self.axis, self.reverse, self.exclusive

    def rebuilt(self, graph: Graph, inputs: tuple[Node, ...]) -> Node:
        return graph.add(Scan(self.fn, inputs[0], self.axis, self.reverse, self.exclusive))


class Product(Node):
    """Products of matrices of the last two axes; leading axes are broadcast."""

    __slots__ = ()

    def __init__(self, a: Node, b: Node) -> None:
        batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        super().__init__((a, b), (*batch, a.shape[-2], b.shape[-1]), a.dtype)

    def rebuilt(self, graph: Graph, inputs: tuple[Node, ...]) -> Node:
        return graph.add(Product(*inputs))


class PlacedNode(Node):
    """An array of `fill` with the source at `start + step * index`."""

    __slots__ = ("fill", "start", "step")

    def __init__(self, source: Node, shape: Shape, start: Shape, step: Shape, fill: float) -> None:
        super().__init__((source,), shape, source.dtype)
        self.start = start
        self.step = step
        self.fill = fill

    @property
    def parameters(self) -> tuple[Hashable, ...]:
        return self.shape, self.start, self.step, repr(self.fill)

    def rebuilt(self, graph: Graph, inputs: tuple[Node, ...]) -> Node:
        return graph.add(PlacedNode(inputs[0], self.shape, self.start, self.step, self.fill))


class Concat(Node):
    """Arrays one after another along an axis."""

    __slots__ = ("axis",)

    def __init__(self, parts: tuple[Node, ...], axis: int) -> None:
        first = parts[0].shape
        super().__init__(parts, (*first[:axis], sum(p.shape[axis] for p in parts), *first[axis + 1 :]), parts[0].dtype)
        self.axis = axis

    @property
    def parameters(self) -> tuple[Hashable, ...]:
        return (self.axis,)

    def rebuilt(self, graph: Graph, inputs: tuple[Node, ...]) -> Node:
        return graph.add(Concat(inputs, self.axis))


class Take(Node):
    """The source with one axis replaced by those of an array of positions."""

    __slots__ = ("axis",)

    def __init__(self, source: Node, positions: Node, axis: int) -> None:
        shape = (*source.shape[:axis], *positions.shape, *source.shape[axis + 1 :])
        super().__init__((source, positions), shape, source.dtype)
        self.axis = axis

    @property
    def parameters(self) -> tuple[Hashable, ...]:
        return (self.axis,)

    def rebuilt(self, graph: Graph, inputs: tuple[Node, ...]) -> Node:
        source, positions = inputs
        return graph.add(Take(source, positions, self.axis))


class Lookup(Node):
    """Elements of the source at positions given for each axis; the arrays of positions are broadcast to the shape."""

    __slots__ = ()

    def __init__(self, source: Node, positions: tuple[Node, ...], shape: Shape) -> None:
        super().__init__((source, *positions), shape, source.dtype)

    @property
    def parameters(self) -> tuple[Hashable, ...]:
        return (self.shape,)

    def rebuilt(self, graph: Graph, inputs: tuple[Node, ...]) -> Node:
        return graph.add(Lookup(inputs[0], inputs[1:], self.shape))


class Checked(Node):
    """Positions that are refused when running unless each is in `[0, bound)`; `what` names them in the message."""

    __slots__ = ("bound", "what")

    def __init__(self, positions: Node, bound: int, what: str) -> None:
        super().__init__((positions,), positions.shape, positions.dtype)
        self.bound = bound
        self.what = what

    @property
    def parameters(self) -> tuple[Hashable, ...]:
        return self.bound, self.what

    def rebuilt(self, graph: Graph, inputs: tuple[Node, ...]) -> Node:
        return graph.add(Checked(inputs[0], self.bound, self.what))


class Opaque(Node):
    """The result of a function on whole arrays; `label` names it in explanations, `is_fallback` says that a plan should
    have been found, `is_drawn` that it is another one in each run.

    Of several results of one call the first is `primary`; the others are `Part`s of it.
    """

    __slots__ = ("is_drawn", "is_fallback", "key", "label", "run", "shapes")

    def __init__(
        self,
        label: str,
        key: Hashable,
        run: Callable[..., Sequence[Array]],
        inputs: tuple[Node, ...],
        shapes: tuple[tuple[Shape, DType], ...],
        *,
        is_fallback: bool = False,
        is_drawn: bool = False,
    ) -> None:
        shape, dtype = shapes[0]
        super().__init__(inputs, shape, dtype)
        self.label = label
        self.key = key
        self.run = run
        self.shapes = shapes
        self.is_fallback = is_fallback
        self.is_drawn = is_drawn

    @property
    def parameters(self) -> tuple[Hashable, ...]:
        return self.label, id(self) if self.is_drawn else self.key

    def rebuilt(self, graph: Graph, inputs: tuple[Node, ...]) -> Node:
        built = Opaque(
            self.label,
            self.key,
            self.run,
            inputs,
            self.shapes,
            is_fallback=self.is_fallback,
            is_drawn=self.is_drawn,
        )
        return graph.add(built)


class Part(Node):
    """A further result of an `Opaque` node, which computes it."""

    __slots__ = ("number",)

    def __init__(self, source: Node, number: int) -> None:
        if not isinstance(source, Opaque):
            raise TypeError("a part belongs to an opaque node")
        shape, dtype = source.shapes[number]
        super().__init__((source,), shape, dtype)
        self.number = number

    @property
    def parameters(self) -> tuple[Hashable, ...]:
        return (self.number,)

    def rebuilt(self, graph: Graph, inputs: tuple[Node, ...]) -> Node:
        return graph.add(Part(inputs[0], self.number))


class Graph:
    """Builds nodes without duplicates, and simplifies where that is always valid."""

    def __init__(self, evaluate: Evaluate) -> None:
        self._known: dict[Hashable, Node] = {}
        self._evaluate = evaluate
        self.folded = 0

    def add(self, node: Node) -> Node:
        """Returns the node, or an equal existing one; a node of constants is folded."""
        key = (type(node), tuple([n.id for n in node.inputs]), node.parameters)
        result = self._known.get(key)
        if result is None:
            result = self._folded(node) or node
            if result.id < 0:
                result.id = len(self._known)
            self._known[key] = result
        return result

    def _folded(self, node: Node) -> Node | None:
        """Returns the folded constant of a node of constants, unless it is far larger than them or only a view."""
        if isinstance(node, (View, Part)) or not node.inputs:
            return None
        if isinstance(node, Opaque) and (len(node.shapes) > 1 or node.is_drawn):
            return None
        if not all(is_constant(n) for n in node.inputs):
            return None
        if node.size_bytes > max(FOLDED_BYTES, 4 * sum(n.size_bytes for n in node.inputs)):
            return None
        self.folded += 1
        if node.size > EAGER_SIZE and not isinstance(node, Opaque):
            return Folded(node, self._evaluate)
        try:
            return self.constant(self._evaluate(node, [elements_of(n) for n in node.inputs]))
        except OutOfRange:  # raised when it runs
            return None

    def constant(self, array: Array | float, dtype: DType | None = None) -> Node:
        """Returns a constant; the array must not change afterwards."""
        built: Array = np.asarray(array, dtype, order="C")
        node = Constant(built)
        key = (Constant, (), node.parameters)
        result = self._known.get(key)
        if result is None:
            result = self._known[key] = node
            node.id = len(self._known) - 1
        return result

    def view(self, source: Node, offset: int, strides: Sequence[int], shape: Sequence[int]) -> Node:
        """Elements of a node by strides over its row-major order; the node itself when that is all of it.

        The strides of axes of size 1 do not matter and are normalized.
        """
        lay = self.layout(source)
        if lay.base is not source:
            if lay.strides != plain_strides(lay.shape):
                return self.view(self.add(Copy((source,), source.shape, source.dtype)), offset, strides, shape)
            return self.view(lay.base, lay.offset + offset, strides, shape)
        sizes = tuple(shape)
        steps = tuple([0 if n == 1 else s for n, s in zip(sizes, strides, strict=True)])
        if offset == 0 and sizes == source.shape and steps == plain_strides(sizes):
            return source
        return self.add(View(source, offset, steps, sizes))

    def layout(self, node: Node) -> StridedLayout:
        """Returns where the elements of a node lie."""
        if isinstance(node, View):
            return StridedLayout(node.inputs[0], node.offset, node.strides, node.shape)
        return StridedLayout(node, 0, plain_strides(node.shape), node.shape)

    def take(self, source: Node, positions: Node, axis: int) -> Node:
        """Returns the source with an axis replaced by positions; of a widened constant, what is taken is widened."""
        narrow = _narrow(source)
        if narrow is None or is_constant(positions) or not covers(source):
            return self.add(Take(source, positions, axis))
        return self.map("cast", [self.add(Take(self.reshaped(narrow, source.shape), positions, axis))], source.dtype)

    def copy(self, source: Node) -> Node:
        """Returns the elements of a node, contiguous: itself when it is. Widened constants are widened and copied in
        one go.
        """
        lay = self.layout(source)
        if lay.strides == plain_strides(lay.shape):
            return source
        narrow = _narrow(source)
        if narrow is not None:
            return self.map("cast", [self.view(narrow, lay.offset, lay.strides, lay.shape)], source.dtype)
        return self.add(Copy((source,), source.shape, source.dtype))

    def reshaped(self, source: Node, shape: Sequence[int]) -> Node:
        """Returns the elements in row-major order under another shape, copied only where strides do not allow it."""
        expected = tuple(shape)
        if source.shape == expected:
            return source
        lay = self.layout(source)
        strides = reshaped_strides(lay.shape, lay.strides, expected)
        if strides is None:
            built = self.copy(source)
            return self.view(built, 0, plain_strides(expected), expected)
        return self.view(lay.base, lay.offset, strides, expected)

    def transposed(self, source: Node, order: Sequence[int]) -> Node:
        """Returns the axes in another order."""
        lay = self.layout(source)
        return self.view(lay.base, lay.offset, [lay.strides[d] for d in order], [lay.shape[d] for d in order])

    def broadcast(self, source: Node, shape: Sequence[int]) -> Node:
        """Returns the node repeated along axes of size 1 and new leading axes."""
        lay = self.layout(source)
        spare = len(shape) - len(lay.shape)
        strides = [0] * spare + [0 if n == 1 else s for n, s in zip(lay.shape, lay.strides, strict=True)]
        return self.view(lay.base, lay.offset, strides, shape)

    def map(self, fn: str, inputs: Sequence[Node], dtype: DType, shape: Shape | None = None) -> Node:
        """Returns a scalar function of each element, over as few axes as the strides of the inputs allow."""
        whole = np.broadcast_shapes(*[n.shape for n in inputs]) if shape is None else shape
        lays = [self.layout(self.broadcast(n, whole)) for n in inputs]
        groups = merged_axes(whole, [lay.strides for lay in lays])
        small = tuple([prod(whole[d] for d in g) for g in groups])
        built = [self._over(lay, groups, small) for lay in lays]
        node = self.add(Map(fn, tuple(built), small, dtype))
        return self.view(node, 0, plain_strides(whole), whole) if small != whole else node

    def _over(self, lay: StridedLayout, groups: Sequence[Sequence[int]], shape: Shape) -> Node:
        """Returns an input of a map over merged axes: broadcast axes have size 1, and a single element is a scalar."""
        strides = [lay.strides[g[-1]] for g in groups]
        sizes = [1 if s == 0 else n for s, n in zip(strides, shape, strict=True)]
        if all(n == 1 for n in sizes):
            strides, sizes = [], []
        return self.view(lay.base, lay.offset, strides, sizes)


class StridedLayout:
    """Where the elements of a node lie within a contiguous base. Units: elements."""

    __slots__ = ("base", "offset", "shape", "strides")

    def __init__(self, base: Node, offset: int, strides: Shape, shape: Shape) -> None:
        self.base = base
        self.offset = offset
        self.strides = strides
        self.shape = shape


FOLDED_BYTES = 1 << 24
"""A constant of at most this size is computed while planning even if it is far larger than what it is computed from."""

EAGER_SIZE = 1 << 16
"""A constant of more elements is computed from others only when a plan takes it."""


def plain_strides(shape: Sequence[int]) -> Shape:
    """Strides of a contiguous array; 0 for axes of size 1."""
    out: list[int] = []
    step = 1
    for n in reversed(shape):
        out.append(0 if n == 1 else step)
        step *= n
    return tuple(reversed(out))


def merged_axes(shape: Sequence[int], strides: Sequence[Sequence[int]]) -> list[list[int]]:
    """Groups of neighbouring axes that are one axis for every array; axes of size 1 join any group."""
    groups: list[list[int]] = []
    last = -1
    for d, n in enumerate(shape):
        if n == 1:
            continue
        if last >= 0 and all(s[last] == s[d] * n for s in strides):
            groups[-1].append(d)
        else:
            groups.append([d])
        last = d
    return groups


def reshaped_strides(shape: Shape, strides: Shape, expected: Shape) -> Shape | None:
    """Strides under which the same elements have another shape; None when no strides do."""
    if 0 in shape:
        return plain_strides(expected)
    old = [(n, s) for n, s in zip(shape, strides, strict=True) if n != 1]
    runs: list[tuple[int, int]] = []
    for n, s in old:
        if runs and runs[-1][1] == s * n:
            runs[-1] = (runs[-1][0] * n, s)
        else:
            runs.append((n, s))
    out: list[int] = []
    for n in reversed(expected):
        if n == 1:
            out.append(0)
            continue
        while runs and runs[-1][0] == 1:
            runs.pop()
        if not runs or runs[-1][0] % n:
            return None
        size, step = runs.pop()
        out.append(step)
        runs.append((size // n, step * n))
    return tuple(reversed(out))


def covers(node: Node) -> bool:
    """Returns whether a node is all of its base in row-major order, perhaps under another shape."""
    if not isinstance(node, View):
        return True
    return node.offset == 0 and node.size == node.inputs[0].size and node.strides == plain_strides(node.shape)


def is_constant(node: Node) -> bool:
    """Returns whether a node is a constant or a view of one."""
    return isinstance(node.inputs[0] if isinstance(node, View) else node, Constant)


def _narrow(node: Node) -> Node | None:
    """Returns the constant of a narrower dtype that a constant, or a view of one, is the widened form of."""
    base = node.inputs[0] if isinstance(node, View) else node
    origin = base.origin if isinstance(base, Folded) else base
    if not isinstance(origin, Map) or origin.fn != "cast" or not covers(origin.inputs[0]):
        return None
    (narrow,) = origin.inputs
    return narrow if narrow.dtype.itemsize < node.dtype.itemsize and narrow.size == base.size else None


def elements_of(node: Node) -> Array:
    """Returns the array of a constant or of a view of one, for one use."""
    if isinstance(node, View):
        return strided(elements_of(node.inputs[0]), node.offset, node.strides, node.shape)
    if not isinstance(node, Constant):
        raise TypeError(f"{node} is not a constant")
    return node.elements()


def strided(base: Array, offset: int, strides: Shape, shape: Shape) -> Array:
    """Returns a view of a contiguous array by strides. Units: elements."""
    if 0 in shape:
        return np.empty(shape, base.dtype)
    low = offset + sum(min(s * (n - 1), 0) for s, n in zip(strides, shape, strict=True))
    high = offset + sum(max(s * (n - 1), 0) for s, n in zip(strides, shape, strict=True))
    if low < 0 or high >= base.size:
        raise IndexError(f"a view of elements {low} to {high} leaves an array of {base.size}")
    steps = [s * base.itemsize for s in strides]
    return np.lib.stride_tricks.as_strided(base.reshape(-1)[offset:], shape, steps)


def reachable(outputs: Iterable[Node]) -> list[Node]:
    """Returns every node that the outputs depend on, in order of evaluation."""
    seen: dict[int, Node] = {}
    pending = list(outputs)
    while pending:
        node = pending.pop()
        if node.id not in seen:
            seen[node.id] = node
            pending.extend(node.inputs)
    return [seen[n] for n in sorted(seen)]


def use_counts(nodes: Iterable[Node], outputs: Iterable[Node]) -> dict[int, int]:
    """Returns how many nodes and outputs use each node."""
    counts: dict[int, int] = {}
    for n in [i for node in nodes for i in node.inputs] + list(outputs):
        counts[n.id] = counts.get(n.id, 0) + 1
    return counts
