"""Wrong files in `check`: every fault is reported once, at its place in the file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias

import pytest

import commonir as cir
from commonir.base.diagnostics import DiagnosticError

Json: TypeAlias = "Mapping[str, Json] | Sequence[Json] | str | int | float"


def vector(name: str, dim: str = "n") -> Json:
    return {"name": name, "type": {"tensor_type": {"elem_type": "FLOAT", "shape": {"dim": [{"dim_param": dim}]}}}}


def node(op_type: str, inputs: str, outputs: str, **more: Json) -> Mapping[str, Json]:
    return {"input": inputs.split(), "output": outputs.split(), "op_type": op_type, **more}


def graph(*nodes: Json, **more: Json) -> dict[str, Json]:
    nodes_ = nodes or (node("Relu", "x", "y", name="n"),)
    result: dict[str, Json] = {"node": nodes_, "name": "g", "doc_string": "A graph.", "input": [vector("x")]}
    return {**result, "output": [vector("y")], **more}


def model(graph: Json, **more: Json) -> dict[str, Json]:
    about: dict[str, Json] = {"ir_version": 10, "domain": "com.example", "model_version": 1, "common_ir_version": 1}
    return {"ModelProto": {**about, "graph": graph, "opset_import": [{"domain": "", "version": 22}], **more}}


def library(name: str, op_type: str = "Relu", **more: Json) -> Json:
    function = {
        "name": "F",
        "input_params": [vector("p", "m*")],
        "output_params": [vector("q", "m*")],
        "node": [node(op_type, "p", "q")],
    }
    about = {"ir_version": 10, "model_version": 1, "name": name, "domain": "com.example", "doc_string": "A library."}
    return {"LibraryProto": {**about, "function": [function], "opset_import": [{"domain": "", "version": 22}], **more}}


def reported(path: Path, document: Json) -> list[str]:
    """The findings on a document, each as its severity and code, its message and its place."""
    path.write_text(json.dumps(document))
    return [f"{d.code.id} {d.message} @ {d.where}" for d in cir.check(path)[1]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "m.cir.json"


def test_a_right_file_has_no_findings(path: Path) -> None:
    assert reported(path, model(graph())) == []


def test_an_output_without_a_type_is_reported_though_its_type_follows(path: Path) -> None:
    assert reported(path, model(graph(output=[{"name": "y"}]))) == ["E0255 CIR8: output 'y' has no type @ graph"]


def test_two_outputs_of_one_name_are_reported(path: Path) -> None:
    diagnostics = reported(path, model(graph(output=[vector("y"), vector("y")])))
    assert diagnostics == ["E0255 CIR14: 'y' is the name of two outputs @ graph"]


def test_two_nodes_that_give_one_value_are_reported_once(path: Path) -> None:
    diagnostics = reported(path, model(graph(node("Relu", "x", "y", name="n"), node("Abs", "x", "y", name="m"))))
    assert diagnostics == ["E0402 'y' is defined twice @ graph.node[1] 'm'"]


def test_a_version_of_the_specification_that_is_not_stated_is_reported(path: Path) -> None:
    document = {"ModelProto": {"domain": "com.example", "model_version": 1, "graph": graph()}}
    assert "E0255 CIR12: ir_version is not stated @ graph" in reported(path, document)


def test_model_version_zero_is_stated(path: Path) -> None:
    document = model(graph(), model_version=0)
    assert reported(path, document) == []
    cir.save(cir.load(path), path)
    assert json.loads(path.read_text())["ModelProto"]["model_version"] == 0


@pytest.mark.parametrize("outputs", [[], [""]], ids=["none", "no name"])
def test_a_node_that_names_no_output_is_reported(outputs: Json, path: Path) -> None:
    idle = {**node("Relu", "x", "", name="idle"), "output": outputs}
    diagnostics = reported(path, model(graph(node("Relu", "x", "y", name="n"), idle)))
    assert diagnostics == ["W0255 CIR2: a node of onnx.Relu has no output @ graph.node[1] 'idle'"]


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        (99, "E0203 M3: version 99 of 'ai.onnx' is not known yet: 28 is the newest @ graph.opset_import"),
        (0, "E0209 M3: operator sets are counted from 1, found 0 @ graph.opset_import"),
    ],
)
def test_a_version_of_an_operator_set_that_is_none_is_reported(version: int, expected: str, path: Path) -> None:
    assert reported(path, model(graph(), opset_import=[{"domain": "", "version": version}])) == [expected]


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        ([0, 3], []),
        ([0, 4], ["E0207 G9: index [4] of a sparse tensor is outside of [4] @ graph.sparse_initializer 'w'"]),
        (
            [3, 3],
            ["E0207 G9: the indices of a sparse tensor must be unique and ascending @ graph.sparse_initializer 'w'"],
        ),
    ],
)
def test_places_of_sparse_constants_are_checked(places: list[int], expected: list[str], path: Path) -> None:
    sparse = {
        "values": {"name": "w", "data_type": "FLOAT", "dims": [2], "float_data": [1.0, 2.0]},
        "indices": {"data_type": "INT64", "dims": [2], "int64_data": places},
        "dims": [4],
    }
    result = graph(node("Add", "x w", "y"), sparse_initializer=[sparse], input=[vector("x")])
    assert reported(path, model(result)) == expected


def test_a_reference_to_an_attribute_that_the_function_lacks_is_reported(path: Path) -> None:
    """Without the check the node would compute with the default of its operator."""
    reference = {"name": "alpha", "ref_attr_name": "slope", "type": "FLOAT"}
    function = {
        "name": "F",
        "input_params": [vector("p")],
        "output_params": [vector("q")],
        "node": [node("LeakyRelu", "p", "q", attribute=[reference])],
        "attr": [{"name": "slopes", "f": 0.5, "type": "FLOAT"}],
    }
    result = graph(node("F", "x", "y", input_arg_count=[1]), function=[function])
    text = "attribute 'alpha' refers to 'slope', and function 'F' has no such attribute"
    assert reported(path, model(result)) == [f"E0505 {text} @ graph.function 'F'.node[0] 'q'"]
    with pytest.raises(DiagnosticError, match=text):
        cir.run(cir.load(path))


@pytest.mark.parametrize(("declared", "stored"), [("FLOAT", []), ("INT", ["E0505"])])
def test_a_reference_to_an_attribute_of_another_kind_is_reported(path: Path, declared: str, stored: list[str]) -> None:
    """As by onnxruntime for functions of ONNX models; without the check an integer computes as a number."""
    reference = {"name": "alpha", "ref_attr_name": "slope", "type": "FLOAT"}
    function = {
        "name": "F",
        "input_params": [vector("p")],
        "output_params": [vector("q")],
        "node": [node("LeakyRelu", "p", "q", attribute=[reference])],
        "attr": [
            {"name": "slope", "f": 0.5, "type": "FLOAT"}
            if declared == "FLOAT"
            else {"name": "slope", "i": 3, "type": "INT"}
        ],
    }
    diagnostics = reported(path, model(graph(node("F", "x", "y", input_arg_count=[1]), function=[function])))
    assert [f.split()[0] for f in diagnostics] == stored
    if stored:
        text = "LeakyRelu: attribute 'alpha' is FLOAT, and refers to 'slope' of the function, which is INT"
        assert diagnostics == [f"E0505 {text} @ graph.function 'F'.node[0] 'q'"]
        with pytest.raises(DiagnosticError, match=text):
            cir.load(path)


def test_two_wildcards_in_a_shape_are_reported_of_graphs_and_functions(path: Path) -> None:
    shape = {"dim": [{"dim_param": "*"}, {"dim_param": "m*"}]}
    open_: Json = {"name": "x", "type": {"tensor_type": {"elem_type": "FLOAT", "shape": shape}}}
    text = (
        "'f32[*, m*]' is not a type: a shape has at most one wildcard, or what names stand for would not be determined"
    )
    (diagnostic,) = reported(path, model(graph(node("Relu", "x", "y"), input=[open_])))
    assert diagnostic == f"E0255 CIR37: 'x': {text} @ graph"
    function = {"name": "F", "input_params": [open_], "output_params": [vector("q")], "node": [node("Relu", "x", "q")]}
    diagnostic = reported(path, model(graph(function=[function])))
    assert [f.split(":")[0] for f in diagnostic] == ["E0255 CIR37"]


@pytest.mark.parametrize(
    ("text", "expected", "help"),
    [
        ("{}", "expected an object with one key, ModelProto or LibraryProto, found one without keys", None),
        ("[1]", "expected an object with one key, ModelProto or LibraryProto, found no object", None),
        (
            '{"ModelProto": {"graph": {"node": [{"name": "a",',
            "the document is not JSON: expecting property name enclosed in double quotes at column 49",
            "the document breaks off there: compare its size with that of the original",
        ),
    ],
)
def test_what_is_not_a_document_is_reported(path: Path, text: str, expected: str, help: str | None) -> None:
    path.write_text(text)
    (diagnostic,) = cir.check(path)[1]
    assert (diagnostic.code.id, diagnostic.message, diagnostic.help) == ("E0250", expected, help)


def test_a_part_of_a_binary_file_is_one_of_common_ir(tmp_path: Path) -> None:
    whole = cir.load(Path(__file__).parents[3] / "examples" / "common_ir" / "functions.cir.json")
    cir.save(whole, tmp_path / "m.cir")
    (tmp_path / "part.cir").write_bytes((tmp_path / "m.cir").read_bytes()[:60])
    with pytest.raises(DiagnosticError, match=r"E0107.*an incomplete Common IR file"):
        cir.load(tmp_path / "part.cir")


def test_a_model_without_a_graph_is_refused(path: Path) -> None:
    document = model(graph())
    del document["ModelProto"]["graph"]  # pyright: ignore[reportIndexIssue]  an object of JSON
    assert reported(path, document) == ["E0209 the model has no graph @ "]
    with pytest.raises(DiagnosticError, match="E0209"):
        cir.load(path)


# -- each fault once


def test_a_node_with_too_many_inputs_is_not_called_undeclared_too(path: Path) -> None:
    diagnostics = reported(path, model(graph(node("Relu", "x x", "y", name="n"))))
    assert diagnostics == ["E0502 Relu takes 1 input, found 2 @ graph.node[0] 'n'"]


def test_a_weight_that_cannot_be_read_is_not_called_missing_too(path: Path) -> None:
    weight = {"name": "w", "data_type": "FLOAT", "dims": [2], "float_data": [1.0]}
    diagnostics = reported(path, model(graph(node("Add", "x w", "y"), initializer=[weight])))
    assert diagnostics == ["E0207 tensor<2xf32> takes 8 bytes, found 4 @ graph.initializer 'w'"]


def test_what_nothing_defines_is_reported_once(path: Path) -> None:
    diagnostics = reported(path, model(graph(node("Relu", "q", "y", name="n"))))
    assert diagnostics == [
        "E0255 CIR20: 'q' is not an output of a node, an input or an initializer @ graph.node[0] 'n'"
    ]
    diagnostics = reported(path, model(graph(output=[vector("z")])))
    assert diagnostics == ["E0255 CIR20: 'z' is not an output of a node, an input or an initializer @ graph.outputs"]


# -- libraries that are imported


def calling(called: str, *imports: str) -> Json:
    return model(graph(node(called, "x", "y", name="n", input_arg_count=[1]), imported_libraries=imports))


def test_calls_into_a_library_that_is_missing_are_not_reported_too(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(path.parent)
    path.write_text(json.dumps(calling("com.example.a.F", "a.cir.json")))
    (diagnostic,) = cir.check(path.name)[1]
    assert str(diagnostic) == (
        "error[E0252]: the library 'a.cir.json' is not found\n"
        "  --> m.cir.json\n"
        "   = looked for: a.cir.json\n"
        "   = help: put it there, or name its folder with `library_path=`"
    )


def test_other_calls_are_reported_when_a_library_is_missing(path: Path) -> None:
    diagnostics = reported(path, calling("Foo", "a.cir.json"))
    assert diagnostics[1:] == ["E0255 CIR30: the operator 'Foo' is not declared @ graph.node[0] 'n'"]


def test_a_library_has_to_import_what_it_uses(path: Path) -> None:
    (path.parent / "a.cir.json").write_text(json.dumps(library("a", "com.example.b.F")))
    (path.parent / "b.cir.json").write_text(json.dumps(library("b")))
    diagnostics = reported(path, calling("com.example.a.F", "a.cir.json", "b.cir.json"))
    text = "CIR30: the operator 'com.example.b.F' is of a library that this file does not import"
    assert diagnostics == [f"E0255 {text} @ com.example.a.function 'F'.node[0] 'q'"]


def test_a_library_of_a_dialect_that_is_none_is_reported(path: Path) -> None:
    diagnostics = reported(path, model(graph(imported_libraries=["commonir:cores"])))
    assert diagnostics == ["E0252 the library 'commonir:cores' is not found: no dialect is called 'cores' @ "]


@pytest.mark.slow
def test_more_libraries_than_the_limit_are_reported_once(path: Path) -> None:
    names = [f"l{n}.cir.json" for n in range(260)]
    for n, name in enumerate(names):
        (path.parent / name).write_text(json.dumps(library(f"l{n}")))
    assert reported(path, model(graph(imported_libraries=names))) == ["E0303 more than 256 libraries are imported @ "]


def test_a_digest_may_have_capital_letters_and_must_have_all_digits(path: Path) -> None:
    content = json.dumps(library("a")).encode()
    (path.parent / "a.cir.json").write_bytes(content)
    digest = sha256(content).hexdigest()
    assert reported(path, calling("com.example.a.F", f"a.cir.json#sha256={digest.upper()}")) == []
    diagnostics = reported(path, calling("com.example.a.F", f"a.cir.json#sha256={digest[:60]}"))
    assert diagnostics == [f"E0306 the import of 'a.cir.json' has a digest that is none: '{digest[:60]}' @ "]


@pytest.mark.parametrize("uri", ["", "/etc/nn.cir"])
def test_a_path_that_no_import_may_have_is_reported_once(path: Path, uri: str) -> None:
    assert reported(path, model(graph(imported_libraries=[uri]))) == [
        f"E0301 the path '{uri}' is refused: it must be a relative path that stays below the folder of the model @ "
    ]


# -- dims and nested graphs


@pytest.mark.parametrize("dim", [{"dim_value": -1}, {"dim_param": "-1"}], ids=["a number", "a text"])
def test_a_negative_dim_is_reported(path: Path, dim: Json) -> None:
    wrong = {"name": "x", "type": {"tensor_type": {"elem_type": "FLOAT", "shape": {"dim": [dim]}}}}
    assert reported(path, model(graph(input=[wrong])))[0] == ("E0208 -1 is not the length of a dim @ graph.value 'x'")


@pytest.mark.parametrize("op_type", ["If", "Loop", "Scan"])
def test_a_node_without_its_graphs_is_reported(path: Path, op_type: str) -> None:
    condition = {"name": "c", "type": {"tensor_type": {"elem_type": "BOOL", "shape": {}}}}
    inputs = {"If": "c", "Loop": " c x", "Scan": "x"}[op_type]
    wrong = {"input": inputs.split(" "), "output": ["y"], "op_type": op_type}
    diagnostics = reported(path, model(graph(wrong, input=[vector("x"), condition])))
    assert any(d.startswith(f"E0403 onnx.{op_type}: expected") for d in diagnostics), diagnostics
