"""Operations combined with those before them: what remains is written out, and onnxruntime computes both models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import commonir as cir
from commonir.base.diagnostics import Diagnostics

_RNG = np.random.default_rng(7)


def _node(op: str, inputs: str, outputs: str, **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(op, inputs.split(), outputs.split(), **attributes)


def _ints(*values: int) -> Any:
    return np.array(values, np.int64)


def _floats(*shape: int) -> Any:
    return _RNG.standard_normal(shape).astype(np.float32)


IMAGE = [1, 3, 6, 6]
FILTER = {"w": _floats(4, 3, 3, 3), "b": _floats(4)}
STATISTICS = {"s": _floats(4), "o": _floats(4), "m": _floats(4), "v": np.abs(_floats(4))}
# name: nodes, constants, shape of x, operators that remain
EXACT: dict[str, tuple[list[onnx.NodeProto], dict[str, Any], list[Any], dict[str, int]]] = {
    "of shapes the last counts": (
        [
            _node("Reshape", "x s", "r"), _node("Unsqueeze", "r one", "u"), _node("Flatten", "u", "f", axis=1),
            _node("Relu", "f", "y"),
        ],
        {"s": _ints(2, 9), "one": _ints(1)}, [2, 3, 3], {"Reshape": 1, "Relu": 1},
    ),
    "shapes that lead back go": (
        [_node("Reshape", "x s", "r"), _node("Reshape", "r t", "t1"), _node("Relu", "t1", "y")],
        {"s": _ints(0, -1), "t": _ints(-1, 3, 3)}, ["N", 3, 3], {"Relu": 1},
    ),
    "a shape with another use stays": (
        [_node("Reshape", "x s", "r"), _node("Reshape", "r t", "q"), _node("Relu", "r", "y"), _node("Abs", "q", "z")],
        {"s": _ints(2, 9), "t": _ints(3, 6)}, [2, 3, 3], {"Reshape": 2, "Relu": 1, "Abs": 1},
    ),
    "a transposition of axes of size 1 is a shape": (
        [_node("Transpose", "x", "t", perm=[1, 0, 2]), _node("Reshape", "t s", "r"), _node("Relu", "r", "y")],
        {"s": _ints(9)}, [3, 1, 3], {"Reshape": 1, "Relu": 1},
    ),
    "two transpositions are one": (
        [
            _node("Transpose", "x", "t", perm=[1, 2, 0]), _node("Transpose", "t", "u", perm=[1, 0, 2]),
            _node("Relu", "u", "y"),
        ],
        {}, [2, 3, 4], {"Transpose": 1, "Relu": 1},
    ),
    "a transposition of heads and batches in one axis": (
        [
            _node("Reshape", "x flat", "f"), _node("Transpose", "f", "t", perm=[0, 2, 1]),
            _node("Reshape", "t apart", "a"), _node("Relu", "a", "y"),
        ],
        {"flat": _ints(-1, 4, 5), "apart": _ints(-1, 3, 5, 4)}, ["N", 3, 4, 5], {"Transpose": 1, "Relu": 1},
    ),
    "a transposition before its axes are split": (
        [
            _node("Reshape", "x flat", "f"), _node("Transpose", "f", "t", perm=[1, 0]),
            _node("Reshape", "t apart", "a"), _node("Relu", "a", "y"),
        ],
        {"flat": _ints(6, 4), "apart": _ints(2, 2, 3, 2)}, [3, 8], {"Reshape": 1, "Transpose": 1, "Relu": 1},
    ),
    "a transposition before its axes are joined stays": (
        [
            _node("Reshape", "x flat", "f"), _node("Transpose", "f", "t", perm=[1, 0]),
            _node("Reshape", "t joined", "a"), _node("Relu", "a", "y"),
        ],
        {"flat": _ints(6, 4), "joined": _ints(3, 8)}, [3, 8], {"Reshape": 2, "Transpose": 1, "Relu": 1},
    ),
    "transpositions that undo each other go": (
        [
            _node("Transpose", "x", "t", perm=[1, 2, 0]), _node("Transpose", "t", "u", perm=[2, 0, 1]),
            _node("Relu", "u", "y"),
        ],
        {}, [2, 3, 4], {"Relu": 1},
    ),
    "an operand is repeated by the operation": (
        [
            _node("ReduceL2", "x", "n", axes=[1]), _node("Shape", "x", "d"), _node("Expand", "n d", "e"),
            _node("Div", "x e", "y"),
        ],
        {}, ["N", 3, 4], {"ReduceL2": 1, "Div": 1},
    ),
    "dims that only a repeated operand has stay": (
        [_node("Expand", "x s", "e"), _node("Add", "e c", "y")],
        {"s": _ints(4, 1, 1), "c": _floats(3, 1)}, [3, 5], {"Expand": 1, "Add": 1},
    ),
    "slices of several axes are one": (
        [
            _node("Slice", "x one three zero", "a"), _node("Slice", "a one three one", "b"),
            _node("Slice", "b zero big one two", "c"), _node("Relu", "c", "y"),
        ],
        {"zero": _ints(0), "one": _ints(1), "two": _ints(2), "three": _ints(-1), "big": _ints(2**63 - 1)},
        [5, 8], {"Slice": 1, "Relu": 1},
    ),
    "nested concatenations are one": (
        [
            _node("Relu", "x", "a"), _node("Concat", "x a", "b", axis=1), _node("Neg", "x", "c"),
            _node("Concat", "b c", "d", axis=-1), _node("Abs", "d", "y"),
        ],
        {}, [2, 3], {"Relu": 1, "Neg": 1, "Concat": 1, "Abs": 1},
    ),
    "a cast through a wider type is one": (
        [
            _node("Cast", "x", "a", to=TensorProto.DOUBLE), _node("Cast", "a", "b", to=TensorProto.INT32),
            _node("Cast", "b", "c", to=TensorProto.FLOAT), _node("Abs", "c", "y"),
        ],
        {}, [4], {"Cast": 2, "Abs": 1},
    ),
    "a cast to a wider type and back goes": (
        [
            _node("Cast", "x", "a", to=TensorProto.DOUBLE), _node("Cast", "a", "b", to=TensorProto.FLOAT),
            _node("Abs", "b", "y"),
        ],
        {}, [4], {"Abs": 1},
    ),
    "a cast to a narrower type and back stays": (
        [
            _node("Cast", "x", "a", to=TensorProto.FLOAT16), _node("Cast", "a", "b", to=TensorProto.FLOAT),
            _node("Abs", "b", "y"),
        ],
        {}, [4], {"Cast": 2, "Abs": 1},
    ),
    "neutral constants go": (
        [
            _node("Mul", "x one", "a"), _node("Div", "a one", "b"), _node("Sub", "b zero", "c"),
            _node("Pow", "c one", "d"), _node("Add", "minus d", "e"), _node("Relu", "e", "y"),
        ],
        {"one": np.float32(1), "zero": np.float32(0), "minus": np.float32(-0.0)}, ["N", 3], {"Relu": 1},
    ),
    "a sum of floats with 0 stays": (
        [_node("Add", "x zero", "a"), _node("Relu", "a", "y")], {"zero": np.float32(0)}, ["N"], {"Add": 1, "Relu": 1},
    ),
    "a constant that broadcasts stays": (
        [_node("Mul", "x one", "a"), _node("Relu", "a", "y")], {"one": np.ones((2, 3), np.float32)}, [3],
        {"Mul": 1, "Relu": 1},
    ),
    "a shape of dims that are known is a constant": (
        [
            _node("Shape", "x", "s", end=1), _node("Concat", "s rest", "t", axis=0), _node("Reshape", "x t", "r"),
            _node("Relu", "r", "y"),
        ],
        {"rest": _ints(3, -1)}, ["N", 6], {"Reshape": 1, "Relu": 1},
    ),
    "padding moves into a convolution": (
        [_node("Pad", "x p", "a"), _node("Conv", "a w b", "c", pads=[1, 0, 0, 1]), _node("Relu", "c", "y")],
        {"p": _ints(0, 0, 1, 2, 0, 0, 0, 1), **FILTER}, IMAGE, {"Conv": 1, "Relu": 1},
    ),
    "padding by another number stays": (
        [_node("Pad", "x p one", "a"), _node("Conv", "a w b", "c"), _node("Relu", "c", "y")],
        {"p": _ints(0, 0, 1, 1, 0, 0, 1, 1), "one": np.float32(1), **FILTER}, IMAGE, {"Pad": 1, "Conv": 1, "Relu": 1},
    ),
    "padding moves into an average": (
        [_node("Pad", "x p", "a"), _node("AveragePool", "a", "c", kernel_shape=[2, 2]), _node("Relu", "c", "y")],
        {"p": _ints(0, 0, 1, 1, 0, 0, 1, 1)}, IMAGE, {"AveragePool": 1, "Relu": 1},
    ),
    "padding of a maximum stays": (
        [_node("Pad", "x p", "a"), _node("MaxPool", "a", "c", kernel_shape=[2, 2]), _node("Relu", "c", "y")],
        {"p": _ints(0, 0, 1, 1, 0, 0, 1, 1)}, IMAGE, {"Pad": 1, "MaxPool": 1, "Relu": 1},
    ),
    "a sum becomes the bias of a convolution": (
        [_node("Conv", "x w", "a"), _node("Add", "a b", "c"), _node("Relu", "c", "y")],
        {"w": FILTER["w"], "b": FILTER["b"].reshape(4, 1, 1)}, IMAGE, {"Conv": 1, "Relu": 1},
    ),
    "a sum along another axis stays": (
        [_node("Conv", "x w", "a"), _node("Add", "a b", "c"), _node("Relu", "c", "y")],
        {"w": FILTER["w"], "b": FILTER["b"]}, IMAGE, {"Conv": 1, "Add": 1, "Relu": 1},
    ),
    "a product of matrices and a bias are two operators": (
        [_node("MatMul", "x w", "a"), _node("Add", "b a", "c"), _node("Relu", "c", "y")],
        {"w": _floats(3, 4), "b": _floats(4)}, ["N", 3], {"MatMul": 1, "Add": 1, "Relu": 1},
    ),
    "quantized weights stay quantized": (
        [_node("DequantizeLinear", "q s z", "w"), _node("Conv", "x w", "y")],
        {"q": _RNG.integers(-128, 127, (4, 3, 3, 3)).astype(np.int8), "s": np.float32(0.1), "z": np.int8(3)}, IMAGE,
        {"DequantizeLinear": 1, "Conv": 1},
    ),
    "a normalization stays": (
        [_node("Conv", "x w b", "a"), _node("BatchNormalization", "a s o m v", "y")],
        FILTER | STATISTICS, IMAGE, {"Conv": 1, "BatchNormalization": 1},
    ),
}  # fmt: skip
FAST: dict[str, tuple[list[onnx.NodeProto], dict[str, Any], list[Any], dict[str, int]]] = {
    "a normalization moves into a convolution": (
        [_node("Conv", "x w b", "a"), _node("BatchNormalization", "a s o m v", "c"), _node("Relu", "c", "y")],
        FILTER | STATISTICS, IMAGE, {"Conv": 1, "Relu": 1},
    ),
    "of a convolution with two uses it stays": (
        [_node("Conv", "x w b", "a"), _node("BatchNormalization", "a s o m v", "c"), _node("Mul", "a c", "y")],
        FILTER | STATISTICS, IMAGE, {"Conv": 1, "BatchNormalization": 1, "Mul": 1},
    ),
    "a normalization moves into a grouped transposed convolution": (
        [_node("ConvTranspose", "x w", "a", group=2), _node("BatchNormalization", "a s o m v", "y")],
        {"w": _floats(4, 2, 3, 3), **STATISTICS}, [1, 4, 6, 6], {"ConvTranspose": 1},
    ),
    "scales and shifts of channels move into a convolution": (
        [
            _node("Conv", "x w", "a"), _node("Mul", "a f", "c"), _node("Add", "g c", "d"), _node("Div", "d two", "e"),
            _node("Sub", "e f", "y"),
        ],
        {"w": FILTER["w"], "f": _floats(1, 4, 1, 1), "g": _floats(4, 1, 1), "two": np.float32(2)}, IMAGE, {"Conv": 1},
    ),
    "a normalization moves into a product with transposed weights": (
        [_node("Gemm", "x w b", "a", transB=1), _node("BatchNormalization", "a s o m v", "y")],
        {"w": _floats(4, 3), "b": FILTER["b"], **STATISTICS}, ["N", 3], {"Gemm": 1},
    ),
    "a normalization moves into a product of matrices": (
        [_node("MatMul", "x w", "a"), _node("BatchNormalization", "a s o m v", "y")],
        {"w": _floats(3, 4), **STATISTICS}, ["N", 3], {"Gemm": 1},
    ),
    "a normalization moves into a product of matrices with a bias": (
        [
            _node("MatMul", "x w", "a"), _node("Add", "a b", "c"), _node("BatchNormalization", "c s o m v", "d"),
            _node("Gemm", "d u b", "e"), _node("BatchNormalization", "e s o m v", "y"),
        ],
        {"w": _floats(3, 4), "u": _floats(4, 4), "b": FILTER["b"], **STATISTICS}, ["N", 3], {"Gemm": 2},
    ),
    "a product of matrices that something else uses stays before a normalization": (
        [_node("Gemm", "x w b", "a"), _node("BatchNormalization", "a s o m v", "c"), _node("Mul", "a c", "y")],
        {"w": _floats(3, 4), "b": FILTER["b"], **STATISTICS}, ["N", 3], {"Gemm": 1, "BatchNormalization": 1, "Mul": 1},
    ),
    "a normalization moves into the grouped convolution after it": (
        [_node("Relu", "x", "r"), _node("BatchNormalization", "r s o m v", "a"), _node("Conv", "a w b", "y", group=2)],
        {"w": _floats(6, 2, 3, 3), "b": _floats(6), **STATISTICS}, [1, 4, 6, 6], {"Relu": 1, "Conv": 1},
    ),
    "a normalization that shifts stays before a convolution that pads": (
        [_node("BatchNormalization", "x s o m v", "a"), _node("Conv", "a w", "y", pads=[1, 1, 1, 1])],
        {"w": _floats(6, 4, 3, 3), **STATISTICS}, [1, 4, 6, 6], {"BatchNormalization": 1, "Conv": 1},
    ),
    "a product of matrices and a bias is one operator": (
        [_node("MatMul", "x w", "a"), _node("Add", "b a", "c"), _node("Relu", "c", "y")],
        {"w": _floats(3, 4), "b": _floats(4)}, ["N", 3], {"Gemm": 1, "Relu": 1},
    ),
    "a product with a batch stays": (
        [_node("MatMul", "x w", "a"), _node("Add", "b a", "c"), _node("Relu", "c", "y")],
        {"w": _floats(3, 4), "b": _floats(4)}, [2, 2, 3], {"MatMul": 1, "Add": 1, "Relu": 1},
    ),
    "a sum with 0 goes": (
        [_node("Add", "x zero", "a"), _node("Relu", "a", "y")], {"zero": np.float32(0)}, ["N"], {"Relu": 1},
    ),
}  # fmt: skip


def _model(path: Path, nodes: list[onnx.NodeProto], constants: dict[str, Any], shape: list[Any]) -> None:
    outputs = ["y", *[o for n in nodes for o in n.output if o == "z"]]
    infos = [
        helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in (("x", shape), *[(o, None) for o in outputs])
    ]
    stored = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "g", infos[:1], infos[1:], stored)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def _outputs(path: Path, shape: list[Any]) -> Sequence[Any]:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    x = np.random.default_rng(0).standard_normal([2 if n == "N" else n for n in shape]).astype(np.float32)
    return onnxruntime.InferenceSession(str(path), options).run(None, {"x": x})


@pytest.mark.parametrize("name", EXACT)
def test_fewer_operations_compute_the_same_bits(name: str, tmp_path: Path) -> None:
    nodes, constants, shape, left = EXACT[name]
    before, after = tmp_path / "before.onnx", tmp_path / "after.onnx"
    _model(before, nodes, constants, shape)
    cir.save(cir.optimize(cir.load(before)), after)
    assert Counter(node.op_type for node in onnx.load(after).graph.node) == left
    for expected, result in zip(_outputs(before, shape), _outputs(after, shape), strict=True):
        np.testing.assert_array_equal(result, expected, strict=True)


@pytest.mark.parametrize("name", FAST)
def test_fewer_operations_compute_nearly_the_same(name: str, tmp_path: Path) -> None:
    nodes, constants, shape, left = FAST[name]
    before, after = tmp_path / "before.onnx", tmp_path / "after.onnx"
    _model(before, nodes, constants, shape)
    cir.save(cir.optimize(cir.load(before), level="fast"), after)
    assert Counter(node.op_type for node in onnx.load(after).graph.node) == left
    for expected, result in zip(_outputs(before, shape), _outputs(after, shape), strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)


def test_inputs_with_weights_become_constants_unless_they_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    _model(path, [_node("MatMul", "x w", "y")], {"w": _floats(3, 4)}, ["N", 3])
    model = onnx.load(path)
    model.graph.input.append(helper.make_tensor_value_info("w", TensorProto.FLOAT, [3, 4]))
    onnx.save(model, path)
    findings = Diagnostics()
    assert [v.name for v in cir.optimize(cir.load(path), findings=findings).inputs] == ["x"]
    assert [d.code.id for d in findings] == ["N0601"]
    kept = cir.optimize(cir.load(path), keep_initializer_inputs=True)
    assert [v.name for v in kept.inputs] == ["x", "w"]


def test_an_unknown_level_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    _model(path, [_node("Relu", "x", "y")], {}, ["N"])
    with pytest.raises(cir.DiagnosticError, match="no level of optimization is called 'fats'"):
        cir.optimize(cir.load(path), level="fats")


def test_padding_of_a_core_ml_program_moves_into_its_convolutions() -> None:
    folder = Path("tests/models/tcn_fp32")
    module = cir.load(folder / "model.mlpackage")
    optimized = cir.optimize(module)
    assert not [d for d in cir.verify(optimized) if d.is_error]
    assert (cir.summarize(module).operations["mil.pad"], cir.summarize(optimized).operations.get("mil.pad")) == (
        6,
        None,
    )
    result = cir.run(optimized, dict(np.load(folder / "inputs.npz")))
    expected = np.load(folder / "outputs.npz")  # of torch
    for name, array in result.items():
        np.testing.assert_allclose(np.asarray(array, np.float64), expected[name], rtol=1e-4, atol=1e-4)


def test_reports_count_what_was_combined(tmp_path: Path) -> None:
    nodes, constants, shape, _ = EXACT["padding moves into a convolution"]
    path = tmp_path / "m.onnx"
    _model(path, nodes, constants, shape)
    reports: list[Any] = []
    cir.optimize(cir.load(path), reports=reports)
    assert [(r.name, r.applied) for r in reports] == [("simplify", 0), ("padding of convolutions", 1)]


def test_values_that_annotations_name_are_not_computed_twice(tmp_path: Path) -> None:
    nodes = [_node("Conv", "x w", "c"), _node("Mul", "c s", "m"), _node("Relu", "m", "y")]
    path = tmp_path / "m.onnx"
    _model(path, nodes, {"w": FILTER["w"], "s": _floats(4, 1, 1)}, IMAGE)
    model = onnx.load(path)
    annotation = onnx.TensorAnnotation(tensor_name="c")
    annotation.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="s")
    model.graph.quantization_annotation.append(annotation)
    onnx.save(model, path)
    cir.save(cir.optimize(cir.load(path), level="fast"), path)
    assert [node.op_type for node in onnx.load(path).graph.node] == ["Conv", "Mul", "Relu"]
