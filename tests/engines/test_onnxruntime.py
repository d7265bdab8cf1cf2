from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import commonir as cir
from commonir.base.diagnostics import DiagnosticError
from commonir.conversions.core_to_onnx import core_to_onnx
from commonir.dialects import core
from commonir.engines.onnxruntime import ENGINE
from commonir.formats.coreml.read import read
from commonir.formats.onnx.write import write
from commonir.ir.operation import Value
from commonir.ir.types import bf16, boolean, f32, i64, tensor
from commonir.ods import Dialects
from commonir.passes.lower import lower
from commonir.runtime.engine import EngineOptions, Engines
from commonir.symbolic import symbol

from tests.conformance.samples import read_sample, worst_error
from tests.conversions.programs import core_module
from tests.oracles import oracle

oracle("onnxruntime")

Array = np.ndarray[Any, Any]
_MODELS = sorted(p for p in (Path(__file__).parents[1] / "models").iterdir() if (p / "model.mlpackage").is_dir())


@pytest.mark.fast_every(3)
@pytest.mark.slow_cases("*_fp16")
@pytest.mark.parametrize("folder", _MODELS, ids=lambda p: p.name)
def test_network_gives_the_outputs_of_torch(folder: Path) -> None:
    sample = read_sample(folder)
    prepared = ENGINE.prepare(lower(read(sample.package, Dialects())))
    got = {case: prepared.run(inputs) for case, inputs in sample.inputs.items()}
    assert {case: set(arrays) for case, arrays in got.items()} == {c: set(a) for c, a in sample.expected.items()}
    assert worst_error(got, sample.expected) <= sample.tolerance


@pytest.mark.fast_every(6)
@pytest.mark.slow_cases("*_fp32-*")
@pytest.mark.parametrize("opset", [18, 20, 23])
@pytest.mark.parametrize("folder", _MODELS, ids=lambda p: p.name)
def test_written_network_passes_full_check_and_strict_shape_inference(folder: Path, opset: int, tmp_path: Path) -> None:
    onnx = oracle("onnx")
    path = tmp_path / "m.onnx"
    write(core_to_onnx(lower(read(folder / "model.mlpackage", Dialects())), opset), path)
    onnx.checker.check_model(str(path), full_check=True)
    onnx.shape_inference.infer_shapes(onnx.load(path), check_type=True, strict_mode=True, data_prop=True)


def test_engine_is_found_by_its_name() -> None:
    assert Engines().get("onnxruntime") is ENGINE


def test_symbolic_size_takes_any_number() -> None:
    n = symbol("n")
    prepared = ENGINE.prepare(core_module(lambda x: core.reshape(x, (n * 2,)), {"x": tensor(f32, n, 2)}))
    for size in (1, 3):
        got = prepared.run({"x": np.arange(size * 2, dtype=np.float32).reshape(size, 2)})
        np.testing.assert_array_equal(got["y0"], np.arange(size * 2))


def test_threads_are_those_asked_for() -> None:
    prepared = ENGINE.prepare(core_module(core.neg, {"x": tensor(f32, 2)}), options=EngineOptions(threads=2))
    np.testing.assert_array_equal(prepared.run({"x": np.array([1, 2], np.float32)})["y0"], [-1, -2])


def test_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(DiagnosticError) as caught:
        ENGINE.prepare(core_module(core.neg, {"x": tensor(f32, 2)}))
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.code.id, diagnostic.help) == ("E0705", "python -m pip install 'commonir[ort]'")


def test_limit_that_the_engine_does_not_have_is_refused() -> None:
    with pytest.raises(DiagnosticError) as caught:
        ENGINE.prepare(core_module(core.neg, {"x": tensor(f32, 2)}), options=EngineOptions(memory_limit_bytes=1))
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.code.id, diagnostic.message) == ("E0709", "the engine 'onnxruntime' has no memory limit")


def test_endless_loop_is_stopped_at_the_time_limit() -> None:
    def build(x: Value) -> Value:
        always = core.nested([x.type], lambda _: (core.scalar(True, boolean),))
        (y,) = core.while_((x,), always, core.nested([x.type], lambda y: (core.neg(y),)))
        return y

    prepared = ENGINE.prepare(core_module(build, {"x": tensor(f32, 2)}), options=EngineOptions(time_limit_seconds=0.2))
    with pytest.raises(DiagnosticError) as caught:
        prepared.run({"x": np.zeros(2, np.float32)})
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.code.id, diagnostic.message) == ("E0711", "the time limit of the run has passed")


def test_failing_run_says_nothing_but_its_finding(capfd: pytest.CaptureFixture[str]) -> None:
    module = core_module(core.gather, {"x": tensor(f32, 2), "p": tensor(i64, 1)})
    with pytest.raises(DiagnosticError) as caught:
        ENGINE.prepare(module).run({"x": np.zeros(2, np.float32), "p": np.array([7])})
    assert capfd.readouterr() == ("", "")
    (note,) = caught.value.diagnostics[0].notes
    assert "onnxruntime_src" not in note
    assert "idx=7 must be within the inclusive range [-2,1]" in note


