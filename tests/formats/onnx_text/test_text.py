"""The text form of ONNX models, compared with parser and printer of the onnx package."""

# ruff: noqa: E501  one case a line

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import onnx.printer
import pytest

import commonir
from commonir.base.diagnostics import DiagnosticError
from commonir.formats.onnx.messages import ModelProto, create
from commonir.formats.onnx_text.parser import parse_model
from commonir.formats.onnx_text.printer import print_model

from tests.formats.onnx import odd_models
from tests.onnx_suite.cases import load_cases, quiet

_HEAD = '<ir_version: 8, opset_import: ["": 18, "d": 2]>\n'

_ELSEWHERE = "constants in files"
TEXTS = {
    "entries": '<ir_version: 8, opset_import: ["": 18], producer_name: "p", producer_version: "1", domain: "a.b",'
    ' model_version: 3, doc_string: "a \\"quoted\\" \\\\ text", metadata_props: ["a": "b", "c": ""]> g () => () {}',
    "no entries": "g (float x) => (float y) { y = Neg(x) }",
    "comments": "# first\n<ir_version: 8 # inside\n>\ng (float x) => (float y) # more\n{ y = Neg(x) # last\n}",
    "shapes": _HEAD + 'g (float a, float[] b, float[2, ?, N] c, float["n 1"] d) => (float[2] "y z") { "y z" = Neg(c) }',
    "types": _HEAD
    + "g (seq(float[2]) a, optional(seq(int64)) b, map(string, float[N]) c, sparse_tensor(float[3, 4]) d,"
    " opaque(x.y, z) e, opaque(t) f) => (string y) { y = Neg(a) }",
    "untyped": _HEAD + "g (float x) => (y) { y = Neg(x) }",
    "left out": _HEAD
    + "g (float x) => (float y) { y, , z = d.Op (x,,x) , w = d.Op (, x) a = d.Op (x, ) b = d.Op (,) }",
    "nodes": _HEAD + 'g (float x) => (float y) { [n] y = Neg(x) a, "", "b c" = d.e.Op(x, "", x) = None() = d.F:o (y) }',
    "attributes": _HEAD
    + "g (float x) => (float y) { y = d.Op <a = 1, b: float = 1, c = 1.5, d = -2e3, e = nan, f = -inf, g = infinity,"
    ' h = "s", i = [1, -2], j = [1.5, 2.0], k = ["a", "b"], l: ints = [], m: floats = [1, 2], n: strings = []> (x) }',
    "attributes at the end": _HEAD + "g (float x) => (float y) { y = d.Op (x) <a = 1, b = [2]> }",
    "tensors": _HEAD
    + "g (float x) => (float y) { y = d.Op <a = float[2] {1, 2.5}, b = int64 {3}, c = float[1] name = {4},"
    ' d = string[2] {"a", "b"}, f = bool[2] {1, 0}> (x) }',
    "types in attributes": _HEAD + "g () => (float y) { y = d.Op <a: type_proto = seq(float[2])> () }",
    "graphs": _HEAD
    + "g (bool b, float x) => (float y) { y = If (b) <then_branch = t () => (float u) <float[1] w = {1}> { u = Add(x, w) },"
    " else_branch: graph = e () => (v) { v = Neg(x) }> }",
    "constants": _HEAD
    + "g (float x, int64[2] i = {1, 2}) => (float y) <float[2] w = {1, 2.5}, int8[1] a = {-3}, uint64[1] b = {18446744073709551615},"
    ' double c = {1e-300}, string[2] s = {"a", "\\""}, int4[3] d = {33, 1}, complex64[1] e = {1, 2}, float16[2] f = {15360, 16384},'
    " float[2] value> { y = Neg(x) }",
    _ELSEWHERE: _HEAD + 'g (float x) => () <float[4] w = ["location": "w.bin", "offset": "8"]> { }',
    "functions": _HEAD
    + 'g (float x) => (float y) { y = d.f <a = 2.0> (x) } <domain: "d", opset_import: ["": 18], overload: "o",'
    ' doc_string: "t"> f <a, b: int = 3> (float[2] x, q) => (y) <float t> { t = Elu <alpha: float = @a> (x) y = Neg(t) }'
    ' <domain: "d", opset_import: ["": 18]> h (x) => (y) { y = Identity(x) }',
}


