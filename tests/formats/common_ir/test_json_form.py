from __future__ import annotations

import json
import random
import struct
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonir.base.diagnostics import DiagnosticError
from commonir.base.limits import DEFAULT_LIMITS
from commonir.formats.common_ir.json_form import dumps, loads
from commonir.formats.onnx.declaring import Declared, Message, declared_fields
from commonir.formats.onnx.messages import LibraryProto, ModelProto, TensorProto, create, declared_messages

_DECLARATIONS = {m.__name__: m for m in declared_messages()}


def fill(message: Any, declared: type[Message], draw: random.Random, depth: int) -> None:
    """Gives a message random fields; alternatives exclude each other."""
    taken: set[str] = set()
    for name, field in declared_fields(declared).items():
        if draw.random() < 0.4 or field.oneof in taken:
            continue
        if field.oneof:
            taken.add(field.oneof)
        if field.repeated:
            for _ in range(draw.randrange(3)):
                if field.type.islower():
                    getattr(message, name).append(scalar(field, draw))
                elif depth:
                    fill(getattr(message, name).add(), _DECLARATIONS[field.type], draw, depth - 1)
        elif field.type.islower():
            setattr(message, name, scalar(field, draw))
        elif depth:
            getattr(message, name).SetInParent()
            fill(getattr(message, name), _DECLARATIONS[field.type], draw, depth - 1)


def scalar(field: Declared, draw: random.Random) -> Any:
    match field.type:
        case "string":
            return draw.choice(["", "x", "naïve", 'a\n\t"b"', "\u202e", "\0"])
        case "bytes":
            return draw.choice([b"", b"text", b"\xff\x00", "ж".encode(), bytes(range(256))])
        case "float":
            return struct.unpack("<f", draw.randbytes(4))[0]
        case "double":
            return struct.unpack("<d", draw.randbytes(8))[0]
        case "int32":
            return draw.choice([0, 1, 7, -(2**31), 2**31 - 1])
        case "uint64":
            return draw.choice([0, 2**64 - 1])
        case _:
            return draw.choice([0, -1, 2**63 - 1, -(2**63), 2**53 + 1])


@pytest.mark.slow
@given(st.integers(0, 2**32), st.sampled_from([ModelProto, LibraryProto]))
@settings(max_examples=2 * settings().max_examples, deadline=None)
def test_a_message_comes_back_from_its_json(seed: int, declared: type[ModelProto | LibraryProto]) -> None:
    result = create(declared)
    fill(result, declared, random.Random(seed), 3)
    read = loads(dumps(result, declared))
    again = read.model or read.library
    assert again is not None
    # A NaN is not equal to itself, and its bits may differ: texts are compared.
    assert dumps(again, declared) == dumps(result, declared)


def test_the_text_is_json_with_the_names_of_fields() -> None:
    model = create(ModelProto)
    model.ir_version = 10
    node = model.graph.node.add()
    node.op_type = "Relu"
    node.input.append("x")
    attribute = node.attribute.add()
    attribute.name, attribute.type, attribute.f = "alpha", 1, 0.1
    assert json.loads(dumps(model, ModelProto)) == {
        "ModelProto": {
            "ir_version": 10,
            "graph": {
                "node": [
                    {
                        "input": ["x"],
                        "op_type": "Relu",
                        "attribute": [{"name": "alpha", "f": 0.1, "type": "FLOAT"}],
                    }
                ]
            },
        }
    }


def test_bytes_are_text_where_they_can_be() -> None:
    model = create(ModelProto)
    for content in (b"linear", b"\xff", b"a\0b"):
        model.graph.node.add().attribute.add().s = content
    nodes = json.loads(dumps(model, ModelProto))["ModelProto"]["graph"]["node"]
    assert [n["attribute"][0]["s"] for n in nodes] == ["linear", {"base64": "/w=="}, {"base64": "YQBi"}]


def test_raw_contents_are_never_text() -> None:
    model = create(ModelProto)
    model.graph.initializer.add().raw_data = b"abcd"
    (tensor,) = json.loads(dumps(model, ModelProto))["ModelProto"]["graph"]["initializer"]
    assert tensor["raw_data"] == {"base64": "YWJjZA=="}


def test_numbers_that_are_not_finite_are_words() -> None:
    model = create(ModelProto)
    model.graph.initializer.add().float_data.extend([float("nan"), float("inf"), float("-inf")])
    text = dumps(model, ModelProto)
    assert '"float_data": ["nan", "inf", "-inf"]' in text
    read = loads(text).model
    assert read is not None
    assert [str(v) for v in read.graph.initializer[0].float_data] == ["nan", "inf", "-inf"]


