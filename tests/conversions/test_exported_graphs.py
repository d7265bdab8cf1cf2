"""Small graphs as exporters write them, converted to all formats; onnxruntime says what they give.

Each is a part of a published model that could not be converted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from onnx import parser

import commonir as cir
from commonir.ir.module import Module

from tests.conversions.running import run_onnx
from tests.conversions.running_mlir import check_with_mlir_opt, text_of
from tests.iree import Compiled

Array = np.ndarray[Any, Any]


class Graph(NamedTuple):
    """A graph in ONNX's text form, and inputs that it is run on."""

    text: str
    inputs: Mapping[str, Array]

    @property
    def content(self) -> bytes:
        """The bytes of a model."""
        return parser.parse_model(f'<ir_version: 9, opset_import: ["" : 19]> {self.text}').SerializeToString()

    @property
    def module(self) -> Module:
        """The model as it is read here."""
        return cir.loads(self.content, format="onnx")


def _floats(*shape: int) -> Array:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


SORT_OF_AN_OPEN_AXIS = Graph(
    """
    sorted (float[N,M] x) => (float[N,M] values, int64[N,M] places)
    <int64[1] one = {1}, int64[1] two = {2}>
    {
        shape = Shape(x)
        k = Slice(shape, one, two)
        values, places = TopK <axis = 1> (x, k)
    }
    """,
    {"x": _floats(2, 7)},
)
HALF_OF_AN_OPEN_AXIS = Graph(
    """
    largest (float[N,M] x) => (float[K,M] values, int64[K,M] places)
    <int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2}>
    {
        shape = Shape(x)
        size = Slice(shape, zero, one)
        k = Div(size, two)
        values, places = TopK <axis = 0, largest = 0> (x, k)
    }
    """,
    {"x": _floats(9, 3)},
)
# As torch writes the padding of the last axis: pairs of amounts, the last axis first, turned around.
PADDING_AS_TORCH_WRITES_IT = Graph(
    """
    padded (float[N,6] x) => (float[N,11] y)
    <int64[1] rank = {2}, int64[2] amounts = {2, 3}, int64[2] pairs = {-1, 2}, int64[1] zero = {0},
     int64[1] last = {-1}, int64[1] before = {-9223372036854775807}, int64[1] flat = {-1}>
    {
        others = ConstantOfShape <value = int64[1] {0}> (rank)
        given = Concat <axis = 0> (amounts, others)
        table = Reshape(given, pairs)
        turned = Slice(table, last, before, zero, last)
        columns = Transpose <perm = [1, 0]> (turned)
        line = Reshape(columns, flat)
        pads = Cast <to = 7> (line)
        y = Pad <mode = "reflect"> (x, pads)
    }
    """,
    {"x": _floats(3, 6)},
)
PLACES_ALONG_AN_OPEN_AXIS = Graph(
    """
    places (float[N,M] x) => (float[K] y)
    <int64[1] one = {1}, int64[1] two = {2}, float start = {0.0}, float half = {0.5}>
    {
        shape = Shape(x)
        size = Slice(shape, one, two)
        wide = Cast <to = 1> (size)
        limit = Squeeze(wide)
        y = Range(start, limit, half)
    }
    """,
    {"x": _floats(2, 7)},
)
EDGES_OF_AN_OPEN_AXIS = Graph(
    """
    continued (float[N,M] x) => (float[K,L] mirrored, float[K,L] repeated)
    <int64[4] amounts = {1, 2, 0, 3}>
    {
        mirrored = Pad <mode = "reflect"> (x, amounts)
        repeated = Pad <mode = "edge"> (x, amounts)
    }
    """,
    {"x": _floats(3, 5)},
)
# Of the last row, the positions lie outside on both sides, which gives no one.
CLASSES_OF_AN_OPEN_AXIS = Graph(
    """
    hot (float[N,M] x, int32[3,2] places) => (float[3,M,2] y)
    <int64 one = {1}, float[2] values = {-1.0, 2.0}>
    {
        shape = Shape(x)
        size = Gather(shape, one)
        depth = Cast <to = 6> (size)
        y = OneHot <axis = 1> (places, depth, values)
    }
    """,
    {"x": _floats(2, 4), "places": np.array([[0, 3], [-1, -4], [4, -5]], np.int32)},
)
GRAPHS = {
    "classes of an open axis": CLASSES_OF_AN_OPEN_AXIS,
    "places along an open axis": PLACES_ALONG_AN_OPEN_AXIS,
    "edges of an open axis": EDGES_OF_AN_OPEN_AXIS,
    "sort of an open axis": SORT_OF_AN_OPEN_AXIS,
    "half of an open axis": HALF_OF_AN_OPEN_AXIS,
    "padding as torch writes it": PADDING_AS_TORCH_WRITES_IT,
}


