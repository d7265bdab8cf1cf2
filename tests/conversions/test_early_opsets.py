"""Operators that opsets before 13 say in another way, or not at all: onnxruntime computes the same from both models."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import commonir as cir

from tests.onnx_operators.verdicts import difference, run_with_onnxruntime


class Model(NamedTuple):
    """Nodes in an opset, with inputs that have open dims, and constants."""

    opset: int
    nodes: list[onnx.NodeProto]
    inputs: dict[str, Any]
    constants: dict[str, Any] = {}  # noqa: RUF012  never changed
    fixed: bool = False

    def proto(self) -> onnx.ModelProto:
        infos = [
            helper.make_tensor_value_info(
                n,
                helper.np_dtype_to_tensor_dtype(v.dtype),
                v.shape if self.fixed else [f"{n}{a}" for a in range(v.ndim)],
            )
            for n, v in self.inputs.items()
        ]
        outputs = [onnx.ValueInfoProto(name=n) for n in self.nodes[-1].output]
        constants = [numpy_helper.from_array(np.asarray(v), n) for n, v in self.constants.items()]
        graph = helper.make_graph(self.nodes, "g", infos, outputs, constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8)


def _node(op: str, inputs: str, outputs: str = "y", **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(op, ["" if n == "-" else n for n in inputs.split()], outputs.split(), **attributes)


def _f(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def _i(*numbers: Any) -> Any:
    return np.array(numbers, np.int64)


_HALVES = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.49999997, -0.75, 3.2, np.inf], np.float32)
_MIXED = _i(-7, -6, -5, 0, 5, 6, 7)
_SIZES = {"s": _i(1, 2, 7, 5)}
_TRAINED = {"r": np.float32(0.5), "t": np.array(False)}


def _resized(opset: int, operands: str, constants: dict[str, Any], **attributes: Any) -> Model:
    return Model(opset, [_node("Resize", operands, **attributes)], {"x": _f(1, 2, 3, 4)}, constants, fixed=True)


def _sized(mode: str, positions: str, nearest: str) -> Model:
    return _resized(18, "x - - s", _SIZES, mode=mode, coordinate_transformation_mode=positions, nearest_mode=nearest)


MODELS = {
    "product without C": Model(13, [_node("Gemm", "a b", alpha=0.5)], {"a": _f(2, 3), "b": _f(3, 4)}),
    "transposed product without C": Model(
        13, [_node("Gemm", "a b", transA=1, transB=1)], {"a": _f(3, 2), "b": _f(4, 3)}
    ),
    "one-hot along the last axis": Model(
        11, [_node("OneHot", "i d v", axis=-1)], {"i": _i([0, 2], [1, 4])}, {"d": _i(4), "v": _f(2)}
    ),
    "one-hot along another axis": Model(
        11, [_node("OneHot", "i d v", axis=-2)], {"i": _i([0, 2], [1, 4])}, {"d": _i(4), "v": _f(2)}
    ),
    "one-hot along the first axis": Model(
        11, [_node("OneHot", "i d v", axis=-3)], {"i": _i([0, 2], [1, 4])}, {"d": _i(4), "v": _f(2)}
    ),
    "dropout with its mask": Model(13, [_node("Dropout", "x r t", "y m")], {"x": _f(2, 3)}, _TRAINED),
    "dropout of an input": Model(13, [_node("Dropout", "x r t")], {"x": _f(2, 3)}, _TRAINED),
    "dropout before opset 10 with its mask": Model(
        9, [_node("Dropout", "x", "h m"), _node("Relu", "h")], {"x": _f(2, 3)}),
    "dropout before opset 10": Model(9, [_node("Dropout", "x")], {"x": _f(2, 3)}),
    "steps": Model(11, [_node("Slice", "x b e a s")], {"x": _f(5, 6)},
                   {"b": _i(1, 9), "e": _i(5, 0), "a": _i(0, 1), "s": _i(2, -2)}),
    "steps of a fixed shape": Model(11, [_node("Slice", "x b e a s")], {"x": _f(5, 6)},
                   {"b": _i(-1, 0), "e": _i(-9, 6), "a": _i(0, 1), "s": _i(-1, 3)}, fixed=True),
    "a slice to a computed size": Model(
        13,
        [_node("Shape", "x", "n"), _node("Slice", "n zero one", "d"), _node("Sub", "d one", "k"),
         _node("Slice", "x zero k zero")],
        {"x": _f(5, 6)}, {"zero": _i(0), "one": _i(1)},
    ),
    "a slice between inputs": Model(
        13, [_node("Slice", "x b e a")], {"x": _f(5, 6), "b": _i(-4, 1), "e": _i(4, 99)}, {"a": _i(0, 1)}
    ),
    "a backward slice between inputs": Model(
        13, [_node("Slice", "x b e a s")], {"x": _f(5, 6), "b": _i(4, -1), "e": _i(1, -99)},
        {"a": _i(0, 1), "s": _i(-1, -2)},
    ),
    "a range": Model(
        13, [_node("Range", "b e s", "r"), _node("Add", "r x")], {"x": _i(1), "b": np.array(7), "e": np.array(-3)},
        {"s": np.int64(-4)},
    ),
    "positions of an axis": Model(
        13,
        [_node("Shape", "x", "n"), _node("Gather", "n zero", "k"), _node("Range", "zero k one", "r"),
         _node("Cast", "r", "f", to=1), _node("Mul", "x f")],
        {"x": _f(5)}, {"zero": np.int64(0), "one": np.int64(1)},
    ),
    "modulo": Model(13, [_node("Mod", "a b")], {"a": _MIXED, "b": _i(3, -3, 2, 4, -4, 4, -3)}),
    "remainders": Model(13, [_node("Mod", "a b", fmod=1)], {"a": _MIXED, "b": _i(3, -3, 2, 4, -4, 4, -3)}),
    "rounding": Model(11, [_node("Round", "x")], {"x": _HALVES}),
    "equal floats": Model(
        11, [_node("Equal", "x z")], {"x": np.array([1, np.nan, 2, np.inf], np.float32),
                                      "z": np.array([1, np.nan, 3, np.inf], np.float32)},
    ),
    "a running sum": Model(11, [_node("CumSum", "x a", exclusive=1, reverse=1)], {"x": _f(2, 5)}, {"a": _i(1)[0]},
                           fixed=True),
    "padded integers": Model(13, [_node("Pad", "x p v")], {"x": _i([1, 2, 3], [4, 5, 6])},
                             {"p": _i(1, 0, 0, 2), "v": np.int64(7)}),
    "mirrored integers": Model(13, [_node("Pad", "x p", mode="reflect")], {"x": _i([1, 2, 3], [4, 5, 6])},
                             {"p": _i(1, 0, 0, 2)}, fixed=True),
    "no axes": Model(13, [_node("ReduceSum", "x a", keepdims=0)], {"x": _f(2, 3)}, {"a": _i()}),
    "no axes, nothing to do": Model(
        13, [_node("ReduceSum", "x a", noop_with_empty_axes=1)], {"x": _f(2, 3)}, {"a": _i()}),
    "no axes to squeeze": Model(13, [_node("Squeeze", "x a")], {"x": _f(2, 1)}, {"a": _i()}, fixed=True),
    "no axes to insert": Model(13, [_node("Unsqueeze", "x a")], {"x": _f(2, 3)}, {"a": _i()}),
    "no axes to slice": Model(13, [_node("Slice", "x a a a")], {"x": _f(2, 3)}, {"a": _i()}),
    "nearest with half pixels": _sized("nearest", "half_pixel", "round_prefer_ceil"),
    "nearest from the start": _sized("nearest", "asymmetric", "floor"),
    "linear with half pixels": _sized("linear", "pytorch_half_pixel", "round_prefer_floor"),
    "linear with corners": _sized("linear", "align_corners", "round_prefer_floor"),
    "cubic": _sized("cubic", "half_pixel", "round_prefer_floor"),
    "by factors": _resized(13, "x - k", {"k": np.array([1, 1, 2, 3], np.float32)}, mode="nearest",
                           coordinate_transformation_mode="asymmetric", nearest_mode="floor"),
    "linear by factors": _resized(13, "x - k", {"k": np.array([1, 1, 2, 1.5], np.float32)}, mode="linear"),
    "sizes of some axes": _resized(18, "x - - s", {"s": _i(5, 7)}, axes=[3, 2], mode="linear"),
    "factors of some axes": _resized(18, "x - k", {"k": np.array([2, 1.5], np.float32)}, axes=[2, 3], mode="cubic"),
    "elements along an axis": Model(
        13, [_node("GatherElements", "x i", axis=1)], {"x": _f(3, 4), "i": _i([0, -1], [2, 1])}),
    "rows by positions": Model(
        12, [_node("GatherND", "x i", batch_dims=1)], {"x": _f(2, 3, 4), "i": _i([[0], [-1]], [[2], [1]])}, fixed=True),
    "elements by positions": Model(
        11, [_node("GatherND", "x i")], {"x": _f(2, 3)}, {"i": _i([[0, 1]], [[-1, 2]])}),
    "replaced elements": Model(
        13, [_node("ScatterElements", "x i u", axis=-1)],
        {"x": _f(2, 4), "i": _i([0, -1], [2, 1]), "u": _f(2, 2, seed=1)}),
    "replaced rows": Model(
        13, [_node("ScatterND", "x i u")], {"x": _f(3, 4), "u": _f(2, 4, seed=1)}, {"i": _i([2], [0])}),
    "combined elements": Model(
        16, [_node("ScatterElements", "x i u", axis=1, reduction="add")],
        {"x": _f(2, 4), "i": _i([0, 0], [2, 1]), "u": _f(2, 2, seed=1)}, fixed=True),
    "a product of letters": Model(
        12, [_node("Einsum", "a b", equation="bij,bjk->bik")], {"a": _f(2, 3, 4), "b": _f(2, 4, 5)}),
    "channels before blocks": Model(13, [_node("DepthToSpace", "x", blocksize=2, mode="CRD")], {"x": _f(1, 8, 2, 3)}),
    "a running sum along a computed axis": Model(
        14, [_node("CumSum", "x a", reverse=1)], {"x": _f(2, 3), "a": np.array(-1)}, fixed=True),
    "powers of integers": Model(
        13, [_node("Pow", "a b")], {"a": np.array([2, -3], np.int32), "b": np.array([3, 2], np.int32)}),
    "a loss": Model(
        13, [_node("SoftmaxCrossEntropyLoss", "x t")], {"x": _f(3, 5), "t": _i(1, 4, 0)}, fixed=True),
    "a diagonal of letters": Model(
        12, [_node("Einsum", "a b", equation="biib,i->bi")], {"a": _f(2, 3, 3, 2), "b": _f(3)}, fixed=True),
    "convolved bytes": Model(
        10, [_node("ConvInteger", "x w z")], {"x": np.arange(50, dtype=np.uint8).reshape(1, 2, 5, 5)},
        {"w": np.arange(18, dtype=np.uint8).reshape(1, 2, 3, 3), "z": np.uint8(3)}, fixed=True),
    "a range of floats": Model(
        13, [_node("Range", "b e s", "r"), _node("Add", "r x")],
        {"x": _f(1), "b": np.array(1, np.float32), "e": np.array(-2, np.float32), "s": np.array(-0.75, np.float32)}),
    "a range with a computed step": Model(
        13, [_node("Range", "b e s", "r"), _node("Add", "r x")],
        {"x": _i(1), "b": np.array(9), "e": np.array(-4), "s": np.array(-5)}),
    "integers padded and cut": Model(
        13, [_node("Pad", "x p v")], {"x": _i([1, 2, 3], [4, 5, 6])}, {"p": _i(-1, 1, 2, -2), "v": np.int64(7)}),
    "computed padding, constant": Model(
        13, [_node("Pad", "x p", mode="constant")], {"x": _f(3, 4), "p": _i(1, 0, 0, 2)}),
    "computed padding, edge": Model(
        13, [_node("Pad", "x p", mode="edge")], {"x": _f(3, 4), "p": _i(1, 0, 0, 2)}),
    "computed axes to remove": Model(
        13, [_node("Squeeze", "x a")], {"x": _f(1, 2, 1, 3), "a": _i(-2)}, fixed=True),
    "computed axes to remove, one of them twice": Model(
        13, [_node("Squeeze", "x a")], {"x": _f(1, 2, 1, 3), "a": _i(2, 0, -2)}, fixed=True),
    "computed axes to insert": Model(
        13, [_node("Unsqueeze", "x a")], {"x": _f(2, 3), "a": _i(-1, 1)}, fixed=True),
    "computed axes to insert around a scalar": Model(
        13, [_node("Unsqueeze", "x a")], {"x": np.array(3, np.float32), "a": _i(0)}, fixed=True),
    "a sum along computed axes": Model(
        13, [_node("ReduceSum", "x a", keepdims=0)], {"x": _f(3, 2, 4), "a": _i(-1, 0)}, fixed=True),
    "a sum along one computed axis, named twice": Model(
        13, [_node("ReduceSum", "x a", keepdims=0)], {"x": _f(3, 2, 4), "a": _i(0, -3)}, fixed=True),
    "a mean along two computed axes, one named twice, kept": Model(
        18, [_node("ReduceMean", "x a", keepdims=1)], {"x": _f(3, 2, 4), "a": _i(0, 2, -3)}, fixed=True),
    "a sum along all computed axes": Model(
        13, [_node("ReduceSum", "x a", keepdims=0)], {"x": _f(3, 2), "a": _i(1, 0)}, fixed=True),
    "a logarithm of a sum along a computed axis": Model(
        18, [_node("ReduceLogSum", "x a", keepdims=1)],
        {"x": np.abs(_f(3, 2, 4)), "a": _i(1)}, fixed=True),
    "largest bytes of windows": Model(
        12, [_node("MaxPool", "x", kernel_shape=[2, 2], pads=[1, 1, 0, 0], strides=[2, 2])],
        {"x": np.arange(-8, 8, dtype=np.int8).reshape(1, 1, 4, 4)}, fixed=True),
    "larger of words": Model(
        12, [_node("Max", "a b")],
        {"a": np.array([1, 2**64 - 1, 5], np.uint64), "b": np.array([3, 2**63, 2**40], np.uint64)}),
    "common bits of words": Model(
        18, [_node("BitwiseAnd", "a b")],
        {"a": np.array([1, 2**64 - 1, 2**63, 77], np.uint64), "b": np.array([3, 2**63, 2**63 + 5, 6], np.uint64)}),
    "equal words": Model(
        11, [_node("Equal", "a b")],
        {"a": np.array([1, 2**64 - 1, 2], np.uint64), "b": np.array([1, 2**63, 3], np.uint64)}),
    "shifts of bytes to the left": Model(
        11, [_node("BitShift", "a b", direction="LEFT")],
        {"a": np.array([1, 255, 129, 7], np.uint8), "b": np.array([0, 1, 7, 3], np.uint8)}),
    "shifts of words to the right": Model(
        11, [_node("BitShift", "a b", direction="RIGHT")],
        {"a": np.array([1, 2**64 - 1, 2**63, 77], np.uint64), "b": np.array([0, 1, 63, 3], np.uint64)}),
    "shifts of words to the left": Model(
        11, [_node("BitShift", "a b", direction="LEFT")],
        {"a": np.array([1, 2**64 - 1, 3, 77], np.uint64), "b": np.array([0, 1, 63, 3], np.uint64)}),
    "computed padding of bools": Model(
        13, [_node("Pad", "x p", mode="constant")],
        {"x": np.array([[True, False], [True, True]]), "p": _i(1, 0, 0, 2)}),
    "computed padding, reflect": Model(
        13, [_node("Pad", "x p", mode="reflect")], {"x": _f(3, 4), "p": _i(1, 0, 0, 2)}),
}  # fmt: skip


@pytest.mark.fast_every(3)
@pytest.mark.slow_cases("*-10", "*-11", "*-12", "*-15", "*-22")
@pytest.mark.parametrize("opset", [9, 10, 11, 12, 15, 22])
@pytest.mark.parametrize("name", MODELS)
def test_onnxruntime_computes_the_same_in_another_opset(name: str, opset: int) -> None:
    model = MODELS[name].proto()
    module = cir.loads(model.SerializeToString(), format="onnx")
    built = onnx.load_from_string(cir.dumps(cir.convert(module, "onnx", opset=opset)))
    assert [entry.version for entry in built.opset_import] == [opset]
    assert [v.name for v in built.graph.output] == [v.name for v in model.graph.output]
    inputs = MODELS[name].inputs
    expected = run_with_onnxruntime(model, inputs)
    assert difference(run_with_onnxruntime(built, inputs), expected, 1e-5) is None


def test_branches_of_different_shapes_are_refused_before_opset_11() -> None:
    graphs: dict[str, Any] = {
        f"{name}_branch": helper.make_graph([_node(op, "x", name)], name, [], [onnx.ValueInfoProto(name=name)])
        for name, op in (("then", "Transpose"), ("else", "Neg"))
    }
    model = Model(
        11, [helper.make_node("If", ["c"], ["y"], **graphs)], {"c": np.array(True), "x": _f(2, 3)}, fixed=True
    )
    module = cir.loads(model.proto().SerializeToString(), format="onnx")
    with pytest.raises(cir.DiagnosticError, match="before opset 11 they have one shape"):
        cir.convert(module, "onnx", opset=9)
    assert cir.convert(module, "onnx", opset=13)


_LISTS = helper.make_sequence_type_proto(helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, [2]))


@pytest.mark.parametrize(
    ("operator", "type", "opset", "since"),
    [("SequenceErase", _LISTS, 11, 13), ("Identity", helper.make_optional_type_proto(_LISTS), 15, 16)],
)
def test_branches_return_lists_and_optional_values_from_their_version_on(
    operator: str, type: onnx.TypeProto, opset: int, since: int
) -> None:
    value, condition = helper.make_value_info("s", type), helper.make_tensor_value_info("c", onnx.TensorProto.BOOL, [])
    branches: dict[str, Any] = {
        f"{name}_branch": helper.make_graph(
            [_node(operator, "s", name)], name, [], [helper.make_value_info(name, type)]
        )
        for name in ("then", "else")
    }
    nodes = [helper.make_node("If", ["c"], ["y"], **branches)]
    graph = helper.make_graph(nodes, "g", [value, condition], [helper.make_value_info("y", type)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    onnx.checker.check_model(model, full_check=True)
    module = cir.loads(model.SerializeToString(), format="onnx")
    with pytest.raises(cir.DiagnosticError, match=f"came with opset {since}"):
        cir.convert(module, "onnx", opset=opset)
    onnx.checker.check_model(_written(module, since), full_check=True)


def _written(module: cir.Module, opset: int) -> onnx.ModelProto:
    return onnx.load_from_string(cir.dumps(cir.convert(module, "onnx", opset=opset)))


def test_outputs_and_nodes_keep_their_names_where_an_operator_becomes_its_operand() -> None:
    nodes = [
        _node("LayerNormalization", "x w", "l", name="ln"),
        _node("Dropout", "l", "d", name="drop"),
        _node("Dropout", "x r t", "e m", name="masked"),
        _node("Identity", "d", "y", name="id"),
    ]
    model = Model(17, nodes, {"x": _f(2, 4)}, {"w": _f(4), **_TRAINED}).proto()
    model.graph.output.extend([onnx.ValueInfoProto(name=n) for n in ("d", "e", "m")])
    module = cir.loads(model.SerializeToString(), format="onnx")
    for opset in (9, 13, 22):
        built = _written(module, opset)
        assert [v.name for v in built.graph.output] == ["y", "d", "e", "m"]
        assert {"ln", "drop", "masked", "id"} <= {n.name for n in built.graph.node}
        used = {name for n in built.graph.node for name in n.input} | {v.name for v in built.graph.output}
        assert all(not used.isdisjoint(n.output) for n in built.graph.node)
        inputs = {"x": _f(2, 4)}
        assert difference(run_with_onnxruntime(built, inputs), run_with_onnxruntime(model, inputs), 1e-5) is None


def test_results_that_nothing_uses_may_be_missing_in_another_opset() -> None:
    nodes = [_node("BatchNormalization", "x s b m v", "h rm rv sm sv"), _node("Relu", "h")]
    constants = {n: np.ones(3, np.float32) for n in "sbmv"}
    module = cir.loads(Model(9, nodes, {"x": _f(2, 3)}, constants).proto().SerializeToString(), format="onnx")
    assert [n.op_type for n in _written(module, 15).graph.node][-1] == "Relu"


@pytest.mark.parametrize(("opset", "operators"), [(9, ["ImageScaler"]), (13, ["Mul", "Add"])])
def test_experimental_operators_are_expanded_where_runtimes_dropped_them(opset: int, operators: list[str]) -> None:
    """onnxruntime has them before opset 10 only."""
    node = _node("ImageScaler", "x", scale=0.5, bias=[1.0, -2.0, 3.0])
    model = Model(8, [node], {"x": _f(1, 3, 2, 4)}, fixed=True).proto()
    built = _written(cir.loads(model.SerializeToString(), format="onnx"), opset)
    assert [n.op_type for n in built.graph.node] == operators
    inputs = {"x": _f(1, 3, 2, 4)}
    assert difference(run_with_onnxruntime(built, inputs), run_with_onnxruntime(model, inputs), 1e-6) is None


def test_a_scan_over_batches_becomes_one_without_them() -> None:
    info = helper.make_tensor_value_info
    body = helper.make_graph(
        [_node("Add", "s e", "t"), _node("Identity", "t", "o")], "body",
        [info("s", 1, [2]), info("e", 1, [2])], [info("t", 1, [2]), info("o", 1, [2])],
    )  # fmt: skip
    scan = helper.make_node("Scan", ["", "x", "z"], ["y", "w"], num_scan_inputs=1, body=body)
    model = Model(8, [scan], {"x": _f(1, 2), "z": _f(1, 3, 2)}, fixed=True).proto()
    built = _written(cir.loads(model.SerializeToString(), format="onnx"), 13)
    inputs = {"x": _f(1, 2), "z": _f(1, 3, 2)}
    assert difference(run_with_onnxruntime(built, inputs), run_with_onnxruntime(model, inputs), 1e-6) is None
