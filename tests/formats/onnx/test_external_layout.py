"""Weights in files beside a model stay there when the model is written again. The onnx package and onnxruntime, which
refuse what does not fit, are the oracle of every layout."""

from __future__ import annotations

import contextlib
import hashlib
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper
from onnx.external_data_helper import (
    _get_all_tensors,
    uses_external_data,
)

import commonir as cir
from commonir.base import copying, linked_files
from commonir.base.diagnostics import DiagnosticError, Diagnostics
from commonir.formats.onnx import external_layout
from commonir.formats.onnx import write as onnx_write

onnxruntime = pytest.importorskip("onnxruntime")

_SIDE = 32
"""Weights are squares of this side: 4096 bytes."""


def _weights(count: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(count)
    return {f"w/{n}": rng.standard_normal((_SIDE, _SIDE)).astype(np.float32) for n in range(count)}


def _model(count: int = 3, *, nested: bool = False) -> ModelProto:
    """Products of the input with weights, and a sum with a small bias; `nested` weights are in a branch and a node."""
    nodes, last = [], "x"
    for n in range(count):
        nodes.append(helper.make_node("MatMul", [last, f"w/{n}"], [f"h{n}"], f"/mm{n}"))
        last = f"h{n}"
    if nested:
        inner = numpy_helper.from_array(np.full((_SIDE, _SIDE), 2, np.float32), "inner")
        branch = helper.make_graph(
            [helper.make_node("MatMul", [last, "inner"], ["then"])],
            "branch",
            [],
            [helper.make_tensor_value_info("then", 1, None)],
            [inner],
        )
        other = helper.make_graph(
            [helper.make_node("Identity", [last], ["else"])],
            "other",
            [],
            [helper.make_tensor_value_info("else", 1, None)],
        )
        table = numpy_helper.from_array(np.ones((_SIDE, _SIDE), np.float32), "table")
        true = numpy_helper.from_array(np.array(True), "true")
        nodes += [
            helper.make_node("Constant", [], ["condition"], value=true),
            helper.make_node("If", ["condition"], ["chosen"], then_branch=branch, else_branch=other),
            helper.make_node("Constant", [], ["constant"], value=table),
            helper.make_node("MatMul", ["chosen", "constant"], ["last"]),
        ]
        last = "last"
    nodes.append(helper.make_node("Add", [last, "bias"], ["y"]))
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", _SIDE])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", _SIDE])],
        [numpy_helper.from_array(v, k) for k, v in _weights(count).items()]
        + [numpy_helper.from_array(np.ones(_SIDE, np.float32), "bias")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def _saved(folder: Path, layout: str, name: str = "m.onnx", *, nested: bool = False) -> Path:
    """A model as the onnx package saves it."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    one = layout != "each"
    onnx.save(
        _model(nested=nested),
        path,
        save_as_external_data=True,
        all_tensors_to_one_file=one,
        location=layout if one else None,
        convert_attribute=nested,
    )
    return path


def _names(folder: Path) -> list[str]:
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


def _message(path: Path) -> ModelProto:
    return onnx.load(path, load_external_data=False)


def _locations(path: Path) -> dict[str, tuple[str, int]]:
    """Location and offset of each external initializer."""
    out: dict[str, tuple[str, int]] = {}
    for tensor in _message(path).graph.initializer:
        entries = {e.key: e.value for e in tensor.external_data}
        if entries:
            out[tensor.name] = entries["location"], int(entries.get("offset", 0))
    return out


def _same(path: Path, expected: ModelProto, renamed: str = "x") -> None:
    """Checks a written model: by onnx's checker, its weights, and a run with onnxruntime."""
    onnx.checker.check_model(str(path), full_check=True)
    found = {t.name: numpy_helper.to_array(t) for t in onnx.load(path).graph.initializer}
    for tensor in expected.graph.initializer:
        np.testing.assert_array_equal(found[tensor.name], numpy_helper.to_array(tensor))
    x = np.ones((2, _SIDE), np.float32)
    (result,) = onnxruntime.InferenceSession(str(path)).run(None, {renamed: x})
    (reference,) = onnxruntime.InferenceSession(expected.SerializeToString()).run(None, {"x": x})
    np.testing.assert_array_equal(result, reference)


def _edited(path: Path, to: Path, external_data: bool | str | None = None, threshold: int | None = None) -> Diagnostics:
    notes = Diagnostics()
    module = cir.edit(cir.load(path), rename={"x": "input"})
    cir.save(module, to, external_data=external_data, external_threshold=threshold, findings=notes)
    return notes


def _texts(notes: Iterable[object]) -> list[str]:
    return [str(getattr(note, "message", "")) for note in notes]


@pytest.mark.parametrize("layout", ["m.onnx.data", "weights.bin", "each"])
def test_edit_in_place_keeps_the_data_files(tmp_path: Path, layout: str) -> None:
    path = _saved(tmp_path, layout)
    before = {p.name: (p.stat().st_ino, p.stat().st_mtime_ns) for p in tmp_path.iterdir() if p != path}
    message = _message(path)
    notes = _edited(path, path)
    after = {p.name: (p.stat().st_ino, p.stat().st_mtime_ns) for p in tmp_path.iterdir() if p != path}
    assert after == before
    message.graph.input[0].name = message.graph.node[0].input[0] = "input"
    assert _message(path) == message
    files = "3 files" if layout == "each" else f"'{layout}'"
    assert _texts(notes) == [f"unchanged weights stay in {files} (12.3 kB)"]
    _same(path, _model(), "input")


@pytest.mark.parametrize(
    ("layout", "expected"),
    [("m.onnx.data", ["n.onnx", "n.onnx.data"]), ("m_data", ["n.onnx", "n_data"]), ("w.bin", ["n.onnx", "w.bin"])],
)
def test_a_data_file_beside_another_output_is_copied_whole(tmp_path: Path, layout: str, expected: list[str]) -> None:
    path = _saved(tmp_path / "a", layout)
    (tmp_path / "b").mkdir()
    _edited(path, tmp_path / "b" / "n.onnx")
    assert _names(tmp_path / "b") == expected
    assert (tmp_path / "b" / expected[1]).read_bytes() == (tmp_path / "a" / layout).read_bytes()
    _same(tmp_path / "b" / "n.onnx", _model(), "input")


def test_one_file_for_each_tensor_stays_so(tmp_path: Path) -> None:
    path = _saved(tmp_path / "a", "each")
    (tmp_path / "b").mkdir()
    _edited(path, tmp_path / "b" / "n.onnx")
    assert len(_names(tmp_path / "b")) == 4
    assert len({location for location, _ in _locations(tmp_path / "b" / "n.onnx").values()}) == 3
    _same(tmp_path / "b" / "n.onnx", _model(), "input")


@pytest.mark.parametrize(
    ("where", "threshold", "files", "names"),
    [
        (True, None, ["n.onnx", "n.onnx.data"], 3),
        ("w.bin", None, ["n.onnx", "w.bin"], 3),
        ("data/w.bin", None, ["data/w.bin", "n.onnx"], 3),
        ("each", None, ["n.onnx", "w_0", "w_1", "w_2"], 3),
        (False, None, ["n.onnx"], 0),
        (None, 5000, ["n.onnx"], 0),
        ("w", 1, ["n.onnx", "w"], 4),
    ],
)
@pytest.mark.parametrize("layout", ["m.onnx.data", "each"])
def test_where_weights_are_can_be_chosen(
    tmp_path: Path, layout: str, where: bool | str | None, threshold: int | None, files: list[str], names: int
) -> None:
    path = _saved(tmp_path / "a", layout)
    (tmp_path / "b").mkdir()
    output = tmp_path / "b" / "n.onnx"
    _edited(path, output, where, threshold)
    assert _names(tmp_path / "b") == files
    assert len(_locations(output)) == names
    _same(output, _model(), "input")


@pytest.mark.parametrize("before", ["m.onnx.data", "weights.bin", "each"])
@pytest.mark.parametrize("after", [True, False, "each", "other.bin"])
def test_a_change_of_layout_in_place_leaves_no_old_files(tmp_path: Path, before: str, after: bool | str) -> None:
    path = _saved(tmp_path, before)
    _edited(path, path, external_data=after)
    locations = {location for location, _ in _locations(path).values()}
    assert _names(tmp_path) == sorted({"m.onnx", *locations})
    _same(path, _model(), "input")


def test_a_part_in_place_has_only_its_weights_under_the_same_name(tmp_path: Path) -> None:
    path = _saved(tmp_path, "weights.bin")
    module = cir.load(path)
    cir.save(cir.extract(module, [], ["h0"]), path)
    assert _names(tmp_path) == ["m.onnx", "weights.bin"]
    assert (tmp_path / "weights.bin").read_bytes() == _weights(3)["w/0"].tobytes()
    # The program that was loaded still has all weights.
    x = np.ones((1, _SIDE), np.float32)
    expected: Any
    (expected,) = onnxruntime.InferenceSession(_model().SerializeToString()).run(None, {"x": x})
    actual: Any = cir.run(module, {"x": x})["y"]
    np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-4)


