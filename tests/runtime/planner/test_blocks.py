"""Elementwise steps that are computed block by block give what they give one after another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from commonir.runtime.planner import blocks
from commonir.runtime.planner.array_graph import Graph, Input, Map, Node
from commonir.runtime.planner.array_plan import ArrayPlan
from commonir.runtime.planner.array_steps import CLIPPED_SIZE, bind, evaluate

Array = NDArray[Any]
F32 = np.dtype(np.float32)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "LARGE_BYTES", 64)
    monkeypatch.setattr(blocks, "BLOCK_ELEMENTS", 16)


def _drawn(random: np.random.Generator, graph: Graph, inputs: list[Node], steps: int) -> list[Node]:
    """Nodes of elementwise functions of others: as they are, transposed, reversed, or one row of them."""
    shape = inputs[0].shape
    nodes = list(inputs)
    for _ in range(steps):
        arguments: list[Node] = []
        for _ in range(2):
            node = nodes[int(random.integers(len(nodes)))]
            match int(random.integers(8)):
                case 0 if shape[0] == shape[1]:
                    node = graph.transposed(node, (1, 0, 2))
                case 1:
                    row = graph.view(node, 0, (0, shape[2], 1), (1, *shape[1:]))
                    node = graph.broadcast(row, shape)
                case 2:
                    plain = (shape[1] * shape[2], shape[2], 1)
                    node = graph.view(node, (shape[0] - 1) * plain[0], (-plain[0], *plain[1:]), shape)
                case _:
                    pass
            arguments.append(node)
        fn = ("add", "subtract", "maximum")[int(random.integers(3))]
        nodes.append(graph.map(fn, arguments, F32))
    return nodes


@pytest.mark.parametrize("seed", range(40))
def test_runs_of_steps_compute_what_single_steps_do(seed: int) -> None:
    random = np.random.default_rng(seed)
    shape = [(4, 4, 6), (3, 3, 5), (2, 5, 8), (8, 8, 2)][seed % 4]
    graph = Graph(evaluate)
    inputs = [graph.add(Input(n, shape, F32)) for n in range(2)]
    nodes = _drawn(random, graph, inputs, 12)
    outputs = [nodes[-1], nodes[-4]]
    arrays = [random.integers(-9, 9, shape).astype(np.float32) for _ in inputs]
    known: dict[int, Array] = {n.id: a for n, a in zip(inputs, arrays, strict=True)}
    plan = ArrayPlan(inputs, outputs)
    for node in plan.nodes:
        if node.id not in known:
            out: Array = np.empty(node.shape, node.dtype)
            if isinstance(node, Map):
                for step in bind(node, [known[i.id] for i in node.inputs], out):
                    step()
                known[node.id] = out
            else:
                known[node.id] = _viewed(node, known[node.inputs[0].id])
    for _ in range(2):
        plan.forget()
        results = plan.run(arrays)
        for node, result in zip(outputs, results, strict=True):
            np.testing.assert_array_equal(result.reshape(-1), known[node.id].reshape(-1))


def _viewed(node: Any, base: Array) -> Array:
    return np.lib.stride_tricks.as_strided(
        base.reshape(-1)[node.offset :], node.shape, [s * base.itemsize for s in node.strides]
    )


def test_rows_that_are_broadcast_are_cut_between_rows() -> None:
    graph = Graph(evaluate)
    x, scale = graph.add(Input(0, (3, 40), F32)), graph.add(Input(1, (3, 1), F32))
    scaled = graph.map("multiply", [x, scale], F32)
    node = graph.map("add", [scaled, scaled], F32)
    (run,) = blocks.runs_of(ArrayPlan([x, scale], [node]).nodes)
    pieces = [pieces[0].of((3, 40)) for pieces in run.blocks()]
    cuts = [slice(0, 16), slice(16, 32), slice(32, 40)]
    assert pieces == [(row, cut) for row in range(3) for cut in cuts]


def test_a_step_that_reads_other_elements_of_another_one_begins_a_run() -> None:
    graph = Graph(evaluate)
    x = graph.add(Input(0, (8, 8), F32))
    nodes = [graph.map("negative", [x], F32)]
    nodes.append(graph.map("add", [nodes[0], x], F32))
    nodes.append(graph.map("add", [graph.transposed(graph.reshaped(nodes[1], (8, 8)), (1, 0)), x], F32))
    nodes.append(graph.map("negative", [nodes[2]], F32))
    runs = blocks.runs_of(ArrayPlan([x], [nodes[-1]]).nodes)
    assert [len(run.nodes) for run in runs] == [2, 2]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
@pytest.mark.parametrize("mask", ["mixed", "halves"])
def test_elements_are_selected_whatever_the_mask(dtype: Any, mask: str) -> None:
    """A mask that changes often is applied to bits; NaN and negative zero stay what they are."""
    random = np.random.default_rng(0)
    size = CLIPPED_SIZE * 5 + 3
    condition = random.random(size) < 0.5 if mask == "mixed" else np.arange(size) < size // 2
    a, b = (random.integers(-9, 9, size).astype(dtype) for _ in range(2))
    if a.dtype.kind == "f":
        a[::7], b[::5] = np.nan, -0.0
    graph = Graph(evaluate)
    inputs = [graph.add(Input(n, (size,), x.dtype)) for n, x in enumerate((condition, a, b))]
    plan = ArrayPlan(inputs, [graph.map("select", inputs, a.dtype)])
    (result,) = plan.run([condition, a, b])
    assert result.tobytes() == np.where(condition, a, b).tobytes()