def test_a_type_may_be_a_number_or_its_name() -> None:
    head, tail = '{"ModelProto": {"graph": {"initializer": [{"data_type": ', "}]}}}"
    texts = [head + inputs + tail for inputs in ('"BFLOAT16"', "16", "999")]
    types = [read.graph.initializer[0].data_type for t in texts if (read := loads(t).model) is not None]
    assert types == [16, 16, 999]


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ('{"ModelProto": {"ir_version": "1"}}', "ModelProto.ir_version", 'expected an integer of int64, found "1"'),
        (
            '{"ModelProto": {"ir_version": true}}',
            "ModelProto.ir_version",
            "expected an integer of int64, found true",
        ),
        ('{"ModelProto": {"ir_version": 1.5}}', "ModelProto.ir_version", "expected an integer of int64, found 1.5"),
        (
            '{"ModelProto": {"ir_version": 9223372036854775808}}',
            "ModelProto.ir_version",
            "expected an integer of int64, found 9223372036854775808",
        ),
        ('{"ModelProto": {"graph": []}}', "ModelProto.graph", "expected an object, found []"),
        ('{"ModelProto": {"graph": {"node": {}}}}', "ModelProto.graph.node", "expected a list, found {}"),
        ('{"ModelProto": {"graph": {"node": [0]}}}', "ModelProto.graph.node[0]", "expected an object, found 0"),
        ('{"ModelProto": {"graph": {"name": null}}}', "ModelProto.graph.name", "expected a text, found null"),
        (
            '{"ModelProto": {"graph": {"initializer": [{"raw_data": {"base64": "?"}}]}}}',
            "ModelProto.graph.initializer[0].raw_data",
            'expected a text or {"base64": ...}, found {"base64": "?"}',
        ),
        (
            '{"ModelProto": {"graph": {"initializer": [{"float_data": ["1"]}]}}}',
            "ModelProto.graph.initializer[0].float_data[0]",
            'expected a number, "nan", "inf" or "-inf", found "1"',
        ),
        (
            '{"ModelProto": {"graph": {"initializer": [{"float_data": [1e39]}]}}}',
            "ModelProto.graph.initializer[0].float_data[0]",
            'expected a number, "nan", "inf" or "-inf", found 1e+39',
        ),
        ('{"LibraryProto": {"operatr": []}}', "LibraryProto", "LibraryProto has no field 'operatr'"),
        (
            '{"ModelProto": {"graph": {"input": [{"type": {"tensor_type": {}, "map_type": {}}}]}}}',
            "ModelProto.graph.input[0].type",
            "'tensor_type' and 'map_type' exclude each other",
        ),
        (
            '{"ModelProto": {"graph": {"name": "a", "name": "b"}}}',
            "",
            "the document is not JSON: the name 'name' occurs twice in one object",
        ),
        ("[]", "", "expected an object with one key, ModelProto or LibraryProto, found no object"),
        ('{"ModelProto": {}, "LibraryProto": {}}', "", "expected an object with one key, ModelProto or LibraryProto, "),
        ('{"ModelProto": {"ir_version": NaN}}', "", "the document is not JSON: 'NaN' is not a number of JSON"),
        ('{"ModelProto": ', "", "the document is not JSON: expecting value at column 16"),
    ],
)
def test_what_does_not_fit_is_reported_with_its_place(text: str, place: str, message: str) -> None:
    with pytest.raises(DiagnosticError) as caught:
        loads(text)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code.id == "E0250"
    assert diagnostic.where == place
    assert diagnostic.message.startswith(message)


def test_all_faults_are_reported() -> None:
    with pytest.raises(DiagnosticError) as caught:
        loads('{"ModelProto": {"ir_version": "1", "domain": 2, "graph": {"node": [{"input": [3]}]}}}')
    assert [d.where for d in caught.value.diagnostics] == [
        "ModelProto.ir_version",
        "ModelProto.domain",
        "ModelProto.graph.node[0].input[0]",
    ]


def test_nesting_is_limited() -> None:
    text = '{"ModelProto": {"graph": ' + '{"node": [{"attribute": [{"g": ' * 60 + "{}" + "}]}]}" * 60 + "}}"
    with pytest.raises(DiagnosticError, match="E0302"):
        loads(text)
    with pytest.raises(DiagnosticError, match="E0302"):
        loads("[" * 100_000)


def test_size_is_limited() -> None:
    with pytest.raises(DiagnosticError, match="E0303"):
        loads('{"ModelProto": {}}', limits=DEFAULT_LIMITS._replace(max_text_bytes=8))


def test_fields_that_are_not_known_are_not_lost() -> None:
    result = create(TensorProto)
    result.ParseFromString(bytes([0x9A, 0x3F, 0x01, 0x00]))
    with pytest.raises(ValueError, match="fields that are not known"):
        dumps(result, TensorProto)