def test_data_that_another_model_refers_to_stays(tmp_path: Path) -> None:
    path = _saved(tmp_path, "weights.bin")
    (tmp_path / "other.onnx").write_bytes(path.read_bytes())
    before = (tmp_path / "weights.bin").read_bytes()
    notes = Diagnostics()
    cir.save(cir.extract(cir.load(path), [], ["h0"]), path, findings=notes)
    assert _names(tmp_path) == ["m.onnx", "m.onnx.data", "other.onnx", "weights.bin"]
    assert (tmp_path / "weights.bin").read_bytes() == before
    assert _texts(notes) == ["'other.onnx' refers to 'weights.bin': the weights are in 'm.onnx.data'"]
    _same(tmp_path / "other.onnx", _model())
    cir.save(cir.load(path), path, external_data=False)
    assert _names(tmp_path) == ["m.onnx", "other.onnx", "weights.bin"]
    with pytest.raises(DiagnosticError, match=r"E0803.*'other.onnx' refers to it"):
        cir.save(cir.load(path), path, external_data="weights.bin", external_threshold=1)


def test_one_note_is_about_many_files(tmp_path: Path) -> None:
    path = _saved(tmp_path, "each")
    notes = _edited(path, tmp_path / "n.onnx")
    (text,) = _texts(notes)
    assert text.startswith("'m.onnx' refers to 3 files: the weights are in '")
    _same(path, _model())
    _same(tmp_path / "n.onnx", _model(), "input")


