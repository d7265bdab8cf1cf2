"""Programs made simpler; what remains is written out, and what is computed is compared with onnxruntime."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import commonir as cir


def _model(path: Path, nodes: list[onnx.NodeProto], constants: dict[str, Any], shape: list[Any]) -> None:
    infos = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in (("x", shape), ("y", None))]
    stored = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "g", infos[:1], infos[1:], stored)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), path)


def _node(op: str, inputs: str, outputs: str, **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(op, inputs.split(), outputs.split(), **attributes)


def _branch(name: str, nodes: list[onnx.NodeProto], outputs: str) -> onnx.GraphProto:
    results = [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in outputs.split()]
    return helper.make_graph(nodes, name, [], results)


CASES = {
    "an identity is passed over": (
        [_node("Identity", "x", "i"), _node("Relu", "i", "y")], {}, {"Relu": 1},
    ),
    "what depends on constants alone is computed": (
        [_node("Mul", "a b", "m"), _node("Exp", "m", "e"), _node("Add", "x e", "y")],
        {"a": np.array([1, 2, 3], np.float32), "b": np.array([3, 2, 1], np.float32)},
        {"Add": 1},
    ),
    "a reshape to the shape that is there goes": (
        [_node("Shape", "x", "s"), _node("Reshape", "x s", "r"), _node("Neg", "r", "y")], {}, {"Neg": 1},
    ),
    "shape arithmetic that is known becomes a constant": (
        [
            _node("Shape", "x", "s", start=1),
            _node("Concat", "one s", "t", axis=0),
            _node("Expand", "w t", "e"),
            _node("Add", "x e", "y"),
        ],
        {"one": np.array([1], np.int64), "w": np.float32(2)},
        {"Add": 1},
    ),
    "the same is computed once": (
        [_node("Exp", "x", "a"), _node("Exp", "x", "b"), _node("Add", "a b", "y")], {}, {"Exp": 1, "Add": 1},
    ),
    "dropout of a trained network goes": (
        [_node("Dropout", "x", "d"), _node("Relu", "d", "y")], {}, {"Relu": 1},
    ),
    "unused operations are removed": (
        [_node("Exp", "x", "unused"), _node("Relu", "x", "y")], {}, {"Relu": 1},
    ),
    "an output keeps its name": (
        [_node("Relu", "x", "r"), _node("Identity", "r", "y")], {}, {"Relu": 1},
    ),
    "a list of constants stays a list": (
        [_node("SequenceConstruct", "w w", "s"), _node("SequenceAt", "s i", "e"), _node("Add", "x e", "y")],
        {"w": np.array([1, 2, 3], np.float32), "i": np.int64(1)},
        {"SequenceConstruct": 1, "SequenceAt": 1, "Add": 1},
    ),
    "of a branch that is known what runs stays": (
        [
            _node("Not", "no", "yes"),
            _node(
                "If", "yes", "a b",
                then_branch=_branch("t", [_node("Exp", "x", "e"), _node("Identity", "x", "i")], "e i"),
                else_branch=_branch("f", [_node("Sin", "x", "s"), _node("Cos", "x", "c")], "s c"),
            ),
            _node("Add", "a b", "y"),
        ],
        {"no": np.array(False)},
        {"Exp": 1, "Add": 1},
    ),
    "a branch that is known gives the output under its name": (
        [
            _node(
                "If", "no", "y",
                then_branch=_branch("t", [_node("Neg", "x", "n")], "n"),
                else_branch=_branch("f", [_node("Exp", "x", "e"), _node("Sin", "e", "s")], "s"),
            ),
        ],
        {"no": np.array(False)},
        {"Exp": 1, "Sin": 1},
    ),
    "a branch that gives what is around it gives it under the name of the output": (
        [
            _node("Exp", "x", "e"),
            _node(
                "If", "yes", "y",
                then_branch=_branch("t", [_node("Identity", "e", "i")], "i"),
                else_branch=_branch("f", [_node("Neg", "x", "n")], "n"),
            ),
        ],
        {"yes": np.array(True)},
        {"Exp": 1},
    ),
    "random numbers are drawn in every run": (
        [_node("RandomNormal", "", "n", shape=[3]), _node("Mul", "n zero", "z"), _node("Add", "x z", "y")],
        {"zero": np.float32(0)},
        {"RandomNormal": 1, "Mul": 1, "Add": 1},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_program_becomes_simpler_and_computes_the_same(name: str, tmp_path: Path) -> None:
    nodes, constants, left = CASES[name]
    before, after = tmp_path / "before.onnx", tmp_path / "after.onnx"
    _model(before, nodes, constants, ["N", 3])
    cir.save(cir.optimize(cir.load(before)), after)
    assert Counter(node.op_type for node in onnx.load(after).graph.node) == left
    x = np.random.default_rng(0).standard_normal((2, 3)).astype(np.float32)
    expected, result = (onnxruntime.InferenceSession(str(path)).run(["y"], {"x": x})[0] for path in (before, after))
    np.testing.assert_allclose(np.asarray(result), np.asarray(expected), rtol=1e-6)


def test_a_constant_that_would_be_much_larger_stays_computed(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    nodes = [_node("Expand", "w s", "e"), _node("Concat", "x e", "y", axis=0)]
    _model(path, nodes, {"w": np.float32(1), "s": np.array([4, 1000], np.int64)}, [4, 1000])
    preserved = cir.optimize(cir.load(path), max_growth_bytes=15_000)
    computed = cir.optimize(cir.load(path), max_growth_bytes=16_000)
    assert [sum(cir.summarize(m).operations.values()) for m in (preserved, computed)] == [2, 1]


def test_folding_enlarges_a_program_by_no_more_than_a_hundredth(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    nodes = [_node("Expand", "w s", "e"), _node("Add", "x e", "a"), _node("Mul", "a big", "y")]
    # A constant of 400 bytes among constants of 28 bytes, and of 80,012.
    for big, expected in ((np.full((1, 4), 2, np.float32), 3), (np.full((100, 200), 2, np.float32), 2)):
        width = big.shape[1]
        _model(path, nodes, {"w": np.float32(1), "s": np.array([100, 1], np.int64), "big": big}, [1, width])
        optimized = cir.optimize(cir.load(path))
        assert sum(cir.summarize(optimized).operations.values()) == expected


def test_operations_that_are_folded_together_may_be_larger_in_between(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    # The halves of a weight change places, and each step makes more than half of it.
    nodes = [
        _node("Slice", "w zero most zero", "a"), _node("Slice", "w less end zero", "b"),
        _node("Slice", "a zero half zero", "a2"), _node("Slice", "b less most zero", "b2"),
        _node("Concat", "b2 a2", "c", axis=0), _node("Add", "x c", "y"),
    ]  # fmt: skip
    bounds = {
        n: np.array([v], np.int64) for n, v in (("zero", 0), ("less", 25), ("half", 50), ("most", 75), ("end", 100))
    }
    weight = np.arange(2000, dtype=np.float32).reshape(100, 20)
    _model(path, nodes, {"w": weight, **bounds}, [100, 20])
    optimized = cir.optimize(cir.load(path))
    assert cir.summarize(optimized).operations == {"onnx.Add": 1}
    result = cir.run(optimized, {"x": np.zeros((100, 20), np.float32)})["y"]
    assert np.array_equal(result, np.concatenate([weight[50:], weight[:50]]))


def test_equal_constants_of_one_pass_are_shared_under_the_shortest_name(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    nodes = [
        _node("Add", "one one", "a_long_name"), _node("Mul", "x a_long_name", "p"),
        _node("Mul", "one two", "b"), _node("Mul", "x b", "q"), _node("Sub", "p q", "y"),
    ]  # fmt: skip
    _model(path, nodes, {"one": np.float32(1), "two": np.float32(2)}, ["N", 3])
    optimized = cir.optimize(cir.load(path))
    cir.save(optimized, path)
    graph = onnx.load(path).graph
    assert [n.op_type for n in graph.node] == ["Mul", "Sub"]
    assert [t.name for t in graph.initializer] == ["b"]


def test_the_program_given_is_not_changed(tmp_path: Path) -> None:
    nodes, constants, _ = CASES["what depends on constants alone is computed"]
    _model(tmp_path / "m.onnx", nodes, constants, ["N", 3])
    module = cir.load(tmp_path / "m.onnx")
    cir.optimize(module)
    cir.save(module, tmp_path / "again.onnx")
    assert onnx.load(tmp_path / "again.onnx") == onnx.load(tmp_path / "m.onnx")


# As `mlir-opt --canonicalize` prints it.
DYNAMIC = """\
module {
  FUNC @main(%arg0: tensor<?xf32>) -> tensor<?xf32> {
    %concat = tensor.concat dim(0) %arg0, %arg0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    RETURN %concat : tensor<?xf32>
  }
}
"""


@pytest.mark.parametrize(
    ("function", "end"),
    [("func.func", "return"), ("ml_program.func", "ml_program.return"), ("ml_program.subgraph", "ml_program.output")],
)
def test_dynamic_dims_of_a_program_in_dialects_of_mlir_get_no_names(function: str, end: str) -> None:
    text = DYNAMIC.replace("FUNC", function).replace("RETURN", end)
    result = cir.optimize(cir.loads(text.encode(), format="mlir"))
    assert cir.verify(result) == []
    assert cir.dumps(result).decode().strip() == text.strip()
    assert cir.run(result, {"arg0": np.ones(2, np.float32)})["concat"].tolist() == [1, 1, 1, 1]


def test_default_passes_fold_what_the_dialects_of_mlir_declare() -> None:
    """`mlir-opt --canonicalize` gives this: the product is 6, and adding zero goes."""
    program = cir.loads(
        """
        func.func @f(%a: i32, %b: tensor<2xf32>) -> (i32, tensor<2xf32>) {
          %2 = arith.constant 2 : i32
          %3 = arith.constant 3 : i32
          %0 = arith.constant 0 : i32
          %p = arith.muli %2, %3 : i32
          %s = arith.addi %a, %0 : i32
          %r = arith.addi %s, %p : i32
          %c = tensor.cast %b : tensor<2xf32> to tensor<2xf32>
          return %r, %c : i32, tensor<2xf32>
        }
        """,
        format="mlir",
    )
    lines = cir.show(cir.optimize(program)).splitlines()
    assert [line.strip() for line in lines if "arith" in line or "tensor.cast" in line] == [
        "%c6_i32 = arith.constant 6 : i32",
        "%0 = arith.addi %arg0, %c6_i32 : i32",
    ]
