"""A file that is not an ARK model is refused with its code, the place in the document, and what was expected there."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from commonir.base.diagnostics import Diagnostic
from commonir.base.file_codes import NESTING_TOO_DEEP
from commonir.formats.ark.read import loads
from commonir.ods import Dialects

from tests.formats.ark.model_files import Document, buffer, document, exchange, later, op, product, tensor

Edit = Callable[[Document], Any]

OP = "Nodes[0].Op"
READ = f"{OP}.ReadTensors[0]"


def _found(content: bytes) -> list[Diagnostic]:
    module, diagnostics = loads(content, Dialects())
    assert module is None or not any(d.is_error for d in diagnostics)
    return diagnostics


def _after(edit: Edit, document: Document) -> list[Diagnostic]:
    changed = copy.deepcopy(document)
    edit(changed)
    return _found(json.dumps(changed).encode())


def _op(document: Document, node: int = 0) -> Document:
    stored = document["Nodes"][node]
    return stored["Op"] if "Op" in stored else stored["Ops"][0]


def _read(document: Document) -> Document:
    return _op(document)["ReadTensors"][0]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"Rank": 0,', "property name"),
        (b'{"Rank": 0, "Rank": 0, "WorldSize": 1, "Nodes": []}', "'Rank' occurs twice"),
        (b'{"Rank": NaN, "WorldSize": 1, "Nodes": []}', "'NaN' is not a number"),
        (b'{"Rank": -Infinity, "WorldSize": 1, "Nodes": []}', "'-Infinity' is not a number"),
        (b'{"Rank": 1e999, "WorldSize": 1, "Nodes": []}', "too large"),
        (b'{"Rank": 0, "WorldSize": 1, "Nodes": ["\xff"]}', "is not UTF-8"),
    ],
)
def test_what_is_not_json_is_refused(content: bytes, message: str) -> None:
    result = _found(content)
    assert [d.code.id for d in result] == ["E0270"]
    assert message in result[0].message


def test_deep_nesting_is_refused() -> None:
    assert [d.code for d in _found(b"[" * 100_000)] == [NESTING_TOO_DEEP]


SCHEMA: list[tuple[str, Edit, str, str]] = [
    ("top field missing", lambda m: m.pop("WorldSize"), "", "must have the field 'WorldSize'"),
    ("field missing", lambda m: _read(m).pop("Strides"), READ, "must have the field 'Strides'"),
    ("field extra", lambda m: _read(m).update(Pads=[1, 1]), f"{READ}.Pads", "has no field 'Pads'"),
    ("both payloads", lambda m: m["Nodes"][0].update(Ops=[]), "Nodes[0].Ops", "has no field 'Ops'"),
    ("nodes no array", lambda m: m.update(Nodes={}), "Nodes", "expected an array, found an object"),
    ("node no object", lambda m: m["Nodes"].append(7), "Nodes[1]", "must be an object, found 7"),
    ("flag as text", lambda m: _op(m).update(IsVirtual="false"), f"{OP}.IsVirtual", 'true or false, found "false"'),
    ("name no text", lambda m: _op(m).update(Name=3), f"{OP}.Name", "expected a string, found 3"),
    ("fractional number", lambda m: _read(m).update(Id=1.0), f"{READ}.Id", "expected an integer, found 1.0"),
    ("truth as number", lambda m: _read(m)["Shape"].__setitem__(0, True), f"{READ}.Shape[0]", "integer, found true"),
    ("unknown data type", lambda m: _read(m).update(DataType="FP64"), f"{READ}.DataType", "unknown data type 'FP64'"),
    ("unknown type", lambda m: _op(m).update(Type="MatMul"), f"{OP}.Type", "unknown operation type 'MatMul'"),
    ("lower case type", lambda m: _op(m).update(Type="tensor"), f"{OP}.Type", "unknown operation type 'tensor'"),
    (
        "virtual where it computes",
        lambda m: _op(m).update(IsVirtual=True),
        f"{OP}.IsVirtual",
        "'Matmul' is not a virtual operation, so that 'IsVirtual' must be false",
    ),
    (
        "argument missing",
        lambda m: _op(m)["Args"].pop("TransposeOther"),
        f"{OP}.Args",
        "must have the argument 'TransposeOther'",
    ),
    (
        "argument of another generation",
        lambda m: _op(m)["Args"].update(ShapeMNK={"DIMS": [2, 4, 3]}),
        f"{OP}.Args.ShapeMNK",
        "has no argument 'ShapeMNK'",
    ),
    (
        "argument of several types",
        lambda m: _op(m)["Args"]["TransposeOther"].update(INT=1),
        f"{OP}.Args.TransposeOther",
        "an object with one type",
    ),
    (
        "argument of another type",
        lambda m: _op(m)["Args"].update(TransposeOther={"INT": 1}),
        f"{OP}.Args.TransposeOther.INT",
        "must have the type BOOL, found 'INT'",
    ),
    (
        "argument with a wrong value",
        lambda m: _op(m)["Args"].update(TransposeOther={"BOOL": 1}),
        f"{OP}.Args.TransposeOther.BOOL",
        "expected true or false, found 1",
    ),
    (
        "tag no pair",
        lambda m: _read(m)["Buffer"].update(SendTags=[[1, 2, 3]]),
        f"{READ}.Buffer.SendTags[0]",
        "expected a pair [rank, tag], found [1,2,3]",
    ),
    (
        "tags as the description lists them",
        lambda m: _read(m)["Buffer"].update(SendTags=[1, 2]),
        f"{READ}.Buffer.SendTags[0]",
        "expected a pair [rank, tag], found 1",
    ),
    (
        "tensor missing",
        lambda m: _op(m)["ReadTensors"].pop(),
        f"{OP}.ReadTensors",
        "'Matmul' has 2 tensors here, found 1",
    ),
    (
        "result superfluous",
        lambda m: _op(m)["ResultTensors"].append(later(_op(m)["ResultTensors"][0], 9)),
        f"{OP}.ResultTensors",
        "'Matmul' has 1 tensor here, found 2",
    ),
]


@pytest.mark.parametrize(("edit", "where", "message"), [c[1:] for c in SCHEMA], ids=[c[0] for c in SCHEMA])
def test_wrong_fields_are_refused(edit: Edit, where: str, message: str) -> None:
    result = _after(edit, product("v3"))
    assert result[0].code.id == "E0271"
    assert result[0].where == where
    assert message in result[0].message


def test_misspelt_field_gets_the_right_one_suggested() -> None:
    def edit(document: Document) -> None:
        _read(document)["Datatype"] = _read(document).pop("DataType")

    result = _after(edit, product("v3"))
    assert [(d.where, d.help) for d in result] == [(f"{READ}.Datatype", "did you mean 'DataType'?"), (READ, None)]


def test_misspelt_types_get_the_right_ones_suggested() -> None:
    result = _after(lambda m: (_op(m).update(Type="Matmull"), _read(m).update(DataType="fp32")), product("v3"))
    assert [d.help for d in result] == ["did you mean 'Matmul' or 'Mul'?"]
    result = _after(lambda m: _read(m).update(DataType="fp32"), product("v3"))
    assert result[0].help == "did you mean 'FP32'?"


def test_strides_that_are_steps_between_elements_are_explained() -> None:
    result = _after(lambda m: _read(m).update(Strides=[3, 1]), product("v3"))
    assert [(d.code.id, d.where, d.help) for d in result] == [
        (
            "E0273",
            f"{READ}.Offsets",
            "'Strides' are the sizes of the array that the tensor is a part of, not steps between elements",
        )
    ]


def test_number_that_is_lost_is_explained() -> None:
    built = exchange("v3", 0)
    result = _after(lambda m: _op(m)["Args"].update(Factor={"FLOAT": None}), built)
    assert (result[0].code.id, result[0].where) == ("E0271", f"{OP}.Args.Factor.FLOAT")
    assert result[0].help is not None
    assert "infinities and NaN as null" in result[0].help


def test_node_without_operations_is_refused() -> None:
    result = _after(lambda m: m["Nodes"].append({**m["Nodes"][0], "Id": 1, "Ops": []}), product("v2"))
    assert [(d.code.id, d.where) for d in result] == [("E0271", "Nodes[1].Ops")]


def test_operation_of_a_later_generation_is_refused() -> None:
    x = tensor("v2", 0, [4])
    sync = op("DeviceSync", [x], [x], [later(x, 1)], PeerNum=("INT", 0), Rank=("INT", 0))
    result = _found(json.dumps(document("v2", [sync])).encode())
    assert [(d.code.id, d.where) for d in result] == [("E0271", "Nodes[0].Ops[0].Type")]
    assert "came with generation v3" in result[0].message


RANGES: list[tuple[str, Edit, str, str]] = [
    ("rank", lambda m: m.update(Rank=1), "Rank", "less than 'WorldSize', 1, found 1"),
    ("negative rank", lambda m: m.update(Rank=-1), "Rank", "at least 0, found -1"),
    ("no ranks", lambda m: m.update(WorldSize=0), "WorldSize", "at least 1, found 0"),
    ("number of node", lambda m: m["Nodes"][0].update(Id=-3), "Nodes[0].Id", "at least 0, found -3"),
    (
        "number of producer",
        lambda m: m["Nodes"][0].update(ProducerNodeIds=[-1]),
        "Nodes[0].ProducerNodeIds[0]",
        "at least 0, found -1",
    ),
    ("number of tensor", lambda m: _read(m).update(Id=-4), f"{READ}.Id", "at least 0, found -4"),
    ("number of buffer", lambda m: _read(m)["Buffer"].update(Id=-4), f"{READ}.Buffer.Id", "at least 0, found -4"),
    ("rank of buffer", lambda m: _read(m)["Buffer"].update(Rank=-2), f"{READ}.Buffer.Rank", "found -2"),
    (
        "tag",
        lambda m: _read(m)["Buffer"].update(SendTags=[[0, 1 << 31]]),
        f"{READ}.Buffer.SendTags[0][1]",
        "found 2147483648",
    ),
    ("offset", lambda m: _read(m).update(Offsets=[0, -1]), f"{READ}.Offsets", "at least 0, found -1"),
    ("size of zero", lambda m: _read(m).update(Shape=[0, 3]), f"{READ}.Shape", "positive, found 0"),
    ("size beyond 64 bits", lambda m: _read(m).update(Shape=[1 << 63, 3]), f"{READ}.Shape[0]", "found 92233720368"),
    (
        "product beyond 64 bits",
        lambda m: _read(m).update(Strides=[1 << 62, 3]),
        f"{READ}.Strides",
        "4611686018427387904 x 3 elements do not fit",
    ),
    (
        "five dimensions",
        lambda m: _read(m).update({f: [1] * 5 for f in ("Shape", "Strides", "Offsets", "PaddedShape")}),
        f"{READ}.Shape",
        "1 to 4 dimensions, found 5",
    ),
    (
        "no dimension",
        lambda m: _read(m).update({f: [] for f in ("Shape", "Strides", "Offsets", "PaddedShape")}),
        f"{READ}.Shape",
        "1 to 4 dimensions, found 0",
    ),
]


@pytest.mark.parametrize(("edit", "where", "message"), [c[1:] for c in RANGES], ids=[c[0] for c in RANGES])
def test_numbers_out_of_range_are_refused(edit: Edit, where: str, message: str) -> None:
    result = _after(edit, product("v3"))
    assert [(d.code.id, d.where) for d in result] == [("E0272", where)]
    assert message in result[0].message


TENSORS: list[tuple[str, Edit, str, str]] = [
    ("lengths", lambda m: _read(m).update(Strides=[6]), f"{READ}.Strides", "expected 2 numbers"),
    ("bounds", lambda m: _read(m).update(Offsets=[0, 1]), f"{READ}.Offsets", "ends at 1 + 3, beyond the extent 3"),
    (
        "padding beyond the extent",
        lambda m: _read(m).update(PaddedShape=[2, 4]),
        f"{READ}.Offsets",
        "ends at 0 + 4, beyond the extent 3",
    ),
    (
        "padding less than the shape",
        lambda m: _read(m).update(PaddedShape=[2, 2]),
        f"{READ}.PaddedShape",
        "has size 3, but is padded to 2",
    ),
    (
        "one tensor, two contents",
        lambda m: _op(m)["ReadTensors"][1].update(Id=0),
        f"{OP}.ReadTensors[1]",
        f"tensor 0 has another 'Shape' than at {READ}",
    ),
    (
        "one buffer, two contents",
        lambda m: _op(m)["ReadTensors"][1]["Buffer"].update(Id=0, SendTags=[[0, 1]]),
        f"{OP}.ReadTensors[1].Buffer",
        f"buffer 0 has another 'SendTags' than at {READ}.Buffer",
    ),
    (
        "result of another view",
        lambda m: _op(m)["ResultTensors"][0].update(Shape=[1, 4]),
        f"{OP}.ResultTensors[0]",
        "must be the tensor that 'Matmul' writes, 2, under a new number",
    ),
    (
        "two producers",
        lambda m: m["Nodes"].append({**copy.deepcopy(m["Nodes"][0]), "Id": 1}),
        "Nodes[1].Op.ResultTensors[0].Id",
        "tensor 3 is given by two operations, the other is Nodes[0].Op",
    ),
]


@pytest.mark.parametrize(("edit", "where", "message"), [c[1:] for c in TENSORS], ids=[c[0] for c in TENSORS])
def test_tensors_that_contradict_are_refused(edit: Edit, where: str, message: str) -> None:
    result = _after(edit, product("v3"))
    assert [(d.code.id, d.where) for d in result] == [("E0273", where)]
    assert message in result[0].message


def test_bool_in_a_repeated_tensor_is_found() -> None:
    """Python holds 1 and true for equal."""
    x = tensor("v3", 0, [1])
    document_ = document(
        "v3", [op("Add", [x, copy.deepcopy(x)], [tensor("v3", 1, [1])], [later(tensor("v3", 1, [1]), 2)])]
    )
    result = _after(lambda m: _op(m)["ReadTensors"][1].update(Shape=[True]), document_)
    assert [d.where for d in result] == ["Nodes[0].Op.ReadTensors[1].Shape[0]"]


def test_pads_other_than_one_are_reported_and_kept() -> None:
    place = "Nodes[0].Ops[0].ReadTensors[0].Pads"
    result = _after(lambda m: _read(m).update(Pads=[2, 1]), product("v1"))
    assert [(d.code.id, d.where) for d in result] == [("W0273", place)]
    result = _after(lambda m: _read(m).update(Pads=[4, 1]), product("v1"))
    assert [(d.code.id, d.where) for d in result] == [("E0273", place)]


def test_all_findings_are_reported_in_order() -> None:
    def edit(document: Document) -> None:
        document["Rank"] = 5
        _read(document)["Offsets"] = [0, 9]
        _op(document)["Name"] = None

    assert [d.where for d in _after(edit, product("v3"))] == ["Rank", f"{OP}.Name"]


def test_buffers_may_be_of_any_size_of_rank() -> None:
    holder = buffer("v3", 0, 2147483647)
    x = tensor("v3", 0, [1], held=holder)
    assert _found(json.dumps(document("v3", [op("Noop", [x], [], [])])).encode()) == []
