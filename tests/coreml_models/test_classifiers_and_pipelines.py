"""Classifiers, and models made of models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import commonir as cir
from commonir.api import run_converted
from commonir.dialects import core
from commonir.formats.coreml.messages import message_class
from commonir.formats.coreml.model import encode_model
from commonir.ir import types
from commonir.ir.types import tensor

from tests.conversions.programs import core_module
from tests.coreml_models.running import ENGINES, KINDS, Array, converted, diagnostic, f32, load, run_onnx
from tests.oracles import oracle

engines = pytest.mark.parametrize("engine", ENGINES)

# The logarithms of probabilities are what the softmax of them gives back.
PROBABILITIES = [0.2, 0.5, 0.3]
LOGARITHMS = np.log(np.array([PROBABILITIES], np.float32))


# -- classifiers


@engines
@pytest.mark.parametrize(("name", "labels"), [("texts", ("cat", "dog", "fox")), ("numbers", (10, 20, 30))])
def test_classifier_gives_the_label_and_all_probabilities(
    engine: str, name: str, labels: tuple[str | int, ...]
) -> None:
    module = load(f"classifier_{name}")
    result: Any = cir.run(module, {"x": LOGARITHMS}, engine=engine)
    assert result["classLabel"].shape == ()
    assert result["classLabel"].item() == labels[1]
    np.testing.assert_allclose(result["classLabel_probs"], PROBABILITIES, rtol=1e-5)
    assert module.main.output_ports["classLabel_probs"].labels == labels
    assert cir.lower(module).main.output_ports["classLabel_probs"].labels == labels


@pytest.mark.parametrize(("name", "labels"), [("texts", ["cat", "dog", "fox"]), ("numbers", [10, 20, 30])])
def test_labels_are_described_in_onnx(tmp_path: Path, name: str, labels: list[str | int]) -> None:
    onnx = oracle("onnx")
    path, _ = converted(f"classifier_{name}", tmp_path)
    reported = {p.key: p.value for p in onnx.load(path).metadata_props}
    assert json.loads(reported["commonir.labels.classLabel_probs"]) == labels
    result = run_onnx(path, {"x": LOGARITHMS})
    assert np.asarray(result["classLabel"]).item() == labels[1]
    np.testing.assert_allclose(result["classLabel_probs"], PROBABILITIES, rtol=1e-5)


def test_classifier_agrees_with_the_program_without_labels() -> None:
    plain = core_module(lambda x: core.softmax(x, 1), {"x": tensor(types.f32, 1, 3)}, ["p/0"])
    classifier = cir.convert(plain, "coreml", labels=["cat", "dog", "fox"])
    inputs = {"x": LOGARITHMS}
    result: Any = run_converted(plain, classifier, inputs)
    np.testing.assert_allclose(result["p/0"], [PROBABILITIES], rtol=1e-5)
    renamed = cir.edit(plain, rename={"p/0": classifier.main.output_names[1]})
    assert cir.compare(renamed, classifier, inputs).is_within


def test_labels_and_descriptions_are_in_the_summary() -> None:
    (function,) = cir.summarize(load("classifier_texts")).functions
    assert [port.note for port in function.outputs] == ["", "3 classes: cat, dog, fox"]


# -- pipelines


def message_of(name: str) -> Any:
    """The `Model` message of a package; the class is made at run time."""
    result = message_class("Model")()
    result.ParseFromString((KINDS / f"{name}.mlpackage/Data/com.apple.CoreML/model.mlmodel").read_bytes())
    return result


UP = np.arange(1, 13, dtype=np.float32).reshape(1, 12)


@engines
def test_models_of_a_pipeline_run_in_order_each_with_its_weights(engine: str) -> None:
    outputs = cir.run(load("pipeline"), {"x": np.ones((1, 12), np.float32)}, engine=engine)
    assert outputs["y"].tolist() == (UP * UP[:, ::-1]).tolist()


def test_pipeline_is_one_graph_in_onnx(tmp_path: Path) -> None:
    path, result = converted("pipeline", tmp_path)
    assert list(result) == []
    assert run_onnx(path, {"x": UP})["y"].tolist() == (UP * UP * UP[:, ::-1]).tolist()


@pytest.mark.parametrize(
    "name", ["pipeline", "pipeline_classifier", "pipeline_regressor", "detector", "pipeline_opaque"]
)
def test_modules_and_attributes_hold_all_of_a_pipeline(name: str) -> None:
    whole = message_of(name)
    inner = next(
        getattr(whole, k) for k in ("pipeline", "pipelineClassifier", "pipelineRegressor") if whole.HasField(k)
    )
    inner = inner.pipeline if hasattr(inner, "pipeline") else inner
    module = load(name)
    assert len(module.modules) == len(inner.models)
    for part, expected in zip(module.modules, inner.models, strict=True):
        expected.ClearField("mlProgram")
        assert encode_model(part) == expected
    del inner.models[:]
    assert encode_model(module) == whole


@engines
def test_pipeline_of_a_classifier_gives_its_labels(engine: str) -> None:
    module = load("pipeline_classifier")
    result: Any = cir.run(module, {"x": LOGARITHMS / 2}, engine=engine)
    assert result["classLabel"].item() == "b"
    np.testing.assert_allclose(result["classLabel_probs"], PROBABILITIES, rtol=1e-5)
    assert module.main.output_ports["classLabel_probs"].labels == ("a", "b", "c")


@engines
def test_pipeline_of_a_regressor_runs(engine: str) -> None:
    assert cir.run(load("pipeline_regressor"), {"x": f32(1, 2, 3)[None]}, engine=engine)["y"].tolist() == [[2, 5, 8]]


@engines
def test_image_between_models_has_eight_bits(engine: str) -> None:
    picture: Array = np.array([0, 1, 2, 5, 10, 100, 200, 255] * 3, np.float32).reshape(1, 3, 2, 4)
    # 1.3 times these, rounded and limited to 255: 0, 1, 3, 6 (6.5 to even), 13, 130, 255, 255.
    expected = [255, 254, 252, 249, 242, 125, 0, 0]
    result = cir.run(load("pipeline_images"), {"picture": picture}, engine=engine)["negative"]
    assert result.reshape(3, 8).tolist() == [expected] * 3


def test_model_that_is_not_a_program_is_refused_by_its_kind() -> None:
    with pytest.raises(cir.DiagnosticError) as error:
        cir.run(load("pipeline_opaque"), {"x": f32(1, 2, 3)[None]})
    (diagnostic,) = error.value.diagnostics
    assert diagnostic.code.id == "E0601"
    assert diagnostic.message.startswith("a model of type 'scaler' cannot be run or converted")
    assert diagnostic.where == "modules[1].main.operations[0] mil.opaque_model"


@pytest.mark.parametrize(("name", "faults"), [("y", []), ("z", ["D8: the predicted 'z' must be an output"])])
def test_what_a_regressor_predicts_is_an_output(tmp_path: Path, name: str, faults: list[str]) -> None:
    content = message_of("pipeline_opaque")
    content.description.output[0].type.doubleType.SetInParent()
    content.description.predictedFeatureName = name
    path = tmp_path / "model.mlmodel"
    path.write_bytes(content.SerializeToString())
    _, diagnostics = cir.check(path)
    assert [d.message for d in diagnostics if d.message.startswith("D8")] == faults


# -- detectors

# Boxes: centre (x, y), width, height, doubled by the program; confidences are halved.
BOXES = np.array(
    [
        [10, 10, 4, 4],  # 0: the best of the left group
        [10.5, 10, 4, 4],  # 1: overlaps 0 by 3.5/4.5 = 0.78, of the other class
        [10, 11, 4, 4],  # 2: overlaps 0 by 3/5 = 0.6, of the same class
        [30, 30, 4, 4],  # 3: alone
        [31.9, 30, 4, 4],  # 4: overlaps 3 by 2.1/5.9 = 0.36
        [50, 50, 4, 4],  # 5: below the threshold of confidence
    ],
    np.float32,
)
SCORES = np.array([[1.8, 0], [0, 1.6], [1.4, 0], [1.2, 0.2], [1.0, 0.2], [0.4, 0.3]], np.float32)
GIVEN = {"scores": SCORES, "boxes": BOXES}


def kept(outputs: Any) -> list[int]:
    """Which boxes stay, by their coordinates."""
    rows = (outputs["coordinates"] / 2).tolist()
    return [BOXES.tolist().index(row) for row in rows]


@pytest.mark.fast_every(4)
@engines
@pytest.mark.parametrize(
    ("name", "thresholds", "expected"),
    [
        ("detector", {}, [0, 3, 4]),
        ("detector_per_class", {}, [0, 1, 3, 4]),
        ("detector", {"iouThreshold": 0.3}, [0, 3]),
        ("detector", {"iouThreshold": 0.7}, [0, 2, 3, 4]),
        ("detector", {"iouThreshold": 1.0}, [0, 1, 2, 3, 4]),
        ("detector", {"confidenceThreshold": 0.55}, [0, 3]),
        ("detector", {"confidenceThreshold": 0.1}, [0, 3, 4, 5]),
        ("detector", {"confidenceThreshold": 0.95}, []),
    ],
)
def test_detector_keeps_the_best_of_overlapping_boxes(
    engine: str, name: str, thresholds: dict[str, float], expected: list[int]
) -> None:
    inputs = {**GIVEN, **{key: np.array(value) for key, value in thresholds.items()}}
    outputs = cir.run(load(name), inputs, engine=engine)
    assert kept(outputs) == expected
    np.testing.assert_array_equal(outputs["confidence"], SCORES[expected] / 2)


@engines
def test_detector_of_fixed_size_fills_up_with_zeros(engine: str) -> None:
    result: Any = cir.run(load("detector_fixed"), GIVEN, engine=engine)
    assert result["coordinates"].shape == (4, 4)
    assert (result["coordinates"][:3] / 2).tolist() == BOXES[[0, 3, 4]].tolist()
    assert result["confidence"][3].tolist() == [0, 0]
    assert result["coordinates"][3].tolist() == [0, 0, 0, 0]


def test_detector_is_converted(tmp_path: Path) -> None:
    path, _ = converted("detector", tmp_path)
    assert kept(run_onnx(path, GIVEN)) == [0, 3, 4]
    assert kept(run_onnx(path, {**GIVEN, "iouThreshold": np.array(0.3)})) == [0, 3]


def test_thresholds_have_those_of_the_model_by_default() -> None:
    ports = load("detector").main.input_ports
    assert (ports["iouThreshold"].default, ports["confidenceThreshold"].default) == (0.45, 0.25)


def test_input_of_a_model_that_comes_from_nowhere_is_reported(tmp_path: Path) -> None:
    content = message_of("pipeline")
    content.pipeline.models[1].description.input[0].name = "g"
    content.pipeline.models[1].mlProgram.functions[0].value.inputs[0].name = "g"
    path = tmp_path / "model.mlmodel"
    path.write_bytes(content.SerializeToString())
    _, diagnostics = cir.check(path)
    messages = [d.message for d in diagnostics]
    assert "input 'g' of model 1 is not an input of the pipeline and no output of an earlier model" in messages


def test_pipeline_older_than_its_models_is_reported(tmp_path: Path) -> None:
    content = message_of("pipeline")
    content.specificationVersion = 6
    path = tmp_path / "model.mlmodel"
    path.write_bytes(content.SerializeToString())
    _, diagnostics = cir.check(path)
    assert "V4: model 0 needs specification version 7, the pipeline states 6" in [d.message for d in diagnostics]


def test_rules_of_programs_hold_inside_of_pipelines(tmp_path: Path) -> None:
    content = message_of("pipeline_regressor")
    content.pipelineRegressor.pipeline.models[1].mlProgram.version = 3
    path = tmp_path / "model.mlmodel"
    path.write_bytes(content.SerializeToString())
    _, diagnostics = cir.check(path)
    assert [(d.where, d.message) for d in diagnostics] == [
        ("modules[1].program.version", "P1: the version of a program must be 1, found 3")
    ]


def test_unknown_operation_inside_of_a_pipeline_is_reported_with_its_place(tmp_path: Path) -> None:
    content = message_of("pipeline_regressor")
    body = content.pipelineRegressor.pipeline.models[1].mlProgram.functions[0].value.block_specializations[0].value
    next(op for op in body.operations if op.type == "add").type = "addition"
    path = tmp_path / "model.mlmodel"
    path.write_bytes(content.SerializeToString())
    _, diagnostics = cir.check(path)
    assert [(d.where, d.code.id) for d in diagnostics] == [
        ("modules[1].main.block[CoreML6].operations[1] 'y'", "E0501")
    ]


def test_wrong_program_is_refused_to_run() -> None:
    with pytest.raises(cir.DiagnosticError) as error:
        cir.run(load("pipeline"), {"z": np.ones((1, 12), np.float32), "x": UP})
    assert diagnostic(error.value) == "E0702 | the function has no input 'z'"


@engines
def test_pipeline_inside_of_a_pipeline_runs(engine: str, tmp_path: Path) -> None:
    inner = message_of("pipeline_regressor")
    outer: Any = message_class("Model")(specificationVersion=7, description=inner.description)
    outer.pipeline.models.add().CopyFrom(inner)
    outer.pipeline.names.append("inner")
    path = tmp_path / "model.mlmodel"
    path.write_bytes(outer.SerializeToString())
    module, diagnostics = cir.check(path)
    assert diagnostics == []
    assert module is not None
    assert cir.run(module, {"x": f32(1, 2, 3)[None]}, engine=engine)["y"].tolist() == [[2, 5, 8]]


def test_pipelines_nested_too_deeply_are_refused(tmp_path: Path) -> None:
    pipeline, models = b"\xd2\x0c", b"\x0a"

    def delimited(tag: bytes, content: bytes) -> bytes:
        """A field that holds a message, its length in groups of seven bits."""
        size = len(content)
        return tag + bytes([size & 0x7F | 0x80, size >> 7]) + content

    content = b""
    for _ in range(150):
        content = delimited(pipeline, delimited(models, content))
    path = tmp_path / "model.mlmodel"
    path.write_bytes(content)
    module, diagnostics = cir.check(path)
    assert module is None
    assert [d.message for d in diagnostics] == ["pipelines are nested more than 100 deep"]
