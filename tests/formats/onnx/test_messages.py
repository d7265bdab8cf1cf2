from __future__ import annotations

import os
import subprocess
import sys

import onnx
import onnx.onnx_ml_pb2
import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor

from commonir.formats.onnx import messages
from commonir.formats.onnx.messages import FIRST_EXTENSION, IR_VERSIONS, ModelProto, create

# Nested messages of the original stand beside the others here, since only names differ.
_NESTED = {
    "TensorProto.Segment": "SegmentProto",
    "TensorShapeProto.Dimension": "DimensionProto",
    "TypeProto.Tensor": "TensorTypeProto",
    "TypeProto.Sequence": "SequenceTypeProto",
    "TypeProto.Map": "MapTypeProto",
    "TypeProto.Optional": "OptionalTypeProto",
    "TypeProto.SparseTensor": "SparseTensorTypeProto",
    "TypeProto.Opaque": "OpaqueTypeProto",
}


def _local_name(descriptor: Descriptor) -> str:
    full = descriptor.full_name.removeprefix("onnx.")
    return _NESTED.get(full, full)


def _originals() -> list[Descriptor]:
    results: list[Descriptor] = []
    pending = list(onnx.onnx_ml_pb2.DESCRIPTOR.message_types_by_name.values())
    while pending:
        descriptor = pending.pop()
        results.append(descriptor)
        pending.extend(descriptor.nested_types)
    return results


def _fields(descriptor: Descriptor) -> set[tuple[object, ...]]:
    out: set[tuple[object, ...]] = set()
    for f in descriptor.fields:
        kind = FieldDescriptor.TYPE_INT32 if f.type == FieldDescriptor.TYPE_ENUM else f.type
        inner = _local_name(f.message_type) if f.message_type else ""
        oneof = f.containing_oneof.name if f.containing_oneof else ""
        out.add((f.name, f.number, kind, inner, f.is_repeated, f.is_packed, oneof))
    return out


def _is_extension(field: tuple[object, ...]) -> bool:
    return isinstance(field[1], int) and field[1] >= FIRST_EXTENSION


def test_messages_have_the_fields_of_onnx() -> None:
    ours = {d.__name__: type(create(d)).DESCRIPTOR for d in messages.declared_messages()}  # pyright: ignore[reportAttributeAccessIssue]  made by protobuf
    theirs = {_local_name(d): d for d in _originals()}
    assert set(theirs) <= set(ours)
    for name, original in theirs.items():
        result = {f for f in _fields(ours[name]) if not _is_extension(f)}
        assert result == _fields(original), name


@pytest.mark.parametrize(("opset", "ir_version"), IR_VERSIONS.items())
def test_ir_version_is_the_oldest_that_has_the_opset(opset: int, ir_version: int) -> None:
    assert onnx.helper.find_min_ir_version_for([onnx.helper.make_opsetid("", opset)]) == ir_version


@pytest.mark.parametrize("order", ["import onnx; {ours}", "{ours}; import onnx"])
def test_messages_and_the_onnx_package_live_in_one_process(order: str) -> None:
    ours = "from commonir.formats.onnx.messages import ModelProto, create; create(ModelProto)"
    program = order.format(ours=ours) + "; onnx.ModelProto(); create(ModelProto)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)


def test_onnx_reads_what_a_message_writes() -> None:
    model = create(ModelProto)
    model.ir_version = 8
    model.opset_import.add().version = 18
    model.graph.name = "g"
    read = onnx.ModelProto.FromString(model.SerializeToString())
    assert (read.ir_version, read.opset_import[0].version, read.graph.name) == (8, 18, "g")