def test_data_of_a_model_stay_where_a_second_one_asks_for_them(tmp_path: Path) -> None:
    path = _saved(tmp_path, "weights.bin")
    before = (tmp_path / "weights.bin").stat()
    _edited(path, tmp_path / "n.onnx", external_data="weights.bin")
    assert _names(tmp_path) == ["m.onnx", "n.onnx", "weights.bin"]
    assert (tmp_path / "weights.bin").stat().st_mtime_ns == before.st_mtime_ns
    _same(tmp_path / "n.onnx", _model(), "input")
    _same(path, _model())


@pytest.mark.parametrize("text", [b'{"location": "weights.bin"}', b'["location": "weights.bin"]'])
def test_texts_that_name_a_data_file_count(tmp_path: Path, text: bytes) -> None:
    path = _saved(tmp_path, "weights.bin")
    (tmp_path / "other.onnxtxt").write_bytes(text)
    _edited(path, path, external_data=True)
    assert _names(tmp_path) == ["m.onnx", "m.onnx.data", "other.onnxtxt", "weights.bin"]


def test_in_a_folder_of_too_many_files_nothing_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _saved(tmp_path, "weights.bin")
    (tmp_path / "a.onnx").write_bytes(b"\x08\x09")
    monkeypatch.setattr("commonir.formats.onnx.folder_search._MAX_FILES", 0)
    cir.save(cir.extract(cir.load(path), [], ["h0"]), path)
    assert _names(tmp_path) == ["a.onnx", "m.onnx", "m.onnx.data", "weights.bin"]


