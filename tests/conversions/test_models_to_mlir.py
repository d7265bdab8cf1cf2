"""Whole models as MLIR: mlir-opt verifies them, and IREE computes what other runtimes compute."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import commonir as cir

from tests.arrays import read_arrays
from tests.conversions.running_mlir import check_with_mlir_opt, text_of
from tests.iree import Compiled
from tests.oracles import oracle

_ROOT = Path(__file__).parents[2]
_MODELS = _ROOT / "tests" / "models"

_ONE_OF_EACH_KIND = [
    "control_iOS18",  # branches, loops and states
    "gru_fp32",
    "lists_iOS17",
    "quantization_iOS18",
    "recurrent_iOS15",
    "sorting_iOS17",
]


def _package(folder: Path) -> Path:
    return next(p for p in folder.iterdir() if p.suffix in (".mlpackage", ".mlmodel"))


@pytest.mark.slow
@pytest.mark.parametrize("name", _ONE_OF_EACH_KIND)
def test_core_ml_model_gives_in_iree_what_core_ml_tools_computed(name: str) -> None:
    folder = _MODELS / name
    converted = cir.convert(cir.load(_package(folder)), "linalg")
    text = text_of(converted)
    check_with_mlir_opt(text)
    inputs, outputs = read_arrays(folder / "inputs.npz"), read_arrays(folder / "outputs.npz")
    function = converted.main
    result = Compiled(text).run(function.symbol_name, [inputs[v.name] for v in function.inputs])
    for output, array in zip(function.output_names, result, strict=True):
        np.testing.assert_allclose(array, outputs[output], rtol=1e-4, atol=1e-5, err_msg=output)


@pytest.mark.slow
def test_mobilenet_of_the_examples_gives_its_logits_in_iree(tmp_path: Path) -> None:
    path = tmp_path / "mobilenet.mlir"
    cir.save(cir.convert(cir.load(_ROOT / "examples" / "mobilenet.mlpackage"), "linalg"), path)
    text = path.read_text()
    check_with_mlir_opt(text)
    inputs = read_arrays(_ROOT / "examples" / "mobilenet_inputs.npz")
    (result,) = Compiled(text).run("main", [inputs["image"]])
    expected = read_arrays(_ROOT / "examples" / "mobilenet_outputs.npz")["logits"]
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)


@pytest.fixture(scope="module")
def minilm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    oracle("torch")
    oracle("transformers")
    # torch and transformers take long to load.
    from tests.conversions.minilm import export_minilm  # noqa: PLC0415

    path = tmp_path_factory.mktemp("minilm") / "minilm.onnx"
    export_minilm(path)
    return path


def _sentences(batch: int, sequence: int) -> dict[str, Any]:
    r = np.random.default_rng(batch * 1000 + sequence)
    lengths = r.integers(1, sequence + 1, (batch, 1))
    return {
        "input_ids": r.integers(0, 2000, (batch, sequence)),
        "attention_mask": (np.arange(sequence)[None] < lengths).astype(np.int64),
        "token_type_ids": np.zeros((batch, sequence), np.int64),
    }


def test_converted_minilm_gives_in_iree_what_onnxruntime_gives(minilm: Path) -> None:
    converted = cir.convert(cir.load(minilm), "linalg")
    text = text_of(converted)
    check_with_mlir_opt(text)
    program = Compiled(text)
    session = oracle("onnxruntime").InferenceSession(minilm, providers=["CPUExecutionProvider"])
    for batch, sequence in ((1, 5), (3, 17), (2, 64)):
        inputs = _sentences(batch, sequence)
        (expected,) = session.run(None, inputs)
        (result,) = program.run(converted.main.symbol_name, [inputs[v.name] for v in converted.main.inputs])
        np.testing.assert_allclose(result, expected, rtol=0, atol=1e-4)
