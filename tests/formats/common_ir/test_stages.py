from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import commonir as cir
from commonir import api
from commonir.base.diagnostics import DiagnosticError, Diagnostics
from commonir.base.limits import DEFAULT_LIMITS
from commonir.dialects import common_ir
from commonir.formats.common_ir.stages import Document, Stage, read_document, stage_of
from commonir.formats.format import Formats
from commonir.formats.onnx.messages import LibraryProto, ModelProto, create
from commonir.ir.types import ListType, MapType, SparseTensorType, TensorType, TupleType, f32, handle, i64, string
from commonir.symbolic import symbol

from tests.formats.common_ir.historic_files import FLOAT, INT32, INT64, STRING, UINT32, a, b

SUM_OF_ONNX = "CIR30: operators that are not declared are those of version 9 of ONNX: Sum"


def document(content: bytes) -> Document:
    diagnostics = Diagnostics()
    read = read_document(memoryview(content), DEFAULT_LIMITS, "file", diagnostics)
    assert [d.message for d in diagnostics if d.message != SUM_OF_ONNX] == []
    return read


def model_of(message: Any) -> ModelProto:
    result = document(message.SerializeToString()).model
    assert result is not None
    return result


def vector_b(*dims: Any) -> Any:
    return b("Type", tensor=b("TensorType", elem_type=FLOAT, shape=b("Shape", dim=[dim_b(d) for d in dims])))


def dim_b(size: int | str) -> Any:
    return b("Dim", dim_value=size) if isinstance(size, int) else b("Dim", dim_param=size)


def graph_a(**more: Any) -> Any:
    """x + x, described as stage A does: types and shapes in lists beside the names."""
    info = a(
        "ArgInfo",
        type=a("Type", tensor=a("TensorType", elem_type=FLOAT)),
        shape=a("Shape", dim=[a("Dim", dim_param="n")]),
    )
    node = a(
        "Node",
        input=["x", "x"],
        output=["y"],
        name="sum",
        op_type="Sum",
        output_arg_info=[info],
        input_arg_count=[1, 1],
    )
    fields = {"input": ["x"], "output": ["y"], "input_arg_info": [info], "output_arg_info": [info], **more}
    return a(
        "Graph",
        name="g",
        node=[node],
        ir_version=1,
        producer_version=3,
        producer_tag="cntk",
        domain="com.example",
        **fields,
    )


def function_b(name: str = "Double") -> Any:
    """The function x + x, of a declared operator."""
    return b(
        "Function",
        name=name,
        input_params=[b("Parameter", name="x", type=vector_b("n"))],
        output_params=[b("Parameter", name="y", type=vector_b("n"))],
        node=[b("Node", input=["x", "x"], output=["y"], op_type="org.commonir.core.add", input_arg_count=[1, 1])],
    )


def model_b(**more: Any) -> Any:
    node = b("Node", input=["x"], output=["y"], name="twice", op_type="Double", input_arg_count=[1])
    graph = b(
        "Graph",
        name="g",
        doc_string="Doubles.",
        node=[node],
        input=[b("ValueInfo", name="x", type=vector_b("k"))],
        output=[b("ValueInfo", name="y", type=vector_b("k"))],
        function=[function_b()],
        imported_libraries=["commonir:core"],
        **more,
    )
    return b("Model", ir_version=1, domain="com.example", model_version=4, graph=graph, model_author="them")


def library_b(**more: Any) -> Any:
    about = {"name": "lib", "domain": "com.example", "ir_version": 1, "model_version": 2, "producer_version": 7}
    return b("Library", **{**about, **more})


# -- distinguishing files


def test_a_file_that_begins_with_a_node_is_a_graph_of_stage_a() -> None:
    assert stage_of(memoryview(graph_a().SerializeToString())) is Stage.GRAPH_A


def test_a_graph_without_nodes_is_of_stage_a() -> None:
    content = a("Graph", name="g", ir_version=1).SerializeToString()
    assert content[0] == 0x12
    assert stage_of(memoryview(content)) is Stage.GRAPH_A