def test_files_that_are_more_than_data_are_not_removed(tmp_path: Path) -> None:
    path = _saved(tmp_path, "weights.bin")
    with (tmp_path / "weights.bin").open("ab") as stream:
        stream.write(b"a text of the user")
    _edited(path, path, external_data=False)
    assert _names(tmp_path) == ["m.onnx", "weights.bin"]


def test_unrelated_files_are_never_replaced(tmp_path: Path) -> None:
    path = _saved(tmp_path / "a", "weights.bin")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "weights.bin").write_bytes(b"of the user")
    _edited(path, tmp_path / "b" / "n.onnx")
    assert (tmp_path / "b" / "weights.bin").read_bytes() == b"of the user"
    assert _names(tmp_path / "b") == ["n.onnx", "n.onnx.data", "weights.bin"]
    with pytest.raises(DiagnosticError, match="E0803"):
        _edited(path, tmp_path / "b" / "k.onnx", external_data="weights.bin")


@pytest.mark.parametrize(
    ("name", "code"),
    [("../w", "E0301"), ("/tmp/w", "E0301"), ("a/../../w", "E0301"), ("n.onnx", "E0803"), ("N.ONNX", "E0803")],
)
def test_names_outside_of_the_folder_are_refused(tmp_path: Path, name: str, code: str) -> None:
    path = _saved(tmp_path / "a", "weights.bin")
    with pytest.raises(DiagnosticError, match=code):
        _edited(path, tmp_path / "n.onnx", external_data=name)
    assert _names(tmp_path) == ["a/m.onnx", "a/weights.bin"]


def test_folders_that_are_links_are_not_followed(tmp_path: Path) -> None:
    source = _saved(tmp_path / "a", "weights.bin")
    message = _message(source)
    for tensor in message.graph.initializer:
        for entry in tensor.external_data:
            entry.value = entry.value.replace("weights.bin", "sub/weights.bin")
    (tmp_path / "a" / "sub").mkdir()
    (tmp_path / "a" / "weights.bin").rename(tmp_path / "a" / "sub" / "weights.bin")
    source.write_bytes(message.SerializeToString())
    outside, folder = tmp_path / "outside", tmp_path / "b"
    outside.mkdir()
    folder.mkdir()
    secret = (tmp_path / "a" / "sub" / "weights.bin").read_bytes()
    (outside / "weights.bin").write_bytes(secret)
    (folder / "sub").symlink_to(outside)
    # The old output, too, names a file that is outside.
    (folder / "n.onnx").write_bytes(message.SerializeToString())
    _edited(source, folder / "n.onnx")
    assert sorted(os.listdir(folder)) == ["n.onnx", "sub", "weights.bin"]
    assert (outside / "weights.bin").read_bytes() == secret
    _same(folder / "n.onnx", _model(), "input")
    with pytest.raises(DiagnosticError, match="E0301"):
        _edited(source, folder / "n.onnx", "sub/other.bin")
    assert os.listdir(outside) == ["weights.bin"]


def test_names_of_tensors_become_names_of_files_in_the_folder(tmp_path: Path) -> None:
    model = _model(4)
    hostile = ["../../escape", "a/b\\c:d", "A" * 300, "N.ONNX"]
    for old, new in zip(list(_weights(4)), hostile, strict=True):
        for node in model.graph.node:
            node.input[:] = [new if name == old else name for name in node.input]
        next(t for t in model.graph.initializer if t.name == old).name = new
    (tmp_path / "b").mkdir()
    cir.save(cir.loads(model.SerializeToString(), format="onnx"), tmp_path / "b" / "n.onnx", external_data="each")
    assert _names(tmp_path) == sorted(f"b/{n}" for n in ("n.onnx", "escape", "a_b_c_d", "A" * 100, "N.1.ONNX"))
    _same(tmp_path / "b" / "n.onnx", model)


