"""Large tensors whose numbers lie in the field of their type, in models of any size; onnx gives what is expected."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from commonir.dialects import onnx as dialect
from commonir.formats.format import WriteOptions
from commonir.formats.onnx.read import read
from commonir.formats.onnx.write import dumps, write
from commonir.ir.data import Data, FileData
from commonir.ods import Dialects

DIALECTS = Dialects()
COUNT = 2**16
FILL = numpy_helper.from_array(np.zeros(2**20, np.float32), "fill")
"""Makes a file so large that tensors are left in it."""

INTEGERS = {
    TensorProto.INT8: (-(2**7), 2**7),
    TensorProto.UINT8: (0, 2**8),
    TensorProto.INT16: (-(2**15), 2**15),
    TensorProto.UINT16: (0, 2**16),
    TensorProto.INT32: (-(2**31), 2**31),
    TensorProto.UINT32: (0, 2**32),
    TensorProto.INT64: (-(2**63), 2**63 - 1),
    TensorProto.BOOL: (0, 2),
    TensorProto.INT4: (-8, 8),
    TensorProto.UINT4: (0, 16),
}
FLOATS = (
    TensorProto.FLOAT,
    TensorProto.DOUBLE,
    TensorProto.FLOAT16,
    TensorProto.BFLOAT16,
    TensorProto.FLOAT8E4M3FN,
    TensorProto.COMPLEX64,
    TensorProto.COMPLEX128,
)


def typed(element: TensorProto.DataType, name: str = "w", count: int = COUNT) -> TensorProto:
    """A tensor of random numbers in the field of its type."""
    random = np.random.default_rng(element)
    if element in INTEGERS:
        values = random.integers(*INTEGERS[element], count).tolist()
    elif element == TensorProto.UINT64:
        values = random.integers(0, 2**63, count, dtype=np.uint64).tolist()
    elif element in (TensorProto.COMPLEX64, TensorProto.COMPLEX128):
        values = (random.standard_normal(count) + 1j * random.standard_normal(count)).tolist()
    else:
        values = random.standard_normal(count).tolist()
    result = helper.make_tensor(name, element, [count], values)
    assert not result.HasField("raw_data")
    return result


def model_of(*tensors: TensorProto) -> onnx.ModelProto:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])
    nodes = [helper.make_node("Identity", [t.name], [f"{t.name}_y"]) for t in tensors]
    outputs = [helper.make_tensor_value_info(f"{t.name}_y", t.data_type, list(t.dims)) for t in tensors]
    graph = helper.make_graph(nodes, "g", [x], outputs, list(tensors))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)


def saved(folder: Path, model: onnx.ModelProto) -> Path:
    path = folder / "m.onnx"
    path.write_bytes(model.SerializeToString())
    return path


def constants(path: Path) -> dict[str, Data]:
    module, diagnostics = read(path, DIALECTS)
    assert module is not None
    assert diagnostics == []
    return {op.output.name: op.value for op in module.walk() if isinstance(op, dialect.Initializer)}


@pytest.mark.parametrize("element", [*INTEGERS, TensorProto.UINT64, *FLOATS], ids=TensorProto.DataType.Name)
def test_numbers_in_the_field_of_their_type_are_read(tmp_path: Path, element: TensorProto.DataType) -> None:
    tensor = typed(element)
    stored = constants(saved(tmp_path, model_of(tensor, FILL)))["w"]
    np.testing.assert_array_equal(stored.array(), numpy_helper.to_array(tensor))


@pytest.mark.parametrize("element", [TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.COMPLEX64])
def test_numbers_of_fixed_width_stay_in_the_file(tmp_path: Path, element: TensorProto.DataType) -> None:
    assert isinstance(constants(saved(tmp_path, model_of(typed(element), FILL)))["w"], FileData)


@pytest.mark.parametrize("element", [*INTEGERS, TensorProto.UINT64, *FLOATS], ids=TensorProto.DataType.Name)
def test_numbers_are_written_again_in_the_field_of_their_type(tmp_path: Path, element: TensorProto.DataType) -> None:
    model = model_of(typed(element), FILL)
    module, _ = read(saved(tmp_path, model), DIALECTS)
    assert module is not None
    assert onnx.ModelProto.FromString(dumps(module)) == model
    write(module, tmp_path / "again.onnx", WriteOptions(external_data=False))
    assert onnx.load(tmp_path / "again.onnx") == model


@pytest.mark.parametrize(("element", "field"), [(TensorProto.FLOAT, 4), (TensorProto.INT64, 7), (TensorProto.INT8, 5)])
def test_a_field_in_several_pieces_is_one(tmp_path: Path, element: TensorProto.DataType, field: int) -> None:
    first, second = typed(element, count=3000), typed(element, count=2000)
    whole = TensorProto(name="w", data_type=element, dims=[5000]).SerializeToString()
    for part in (first, second):
        part.ClearField("name")
        part.ClearField("dims")
        part.ClearField("data_type")
        whole += part.SerializeToString()
    tensor = TensorProto()
    tensor.ParseFromString(whole)
    assert whole.count(bytes([field << 3 | 2])) >= 2
    expected = np.concatenate([numpy_helper.to_array(typed(element, count=n)) for n in (3000, 2000)])
    model = model_of(FILL)
    graph = model.graph.SerializeToString() + _field(5, len(whole)) + whole
    model.ClearField("graph")
    path = tmp_path / "m.onnx"
    path.write_bytes(model.SerializeToString() + _field(7, len(graph)) + graph)
    np.testing.assert_array_equal(constants(path)["w"].array(), expected)


@pytest.mark.parametrize(
    ("element", "dims", "values", "message"),
    [
        (TensorProto.FLOAT, [2001], [1.0] * 2000, "tensor<2001xf32> takes 8004 bytes, found 8000"),
        (TensorProto.INT64, [2001], [1] * 2000, "tensor<2001xi64> takes 16008 bytes, found 16000"),
    ],
)
def test_another_number_of_elements_is_refused(
    tmp_path: Path, element: TensorProto.DataType, dims: Sequence[int], values: Sequence[float], message: str
) -> None:
    tensor = helper.make_tensor("w", element, [len(values)], values)
    tensor.dims[:] = dims
    _, diagnostics = read(saved(tmp_path, model_of(tensor, FILL)), DIALECTS)
    assert [d.message for d in diagnostics] == [message]


@pytest.mark.parametrize("count", [1, 2000])
@pytest.mark.parametrize(
    ("element", "number"),
    [("UINT8", 300), ("UINT8", -1), ("INT8", 200), ("INT16", -40000), ("UINT16", 70000), ("UINT32", 2**32 + 5)],
)
def test_low_bits_of_integers_out_of_range_count(tmp_path: Path, element: str, number: int, count: int) -> None:
    """As for onnx, with a warning. They are written as they are."""
    tensor = TensorProto(name="w", data_type=TensorProto.DataType.Value(element), dims=[count])
    field = tensor.uint64_data if element == "UINT32" else tensor.int32_data
    field.extend([number, *[number % 100] * (count - 1)])
    model = model_of(tensor, FILL)
    model.graph.node.append(helper.make_node("Constant", [], ["c"], value=tensor))
    path = saved(tmp_path, model)
    module, diagnostics = read(path, DIALECTS)
    assert module is not None
    assert onnx.ModelProto.FromString(dumps(module)) == model
    diagnostic, _ = [d for d in diagnostics if d.code.id == "W0205"]
    name = "uint64_data" if element == "UINT32" else "int32_data"
    assert diagnostic.message.startswith(f"an element of '{name}' is not of type ")
    assert not [d for d in diagnostics if d.is_error]
    (data,) = [op.value for op in module.walk() if isinstance(op, dialect.Initializer) and op.output.name == "w"]
    np.testing.assert_array_equal(data.array(), numpy_helper.to_array(tensor))


@pytest.mark.parametrize("count", [1, 2000])
def test_bits_that_no_float_has_are_refused(tmp_path: Path, count: int) -> None:
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT16, dims=[count])
    tensor.int32_data.extend([70000] * count)
    _, diagnostics = read(saved(tmp_path, model_of(tensor, FILL)), DIALECTS)
    assert [d.message for d in diagnostics] == ["an element of 'int32_data' is not of type f16"]


def test_numbers_in_the_field_of_another_type_are_refused(tmp_path: Path) -> None:
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[2000])
    tensor.int64_data.extend([1] * 2000)
    _, diagnostics = read(saved(tmp_path, model_of(tensor, FILL)), DIALECTS)
    assert [d.message for d in diagnostics] == ["tensor<2000xf32> takes 8000 bytes, found 0"]


def test_a_model_above_the_limit_of_messages_may_have_typed_fields(tmp_path: Path) -> None:
    # A hole in the file takes no space on disk: 2.5 GiB of zeros in one field of a type, integers before it.
    count = 5 * 2**27
    integers = typed(TensorProto.INT64, "small", 5000)
    tensor_head = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[count]).SerializeToString()
    numbers = _field(4, count * 4)
    weight = _field(5, len(tensor_head) + len(numbers) + count * 4) + tensor_head + numbers
    model = model_of(integers)
    graph = model.graph.SerializeToString()
    model.ClearField("graph")
    head = model.SerializeToString() + _field(7, len(graph) + len(weight) + count * 4) + graph + weight
    path = tmp_path / "huge.onnx"
    with path.open("wb") as stream:
        stream.write(head)
        stream.truncate(len(head) + count * 4)
    stored = constants(path)
    assert (stored["w"].shape, bytes(stored["w"].buffer()[-4:])) == ((count,), b"\0\0\0\0")
    np.testing.assert_array_equal(stored["small"].array(), numpy_helper.to_array(integers))


def _field(number: int, length: int) -> bytes:
    """The start of a field of some bytes."""
    out = bytes([number << 3 | 2])
    while length > 127:
        out, length = out + bytes([length & 127 | 128]), length >> 7
    return out + bytes([length])
