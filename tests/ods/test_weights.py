"""Compressed models count the parameters of the models that coremltools compressed."""

from __future__ import annotations

from pathlib import Path

import pytest

import commonir as cir

MODELS = Path(__file__).parents[1] / "models"


def summary(name: str) -> cir.Summary:
    return cir.summarize(cir.load(MODELS / name / "model.mlpackage"), with_weights=True)


@pytest.mark.slow_cases("t5*", "llama*")
@pytest.mark.parametrize(
    ("compressed", "plain", "storage", "bits"),
    [
        ("pixel_shuffle_palettized4_fp16", "pixel_shuffle_fp16", "palettized 4 bits", (4, 4.5)),
        ("pixel_shuffle_int8_fp16", "pixel_shuffle_fp16", "int8 per channel", (8, 8.5)),
        ("pixel_shuffle_sparse_fp32", "pixel_shuffle_fp32", "sparse 60 %", (12.8, 14)),
        ("pixel_shuffle_uint8_fp32", "pixel_shuffle_fp32", "uint8 per channel", (8, 8.7)),
        ("llama_stateful_int4_fp16", "llama_stateful_fp16", "int4 blocks of 16", (5, 5)),
        ("t5_encoder_uint4_fp32", "t5_encoder_fp32", "uint4 blocks of 8", (8.5, 8.5)),
        ("t5_encoder_sparse_palettized4_fp32", "t5_encoder_fp32", "sparse 50 %, palettized 4 bits", (3, 4)),
    ],
)
def test_compressed_models_count_what_their_weights_stand_for(
    compressed: str, plain: str, storage: str, bits: tuple[float, float]
) -> None:
    small, whole = summary(compressed), summary(plain)
    assert small.weights is not None
    assert whole.weights is not None
    by_type = {w.type: w.parameter_count for w in small.weights if w.storage}
    # Each has a weight of its type in the model before.
    assert by_type.items() <= {w.type: w.parameter_count for w in whole.weights}.items()
    # The converter may add a scalar.
    assert abs(small.parameter_count - whole.parameter_count) <= 1
    first = next(entry for entry in small.storages if entry.storage)
    assert first.storage == storage
    assert bits[0] <= first.bits <= bits[1]
    assert sum(entry.size_bytes for entry in small.storages) == sum(small.weight_bytes.values())


def test_numbers_that_are_not_tensors_are_not_parameters() -> None:
    """A parameter is an element of a constant tensor; `arith.constant 2 : i32` is a literal of the program."""
    program = cir.loads(
        """
        func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
          %two = arith.constant 2 : i32
          %half = arith.constant 0.5 : f32
          %position = arith.constant 1 : index
          %w = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
          %y = arith.mulf %x, %w : tensor<3xf32>
          return %y : tensor<3xf32>
        }
        """,
        format="mlir",
    )
    found = cir.summarize(program)
    assert (found.parameter_count, found.weight_bytes) == (3, {"f32": 12})
