"""Array programs: a graph of operations on whole arrays, the IR of the numpy engine.

Axes have no names, shapes are static, and equal nodes are one object, so that common subexpressions of a program are
computed once. A `View` selects elements of its base by strides and costs nothing; every other node computes a
contiguous array. This module knows neither operations nor index notation; `array_steps` computes nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.runtime.limits import OutOfRange

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
    """An input of the program."""

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
    """A constant array. Small ones are compared by content, others by identity."""

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
        """Returns the array, without storing it if it is computed."""
        return self.array

    def rebuilt(self, graph: Graph, inputs: tuple[Node, ...]) -> Node:  # noqa: ARG002  it has none
        return self


class Folded(Constant):
    """A large constant computed from others, such as transposed weights.

    It is computed when a plan first uses it. One that is only used to compute other constants is not stored, so that
    several forms of the same weights are not in memory together.
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
        """The elements, which are stored from now on."""
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
    """Elements combined along axes, which are removed from the shape."""

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
        batch = _broadcast_shape((a.shape[:-2], b.shape[:-2]))
        super().__init__((a, b), (*batch, a.shape[-2], b.shape[-1]), a.dtype)

    def rebuilt(self, graph: Graph, inputs: tuple[Node, ...]) -> Node:
        return graph.add(Product(*inputs))


class WindowProduct(Node):
    """Products of matrices with a strided view, which is copied in parts: windows of an image are many times as large.

    The last `columns` axes of the view are the columns of the right matrices, the `rows` axes before them their rows.
    """

    __slots__ = ("columns", "rows")

    def __init__(self, a: Node, view: Node, shape: Shape, rows: int, columns: int) -> None:
        super().__init__((a, view), shape, a.dtype)
        self.rows = rows
        self.columns = columns

    @property
    def parameters(self) -> tuple[Hashable, ...]:
        return self.shape, self.rows, self.columns

    def rebuilt(self, graph: Graph, inputs: tuple[Node, ...]) -> Node:
        a, view = inputs
        return graph.add(WindowProduct(a, view, self.shape, self.rows, self.columns))


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
    """Elements of the source at positions along each axis; the arrays of positions are broadcast to the shape."""

    __slots__ = ()

    def __init__(self, source: Node, positions: tuple[Node, ...], shape: Shape) -> None:
        super().__init__((source, *positions), shape, source.dtype)

    @property
    def parameters(self) -> tuple[Hashable, ...]:
        return (self.shape,)

    def rebuilt(self, graph: Graph, inputs: tuple[Node, ...]) -> Node:
        return graph.add(Lookup(inputs[0], inputs[1:], self.shape))


class Checked(Node):
    """Positions that are checked at run time to be in `[0, bound)`; `description` names them in the message."""

    __slots__ = ("bound", "description")

    def __init__(self, positions: Node, bound: int, description: str) -> None:
        super().__init__((positions,), positions.shape, positions.dtype)
        self.bound = bound
        self.description = description

    @property
    def parameters(self) -> tuple[Hashable, ...]:
        return self.bound, self.description

    def rebuilt(self, graph: Graph, inputs: tuple[Node, ...]) -> Node:
        return graph.add(Checked(inputs[0], self.bound, self.description))