def test_a_model_with_fields_of_common_ir_and_no_versions_is_of_stage_b() -> None:
    assert stage_of(memoryview(model_b().SerializeToString())) is Stage.MODEL_B


def test_a_model_of_stage_b_may_have_those_fields_in_its_graph_alone() -> None:
    model = model_b()
    model.ClearField("model_author")
    assert stage_of(memoryview(model.SerializeToString())) is Stage.MODEL_B


@pytest.mark.parametrize(
    "fields", [{"model_version": 1}, {"producer_version": 1}, {"model_author": "me"}], ids=lambda f: next(iter(f))
)
def test_a_library_is_reported_by_a_number_where_a_model_has_a_text(fields: dict[str, Any]) -> None:
    result = b("Library", ir_version=1, name="lib", domain="com.example", **fields)
    assert stage_of(memoryview(result.SerializeToString())) is Stage.LIBRARY_B


def test_a_library_of_today_says_so() -> None:
    result = create(LibraryProto)
    result.ir_version, result.model_version, result.common_ir_version = 10, 1, 1
    assert stage_of(memoryview(result.SerializeToString())) is Stage.LIBRARY


def test_a_model_with_versions_of_operators_is_of_today() -> None:
    result = create(ModelProto)
    result.ir_version, result.model_author = 10, "me"
    result.opset_import.add().version = 22
    assert stage_of(memoryview(result.SerializeToString())) is Stage.MODEL


def test_a_model_whose_attributes_state_their_types_is_of_today() -> None:
    result = create(ModelProto)
    result.ir_version, result.model_author = 2, "me"
    attribute = result.graph.node.add().attribute.add()
    attribute.type, attribute.i = 2, 1
    assert stage_of(memoryview(result.SerializeToString())) is Stage.MODEL


