from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import commonir as cir
from commonir import api
from commonir.base.diagnostics import DiagnosticError, Diagnostics
from commonir.base.limits import DEFAULT_LIMITS
from commonir.dialects import common_ir, onnx
from commonir.formats.common_ir.document import document_of
from commonir.formats.common_ir.read import read
from commonir.formats.common_ir.sidecar import ALIGNMENT_BYTES, plan
from commonir.formats.common_ir.write import INLINE_BYTES, dumps
from commonir.formats.onnx.messages import LibraryProto, ModelProto
from commonir.formats.onnx.write import dumps as onnx_bytes
from commonir.ir.attributes import DictionaryAttr, IntegerAttr, StringAttr
from commonir.ir.data import ArrayData, Data, InlineData, TextData
from commonir.ir.module import Module
from commonir.ir.operation import Block, Region
from commonir.ir.types import (
    ELEMENT_TYPES,
    ElementType,
    complex64,
    complex128,
    f4e2m1fn,
    f8e4m3fn,
    f32,
    handle,
    i4,
    string,
    tensor,
)
from commonir.ods import Dialects

from tests.oracles import oracle

EXAMPLES = Path(__file__).parents[3] / "examples" / "common_ir"
FILES = [*sorted(EXAMPLES.glob("*.cir.json")), *sorted((EXAMPLES / "libraries").glob("*.cir.json"))]


def program(*weights: tuple[str, Data]) -> Module:
    """A graph that returns its weights."""
    block = Block()
    for name, data in weights:
        block.append(onnx.Initializer(data)).output.name = name
    block.append(onnx.Return(tuple([op.results[0] for op in block.operations])))
    module = Module(entry="g")
    opsets = DictionaryAttr((("", IntegerAttr(25)),))
    graph = module.body.append(common_ir.Graph("g", opsets, Region([block])))
    graph.set_extra(onnx.DOC_STRING, StringAttr("Returns weights."))
    return module


def inline(element: ElementType, count: int) -> Data:
    content = bytes(n % 251 for n in range(element.size_bytes(count)))
    return InlineData(tensor(element, count), bytes(b % 2 for b in content) if element.kind == "bool" else content)


def message_of(path: Path) -> ModelProto | LibraryProto:
    diagnostics = Diagnostics()
    document = document_of(memoryview(path.read_bytes()), DEFAULT_LIMITS, str(path), diagnostics)
    message = document.model or document.library
    assert message is not None
    return message


# -- round trips


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
@pytest.mark.parametrize("is_json", [False, True], ids=["binary", "json"])
def test_messages_are_equal_after_a_round_trip(path: Path, is_json: bool, tmp_path: Path) -> None:
    module, diagnostics = read(path, Dialects())
    assert module is not None
    assert [str(d) for d in diagnostics] == []
    copy = tmp_path / f"copy.cir{'.json' if is_json else ''}"
    cir.save(module, copy)
    before, after = message_of(path), message_of(copy)
    if path.name == "weights.cir.json":
        # The weights lie in a file of another name.
        for message in (before, after):
            for initializer in message.graph.initializer:  # pyright: ignore[reportAttributeAccessIssue]  it is a model
                initializer.ClearField("external_data")
    assert before == after


