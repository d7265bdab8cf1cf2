"""Older versions of operators on elements, reductions, normalizations and quantization, as onnxruntime runs them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.dialects.onnx.onnx_programs import assert_same, program, run_here, run_with_evaluator, run_with_onnxruntime

Array = NDArray[Any]

ENGINES = pytest.mark.parametrize("engine", ["numpy", "reference"])
_RANDOM = np.random.default_rng(11)
X = _RANDOM.normal(size=(2, 3, 4)).astype(np.float32)
Y = _RANDOM.normal(size=(3, 1)).astype(np.float32)
IMAGE = _RANDOM.normal(size=(2, 4, 5, 6)).astype(np.float32)
CHANNELS = {name: np.abs(_RANDOM.normal(size=4)).astype(np.float32) + 0.5 for name in ("scale", "bias", "mean", "var")}
WHOLE = _RANDOM.integers(-5, 6, (2, 3, 4)).astype(np.int32)
TIES = np.array([[1, 3, 3, 2], [0, 0, -1, 0]], np.float32)
WITH_NAN = np.array(
    [[np.nan, 1, 2], [1, np.nan, 2], [2, 1, np.nan], [np.nan] * 3, [np.nan, np.nan, 1], [-np.inf, np.nan, -np.inf]],
    np.float32,
)
BYTES = _RANDOM.integers(0, 256, (3, 4)).astype(np.uint8)
# onnxruntime adds two products in 16 bits on x86 processors without VNNI, which seven bits do not overflow.
SIGNED_BYTES = _RANDOM.integers(-64, 64, (4, 5)).astype(np.int8)
SCALE, BYTE = np.array(0.05, np.float32), np.array(120, np.uint8)
SIGNED_BYTE = np.array(-3, np.int8)
PIXELS = _RANDOM.integers(0, 256, (1, 2, 5, 5)).astype(np.uint8)
FILTERS = _RANDOM.integers(-9, 9, (3, 2, 3, 3)).astype(np.int8)
LABELS = np.array([[1, 0, 2, 1], [2, 2, 0, 1]], np.int64)

ELEMENTWISE = [
    (7, "y = Add (a, b)", (X, Y)),
    (7, "y = Pow (a, b)", (np.abs(X) + 1, Y)),
    (12, "y = Pow (a, b)", (np.abs(X) + 1, np.array([2, 3, 0, 1]))),
    (12, "y = Pow (a, b)", (WHOLE, np.array([2, 1, 3, 0], np.int32))),
    (12, "y = Pow (a, b)", (np.abs(WHOLE), np.array([0.5, 2, 1, 1.5], np.float32))),
    (13, "y = Div (a, b)", (WHOLE, np.array([2, -3, 4, -1], np.int32))),
    (10, "y = Mod (a, b)", (WHOLE, np.array([2, -3, 4, -1], np.int32))),
    (10, "y = Mod <fmod = 1> (a, b)", (X, Y)),
    (11, 'y = BitShift <direction = "LEFT"> (a, b)', (BYTES, np.array([0, 1, 2, 7], np.uint8))),
    (11, 'y = BitShift <direction = "RIGHT"> (a, b)', (BYTES, np.array([0, 1, 2, 7], np.uint8))),
    (7, "y = Less (a, b)", (X, Y)),
    (9, "y = Greater (a, b)", (WHOLE, np.array([0], np.int32))),
    (7, "y = Equal (a, b)", (WHOLE, np.array([0], np.int32))),
    (11, "y = Equal (a, b)", (TIES, np.array([3], np.float32))),
    (7, "y = Max (a, b, a)", (X, X[:, ::-1].copy())),
    (8, "y = Min (a, b)", (X, Y)),
    (12, "y = Max (a, b)", (WHOLE, np.array([0], np.int32))),
    (8, "y = Sum (a, b, a)", (X, Y)),
    (8, "y = Mean (a, b, a)", (X, Y)),
    (7, "y = Clip <min = -0.5, max = 0.7> (a)", (X,)),
    (10, "y = Clip <max = 0.7> (a)", (X,)),
    (11, 'y = Clip (a, "", b)', (X, np.array(0.5, np.float32))),
    (13, "y = Clip (a, b, c)", (X, np.array([-0.5], np.float32), np.array([0.5], np.float32))),
    (12, "y = Clip (a, b, c)", (WHOLE, np.array(-2, np.int32), np.array(3, np.int32))),
    (9, "y = Where (a, b, c)", (WHOLE > 0, X, Y)),
    (9, "y = Erf (a)", (X,)),
    (9, "y = Sign (a)", (X,)),
    (9, "y = IsNaN (a)", (np.array([1, np.nan], np.float32),)),
    (10, "y = IsInf <detect_negative = 0> (a)", (np.array([1, np.inf, -np.inf], np.float32),)),
    (11, "y = Round (a)", (np.array([-2.5, -0.5, 0.5, 1.5, 2.4], np.float32),)),
    (7, "y = Abs (a)", (WHOLE,)),
    (9, "y = Shrink <lambd = 0.4, bias = 0.1> (a)", (X,)),
    (7, "y = PRelu (a, b)", (X, Y)),
    (9, "y = PRelu (a, b)", (X, Y)),
    (7, "y = LeakyRelu <alpha = 0.2> (a)", (X,)),
    (7, "y = Elu <alpha = 0.5> (a)", (X,)),
    (7, "y = Selu (a)", (X,)),
    (12, "y = Celu <alpha = 0.7> (a)", (X,)),
    (10, "y = ThresholdedRelu <alpha = 0.3> (a)", (X,)),
    (7, "y = HardSigmoid (a)", (X,)),
    (14, "y = HardSwish (a)", (X,)),
    (18, "y = Mish (a)", (X,)),
    (7, "y = Softplus (a)", (X,)),
    (7, "y = Softsign (a)", (X,)),
    (7, "y = Relu (a)", (X,)),
]
ALONG_AXES = [
    *[(v, f"y = {op} <axis = {axis}> (a)", (X,)) for v in (7, 11) for op in ("Softmax", "LogSoftmax", "Hardmax")
      for axis in (0, 1, 2)],
    *[(v, f"y = {op} (a)", (X,)) for v in (7, 13) for op in ("Softmax", "LogSoftmax", "Hardmax")],
    *[(v, f"y = Reduce{op} <axes = [0, 2], keepdims = {keep}> (a)", (np.abs(X) + 0.1,)) for v, keep in ((7, 1), (11, 0))
      for op in ("Mean", "Max", "Min", "Prod", "Sum", "L1", "L2", "LogSum", "LogSumExp", "SumSquare")],
    *[(13, f"y = Reduce{op} (a)", (X,)) for op in ("Mean", "Max", "Min", "Prod", "L1", "L2", "LogSumExp", "SumSquare")],
    *[(7, f"y = Reduce{op} <axes = [1]> (a)", (WHOLE,)) for op in ("Sum", "Mean", "Max", "Prod", "SumSquare")],
    (12, "y = ReduceMax <axes = [1]> (a)", (BYTES,)),
    *[(v, f"y = {op} <axis = 1, keepdims = {keep}> (a)", (TIES,)) for v, keep in ((7, 1), (11, 0))
      for op in ("ArgMax", "ArgMin")],
    *[(12, f"y = {op} <axis = 1, select_last_index = 1> (a)", (TIES,)) for op in ("ArgMax", "ArgMin")],
    *[(13, f"y = {op} <axis = {axis}> (a)", (WITH_NAN if axis else WITH_NAN.T.copy(),))
      for op in ("ArgMax", "ArgMin") for axis in (0, 1)],
]  # fmt: skip
NORMALIZATIONS = [
    (7, "y = LRN <size = 3, alpha = 0.5, beta = 0.6, bias = 2.0> (a)", (IMAGE,)),
    (7, "y = LpNormalization <axis = 1, p = 1> (a)", (X,)),
    (7, "y = LpNormalization <axis = -1> (a)", (X,)),
    (9, "y = MeanVarianceNormalization (a)", (IMAGE,)),
    (7, "y = InstanceNormalization <epsilon = 0.01> (a, b, c)", (IMAGE, CHANNELS["scale"], CHANNELS["bias"])),
    *[(v, "y = BatchNormalization <epsilon = 0.01> (a, b, c, d, e)", (IMAGE, *CHANNELS.values())) for v in (7, 9, 14)],
    (17, "y, m, s = LayerNormalization <axis = 1> (a, b)", (X, X[0])),
    (7, "y = Dropout (a)", (X,)),
    (10, "y = Dropout (a)", (X,)),
    (12, "y, m = Dropout (a)", (X,)),
    (12, "y = NegativeLogLikelihoodLoss (a, b)", (X, np.array(LABELS))),
    (12, 'y = NegativeLogLikelihoodLoss <reduction = "none", ignore_index = 1> (a, b, c)', (X, LABELS, Y[:, 0])),
    (12, 'y = SoftmaxCrossEntropyLoss <reduction = "sum"> (a, b)', (X, LABELS)),
    (12, "y, p = SoftmaxCrossEntropyLoss <ignore_index = 2> (a, b)", (X, LABELS)),
]  # fmt: skip
QUANTIZED = [
    (10, "y = QuantizeLinear (a, b, c)", (X * 3, SCALE, BYTE)),
    (10, "y = QuantizeLinear (a, b)", (X * 3, SCALE)),
    (13, "y = QuantizeLinear <axis = 1> (a, b, c)", (X * 3, np.abs(Y[:, 0]), np.array([1, -2, 3], np.int8))),
    (10, "y = DequantizeLinear (a, b, c)", (BYTES, SCALE, BYTE)),
    (13, "y = DequantizeLinear <axis = 0> (a, b, c)", (BYTES, Y[:, 0], np.array([1, 2, 3], np.uint8))),
    (11, "y, q, z = DynamicQuantizeLinear (a)", (X,)),
    (10, "y = MatMulInteger (a, b, c, d)", (BYTES, SIGNED_BYTES, BYTE, SIGNED_BYTE)),
    (10, "y = QLinearMatMul (a, s, c, b, s, d, t, e)", (BYTES, SIGNED_BYTES, BYTE, SIGNED_BYTE, BYTE)),
    (10, "y = ConvInteger <pads = [1, 1, 1, 1]> (a, b, c)", (PIXELS, FILTERS, BYTE)),
    (10, "y = QLinearConv <strides = [2, 2]> (a, s, c, b, s, d, t, e)", (PIXELS, FILTERS, BYTE, SIGNED_BYTE, BYTE)),
]


def _inputs(body: str, inputs: tuple[Array, ...]) -> dict[str, Array]:
    """Arrays by the names of the operands; s and t are scales."""
    scales = {"s": SCALE, "t": np.array(4.0, np.float32)}
    return dict(zip("abcde", inputs, strict=False)) | {n: x for n, x in scales.items() if f" {n}," in body}


def _outputs(body: str) -> list[str]:
    return [name.strip() for name in body.partition("=")[0].split(",")]


@pytest.mark.fast_every(3)
@ENGINES
@pytest.mark.parametrize(("opset", "body", "arguments"), [*ELEMENTWISE, *ALONG_AXES, *NORMALIZATIONS, *QUANTIZED])
def test_older_versions_are_those_of_onnxruntime(
    opset: int, body: str, arguments: tuple[Array, ...], engine: str
) -> None:
    inputs = _inputs(body, arguments)
    model = program(opset, body, inputs, _outputs(body))
    assert_same(run_here(model, inputs, engine), run_with_onnxruntime(model, inputs), rtol=2e-5)


@ENGINES
@pytest.mark.parametrize(
    ("opset", "body", "arguments"),
    [
        (18, "y = GroupNormalization <num_groups = 2> (a, b, c)", (IMAGE, *[v[:2] for v in CHANNELS.values()][:2])),
        (21, "y = GroupNormalization <num_groups = 2> (a, b, c)", (IMAGE, CHANNELS["scale"], CHANNELS["bias"])),
        (14, "y, m, v = BatchNormalization <training_mode = 1> (a, b, c, d, e)", (IMAGE, *CHANNELS.values())),
        (12, "y, m = Dropout <seed = 3> (a, b, c)", (X, np.array(0.3, np.float32), np.array(True))),
        (28, 'y = BitShift <direction = "RIGHT"> (a, b)', (WHOLE, np.array([0, 1, -1, 40], np.int32))),
    ],
)
def test_versions_that_onnxruntime_lacks_are_those_of_the_evaluator_of_onnx(
    opset: int, body: str, arguments: tuple[Array, ...], engine: str
) -> None:
    inputs = _inputs(body, arguments)
    model = program(opset, body, inputs, _outputs(body))
    assert_same(run_here(model, inputs, engine), run_with_evaluator(model, inputs), rtol=2e-5)


@pytest.mark.parametrize(
    ("axis", "b"), [("", Y[:, 0].reshape(3, 1)), (", axis = 1", Y[:, 0]), (", axis = 0", X[:, :, 0]), ("", X[0, 0])]
)
def test_before_version_7_the_second_tensor_lies_along_an_axis_of_the_first(axis: str, b: Array) -> None:
    """The expected sum is numpy's of the tensor with axes of size 1 added behind."""
    aligned = {1: Y, 0: X[:, :, :1]}[int(axis[-1])] if axis else b
    model = program(6, f"y = Add <broadcast = 1{axis}> (a, b)", {"a": X, "b": b}, ["y"])
    for engine in ("numpy", "reference"):
        assert_same(run_here(model, {"a": X, "b": b}, engine), [X + aligned])


def test_training_by_the_number_of_results_gives_statistics_of_the_batch() -> None:
    """In versions 7 and 9, which no runtime trains; the expected values are numpy's."""
    inputs = {"a": IMAGE, **CHANNELS}
    body = "y, m, v, sm, sv = BatchNormalization <momentum = 0.8> (a, scale, bias, mean, var)"
    mean, variance = IMAGE.mean((0, 2, 3)), IMAGE.var((0, 2, 3))
    wide = (slice(None), None, None)
    y = (IMAGE - mean[wide]) / np.sqrt(variance[wide] + 1e-5) * CHANNELS["scale"][wide] + CHANNELS["bias"][wide]
    moved = [0.8 * CHANNELS["mean"] + 0.2 * mean, 0.8 * CHANNELS["var"] + 0.2 * variance]
    for opset in (7, 9):
        model = program(opset, body, inputs, ["y", "m", "v", "sm", "sv"])
        for engine in ("numpy", "reference"):
            result = run_here(model, inputs, engine)
            assert_same(result, [x.astype(np.float32) for x in (y, *moved, mean, variance)], rtol=1e-5)