@pytest.mark.parametrize("message", [graph_a(), model_b(), library_b()], ids=["graph", "model", "library"])
def test_historic_files_are_recognized(message: Any, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(message.SerializeToString())
    assert Formats().recognize(path).description == "Common IR file"


# -- stage A


def test_a_graph_of_stage_a_becomes_a_model() -> None:
    model = model_of(graph_a())
    assert (model.producer_name, model.producer_version, model.domain, model.graph.name) == (
        "cntk",
        "3",
        "com.example",
        "g",
    )
    assert [e.value for e in model.metadata_props if e.key == "common_ir.historic_ir_version"] == ["1"]
    info = model.graph.input[0]
    assert (info.name, info.type.tensor_type.elem_type) == ("x", FLOAT)
    assert info.type.tensor_type.shape.dim[0].dim_param == "n"
    assert list(model.graph.node[0].input_arg_count) == [1, 1]
    assert model.graph.value_info[0].name == "y"


def test_lists_of_stage_a_that_do_not_match_are_reported() -> None:
    diagnostics = Diagnostics()
    message = graph_a(input=["x", "z"])
    read_document(memoryview(message.SerializeToString()), DEFAULT_LIMITS, "file", diagnostics)
    assert [d.message for d in diagnostics] == ["input: 2 names, but descriptions of 1", SUM_OF_ONNX]


def test_a_function_of_stage_a_has_typed_parameters() -> None:
    parameter = a("Parameter", name="p", type=a("Type", sparse=a("TensorType", elem_type=INT32)), shape=a("Shape"))
    function = a("Function", name="F", input_arg=[parameter], output_arg=[parameter], node=[])
    model = model_of(graph_a(function=[function])).graph.function[0]
    assert (model.name, model.input_params[0].name) == ("F", "p")
    assert model.input_params[0].type.sparse_tensor_type.elem_type == INT32
    assert model.input_params[0].type.sparse_tensor_type.HasField("shape")


# -- stage B


def test_a_model_of_stage_b_runs(tmp_path: Path) -> None:
    path = tmp_path / "old.cir"
    path.write_bytes(model_b().SerializeToString())
    module, diagnostics = api.check(path)
    assert module is not None
    assert [str(d) for d in diagnostics if d.is_error] == []
    result = cir.run(module, {"x": np.array([1, 2], np.float32)})
    np.testing.assert_array_equal(result["y"], [2, 4])


def test_metadata_of_stage_b_are_kept(tmp_path: Path) -> None:
    model = model_of(model_b())
    assert (model.model_author, model.model_version, model.domain) == ("them", 4, "com.example")


def test_a_library_of_stage_b_can_be_imported(tmp_path: Path) -> None:
    (tmp_path / "lib.cir").write_bytes(library_b(function=[function_b()]).SerializeToString())
    model = model_b()
    del model.graph.function[:]
    model.graph.imported_libraries.append("lib.cir")
    model.graph.node[0].op_type = "com.example.lib.Double"
    path = tmp_path / "model.cir"
    path.write_bytes(model.SerializeToString())
    result = cir.run(cir.load(path), {"x": np.array([1, 2], np.float32)})
    np.testing.assert_array_equal(result["y"], [2, 4])


def test_types_of_stage_b_are_those_of_today(tmp_path: Path) -> None:
    scalar = b("Type", tensor=b("TensorType", elem_type=INT64, shape=b("Shape")))
    types = {
        "dense": vector_b("k", 3),
        "sparse": b("Type", sparse=b("TensorType", elem_type=FLOAT, shape=b("Shape", dim=[dim_b(4)]))),
        "handle": b("Type", handle=b("HandleType")),
        "tuple": b("Type", tuple=b("TupleType", elem_type=[scalar, vector_b()])),
        "list": b("Type", seq=b("SeqType", elem_type=scalar)),
        "map": b("Type", map=b("MapType", key_type=INT64, value_type=STRING)),
    }
    model = model_b()
    del model.graph.input[1:]
    model.graph.input.extend([b("ValueInfo", name=name, type=kind) for name, kind in types.items()])
    path = tmp_path / "old.cir"
    path.write_bytes(model.SerializeToString())
    inputs = {v.name: v.type for v in cir.load(path).inputs}
    assert inputs["dense"] is TensorType(f32, (symbol("k"), 3))
    assert inputs["sparse"] is SparseTensorType(f32, (4,))
    assert inputs["handle"] is TensorType(handle, ())
    assert inputs["tuple"] is TupleType((TensorType(i64, ()), TensorType(f32, ())))
    assert inputs["list"] is ListType(TensorType(i64, ()))
    assert inputs["map"] is MapType(i64, TensorType(string, ()))


def test_unsigned_numbers_of_stage_b_lie_in_another_field() -> None:
    model = model_b(initializer=[b("Tensor", name="c", dims=[2], data_type=UINT32, int64_data=[1, 2**32 - 1])])
    tensor = model_of(model).graph.initializer[0]
    assert list(tensor.uint64_data) == [1, 2**32 - 1]
    assert list(tensor.int64_data) == []


KINDS: dict[str, tuple[dict[str, Any], int]] = {
    "f": ({"f": 0.5}, 1),
    "i": ({"i": 3}, 2),
    "s": ({"s": b"text"}, 3),
    "t": ({"t": b("Tensor", dims=[1], data_type=FLOAT, float_data=[1.0])}, 4),
    "g": ({"g": b("Graph", name="inner")}, 5),
    "floats": ({"floats": [0.5]}, 6),
    "ints": ({"ints": [3, 4]}, 7),
    "strings": ({"strings": [b"a"]}, 8),
    "tensors": ({"tensors": [b("Tensor", dims=[1], data_type=FLOAT, float_data=[1.0])]}, 9),
    "graphs": ({"graphs": [b("Graph", name="inner")]}, 10),
    "type": ({"type": vector_b(2)}, 13),
    "types": ({"types": [vector_b(2)]}, 14),
    "shape": ({"shape": b("Shape", dim=[dim_b("n")])}, 50),
    "shapes": ({"shapes": [b("Shape", dim=[dim_b(3)])]}, 51),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_kind_of_an_attribute_is_the_field_it_has(kind: str) -> None:
    fields, number = KINDS[kind]
    model = model_b()
    model.graph.node[0].attribute.append(b("Attribute", name="k", **fields))
    built = model_of(model).graph.node[0].attribute[0]
    assert (built.name, built.type) == ("k", number)


def test_an_empty_list_is_of_the_kind_that_is_declared(tmp_path: Path) -> None:
    declared = b(
        "Parameter",
        name="axes",
        type=b(
            "Type", seq=b("SeqType", elem_type=b("Type", tensor=b("TensorType", elem_type=INT64, shape=b("Shape"))))
        ),
    )
    of = [b("Parameter", name="x", type=vector_b("k"))]
    operator = b(
        "Operator",
        name="Double",
        signature=[b("Signature", input_params=of, output_params=of, input_attributes=[declared])],
    )
    model = model_b(operator=[operator])
    del model.graph.function[:]
    model.graph.node[0].attribute.append(b("Attribute", name="axes"))
    path = tmp_path / "old.cir"
    path.write_bytes(model.SerializeToString())
    module = cir.load(path)
    (op,) = [op for op in module.main.body.operations if isinstance(op, common_ir.OperatorNode)]
    assert op.stored_attributes == {"axes": ()}


def test_an_attribute_with_two_values_is_reported() -> None:
    model = model_b()
    model.graph.node[0].attribute.append(b("Attribute", name="k", i=1, f=2.0))
    diagnostics = Diagnostics()
    read_document(memoryview(model.SerializeToString()), DEFAULT_LIMITS, "file", diagnostics)
    assert [(d.message, d.where) for d in diagnostics] == [
        ("attribute 'k' has 2 values: f, i", "graph.node[0] 'twice'.attribute[0] 'k'")
    ]


def test_a_shape_beside_a_type_belongs_to_it() -> None:
    model = model_b()
    parameter = model.graph.function[0].input_params[0]
    parameter.shape.CopyFrom(parameter.type.tensor.shape)
    parameter.type.tensor.ClearField("shape")
    built = model_of(model).graph.function[0].input_params[0]
    assert built.type.tensor_type.shape.dim[0].dim_param == "n"
    assert not built.HasField("shape")


def test_a_field_that_the_draft_did_not_have_is_refused() -> None:
    content = model_b().SerializeToString() + bytes([0x9A, 0x06, 0x01, 0x00])
    with pytest.raises(DiagnosticError, match="fields that its draft of Common IR did not have"):
        read_document(memoryview(content), DEFAULT_LIMITS, "file", Diagnostics())


def test_a_historic_file_is_written_in_the_encoding_of_today(tmp_path: Path) -> None:
    path = tmp_path / "old.cir"
    path.write_bytes(model_b().SerializeToString())
    cir.save(cir.load(path), tmp_path / "new.cir")
    content = (tmp_path / "new.cir").read_bytes()
    assert stage_of(memoryview(content)) is Stage.MODEL
    result = cir.run(cir.load(tmp_path / "new.cir"), {"x": np.array([3], np.float32)})
    np.testing.assert_array_equal(result["y"], [6])


@pytest.mark.parametrize("absent", [("ir_version",), ("model_version",), ("ir_version", "model_version")])
def test_a_binary_library_without_required_metadata_is_a_library(absent: tuple[str, ...], tmp_path: Path) -> None:
    metadata = {"ir_version": 10, "model_version": 1, "name": "nn", "domain": "com.example", "doc_string": "A library."}
    library = create(LibraryProto)
    for name, value in metadata.items():
        if name not in absent:
            setattr(library, name, value)
    path = tmp_path / "nn.cir"
    path.write_bytes(library.SerializeToString())
    labels = {"ir_version": "CIR12", "model_version": "CIR13"}
    assert [d.message.partition(":")[0] for d in api.check(path)[1] if d.is_error] == [labels[name] for name in absent]
