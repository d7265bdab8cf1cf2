"""Operators of newer opsets that are converted to older ones give the same in onnxruntime."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import onnx
import pytest

import commonir
from commonir.base.diagnostics import Diagnostics

from tests.onnx_operators import moves, sums
from tests.onnx_operators.drawing import Draw
from tests.onnx_operators.verdicts import Drawn, difference, modelled, run_with_onnxruntime

SEEDS = range(8)


def _in_opset(it: Drawn, opset: int) -> onnx.ModelProto:
    module = commonir.loads(it.model.SerializeToString(), format="onnx")
    return onnx.load_from_string(commonir.dumps(commonir.convert(module, "onnx", opset=opset)))


@pytest.mark.fast_every(3)
@pytest.mark.parametrize("opset", [12, 15])
@pytest.mark.parametrize("seed", SEEDS)
def test_images_are_read_at_positions_without_an_operator_for_that(seed: int, opset: int) -> None:
    d = Draw(seed)
    it = modelled(d, sums.grid_sample(d), unknown_rank=0, symbols=0.5)
    expected = run_with_onnxruntime(it.model, it.inputs)
    result = run_with_onnxruntime(_in_opset(it, opset), it.inputs)
    assert difference(result, expected, 1e-3) is None, it


def test_empty_names_that_an_older_operator_has_no_place_for_are_left_out() -> None:
    d = Draw(0)
    it = modelled(d, moves.pad(d)._replace(opset=19, attributes={"mode": "constant"}), unknown_rank=0, symbols=0)
    it.model.graph.node[0].input[2:] = ["", ""]
    assert len(_in_opset(it, 11).graph.node[-1].input) <= 3


@pytest.mark.parametrize("opset", [11, 13, 17])
@pytest.mark.parametrize("count", [2, 3])
def test_an_axis_of_open_size_is_split_in_an_older_opset(count: int, opset: int) -> None:
    names = [f"y{n}" for n in range(count)]
    node = onnx.helper.make_node("Split", ["x"], names, num_outputs=count)
    infos = [onnx.helper.make_tensor_value_info("x", 1, ["n", 2])]
    graph = onnx.helper.make_graph([node], "g", infos, [onnx.ValueInfoProto(name=n) for n in names])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=8)
    module = commonir.loads(model.SerializeToString(), format="onnx")
    converted = onnx.load_from_string(commonir.dumps(commonir.convert(module, "onnx", opset=opset)))
    for size in (3, 5, 8):
        inputs = {"x": np.arange(2 * size, dtype=np.float32).reshape(size, 2)}
        assert difference(run_with_onnxruntime(converted, inputs), run_with_onnxruntime(model, inputs), 0) is None


_info = onnx.helper.make_tensor_value_info


def _model(
    nodes: list[onnx.NodeProto], inputs: list[onnx.ValueInfoProto], opset: int, output: int = onnx.TensorProto.FLOAT
) -> onnx.ModelProto:
    """A model of the outputs of the last node, which are of one element type."""
    outputs = [_info(name, output, None) for name in nodes[-1].output]
    graph = onnx.helper.make_graph(nodes, "g", inputs, outputs)
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", opset)], ir_version=10)


def _older(model: onnx.ModelProto, opset: int) -> onnx.ModelProto:
    module = commonir.loads(model.SerializeToString(), format="onnx")
    return onnx.load_from_string(commonir.dumps(commonir.convert(module, "onnx", opset=opset)))


NARROW_FLOATS: dict[int, type[np.generic]] = {
    onnx.TensorProto.FLOAT8E4M3FN: ml_dtypes.float8_e4m3fn,
    onnx.TensorProto.FLOAT8E5M2FNUZ: ml_dtypes.float8_e5m2fnuz,
    onnx.TensorProto.FLOAT8E8M0: ml_dtypes.float8_e8m0fnu,
    onnx.TensorProto.FLOAT4E2M1: ml_dtypes.float4_e2m1fn,
}


@pytest.mark.parametrize("kind", NARROW_FLOATS)
def test_numbers_of_narrow_floats_are_kept_in_single_precision(kind: int) -> None:
    dtype = NARROW_FLOATS[kind]
    node = onnx.helper.make_node("Cast", ["x"], ["y"], to=kind)
    if kind == onnx.TensorProto.FLOAT8E8M0:
        node.attribute.append(onnx.helper.make_attribute("round_mode", "nearest"))
    model = _model([node], [_info("x", 1, ["n"])], 25, kind)
    rng = np.random.default_rng(3)
    x = np.concatenate([rng.normal(size=500) * 2.0 ** rng.integers(-9, 4, 500), 2.0 ** np.arange(-8, 3)])
    most = float(ml_dtypes.finfo(dtype).max)
    inputs = np.minimum(np.abs(x), most).astype(np.float32)
    if kind != onnx.TensorProto.FLOAT8E8M0:
        expected = inputs.astype(dtype).astype(np.float32)
    else:
        # The nearest power of two; what lies in the middle goes up.
        part, exponent = np.frexp(inputs.astype(np.float64))
        expected = np.ldexp(1.0, exponent - 1 + (part >= 0.75)).astype(np.float32)
    (result,) = run_with_onnxruntime(_older(model, 13), {"x": inputs})
    np.testing.assert_array_equal(result, expected)


def test_weights_of_four_bits_in_blocks_become_what_they_stand_for_and_are_gone() -> None:
    rng = np.random.default_rng(5)
    codes, scales = rng.integers(-8, 8, (4, 6)), rng.uniform(0.1, 1.0, (4, 2)).astype(np.float32)
    model = _model(
        [
            onnx.helper.make_node("DequantizeLinear", ["w", "s"], ["d"], axis=1, block_size=3),
            onnx.helper.make_node("MatMul", ["x", "d"], ["y"]),
        ],
        [_info("x", 1, ["n", 4])],
        21,
    )
    model.graph.initializer.append(onnx.helper.make_tensor("w", onnx.TensorProto.INT4, (4, 6), codes.ravel()))
    model.graph.initializer.append(onnx.numpy_helper.from_array(scales, "s"))
    built = _older(model, 13)
    assert {t.data_type for t in built.graph.initializer} == {onnx.TensorProto.FLOAT}
    assert len(built.graph.initializer) == 1
    x = rng.normal(size=(3, 4)).astype(np.float32)
    (result,) = run_with_onnxruntime(built, {"x": x})
    np.testing.assert_allclose(result, x @ (codes * np.repeat(scales, 3, 1)).astype(np.float32), 1e-5, 1e-6)


def test_inputs_that_get_wider_elements_are_reported() -> None:
    node = onnx.helper.make_node("Cast", ["x"], ["y"], to=onnx.TensorProto.FLOAT)
    model = _model([node], [_info("x", onnx.TensorProto.UINT4, ["n"])], 21)
    module = commonir.loads(model.SerializeToString(), format="onnx")
    findings = Diagnostics()
    converted = commonir.convert(module, "onnx", opset=13, findings=findings)
    assert [d.message for d in findings] == ["the input 'x' changes from ui4 to ui8: opset 13 has no ui4"]
    (result,) = run_with_onnxruntime(
        onnx.load_from_string(commonir.dumps(converted)), {"x": np.array([0, 7, 15], np.uint8)}
    )
    np.testing.assert_array_equal(result, np.array([0, 7, 15], np.float32))


@pytest.mark.fast_every(4)
@pytest.mark.parametrize("axes", [[0], [-1], [1], [0, 2], [-2, 0], [], [1, -2, 1]])
@pytest.mark.parametrize("operator", ["ReduceMax", "ReduceL2", "ReduceLogSumExp", "ReduceSumSquare"])
@pytest.mark.parametrize("keep", [0, 1])
def test_axes_that_an_input_gives_choose_a_branch(operator: str, axes: list[int], keep: int) -> None:
    node = onnx.helper.make_node(operator, ["x", "axes"], ["y"], keepdims=keep)
    model = _model([node], [_info("x", 1, ["a", "b", 4]), _info("axes", 7, ["k"])], 18)
    inputs = {"x": np.random.default_rng(2).normal(size=(2, 3, 4)).astype(np.float32), "axes": np.array(axes, np.int64)}
    expected = run_with_onnxruntime(model, inputs)
    assert difference(run_with_onnxruntime(_older(model, 13), inputs), expected, 1e-6) is None


@pytest.mark.fast_every(3)
@pytest.mark.parametrize("opset", [11, 13, 16])
@pytest.mark.parametrize("reduction", ["add", "mul", "max", "min"])
@pytest.mark.parametrize("operator", ["ScatterElements", "ScatterND"])
def test_updates_of_one_place_are_combined_without_an_operator_for_that(
    operator: str, reduction: str, opset: int
) -> None:
    rng = np.random.default_rng(7)
    inputs: dict[str, np.ndarray[tuple[int, ...], np.dtype[np.generic]]]
    axis = [1] if operator == "ScatterElements" else []
    if axis:
        inputs = {"i": rng.integers(-5, 5, (2, 9)), "u": rng.integers(-4, 5, (2, 9)).astype(np.float32)}
    else:
        inputs = {"i": rng.integers(0, 3, (6, 1)), "u": rng.integers(-4, 5, (6, 5)).astype(np.float32)}
    inputs["x"] = rng.integers(-3, 4, (3, 5)).astype(np.float32)
    node = onnx.helper.make_node(operator, ["x", "i", "u"], ["y"], reduction=reduction)
    node.attribute.extend(onnx.helper.make_attribute("axis", a) for a in axis)
    infos = [_info(n, 7 if n == "i" else 1, list(inputs[n].shape)) for n in ("x", "i", "u")]
    model = _model([node], infos, 18)
    expected = run_with_onnxruntime(model, inputs)
    assert difference(run_with_onnxruntime(_older(model, opset), inputs), expected, 0) is None


@pytest.mark.parametrize("inverse", [0, 1])
def test_a_fourier_transform_is_a_product_before_opset_17(inverse: int) -> None:
    node = onnx.helper.make_node("DFT", ["x"], ["y"], axis=1, inverse=inverse)
    model = _model([node], [_info("x", 1, ["n", 12, 2])], 17)
    x = np.random.default_rng(1).normal(size=(3, 12, 2)).astype(np.float32)
    whole = x[..., 0] + 1j * x[..., 1]
    expected = np.fft.ifft(whole, axis=1) if inverse else np.fft.fft(whole, axis=1)
    (result,) = run_with_onnxruntime(_older(model, 13), {"x": x})
    np.testing.assert_allclose(result, np.stack([expected.real, expected.imag], -1), 1e-5, 1e-5)


def test_texts_are_compared_before_opset_19() -> None:
    node = onnx.helper.make_node("Equal", ["a", "b"], ["y"])
    model = _model([node], [_info("a", 8, ["n", 1]), _info("b", 8, ["m"])], 19, onnx.TensorProto.BOOL)
    inputs = {"a": np.array([["x"], ["y"]], object), "b": np.array(["y", "", "x"], object)}
    (result,) = run_with_onnxruntime(_older(model, 13), inputs)
    np.testing.assert_array_equal(result, [[False, False, True], [True, False, False]])
