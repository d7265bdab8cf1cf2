"""Programs that stay in their dialect in half precision: what changes, what stays, and that runtimes agree."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import pytest

import commonir as cir
from commonir.ir.operation import Operation
from commonir.ir.types import TensorType, f16, f32
from commonir.reports import PrecisionReport

from tests.first_hour.models import write_models
from tests.oracles import oracle

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scores")
    write_models("scores.onnx", folder)
    return folder / "scores.onnx"


def test_onnx_model_is_valid_and_onnxruntime_agrees(scores: Path, tmp_path: Path) -> None:
    onnxruntime = oracle("onnxruntime")
    path = tmp_path / "half.onnx"
    cir.save(cir.convert(cir.load(scores), "onnx", precision="float16"), path)
    onnx.checker.check_model(onnx.load(path), full_check=True)
    x = np.random.default_rng(0).standard_normal((4, 8)).astype(np.float32)
    (expected,) = onnxruntime.InferenceSession(scores).run(None, {"x": x})
    (found,) = onnxruntime.InferenceSession(path).run(None, {"x": x})
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(np.isneginf(found), np.isneginf(expected))
    np.testing.assert_allclose(found[finite], expected[finite], rtol=1e-2, atol=1e-2)


def test_inputs_outputs_and_names_stay(scores: Path) -> None:
    module = cir.load(scores)
    half = cir.convert(module, "onnx", precision="float16")
    for before, after in ((module.inputs, half.inputs), (module.outputs, half.outputs)):
        assert [(v.name, v.type) for v in before] == [(v.name, v.type) for v in after]
    assert {op.source_name for op in half.nested() if op.name != "onnx.Cast"} == {
        op.source_name for op in module.nested()
    }


# Of MobileNet, all operations have a form in half precision; coremltools 9 casts the same 161.
def test_core_ml_operations_stay_and_become_half() -> None:
    module = cir.load(ROOT / "examples" / "mobilenet.mlpackage")
    reports: list[PrecisionReport] = []
    half = cir.convert(module, "coreml", precision="float16", reports=reports)
    assert (reports[0].changed, reports[0].kept) == (161, ())
    names = [op.name for op in half.nested() if op.name not in ("mil.const", "mil.cast")]
    assert names == [op.name for op in module.nested() if op.name not in ("mil.const", "mil.cast")]
    inner = [r.type for op in half.nested() for r in op.results if op.name != "mil.cast"]
    assert not [t for t in inner if isinstance(t, TensorType) and t.element is f32]


@pytest.mark.parametrize(
    ("keep", "count"),
    [
        (["mil.linear"], 2),
        (["linear"], 2),
        (["mil.l*"], 2),
        (["input_3"], 1),
        (["input_3", "conv"], 52),
    ],
)
def test_operations_are_kept_by_name_type_and_pattern(keep: list[str], count: int) -> None:
    module = cir.load(ROOT / "examples" / "mobilenet.mlpackage")
    reports: list[PrecisionReport] = []
    cir.convert(module, "coreml", precision="float16", keep=keep, reports=reports)
    assert [entry.reason for entry in reports[0].kept] == ["chosen"] * count
    assert reports[0].changed == 161 - count


def test_operations_that_take_single_precision_only_stay() -> None:
    # Until iOS 16, `mil.lstm` takes fp32 only (MIL operation reference).
    module = cir.load(ROOT / "tests" / "models" / "lstm_fp32" / "model.mlpackage")
    reports: list[PrecisionReport] = []
    half = cir.convert(module, "coreml", precision="float16", reports=reports)
    assert {(e.operation, e.reason) for e in reports[0].kept} == {("mil.lstm", "form")}
    assert not [d for d in cir.verify(half) if d.is_error]
    assert cir.compare(module, half, rtol=1e-2, atol=1e-2, values="all").is_within


def test_compressed_weights_stay_compressed() -> None:
    module = cir.load(ROOT / "tests" / "models" / "t5_encoder_uint4_fp32" / "model.mlpackage")
    half = cir.convert(module, "coreml", precision="float16")
    before, after = [[op.name for op in m.nested() if ".constexpr" in op.name] for m in (module, half)]
    assert after == before != []
    assert not [d for d in cir.verify(half) if d.is_error]


# The packages in half precision are those that coremltools converts, with its own pass, from the same networks.
@pytest.mark.fast_every(3)
@pytest.mark.parametrize("network", ["bert", "clip_image", "minilm", "pixel_shuffle_sparse", "segformer"])
def test_operations_in_half_precision_are_those_of_coremltools(network: str) -> None:
    models = ROOT / "tests" / "models"
    module = cir.load(models / f"{network}_fp32" / "model.mlpackage")
    expected = cir.load(models / f"{network}_fp16" / "model.mlpackage")
    half = cir.convert(module, "coreml", precision="float16")
    halves, own = [
        Counter(
            op.name for op in m.nested() if op.name not in ("mil.cast", "mil.const", "mil.literal") and _gives_half(op)
        )
        for m in (expected, half)
    ]
    assert own == halves != Counter()


def _gives_half(op: Operation) -> bool:
    """Returns whether an operation gives half precision."""
    return any(isinstance(r.type, TensorType) and r.type.element is f16 for r in op.results)


def _halved(nodes: list[onnx.NodeProto]) -> cir.Module:
    value = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(nodes, "g", [value("x", 1, [2])], [value("y", 1, [2])])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=9)
    return cir.convert(cir.loads(model.SerializeToString(), format="onnx"), "onnx", precision="float16")


def test_name_of_a_half_is_new() -> None:
    """A program may have the name already that the half of an output would receive."""
    nodes = [
        onnx.helper.make_node("Exp", ["x"], ["y_fp16"]),
        onnx.helper.make_node("Neg", ["y_fp16"], ["y"]),
    ]
    half = _halved(nodes)
    names = [v.name for op in half.nested() for v in op.results]
    assert sorted(names) == sorted(set(names))
    onnx.checker.check_model(onnx.load_model_from_string(cir.dumps(half)), full_check=True)


def test_identities_are_computed_in_half_precision() -> None:
    nodes = [
        onnx.helper.make_node("Exp", ["x"], ["a"]),
        onnx.helper.make_node("Identity", ["a"], ["b"]),
        onnx.helper.make_node("Neg", ["b"], ["y"]),
    ]
    half = _halved(nodes)
    assert [op.name for op in half.nested() if op.name.startswith("onnx.") and op.results] == [
        "onnx.Cast",
        "onnx.Exp",
        "onnx.Identity",
        "onnx.Neg",
        "onnx.Cast",
    ]
