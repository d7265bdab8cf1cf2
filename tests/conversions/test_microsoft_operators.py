"""Operators of com.microsoft as plain ONNX and as Core ML programs, which give what onnxruntime gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest

import commonir
from commonir.conversions.core_to_onnx import core_to_onnx
from commonir.formats.onnx.read import loads
from commonir.formats.onnx.write import dumps
from commonir.ods import Dialects

from tests.conversions.running import run_onnx
from tests.dialects.onnx.microsoft_programs import Array, Draws, node_model, scalar
from tests.dialects.onnx.onnx_programs import assert_same

U8, I8 = np.uint8, np.int8


def _lstm(draws: Draws) -> list[Array | None]:
    zero = np.zeros(2, I8)
    # onnxruntime adds two products in 16 bits on x86 processors without VNNI, which seven bits do not overflow.
    products = [draws.integers(I8, 2, 6, 16) // 2, draws.integers(I8, 2, 4, 16) // 2]
    weights: list[Array | None] = [*products, draws.floats(2, 32)]
    return [draws.floats(5, 1, 6), *weights, None, None, None, None, draws.scales(2), zero, draws.scales(2), zero]


def _cases() -> dict[str, tuple[list[Array | None], int, dict[str, Any]]]:
    draws = Draws(1)
    sum_of_bytes = [draws.integers(U8, 2, 3, 4), scalar(0.5), scalar(3, U8)] * 2
    blocks = {"K": 64, "N": 6, "bits": 4, "block_size": 32}
    packed = [draws.integers(U8, 6, 2, 16), draws.scales(6, 2), draws.integers(U8, 6, 1)]
    x, gamma = draws.floats(2, 3, 8), draws.floats(8)
    heads = [draws.floats(2, 4, 8), draws.floats(8, 24), draws.floats(24), np.array([3, 4], np.int32)]
    keys = [draws.floats(2, 1, 32), draws.floats(2, 1, 32), draws.floats(2, 2, 5, 16), draws.floats(2, 2, 5, 16)]
    counts = [np.array([5, 3], np.int32), scalar(6, np.int32)]
    grouped = {"num_heads": 4, "kv_num_heads": 2, "constant": [6]}
    layer = {"hidden_size": 4, "direction": "bidirectional", "constant": [1, 2, 3, 8, 9, 10, 11]}
    matrix = [draws.floats(5, 7), draws.integers(U8, 7, 4), draws.scales(4), draws.integers(U8, 4)]
    return {
        "QLinearAdd": ([*sum_of_bytes, scalar(1), scalar(50, U8)], 1, {"constant": [1, 2, 4, 5, 6, 7]}),
        "DynamicQuantizeMatMul": ([*matrix], 1, {"constant": [1, 2, 3]}),
        "DynamicQuantizeLSTM": (_lstm(draws), 3, layer),
        "MatMulNBits": ([draws.floats(3, 64), *packed], 1, {**blocks, "constant": [1, 2, 3]}),
        "SkipLayerNormalization": ([x, x * 2, gamma, gamma], 1, {}),
        "FusedMatMul": ([x, x], 1, {"transB": 1, "alpha": 0.5}),
        "BiasGelu": ([x, gamma], 1, {}),
        "FusedConv": ([draws.floats(1, 3, 8, 8), draws.floats(4, 3, 3, 3)], 1, {"activation": "Relu"}),
        "Attention": ([*heads], 1, {"num_heads": 2, "unidirectional": 1}),
        "GroupQueryAttention": ([draws.floats(2, 1, 64), *keys, *counts], 3, grouped),
    }


CASES = _cases()


@pytest.mark.parametrize("op_type", CASES)
def test_conversions_give_what_onnxruntime_gives(op_type: str) -> None:
    inputs, outputs, options = CASES[op_type]
    model = node_model(op_type, inputs, outputs, **options)
    arguments = {i.name: x for i in model.graph.input if (x := inputs[int(i.name[1:])]) is not None}
    expected = run_onnx(model.SerializeToString(), arguments, threads=1)
    module, _ = loads(model.SerializeToString(), Dialects())
    content = dumps(core_to_onnx(commonir.lower(module), 21))
    onnx.checker.check_model(content, full_check=True)
    assert {node.domain for node in onnx.load_from_string(content).graph.node} <= {""}
    assert_same(run_onnx(content, arguments, threads=1), expected, 1e-5)
    # A Core ML program has no inputs of bytes.
    if not any(x.dtype.itemsize == 1 for x in arguments.values()):
        program = commonir.convert(commonir.lower(module), "coreml", target="iOS18")
        results = commonir.run(
            program, {n.name: x for n, x in zip(program.main.inputs, arguments.values(), strict=True)}
        )
        assert_same(list(results.values()), expected, 1e-5)
