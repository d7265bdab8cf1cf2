from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import onnx
import onnx.checker
import onnx.numpy_helper
import pytest

from commonir.base.diagnostics import DiagnosticError
from commonir.conversions.core_to_onnx import core_to_onnx
from commonir.dialects import core
from commonir.dialects import onnx as dialect
from commonir.formats.format import WriteOptions
from commonir.formats.onnx.write import dumps, write
from commonir.ir.attributes import DictionaryAttr, IntegerAttr, StringAttr
from commonir.ir.data import Data, FileData, InlineData, MappedFile, data_of
from commonir.ir.interface import Metadata, set_metadata
from commonir.ir.module import Module
from commonir.ir.operation import Block, Region, Value
from commonir.ir.origins import Location
from commonir.ir.types import TensorType, boolean, f32, i64, string, tensor
from commonir.ods import operations_behind
from commonir.symbolic import symbol

from tests.conversions.programs import core_module

Build = Callable[[Block], tuple[Value, ...]]


def _module(block: Block, outputs: tuple[Value, ...], opset: int = 18) -> Module:
    block.append(dialect.Return(outputs))
    module = Module()
    module.set_extra(dialect.PRODUCER_NAME, StringAttr("commonir"))
    imports = DictionaryAttr((("", IntegerAttr(opset)),))
    module.body.append(dialect.Graph("g", imports, Region([block])))
    return module


def _weight(block: Block, data: Data, name: str) -> Value:
    new_op = block.append(dialect.Initializer(data))
    new_op.output.name = name
    return new_op.output


def _add(block: Block, a: Value, b: Value, name: str = "") -> Value:
    new_op = block.append(dialect.Add(a, b))
    new_op.C.name = name
    return new_op.C


def _floats(values: list[float]) -> Data:
    return data_of(f32, (len(values),), values)


def _small() -> Module:
    block = Block([tensor(f32, symbol("batch size"), 3)], ["x"])
    w = _weight(block, _floats([1.0, 2.0, 3.0]), "w")
    return _module(block, (_add(block, block.arguments[0], w, "y"),))


def test_what_the_author_says_is_in_the_model() -> None:
    module = _small()
    set_metadata(module, Metadata("adds", "2", "somebody", "Apache-2.0", (("trained on", "numbers"), ("note", ""))))
    model = onnx.load_from_string(dumps(module))
    onnx.checker.check_model(model, full_check=True)
    assert model.doc_string == "adds"
    assert [(p.key, p.value) for p in model.metadata_props] == [
        ("author", "somebody"),
        ("license", "Apache-2.0"),
        ("version", "2"),
        ("trained on", "numbers"),
        ("note", ""),
    ]


def _file_weight(folder: Path, count: int) -> FileData:
    path = folder / "weight.bin"
    np.arange(count, dtype=np.float32).tofile(path)
    return FileData(tensor(f32, count), MappedFile(str(path), count * 4), 0)


def test_written_model_has_the_names_types_and_weights_of_the_module() -> None:
    model = onnx.load_from_string(dumps(_small()))
    onnx.checker.check_model(model, full_check=True)
    assert (model.ir_version, model.opset_import[0].version, model.producer_name) == (8, 18, "commonir")
    assert [(n.op_type, list(n.input), list(n.output)) for n in model.graph.node] == [("Add", ["x", "w"], ["y"])]
    assert model.graph.input[0].type.tensor_type.shape.dim[0].dim_param == "batch size"
    np.testing.assert_array_equal(onnx.numpy_helper.to_array(model.graph.initializer[0]), [1, 2, 3])


def test_expression_of_symbols_is_written_as_text() -> None:
    n = symbol("n")
    block = Block([tensor(f32, n, 2), tensor(f32, 1, 2)], ["a", "b"])
    new_op = block.append(dialect.Concat((block.arguments[0], block.arguments[1]), axis=0))
    new_op.concat_result.name = "c"
    model = onnx.load_from_string(dumps(_module(block, (new_op.concat_result,))))
    assert model.graph.output[0].type.tensor_type.shape.dim[0].dim_param == "n + 1"


def test_absent_optional_operands_are_empty_names() -> None:
    block = Block([tensor(f32, 1, 1, 2, 2)], ["x"])
    sizes = _weight(block, data_of(i64, (4,), (1, 1, 4, 4)), "sizes")
    new_op = block.append(dialect.Resize(block.arguments[0], None, None, sizes))
    new_op.Y.name = "y"
    model = onnx.load_from_string(dumps(_module(block, (new_op.Y,))))
    assert list(model.graph.node[0].input) == ["x", "", "", "sizes"]


def test_only_attributes_that_differ_from_the_default_are_written() -> None:
    block = Block([tensor(f32, 2, 2)], ["x"])
    new_op = block.append(dialect.Softmax(block.arguments[0], axis=0))
    same = block.append(dialect.Softmax(new_op.output, axis=-1))
    same.output.name = "y"
    first, second = onnx.load_from_string(dumps(_module(block, (same.output,)))).graph.node
    assert [(a.name, a.i) for a in first.attribute] == [("axis", 0)]
    assert not second.attribute