def test_tensors_of_branches_and_nodes_stay_external(tmp_path: Path) -> None:
    path = _saved(tmp_path, "weights.bin", nested=True)
    before = _message(path)
    assert sum(1 for _ in _external_tensors(before)) == 5
    cir.save(cir.load(path), path)
    assert _message(path) == before
    (tmp_path / "b").mkdir()
    cir.save(cir.load(path), tmp_path / "b" / "n.onnx", external_data="each")
    assert len(_names(tmp_path / "b")) == 6
    _same(tmp_path / "b" / "n.onnx", _model(nested=True))
    cir.save(cir.load(path), tmp_path / "b" / "n.onnx", external_data=False)
    assert _names(tmp_path / "b") == ["n.onnx"]
    _same(tmp_path / "b" / "n.onnx", _model(nested=True))


def _external_tensors(model: ModelProto) -> Iterable[TensorProto]:
    return (t for t in _get_all_tensors(model) if uses_external_data(t))


def test_numbers_by_type_beside_external_data_are_written_once(tmp_path: Path) -> None:
    model = _model()
    small = helper.make_tensor("zero_point", TensorProto.UINT8, [], [115])
    model.graph.initializer.append(small)
    path = tmp_path / "m.onnx"
    cir.save(cir.loads(model.SerializeToString(), format="onnx"), path, external_data=True, external_threshold=1024)
    assert [t for t in _message(path).graph.initializer if t.name == small.name] == [small]


def test_tensors_in_one_place_are_written_once(tmp_path: Path) -> None:
    path = _saved(tmp_path, "weights.bin")
    message = _message(path)
    first, second = (t for t in message.graph.initializer if t.name in ("w/0", "w/1"))
    del second.external_data[:]
    second.external_data.extend(first.external_data)
    path.write_bytes(message.SerializeToString())
    cir.save(cir.load(path), tmp_path / "n.onnx", external_data="n.bin", external_threshold=1)
    assert (tmp_path / "n.bin").stat().st_size == 2 * 4 * _SIDE * _SIDE + 4 * _SIDE
    assert _locations(tmp_path / "n.onnx")["w/0"] == _locations(tmp_path / "n.onnx")["w/1"]


def test_checksums_stay_right(tmp_path: Path) -> None:
    path = _saved(tmp_path, "weights.bin")
    message = _message(path)
    content = (tmp_path / "weights.bin").read_bytes()
    for tensor in message.graph.initializer:
        if tensor.external_data:
            tensor.external_data.add(key="checksum", value=hashlib.sha1(content).hexdigest())
    path.write_bytes(message.SerializeToString())
    cir.save(cir.load(path), path)
    assert _message(path) == message
    cir.save(cir.extract(cir.load(path), [], ["h1"]), tmp_path / "n.onnx")
    assert [d for d in cir.check(tmp_path / "n.onnx")[1] if d.is_error] == []
    entries = {e.key: e.value for e in _message(tmp_path / "n.onnx").graph.initializer[0].external_data}
    stored = (tmp_path / entries["location"]).read_bytes()
    assert entries["checksum"] == hashlib.sha1(stored).hexdigest()


@pytest.mark.parametrize(("size_bytes", "unit"), [(64, 64), (2**16, 4096), (2**20, 2**16)])
def test_tensors_begin_where_they_can_be_mapped(size_bytes: int, unit: int) -> None:
    assert external_layout.aligned(1, size_bytes) == unit


def test_more_than_a_message_holds_is_external_with_a_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(external_layout, "AUTO_BYTES", 10_000)
    notes = Diagnostics()
    module = cir.loads(_model().SerializeToString(), format="onnx")
    cir.save(module, tmp_path / "m.onnx", findings=notes)
    assert _names(tmp_path) == ["m.onnx", "m.onnx.data"]
    assert _texts(notes) == ["a message holds less than 2 GiB: 12.4 kB of weights are in files beside it"]
    _same(tmp_path / "m.onnx", _model())


