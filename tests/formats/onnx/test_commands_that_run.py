"""ONNX files that never end, or that onnxruntime does not take, under the commands that run them."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from commonir.api import engine_for_one_run
from commonir.cli.main import main

from tests.oracles import oracle

_port = helper.make_tensor_value_info


def _saved(path: Path, node: onnx.NodeProto, opset: int = 21) -> str:
    ports = [_port("x", TensorProto.FLOAT, [2])], [_port("y", TensorProto.FLOAT, [2])]
    model = helper.make_model(helper.make_graph([node], "g", *ports), opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version = 10
    onnx.save(model, path)
    return str(path)


@pytest.fixture
def endless(tmp_path: Path) -> str:
    nodes = [helper.make_node("Identity", ["c"], ["c2"]), helper.make_node("Neg", ["v"], ["v2"])]
    inputs = [_port("i", TensorProto.INT64, []), _port("c", TensorProto.BOOL, []), _port("v", TensorProto.FLOAT, [2])]
    outputs = [_port("c2", TensorProto.BOOL, []), _port("v2", TensorProto.FLOAT, [2])]
    body = helper.make_graph(nodes, "b", inputs, outputs)
    return _saved(tmp_path / "m.onnx", helper.make_node("Loop", ["", "", "x"], ["y"], body=body))


COMMANDS = {
    "run": (),
    "opt": ("-o", "out.onnx"),
    "compare": (),
    "profile": (),
    "reduce": ("--differs", "numpy,reference"),
    "compare with onnxruntime": ("--engines", "onnxruntime,numpy"),
    "convert": ("-o", "out.cir.json", "--check"),
    "convert to ONNX": ("-o", "out.onnx", "--check", "--opset", "20"),
}


@pytest.mark.slow
@pytest.mark.parametrize(("command", "options"), COMMANDS.items(), ids=COMMANDS)
def test_program_that_never_ends_is_stopped_at_the_time_limit(
    endless: str,
    command: str,
    options: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    oracle("onnxruntime")
    monkeypatch.chdir(tmp_path)
    assert main([command.split(maxsplit=1)[0], endless, *options, "--time-limit", "0.3"]) == 5
    assert "error[E0711]: the time limit of the run has passed" in capsys.readouterr().err


def test_output_of_another_shape_than_it_states_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nodes = [
        helper.make_node("Cast", ["k"], ["n"], to=TensorProto.INT64),
        helper.make_node("Expand", ["x", "n"], ["y"]),
    ]
    ports = [_port("k", TensorProto.INT32, [1]), _port("x", TensorProto.FLOAT, [1])]
    graph = helper.make_graph(nodes, "g", ports, [_port("y", TensorProto.FLOAT, [7])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), tmp_path / "m.onnx")
    assert main(["run", str(tmp_path / "m.onnx"), "k=i32[1]:3"]) == 0
    output = capsys.readouterr().err
    assert "warning[W0205]: output 'y' is declared as tensor<7xf32>, but has shape [3]" in output


def test_file_that_onnxruntime_does_not_take_is_checked_by_another_engine(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runtime = oracle("onnxruntime")
    path, out = _saved(tmp_path / "m.onnx", helper.make_node("Neg", ["x"], ["y"])), str(tmp_path / "out.onnx")
    newest = onnx.defs.onnx_opset_version()
    assert main(["convert", path, "-o", out, "--opset", str(newest), "--check"]) == 0
    output = capsys.readouterr()
    try:
        runtime.InferenceSession(out)
    except Exception:  # noqa: BLE001  whatever onnxruntime raises for what it does not take
        assert f"check against {engine_for_one_run()}, 1 set of inputs" in output.out
        assert "warning[W0701]: onnxruntime does not support the written file" in output.err
    else:
        assert "check against onnxruntime, 1 set of inputs" in output.out