def test_nameless_and_repeated_names_become_unique_and_outputs_keep_theirs() -> None:
    block = Block([tensor(f32, 3)], ["x"])
    x = block.arguments[0]
    first = _add(block, x, x, "y")
    second = _add(block, first, first)
    last = _add(block, second, second, "y")
    model = onnx.load_from_string(dumps(_module(block, (last,))))
    assert [list(n.output) for n in model.graph.node] == [["y_1"], ["add"], ["y"]]
    onnx.checker.check_model(model, full_check=True)


def test_operation_name_is_the_name_of_its_location() -> None:
    block = Block([tensor(f32, 3)], ["x"])
    new_op = block.append(dialect.Relu(block.arguments[0]))
    new_op.location = Location(name="relu_7")
    new_op.Y.name = "y"
    model = onnx.load_from_string(dumps(_module(block, (new_op.Y,))))
    assert model.graph.node[0].name == "relu_7"


def test_operations_made_of_one_get_names_that_differ() -> None:
    block = Block([tensor(f32, 3)], ["x"])
    first = block.append(dialect.Sigmoid(block.arguments[0]))
    second = block.append(dialect.Mul(block.arguments[0], first.Y))
    first.location = second.location = Location(name="silu")
    first.Y.name, second.C.name = "gate", "y"
    model = onnx.load_from_string(dumps(_module(block, (second.C,))))
    assert [node.name for node in model.graph.node] == ["silu", "silu_1"]


def test_nested_graph_is_an_attribute_and_sees_outer_values() -> None:
    block = Block([tensor(boolean), tensor(f32, 3)], ["c", "x"])
    c, x = block.arguments

    def branch(label: str) -> Region:
        inner = Block(label=label)
        w = _weight(inner, _floats([1.0, 2.0, 3.0]), "w")
        inner.append(dialect.Return((_add(inner, x, w, "r"),)))
        return Region([inner])

    new_op = block.append(dialect.If(cond=c, then_branch=branch("then"), else_branch=branch("else")))
    new_op.outputs[0].name = "y"
    model = onnx.load_from_string(dumps(_module(block, new_op.outputs)))
    onnx.checker.check_model(model, full_check=True)
    graphs = {a.name: a.g for a in model.graph.node[0].attribute}
    assert {name: g.name for name, g in graphs.items()} == {"then_branch": "then", "else_branch": "else"}
    assert list(graphs["then_branch"].node[0].input) == ["x", "w"]
    np.testing.assert_array_equal(onnx.numpy_helper.to_array(graphs["else_branch"].initializer[0]), [1, 2, 3])


def test_strings_are_written_as_string_data() -> None:
    block = Block([], [])
    w = _weight(block, data_of(string, (2,), ("a", "ü")), "w")
    new_op = block.append(dialect.Identity(w))
    new_op.output.name = "y"
    model = onnx.load_from_string(dumps(_module(block, (new_op.output,))))
    assert list(model.graph.initializer[0].string_data) == [b"a", "ü".encode()]


@pytest.mark.parametrize("external", [False, True])
def test_weights_in_a_file_are_copied(tmp_path: Path, external: bool) -> None:
    data = _file_weight(tmp_path, 5000)
    block = Block([tensor(f32, 5000)], ["x"])
    w = _weight(block, data, "w")
    v = _weight(block, data_of(f32, (300,), [0.5] * 300), "v")
    new_op = block.append(dialect.Identity(v))
    new_op.output.name = "z"
    module = _module(block, (_add(block, block.arguments[0], w, "y"), new_op.output))
    path = tmp_path / "m.onnx"
    write(module, path, WriteOptions(external_data=external))
    onnx.checker.check_model(str(path), full_check=True)
    model = onnx.load(path)
    read = {t.name: onnx.numpy_helper.to_array(t) for t in model.graph.initializer}
    np.testing.assert_array_equal(read["w"], np.arange(5000, dtype=np.float32))
    np.testing.assert_array_equal(read["v"], [0.5] * 300)
    assert (tmp_path / "m.onnx.data").exists() == external


def test_external_offsets_are_aligned(tmp_path: Path) -> None:
    block = Block([], [])
    small = _weight(block, data_of(f32, (301,), [1.0] * 301), "small")
    large = _weight(block, _file_weight(tmp_path, 20000), "large")
    new_op = [block.append(dialect.Identity(v)) for v in (small, large)]
    module = _module(block, tuple(m.output for m in new_op))
    path = tmp_path / "m.onnx"
    write(module, path, WriteOptions(external_data=True))
    model = onnx.load(path, load_external_data=False)
    entries = {t.name: {e.key: e.value for e in t.external_data} for t in model.graph.initializer}
    assert entries == {
        "small": {"location": "m.onnx.data", "offset": "0", "length": "1204"},
        "large": {"location": "m.onnx.data", "offset": "4096", "length": "80000"},
    }


class _Failing(Data):
    """Contents that cannot be had."""

    def buffer(self) -> memoryview:
        raise KeyboardInterrupt


