"""A model that is written again, or optimized, is not larger than before; onnx and onnxruntime read what is shorter."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from onnx import helper, numpy_helper

import commonir as cir
from commonir.dialects import onnx as dialect
from commonir.formats.onnx.element_types import data_type
from commonir.formats.onnx.write import dumps
from commonir.ir.attributes import DictionaryAttr, IntegerAttr
from commonir.ir.data import data_of
from commonir.ir.operation import Block, Region
from commonir.ir.types import ElementType, f32, i32, i64, u8, u64

from tests.formats.onnx import odd_models
from tests.onnx_operators.verdicts import difference, run_with_onnxruntime

_HEAD = '<ir_version: 8, opset_import: ["" : 16]>'
MODELS = {
    "a shape": "g (float[2,3,4] x) => (int64[3] y) { s = Shape (x) y = Add (s, s) }",
    "shapes": "g (float[2,3] x, float[4,5,6] z, bool c) => (int64[5] y, int64[2] v) "
    "{ a = Shape (x) b = Shape (z) t = Not (c) v = Where (t, a, a) y = Concat <axis = 0> (a, b) }",
    "limits": "g (float[2] x) => (float[2] y) <float l = {-1}, float h = {1}> { r = Relu (x) y = Clip (r, l, h) }",
    "a mean of one": "g (float[2] x) => (float[2] y) { y = Mean (x) }",
    "a squeeze of nothing": "g (float[2,3] x) => (float[2,3] y) { y = Squeeze (x) }",
    "transposed quantized tensors": "g (float[1,3,4,4] x) => (float[1,3,4,4] y) <float s = {0.5}, uint8 z = {128}> "
    "{ t = Transpose <perm = [0,2,3,1]> (x) q = QuantizeLinear (t, s, z) d = DequantizeLinear (q, s, z) "
    "y = Transpose <perm = [0,3,1,2]> (d) }",
    "a mean of one that is computed": "g (float[2] x) => (float[2] y) { a = Abs (x) y = Mean (a) }",
}


@pytest.mark.parametrize("name", MODELS)
def test_optimized_model_is_not_larger(name: str) -> None:
    model = onnx.parser.parse_model(_HEAD + MODELS[name])
    module = cir.loads(model.SerializeToString(), format="onnx")
    content = cir.dumps(cir.optimize(module))
    assert len(content) <= 1.01 * model.ByteSize()
    result = onnx.load_from_string(content)
    onnx.checker.check_model(result, full_check=True)
    inputs = {n: np.asarray(v) for n, v in cir.random_inputs(module).items()}
    assert difference(run_with_onnxruntime(result, inputs), run_with_onnxruntime(model, inputs), 0) is None


def test_operation_that_changes_nothing_stays_where_a_copy_would_take_its_place() -> None:
    model = onnx.parser.parse_model(_HEAD + MODELS["a mean of one"])
    result = onnx.load_from_string(cir.dumps(cir.optimize(cir.loads(model.SerializeToString(), format="onnx"))))
    assert [node.op_type for node in result.graph.node] == ["Mean"]


@pytest.mark.parametrize(
    ("element", "values"),
    [
        (i64, [2, 3, 4]),
        (i64, [-1]),
        (i64, [0, -1, 300]),
        (i64, [2**62, 1]),
        (i64, [2**62, 2**62]),
        (u64, [2**63, 1]),
        (i32, [1, 127, 128]),
        (i32, [2**30, 2**30]),
        (u8, [129, 1]),
        (f32, [1.0]),
        (i64, [1] * 64),
    ],
)
def test_new_constant_has_the_shorter_form(element: ElementType, values: list[float]) -> None:
    onnx_type = data_type(element)
    forms = [
        helper.make_tensor("const", onnx_type, [len(values)], values),
        numpy_helper.from_array(np.array(values, helper.tensor_dtype_to_np_dtype(onnx_type)), "const"),
    ]
    block = Block()
    constant = block.append(dialect.Initializer(data_of(element, (len(values),), values)))
    block.append(dialect.Return((block.append(dialect.Identity(constant.output)).output,)))
    module = cir.Module()
    module.body.append(dialect.Graph("g", DictionaryAttr((("", IntegerAttr(16)),)), Region([block])))
    (tensor,) = onnx.load_from_string(dumps(module)).graph.initializer
    assert tensor.ByteSize() == min(form.ByteSize() for form in forms)
    np.testing.assert_array_equal(numpy_helper.to_array(tensor), values)


def test_new_constants_keep_their_form_in_text(tmp_path: Path) -> None:
    model = onnx.parser.parse_model(_HEAD + MODELS["a shape"])
    optimized = cir.optimize(cir.loads(model.SerializeToString(), format="onnx"))
    cir.save(optimized, tmp_path / "m.mlir")
    assert cir.dumps(cir.convert(cir.load(tmp_path / "m.mlir"), "onnx")) == cir.dumps(optimized)


def _with_packed_numbers(model: onnx.ModelProto) -> bytes:
    """The bytes of a model with all repeated numbers packed, as the classes of onnx.proto3 write them."""
    file = descriptor_pb2.FileDescriptorProto()
    onnx.ModelProto.DESCRIPTOR.file.CopyToProto(file)
    for field in [f for message in file.message_type for f in message.field]:
        if field.label == field.LABEL_REPEATED and field.type not in (
            field.TYPE_MESSAGE, field.TYPE_STRING, field.TYPE_BYTES,
        ):  # fmt: skip
            field.options.packed = True
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    packed = message_factory.GetMessageClass(pool.FindMessageTypeByName("onnx.ModelProto"))()
    packed.ParseFromString(model.SerializeToString())
    return packed.SerializeToString()


@pytest.mark.parametrize("make", [odd_models.ways_of_attributes, odd_models.nested_graphs, odd_models.old_model])
def test_numbers_that_a_file_packs_stay_packed(make: Callable[[], onnx.ModelProto], tmp_path: Path) -> None:
    model = make()
    model.graph.node.append(
        helper.make_node("Elementwise", [], ["packed"], domain="of.others", many=list(range(200)), few=[0.5] * 9)
    )
    model.opset_import.append(helper.make_opsetid("of.others", 1))
    content = _with_packed_numbers(model)
    assert len(content) < model.ByteSize()
    (tmp_path / "m.onnx").write_bytes(content)
    module = cir.load(tmp_path / "m.onnx")
    again = cir.dumps(module)
    assert len(again) == len(content)
    assert onnx.load_from_string(again) == model
    cir.save(module, tmp_path / "m.mlir")
    assert len(cir.dumps(cir.convert(cir.load(tmp_path / "m.mlir"), "onnx"))) == len(content)


def test_numbers_of_other_files_are_written_as_onnx_writes_them() -> None:
    model = odd_models.ways_of_attributes()
    assert len(cir.dumps(cir.loads(model.SerializeToString(), format="onnx"))) == model.ByteSize()
