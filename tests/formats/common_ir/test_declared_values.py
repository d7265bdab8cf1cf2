"""Attributes of declared types: every encoding that a type has is read and written as it was, every other is refused.

The types and encodings are those of the Common IR specification, standard data types, and of `docs/common_ir.md`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import commonir as cir

from tests.specifications.common_ir_files import document, value_type

Message = dict[str, Any]

FIELDS = {
    "float16": ("FLOAT16", "int32_data"),
    "float32": ("FLOAT", "float_data"),
    "float64": ("DOUBLE", "double_data"),
    "int8": ("INT8", "int32_data"),
    "int16": ("INT16", "int32_data"),
    "int32": ("INT32", "int32_data"),
    "int64": ("INT64", "int64_data"),
    "uint8": ("UINT8", "int32_data"),
    "uint16": ("UINT16", "int32_data"),
    "bool": ("BOOL", "int32_data"),
    "string": ("STRING", "string_data"),
    "complex64": ("COMPLEX64", "float_data"),
    "complex128": ("COMPLEX128", "double_data"),
}
"""The names of the standard data types in files, and the fields of tensors that hold them."""


def tensor(element: str, dims: list[int], *values: object) -> Message:
    name, field = FIELDS[element]
    return {**({"dims": dims} if dims else {}), "data_type": name, field: list(values)}


def dense(element: str, dims: list[int], *values: object) -> Message:
    return {"dense": tensor(element, dims, *values)}


def value(content: Message) -> Message:
    return {"type": "VALUE", "value": content}


def tuple_of(*items: Message) -> Message:
    return {"tuple": {"elements": list(items)}}


def list_of(*items: Message) -> Message:
    return {"seq": {"elements": list(items)}}


def map_of(keys: Message, values: Message) -> Message:
    return {"map": {"keys": keys, "values": values}}


def sparse(last: int, *dims: int) -> Message:
    indices = tensor("int64", [2], 0, last)
    return {"dims": list(dims), "values": tensor("float32", [2], 1.0, 2.0), "indices": indices}


def model(type: Message, attribute: Message) -> Message:
    """A node of an operator that declares the attribute `a` of a type; `n` is 2."""
    signature = {
        "input_params": ["x: float32[n]"],
        "output_params": ["y: float32[n]"],
        "input_attributes": [{"name": "a", "type": type}],
    }
    node = {"op_type": "Op", "input": ["x"], "output": ["y"], "input_arg_count": [1]}
    graph = {
        "name": "g",
        "doc_string": "A graph.",
        "node": [{**node, "attribute": [{"name": "a", **attribute}]}],
        "input": ["x: float32[2]"],
        "output": ["y: float32[2]"],
        "operator": [{"name": "Op", "signature": [signature]}],
    }
    return json.loads(document(json.dumps({"ModelProto": {"graph": graph}})))


def errors(path: Path, content: Message) -> list[str]:
    path.write_text(json.dumps(content))
    return [f"{d.code.id}: {d.message}" for d in cir.check(path)[1] if d.is_error]


def attribute_of(file: Message) -> Message:
    return {k: v for k, v in file["ModelProto"]["graph"]["node"][0]["attribute"][0].items() if k != "name"}


def _scalars() -> list[tuple[str, Message]]:
    """Each standard data type as a scalar and as a vector, in each of its encodings."""
    out: list[tuple[str, Message]] = []
    for element in FIELDS:
        is_complex = element.startswith("complex")
        one: object = "a" if element == "string" else 1.0 if element in ("float32", "float64") or is_complex else 1
        several = [one] * (4 if is_complex else 2)
        for shape, dims, values in (("", [], several[:2] if is_complex else [one]), ("n", [2], several)):
            type = f"{element}[{shape}]"
            out += [(type, {"type": "TENSOR", "t": tensor(element, dims, *values)})]
            out += [(type, value(dense(element, dims, *values)))]
        if element == "string":
            out += [
                ("string[]", {"type": "STRING", "s": "a"}),
                ("string[n]", {"type": "STRINGS", "strings": ["a", "b"]}),
            ]
        elif element.startswith("float"):
            out += [(f"{element}[]", {"type": "FLOAT", "f": 0.5})]
            out += [(f"{element}[n]", {"type": "FLOATS", "floats": [0.5, 1.0]})]
        elif not is_complex:
            out += [(f"{element}[]", {"type": "INT", "i": 1}), (f"{element}[n]", {"type": "INTS", "ints": [1, 0]})]
    return out


KEYS, VALUES = tensor("int64", [2], 1, 2), tensor("float32", [2], 1.0, 2.0)
HANDLE = {"handle": {"uid": 7}}
TUPLE = "tuple<int64[], float32[n], string[]>"
OBEYS: list[tuple[str, Message]] = [
    ("float32[]", {"f": 0.5}),
    ("handle[]", {"value": HANDLE}),
    *_scalars(),
    ("handle[]", value(HANDLE)),
    ("list<handle[]>", {"type": "VALUES", "values": [HANDLE, {"handle": {"uid": -8}}]}),
    ("tuple<handle[]>", value(tuple_of(HANDLE))),
    (TUPLE, value(tuple_of(dense("int64", [], 3), dense("float32", [2], 1.0, 2.0), dense("string", [], "a")))),
    ("map<int64, float32[]>", value(map_of(KEYS, VALUES))),
    ("list<map<int64, float32[]>>", value(list_of(map_of(KEYS, VALUES), map_of(KEYS, VALUES)))),
    ("list<map<int64, float32[]>>", {"type": "VALUES", "values": [map_of(KEYS, VALUES)]}),
    ("list<tuple<map<int64, float32[]>>>", value(list_of(tuple_of(map_of(KEYS, VALUES))))),
    ("list<int64[]>", {"type": "INTS", "ints": [1]}),
    ("list<int64[]>", {"type": "VALUES", "values": [dense("int64", [], 1), dense("int64", [], 2)]}),
    ("list<int64[]>", value(list_of(dense("int64", [], 1), dense("int64", [], 2)))),
    ("list<float32[n]>", {"type": "TENSORS", "tensors": [VALUES, VALUES]}),
    ("list<float32[n]>", value(list_of(dense("float32", [2], 1.0, 2.0)))),
    ("list<list<string[]>>", value(list_of(list_of(dense("string", [], "a")), list_of(dense("string", [], "b"))))),
    ("sparse<float32[5]>", {"type": "SPARSE_TENSOR", "sparse_tensor": sparse(4, 5)}),
    ("sparse<float32[5]>", value({"sparse": sparse(4, 5)})),
    ("sparse<float32[n, 3]>", value({"sparse": sparse(5, 2, 3)})),
]
BREAKS: list[tuple[str, Message, str]] = [
    (
        "float32[]",
        {"f": 0.5, "i": 7, "type": "FLOAT"},
        "E0505: attribute 'a': expected one value, found the fields 'f'",
    ),
    ("float32[]", {"i": 7, "type": "FLOAT"}, "E0505: attribute 'a': its type needs the field 'f', found 'i'"),
    ("float32[]", {"type": "INT", "i": 1}, "E0505: attribute 'a': expected f32[], found an integer"),
    ("float32[]", {"type": "FLOATS", "floats": [1.0]}, "expected f32[], found a list of f32"),
    ("float32[]", value(dense("float64", [], 1.0)), "expected f32[], found a tensor tensor<f64>"),
    ("float32[n]", {"type": "STRINGS", "strings": ["a", "b"]}, "expected f32[n], found a list"),
    ("float32[n]", {"type": "FLOATS", "floats": [1.0]}, "E0503: attribute 'a': dimension n: expected 2, found 1"),
    ("float16[]", {"type": "FLOAT", "f": 1e6}, "1000000.0 is out of the range of f16"),
    ("int8[]", {"type": "INT", "i": 128}, "128 is not between -128 and 127, as i8 is"),
    ("bool[]", {"type": "INT", "i": 2}, "expected i1[], found 2, which is not a bool"),
    ("bool[n]", {"type": "INTS", "ints": [1, 2]}, "expected i1[n], found 2, which is not a bool"),
    ("complex64[]", {"type": "FLOAT", "f": 1.0}, "expected complex<f32>[], found a number"),
    ("handle[]", {"type": "INT", "i": 7}, "expected !builtin.handle[], found an integer"),
    (
        "map<int64, float32[]>",
        value(map_of(tensor("string", [2], "a", "b"), VALUES)),
        "a map with keys of !builtin.s",
    ),
    ("map<int64, float32[]>", value(map_of(KEYS, tensor("float64", [2], 1.0, 2.0))), "found a map with values of f64"),
    (
        "list<tuple<map<int64, float32[]>>>",
        value(list_of(tuple_of(map_of(tensor("string", [2], "a", "b"), VALUES)))),
        "element 0 of the list: element 0 of the tuple: expected map<i64[], f32[]>, found a map with keys of",
    ),
    (TUPLE, value(tuple_of(dense("int64", [], 3))), "found a tuple of 1"),
    (
        TUPLE,
        value(tuple_of(dense("int32", [], 3), dense("float32", [2], 1.0, 2.0), dense("string", [], "a"))),
        "element 0 of the tuple: expected i64[], found a tensor tensor<i32>",
    ),
    (
        TUPLE,
        value(tuple_of(dense("int64", [], 3), dense("float32", [3], 1.0, 2.0, 3.0), dense("string", [], "a"))),
        "E0503: attribute 'a': dimension n: expected 2, found 3",
    ),
    ("list<float32[n]>", {"type": "TENSORS", "tensors": [VALUES, tensor("float32", [1], 1.0)]}, "dimension n"),
    ("list<list<string[]>>", value(list_of(list_of(dense("int64", [], 1)))), "expected !builtin.string[], found"),
    ("sparse<float32[6]>", value({"sparse": sparse(4, 5)}), "expected 6, found 5"),
    ("sparse<float32[5]>", value({"sparse": sparse(5, 5)}), "index [5] of a sparse tensor is outside of [5]"),
    ("sparse<float32[5]>", value({"sparse": sparse(0, 5)}), "must be unique and ascending"),
]


@pytest.mark.fast_every(3)
@pytest.mark.parametrize(("type", "attribute"), OBEYS)
def test_a_value_of_the_declared_type_is_accepted_and_written_as_it_was(
    type: str, attribute: Message, tmp_path: Path
) -> None:
    path = tmp_path / "m.cir.json"
    assert errors(path, model(value_type(type), attribute)) == []  # pyright: ignore[reportArgumentType]  a message
    cir.save(cir.load(path), tmp_path / "again.cir.json")
    assert attribute_of(json.loads((tmp_path / "again.cir.json").read_text())) == attribute


@pytest.mark.parametrize(("type", "attribute"), OBEYS[::3])
def test_a_default_is_written_as_it_was(type: str, attribute: Message, tmp_path: Path) -> None:
    """Of an operator that the graph declares, and of a function."""
    file = model(value_type(type), attribute)  # pyright: ignore[reportArgumentType]  a message
    graph = file["ModelProto"]["graph"]
    del graph["node"][0]["attribute"]
    signature = graph["operator"][0]["signature"][0]
    signature["input_attributes"][0]["default"] = {"name": "a", **attribute}
    parameters = {key: signature[key] for key in ("input_params", "output_params")}
    body = {"node": [{"input": ["x"], "output": ["y"], "op_type": "Relu"}], "attr": [{"name": "a", **attribute}]}
    graph["function"] = [{"name": "F", **parameters, **body}]
    path, again = tmp_path / "m.cir.json", tmp_path / "again.cir.json"
    assert errors(path, file) == []
    cir.save(cir.load(path), again)
    written = json.loads(again.read_text())["ModelProto"]["graph"]
    declared = written["operator"][0]["signature"][0]["input_attributes"][0]["default"]
    assert declared == written["function"][0]["attr"][0] == {"name": "a", **attribute}


@pytest.mark.parametrize(("type", "attribute", "message"), BREAKS)
def test_a_value_of_another_type_is_refused(type: str, attribute: Message, message: str, tmp_path: Path) -> None:
    found = errors(tmp_path / "m.cir.json", model(value_type(type), attribute))  # pyright: ignore[reportArgumentType]  a message
    assert any(message in f.replace("common_ir.op.Op: ", "") for f in found), found


@pytest.mark.parametrize(
    ("attribute", "message"),
    [
        (value(map_of(KEYS, tensor("float32", [1], 1.0))), "a map has 2 keys and 1 value"),
        (value({}), "a value says nothing"),
        ({"type": "TENSOR", "t": {"dims": [2], "data_type": "FLOAT", "float_data": [1.0]}}, "takes 8 bytes, found 4"),
        ({"type": 99}, "attributes of kind 99 are not read"),
    ],
)
def test_a_malformed_value_is_reported_once(attribute: Message, message: str, tmp_path: Path) -> None:
    (error,) = errors(tmp_path / "m.cir.json", model(value_type("float32[]"), attribute))  # pyright: ignore[reportArgumentType]  a message
    assert message in error


OPAQUE = {"opaque_type": {"domain": "com.acme", "name": "Tree"}}


def _of_opaque(parameter: Message, input: Message) -> Message:
    file = model({"handle_type": {}}, value(HANDLE))
    graph = file["ModelProto"]["graph"]
    graph["operator"][0]["signature"][0]["input_params"][0]["type"] = parameter
    graph["operator"][0]["signature"][0]["output_params"][0]["type"] = {"sequence_type": {"elem_type": parameter}}
    graph["input"][0]["type"], graph["output"][0]["type"] = input, {"sequence_type": {"elem_type": input}}
    return file


def test_opaque_types_are_declared_read_written_and_compared(tmp_path: Path) -> None:
    path = tmp_path / "m.cir.json"
    file = _of_opaque(OPAQUE, OPAQUE)
    assert errors(path, file) == []
    cir.save(cir.load(path), tmp_path / "again.cir.json")
    assert json.loads((tmp_path / "again.cir.json").read_text()) == file
    (error,) = errors(path, _of_opaque(OPAQUE, {"opaque_type": {"domain": "com.acme", "name": "Forest"}}))
    assert "expected !onnx.opaque<com.acme::Tree>, found !onnx.opaque<com.acme::Forest>" in error
    (error,) = errors(path, model(OPAQUE, {"type": "INT", "i": 1}))
    assert "a value of !onnx.opaque<com.acme::Tree> has no form as an attribute" in error


@pytest.mark.parametrize(
    "attribute",
    [
        {"type": "FLOAT", "f": 0.5},
        {"type": "TENSOR", "t": tensor("float32", [], 0.5)},
        value(dense("float32", [], 0.5)),
    ],
)
def test_a_function_is_given_the_value_in_whichever_encoding(attribute: Message, tmp_path: Path) -> None:
    """y = max(x, 0) + 0.5 min(x, 0)."""
    node = 'q = LeakyRelu(p) {"alpha": {"ref_attr_name": "slope", "type": "FLOAT"}}'
    function = {"name": "F", "input_params": ["p: float32[k]"], "output_params": ["q: float32[k]"], "node": [node]}
    graph = {
        "name": "g",
        "doc_string": "A graph.",
        "input": ["x: float32[2]"],
        "output": ["y: float32[2]"],
        "node": [f"y = F[1](x) {json.dumps({'slope': attribute})}"],
        "function": [{**function, "attr": [{"name": "slope", "type": "FLOAT"}]}],
    }
    path = tmp_path / "m.cir.json"
    path.write_text(document(json.dumps({"ModelProto": {"graph": graph}})))
    module = cir.load(path)
    x = np.array([-2, 1], np.float32)
    for program in (module, cir.convert(module, "onnx")):
        assert cir.run(program, {"x": x})["y"].tolist() == [-1, 1]