@pytest.mark.parametrize("external", [False, True])
def test_interrupted_write_leaves_the_old_model_and_its_data(tmp_path: Path, external: bool) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(b"old model")
    (tmp_path / "m.onnx.data").write_bytes(b"old data")
    block = Block([], [])
    w = _weight(block, _floats([1.0] * 1000), "w")
    v = _weight(block, _Failing(tensor(f32, 1000)), "v")
    new_op = [block.append(dialect.Identity(u)) for u in (w, v)]
    module = _module(block, tuple(m.output for m in new_op))
    with pytest.raises(KeyboardInterrupt):
        write(module, path, WriteOptions(external_data=external))
    assert sorted(os.listdir(tmp_path)) == ["m.onnx", "m.onnx.data"]
    assert path.read_bytes() == b"old model"
    assert (tmp_path / "m.onnx.data").read_bytes() == b"old data"


def test_failed_second_rename_puts_the_first_file_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(b"old model")
    (tmp_path / "m.onnx.data").write_bytes(b"old data")
    replace = Path.replace

    def failing(self: Path, target: Path) -> Path:
        if Path(target).name == "m.onnx":
            raise PermissionError(13, "no")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", failing)
    block = Block([], [])
    w = _weight(block, _floats([1.0] * 1000), "w")
    new_op = block.append(dialect.Identity(w))
    with pytest.raises(DiagnosticError) as caught:
        write(_module(block, (new_op.output,)), path, WriteOptions(external_data=True))
    assert [d.code.id for d in caught.value.diagnostics] == ["E0801"]
    assert path.read_bytes() == b"old model"
    assert (tmp_path / "m.onnx.data").read_bytes() == b"old data"


class _Huge(InlineData):
    """Claims a size without having it."""

    def __init__(self, count: int) -> None:
        Data.__init__(self, TensorType(f32, (count,)))


def test_message_of_two_gibibytes_is_refused_with_the_remedy() -> None:
    block = Block([], [])
    w = _weight(block, _Huge(2**29), "w")
    new_op = block.append(dialect.Identity(w))
    with pytest.raises(DiagnosticError) as caught:
        dumps(_module(block, (new_op.output,)))
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code.id == "E0805"
    assert diagnostic.help == "write it to a file with external data"


def test_what_is_not_of_the_format_is_refused_all_at_once() -> None:
    block = Block([tensor(f32, 3)], ["x"])
    first = block.append(core.Relu(block.arguments[0]))
    second = block.append(core.Exp(first.y))
    with pytest.raises(DiagnosticError) as caught:
        dumps(_module(block, (second.y,)))
    assert [d.message for d in caught.value.diagnostics] == [
        "core.relu is not an operator of ONNX",
        "core.exp is not an operator of ONNX",
    ]
    assert {d.code.id for d in caught.value.diagnostics} == {"E0806"}


_LARGE = """
import resource, sys
from pathlib import Path
sys.path[:0] = {path!r}
from tests.formats.onnx.test_write import large_module
from commonir.formats.format import WriteOptions
from commonir.formats.onnx.write import write
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
write(large_module(Path({folder!r})), {folder!r} + "/m.onnx", WriteOptions(external_data={external!r}))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def large_module(folder: Path) -> Module:
    """A model of 128 MiB of weights, in a file of zeros that takes no room."""
    path = folder / "large.bin"
    count = 2**25
    with path.open("wb") as stream:
        stream.truncate(count * 4)
    block = Block([], [])
    data = FileData(tensor(f32, count), MappedFile(str(path), count * 4), 0)
    new_op = block.append(dialect.Identity(_weight(block, data, "w")))
    return _module(block, (new_op.output,))


@pytest.mark.slow
@pytest.mark.parametrize("external", [False, True])
def test_writing_takes_little_memory_whatever_the_weights(tmp_path: Path, external: bool) -> None:
    program = _LARGE.format(path=sys.path, folder=str(tmp_path), external=external)
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    unit = 1 if sys.platform == "darwin" else 1024
    assert int(done.stdout) * unit < 64 * 2**20


@pytest.mark.parametrize("depth", [31, 32])
def test_graphs_nest_as_deep_as_readers_of_protobuf_allow(depth: int) -> None:
    def nested(condition: Value, x: Value) -> Sequence[Value]:
        values: Sequence[Value] = (x,)
        for _ in range(depth):
            values = core.if_(condition, _yielding(values), _yielding((core.neg(x),)))
        return values

    result = core_to_onnx(core_module(nested, {"c": tensor(boolean), "x": tensor(f32, 2)}))
    if depth == 31:
        onnx.load_from_string(dumps(result))
        return
    with pytest.raises(DiagnosticError) as caught:
        dumps(result)
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.code.id, diagnostic.help) == ("E0806", "unroll inner loops or branches")
    assert diagnostic.message == "graphs are nested more than 31 deep, which readers of ONNX refuse"


def _yielding(values: Sequence[Value]) -> Region:
    block = Block(())
    for op in operations_behind(values):
        block.append(op)
    block.append(core.Yield(tuple(values)))
    return Region([block])
