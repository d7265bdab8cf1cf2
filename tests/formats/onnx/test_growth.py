"""Broken ONNX models take as much work for each finding when they are long as when they are short."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import onnx
import pytest
from onnx import ModelProto, NodeProto, helper

import commonir as cir
from commonir import api

from tests.work_counts import calls_of

_FLOAT = 1


def _chain(node: Callable[[int], NodeProto], count: int) -> ModelProto:
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        [node(n) for n in range(count)], "g", [value("x0", _FLOAT, [2])], [value(f"x{count}", _FLOAT, [2])]
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def _reversed(count: int) -> ModelProto:
    model = _chain(_relu, count)
    nodes = list(model.graph.node)[::-1]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    return model


def _relu(n: int, name: str = "") -> NodeProto:
    return helper.make_node("Relu", [f"x{n}"], [f"x{n + 1}"], name)


def _of_own_domain(count: int) -> ModelProto:
    return _chain(lambda n: helper.make_node("Foo", [f"x{n}"], [f"x{n + 1}"], domain=f"d{n}"), count)


def _misspelt(count: int) -> ModelProto:
    return _chain(lambda n: helper.make_node("Relo", [f"x{n}"], [f"x{n + 1}"]), count)


def _of_one_name(count: int) -> ModelProto:
    return _chain(lambda n: _relu(n, "same"), count)


def _check(path: Path) -> None:
    api.check(path)
    with suppress(cir.DiagnosticError):
        cir.lower(cir.load(path))


@pytest.mark.parametrize("model", [_reversed, _of_own_domain, _misspelt, _of_one_name])
@pytest.mark.parametrize("command", [_check, api.fix])
def test_work_grows_as_the_model_does(
    model: Callable[[int], ModelProto], command: Callable[[Path], object], tmp_path: Path
) -> None:
    work: list[int] = []
    for count in (8, 16, 32):
        path = tmp_path / f"{count}.onnx"
        onnx.save(model(count), path)
        if not work:
            command(path)  # loading does not count
        work.append(calls_of(partial(command, path)))
    short, middle, long = work
    assert long - middle < 2.3 * (middle - short)


def test_nodes_of_one_name_receive_names_of_their_own(tmp_path: Path) -> None:
    model = _chain(lambda n: _relu(n, "same" if n else "same_1"), 5)
    onnx.save(model, tmp_path / "m.onnx")
    fixed = api.fix(tmp_path / "m.onnx")
    assert fixed.module is not None
    names = [op.source_name for op in fixed.module.nested() if op.name == "onnx.Relu"]
    assert names == ["same_1", "same", "same_2", "same_3", "same_4"]
    assert (len(fixed.fixed), fixed.remaining) == (3, ())
