"""Shapes of onnx programs as expressions in the sizes of their inputs.

The probes are those that the tools of ONNX lose; the shapes expected follow from the operators' reference, by hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest
from onnx import parser

import commonir
from commonir.base.arrays import dtype_of
from commonir.formats.onnx.read import loads
from commonir.ir.module import Module
from commonir.ir.types import TensorType
from commonir.ods import Dialects
from commonir.passes.infer_shapes import infer_shapes
from commonir.symbolic import Dim, evaluate, parse

_OPSET = 21


def _module(inputs: str, body: str, outputs: Sequence[str]) -> Module:
    """A program in ONNX's text form, of which only inputs have a type."""
    results = ", ".join(f"float {name}" for name in outputs)
    text = f'<ir_version: 10, opset_import: ["" : {_OPSET}]> probe ({inputs}) => ({results}) {{ {body} }}'
    model = parser.parse_model(text)
    for output in model.graph.output:
        output.ClearField("type")
    module, diagnostics = loads(model.SerializeToString(), Dialects())
    assert not diagnostics
    return module


def _shapes(inputs: str, body: str, *outputs: str) -> list[tuple[Dim | None, ...] | None]:
    """The shapes of outputs of a program in ONNX's text form, of which only inputs have a type."""
    module = _module(inputs, body, outputs)
    infer_shapes(module)
    function = module.function(None)
    types = [v.type for v in function.outputs]
    return [t.shape if isinstance(t, TensorType) else None for t in types]


def _expected(text: str) -> tuple[Dim, ...]:
    return tuple([parse(d.strip()) for d in text.split(";") if d.strip()])


class Probe(NamedTuple):
    """A program, and the shape of its value `z`."""

    name: str
    inputs: str
    shape: str
    body: str


_PROBES = (
    Probe("two sizes joined", "float[N,3] x, float[M,3] y", "N + M; 3", "z = Concat<axis = 0>(x, y)"),
    Probe("a number joined", "float[N,3] x, float[5,3] y", "N + 5; 3", "z = Concat<axis = 0>(x, y)"),
    Probe("joined with itself", "float[N,3] x", "2*N; 3", "z = Concat<axis = 0>(x, x)"),
    Probe("repeated", "float[N,3] x", "2*N; 3", "r = Constant<value_ints = [2, 1]>() z = Tile(x, r)"),
    Probe(
        "without the first",
        "float[N,3] x",
        "N - 1; 3",
        """
        a = Constant<value_ints = [1]>() b = Constant<value_ints = [9223372036854775807]>()
        c = Constant<value_ints = [0]>() z = Slice(x, a, b, c)
        """,
    ),
    Probe("padded", "float[N,3] x", "N + 2; 3", "p = Constant<value_ints = [1, 0, 1, 0]>() z = Pad(x, p)"),
    Probe("pairs of rows", "float[N,4] x", "floor(N/2); 8", "s = Constant<value_ints = [-1, 8]>() z = Reshape(x, s)"),
    Probe(
        "half, rounded up",
        "float[N] x",
        "ceil(N/2)",
        """
        a = Constant<value_ints = [0]>() b = Constant<value_ints = [9223372036854775807]>()
        t = Constant<value_ints = [2]>() z = Slice(x, a, b, a, t)
        """,
    ),
    Probe(
        "pooled",
        "float[B,3,H,W] x",
        "B; 3; floor(H/2); floor(W/2)",
        "z = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(x)",
    ),
    Probe(
        "convolved",
        "float[B,3,H,W] x, float[8,3,3,3] w",
        "B; 8; floor((H - 1)/2) + 1; floor((W - 1)/2) + 1",
        "z = Conv<pads = [1, 1, 1, 1], strides = [2, 2]>(x, w)",
    ),
    Probe(
        "enlarged",
        "float[B,3,H,W] x",
        "B; 3; 2*H; 2*W",
        's = Constant<value_floats = [1.0, 1.0, 2.0, 2.0]>() z = Resize<mode = "nearest">(x, , s)',
    ),
    Probe(
        "product of sizes by Gather",
        "float[B,S,6] x",
        "B*S; 6",
        """
        h = Shape(x) i = Constant<value_int = 0>() j = Constant<value_int = 1>() b = Gather(h, i)
        s = Gather(h, j) m = Mul(b, s) o = Constant<value_ints = [0]>() u = Unsqueeze(m, o)
        e = Constant<value_ints = [6]>() t = Concat<axis = 0>(u, e) z = Reshape(x, t)
        """,
    ),
    Probe(
        "sizes but for -1",
        "float[N,1] x",
        "N; 4",
        """
        k = Constant<value_ints = [2]>() c = Constant<value_ints = [-1, 4]>() m = Constant<value_int = -1>()
        q = Equal(c, m) o = ConstantOfShape<value = int64[1] {1}>(k) t = Where(q, o, c) z = Expand(x, t)
        """,
    ),
    Probe(
        "product of a shape",
        "float[N,M,3] x",
        "3*N*M",
        "h = Shape(x) p = ReduceProd<keepdims = 1>(h) z = Reshape(x, p)",
    ),
    Probe(
        "size",
        "float[N,M] x",
        "N*M",
        "s = Size(x) o = Constant<value_ints = [1]>() t = Reshape(s, o) z = Reshape(x, t)",
    ),
    Probe("flattened", "float[N,M,3] x", "N*M; 3", "z = Flatten<axis = 2>(x)"),
    Probe(
        "there and back",
        "float[a,b,6] x",
        "a; b; 6",
        """
        s = Constant<value_ints = [-1, 6]>() y = Reshape(x, s) h = Shape(x) i = Constant<value_ints = [0]>()
        u = Gather(h, i) m = Constant<value_ints = [-1]>() e = Constant<value_ints = [6]>()
        t = Concat<axis = 0>(u, m, e) z = Reshape(y, t)
        """,
    ),
    Probe(
        "range",
        "float[N,3] x",
        "N",
        """
        h = Shape<end = 1>(x) n = Squeeze(h) o = Constant<value_int = 0>() d = Constant<value_int = 1>()
        z = Range(o, n, d)
        """,
    ),
    Probe("expanded to a shape", "float[1,3] x, float[N,3] y", "N; 3", "h = Shape(y) z = Expand(x, h)"),
    Probe("constant of a shape", "float[N,3] x", "N; 3", "h = Shape(x) z = ConstantOfShape(h)"),
    Probe("broadcast with one", "float[N,1] x, float[1,M] y", "N; M", "z = Add(x, y)"),
    Probe("matrices", "float[B,N,K] x, float[K,M] y", "B; N; M", "z = MatMul(x, y)"),
    Probe(
        "sums of products",
        "float[B,I,K] x, float[B,K,J] y",
        "B; I; J",
        'z = Einsum<equation = "bik,bkj->bij">(x, y)',
    ),
    Probe(
        "parts of half a size",
        "float[N,8] x",
        "floor(N/2); 16",
        """
        h = Shape(x) i = Constant<value_ints = [0]>() n = Gather(h, i) t = Constant<value_ints = [2]>()
        q = Div(n, t) e = Constant<value_ints = [16]>() u = Concat<axis = 0>(q, e) z = Reshape(x, u)
        """,
    ),
    Probe(
        "least of two sizes",
        "float[N] x, float[M] y",
        "min(N, M)",
        "a = Shape(x) b = Shape(y) c = Min(a, b) z = ConstantOfShape(c)",
    ),
    Probe(
        "in another integer type",
        "float[N,3] x",
        "2*N; 6",
        "h = Shape(x) c = Cast<to = 6>(h) d = Add(c, c) e = Cast<to = 7>(d) z = ConstantOfShape(e)",
    ),
    Probe(
        "a slice of a shape",
        "float[N,M,3] x",
        "M; 3",
        """
        h = Shape(x) a = Constant<value_ints = [1]>() b = Constant<value_ints = [3]>() c = Slice(h, a, b)
        z = ConstantOfShape(c)
        """,
    ),
    Probe("sizes of pieces", "float[N,6] x", "ceil(N/2); 6", "z, y = Split<axis = 0, num_outputs = 2>(x)"),
    Probe("new axes", "float[N] x", "1; N; 1", "a = Constant<value_ints = [0, 2]>() z = Unsqueeze(x, a)"),
    Probe("positions in a table", "float[10,D] x, int64[B,S] i", "B; S; D", "z = Gather(x, i)"),
    Probe("transposed", "float[N,M,K] x", "K; N; M", "z = Transpose<perm = [2, 0, 1]>(x)"),
    Probe("depth to space", "float[B,8,H,W] x", "B; 2; 2*H; 2*W", "z = DepthToSpace<blocksize = 2>(x)"),
    Probe(
        "one hot",
        "int64[B,S] x",
        "B; S; 7",
        "d = Constant<value_int = 7>() v = Constant<value_floats = [0.0, 1.0]>() z = OneHot(x, d, v)",
    ),
    Probe("best of each", "float[B,N] x", "B; 3", "k = Constant<value_ints = [3]>() z, i = TopK(x, k)"),
    Probe("cut or padded to a size", "float[N,M] x, float[4,K] y", "4; K", "h = Shape(y) z = CenterCropPad(x, h)"),
)