def test_operator_without_a_definition_is_run_by_onnxruntime_only() -> None:
    text = """<ir_version: 9, opset_import: ["": 18, "com.microsoft": 1]>
g (int32[2] x) => (int32[2] y) { t = com.microsoft.MurmurHash3 <positive = 0> (x)
y = Neg(t) }"""
    module = cir.loads(text, format="onnxtxt")
    x = np.array([3, 4], np.int32)
    # The hashes of the four bytes of each number, by another implementation.
    expected = [-847579505, -1889779975]
    np.testing.assert_array_equal(cir.run(module, {"x": x}, engine="onnxruntime")["y"], expected)
    np.testing.assert_array_equal(cir.prepare(module, engine="onnxruntime").run({"x": x})["y"], expected)
    with pytest.raises(DiagnosticError, match=r"com\.microsoft\.MurmurHash3 cannot be lowered to core"):
        cir.run(module, {"x": x})


def test_wrong_input_is_refused_before_it_reaches_onnxruntime() -> None:
    prepared = ENGINE.prepare(core_module(core.neg, {"x": tensor(f32, 2)}))
    with pytest.raises(DiagnosticError) as caught:
        prepared.run({"x": np.zeros((3,), np.float32)})
    assert [d.code.id for d in caught.value.diagnostics] == ["E0703"]


def test_program_that_onnxruntime_has_no_code_for_is_refused_with_its_reason() -> None:
    with pytest.raises(DiagnosticError) as caught:
        ENGINE.prepare(core_module(core.softmax, {"x": tensor(bf16, 2)}))
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.code.id, diagnostic.message) == ("E0709", "onnxruntime cannot load the program")
    assert "Could not find an implementation" in diagnostic.notes[0]


def test_position_outside_fails_with_the_reason() -> None:
    module = core_module(core.gather, {"x": tensor(f32, 2), "p": tensor(i64, 1)})
    with pytest.raises(DiagnosticError) as caught:
        ENGINE.prepare(module).run({"x": np.zeros(2, np.float32), "p": np.array([7])})
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code.id == "E0708"


def test_products_of_quantized_weights_keep_the_precision_of_the_other_operand() -> None:
    onnx = oracle("onnx")
    weights = np.arange(-128, 128, dtype=np.int8).reshape(16, 16)
    graph = onnx.helper.make_graph(
        [
            onnx.helper.make_node("DequantizeLinear", ["w", "s"], ["d"], axis=1),
            onnx.helper.make_node("MatMul", ["x", "d"], ["y"]),
        ],
        "g",
        [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["n", 16])],
        [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["n", 16])],
        [
            onnx.numpy_helper.from_array(weights, "w"),
            onnx.numpy_helper.from_array(np.linspace(0.1, 0.4, 16, dtype=np.float32), "s"),
        ],
    )
    opsets = [onnx.helper.make_opsetid("", 22)]
    module = cir.loads(
        onnx.helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString(), format="onnx"
    )
    x = np.linspace(-1, 1, 32, dtype=np.float32).reshape(2, 16)
    expected = x @ (weights * np.linspace(0.1, 0.4, 16, dtype=np.float32))
    actual: Any = cir.run(module, {"x": x}, engine="onnxruntime")["y"]
    np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-4)


def test_values_of_a_model_with_local_functions_are_compared(tmp_path: Path) -> None:
    onnx = oracle("onnx")
    text = """
        <ir_version: 10, opset_import: ["": 21, "my": 1]>
        g (float[2, 3] x) => (float[2, 3] y) { p = my.Half(x)  q = my.Twice(p)  y = Sub(p, q) }
        <domain: "my", opset_import: ["": 21]>
        Half (a) => (b) { h = Constant<value = float {0.5}>()  b = Mul(a, h) }
        <domain: "my", opset_import: ["": 21, "my": 1]>
        Twice (a) => (b) { h = my.Half(a)  b = Add(h, a) }
    """
    onnx.save(onnx.parser.parse_model(text), tmp_path / "m.onnx")
    comparison = cir.compare(cir.load(tmp_path / "m.onnx"), engines=("numpy", "onnxruntime"), values="all")
    assert {v.name: v.is_within for v in comparison.values} == {"p": True, "q": True, "y": True}


@pytest.mark.parametrize("engine", ["onnxruntime", pytest.param("iree", marks=pytest.mark.slow)])
def test_a_tuple_that_a_program_makes_and_reads_needs_no_place_in_an_engine(engine: str) -> None:
    oracle("onnxruntime" if engine == "onnxruntime" else "iree.compiler")
    module = core_module(lambda x: core.tuple_get(core.tuple_of((x, core.neg(x))), 1), {"x": tensor(f32, 2)})
    (result,) = cir.run(module, {"x": np.array([1, 2], np.float32)}, engine=engine).values()
    assert result.tolist() == [-1, -2]
