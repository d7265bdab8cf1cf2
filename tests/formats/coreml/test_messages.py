"""Message declarations: the same on the wire as those of coremltools, and no clash with them."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from commonir.formats.coreml.messages import message_class

from tests import message_stubs
from tests.formats.coreml import building as b
from tests.oracles import require_package

ORACLE = """
import importlib, sys
from google.protobuf.descriptor import FieldDescriptor as F
from coremltools.proto import MIL_pb2, Model_pb2, FeatureTypes_pb2, NonMaximumSuppression_pb2
from commonir.formats.coreml.messages import message_class

def compare(ours, theirs, seen):
    if ours.full_name in seen:
        return
    seen.add(ours.full_name)
    for field in theirs.fields:
        mine = ours.fields_by_number.get(field.number)
        assert mine is not None, f"{ours.full_name} lacks {field.name}"
        assert mine.name == field.name, (ours.full_name, mine.name, field.name)
        assert mine.is_repeated == field.is_repeated, (ours.full_name, field.name)
        group = field.containing_oneof.name if field.containing_oneof else ""
        assert (mine.containing_oneof.name if mine.containing_oneof else "") == group, (ours.full_name, field.name)
        if mine.type == F.TYPE_MESSAGE:
            compare(mine.message_type, field.message_type, seen)
        elif field.type == F.TYPE_ENUM:
            assert mine.type == F.TYPE_INT32
        elif mine.type == F.TYPE_BYTES:
            assert field.type in (F.TYPE_BYTES, F.TYPE_MESSAGE), (ours.full_name, field.name)
        else:
            assert mine.type == field.type, (ours.full_name, field.name)
    assert len(ours.fields) == len(theirs.fields), ours.full_name

seen = set()
compare(message_class("Model").DESCRIPTOR, Model_pb2.Model.DESCRIPTOR, seen)
assert len(seen) > 60, len(seen)
built = message_class("MILSpec.Program")(version=1)
assert MIL_pb2.Program.FromString(built.SerializeToString()).version == 1
print("same", len(seen))
"""


@pytest.mark.slow
def test_declarations_are_those_of_coremltools_in_one_process() -> None:
    require_package("coremltools")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    command = [sys.executable, "-W", "ignore", "-c", ORACLE]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.startswith("same")


def test_classes_are_not_in_the_pool_that_all_packages_share() -> None:
    from google.protobuf import descriptor_pool  # noqa: PLC0415

    assert message_class("Model").DESCRIPTOR.file.pool is not descriptor_pool.Default()


def test_maps_keep_the_order_of_the_file_and_repeated_keys() -> None:
    program = b.program({"b": b.make("Function"), "a": b.make("Function")})
    program.functions.add(key="b")
    again: b.Message = message_class("MILSpec.Program").FromString(program.SerializeToString())
    assert [entry.key for entry in again.functions] == ["b", "a", "b"]


def test_types_of_messages_are_those_of_their_declarations() -> None:
    assert message_stubs.STUB.read_text() == message_stubs.stub(), "run `python -m tests.message_stubs`"