def test_a_model_in_the_cache_of_the_hub_is_replaced_and_its_blobs_are_not(tmp_path: Path) -> None:
    blobs, snapshot = tmp_path / "blobs", tmp_path / "snapshots" / "0123"
    blobs.mkdir()
    snapshot.mkdir(parents=True)
    saved = _saved(tmp_path / "a", "model.onnx_data", "model.onnx")
    for name, blob in (("model.onnx", "aaa"), ("model.onnx_data", "bbb")):
        (blobs / blob).write_bytes((saved.parent / name).read_bytes())
        (snapshot / name).symlink_to(f"../../blobs/{blob}")
    before = {p.name: p.read_bytes() for p in blobs.iterdir()}
    _edited(snapshot / "model.onnx", snapshot / "model.onnx")
    assert {p.name: p.read_bytes() for p in blobs.iterdir()} == before
    _same(snapshot / "model.onnx", _model(), "input")


def _refuse_links(*_: object) -> None:
    raise OSError(95, "no links here")


@pytest.mark.parametrize("module", ["os.link"])
def test_without_links_the_new_name_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    path = _saved(tmp_path, "weights.bin")
    monkeypatch.setattr(linked_files, "clone_file", lambda *_: False)
    monkeypatch.setattr(module, _refuse_links)
    cir.save(cir.extract(cir.load(path), [], ["h0"]), path)
    assert _names(tmp_path) == ["m.onnx", "weights.1.bin"]
    onnx.checker.check_model(str(path), full_check=True)


_CALLS = ("os.link", "os.fsync", "pathlib.Path.replace", "pathlib.Path.rename", "pathlib.Path.unlink")


class _Stopped(BaseException):
    pass


@pytest.mark.parametrize("call", _CALLS)
@pytest.mark.parametrize("error", [OSError(5, "broken"), _Stopped()], ids=["error", "stop"])
def test_a_failure_at_any_step_leaves_a_readable_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, error: BaseException
) -> None:
    for at in range(6):
        path = _saved(tmp_path / str(at), "weights.bin")
        module = cir.extract(cir.load(path), [], ["h0"])
        with monkeypatch.context() as patched:
            patched.setattr(call, _failing(call, at, error))
            with contextlib.suppress(DiagnosticError, _Stopped):
                cir.save(module, path)
        _check_old_or_new(path)


def _check_old_or_new(path: Path) -> None:
    """Checks that a file is the whole model, or the part that replaces it, with the right weights."""
    data = [path.parent / location for location, _ in _locations(path).values()]
    if all(file.stat().st_nlink == 1 for file in data):
        onnx.checker.check_model(str(path), full_check=True)
    (output,) = [v.name for v in _message(path).graph.output]
    x = np.ones((2, _SIDE), np.float32)
    expected = x @ _weights(3)["w/0"]
    if output == "y":
        expected = expected @ _weights(3)["w/1"] @ _weights(3)["w/2"] + 1
    (result,) = onnxruntime.InferenceSession(str(path)).run(None, {"x": x})
    np.testing.assert_allclose(result, expected, rtol=1e-3, atol=1e-3)
    actual: Any = cir.run(cir.load(path), {"x": x})[output]
    np.testing.assert_allclose(actual, expected, rtol=1e-3, atol=1e-3)


def _failing(call: str, at: int, error: BaseException) -> Callable[..., object]:
    real = _resolved(call)
    count = 0

    def fail(*args: object, **options: object) -> object:
        nonlocal count
        count += 1
        if count == at + 1:
            raise error
        return real(*args, **options)

    return fail


def _resolved(name: str) -> Callable[..., object]:
    return getattr(os, name[3:]) if name.startswith("os.") else getattr(Path, name.rpartition(".")[2])


def test_clones_take_no_copying_where_the_file_system_shares_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _saved(tmp_path / "a", "weights.bin")
    (tmp_path / "b").mkdir()

    def clone(src: int, dst: Path) -> bool:
        dst.write_bytes(os.pread(src, os.fstat(src).st_size, 0))
        return True

    monkeypatch.setattr(copying, "clone_file", clone)
    monkeypatch.setattr(copying, "copy_range", None)
    _edited(path, tmp_path / "b" / "n.onnx")
    _same(tmp_path / "b" / "n.onnx", _model(), "input")