def _assert_same(result: Sequence[Any], expected: Sequence[Array]) -> None:
    assert len(result) == len(expected)
    for f, w in zip(result, expected, strict=True):
        assert np.shape(f) == w.shape
        np.testing.assert_allclose(f, w, rtol=1e-5, atol=1e-6)


@pytest.fixture(params=GRAPHS)
def graph(request: pytest.FixtureRequest) -> Graph:
    return GRAPHS[request.param]


@pytest.fixture
def expected_arrays(graph: Graph) -> list[Array]:
    return run_onnx(graph.content, graph.inputs)


def test_it_runs_here(graph: Graph, expected_arrays: list[Array]) -> None:
    _assert_same(list(cir.run(graph.module, dict(graph.inputs)).values()), expected_arrays)


def test_it_comes_back_to_onnx_from_the_core(graph: Graph, expected_arrays: list[Array]) -> None:
    converted = cir.dumps(cir.convert(cir.lower(graph.module), "onnx"))
    _assert_same(run_onnx(converted, graph.inputs), expected_arrays)


def test_its_core_ml_package_gives_the_same(graph: Graph, expected_arrays: list[Array], tmp_path: Path) -> None:
    ranges = {symbol: (2, 16) for symbol in ("N", "M") if f"{symbol}," in graph.text or f",{symbol}" in graph.text}
    cir.save(cir.convert(graph.module, "coreml", ranges=ranges), tmp_path / "made.mlpackage")
    _assert_same(list(cir.run(cir.load(tmp_path / "made.mlpackage"), dict(graph.inputs)).values()), expected_arrays)


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["linalg", "stablehlo"])
def test_iree_gives_the_same_for_its_mlir(graph: Graph, expected_arrays: list[Array], dialect: str) -> None:
    text = text_of(cir.convert(graph.module, dialect))
    if dialect == "linalg":
        check_with_mlir_opt(text)
    _assert_same(Compiled(text).run(graph.text.split()[0], list(graph.inputs.values())), expected_arrays)


# As torch writes `squeeze(-1)` without knowing the size, and what goes on with what it gives.
SQUEEZED_IF_ONE = Graph(
    """
    squeezed (float[N,M] x) => (y)
    <int64[1] one = {1}, int64[1] two = {2}>
    {
        shape = Shape(x)
        size = Slice(shape, one, two)
        is_one = Equal(size, one)
        row = If <
            then_branch = a () => (line) { line = Squeeze(x, one) },
            else_branch = b () => (same) { same = Identity(x) }
        > (is_one)
        sizes = Shape(row)
        zeros = ConstantOfShape(sizes)
        y = Concat <axis = 0> (row, zeros)
    }
    """,
    {"x": _floats(3, 1)},
)


@pytest.mark.parametrize("names", [("N", "M"), ("x.0", "x.1")])
def test_sizes_that_are_fixed_decide_the_branch_before_it_is_converted(names: tuple[str, str]) -> None:
    graph = SQUEEZED_IF_ONE
    converted = cir.convert(graph.module, "onnx", dims=dict(zip(names, (3, 1), strict=True)))
    assert "If" not in [op.name.removeprefix("onnx.") for op in converted.walk()]
    _assert_same(run_onnx(cir.dumps(converted), graph.inputs), run_onnx(graph.content, graph.inputs))