def _ours(text: str) -> onnx.ModelProto:
    return onnx.ModelProto.FromString(parse_model(text).SerializeToString())


@pytest.mark.parametrize("case", TEXTS)
def test_texts_mean_what_the_parser_of_onnx_says(case: str) -> None:
    assert _ours(TEXTS[case]) == onnx.parser.parse_model(TEXTS[case])


# Contents in other files are read before a model is printed.
@pytest.mark.parametrize("case", [case for case in TEXTS if case != _ELSEWHERE])
def test_texts_are_printed_and_parsed_again(case: str) -> None:
    model = parse_model(TEXTS[case])
    assert onnx.parser.parse_model(print_model(model)) == _ours(TEXTS[case])


def test_lists_of_tensors_types_and_graphs_have_all_their_elements() -> None:
    # The parser of onnx leaves them empty.
    attributes = "a = [int32[1] {1}, int32[1] {2}], b: type_protos = [int8], c = [g () => () {}, h () => () {}]"
    (node,) = _ours(_HEAD + f"g () => () {{ = d.Op <{attributes}> () }}").graph.node
    assert [list(t.int32_data) for t in node.attribute[0].tensors] == [[1], [2]]
    assert [t.tensor_type.elem_type for t in node.attribute[1].type_protos] == [onnx.TensorProto.INT8]
    assert [g.name for g in node.attribute[2].graphs] == ["g", "h"]


def test_graphs_without_a_name_are_printed_and_parsed_again() -> None:
    # The parser of onnx takes their name for a text.
    model = create(ModelProto)
    model.ParseFromString(odd_models.nested_graphs().SerializeToString())
    again = _ours(print_model(model)).graph.node[0]
    assert {a.name: a.g.name for a in again.attribute} == {"then_branch": "then", "else_branch": ""}


@pytest.mark.slow_cases("node")
@pytest.mark.parametrize("kind", ["node", "simple"])
def test_models_of_the_backend_suite_are_the_same_for_both_parsers(kind: str) -> None:
    with quiet():
        cases = load_cases([kind])
    wrong: list[str] = []
    for case in cases[:: 5 if kind == "node" else 1]:
        model = create(ModelProto)
        model.ParseFromString(case.model.read_bytes())
        mine, theirs = print_model(model), onnx.printer.to_text(onnx.load(case.model))
        if any(_ours(text) != onnx.parser.parse_model(text) for text in (mine, theirs)):
            wrong.append(case.name)
    assert wrong == []


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "expected a name, found the end of the text"),
        ("<ir_versio: 8> g () => () {}", 1, "'ir_versio' is not known here"),
        ("g () =>\n(\nfloat[2 y) {}", 3, "expected ',', found 'y'"),
        ("g (flaot[2] x) => () {}", 1, "expected ',', found '['"),
        ("g () => () { y = Neg(x }", 1, "expected ',', found '}'"),
        ("g () => () { y = Op <a = []> () }", 1, "an empty list needs the kind of its elements"),
        ("g () => () { y = Op <a: int = 1.5> () }", 1, "attribute 'a' is not of type int: found 1.5"),
        ("g () => () { y = Op <a: nothing = 1> () }", 1, "'nothing' is not a kind of attribute"),
        ("g () => () <float[N] w = {1}> { }", 1, "expected a fixed shape before a constant"),
        ("g () => () <int8[1] w = {1.5}> { }", 1, "the elements are not of type int8"),
        ("g () => () <int32[1] w = {99999999999}> { }", 1, "the elements are not of type int32"),
        ("g () => () { y = Op <a = 99999999999999999999> () }", 1, "attribute 'a' is not of type int"),
        ("g () => () { $ }", 1, "unexpected '$'"),
        ("<ir_version: 99999999999999999999> g () => () {}", 1, "99999999999999999999 has more than 64 bits"),
        (f"<ir_version: {'9' * 5000}> g () => () {{}}", 1, "an integer of 5000 digits"),
    ],
)
def test_texts_that_break_the_grammar_are_refused_with_their_line(text: str, line: int, message: str) -> None:
    with pytest.raises(DiagnosticError) as refused:
        parse_model(text)
    (only,) = refused.value.diagnostics
    assert (only.code.id, only.line) == ("E0246", line)
    assert message in only.message


