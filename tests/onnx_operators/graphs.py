"""Small graphs of several operators, drawn by seeds, whose first axes have any size.

Each node is run by onnxruntime as soon as it is drawn, so that the next one fits; sizes that inputs share have names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

from tests.onnx_operators.drawing import Array, Draw
from tests.onnx_operators.verdicts import run_with_onnxruntime

OPSET = 18
_SIZES = ({"N": 3, "S": 5}, {"N": 2, "S": 7})


class DrawnGraph(NamedTuple):
    """A model, and inputs of two sizes that it is run with."""

    model: ModelProto
    inputs: Sequence[Mapping[str, Array]]


class _Graph:
    """A graph being drawn: its nodes, and every value with what it is for the first sizes."""

    def __init__(self, d: Draw) -> None:
        self.d = d
        self.nodes: list[NodeProto] = []
        self.held: list[TensorProto] = []
        self.values: dict[str, Array] = {}

    def constant(self, x: Array) -> str:
        name = f"c{len(self.held)}"
        self.held.append(numpy_helper.from_array(x, name))
        return name

    def add(self, operator: str, inputs: Sequence[str], outputs: int = 1, **attributes: Any) -> list[str]:
        """Adds a node. Raises: whatever onnxruntime raises where it does not fit, and nothing is added."""
        names = [f"v{len(self.nodes)}_{n}" for n in range(outputs)]
        node = helper.make_node(operator, inputs, names, **attributes)
        arguments = {name: x for name, x in self.values.items() if name in inputs}
        infos = [
            helper.make_tensor_value_info(k, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
            for k, x in arguments.items()
        ]
        stored = [t for t in self.held if t.name in inputs]
        result = run_with_onnxruntime(_model(helper.make_graph([node], "g", infos, _untyped(names), stored)), arguments)
        if any(x.size > 2000 or (x.dtype.kind == "f" and not np.all(np.abs(x) < 1e4)) for x in map(np.asarray, result)):
            raise ValueError("too large")
        self.values |= {name: np.asarray(x) for name, x in zip(names, result, strict=True)}
        self.nodes.append(node)
        return names

    def one(self, *, low: int = 0, high: int = 4) -> str:
        """A tensor of single precision whose rank lies between two bounds, one of the last rather than of the first."""
        fitting = [k for k, x in self.values.items() if x.dtype == np.float32 and low <= x.ndim <= high]
        if not fitting:
            raise ValueError("nothing fits")
        return fitting[-1 - min(int(self.d.random.exponential(1.5)), len(fitting) - 1)]

    def rank(self, name: str) -> int:
        return self.values[name].ndim


def _untyped(names: Sequence[str]) -> list[ValueInfoProto]:
    return [ValueInfoProto(name=n) for n in names]


def _model(graph: GraphProto) -> ModelProto:
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)


def _unary(g: _Graph) -> None:
    g.add(g.d.among("Relu", "Sigmoid", "Tanh", "Neg", "Abs", "Softsign", "Erf", "Floor", "Identity"), [g.one()])


def _binary(g: _Graph) -> None:
    a, b = g.one(), g.one()
    g.add(g.d.among("Add", "Sub", "Mul", "Max", "Min"), [a, b])


def _with_constant(g: _Graph) -> None:
    g.add(g.d.among("Add", "Mul", "Sub"), [g.one(), g.constant(g.d.numbers((1,)))])


def _transpose(g: _Graph) -> None:
    x = g.one(low=2)
    g.add("Transpose", [x], perm=[int(a) for a in g.d.random.permutation(g.rank(x))])


def _reduce(g: _Graph) -> None:
    x = g.one(low=1)
    axes = g.constant(np.array(g.d.axes(g.rank(x), 1)))
    g.add(g.d.among("ReduceSum", "ReduceMean", "ReduceMax", "ReduceL2"), [x, axes], keepdims=g.d.integer(0, 1))


def _softmax(g: _Graph) -> None:
    x = g.one(low=1)
    g.add(g.d.among("Softmax", "LogSoftmax"), [x], axis=g.d.axis(g.rank(x)))


def _matmul(g: _Graph) -> None:
    x = g.one(low=2)
    if g.d.chance(0.3):
        order = [*range(g.rank(x) - 2), g.rank(x) - 1, g.rank(x) - 2]
        (y,) = g.add("Transpose", [x], perm=order)
        g.add("MatMul", [x, y])
    else:
        g.add("MatMul", [x, g.constant(g.d.numbers((g.values[x].shape[-1], g.d.integer(1, 4)), low=-8, high=8))])


def _merge(g: _Graph) -> None:
    """Two axes become one, the size computed from the shape."""
    x = g.one(low=2)
    (shape,) = g.add("Shape", [x])
    at = g.d.integer(0, g.rank(x) - 2)
    (a,) = g.add("Gather", [shape, g.constant(np.array([at]))])
    (b,) = g.add("Gather", [shape, g.constant(np.array([at + 1]))])
    (both,) = g.add("Mul", [a, b])
    before = g.add("Slice", [shape, g.constant(np.array([0])), g.constant(np.array([at]))])
    after = g.add("Slice", [shape, g.constant(np.array([at + 2])), g.constant(np.array([9]))])
    (whole,) = g.add("Concat", [*before, both, *after], axis=0)
    g.add("Reshape", [x, whole])


def _flat(g: _Graph) -> None:
    x = g.one(low=1)
    sizes = g.d.among([-1], [0, -1], [1, -1], [-1, 1])
    g.add("Reshape", [x, g.constant(np.array(sizes))])


def _as_another(g: _Graph) -> None:
    """A shape that another tensor holds."""
    x, y = g.one(), g.one()
    (shape,) = g.add("Shape", [y])
    if g.d.chance(0.6):
        g.add("Expand", [x, shape])
    elif g.d.chance(0.5):
        g.add("Reshape", [x, shape])
    else:
        value = numpy_helper.from_array(np.array([0.5], np.float32))
        (filled,) = g.add("ConstantOfShape", [shape], value=value)
        g.add("Add", [x, filled])


def _slice(g: _Graph) -> None:
    x = g.one(low=1)
    axis = g.constant(np.array([g.d.axis(g.rank(x))]))
    bounds = g.d.among(([0], [1]), ([1], [2**40]), ([-2], [2**40]), ([0], [-1]))
    step = g.constant(np.array([g.d.among(1, 1, 2)]))
    g.add("Slice", [x, *[g.constant(np.array(b)) for b in bounds], axis, step])


def _reverse(g: _Graph) -> None:
    x = g.one(low=1)
    (axis, end) = (g.constant(np.array([v])) for v in (g.d.axis(g.rank(x)), -(2**40)))
    minus = g.constant(np.array([-1]))
    g.add("Slice", [x, minus, end, axis, minus])


def _part(g: _Graph) -> None:
    """The first half of an axis, computed from its size."""
    x = g.one(low=1)
    axis = g.d.integer(0, g.rank(x) - 1)
    (shape,) = g.add("Shape", [x], start=axis, end=axis + 1)
    (half,) = g.add("Div", [shape, g.constant(np.array([2]))])
    zero, at = g.constant(np.array([0])), g.constant(np.array([axis]))
    g.add("Slice", [x, zero, half, at] if g.d.chance(0.5) else [x, half, shape, at])


def _join(g: _Graph) -> None:
    x = g.one(low=1)
    others = [k for k, v in g.values.items() if v.dtype == np.float32 and v.ndim == g.rank(x)]
    g.add("Concat", [x, g.d.among(*others)], axis=g.d.axis(g.rank(x)))


def _split(g: _Graph) -> None:
    x = g.one(low=1)
    parts = g.add("Split", [x], 2, axis=g.d.axis(g.rank(x)), num_outputs=2)
    if g.d.chance(0.5):
        g.add("Concat", parts[::-1], axis=0)


def _axes(g: _Graph) -> None:
    x = g.one(high=3)
    (y,) = g.add("Unsqueeze", [x, g.constant(np.array([g.d.integer(-g.rank(x) - 1, g.rank(x))]))])
    if g.d.chance(0.4):
        g.add("Squeeze", [y])


def _gather(g: _Graph) -> None:
    x = g.one(low=1)
    g.add("Gather", [x, g.constant(np.array(g.d.among([0], [0, 0], [-1, 0], 0)))], axis=g.d.axis(g.rank(x)))


def _choose(g: _Graph) -> None:
    a, b = g.one(), g.one()
    (which,) = g.add(g.d.among("Greater", "LessOrEqual"), [a, b])
    g.add("Where", [which, a, b])


def _sizes(g: _Graph) -> None:
    """A number that follows from a size, as a factor."""
    x, y = g.one(low=1), g.one()
    (size,) = g.add(g.d.among("Size", "Shape"), [x])
    (number,) = g.add("Cast", [size], to=TensorProto.FLOAT)
    (small,) = g.add("Mul", [number, g.constant(np.array(0.125, np.float32))])
    (total,) = g.add("ReduceSum", [small], keepdims=0)
    g.add("Mul", [y, total])


def _positions(g: _Graph) -> None:
    """Positions along an axis, as those of tokens."""
    x = g.one(low=1)
    (size,) = g.add("Shape", [x], start=-1)
    (end,) = g.add("Squeeze", [size])
    (line,) = g.add("Range", [g.constant(np.array(0)), end, g.constant(np.array(1))])
    (places,) = g.add("Cast", [line], to=TensorProto.FLOAT)
    g.add("Add", [x, places])


def _normalize(g: _Graph) -> None:
    x = g.one(low=1)
    n = g.values[x].shape[-1]
    g.add("LayerNormalization", [x, g.constant(g.d.numbers((n,))), g.constant(g.d.numbers((n,)))], epsilon=0.01)


def _window(g: _Graph) -> None:
    x = g.one(low=3, high=4)
    rank, c = g.rank(x) - 2, g.values[x].shape[1]
    if g.d.chance(0.5):
        weight = g.constant(g.d.numbers((2, c, *[2] * rank), low=-8, high=8))
        g.add("Conv", [x, weight], pads=[1] * (2 * rank), strides=[g.d.integer(1, 2)] * rank)
    else:
        g.add(g.d.among("MaxPool", "AveragePool"), [x], kernel_shape=[2] * rank, pads=[0, 1] * rank,
              ceil_mode=g.d.integer(0, 1))  # fmt: skip


def _resize(g: _Graph) -> None:
    x = g.one(low=3, high=4)
    factors = g.constant(np.array([1, 1, *[g.d.among(2.0, 1.5, 0.5)] * (g.rank(x) - 2)], np.float32))
    g.add("Resize", [x, "", factors], mode=g.d.among("nearest", "linear"),
          coordinate_transformation_mode=g.d.among("half_pixel", "asymmetric", "align_corners"))  # fmt: skip


def _pad(g: _Graph) -> None:
    x = g.one(low=1)
    amounts = g.constant(np.array(g.d.integers(2 * g.rank(x), 0, 1)))
    g.add("Pad", [x, amounts], mode=g.d.among("constant", "edge"))


def _several(g: _Graph) -> None:
    x = g.one(low=1)
    if g.d.chance(0.5):
        g.add("CumSum", [x, g.constant(np.array(g.d.axis(g.rank(x))))], reverse=g.d.integer(0, 1))
    elif g.d.chance(0.5):
        g.add("Tile", [x, g.constant(np.array(g.d.integers(g.rank(x), 1, 2)))])
    else:
        (places,) = g.add("ArgMax", [x], axis=g.d.axis(g.rank(x)))
        g.add("Cast", [places], to=TensorProto.FLOAT)


def _branch(g: _Graph) -> None:
    """One of two values, by the sum of a third."""
    a, b, c = g.one(), g.one(), g.one()
    (total,) = g.add("ReduceSum", [c], keepdims=0)
    (is_more,) = g.add("Greater", [total, g.constant(np.array(0.5, np.float32))])
    name = f"v{len(g.nodes)}_0"
    bodies = [
        helper.make_graph([helper.make_node(op, [x], [f"{name}_{n}"])], f"{name}b{n}", [], _untyped([f"{name}_{n}"]))
        for n, (op, x) in enumerate((("Neg", a), ("Abs", b)))
    ]
    node = helper.make_node("If", [is_more], [name], then_branch=bodies[0], else_branch=bodies[1])
    g.values[name] = -g.values[a] if g.values[is_more] else np.abs(g.values[b])
    g.nodes.append(node)


_STEPS: tuple[Callable[[_Graph], None], ...] = (
    _unary,
    _binary,
    _with_constant,
    _transpose,
    _reduce,
    _softmax,
    _matmul,
    _merge,
    _flat,
    _as_another,
    _slice,
    _reverse,
    _part,
    _join,
    _split,
    _axes,
    _gather,
    _choose,
    _sizes,
    _positions,
    _normalize,
    _window,
    _resize,
    _pad,
    _several,
    _branch,
)

_SHAPES: tuple[tuple[int | str, ...], ...] = (
    ("N", "S", 4),
    ("N", 3, "S"),
    ("N", 4),
    ("S",),
    ("N", 2, "S", 6),
    (2, 4),
    (1, "S"),
)


def drawn_graph(seed: int, steps: int = 7) -> DrawnGraph:
    """The graph of a seed, with about a number of steps."""
    d = Draw(seed)
    g = _Graph(d)
    shapes = {f"x{n}": d.among(*_SHAPES) for n in range(d.integer(1, 3))}
    inputs = [
        {k: d.numbers([sizes[n] if isinstance(n, str) else n for n in s]) for k, s in shapes.items()}
        for sizes in _SIZES
    ]
    g.values.update(inputs[0])
    for _ in range(3 * steps):
        before = len(g.nodes), dict(g.values)
        try:
            d.among(*_STEPS)(g)
        except Exception:  # noqa: BLE001  what does not fit, onnxruntime refuses in whatever way it likes
            del g.nodes[before[0] :]
            g.values = before[1]
        if len(g.nodes) >= steps:
            break
    used = {name for node in g.nodes for name in node.input}
    ends = [n for node in g.nodes for n in node.output if n not in used] or [g.nodes[-1].output[0]]
    infos = [helper.make_tensor_value_info(k, TensorProto.FLOAT, s) for k, s in shapes.items()]
    return DrawnGraph(_model(helper.make_graph(g.nodes, "g", infos, _untyped(ends), g.held)), inputs)
