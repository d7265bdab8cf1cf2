"""Models taken from one opset to another: valid for onnx's checker, and computing what they computed before.

The oracle is onnxruntime where it knows the opset, else onnx's evaluator, which reads old operators as newer ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import commonir as cir


class Model(NamedTuple):
    """A model of one node or a few, in an opset. Operands that are arrays are initializers."""

    opset: int
    nodes: list[onnx.NodeProto]
    inputs: dict[str, Any]
    constants: Mapping[str, Any] = MappingProxyType({})
    outputs: tuple[str, ...] = ("y",)


def _f(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def _node(op: str, inputs: str, outputs: str = "y", **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(op, ["" if n == "-" else n for n in inputs.split()], outputs.split(), **attributes)


_FACTORS = np.array([1, 1, 2, 3], np.float32)
_BRANCH = helper.make_graph(
    [_node("Squeeze", "x", "s", axes=[0])], "then", [], [helper.make_tensor_value_info("s", TensorProto.FLOAT, None)]
)
_OTHER = helper.make_graph(
    [_node("ReduceSum", "x", "r", axes=[0], keepdims=0)],
    "else",
    [],
    [helper.make_tensor_value_info("r", TensorProto.FLOAT, None)],
)

MODELS = {
    "clip with attributes": Model(10, [_node("Clip", "x", min=-0.5, max=0.5)], {"x": _f(2, 3)}),
    "clip with operands": Model(
        13, [_node("Clip", "x lo hi")], {"x": _f(2, 3)}, {"lo": np.float32(-0.5), "hi": np.float32(0.25)}
    ),
    "clip with one bound": Model(12, [_node("Clip", "x - hi")], {"x": _f(2, 3)}, {"hi": np.float32(0.25)}),
    "squeeze and unsqueeze": Model(
        11, [_node("Squeeze", "x", "s", axes=[1]), _node("Unsqueeze", "s", axes=[0, 3])], {"x": _f(2, 1, 3)}
    ),
    "axes as operands": Model(
        18,
        [_node("ReduceMax", "x axes", "m", keepdims=0), _node("Unsqueeze", "m at")],
        {"x": _f(2, 3, 4)},
        {"axes": np.array([1], np.int64), "at": np.array([0], np.int64)},
    ),
    "softmax of a matrix": Model(11, [_node("Softmax", "x", axis=1)], {"x": _f(2, 3)}),
    "softmax that flattens": Model(11, [_node("Softmax", "x", axis=1)], {"x": _f(2, 3, 4)}),
    "softmax along an axis": Model(13, [_node("Softmax", "x", axis=1)], {"x": _f(2, 3, 4)}),
    "slices": Model(9, [_node("Slice", "x", starts=[0, 1], ends=[2, 3], axes=[0, 1])], {"x": _f(3, 4)}),
    "padding": Model(10, [_node("Pad", "x", pads=[1, 0, 0, 2], value=1.5)], {"x": _f(2, 3)}),
    "dropout": Model(10, [_node("Dropout", "x", ratio=0.3)], {"x": _f(2, 3)}),
    "split": Model(11, [_node("Split", "x", "a y", axis=1, split=[1, 2])], {"x": _f(2, 3)}, outputs=("a", "y")),
    "pieces of one size": Model(13, [_node("Split", "x", "a y", axis=-1)], {"x": _f(2, 6)}, outputs=("a", "y")),
    "enlarged": Model(9, [_node("Upsample", "x by", mode="linear")], {"x": _f(1, 1, 3, 4)}, {"by": _FACTORS}),
    "enlarged by attribute": Model(
        7, [_node("Upsample", "x", mode="nearest", scales=[1.0, 1.0, 2.0, 3.0])], {"x": _f(1, 1, 3, 4)}
    ),
    "enlarged in opset 10": Model(10, [_node("Resize", "x by")], {"x": _f(1, 1, 3, 4)}, {"by": _FACTORS}),
    "scattered": Model(
        9,
        [_node("Scatter", "x i u", axis=1)],
        {"x": _f(2, 5), "u": _f(2, 2, seed=1)},
        {"i": np.array([[1, 3], [0, 4]], np.int64)},
    ),
    "axes from the end": Model(
        11,
        [
            _node("Unsqueeze", "x", "u", axes=[-1]),
            _node("Concat", "u u", "c", axis=-1),
            _node("ReduceMax", "c", "v", axes=[-2], keepdims=1),
            _node("Squeeze", "v", "s", axes=[-2]),
            _node("Flatten", "s", "y", axis=-1),
        ],
        {"x": _f(2, 3, 4)},
    ),
    "largest": Model(10, [_node("TopK", "x k", "y i")], {"x": _f(2, 5)}, {"k": np.array([2], np.int64)}, ("y", "i")),
    "gelu": Model(20, [_node("Gelu", "x", approximate="tanh")], {"x": _f(2, 3)}),
    "layer normalization": Model(
        17, [_node("LayerNormalization", "x w b")], {"x": _f(2, 3, 4)}, {"w": _f(4, seed=1), "b": _f(4, seed=2)}
    ),
    "group normalization": Model(
        21,
        [_node("GroupNormalization", "x w b", num_groups=2)],
        {"x": _f(2, 4, 3)},
        {"w": _f(4, seed=1), "b": _f(4, seed=2)},
    ),
    "mish": Model(18, [_node("Mish", "x")], {"x": _f(2, 3)}),
    "swish": Model(24, [_node("Swish", "x", alpha=1.5)], {"x": _f(2, 3)}),
    "attention": Model(
        23, [_node("Attention", "q k v")], {n: _f(1, 2, 5, 4, seed=k) for k, n in enumerate("qkv")}
    ),
    "batch normalization": Model(
        9,
        [_node("BatchNormalization", "x s b m v")],
        {"x": _f(2, 3, 4)},
        {"s": _f(3, seed=1), "b": _f(3, seed=2), "m": _f(3, seed=3), "v": np.abs(_f(3, seed=4)) + 0.5},
    ),
    "branches": Model(
        11, [_node("If", "c", then_branch=_BRANCH, else_branch=_OTHER)], {"c": np.array(True), "x": _f(1, 3)}
    ),
}  # fmt: skip
TARGETS = (9, 11, 13, 17, 18, 21, 23, 25, 28)
_NEWEST_OF_RUNTIME = 23


def _run(path: Path, inputs: dict[str, Any]) -> list[Any]:
    model = onnx.load(path)
    if model.opset_import[0].version > _NEWEST_OF_RUNTIME:
        result: Any = ReferenceEvaluator(model).run(None, inputs)
    else:
        result = onnxruntime.InferenceSession(str(path)).run(None, inputs)
    return list(result)


def _save(model: Model, path: Path) -> None:
    infos = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
        for n, x in model.inputs.items()
    ]
    outputs = [
        helper.make_tensor_value_info(n, TensorProto.INT64 if n == "i" else TensorProto.FLOAT, None)
        for n in model.outputs
    ]
    constants = [numpy_helper.from_array(np.asarray(x), n) for n, x in model.constants.items()]
    graph = helper.make_graph(model.nodes, "g", infos, outputs, constants)
    built = helper.make_model(graph, opset_imports=[helper.make_opsetid("", model.opset)], ir_version=7)
    onnx.save(built, path)


@pytest.mark.fast_every(4)
@pytest.mark.parametrize("opset", TARGETS)
@pytest.mark.parametrize("name", MODELS)
def test_a_model_computes_the_same_in_another_opset(name: str, opset: int, tmp_path: Path) -> None:
    model = MODELS[name]
    before, after = tmp_path / "before.onnx", tmp_path / "after.onnx"
    _save(model, before)
    expected = _run(before, model.inputs)
    cir.save(cir.convert(cir.load(before), "onnx", opset=opset), after)
    written = onnx.load(after)
    assert [entry.version for entry in written.opset_import] == [opset]
    onnx.checker.check_model(written, full_check=True)
    for y, actual in zip(expected, _run(after, model.inputs), strict=True):
        np.testing.assert_allclose(actual, y, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("opset", [11, 13])
def test_sizes_are_read_as_older_opsets_can(opset: int, tmp_path: Path) -> None:
    before, after = tmp_path / "before.onnx", tmp_path / "after.onnx"
    nodes = [
        _node("Shape", "x", "n", start=0, end=1),
        _node("Max", "n two", "m"),
        _node("GreaterOrEqual", "x zero", "c"),
        _node("Where", "c x zero", "w"),
        _node("Expand", "w m", "y"),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n"])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [
            numpy_helper.from_array(np.array([1], np.int64), "two"),
            numpy_helper.from_array(np.array(0, np.float32), "zero"),
        ],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), before)
    cir.save(cir.convert(cir.load(before), "onnx", opset=opset), after)
    x = {"x": np.array([-1, 2, -3], np.float32)}
    np.testing.assert_array_equal(_run(after, x)[0], _run(before, x)[0])


@pytest.mark.parametrize(
    ("name", "opset", "operators"),
    [
        ("clip with attributes", 13, ["Clip"]),
        ("squeeze and unsqueeze", 21, ["Squeeze", "Unsqueeze"]),
        ("axes as operands", 11, ["ReduceMax", "Unsqueeze"]),
        ("softmax of a matrix", 13, ["Softmax"]),
        ("softmax along an axis", 21, ["Softmax"]),
        ("split", 18, ["Split"]),
        ("branches", 25, ["If"]),
        ("pieces of one size", 18, ["Split"]),
        ("enlarged", 11, ["Resize"]),
        ("enlarged by attribute", 13, ["Resize"]),
        ("enlarged in opset 10", 9, ["Upsample"]),
        ("scattered", 11, ["ScatterElements"]),
    ],
)
def test_an_operator_stays_itself_where_its_meaning_is_proven(
    name: str, opset: int, operators: list[str], tmp_path: Path
) -> None:
    _save(MODELS[name], tmp_path / "before.onnx")
    converted = cir.convert(cir.load(tmp_path / "before.onnx"), "onnx", opset=opset)
    cir.save(converted, tmp_path / "after.onnx")
    assert [node.op_type for node in onnx.load(tmp_path / "after.onnx").graph.node] == operators


@pytest.mark.parametrize("factor", [0.5, 2.0])
@pytest.mark.parametrize("opset", [11, 13, 18])
def test_the_nearest_element_is_that_of_opset_10(opset: int, factor: float, tmp_path: Path) -> None:
    """onnxruntime takes the one after a position where an axis becomes shorter; the text leaves it open."""
    factors = np.array([1, 1, factor, factor], np.float32)
    model = Model(10, [_node("Resize", "x by")], {"x": _f(1, 1, 7, 5)}, {"by": factors})
    before, after = tmp_path / "before.onnx", tmp_path / "after.onnx"
    _save(model, before)
    cir.save(cir.convert(cir.load(before), "onnx", opset=opset), after)
    assert [node.op_type for node in onnx.load(after).graph.node] == ["Resize"]
    np.testing.assert_array_equal(_run(after, model.inputs)[0], _run(before, model.inputs)[0])


def test_positions_of_the_largest_are_refused_where_there_is_no_second_result(tmp_path: Path) -> None:
    pool = _node("MaxPool", "x", "y i", kernel_shape=[2, 2])
    path = tmp_path / "m.onnx"
    _save(Model(12, [pool], {"x": _f(1, 1, 4, 4)}, outputs=("y", "i")), path)
    with pytest.raises(cir.DiagnosticError, match="fewer results in onnx opset7"):
        cir.convert(cir.load(path), "onnx", opset=7)


def test_rounding_up_is_expressed_where_pooling_has_no_word_for_it(tmp_path: Path) -> None:
    pool = _node("MaxPool", "x", kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1)
    model = Model(12, [pool], {"x": _f(1, 1, 4, 4)})
    before, after = tmp_path / "before.onnx", tmp_path / "after.onnx"
    _save(model, before)
    cir.save(cir.convert(cir.load(before), "onnx", opset=7), after)
    np.testing.assert_array_equal(_run(after, model.inputs)[0], _run(before, model.inputs)[0])


def test_the_model_that_is_converted_is_not_changed(tmp_path: Path) -> None:
    _save(MODELS["clip with attributes"], tmp_path / "before.onnx")
    module = cir.load(tmp_path / "before.onnx")
    cir.convert(module, "onnx", opset=21)
    cir.save(module, tmp_path / "again.onnx")
    assert onnx.load(tmp_path / "again.onnx") == onnx.load(tmp_path / "before.onnx")


def test_an_opset_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    _save(MODELS["mish"], tmp_path / "before.onnx")
    with pytest.raises(cir.DiagnosticError, match="opset 99 cannot be written"):
        cir.convert(cir.load(tmp_path / "before.onnx"), "onnx", opset=99)


_INTEGERS = np.random.default_rng(0).integers(-(2**63), 2**63 - 1, (2, 4, 5))
INTEGER_OPERATORS = {
    "BitwiseAnd": (18, np.bitwise_and),
    "BitwiseOr": (18, np.bitwise_or),
    "BitwiseXor": (18, np.bitwise_xor),
    "Add": (14, np.add),
    "Sub": (14, np.subtract),
    "Mul": (14, np.multiply),
}


@pytest.mark.fast_every(3)
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.int64])
@pytest.mark.parametrize("name", INTEGER_OPERATORS)
def test_integers_are_computed_as_older_opsets_can(name: str, dtype: type[np.generic], tmp_path: Path) -> None:
    """Compares the older model in onnxruntime with numpy."""
    opset, function = INTEGER_OPERATORS[name]
    a, b = _INTEGERS.astype(dtype)
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    infos = [helper.make_tensor_value_info(n, kind, [4, 5]) for n in ("a", "b", "y")]
    graph = helper.make_graph([_node(name, "a b")], "g", infos[:2], infos[2:])
    before, after = tmp_path / "before.onnx", tmp_path / "after.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8), before)
    cir.save(cir.convert(cir.load(before), "onnx", opset=13), after)
    onnx.checker.check_model(str(after), full_check=True)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(_run(after, {"a": a, "b": b})[0], function(a, b))


@pytest.mark.parametrize("dtype", [np.int16, np.uint8, np.int64])
def test_bits_are_inverted_as_older_opsets_can(dtype: type[np.generic], tmp_path: Path) -> None:
    (x, _) = _INTEGERS.astype(dtype)
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    infos = [helper.make_tensor_value_info(n, kind, [4, 5]) for n in ("x", "y")]
    graph = helper.make_graph([_node("BitwiseNot", "x")], "g", infos[:1], infos[1:])
    before, after = tmp_path / "before.onnx", tmp_path / "after.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8), before)
    cir.save(cir.convert(cir.load(before), "onnx", opset=13), after)
    np.testing.assert_array_equal(_run(after, {"x": x})[0], np.invert(x))


@pytest.mark.parametrize("equation", ["ij,jk->ik", "ii->i"])
def test_sums_in_bfloat16_are_computed_in_single_precision(equation: str, tmp_path: Path) -> None:
    inputs = {n: _f(3, 3, seed=k).astype(ml_dtypes.bfloat16) for k, n in enumerate("ab"[: equation.count(",") + 1])}
    infos = [helper.make_tensor_value_info(n, TensorProto.BFLOAT16, [3, 3]) for n in inputs]
    output = helper.make_tensor_value_info("y", TensorProto.BFLOAT16, [3] * len(equation.partition("->")[2]))
    graph = helper.make_graph([_node("Einsum", " ".join(inputs), equation=equation)], "g", infos, [output])
    before, after = tmp_path / "before.onnx", tmp_path / "after.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 28)], ir_version=14), before)
    cir.save(cir.convert(cir.load(before), "onnx", opset=21), after)
    onnx.checker.check_model(str(after), full_check=True)
    wide = np.einsum(equation, *[x.astype(np.float32) for x in inputs.values()])
    result = cir.run(cir.load(after), inputs)["y"]
    np.testing.assert_array_equal(result.astype(np.float32), wide.astype(ml_dtypes.bfloat16).astype(np.float32))


def test_functions_are_inlined_where_a_version_depends_on_their_attributes(tmp_path: Path) -> None:
    text = """<ir_version: 9, opset_import: ["" : 18, "own" : 1]> g (float[2,3] x) => (float[2,3] y) {
            y = own.Scaled <by = 2.5> (x)
        }
        <domain: "own", opset_import: ["" : 18]> Scaled <by> (x) => (y) {
            by = Constant <value_float: float = @by> ()
            y = Mul (x, by)
        }"""
    onnx.save(onnx.parser.parse_model(text), tmp_path / "before.onnx")
    cir.save(cir.convert(cir.load(tmp_path / "before.onnx"), "onnx", opset=9), tmp_path / "after.onnx")
    inputs = {"x": _f(2, 3)}
    before, after = (_run(tmp_path / f"{n}.onnx", inputs)[0] for n in ("before", "after"))
    np.testing.assert_array_equal(after, before)


def test_the_normalization_that_onnxruntime_adds_takes_the_types_of_onnx(tmp_path: Path) -> None:
    value = helper.make_tensor_value_info
    scale = numpy_helper.from_array(np.array([1, 2, 3, 4], np.float32), "w")
    nodes = [helper.make_node("LayerNormalization", ["x", "w"], ["y"], axis=-1, epsion=1e-6)]
    half, single = TensorProto.FLOAT16, TensorProto.FLOAT
    graph = helper.make_graph(nodes, "g", [value("x", half, [3, 4])], [value("y", single, [3, 4])], [scale])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 12)], ir_version=7)
    result = tmp_path / "model.onnx"
    cir.save(cir.convert(cir.loads(model.SerializeToString(), format="onnx"), "onnx", opset=18), result)
    onnx.checker.check_model(result, full_check=True)
    x = {"x": np.random.default_rng(0).standard_normal((3, 4)).astype(np.float16)}
    sources = (model.SerializeToString(), str(result))
    expected, y = [np.asarray(onnxruntime.InferenceSession(s).run(None, x)[0]) for s in sources]
    np.testing.assert_allclose(y, expected, rtol=2e-3, atol=2e-3)