def test_texts_nested_too_deeply_are_refused() -> None:
    text = "g () => () { y = Op <a = " * 200
    with pytest.raises(DiagnosticError, match="E0302"):
        parse_model(text)
    with pytest.raises(DiagnosticError, match="E0302"):
        parse_model("g (" + "seq(" * 200)


def test_what_has_no_form_in_text_is_named_at_the_head() -> None:
    model = create(ModelProto)
    model.ParseFromString(odd_models.texts_everywhere().SerializeToString())
    first = print_model(model).splitlines()[0]
    assert first == (
        "# not in this text: documentation of graphs, metadata of graphs, documentation of values, metadata of values,"
        " denotations, documentation and metadata of constants, documentation of nodes, metadata of nodes"
    )


@pytest.mark.parametrize("make", [odd_models.sparse_constants, odd_models.several_devices])
def test_what_means_something_and_has_no_form_is_refused(make: Callable[[], onnx.ModelProto]) -> None:
    model = create(ModelProto)
    model.ParseFromString(make().SerializeToString())
    with pytest.raises(DiagnosticError, match="E0806"):
        print_model(model)


def test_text_files_are_opened_run_and_written(tmp_path: Path) -> None:
    path = tmp_path / "m.onnxtxt"
    path.write_text(_HEAD + "g (float[2] x) => (float[2] y) <float[2] w = {1, 2.5}> { y = Add(x, w) }")
    module = commonir.load(path)
    np.testing.assert_array_equal(commonir.run(module, {"x": np.ones(2, np.float32)})["y"], [2, 3.5])
    commonir.save(commonir.convert(module, "onnx"), tmp_path / "m.onnx")
    commonir.save(commonir.load(tmp_path / "m.onnx"), tmp_path / "again.onnxtxt")
    assert _ours((tmp_path / "again.onnxtxt").read_text()) == _ours(path.read_text())


def test_a_text_is_known_by_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "m.txt"
    path.write_text("# a comment\n" + _HEAD + "g () => () {}")
    assert commonir.load(path).main.symbol_name == "g"


def test_a_text_is_known_whatever_characters_its_names_have(tmp_path: Path) -> None:
    text = '<ir_version: 10, opset_import: ["": 21]> g (float[2] "x\x1b[31m") => (float[2] "\u202ey\x07") {'
    path = tmp_path / "m.onnxtxt"
    path.write_text(text + ' "\u202ey\x07" = Relu ("x\x1b[31m") }')
    module = commonir.load(path)
    assert ([v.name for v in module.inputs], [v.name for v in module.outputs]) == (["x\x1b[31m"], ["\u202ey\x07"])


def test_texts_changed_at_random_are_handled() -> None:
    source = random.Random(0)
    inserted = [*'<>(){}[]=,:@?."0-9e#\\ \n', "float", "seq(", "nan", "9" * 30, "int4[3]"]
    for _ in range(1500):
        text = source.choice(list(TEXTS.values()))
        for _ in range(source.randint(1, 4)):
            at = source.randrange(len(text))
            text = text[:at] + source.choice(["", *inserted]) + text[at + source.randint(0, 3) :]
        with contextlib.suppress(DiagnosticError):
            print_model(parse_model(text))