class Opaque(Node):
    """The first result of a Python function on arrays; further results of the same call are `Part`s of it.

    `label` names it in explanations. `is_fallback` marks a kernel that the planner did not recognize, `is_random` a
    result that differs in each run.
    """

    __slots__ = ("is_fallback", "is_random", "key", "label", "run", "shapes")

    def __init__(
        self,
        label: str,
        key: Hashable,
        run: Callable[..., Sequence[Array]],
        inputs: tuple[Node, ...],
        shapes: tuple[tuple[Shape, DType], ...],
        *,
        is_fallback: bool = False,
        is_random: bool = False,
    ) -> None:
        shape, dtype = shapes[0]
        super().__init__(inputs, shape, dtype)
        self.label = label
        self.key = key
        self.run = run
        self.shapes = shapes
        self.is_fallback = is_fallback
        self.is_random = is_random

    @property
    def parameters(self) -> tuple[Hashable, ...]:
        return self.label, id(self) if self.is_random else self.key

    def rebuilt(self, graph: Graph, inputs: tuple[Node, ...]) -> Node:
        built = Opaque(
            self.label, self.key, self.run, inputs, self.shapes, is_fallback=self.is_fallback, is_random=self.is_random
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
        self._nodes: dict[Hashable, Node] = {}
        self._evaluate = evaluate
        self.folded = 0

    def add(self, node: Node) -> Node:
        """Returns the node, or an equal existing one; a node of constants is folded."""
        key = (type(node), tuple([n.id for n in node.inputs]), node.parameters)
        result = self._nodes.get(key)
        if result is None:
            result = self._fold(node) or node
            if result.id < 0:
                result.id = len(self._nodes)
            self._nodes[key] = result
        return result

    def _fold(self, node: Node) -> Node | None:
        """Returns a node of constants as a constant; None if it is only a view, or far larger than its inputs."""
        if isinstance(node, (View, Part)) or not node.inputs:
            return None
        if isinstance(node, Opaque) and (len(node.shapes) > 1 or node.is_random):
            return None
        if not all(is_constant(n) for n in node.inputs):
            return None
        stored = sum(self.layout(n).base.size_bytes for n in node.inputs)
        if node.size_bytes > max(FOLDED_BYTES, 4 * stored):
            return None
        if sum(n.size_bytes for n in node.inputs) > max(READ_BYTES, 4 * stored):
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
        result = self._nodes.get(key)
        if result is None:
            result = self._nodes[key] = node
            node.id = len(self._nodes) - 1
        return result

    def view(self, source: Node, offset: int, strides: Sequence[int], shape: Sequence[int]) -> Node:
        """Returns elements of a node by strides over its row-major order; the node itself if these are all of them.

        The strides of axes of size 1 do not matter and are normalized.
        """
        layout = self.layout(source)
        if layout.base is not source:
            if layout.strides != plain_strides(layout.shape):
                return self.view(self.add(Copy((source,), source.shape, source.dtype)), offset, strides, shape)
            return self.view(layout.base, layout.offset + offset, strides, shape)
        new_shape = tuple(shape)
        new_strides = tuple([0 if n == 1 else s for n, s in zip(new_shape, strides, strict=True)])
        if offset == 0 and new_shape == source.shape and new_strides == plain_strides(new_shape):
            return source
        return self.add(View(source, offset, new_strides, new_shape))

    def layout(self, node: Node) -> StridedLayout:
        """Returns the layout of the elements of a node."""
        if isinstance(node, View):
            return StridedLayout(node.inputs[0], node.offset, node.strides, node.shape)
        return StridedLayout(node, 0, plain_strides(node.shape), node.shape)

    def take(self, source: Node, positions: Node, axis: int) -> Node:
        """Returns the source with an axis replaced by positions; a widened constant is indexed before it is widened."""
        narrow = _narrow(source)
        if narrow is None or is_constant(positions) or not covers(source):
            return self.add(Take(source, positions, axis))
        return self.map("cast", [self.add(Take(self.reshaped(narrow, source.shape), positions, axis))], source.dtype)

    def copy(self, source: Node) -> Node:
        """Returns the elements of a node, contiguous; the node itself if it is. A widened constant is copied while it
        is widened.
        """
        layout = self.layout(source)
        if layout.strides == plain_strides(layout.shape):
            return source
        narrow = _narrow(source)
        if narrow is not None:
            return self.map("cast", [self.view(narrow, layout.offset, layout.strides, layout.shape)], source.dtype)
        return self.add(Copy((source,), source.shape, source.dtype))

    def reshaped(self, source: Node, shape: Sequence[int]) -> Node:
        """Returns the elements in row-major order under another shape, copied only where strides do not allow it."""
        expected = tuple(shape)
        if source.shape == expected:
            return source
        layout = self.layout(source)
        strides = reshaped_strides(layout.shape, layout.strides, expected)
        if strides is None:
            built = self.copy(source)
            return self.view(built, 0, plain_strides(expected), expected)
        return self.view(layout.base, layout.offset, strides, expected)

    def transposed(self, source: Node, order: Sequence[int]) -> Node:
        """Returns the axes in another order."""
        layout = self.layout(source)
        return self.view(
            layout.base, layout.offset, [layout.strides[d] for d in order], [layout.shape[d] for d in order]
        )

    def broadcast(self, source: Node, shape: Sequence[int]) -> Node:
        """Returns the node repeated along axes of size 1 and new leading axes."""
        layout = self.layout(source)
        new_axes = len(shape) - len(layout.shape)
        strides = [0] * new_axes + [0 if n == 1 else s for n, s in zip(layout.shape, layout.strides, strict=True)]
        return self.view(layout.base, layout.offset, strides, shape)

    def map(self, fn: str, inputs: Sequence[Node], dtype: DType, shape: Shape | None = None) -> Node:
        """Returns a scalar function of each element, over as few axes as the strides of the inputs allow."""
        full_shape = _broadcast_shape([n.shape for n in inputs]) if shape is None else shape
        layouts = [self.layout(self.broadcast(n, full_shape)) for n in inputs]
        groups = merged_axes(full_shape, [layout.strides for layout in layouts])
        merged_shape = tuple([prod(full_shape[d] for d in g) for g in groups])
        built = [self._merged_view(layout, groups, merged_shape) for layout in layouts]
        node = self.add(Map(fn, tuple(built), merged_shape, dtype))
        return self.view(node, 0, plain_strides(full_shape), full_shape) if merged_shape != full_shape else node

    def _merged_view(self, layout: StridedLayout, groups: Sequence[Sequence[int]], shape: Shape) -> Node:
        """Returns an input of a map, with merged axes: broadcast axes have size 1, and a single element is a scalar."""
        strides = [layout.strides[g[-1]] for g in groups]
        dims = [1 if s == 0 else n for s, n in zip(strides, shape, strict=True)]
        if all(n == 1 for n in dims):
            strides, dims = [], []
        return self.view(layout.base, layout.offset, strides, dims)


def _broadcast_shape(shapes: Sequence[Shape]) -> Shape:
    """Returns the shape of arrays that are broadcast; numpy's function takes none that is larger than memory can be."""
    rank = max(map(len, shapes), default=0)
    columns = zip(*[(*(1,) * (rank - len(shape)), *shape) for shape in shapes], strict=True)
    return tuple([next((n for n in column if n != 1), 1) for column in columns])


class StridedLayout:
    """The layout of the elements of a node within a contiguous base. Units: elements."""

    __slots__ = ("base", "offset", "shape", "strides")

    def __init__(self, base: Node, offset: int, strides: Shape, shape: Shape) -> None:
        self.base = base
        self.offset = offset
        self.strides = strides
        self.shape = shape


READ_BYTES = 1 << 26
"""A node of constants that reads more than this is only folded if the constants have a quarter of it: a broadcast one
stands for any number of elements.
"""

FOLDED_BYTES = 1 << 24
"""A constant of at most this size is computed while planning, even if it is far larger than its inputs."""

EAGER_SIZE = 1 << 16
"""A constant of more elements is computed from others only when a plan uses it."""


def plain_strides(shape: Sequence[int]) -> Shape:
    """Returns the strides of a contiguous array; 0 for axes of size 1."""
    out: list[int] = []
    step = 1
    for n in reversed(shape):
        out.append(0 if n == 1 else step)
        step *= n
    return tuple(reversed(out))


def merged_axes(shape: Sequence[int], strides: Sequence[Sequence[int]]) -> list[list[int]]:
    """Returns groups of adjacent axes that can be merged for every array; axes of size 1 are left out."""
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
    """Returns strides that give the same elements another shape; None if there are none."""
    if 0 in shape:
        return plain_strides(expected)
    axes = [(n, s) for n, s in zip(shape, strides, strict=True) if n != 1]
    runs: list[tuple[int, int]] = []
    for n, s in axes:
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
        dim, step = runs.pop()
        out.append(step)
        runs.append((dim // n, step * n))
    return tuple(reversed(out))


def covers(node: Node) -> bool:
    """Returns whether a node has all elements of its base in row-major order, possibly in another shape."""
    if not isinstance(node, View):
        return True
    return node.offset == 0 and node.size == node.inputs[0].size and node.strides == plain_strides(node.shape)


def is_constant(node: Node) -> bool:
    """Returns whether a node is a constant or a view of one."""
    return isinstance(node.inputs[0] if isinstance(node, View) else node, Constant)


def _narrow(node: Node) -> Node | None:
    """Returns the constant of a narrower dtype from which a constant, or a view of one, was widened; None otherwise."""
    base = node.inputs[0] if isinstance(node, View) else node
    origin = base.origin if isinstance(base, Folded) else base
    if not isinstance(origin, Map) or origin.fn != "cast" or not covers(origin.inputs[0]):
        return None
    (narrow,) = origin.inputs
    return narrow if narrow.dtype.itemsize < node.dtype.itemsize and narrow.size == base.size else None


def elements_of(node: Node) -> Array:
    """Returns the array of a constant or of a view of one; see `Constant.elements`."""
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
    """Returns all nodes that the outputs depend on, in order of evaluation."""
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