@pytest.mark.slow_cases("*-core", "*-mil", "*-onnx")
@pytest.mark.parametrize("dialect", ["builtin", "common_ir", "core", "mil", "ml_program", "onnx"])
@pytest.mark.parametrize("suffix", [".cir", ".cir.json"])
def test_a_dialect_is_a_library_that_reads_back_and_verifies(dialect: str, suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"{dialect}{suffix}"
    cir.save(api.library(dialect), path, format="common_ir")
    module, diagnostics = api.check(path)
    assert [str(d) for d in diagnostics if d.is_error] == []
    assert module is not None
    (library,) = [op for op in module.body.operations if isinstance(op, common_ir.Library)]
    assert library.sym_name == f"org.commonir.{dialect}"
    declared = [op.sym_name for op in library.body.operations if isinstance(op, common_ir.OperatorDeclaration)]
    known = Dialects().get(dialect)
    assert known is not None
    assert len(declared) == len(known.operations)
    copy = tmp_path / f"copy{suffix}"
    cir.save(module, copy)
    assert copy.read_bytes() == path.read_bytes()


def test_a_library_says_what_a_definition_says(tmp_path: Path) -> None:
    path = tmp_path / "core.cir"
    cir.save(api.library("core"), path, format="common_ir")
    (softmax,) = [
        op
        for op in cir.load(path).nested()
        if isinstance(op, common_ir.OperatorDeclaration) and op.sym_name == "softmax"
    ]
    (signature,) = softmax.declaration.signatures
    assert [str(p) for p in (*signature.inputs, *signature.outputs)] == ["x: T[s*]", "y: T[s*]"]
    assert [str(a) for a in signature.attributes] == ["axis: i64[]"]
    assert softmax.declaration.doc


def test_a_graph_without_extensions_is_plain_onnx(tmp_path: Path) -> None:
    module = cir.load(EXAMPLES / "plain_onnx.cir.json")
    plain = api.convert(module, "onnx")
    assert dumps(module) == onnx_bytes(plain)
    model = oracle("onnx").load_model_from_string(dumps(module))
    oracle("onnx").checker.check_model(model, full_check=True)


def test_readers_of_onnx_skip_what_they_do_not_know() -> None:
    content = dumps(cir.load(EXAMPLES / "functions.cir.json"))
    model = oracle("onnx").load_model_from_string(content)
    assert [node.op_type for node in model.graph.node] == ["Scaled", "Scaled"]
    assert model.domain == "com.example"


# -- weights


SIDECAR_TYPES = [e for e in ELEMENT_TYPES.values() if e.bits and e.name not in ("ui1", "ui3", "ui6", "!builtin.handle")]


@pytest.mark.parametrize("element", SIDECAR_TYPES, ids=str)
@pytest.mark.parametrize("suffix", [".cir", ".cir.json"])
def test_weights_of_every_type_come_back(element: ElementType, suffix: str, tmp_path: Path) -> None:
    data = inline(element, 8 * INLINE_BYTES)
    small = inline(element, 3)
    path = tmp_path / f"m{suffix}"
    files = cir.save(program(("w", data), ("small", small)), path)
    assert [Path(f.path).name for f in files] == [path.name, "m.safetensors"]
    result = {op.output.name: op.value for op in cir.load(path).nested() if isinstance(op, onnx.Initializer)}
    assert result["w"].type is data.type
    assert bytes(result["w"].buffer()) == bytes(data.buffer())
    assert bytes(result["small"].buffer()) == bytes(small.buffer())


def test_small_weights_and_texts_are_in_the_graph(tmp_path: Path) -> None:
    texts = TextData(tensor(string, 2000), ["longer"] * 2000)
    at_limit = inline(f32, INLINE_BYTES // 4)
    files = cir.save(program(("t", texts), ("w", at_limit)), tmp_path / "m.cir")
    assert [Path(f.path).name for f in files] == ["m.cir"]


def test_the_sidecar_is_a_safetensors_file(tmp_path: Path) -> None:
    wide = ArrayData(tensor(complex128, 100), np.arange(100) * (1 + 2j))
    narrow = ArrayData(tensor(complex64, 300), (np.arange(300) * (2 - 1j)).astype(np.complex64))
    numbers = ArrayData(tensor(f32, 19, 17), np.arange(323, dtype=np.float32).reshape(19, 17))
    packed = inline(i4, 4000)
    tiny = inline(f4e2m1fn, 4001)
    eighth = inline(f8e4m3fn, 1025)
    inputs: dict[str, Data] = {
        "wide": wide,
        "numbers": numbers,
        "packed": packed,
        "tiny": tiny,
        "narrow": narrow,
        "eighth": eighth,
    }
    cir.save(program(*inputs.items()), tmp_path / "m.cir")
    safe_open = oracle("safetensors").safe_open
    with safe_open(tmp_path / "m.safetensors", framework="np") as stored:
        names = {n for n in stored.keys() if not n.startswith("__padding")}  # noqa: SIM118  it is not a mapping
        assert names == inputs.keys()
        np.testing.assert_array_equal(stored.get_tensor("numbers"), numbers.array())
        np.testing.assert_array_equal(stored.get_tensor("wide").view(np.complex128)[:, 0], wide.array())
        np.testing.assert_array_equal(stored.get_tensor("narrow"), narrow.array())
        assert stored.get_tensor("packed").tobytes() == bytes(packed.buffer())
        assert stored.get_tensor("tiny").tobytes() == bytes(tiny.buffer())
        assert stored.get_slice("eighth").get_dtype() == "F8_E4M3"


def test_weights_that_an_older_output_left_are_replaced(tmp_path: Path) -> None:
    """A graph without weights outside leaves those of the graph before it, which name the file."""
    large = program(("w", ArrayData(tensor(f32, 1000), np.arange(1000, dtype=np.float32))))
    small = program(("w", ArrayData(tensor(f32, 2), np.arange(2, dtype=np.float32))))
    for module in (large, small, large, small, large):
        cir.save(module, tmp_path / "m.cir")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.cir", "m.safetensors"]


def test_a_file_whose_name_ends_as_that_of_the_weights_is_not_an_older_output(tmp_path: Path) -> None:
    large = program(("w", ArrayData(tensor(f32, 1000), np.arange(1000, dtype=np.float32))))
    cir.save(large, tmp_path / "ma.cir")
    (tmp_path / "a.cir").write_bytes((tmp_path / "ma.cir").read_bytes())
    (tmp_path / "a.safetensors").write_bytes(b"somebody's")
    cir.save(large, tmp_path / "a.cir")
    assert (tmp_path / "a.safetensors").read_bytes() == b"somebody's"


def test_weights_begin_at_multiples_of_64_bytes() -> None:
    optimized = plan([(f"w{n}", inline(f32, n)) for n in (1, 3, 16, 17, 0, 5)])
    assert [w.offset % ALIGNMENT_BYTES for w in optimized.weights] == [0] * 6
    assert len(optimized.header) % ALIGNMENT_BYTES == 0


def test_a_weight_may_be_called_like_a_filling() -> None:
    optimized = plan([("a", inline(f32, 1)), ("__padding_1__", inline(f32, 1)), ("b", inline(f32, 1))])
    assert optimized.header.count(b'"__padding_1__"') == 1


def test_onnx_reads_the_weights_as_external_data(tmp_path: Path) -> None:
    numbers = ArrayData(tensor(f32, 1000), np.arange(1000, dtype=np.float32))
    path = tmp_path / "m.cir"
    cir.save(program(("w", numbers)), path)
    model = oracle("onnx").load(str(path))
    result: NDArray[np.float32] = oracle("onnx").numpy_helper.to_array(model.graph.initializer[0], str(tmp_path))
    np.testing.assert_array_equal(result, numbers.array())


def test_both_files_are_replaced_or_none(tmp_path: Path) -> None:
    path = tmp_path / "m.cir"
    cir.save(program(("w", inline(f32, 1000))), path)
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    (tmp_path / "m.safetensors").unlink()
    (tmp_path / "m.safetensors").mkdir()
    with pytest.raises(DiagnosticError, match="E0803"):
        cir.save(program(("w", inline(f32, 2000))), path)
    assert path.read_bytes() == before["m.cir"]


def test_a_file_can_be_written_over_the_one_its_weights_are_from(tmp_path: Path) -> None:
    path = tmp_path / "m.cir"
    data = inline(f32, 1000)
    cir.save(program(("w", data)), path)
    cir.save(cir.load(path), path)
    (result,) = [op.value for op in cir.load(path).nested() if isinstance(op, onnx.Initializer)]
    assert bytes(result.buffer()) == bytes(data.buffer())


@pytest.mark.parametrize("name", ["m.cir", "m.cir.json"])
def test_unchanged_weights_stay_where_they_are(tmp_path: Path, name: str) -> None:
    path, notes = tmp_path / name, Diagnostics()
    cir.save(program(("w", inline(f32, 1000))), path)
    before = (tmp_path / "m.safetensors").stat()
    files = cir.save(cir.load(path), path, findings=notes)
    assert [file.path for file in files] == [str(path)]
    after = (tmp_path / "m.safetensors").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert [note.message for note in notes] == ["unchanged weights stay in 'm.safetensors' (4.13 kB)"]


@pytest.mark.parametrize("name", ["m.cir", "m.cir.json"])
def test_weights_that_moved_leave_no_file(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    cir.save(program(("w", inline(f32, 1000))), path)
    cir.save(cir.load(path), path, external_data="other.safetensors")
    assert sorted(p.name for p in tmp_path.iterdir()) == [name, "other.safetensors"]
    (result,) = [op.value for op in cir.load(path).nested() if isinstance(op, onnx.Initializer)]
    assert bytes(result.buffer()) == bytes(inline(f32, 1000).buffer())
    if name == "m.cir":
        cir.save(cir.load(path), path, external_data=False)
        assert [p.name for p in tmp_path.iterdir()] == [name]


def test_weights_of_another_graph_stay(tmp_path: Path) -> None:
    path = tmp_path / "m.cir"
    cir.save(program(("w", inline(f32, 1000))), path)
    (tmp_path / "other.cir").write_bytes(path.read_bytes())
    cir.save(cir.load(path), path, external_data=False)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.cir", "m.safetensors", "other.cir"]


@pytest.mark.parametrize(("where", "code"), [("each", "E0801"), ("../w.safetensors", "E0301")])
def test_places_that_the_format_lacks_are_refused(tmp_path: Path, where: str, code: str) -> None:
    with pytest.raises(DiagnosticError, match=code):
        cir.save(program(("w", inline(f32, 1000))), tmp_path / "m.cir", external_data=where)
    assert list(tmp_path.iterdir()) == []


def test_a_threshold_says_which_weights_are_outside(tmp_path: Path) -> None:
    cir.save(program(("w", inline(f32, 1000))), tmp_path / "m.cir", external_threshold=4001)
    assert [p.name for p in tmp_path.iterdir()] == ["m.cir"]


def test_all_weights_are_in_the_graph_on_request(tmp_path: Path) -> None:
    data = inline(f32, 5000)
    (file,) = cir.save(program(("w", data)), tmp_path / "m.cir", external_data=False)
    assert file.size_bytes > data.size_bytes
    module = cir.loads((tmp_path / "m.cir").read_bytes(), format="common_ir")
    (result,) = [op.value for op in module.nested() if isinstance(op, onnx.Initializer)]
    assert bytes(result.buffer()) == bytes(data.buffer())
    assert cir.dumps(module) == (tmp_path / "m.cir").read_bytes()


def test_bytes_import_nothing_that_lies_elsewhere() -> None:
    content = (EXAMPLES / "imports.cir.json").read_bytes()
    with pytest.raises(DiagnosticError, match=r"the library 'libraries/layers.cir.json' is not found"):
        cir.loads(content, format="common_ir")
    assert cir.loads((EXAMPLES / "bundled.cir.json").read_text(), format="common_ir").outputs[0].name == "y"


@pytest.mark.parametrize("location", ["../w.bin", "/etc/passwd", "link.bin"])
def test_weights_outside_of_the_folder_are_refused(location: str, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "w.bin").write_bytes(bytes(8))
    (folder / "link.bin").symlink_to(tmp_path / "w.bin")
    external = [{"key": "location", "value": location}]
    tensor_of_two = {"name": "w", "dims": [2], "data_type": "FLOAT", "external_data": external, "data_location": 1}
    graph = {"name": "g", "initializer": [tensor_of_two], "output": [{"name": "w"}]}
    path = folder / "m.cir.json"
    path.write_text(json.dumps({"ModelProto": {"ir_version": 10, "graph": graph}}))
    with pytest.raises(DiagnosticError, match="E0301"):
        cir.load(path)
    (folder / "w.bin").write_bytes(np.array([1, 2], np.float32).tobytes())
    path.write_text(path.read_text().replace(json.dumps(location), '"w.bin"'))
    (result,) = [op.value for op in cir.load(path).nested() if isinstance(op, onnx.Initializer)]
    assert result.values() == (1, 2)


# -- what cannot be written


def test_a_type_without_an_encoding_is_reported() -> None:
    block = Block([tensor(handle, 3)], ["x"])
    block.append(onnx.Return((block.arguments[0],)))
    module = Module()
    module.body.append(common_ir.Graph("g", DictionaryAttr(()), Region([block])))
    with pytest.raises(DiagnosticError, match="E0806"):
        dumps(module)


def test_a_library_file_holds_one_library() -> None:
    with pytest.raises(DiagnosticError, match="found 0 libraries and no graph"):
        dumps(Module())


def test_a_file_of_weights_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    theirs = tmp_path / "m.safetensors"
    theirs.write_bytes(b"the weights of another model")
    data = inline(f32, 1000)
    for _ in range(2):
        files = cir.save(program(("w", data)), tmp_path / "m.cir")
        assert [Path(f.path).name for f in files] == ["m.cir", "m.cir.safetensors"]
    assert theirs.read_bytes() == b"the weights of another model"
    (result,) = [op.value for op in cir.load(tmp_path / "m.cir").nested() if isinstance(op, onnx.Initializer)]
    assert bytes(result.buffer()) == bytes(data.buffer())


def test_both_forms_of_a_graph_beside_each_other_keep_their_weights(tmp_path: Path) -> None:
    for suffix, count in ((".cir", 1000), (".cir.json", 2000)):
        cir.save(program(("w", inline(f32, count))), tmp_path / f"m{suffix}")
    for suffix, count in ((".cir", 1000), (".cir.json", 2000)):
        module = cir.load(tmp_path / f"m{suffix}")
        (result,) = [op.value for op in module.nested() if isinstance(op, onnx.Initializer)]
        assert bytes(result.buffer()) == bytes(inline(f32, count).buffer())


def test_weights_go_over_no_file_that_another_output_may_need(tmp_path: Path) -> None:
    for name in ("m.safetensors", "m.cir.safetensors"):
        (tmp_path / name).write_bytes(b"x")
    with pytest.raises(DiagnosticError, match=r"E0803.*not that of an older output"):
        cir.save(program(("w", inline(f32, 1000))), tmp_path / "m.cir")
    assert not (tmp_path / "m.cir").exists()
    # What has no weights to put there stands in no one's way.
    cir.save(program(("w", inline(f32, 2))), tmp_path / "m.cir")
    assert [(tmp_path / n).read_bytes() for n in ("m.safetensors", "m.cir.safetensors")] == [b"x", b"x"]
