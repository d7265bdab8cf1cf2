"""Quantized operators of com.microsoft give what onnxruntime gives.

Scales are powers of two where both may round a tie: the quotients are then exact.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto
from onnxruntime import InferenceSession
from onnxruntime.capi.onnxruntime_pybind11_state import InvalidGraph

import commonir

from tests.dialects.onnx.microsoft_programs import ENGINES, Array, Draws, check, node_model, scalar
from tests.dialects.onnx.onnx_programs import run_here

BYTES = pytest.mark.parametrize("dtype", [np.uint8, np.int8], ids=["u8", "i8"])
LAYOUTS = pytest.mark.parametrize("channels_last", [0, 1])


def seven_bits(weights: Array) -> Array:
    """Returns signed weights of which onnxruntime adds two products in 16 bits, as it does on x86 without VNNI."""
    return weights // 2 if weights.dtype == np.int8 else weights


@BYTES
@pytest.mark.parametrize("op_type", ["QLinearAdd", "QLinearMul"])
def test_pairs(op_type: str, dtype: Any) -> None:
    draws = Draws(1)
    a, b = draws.integers(dtype, 2, 3, 4), draws.integers(dtype, 3, 1)
    scales = [scalar(v) for v in (0.5, 0.25, 2)]
    zeros = [scalar(v, dtype) for v in (3, 100, 50)]
    check(op_type, [a, scales[0], zeros[0], b, scales[1], zeros[1], scales[2], zeros[2]])
    scales = [scalar(v) for v in (0.013, 0.027, 0.061)]
    check(op_type, [a, scales[0], zeros[0], a[0], scales[1], zeros[1], scales[2], zeros[2]])


@BYTES
@pytest.mark.parametrize("op_type", ["QLinearSigmoid", "QLinearLeakyRelu"])
@pytest.mark.parametrize("constant", [[], [1, 2, 3, 4]])
def test_functions_of_elements(op_type: str, dtype: Any, constant: list[int]) -> None:
    inputs = [Draws(2).integers(dtype, 300), scalar(0.05), scalar(3, dtype), scalar(1 / 128), scalar(0, dtype)]
    check(op_type, inputs, constant=constant)


@BYTES
@pytest.mark.parametrize(("opset", "axis"), [(11, 1), (11, -1), (13, 1), (13, -1)])
def test_softmax(dtype: Any, opset: int, axis: int) -> None:
    least = scalar(np.iinfo(dtype).min, dtype)
    inputs = [Draws(3).integers(dtype, 2, 3, 40), scalar(0.05), scalar(3, dtype), scalar(1 / 256), least]
    check("QLinearSoftmax", inputs, opset=opset, axis=axis)


@BYTES
def test_choice(dtype: Any) -> None:
    draws, zero = Draws(4), scalar(3, dtype)
    condition = draws.random.integers(0, 2, (3, 1)).astype(bool)
    x, y = draws.integers(dtype, 3, 4), draws.integers(dtype, 4)
    check("QLinearWhere", [condition, x, scalar(0.5), zero, y, scalar(0.25), zero, scalar(0.5), scalar(8, dtype)])


@BYTES
@pytest.mark.parametrize("constant", [[], [0, 1, 3, 4, 6, 7]])
def test_concatenation(dtype: Any, constant: list[int]) -> None:
    draws, zero = Draws(5), scalar(3, dtype)
    a, b = draws.integers(dtype, 2, 3), draws.integers(dtype, 2, 40)
    inputs = [scalar(0.5), zero, a, scalar(0.25), zero, b, scalar(1), scalar(0, dtype)]
    check("QLinearConcat", inputs, axis=-1, constant=constant)


@BYTES
@LAYOUTS
def test_means_over_images(dtype: Any, channels_last: int) -> None:
    x = Draws(6).integers(dtype, 2, 5, 6, 7)
    inputs = [x, scalar(0.5), scalar(3, dtype), scalar(0.25), scalar(8, dtype)]
    check("QLinearGlobalAveragePool", inputs, channels_last=channels_last)


@BYTES
@LAYOUTS
@pytest.mark.parametrize(
    "attributes",
    [
        {"strides": [2, 1], "pads": [1, 0, 1, 1]},
        {"strides": [2, 2], "ceil_mode": 1},
        {"pads": [1, 0, 1, 1], "count_include_pad": 1},
        {"auto_pad": "SAME_UPPER"},
    ],
)
def test_means_of_windows(dtype: Any, channels_last: int, attributes: dict[str, Any]) -> None:
    x = Draws(7).integers(dtype, 2, 8, 9, 8)
    inputs = [x, scalar(0.5), scalar(3, dtype), scalar(0.25), scalar(8, dtype)]
    check("QLinearAveragePool", inputs, channels_last=channels_last, kernel_shape=[2, 2], **attributes)


@BYTES
def test_largest_of_windows(dtype: Any) -> None:
    x = Draws(8).integers(dtype, 2, 8, 9, 8)
    check("NhwcMaxPool", [x], kernel_shape=[3, 2], pads=[1, 0, 1, 1], strides=[2, 1])


@BYTES
@LAYOUTS
@pytest.mark.parametrize("has_bias", [False, True])
def test_convolution(dtype: Any, channels_last: int, has_bias: bool) -> None:
    draws = Draws(9)
    x = draws.integers(dtype, 2, 8, 8, 3) if channels_last else draws.integers(dtype, 2, 3, 8, 8)
    w, scales = seven_bits(draws.integers(np.int8, 6, 3, 3, 3)), draws.scales(6)
    bias = [draws.random.integers(-500, 500, 6).astype(np.int32)] if has_bias else []
    weight: list[Array | None] = [w, scales, np.zeros(6, np.int8)]
    inputs = [x, scalar(0.02), scalar(3, dtype), *weight, scalar(0.5), scalar(5, dtype), *bias]
    constant = range(1, len(inputs))
    check("QLinearConv", inputs, channels_last=channels_last, pads=[1, 1, 1, 1], strides=[2, 1], constant=constant)


@BYTES
@pytest.mark.parametrize(("turn_a", "turn_b"), [(0, 0), (1, 0), (0, 1), (1, 1)])
def test_gemm(dtype: Any, turn_a: int, turn_b: int) -> None:
    draws, zero = Draws(10), scalar(3, dtype)
    a, b = draws.integers(dtype, 5, 7), draws.integers(dtype, 7, 4)
    a, b = np.ascontiguousarray(a.T if turn_a else a), np.ascontiguousarray(b.T if turn_b else b)
    turned = {"transA": turn_a, "transB": turn_b}
    one = scalar(1, dtype)
    check("QGemm", [a, scalar(0.5), zero, b, scalar(0.25), one], **turned)
    bias = draws.random.integers(-99, 99, 4).astype(np.int32)
    check("QGemm", [a, scalar(0.05), zero, b, scalar(0.025), one, bias, scalar(0.5), zero], alpha=0.5, **turned)
    columns = [draws.scales(4), draws.integers(dtype, 4)]
    check("QGemm", [a, scalar(0.05), zero, b, *columns, None, scalar(0.5), zero], **turned)


def test_gemm_refuses_a_bias_of_bytes_as_onnxruntime_does() -> None:
    # The quantizer of onnxruntime writes this where other layers use the same bias.
    zero, b = scalar(3, np.uint8), Draws(10).integers(np.int8, 7, 4)
    inputs = [Draws(10).integers(np.uint8, 5, 7), scalar(0.05), zero, b, scalar(0.025), scalar(0, np.int8)]
    model = node_model("QGemm", [*inputs, np.zeros(4, np.uint8), scalar(0.5), zero], 1)
    with pytest.raises(InvalidGraph, match="uint8"):
        InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    with pytest.raises(commonir.DiagnosticError, match="operand 'C': expected element type i32, found ui8"):
        commonir.lower(commonir.loads(model.SerializeToString(), format="onnx"))


@BYTES
def test_products_of_what_is_quantized_by_its_range(dtype: Any) -> None:
    draws = Draws(11)
    a, b = draws.floats(2, 5, 7), seven_bits(draws.integers(dtype, 7, 4))
    check("DynamicQuantizeMatMul", [a[0], b, scalar(0.1), scalar(3, dtype)])
    check("DynamicQuantizeMatMul", [a, b, draws.scales(4), draws.integers(dtype, 4), draws.floats(4)])
    check("DynamicQuantizeMatMul", [a, b, draws.scales(4), None, draws.floats(4)], constant=[1, 2, 4])


@BYTES
def test_products_of_integers_as_numbers(dtype: Any) -> None:
    draws, zero = Draws(12), scalar(3, dtype)
    a, b = draws.integers(dtype, 2, 5, 7), seven_bits(draws.integers(np.int8, 7, 4))
    inputs = [a, b, scalar(0.1), scalar(0.2), zero, scalar(2, np.int8), draws.floats(4)]
    check("MatMulIntegerToFloat", inputs)
    check("MatMulIntegerToFloat", [a, b, scalar(0.1), draws.scales(4), zero, draws.integers(np.int8, 4)])
    check("MatMulIntegerToFloat", [a[0], b, scalar(0.1), draws.scales(4)])


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int16])
def test_quantization(dtype: Any) -> None:
    draws = Draws(13)
    x, columns = draws.floats(3, 4) * 30, np.arange(4).astype(dtype)
    check("QuantizeLinear", [x, scalar(0.5), scalar(3, dtype)])
    check("QuantizeLinear", [x, draws.scales(4), columns], axis=1)
    quanta = draws.integers(dtype, 3, 4)
    check("DequantizeLinear", [quanta, scalar(0.5), scalar(3, dtype)])
    check("DequantizeLinear", [quanta, draws.scales(3), columns[:3]], axis=0)


def test_quantization_without_a_zero_point() -> None:
    draws = Draws(14)
    check("QuantizeLinear", [draws.floats(3, 4) * 30, scalar(0.5)])
    check("DequantizeLinear", [draws.random.integers(-999, 999, (3, 4)).astype(np.int32), scalar(0.5)])


DIRECTIONS = pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])


def lstm(
    draws: Draws, direction: str, dtype: Any = np.int8, *, has_columns: bool = False, batch: int = 3
) -> list[Array | None]:
    """Operands of a layer of 5 steps, 6 inputs and 4 outputs, without those that need not be given."""
    count = 2 if direction == "bidirectional" else 1
    sizes = (count, 16) if has_columns else (count,)
    zero = np.full(sizes, 0 if dtype is np.int8 else 128, dtype)
    weights: list[Array | None] = [seven_bits(draws.integers(dtype, count, n, 16)) for n in (6, 4)]
    rest: list[Array | None] = [draws.scales(*sizes, least=0.001), zero, draws.scales(*sizes, least=0.001), zero]
    return [draws.floats(5, batch, 6), *weights, draws.floats(count, 32), None, None, None, None, *rest]


@DIRECTIONS
@BYTES
@pytest.mark.parametrize("has_columns", [False, True])
def test_recurrent_layer(direction: str, dtype: Any, has_columns: bool) -> None:
    inputs = lstm(Draws(15), direction, dtype, has_columns=has_columns)
    check("DynamicQuantizeLSTM", inputs, 3, hidden_size=4, direction=direction, constant=[1, 2, 3, 8, 9, 10, 11])


@DIRECTIONS
@pytest.mark.parametrize("lengths", [[2, 5, 3], [3, 1, 4], [1, 2, 2]])
def test_recurrent_layer_with_states_and_lengths(direction: str, lengths: list[int]) -> None:
    draws = Draws(16)
    inputs = lstm(draws, direction)
    count = 2 if direction == "bidirectional" else 1
    inputs[4:8] = [
        np.array(lengths, np.int32), draws.floats(count, 3, 4), draws.floats(count, 3, 4), draws.floats(count, 12)
    ]  # fmt: skip
    check("DynamicQuantizeLSTM", inputs, 3, hidden_size=4, direction=direction, constant=[1, 2, 3, 8, 9, 10, 11])


@DIRECTIONS
def test_recurrent_layer_with_other_functions(direction: str) -> None:
    inputs = lstm(Draws(17), direction, batch=1)
    inputs[3] = None
    functions = ["Sigmoid", "Relu", "Tanh"] * (2 if direction == "bidirectional" else 1)
    constant = [1, 2, 8, 9, 10, 11]
    attributes: dict[str, Any] = {"hidden_size": 4, "direction": direction, "clip": 0.5, "activations": functions}
    check("DynamicQuantizeLSTM", inputs, 3, constant=constant, **attributes)


def packed(numbers: Array, bits: int) -> Array:
    """Numbers of some bits in bytes along the last axis, the lowest bits first."""
    per_byte = 8 // bits
    rows = np.pad(numbers, [(0, 0)] * (numbers.ndim - 1) + [(0, -numbers.shape[-1] % per_byte)])
    rows = rows.reshape(*rows.shape[:-1], -1, per_byte)
    return (rows << (np.arange(per_byte) * bits)).sum(-1).astype(np.uint8)


@pytest.mark.fast_every(3)
@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize(("size", "block"), [(64, 32), (48, 32), (16, 16), (96, 16)])
@pytest.mark.parametrize("is_constant", [False, True])
def test_products_with_blocks_of_few_bits(bits: int, size: int, block: int, is_constant: bool) -> None:
    draws, blocks = Draws(18), -(-size // block)
    quanta = draws.random.integers(0, 1 << bits, (6, blocks, block))
    zeros = draws.random.integers(0, 1 << bits, (6, blocks))
    b, scales, a = packed(quanta, bits), draws.scales(6, blocks), draws.floats(2, 3, size)
    shape = {"K": size, "N": 6, "bits": bits, "block_size": block}
    constant = [1, 2, 3, 5] if is_constant else []
    check("MatMulNBits", [a, b, scales], constant=constant[:2], **shape)
    inputs = [a, b, scales, packed(zeros, bits), None, draws.floats(6)]
    check("MatMulNBits", inputs, constant=constant, **shape)
    if bits == 4:  # others have no zero points that are floats in onnxruntime
        check("MatMulNBits", [a, b, scales, zeros.astype(np.float32)], constant=constant[:3], **shape)
        flat = [a[0], b, scales.reshape(-1), packed(zeros, bits).reshape(-1)]
        check("MatMulNBits", flat, constant=[1, 2, 3], **shape)


@pytest.mark.parametrize("bits", [2, 4, 8])
def test_rows_of_a_table_of_few_bits(bits: int) -> None:
    draws = Draws(19)
    table, zeros = (draws.random.integers(0, 1 << bits, (10, n)) for n in (64, 4))
    scales, blocks = draws.scales(10, 4), {"bits": bits, "block_size": 16}
    # The last two positions lie outside.
    places = np.array([[1, 9, -1], [-10, 10, -11]])
    check("GatherBlockQuantized", [packed(table, bits), places, scales], constant=[0, 2], **blocks)
    inputs = [packed(table, bits), places.astype(np.int32), scales, packed(zeros, bits)]
    check("GatherBlockQuantized", inputs, constant=[0, 2, 3], **blocks)


def test_products_of_integers_of_16_bits() -> None:
    draws = Draws(20)
    a, b = (draws.random.integers(-20000, 20000, s).astype(np.int16) for s in ((2, 3, 5), (5, 4)))
    # Sums may overflow, and wrap.
    check("MatMulInteger16", [a, b], stated={0: TensorProto.INT32})
    check("MatMulInteger16", [a[0, 0], b], stated={0: TensorProto.INT32})
    signless = np.array([[65535, 2]], np.uint16)
    model = node_model("MatMulInteger16", [signless, signless.T], 1, stated={0: TensorProto.UINT32})
    for engine in ENGINES:
        result = run_here(model, {"x0": signless, "x1": np.ascontiguousarray(signless.T)}, engine)
        # onnxruntime computes none without a sign: 65535 * 65535 + 2 * 2
        assert [(x.dtype, x.tolist()) for x in result] == [(np.uint32, [[4294836229]])]


@pytest.mark.parametrize("quant_type", [0, 1])
def test_product_with_codes_of_bitsandbytes(quant_type: int) -> None:
    """Blocks may end inside of a row; there are more scales than whole blocks."""
    draws = Draws(31)
    rows, length, block = 5, 18, 16
    codes, scales = draws.integers(np.uint8, rows * length // 2), draws.scales(-(-rows * length // block))
    shape: dict[str, Any] = {"K": length, "N": rows, "block_size": block, "quant_type": quant_type}
    check("MatMulBnb4", [draws.floats(2, 3, length), codes, scales], constant=[1, 2], **shape)
    (columns,) = check("MatMulBnb4", [np.eye(length, dtype=np.float32), codes, scales], constant=[1, 2], **shape)
    # onnxruntime's kernel for CPUs reads past the matrix where it is not transposed.
    a = draws.floats(2, rows)
    model = node_model("MatMulBnb4", [a, codes, scales], 1, constant=[1, 2], transB=0, **shape)
    for engine in ENGINES:
        np.testing.assert_allclose(run_here(model, {"x0": a}, engine)[0], a @ columns.T, rtol=1e-5, atol=1e-6)
