"""Operators of com.microsoft that are several in one, or have become others, give what onnxruntime gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto

from tests.dialects.onnx.microsoft_programs import ENGINES, Array, Draws, check, node_model, scalar
from tests.dialects.onnx.onnx_programs import run_here

TURNS = pytest.mark.parametrize(("turn_a", "turn_b"), [(0, 0), (1, 0), (0, 1), (1, 1)])


def test_activations() -> None:
    draws = Draws(1)
    x, bias = draws.floats(2, 3, 4), draws.floats(4)
    for op_type in ("Gelu", "QuickGelu", "FastGelu"):
        check(op_type, [x])
    check("QuickGelu", [x], alpha=1.0)
    check("FastGelu", [x, bias])
    check("BiasGelu", [x, bias])


def test_gated_activation() -> None:
    """onnxruntime computes it on devices alone: the halves of x + bias are a and b, and it gives a b P(Z <= b)."""
    x, bias = np.array([[[1.0, 2.0, -0.5, 0.25]]], np.float32), np.array([0.5, -1.0, 1.5, 0.75], np.float32)
    expected = [[[1.5 * 0.8413447460685429, 0.8413447460685429]]]
    model = node_model("BiasSplitGelu", [x, bias], 1, stated={0: TensorProto.FLOAT})
    for engine in ENGINES:
        (result,) = run_here(model, {"x0": x, "x1": bias}, engine)
        np.testing.assert_allclose(result, np.array(expected, np.float32), rtol=1e-6)


def turned(x: Array, turn: int) -> Array:
    """A tensor with its first and last axes in the other order."""
    return np.ascontiguousarray(np.swapaxes(x, 0, -1)) if turn else x


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_distances(dtype: Any) -> None:
    draws = Draws(16)
    a, b = (draws.floats(n, 5).astype(dtype) for n in (3, 4))
    for metric in ("sqeuclidean", "euclidean"):
        (diagnostic,) = check("CDist", [a, b], metric=metric)
        apart = np.linalg.norm(a[:, None] - b[None], axis=-1)
        np.testing.assert_allclose(diagnostic, apart**2 if metric == "sqeuclidean" else apart, rtol=1e-5)
    check("CDist", [a, b])


@TURNS
@pytest.mark.parametrize("op_type", ["TransposeMatMul", "FusedMatMul"])
def test_products(op_type: str, turn_a: int, turn_b: int) -> None:
    draws = Draws(2)
    a, b = turned(draws.floats(3, 2, 5), turn_a), turned(draws.floats(5, 2, 4), turn_b)
    a, b = (np.ascontiguousarray(np.swapaxes(v, 0, 1)) for v in (a, b))
    check(op_type, [a, b], transA=turn_a, transB=turn_b, alpha=0.5)


@TURNS
def test_products_of_turned_batches(turn_a: int, turn_b: int) -> None:
    draws = Draws(3)
    a, b = turned(draws.floats(3, 2, 6, 5), turn_a), turned(draws.floats(5, 2, 6, 4), turn_b)
    check("FusedMatMul", [a, b], transA=turn_a, transB=turn_b, transBatchA=1, transBatchB=1)
    a, b = (x[:, :, 0].astype(np.float64) for x in (a, b))
    b = np.ascontiguousarray(np.swapaxes(b, 0, 1))
    check("FusedMatMul", [a, b], transA=turn_a, transB=turn_b, transBatchA=1)


def test_products_with_vectors() -> None:
    draws = Draws(4)
    check("FusedMatMul", [draws.floats(5), draws.floats(5, 4)], transA=1)
    check("FusedMatMul", [draws.floats(3, 5), draws.floats(5)], transB=1)


@pytest.mark.parametrize(
    "attributes",
    [
        {},
        {"activation": "Relu"},
        {"activation": "Tanh"},
        {"activation": "Sigmoid"},
        {"activation": "LeakyRelu", "activation_params": [0.2]},
        {"activation": "Clip", "activation_params": [-0.5, 0.5]},
        {"activation": "HardSigmoid", "activation_params": [0.3, 0.4]},
    ],
)
def test_convolutions(attributes: dict[str, Any]) -> None:
    draws = Draws(5)
    inputs = [draws.floats(2, 3, 8, 8), draws.floats(4, 3, 3, 3), draws.floats(4), draws.floats(2, 4, 8, 8)]
    check("FusedConv", inputs[:3], strides=[2, 2], **attributes)
    check("FusedConv", inputs, pads=[1, 1, 1, 1], **attributes)


@pytest.mark.parametrize(
    "attributes",
    [
        {"activation": "Relu"},
        {"activation": "Tanh"},
        {"activation": "Sigmoid"},
        {"activation": "Softplus"},
        {"activation": "Softsign"},
        {"activation": "LeakyRelu", "activation_alpha": 0.2},
        {"activation": "Elu", "activation_alpha": 0.7},
        {"activation": "Celu", "activation_alpha": 0.7},
        {"activation": "ThresholdedRelu", "activation_alpha": 0.4},
        {"activation": "HardSigmoid", "activation_alpha": 0.3, "activation_beta": 0.4},
        {"activation": "Selu", "activation_alpha": 1.5, "activation_gamma": 1.1},
    ],
)
def test_gemm(attributes: dict[str, Any]) -> None:
    draws = Draws(6)
    check("FusedGemm", [draws.floats(3, 5), draws.floats(5, 4), draws.floats(4)], alpha=0.5, beta=2.0, **attributes)
    check("FusedGemm", [draws.floats(5, 3), draws.floats(4, 5)], transA=1, transB=1, **attributes)


@pytest.mark.parametrize("shape", [(2, 3, 8), (1, 3, 8), (3, 8)])
def test_normalizations_of_sums(shape: tuple[int, ...]) -> None:
    draws = Draws(7)
    x, skip = draws.floats(2, 3, 8), draws.floats(*shape)
    gamma, beta, bias = (draws.floats(8) for _ in range(3))
    check("SkipLayerNormalization", [x, skip, gamma])
    check("SkipLayerNormalization", [x, skip, gamma, beta, bias], epsilon=1e-3)
    check("SkipLayerNormalization", [x, skip, gamma, None, bias])
    check("SkipSimplifiedLayerNormalization", [x, skip, gamma])
    check("SkipSimplifiedLayerNormalization", [x, skip, gamma, bias], epsilon=1e-3)


def test_normalizations_give_sums() -> None:
    """onnxruntime makes nothing of the mean and the deviation on a CPU, which are between."""
    draws = Draws(8)
    x, skip, gamma, bias = draws.floats(2, 3, 8), draws.floats(2, 3, 8), draws.floats(8), draws.floats(8)
    check("SkipLayerNormalization", [x, skip, gamma, None, bias], 4, dropped=[1, 2])
    check("SkipSimplifiedLayerNormalization", [x, skip, gamma, bias], 4, dropped=[1, 2])


def test_normalizations_of_halves() -> None:
    draws = Draws(9)
    x, skip, gamma = (v.astype(np.float16) for v in (draws.floats(2, 3, 8), draws.floats(2, 3, 8), draws.floats(8)))
    # One step of numbers of half precision between 1 and 2.
    check("SkipLayerNormalization", [x, skip, gamma, gamma], rtol=2e-3)
    check("SimplifiedLayerNormalization", [x, gamma], domain="", rtol=2e-3)


def test_normalization_of_the_default_domain() -> None:
    draws = Draws(10)
    x = draws.floats(2, 3, 8)
    check("SimplifiedLayerNormalization", [x, draws.floats(8)], domain="")
    check("SimplifiedLayerNormalization", [x, draws.floats(3, 8)], 2, domain="", axis=1, epsilon=1e-3)


def test_normalization_before_onnx_has_it() -> None:
    draws = Draws(15)
    x, scale = draws.floats(2, 3, 8), draws.floats(3, 8)
    check("LayerNormalization", [x, scale[0], draws.floats(8)], domain="", default_opset=14)
    check("LayerNormalization", [x, scale, draws.floats(3, 8)], 3, domain="", axis=1, epsilon=1e-3, default_opset=14)


@pytest.mark.parametrize("mask", [None, [[1, 1, 1, 0, 0], [1, 1, 1, 1, 0]], [[0, 1, 1, 0, 1], [1, 0, 1, 1, 0]]])
def test_embeddings(mask: list[list[int]] | None) -> None:
    draws = Draws(11)
    words, segments = (draws.random.integers(0, n, (2, 5)).astype(np.int32) for n in (10, 2))
    tables = [draws.floats(n, 8) for n in (10, 7, 2)]
    norm = [draws.floats(8), draws.floats(8)]
    preserved = None if mask is None else np.array(mask, np.int32)
    check("EmbedLayerNormalization", [words, segments, *tables, *norm, preserved], 2)
    check("EmbedLayerNormalization", [words, None, *tables[:2], None, *norm, preserved], 2)
    for count in (1, 2):
        places = draws.random.integers(0, 7, (count, 5)).astype(np.int32)
        check("EmbedLayerNormalization", [words, segments, *tables, *norm, preserved, places], 3, epsilon=1e-3)


def test_early_forms_of_movement() -> None:
    draws = Draws(12)
    x = draws.floats(4, 5)
    for axis in (1, -1):
        check("ExpandDims", [x, scalar(axis, np.int32)], constant=[1])
    check("GatherND", [x, np.array([[1], [3]])])
    check("GatherND", [x, np.array([[1, 2], [3, 0]], np.int32)])
    check("Trilu", [x])
    check("Trilu", [x, scalar(1, np.int64)], upper=0)
    check("Unique", [np.array([2, 1, 1, 3, 4, 3], np.float32)], 3)
    check("Range", [scalar(1), scalar(5)])
    check("Range", [scalar(1, np.int64), scalar(9, np.int64), scalar(3, np.int64)], constant=[0, 1, 2])


@pytest.mark.parametrize("constant", [[], [1]])
def test_early_form_of_padding(constant: list[int]) -> None:
    x, value = Draws(13).floats(3, 4), np.array([2.5], np.float32)
    check("Pad", [x, np.array([1, 0, 2, 1])], constant=constant)
    check("Pad", [x, np.array([1, 0, 2, 1])], mode="reflect", constant=constant)
    check("Pad", [x, np.array([[1, 0, 2, 1]]), value], constant=[1])
    check("Pad", [x, np.array([1, -1, 2, 1])], mode="edge", constant=[1])


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("padding_mode", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("align_corners", [0, 1])
def test_early_form_of_sampling(mode: str, padding_mode: str, align_corners: int) -> None:
    draws = Draws(14)
    inputs = [draws.floats(1, 2, 5, 6), draws.floats(1, 4, 3, 2)]
    check("GridSample", inputs, mode=mode, padding_mode=padding_mode, align_corners=align_corners)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1, 1), (2, 3, 4, 4), (0, 3, 3), (7, 7)])
def test_inverse(dtype: Any, shape: tuple[int, ...]) -> None:
    x = np.linalg.qr(Draws(17).floats(*shape).astype(np.float64))[0] * 2 if 0 not in shape else np.zeros(shape)
    check("Inverse", [x.astype(dtype)], rtol=5e-3 if dtype == np.float16 else 1e-4)


def test_inverse_with_zeros_on_the_diagonal() -> None:
    (result,) = check("Inverse", [np.array([[0, 2, 0], [0, 0, 4], [1, 0, 0]], np.float32)])
    assert result.tolist() == [[0, 0, 1], [0.5, 0, 0], [0, 0.25, 0]]
