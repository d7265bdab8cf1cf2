"""Broken ONNX models that `cir check --fix` fixes: onnx's full check and onnxruntime accept the result, and it gives
the outputs of the model that was not broken.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, NodeProto, checker, helper, load, numpy_helper

import commonir as cir
from commonir import api
from commonir.base.diagnostics import ExitStatus

from tests.command_lines import command_lines
from tests.oracles import oracle

Break = Callable[[ModelProto], object]
_FLOAT, _DOUBLE, _INT32 = 1, 11, 6


def _model() -> ModelProto:
    rng = np.random.default_rng(0)
    weights = [
        numpy_helper.from_array(rng.standard_normal((4, 4)).astype(np.float32), "W"),
        numpy_helper.from_array(rng.standard_normal((4,)).astype(np.float32), "B"),
    ]
    nodes = [
        helper.make_node("MatMul", ["x", "W"], ["m"], "mm"),
        helper.make_node("LayerNormalization", ["m", "B"], ["a"], "ln", axis=-1),
        helper.make_node("LeakyRelu", ["a"], ["r"], "lr", alpha=2.0),
        helper.make_node("ReduceMean", ["r"], ["y"], "mean", axes=[1], keepdims=1),
    ]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "g", [value("x", _FLOAT, ["N", 4])], [value("y", _FLOAT, ["N", 1])], weights, value_info=[]
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def _order(m: ModelProto) -> None:
    nodes = list(m.graph.node)[::-1]
    del m.graph.node[:]
    m.graph.node.extend(nodes)


def _node(m: ModelProto, op_type: str) -> NodeProto:
    return next(n for n in m.graph.node if n.op_type == op_type)


def _attribute(op_type: str, name: str, value: Any) -> Break:
    def change(m: ModelProto) -> None:
        entry = next(a for a in _node(m, op_type).attribute if a.name == name)
        entry.CopyFrom(helper.make_attribute(name, value))

    return change


def _untyped(m: ModelProto) -> None:
    _node(m, "LeakyRelu").attribute[0].ClearField("type")


def _state(name: str, element: int, shape: Sequence[int | str]) -> Break:
    return lambda m: m.graph.value_info.append(helper.make_tensor_value_info(name, element, shape))


def _output(element: int, shape: Sequence[int | str]) -> Break:
    return lambda m: m.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", element, shape))


def _repeat_attribute(m: ModelProto) -> None:
    entries = _node(m, "LeakyRelu").attribute
    entries.append(entries[0])


def _rename(m: ModelProto) -> None:
    _node(m, "LeakyRelu").name = "mm"


def _unused(m: ModelProto) -> None:
    m.graph.initializer.append(numpy_helper.from_array(np.ones(3, np.float32), "unused"))


BREAKS: dict[str, tuple[Break, str]] = {
    "order": (_order, "sorted the operations"),
    "no_opset": (lambda m: m.ClearField("opset_import"), "stated version 17"),
    "no_ir_version": (lambda m: m.ClearField("ir_version"), "stated the oldest version of the IR"),
    "no_name": (lambda m: m.graph.ClearField("name"), "named the graph 'main'"),
    "node_names": (_rename, "renamed the second node 'mm'"),
    "repeated_initializer": (
        lambda m: m.graph.initializer.append(m.graph.initializer[0]),
        "removed the second definition of 'W'",
    ),
    "repeated_node": (lambda m: m.graph.node.append(_node(m, "LeakyRelu")), "removed the second definition of 'r'"),
    "repeated_attribute": (_repeat_attribute, "removed the second attribute 'alpha'"),
    "integer_for_float": (_attribute("LeakyRelu", "alpha", 2), "stated attribute 'alpha' as 2.0 instead of 2"),
    "float_for_integer": (_attribute("ReduceMean", "keepdims", 1.0), "stated attribute 'keepdims' as 1 instead of 1.0"),
    "list_for_integer": (
        _attribute("LayerNormalization", "axis", [-1]),
        "stated attribute 'axis' as -1 instead of (-1,)",
    ),
    "integer_for_list": (_attribute("ReduceMean", "axes", 1), "stated attribute 'axes' as (1,) instead of 1"),
    "floats_for_integers": (
        _attribute("ReduceMean", "axes", [1.0]),
        "stated attribute 'axes' as (1,) instead of (1.0,)",
    ),
    "attribute_without_kind": (_untyped, "stated the kind of attribute 'alpha'"),
    "stale_shape": (_state("a", _FLOAT, ["N", 5]), "declared 'a' as"),
    "stale_type": (_state("a", _INT32, ["N", 4]), "declared 'a' as"),
    "type_of_nothing": (_state("gone", _FLOAT, [3]), "removed the types of 'gone'"),
    "unused": (_unused, "removed 1 initializer that nothing uses: 'unused'"),
    "output_shape": (_output(_FLOAT, ["N", 7]), "declared 'y' as"),
    "output_type": (_output(_DOUBLE, ["N", 1]), "declared 'y' as"),
}
"""Ways to break the model, each with the beginning of what its fix says."""

REFUSED: dict[str, tuple[Break, str]] = {
    "two_values_of_one_name": (
        lambda m: m.graph.node.append(helper.make_node("Relu", ["m"], ["r"], "re")),
        "'r' is defined twice",
    ),
    "unknown_attribute": (
        lambda m: _node(m, "LeakyRelu").attribute.append(helper.make_attribute("beta", 1.0)),
        "no attribute 'beta'",
    ),
    "half_for_integer": (_attribute("ReduceMean", "keepdims", 0.5), "expected an integer"),
    "two_for_one": (_attribute("LayerNormalization", "axis", [-1, 0]), "expected an integer"),
    "attribute_given_two_values": (
        lambda m: _node(m, "LeakyRelu").attribute.append(helper.make_attribute("alpha", 3.0)),
        "'alpha' is given twice",
    ),
    "undefined": (lambda m: m.graph.node.append(helper.make_node("Relu", ["nothing"], ["z"], "re")), "is not defined"),
    "cycle": (
        lambda m: m.graph.node[0].CopyFrom(helper.make_node("MatMul", ["r", "W"], ["m"], "mm")),
        "used before it is defined",
    ),
}
"""Ways to break the model that have no single right remedy, with a part of the finding."""


def _broken(names: Sequence[str], folder: Path) -> Path:
    model = _model()
    for name in names:
        (BREAKS | REFUSED)[name][0](model)
    path = folder / "broken.onnx"
    path.write_bytes(model.SerializeToString())
    return path


def _assert_fixed(path: Path, names: Sequence[str]) -> None:
    fixed = cir.fix(path)
    assert fixed.is_sound, [str(d) for d in fixed.remaining]
    said = [d.fix.text for d in fixed.fixed if d.fix is not None]
    for name in names:
        assert any(text.startswith(BREAKS[name][1]) for text in said), (name, said)
    out = path.with_name("fixed.onnx")
    assert fixed.module is not None
    api.save_fixed(path, fixed.module, out)
    checker.check_model(load(out), full_check=True)
    x = np.random.default_rng(1).standard_normal((3, 4)).astype(np.float32)
    good = path.with_name("good.onnx")
    good.write_bytes(_model().SerializeToString())
    expected = api.run_with_onnxruntime(good, {"x": x})
    np.testing.assert_array_equal(api.run_with_onnxruntime(out, {"x": x})["y"], expected["y"])
    assert not cir.fix(out).fixed


@pytest.mark.parametrize("name", BREAKS)
def test_what_has_one_right_remedy_is_fixed(name: str, tmp_path: Path) -> None:
    oracle("onnxruntime")
    _assert_fixed(_broken([name], tmp_path), [name])


@pytest.mark.parametrize("seed", range(10))
def test_several_faults_at_once_are_fixed(seed: int, tmp_path: Path) -> None:
    oracle("onnxruntime")
    # These change the same place as another one.
    apart = [n for n in BREAKS if n not in ("stale_type", "output_shape", "integer_for_list", "no_ir_version")]
    names = random.Random(seed).sample(apart, 5)
    if {"integer_for_float", "attribute_without_kind", "repeated_attribute", "repeated_node"}.intersection(names):
        names = [n for n in names if n not in ("attribute_without_kind", "repeated_attribute", "repeated_node")]
    _assert_fixed(_broken(names, tmp_path), [n for n in names if n != "node_names"])


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_several_remedies_is_refused(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = _broken([name, "type_of_nothing"], tmp_path)
    done = command_lines(capsys)("check", "--fix", str(path), "-o", str(tmp_path / "out.onnx"))
    assert done.status == ExitStatus.NO
    assert REFUSED[name][1] in done.err
    assert not (tmp_path / "out.onnx").exists()


def test_operators_of_several_meanings_have_no_version_that_is_right(tmp_path: Path) -> None:
    model = _model()
    model.graph.node[1].CopyFrom(helper.make_node("Softmax", ["m"], ["a"], "soft"))
    model.ClearField("opset_import")
    path = tmp_path / "m.onnx"
    path.write_bytes(model.SerializeToString())
    # Softmax of version 13 means something else than before.
    assert not cir.fix(path).is_sound


def test_sound_models_stay_as_they_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = _broken([], tmp_path)
    before = path.read_bytes()
    done = command_lines(capsys)("check", "--fix", str(path), "--force")
    assert (done.status, done.out) == (ExitStatus.YES, f"{path}: nothing to fix\n")
    assert path.read_bytes() == before


def test_models_are_replaced_only_with_force(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = command_lines(capsys)
    path = _broken(["order", "unused"], tmp_path)
    before = path.read_bytes()
    done = run("check", "--fix", str(path))
    assert done.status == ExitStatus.NO
    assert "nothing is written yet" in done.out
    assert path.read_bytes() == before
    done = run("check", "--fix", str(path), "-o", str(path))
    assert "E0808" in done.err
    assert path.read_bytes() == before
    done = run("check", "--fix", str(path), "--force")
    assert done.status == ExitStatus.YES
    assert "outputs equal those of the original" in done.out
    checker.check_model(load(path), full_check=True)
    assert run("check", str(path)).out == "checked 1 file: 0 errors\n"


def test_findings_say_in_json_what_their_fix_does(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = _broken(["order"], tmp_path)
    done = command_lines(capsys)("check", "--json", str(path))
    assert '"fix": "sorted the operations, so that each follows those that it uses"' in done.out
