"""Numbers in attributes and constants that no array, no loop and no target can have end in a diagnostic, and soon."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import commonir as cir
from commonir.ir.data import data_of
from commonir.ir.module import Module
from commonir.ir.types import ElementType, f16, i32, i64
from commonir.runtime import fold_constants
from commonir.symbolic.errors import OutOfRangeError

from tests.oracles import oracle

Constants = Mapping[str, NDArray[Any]]
_LARGE = 2**62


def _codes(action: Callable[[], object]) -> list[str]:
    """The codes of the errors with which a function ends, which it does soon; none when it returns."""
    start = time.process_time()
    try:
        action()
    except cir.DiagnosticError as error:
        return [d.code.id for d in error.diagnostics]
    finally:
        assert time.process_time() - start < 5
    return []


def _model(
    operator: str,
    dims: Sequence[int] = (1, 1, 4, 4),
    constants: Constants | None = None,
    *,
    outputs: int = 1,
    domain: str = "",
    opset: int = 18,
    type: int = 1,
    **attributes: Any,
) -> Module:
    """A program of one operator, whose first operand is an input and whose others are constants."""
    onnx = oracle("onnx")
    helper = onnx.helper
    names = [f"y{n}" for n in range(outputs)]
    constants = {} if constants is None else constants
    node = helper.make_node(operator, ["x", *constants], names, domain=domain, **attributes)
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", type, dims)],
        [onnx.ValueInfoProto(name=name) for name in names],
        [onnx.numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("ai.onnx.ml", 3)]
    return cir.loads(helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString(), format="onnx")


@pytest.mark.parametrize("element", [i32, i64, f16])
def test_data_refuse_numbers_that_their_element_type_does_not_have(element: ElementType) -> None:
    with pytest.raises(OutOfRangeError, match=f"{2**80} is not a value of {element}"):
        data_of(element, (2,), (1, 2**80))


_WEIGHT = {"w": np.ones((1, 1, 2, 2), np.float32)}
_WIDE_WEIGHT = {"w": np.ones((1, 1, 3, 3), np.float32)}
_INDICES = {"i": np.zeros((1, 1, 4, 4), np.int64)}


@pytest.mark.parametrize(
    ("target", "operator", "constants", "attributes"),
    [
        ("mil", "AveragePool", {}, {"kernel_shape": [1, 1], "strides": [_LARGE, 1]}),
        ("mil", "Conv", _WEIGHT, {"pads": [0, 0, 0, _LARGE]}),
        ("ark", "Conv", _WEIGHT, {"pads": [0, 0, 0, 2 * _LARGE - 1]}),
        ("stablehlo", "ConvTranspose", _WIDE_WEIGHT, {"dilations": [1, 2 * _LARGE - 1], "strides": [1, _LARGE]}),
        ("onnx", "MaxUnpool", _INDICES, {"kernel_shape": [2, 2], "strides": [_LARGE, 2]}),
        ("stablehlo", "MaxUnpool", _INDICES, {"kernel_shape": [2, 2], "strides": [2, _LARGE]}),
        ("tosa", "MaxUnpool", _INDICES, {"kernel_shape": [2, 2**31]}),
    ],
)
def test_numbers_that_a_target_does_not_have_are_refused(
    target: str, operator: str, constants: Constants, attributes: Mapping[str, Any]
) -> None:
    options: dict[str, Any] = {"opset": 7} if target == "onnx" else {}
    module = _model(operator, (1, 1, 4, 4), constants, **attributes)
    assert set(_codes(lambda: cir.convert(module, target, **options))) == {"E0601"}


@pytest.mark.parametrize("target", ["mil", "ark", "onnx"])
def test_sequences_of_positions_are_not_listed(target: str) -> None:
    size = {"size": np.array([1, 2, 2, 2**40], np.int64)}
    module = _model("AffineGrid", (1, 2, 3), size, opset=20)
    options: dict[str, Any] = {"opset": 17} if target == "onnx" else {}
    assert set(_codes(lambda: cir.convert(module, target, **options))) <= {"E0601"}


@pytest.mark.parametrize("attribute", [{"pads": [_LARGE] * 4}, {"dilations": [_LARGE] * 2, "auto_pad": "SAME_LOWER"}])
def test_windows_larger_than_memory_can_be_are_errors_of_the_run(attribute: Mapping[str, Any]) -> None:
    module = _model("MaxPool", (1, 1, 4, 4), kernel_shape=[3, 3], **attribute)
    assert _codes(lambda: cir.run(module)) in (["E0711"], ["E0709"])


def test_grids_of_positions_larger_than_memory_are_errors_of_the_run() -> None:
    module = _model("AffineGrid", (1, 2, 3), {"size": np.array([1, 2, 2, 2**63 - 1], np.int64)}, opset=20)
    assert _codes(lambda: cir.run(module)) == ["E0711"]


@pytest.mark.parametrize("action", [cir.verify, cir.optimize, cir.shapes, cir.run])
@pytest.mark.parametrize(("opset", "attribute"), [(8, "directions"), (8, ""), (11, "scan_input_directions"), (11, "")])
def test_a_scan_has_a_direction_for_each_input_and_no_more_inputs_than_operands(
    action: Callable[[Module], object], opset: int, attribute: str
) -> None:
    onnx = oracle("onnx")
    helper = onnx.helper
    infos = [helper.make_tensor_value_info(name, 1, None) for name in ("s", "e", "s1", "e1")]
    nodes = [helper.make_node("Add", ["s", "e"], ["s1"]), helper.make_node("Identity", ["s1"], ["e1"])]
    body = helper.make_graph(nodes, "body", infos[:2], infos[2:])
    operands = {"i": np.zeros((1, 2), np.float32), "z": np.zeros((1, 3, 2), np.float32)}
    attributes: dict[str, Any] = {attribute: [0, 0, 0]} if attribute else {}
    # In opset 8 the first operand has lengths.
    type, dims, constants = (7, (1,), operands) if opset == 8 else (1, (2,), {"z": operands["z"][0]})
    count = 1 if attribute else _LARGE
    module = _model(
        "Scan", dims, constants, outputs=2, opset=opset, type=type, body=body, num_scan_inputs=count, **attributes
    )
    assert set(_codes(lambda: action(module))) <= {"E0403"}
    assert "E0403" in {d.code.id for d in cir.verify(module)}


def test_ngrams_longer_than_a_row_are_not_looked_for() -> None:
    pool: dict[str, Any] = {
        "mode": "TF",
        "pool_int64s": [2, 3, 5, 4],
        "ngram_counts": [0, 2],
        "ngram_indexes": [0, 1, 2],
    }
    module = _model(
        "TfIdfVectorizer", (6,), type=7, **pool, min_gram_length=1, max_gram_length=_LARGE, max_skip_count=_LARGE
    )
    (counts,) = cir.run(module, {"x": np.array([2, 5, 5, 3, 4, 4])}).values()
    assert counts.tolist() == [1.0, 1.0, 4.0]
    assert _codes(lambda: cir.convert(module, "mil")) == []


def test_a_pool_of_ngrams_without_lengths_is_refused() -> None:
    onnx = oracle("onnx")
    helper = onnx.helper
    pool: dict[str, Any] = {"mode": "TF", "pool_int64s": [2, 3], "ngram_indexes": [0, 1], "max_skip_count": 0}
    node = helper.make_node("TfIdfVectorizer", ["x"], ["y"], **pool, min_gram_length=1, max_gram_length=1)
    node.attribute.append(onnx.AttributeProto(name="ngram_counts", type=onnx.AttributeProto.INTS))
    infos = [helper.make_tensor_value_info(name, type, [6]) for name, type in (("x", 7), ("y", 1))]
    graph = helper.make_graph([node], "g", infos[:1], infos[1:])
    content = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8).SerializeToString()
    module = cir.loads(content, format="onnx")
    assert {d.code.id for d in cir.verify(module) if d.is_error} == {"E0504"}
    assert _codes(lambda: cir.run(module)) == ["E0504"]


@pytest.mark.parametrize(("child", "target"), [(7, 0), (1, 9)])
def test_trees_refer_to_nodes_that_they_have(child: int, target: int) -> None:
    module = _model(
        "TreeEnsembleRegressor",
        (2, 3),
        domain="ai.onnx.ml",
        n_targets=1,
        nodes_treeids=[0, 0],
        nodes_nodeids=[0, 1],
        nodes_featureids=[0, 0],
        nodes_values=[0.0, 0.0],
        nodes_modes=["BRANCH_LEQ", "LEAF"],
        nodes_truenodeids=[child, 0],
        nodes_falsenodeids=[1, 0],
        target_treeids=[0],
        target_nodeids=[1],
        target_ids=[target],
        target_weights=[1.0],
    )
    assert _codes(lambda: cir.convert(module, "mil")) != []
    assert _codes(lambda: cir.run(module)) != []


def test_operations_that_double_constants_are_folded_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    # A concatenation of a constant and its negative takes no more room than both of them.
    onnx = oracle("onnx")
    helper = onnx.helper
    nodes = [
        node
        for n in range(12)
        for node in (
            helper.make_node("Neg", [f"c{n}"], [f"n{n}"]),
            helper.make_node("Concat", [f"c{n}", f"n{n}"], [f"c{n + 1}"], axis=0),
        )
    ]
    nodes.append(helper.make_node("Add", ["x", "c12"], ["y"]))
    infos = [helper.make_tensor_value_info(name, 1, [4096]) for name in ("x", "y")]
    weights = [onnx.numpy_helper.from_array(np.ones(1, np.float32), "c0")]
    graph = helper.make_graph(nodes, "g", infos[:1], infos[1:], weights)
    content = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8).SerializeToString()
    sizes: list[int] = []
    for most in (1 << 11, 1 << 20):
        monkeypatch.setattr(fold_constants, "_RESULT_BYTES", most)
        converted = cir.convert(cir.loads(content, format="onnx"), "mil")
        sizes.append(max([d.size_bytes for op in converted.nested() if (d := op.constant_data()) is not None]))
    assert sizes[0] < 1 << 11
    assert sizes[1] == 1 << 14


def test_constants_of_equal_elements_stay_below_the_limit_of_conversions() -> None:
    text = (
        "ml_program.func @f(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {\n"
        '  %y = "core.sum_pool"(%x) <{kernel = array<i64: SIZE, 1>, pads = [[PAD, PAD], [0, 0]]}> '
        ": (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>\n"
        "  ml_program.return %y : tensor<1x4x8x8xf32>\n}\n"
    )
    for size, codes in ((3, []), (2**30 + 1, ["E0601"])):
        module = cir.loads(text.replace("SIZE", str(size)).replace("PAD", str(size // 2)), format="mlir")
        assert _codes(lambda module=module: cir.convert(module, "onnx")) == codes


def test_a_step_that_no_stride_has_reads_one_element() -> None:
    bounds = {"s": [2**63 - 1], "e": [-(2**63)], "a": [0], "t": [-(2**63)]}
    module = _model("Slice", (2, 3), {name: np.array(v, np.int64) for name, v in bounds.items()})
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    (y,) = cir.run(module, {"x": x}).values()
    assert y.tolist() == [[3.0, 4.0, 5.0]]
    (y,) = cir.run(module, {"x": x}, engine="reference").values()
    assert y.tolist() == [[3.0, 4.0, 5.0]]


def test_ranges_longer_than_memory_are_errors_of_the_run() -> None:
    bounds = {"limit": np.array(-(2**63), np.int64), "delta": np.array(-1, np.int64)}
    module = _model("Range", (), bounds, type=7)
    assert _codes(lambda: cir.run(module, {"x": np.array(2**63 - 1)})) == ["E0708"]
    fixed = cir.edit(module, inputs={"x": np.array(2**63 - 1)})
    assert _codes(lambda: cir.run(fixed)) == ["E0711"]
    assert _codes(lambda: cir.summarize(fixed)) == []


def test_operations_that_double_strings_are_folded_up_to_a_limit() -> None:
    onnx = oracle("onnx")
    helper = onnx.helper
    nodes = [helper.make_node("StringConcat", [f"c{n}", f"c{n}"], [f"c{n + 1}"]) for n in range(40)]
    info = helper.make_tensor_value_info("c40", onnx.TensorProto.STRING, [1])
    constant = helper.make_tensor("c0", onnx.TensorProto.STRING, [1], [b"abc"])
    graph = helper.make_graph(nodes, "g", [], [info], [constant])
    content = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9).SerializeToString()
    result = cir.optimize(cir.loads(content, format="onnx"))
    assert len(cir.dumps(result, format="onnx")) < 100_000


def test_missing_operands_are_errors_of_a_conversion() -> None:
    module = _model("Equal", opset=22)
    assert _codes(lambda: cir.convert(module, "onnx", opset=9)) == ["E0502"]


def test_a_constant_without_a_value_has_no_contents() -> None:
    shape = {"tensor_type": {"elem_type": "FLOAT", "shape": {"dim": [{"dim_value": 2}]}}}
    nodes: list[dict[str, Any]] = [
        {"output": ["c"], "name": "c", "op_type": "org.commonir.core.constant"},
        {
            "input": ["x", "c"],
            "output": ["y"],
            "name": "y",
            "op_type": "org.commonir.core.add",
            "input_arg_count": [1, 1],
        },
    ]
    ports = [[{"name": name, "type": shape}] for name in ("x", "y")]
    graph = {"name": "g", "node": nodes, "input": ports[0], "output": ports[1]}
    imports = [{"domain": "", "version": 18}, {"domain": "org.commonir.core", "version": 1}]
    document = {"ModelProto": {"ir_version": 10, "graph": graph, "opset_import": imports}}
    module = cir.loads(json.dumps(document).encode(), format="common_ir")
    assert "E0505" in {d.code.id for d in cir.verify(module)}
    assert cir.summarize(module).parameter_count == 0
    cir.optimize(module)
