"""The wire scan: agrees with the protobuf runtime, and explains what the runtime only refuses."""

from __future__ import annotations

import pytest
from google.protobuf.message import DecodeError, Message

from commonir.base.diagnostics import DiagnosticError
from commonir.base.file_codes import DAMAGED_MESSAGE, NESTING_TOO_DEEP, TRUNCATED_FILE
from commonir.base.limits import DEFAULT_LIMITS
from commonir.formats.coreml.messages import message_class
from commonir.formats.protobuf.wire import WireError, explain, fields, parse

from tests.formats.coreml import building as b


def test_fields_are_located_without_decoding() -> None:
    content = b"\x08\x96\x01\x12\x03abc\x1d\x01\x02\x03\x04\x21" + bytes(8)
    assert [(f.number, f.wire_type, content[f.content : f.end]) for f in fields(memoryview(content))] == [
        (1, 0, b"\x96\x01"),
        (2, 2, b"abc"),
        (3, 5, b"\x01\x02\x03\x04"),
        (4, 1, bytes(8)),
    ]


def test_groups_are_passed_over_as_unknown_fields() -> None:
    content = b"\x9b\x06\x08\x05\xa3\x06\x12\x01a\xa4\x06\x9c\x06\x08\x01"
    assert message_class("MILSpec.Program").FromString(content).SerializeToString()
    assert [(f.number, f.start, f.end) for f in fields(memoryview(content))] == [(99, 0, 13), (1, 13, 15)]


@pytest.mark.parametrize("content", [b"\x0b\x08\x05", b"\x0b\x14", b"\x0b\x0e", b"\x0b" * 200, b"\x0c"])
def test_malformed_groups_are_refused(content: bytes) -> None:
    with pytest.raises(WireError):
        list(fields(memoryview(content)))


def test_fault_in_the_middle_is_reported_with_its_place() -> None:
    content = b.simple_model().mlProgram.SerializeToString()
    at = content.index(b"softmax")
    damaged = content[:at] + b"\xff" + content[at + 1 :]
    with pytest.raises(DiagnosticError) as caught:
        parse(message_class("MILSpec.Program"), memoryview(damaged), DEFAULT_LIMITS, file="f", where="mlProgram")
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.code, diagnostic.message, diagnostic.file, diagnostic.where, diagnostic.notes) == (
        DAMAGED_MESSAGE,
        "text is not UTF-8",
        "f",
        "mlProgram.functions[0].value.block_specializations[0].value.operations[3].type",
        (f"at byte {at}",),
    )


def test_length_beyond_the_message_around_it_is_truncation() -> None:
    content = b"\x12\x06\x0a\x09main"
    result = explain(message_class("MILSpec.Program"), memoryview(content), DEFAULT_LIMITS)
    assert result is not None
    assert (result.code, result.where) == (TRUNCATED_FILE, "functions[0]")


def nested(depth: int) -> Message:
    result = b.make("ValueType")
    at = result
    for _ in range(depth):
        at = at.listType.type
    at.SetInParent()
    return result


def test_nesting_is_limited_as_in_protobuf() -> None:
    kind = message_class("MILSpec.ValueType")
    for depth, fits in ((49, True), (60, False)):
        content = nested(depth).SerializeToString()
        try:
            kind.FromString(content)
        except DecodeError:
            assert not fits
        else:
            assert fits
        result = explain(kind, memoryview(content), DEFAULT_LIMITS)
        assert (result is None) is fits
        assert fits or (result is not None and result.code is NESTING_TOO_DEEP)


def test_lower_limit_of_nesting_holds() -> None:
    content = nested(20).SerializeToString()
    with pytest.raises(DiagnosticError) as caught:
        kind = message_class("MILSpec.ValueType")
        parse(kind, memoryview(content), DEFAULT_LIMITS._replace(max_nesting_depth=10), file="", where="")
    assert caught.value.diagnostics[0].code is NESTING_TOO_DEEP


@pytest.mark.parametrize("content", [b"\x00", b"\x0b", b"\x0c", b"\x0f", b"\xff" * 11, b"\x08", b"\x12\x7f"])
def test_bytes_that_are_not_a_message_are_explained(content: bytes) -> None:
    kind = message_class("MILSpec.Program")
    with pytest.raises(DecodeError):
        kind.FromString(content)
    assert explain(kind, memoryview(content), DEFAULT_LIMITS) is not None