def _save_two_at_once(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> tuple[Path, Path]:
    """Saves two models that keep their weights in files of one name; the second while the first has planned its files
    and has written none.
    """
    for part in "ab":
        _saved(folder / part, name)
    first, second = folder / "a.onnx", folder / "b.onnx"
    begun: list[bool] = []
    real = linked_files.replace_together

    def replace_together(*args: Any) -> tuple[Path, ...]:
        if not begun:
            begun.append(True)
            cir.save(cir.extract(cir.load(folder / "b" / "m.onnx"), [], ["h0"]), second)
        return real(*args)

    monkeypatch.setattr(onnx_write, "replace_together", replace_together)
    cir.save(cir.load(folder / "a" / "m.onnx"), first)
    return first, second


def test_outputs_that_choose_one_name_at_once_get_files_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = _save_two_at_once(tmp_path, monkeypatch, "weights.bin")
    assert [p.name for p in sorted(tmp_path.glob("[!.]*")) if p.is_file()] == [
        "a.onnx",
        "b.onnx",
        "weights.1.bin",
        "weights.bin",
    ]
    for path in (first, second):
        _check_old_or_new(path)


@pytest.mark.parametrize("links", [True, False])
def test_a_name_is_taken_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool) -> None:
    if not links:
        monkeypatch.setattr("os.link", _refuse_links)
    seen: list[list[str]] = []

    def write(stream: BinaryIO, places: Sequence[Path]) -> None:
        seen.append([p.name for p in places])
        if len(seen) == 1:  # another writer takes the second name
            (tmp_path / "d1").write_bytes(b"other")
        stream.write(" ".join(seen[-1]).encode())

    def files(*, is_fixed: bool) -> list[linked_files.LinkedFile]:
        return [
            linked_files.LinkedFile(
                tmp_path / f"d{n}", lambda stream, n=n: stream.write(b"%d" % n), is_new=True, is_fixed=is_fixed
            )
            for n in range(3)
        ]

    written = linked_files.replace_together(tmp_path / "m", files(is_fixed=False), write)
    assert [p.name for p in written] == ["d0", "d1.1", "d2"]
    assert (tmp_path / "m").read_text() == "d0 d1.1 d2"
    contents = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    assert contents == {"m": b"d0 d1.1 d2", "d0": b"0", "d1": b"other", "d1.1": b"1", "d2": b"2"}
    for name in ("d0", "d1", "d2"):
        (tmp_path / name).unlink()
    seen.clear()
    with pytest.raises(DiagnosticError, match="another output has just been written there"):
        linked_files.replace_together(tmp_path / "n", files(is_fixed=True), write)
    assert _names(tmp_path) == ["d1", "d1.1", "m"]


resource = pytest.importorskip("resource")


@pytest.mark.parametrize("limit", [100, 5000, 9000])
def test_a_full_disk_leaves_the_old_model(tmp_path: Path, limit: int) -> None:
    path = _saved(tmp_path, "weights.bin")
    module = cir.load(path)
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    try:
        with pytest.raises(DiagnosticError, match="E0802"):
            cir.save(module, path, external_data=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before


_KILLED = """
import sys
sys.path[:0] = {path!r}
import commonir as cir
print("ready", flush=True)
module = cir.load({model!r})
part = cir.extract(module, [], ["h0"])
while True:
    cir.save(part, {model!r})
    cir.save(module, {model!r})
"""


@pytest.mark.slow  # fast: test_a_failure_at_any_step_leaves_a_readable_model
def test_a_process_killed_at_any_time_leaves_a_readable_model(tmp_path: Path) -> None:
    rng = random.Random(0)
    for n in range(12):
        path = _saved(tmp_path / str(n), "weights.bin")
        program = _KILLED.format(path=sys.path, model=str(path))
        process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.1 + 0.5 * rng.random())
        process.kill()
        process.wait()
        process.stdout.close()
        _check_old_or_new(path)