@pytest.mark.parametrize("probe", [pytest.param(p, id=p.name) for p in _PROBES])
def test_sizes_follow_from_those_of_inputs(probe: Probe) -> None:
    assert _shapes(probe.inputs, probe.body, "z") == [_expected(probe.shape)]


# Even, so that pairs of rows can be made; two sizes that meet nowhere differ.
_SIZES = {"N": 6, "M": 4, "B": 2, "S": 3, "H": 9, "W": 8, "K": 5, "I": 2, "J": 3, "D": 4, "a": 2, "b": 3}


@pytest.mark.parametrize("probe", [pytest.param(p, id=p.name) for p in _PROBES])
def test_sizes_are_those_that_running_gives(probe: Probe) -> None:
    module = _module(probe.inputs, probe.body, "z")
    inputs: dict[str, Any] = {}
    for v in module.function(None).inputs:
        assert isinstance(v.type, TensorType)
        sizes = [evaluate(d, _SIZES) for d in v.type.shape or () if d is not None]
        inputs[v.name or ""] = np.ones(sizes, dtype_of(v.type.element.name))
    (result,) = commonir.run(module, inputs).values()
    assert result.shape == tuple([evaluate(d, _SIZES) for d in _expected(probe.shape)])


def test_positions_of_what_is_not_zero_have_a_row_for_each_axis() -> None:
    (shape,) = _shapes("float[N,M,3] x", "z = NonZero(x)", "z")
    assert shape is not None
    assert len(shape) == 2
    assert shape[0] == 3


def test_a_range_up_to_a_value_has_one_axis() -> None:
    (shape,) = _shapes("int64 n", "o = Constant<value_int = 0>() d = Constant<value_int = 1>() z = Range(o, n, d)", "z")
    assert shape is not None
    assert len(shape) == 1


def test_sizes_of_two_names_that_meet_stay_two_sizes() -> None:
    z, w = _shapes("float[N] x, float[M] y", "z = Add(x, y) w = Concat<axis = 0>(x, y)", "z", "w")
    assert z == _expected("max(N, M)")
    assert w == _expected("N + M")
