"""Results of reading: types, names, constants, and refusals of files that are not models."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import commonir
from commonir.base.limits import DEFAULT_LIMITS
from commonir.dialects import onnx as dialect
from commonir.formats.format import WriteOptions
from commonir.formats.onnx.read import loads, read
from commonir.formats.onnx.write import write
from commonir.ir.data import FileData
from commonir.ir.types import f32, tensor, unknown
from commonir.ods import Dialects
from commonir.symbolic import symbol

from tests.formats.onnx import odd_models

DIALECTS = Dialects()


def _info(name: str, *shape: int | str | None) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def _model(nodes: list[onnx.NodeProto], inputs: list[onnx.ValueInfoProto], *weights: TensorProto) -> onnx.ModelProto:
    graph = helper.make_graph(nodes, "g", inputs, [_info(nodes[-1].output[0], None)], list(weights))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


def test_values_without_stated_types_have_those_that_follow() -> None:
    nodes = [helper.make_node("MatMul", ["x", "w"], ["t"]), helper.make_node("Odd", ["t"], ["u"], domain="own")]
    nodes.append(helper.make_node("Relu", ["u"], ["y"]))
    module, diagnostics = loads(_model(nodes, [_info("x", "N", 4), _info("w", 4, 3)]).SerializeToString(), DIALECTS)
    types = [v.type for op in module.main.body.operations for v in op.results]
    assert types[:2] == [tensor(f32, symbol("N"), 3), unknown]
    assert diagnostics == []


def test_names_of_sizes_are_expressions_of_names_of_inputs_or_names() -> None:
    inputs = [_info("a", "N", "past"), _info("b", "N + past", "batch-size", "2*N")]
    module, _ = loads(_model([helper.make_node("Relu", ["a"], ["y"])], inputs).SerializeToString(), DIALECTS)
    n, past = symbol("N"), symbol("past")
    assert module.inputs[1].type == tensor(f32, n + past, symbol("batch-size"), 2 * n)


def test_constants_that_old_models_declare_as_inputs_are_none() -> None:
    module, _ = loads(odd_models.old_model().SerializeToString(), DIALECTS)
    assert [v.name for v in module.inputs] == ["x"]


def test_inputs_with_defaults_need_not_be_given() -> None:
    module, _ = loads(odd_models.defaults_of_inputs().SerializeToString(), DIALECTS)
    zeros, counted = np.zeros(3, np.float32), np.array([1, 2, 3], np.float32)
    # v, w and u hold 0, 1 and 2; w is not an input.
    np.testing.assert_array_equal(commonir.run(module, {"x": zeros})["y"], [3, 3, 3])
    np.testing.assert_array_equal(commonir.run(module, {"x": zeros, "u": counted})["y"], [2, 3, 4])


def test_defaults_whose_elements_differ_are_kept() -> None:
    weight = numpy_helper.from_array(np.array([1, 2, 3], np.float32), "v")
    model = _model([helper.make_node("Add", ["x", "v"], ["y"])], [_info("x", 3), _info("v", 3)], weight)
    module, _ = loads(model.SerializeToString(), DIALECTS)
    np.testing.assert_array_equal(commonir.run(module, {"x": np.ones(3, np.float32)})["y"], [2, 3, 4])


@pytest.mark.parametrize("elements", [[1, 2, 3], [2, 2, 2]])
def test_defaults_give_dims_that_the_type_leaves_open(elements: list[int]) -> None:
    weight = numpy_helper.from_array(np.array(elements, np.float32), "v")
    model = _model([helper.make_node("Add", ["x", "v"], ["y"])], [_info("x", "n"), _info("v", "n")], weight)
    module, _ = loads(model.SerializeToString(), DIALECTS)
    drawn = commonir.random_inputs(module)
    assert np.shape(drawn["x"]) == (3,)
    np.testing.assert_array_equal(drawn["v"], elements)
    with pytest.raises(commonir.DiagnosticError, match="'n' is set to 5"):
        commonir.random_inputs(module, dims={"n": 5})


def test_sparse_constants_are_dense_where_they_are_used() -> None:
    module, _ = loads(odd_models.sparse_constants().SerializeToString(), DIALECTS)
    np.testing.assert_array_equal(commonir.run(module, {})["y"], [[0, 1, 0], [0, 0, 5]])


def _large(tmp_path: Path) -> Path:
    """A model with a constant of 8 MB, which is 0, 1, 2 and so on, in a node and in an initializer."""
    stored = np.arange(2**20, dtype=np.float32)
    constant = helper.make_node("Constant", [], ["c"], value=numpy_helper.from_array(stored, "inside"))
    model = _model(
        [constant, helper.make_node("Sum", ["x", "c", "w"], ["y"])],
        [_info("x", 1)],
        numpy_helper.from_array(stored, "w"),
    )
    path = tmp_path / "large.onnx"
    path.write_bytes(model.SerializeToString())
    return path


def test_large_constants_stay_in_the_file(tmp_path: Path) -> None:
    path = _large(tmp_path)
    module, diagnostics = read(path, DIALECTS)
    assert module is not None
    assert diagnostics == []
    stored = [data for op in module.walk() if (data := op.constant_data()) is not None]
    assert len(stored) == 2
    for data in stored:
        assert isinstance(data, FileData)
        np.testing.assert_array_equal(data.array(), np.arange(2**20))


@pytest.mark.parametrize("external", [False, True])
def test_large_constants_are_written_again(tmp_path: Path, external: bool) -> None:
    module, _ = read(_large(tmp_path), DIALECTS)
    assert module is not None
    write(module, tmp_path / "again.onnx", WriteOptions(external))
    again = onnx.load(tmp_path / "again.onnx")
    np.testing.assert_array_equal(numpy_helper.to_array(again.graph.initializer[0]), np.arange(2**20))
    np.testing.assert_array_equal(numpy_helper.to_array(again.graph.node[0].attribute[0].t), np.arange(2**20))


def test_raw_contents_of_another_size_are_refused_where_they_lie_in_a_file(tmp_path: Path) -> None:
    path = _large(tmp_path)
    model = onnx.load(path)
    model.graph.initializer[0].dims[0] += 1
    path.write_bytes(model.SerializeToString())
    _, diagnostics = read(path, DIALECTS)
    assert [d.message for d in diagnostics] == ["tensor<1048577xf32> takes 4194308 bytes, found 4194304"]


def test_a_file_larger_than_a_message_is_read(tmp_path: Path) -> None:
    # A hole in the file takes no space on disk: 2.5 GiB of zeros in one tensor.
    count = 5 * 2**27
    model = _model([helper.make_node("Add", ["x", "w"], ["y"])], [_info("x", 1)])
    tensor_head = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[count]).SerializeToString()
    raw = _field(9, count * 4)
    weight = _field(5, len(tensor_head) + len(raw) + count * 4) + tensor_head + raw
    graph = model.graph.SerializeToString()
    model.ClearField("graph")
    head = model.SerializeToString() + _field(7, len(graph) + len(weight) + count * 4) + graph + weight
    path = tmp_path / "huge.onnx"
    with path.open("wb") as stream:
        stream.write(head)
        stream.truncate(len(head) + count * 4)
    module, diagnostics = read(path, DIALECTS)
    assert module is not None
    assert diagnostics == []
    (stored,) = [op.value for op in module.walk() if isinstance(op, dialect.Initializer)]
    assert (stored.shape, bytes(stored.buffer()[-4:])) == ((count,), b"\0\0\0\0")


def _field(number: int, length: int) -> bytes:
    """The start of a field of some bytes."""
    out = bytes([number << 3 | 2])
    while length > 127:
        out, length = out + bytes([length & 127 | 128]), length >> 7
    return out + bytes([length])


@pytest.mark.parametrize("cut", [1, 7, 100])
def test_files_that_end_too_early_are_refused(tmp_path: Path, cut: int) -> None:
    path = _large(tmp_path)
    path.write_bytes(path.read_bytes()[:-cut])
    module, diagnostics = read(path, DIALECTS)
    assert module is None
    assert [d.code.id for d in diagnostics] == ["E0107"]


def test_graphs_nested_too_deeply_are_refused(tmp_path: Path) -> None:
    # Each graph is in the field 6 of an attribute (5) of a node (1) of the next.
    graph = b"\x12\x01g"
    for _ in range(40):
        for number in (6, 5, 1):
            graph = _field(number, len(graph)) + graph
    path = tmp_path / "deep.onnx"
    path.write_bytes(b"\x08\x08" + _field(7, len(graph)) + graph)
    module, diagnostics = read(path, DIALECTS)
    assert module is None
    assert [d.code.id for d in diagnostics] == ["E0302"]


def test_more_nodes_than_the_limit_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    nodes = [helper.make_node("Relu", ["x"], [f"y{n}"]) for n in range(5)]
    path.write_bytes(_model(nodes, [_info("x", 1)]).SerializeToString())
    module, diagnostics = read(path, DIALECTS, DEFAULT_LIMITS._replace(max_operations=4))
    assert module is None
    assert [d.code.id for d in diagnostics] == ["E0303"]
