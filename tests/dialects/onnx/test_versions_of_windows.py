"""Results of operators with windows, products, recurrent layers, resampling and signals in each version, against
onnxruntime.

The backend suite of onnx has cases for the newest versions; these are for all that are current from opset 7 on.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.dialects.onnx.onnx_programs import assert_same, program, run_here, run_with_onnxruntime

Array = NDArray[Any]
OPSETS = (7, 8, 9, 10, 11, 12, 13, 14, 16, 18, 19, 20, 21, 22)


class Case(NamedTuple):
    """A node, the values of its inputs and the operator sets it is tried in."""

    node: str
    inputs: dict[str, Array]
    opsets: tuple[int, ...]
    outputs: tuple[str, ...] = ("z",)


def _floats(*shape: int) -> Array:
    return np.random.default_rng(len(shape) + 7 * sum(shape)).standard_normal(shape).astype(np.float32)


def _longs(*values: int) -> Array:
    return np.asarray(values, np.int64)


def _from(first: int, last: int = 22) -> tuple[int, ...]:
    return tuple([n for n in OPSETS if first <= n <= last])


X, W = _floats(2, 4, 9, 8), _floats(6, 2, 3, 2)
LINE, CUBE = _floats(1, 3, 11), _floats(1, 2, 5, 6, 4)
A, B, C = _floats(3, 4), _floats(4, 5), _floats(5)
ROIS = np.asarray([[0, 0, 4, 5], [1.5, 2, 7, 8.25], [3, 1, 3.5, 9]], np.float32)
BOXES = np.abs(_floats(2, 6, 4))
# Halves and eighths: onnxruntime divides by a factor in single precision.
SCALES = np.asarray([1, 1, 0.625, 1.5], np.float32)
NONE = np.zeros(0, np.float32)

_SPATIAL = "kernel_shape = [3, 2], strides = [2, 3]"

WINDOWS = [
    Case("z = Conv<group = 2, pads = [1, 0, 2, 1], strides = [2, 1]>(x, w)", {"x": X, "w": W}, _from(7)),
    Case('z = Conv<group = 2, auto_pad = "SAME_UPPER", strides = [2, 3]>(x, w)', {"x": X, "w": W}, _from(7)),
    Case('z = Conv<group = 2, auto_pad = "SAME_LOWER", strides = [3, 1]>(x, w, b)',
         {"x": X, "w": W, "b": _floats(6)}, _from(7)),
    Case('z = Conv<group = 2, auto_pad = "VALID", kernel_shape = [3, 2]>(x, w)', {"x": X, "w": W}, _from(7)),
    Case("z = Conv(x, w)", {"x": CUBE, "w": _floats(3, 2, 2, 3, 2)}, _from(7)),
    Case("z = ConvTranspose<group = 2, strides = [2, 3], output_padding = [1, 2], pads = [1, 0, 0, 1]>(x, w)",
         {"x": X, "w": _floats(4, 3, 3, 3)}, _from(7)),
    Case("z = ConvTranspose<strides = [2, 3], output_shape = [19, 22]>(x, w)",
         {"x": X, "w": _floats(4, 3, 3, 3)}, _from(7)),
    Case('z = ConvTranspose<strides = [2], auto_pad = "SAME_UPPER">(x, w)',
         {"x": LINE, "w": _floats(3, 2, 3)}, _from(7)),
    Case('z = ConvTranspose<strides = [3], auto_pad = "SAME_LOWER">(x, w)',
         {"x": LINE, "w": _floats(3, 2, 3)}, _from(7)),
    Case(f"z = MaxPool<{_SPATIAL}, pads = [1, 0, 0, 1]>(x)", {"x": X}, _from(7)),
    Case(f'z = MaxPool<{_SPATIAL}, auto_pad = "SAME_LOWER">(x)', {"x": X}, _from(7)),
    Case(f"z, i = MaxPool<{_SPATIAL}>(x)", {"x": X}, _from(8), ("z", "i")),
    Case(f"z, i = MaxPool<{_SPATIAL}, storage_order = 1>(x)", {"x": X}, _from(8), ("z", "i")),
    Case("z, i = MaxPool<kernel_shape = [2, 2, 2], storage_order = 1>(x)", {"x": CUBE}, _from(8), ("z", "i")),
    Case(f"z, i = MaxPool<{_SPATIAL}, dilations = [2, 3], ceil_mode = 1, pads = [1, 0, 0, 1]>(x)",
         {"x": X}, _from(10), ("z", "i")),
    Case("z = MaxPool<kernel_shape = [3], strides = [2]>(x)", {"x": (LINE * 50).astype(np.int8)}, _from(12)),
    Case(f"z = AveragePool<{_SPATIAL}, pads = [1, 0, 0, 1]>(x)", {"x": X}, _from(7)),
    Case(f"z = AveragePool<{_SPATIAL}, pads = [1, 0, 0, 1], count_include_pad = 1>(x)", {"x": X}, _from(7)),
    Case(f'z = AveragePool<{_SPATIAL}, auto_pad = "SAME_UPPER">(x)', {"x": X}, _from(7)),
    Case(f"z = AveragePool<{_SPATIAL}, ceil_mode = 1>(x)", {"x": X}, _from(10)),
    Case(f"z = AveragePool<{_SPATIAL}, dilations = [2, 3], pads = [1, 0, 0, 1]>(x)", {"x": X}, _from(19)),
    Case(f"z = LpPool<{_SPATIAL}, p = 3, pads = [1, 0, 0, 1]>(x)", {"x": X}, _from(7)),
    Case(f"z = LpPool<{_SPATIAL}, dilations = [2, 1]>(x)", {"x": X}, _from(18)),
    Case("z = GlobalAveragePool(x)", {"x": X}, _from(7)),
    Case("z = GlobalMaxPool(x)", {"x": CUBE}, _from(7)),
    Case("z = GlobalLpPool<p = 3>(x)", {"x": X}, _from(7, 21)),
    Case("y, i = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(x) z = MaxUnpool<kernel_shape = [2, 2], "
         "strides = [2, 2]>(y, i)", {"x": X[:, :, :8]}, _from(9)),
    Case("z = Col2Im<strides = [2, 1], pads = [1, 0, 0, 2], dilations = [1, 2]>(x, n, k)",
         {"x": _floats(2, 12, 9), "n": _longs(5, 5), "k": _longs(2, 3)}, _from(18)),
    Case("z = MaxRoiPool<pooled_shape = [2, 3], spatial_scale = 0.5>(x, r)",
         {"x": X, "r": np.concatenate([np.asarray([[0], [1], [0]], np.float32), np.rint(ROIS * 2)], 1)}, _from(7, 21)),
    Case("z = RoiAlign<output_height = 3, output_width = 2, spatial_scale = 0.75>(x, r, i)",
         {"x": X, "r": ROIS, "i": _longs(1, 0, 1)}, _from(10, 21)),
    Case('z = RoiAlign<output_height = 3, output_width = 2, sampling_ratio = 2, mode = "max">(x, r, i)',
         {"x": X, "r": ROIS, "i": _longs(1, 0, 1)}, _from(10, 21)),
    Case('z = RoiAlign<coordinate_transformation_mode = "output_half_pixel", sampling_ratio = 3>(x, r, i)',
         {"x": X, "r": ROIS, "i": _longs(1, 0, 1)}, _from(16, 21)),
]  # fmt: skip

PRODUCTS = [
    Case("z = Gemm<alpha = 0.5, beta = 2.0>(a, b, c)", {"a": A, "b": B, "c": C}, _from(7)),
    Case("z = Gemm<transA = 1, transB = 1>(a, b, c)", {"a": A.T.copy(), "b": B.T.copy(), "c": C}, _from(7)),
    Case("z = Gemm<transB = 1>(a, b, c)", {"a": A, "b": B.T.copy(), "c": C}, _from(7)),
    Case("z = Gemm(a, b)", {"a": A, "b": B}, _from(11)),
    Case("z = MatMul(a, b)", {"a": _floats(2, 1, 3, 4), "b": B}, _from(7)),
    Case("z = MatMul(a, b)", {"a": (A * 9).astype(np.int32), "b": (B * 9).astype(np.int32)}, _from(9)),
    Case('z = Einsum<equation = "ij, jk -> ki">(a, b)', {"a": A, "b": B}, _from(12)),
    Case('z = Einsum<equation = "...ij,...jk">(a, b)', {"a": _floats(2, 1, 3, 4), "b": _floats(1, 5, 4, 2)}, _from(12)),
    Case('z = Einsum<equation = "ii->i">(a)', {"a": _floats(4, 4)}, _from(12)),
]

_SIZES = {"x": X, "r": NONE, "s": SCALES}
_EMPTY = "e = Constant<value = float[0] {}>()"
_TARGET = {"x": X, "n": _longs(2, 4, 5, 12)}


def _resizes() -> list[Case]:
    how = 'coordinate_transformation_mode = "tf_half_pixel_for_nn"'
    out = [
        Case(f"z = Resize<{how}>(x, r, s)", _SIZES, (11, 13, 19)),
        Case('z = Resize<mode = "nearest">(x, s)', {"x": X, "s": SCALES}, (10,)),
        Case('z = Resize<mode = "linear">(x, s)', {"x": X, "s": SCALES}, (10,)),
        Case('z = Resize<mode = "nearest">(x, s)', {"x": X, "s": np.asarray([1, 1, 2, 3], np.float32)}, (10,)),
    ]
    kinds = ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel")
    for kind in kinds:
        for nearest in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"):
            how = f'coordinate_transformation_mode = "{kind}", nearest_mode = "{nearest}"'
            if kind != "align_corners":  # onnxruntime has a whole length there, the suite of onnx n times the factor
                out.append(Case(f"z = Resize<{how}>(x, r, s)", _SIZES, (11, 13, 18)))
            out.append(Case(f"{_EMPTY} z = Resize<{how}>(x, e, e, n)", _TARGET, (11, 13, 18)))
        for mode in ("linear", "cubic"):
            how = f'coordinate_transformation_mode = "{kind}", mode = "{mode}"'
            if kind != "align_corners":  # onnxruntime has a whole length there, the suite of onnx n times the factor
                out.append(Case(f"z = Resize<{how}>(x, r, s)", _SIZES, (11, 13, 18)))
            out.append(Case(f"{_EMPTY} z = Resize<{how}>(x, e, e, n)", _TARGET, (11, 13, 18, 19)))
    crop = np.asarray([0, 0, 0.2, -0.1, 1, 1, 0.9, 1.2], np.float32)
    for mode in ("nearest", "linear", "cubic"):
        how = f'coordinate_transformation_mode = "tf_crop_and_resize", extrapolation_value = 5.0, mode = "{mode}"'
        out.append(Case(f"{_EMPTY} z = Resize<{how}>(x, r, e, n)", {**_TARGET, "r": crop}, (11, 13, 18)))
    how = 'mode = "cubic", exclude_outside = 1, cubic_coeff_a = -0.5'
    out.append(Case(f"{_EMPTY} z = Resize<{how}>(x, e, e, n)", _TARGET, (11, 13, 18, 19)))
    for mode in ("linear", "cubic"):
        down = {"x": X, "n": _longs(2, 4, 4, 3)}
        out.append(Case(f'{_EMPTY} z = Resize<mode = "{mode}", antialias = 1>(x, e, e, n)', down, (18, 19)))
    for policy in ("not_larger", "not_smaller"):
        how = f'keep_aspect_ratio_policy = "{policy}", axes = [3, 2], mode = "linear"'
        out.append(Case(f"{_EMPTY} z = Resize<{how}>(x, e, e, n)", {**_TARGET, "n": _longs(12, 5)}, (18, 19)))
    return out


SAMPLES = [
    *[Case(f'z = GridSample<mode = "{mode}", padding_mode = "{padding}", align_corners = {aligned}>(x, g)',
           {"x": X, "g": _floats(2, 3, 4, 2)}, (16,))
      for mode in ("bilinear", "nearest", "bicubic") for padding in ("zeros", "border", "reflection")
      for aligned in (0, 1)],
    Case('z = GridSample<mode = "linear">(x, g)', {"x": CUBE, "g": _floats(1, 2, 3, 4, 3)}, _from(20)),
    Case("z = AffineGrid<align_corners = 1>(t, n)", {"t": _floats(2, 2, 3), "n": _longs(2, 3, 4, 5)}, (20,)),
    Case("z = AffineGrid(t, n)", {"t": _floats(2, 3, 4), "n": _longs(2, 3, 4, 5, 6)}, (20,)),
    *[Case(f"z = NonMaxSuppression<center_point_box = {centred}>(b, s, m, t, l)",
           {"b": BOXES, "s": _floats(2, 3, 6), "m": _longs(2), "t": np.asarray([0.3], np.float32),
            "l": np.asarray([-0.5], np.float32)}, _from(10)) for centred in (0, 1)],
    Case("z = DFT<axis = 1>(x)", {"x": _floats(2, 6, 1)}, (17, 18, 19)),
    Case("z = DFT<axis = 1, inverse = 1>(x)", {"x": _floats(2, 6, 2)}, (17, 18, 19)),
    Case("z = DFT<onesided = 1>(x, n)", {"x": _floats(2, 6, 1), "n": np.asarray(8)}, (17, 18, 19, 20)),
    Case("z = DFT(x, n, a)", {"x": _floats(5, 6, 2), "n": np.asarray(4), "a": np.asarray(0)}, (20,)),
    Case("z = STFT(x, n, w)", {"x": _floats(2, 30, 1), "n": np.asarray(3), "w": _floats(8)}, (17, 18, 20)),
    Case("z = STFT<onesided = 0>(x, n, w, k)", {"x": _floats(1, 30, 2), "n": np.asarray(4), "w": _floats(8),
         "k": np.asarray(8)}, (17, 18, 20)),
    *[Case(f"z = {name}Window<periodic = {periodic}>(n)", {"n": np.asarray(9)}, (17, 20))
      for name in ("Hann", "Hamming", "Blackman") for periodic in (0, 1)],
    Case("z = MelWeightMatrix(n, d, r, a, b)",
         {"n": np.asarray(8), "d": np.asarray(64), "r": np.asarray(8000), "a": np.asarray(80, np.float32),
          "b": np.asarray(3600, np.float32)}, (17, 20)),
    Case("z = RotaryEmbedding<num_heads = 2, interleaved = 1>(x, c, s, p)",
         {"x": _floats(2, 3, 16), "c": _floats(9, 4), "s": _floats(9, 4)[::-1].copy(),
          "p": np.asarray([[0, 1, 2], [4, 3, 8]])}, (23,)),
]  # fmt: skip


def _layers() -> list[Case]:
    out: list[Case] = []
    for name, gates, functions in (("RNN", 1, 1), ("GRU", 3, 2), ("LSTM", 4, 3)):
        for direction, count in (("forward", 1), ("reverse", 1), ("bidirectional", 2)):
            inputs = {
                "x": _floats(5, 3, 4), "w": _floats(count, gates * 2, 4), "r": _floats(count, gates * 2, 2),
                "b": _floats(count, gates * 4), "n": np.asarray([5, 2, 4], np.int32), "h": _floats(count, 3, 2),
            }  # fmt: skip
            operands = "x, w, r, b, n, h"
            outputs = ("z", "zh")
            if name == "LSTM":
                inputs |= {"c": _floats(count, 3, 2) / 2, "p": _floats(count, 6)}
                operands, outputs = "x, w, r, b, n, h, c, p", ("z", "zh", "zc")
            size = f'hidden_size = 2, direction = "{direction}"'
            left = ", ".join(outputs)
            out.append(Case(f"{left} = {name}<{size}>({operands})", inputs, (7, 12, 14, 21), outputs))
            one_empty = {**inputs, "n": np.asarray([5, 0, 1], np.int32)}
            out.append(Case(f"{left} = {name}<{size}>({operands})", one_empty, (14,), outputs))
            plain = {n: inputs[n] for n in "xwr"}
            out.append(Case(f"{left} = {name}<{size}, clip = 0.5>(x, w, r)", plain, (7, 14), outputs))
            names = ["ScaledTanh", "LeakyRelu", "HardSigmoid", "Affine", "Elu", "ThresholdedRelu", "Softsign"]
            chosen = ", ".join([f'"{names[n]}"' for n in range(functions * count)])
            parameters = "activation_alpha = [0.5, 0.25, 0.3, 0.7, 0.9, 0.2], activation_beta = [0.75, 0.4, 0.1]"
            how = f"activations = [{chosen}], {parameters}"
            out.append(Case(f"{left} = {name}<{size}, {how}>({operands})", inputs, (7, 14), outputs))
    out += [
        Case("z, zh = GRU<hidden_size = 2, linear_before_reset = 1>(x, w, r, b)",
             {"x": _floats(5, 3, 4), "w": _floats(1, 6, 4), "r": _floats(1, 6, 2), "b": _floats(1, 12)}, (7, 14),
             ("z", "zh")),
        Case("z, zh, zc = LSTM<hidden_size = 2, input_forget = 1>(x, w, r, b)",
             {"x": _floats(5, 3, 4), "w": _floats(1, 8, 4), "r": _floats(1, 8, 2), "b": _floats(1, 16)}, (7, 14),
             ("z", "zh", "zc")),
    ]  # fmt: skip
    return out


CASES = [(case, opset) for case in [*WINDOWS, *PRODUCTS, *_resizes(), *SAMPLES, *_layers()] for opset in case.opsets]
_NAMES = [f"{opset}: {case.node}" for case, opset in CASES]


@pytest.mark.fast_every(8)
@pytest.mark.parametrize("engine", ["numpy", "reference"])
@pytest.mark.parametrize(("case", "opset"), CASES, ids=_NAMES)
def test_versions_mean_what_onnxruntime_computes(case: Case, opset: int, engine: str) -> None:
    model = program(opset, case.node, case.inputs, case.outputs, ir_version=8 if opset < 21 else 10)
    expected = run_with_onnxruntime(model, case.inputs)
    assert_same(run_here(model, case.inputs, engine), expected, rtol=2e-5)
