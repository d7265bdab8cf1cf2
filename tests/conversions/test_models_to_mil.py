"""Core ML models come back from the core: equal results, and a program that coremltools loads."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import commonir
from commonir.api import random_inputs, run_converted
from commonir.base.diagnostics import DiagnosticError

from tests.conversions.running_mil import load_in_coremltools

MODELS = Path(__file__).parents[1] / "models"
PACKAGES = sorted(MODELS.glob("*/*.mlpackage"))
# What another kind of model computes is not known.
_OPAQUE = "pipeline_opaque.mlpackage"


def _name(package: Path) -> str:
    return package.parent.name if package.stem == "model" else f"{package.parent.name}-{package.stem}"


@pytest.mark.fast_every(6)
@pytest.mark.slow_cases(
    "bert_flexible_length_*", "gpt2_attention_*", "llama_stateful_*", "mobilenet_v2_*", "segformer_*", "swin_*",
    "t5_encoder_*", "*_fp32",
)  # fmt: skip
@pytest.mark.parametrize("package", PACKAGES, ids=_name)
def test_model_comes_back_from_the_core(package: Path, tmp_path: Path) -> None:
    source = commonir.load(package)
    if package.name == _OPAQUE:
        with pytest.raises(DiagnosticError, match="cannot be run or converted"):
            commonir.lower(source)
        return
    converted = commonir.convert(commonir.lower(source), "coreml")
    inputs = random_inputs(source, seed=3)
    expected = commonir.run(source, inputs, seed=5)
    result = run_converted(source, converted, inputs)
    for name, value in expected.items():
        assert result[name].shape == value.shape
        if value.dtype.kind == "f":
            expected_value, got = value.astype(np.float64), result[name].astype(np.float64)
            scale = float(np.max(np.abs(expected_value), initial=0.0, where=np.isfinite(expected_value)))
            np.testing.assert_allclose(got, expected_value, rtol=2e-3, atol=2e-3 * scale, err_msg=name)
        else:
            np.testing.assert_array_equal(result[name], value, err_msg=name)
    load_in_coremltools(converted, tmp_path)
