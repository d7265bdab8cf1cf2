"""Contents of tensors in files beside the model: all forms that the format has, and nothing outside of its folder."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.file_contents import LARGEST_COPY_BYTES
from commonir.dialects.onnx import Initializer
from commonir.formats.onnx import read as reading
from commonir.ir.data import FileData
from commonir.ir.module import Module
from commonir.ods import Dialects

DIALECTS = Dialects()
_VALUES = np.arange(6, dtype=np.float32)


def _tensor(name: str, **entries: str) -> TensorProto:
    tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=[6], data_location=TensorProto.EXTERNAL)
    for key, value in entries.items():
        tensor.external_data.add(key=key, value=value)
    return tensor


def _model(*tensors: TensorProto) -> bytes:
    nodes = [helper.make_node("Sum", [t.name for t in tensors], ["y"])]
    info = helper.make_tensor_value_info("y", TensorProto.FLOAT, [6])
    graph = helper.make_graph(nodes, "g", [], [info], list(tensors))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8).SerializeToString()


def _folder(tmp_path: Path, *tensors: TensorProto) -> Path:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "m.onnx").write_bytes(_model(*tensors))
    (folder / "w.bin").write_bytes(b"\0" * 8 + _VALUES.tobytes())
    (tmp_path / "secret").write_bytes(_VALUES.tobytes())
    return folder / "m.onnx"


def _weights(module: Module) -> list[np.ndarray]:
    return [op.value.array() for op in module.walk() if isinstance(op, Initializer)]


def _found(path: Path) -> list[Diagnostic]:
    return reading.check(path, DIALECTS)[1]


@pytest.mark.parametrize("entries", [{"offset": "8", "length": "24"}, {"offset": "8"}, {"offset": "8", "length": ""}])
def test_contents_are_mapped_from_the_file_beside_the_model(tmp_path: Path, entries: dict[str, str]) -> None:
    module, diagnostics = reading.read(_folder(tmp_path, _tensor("w", location="w.bin", **entries)), DIALECTS)
    assert module is not None
    assert diagnostics == []
    stored = next(op.value for op in module.walk() if isinstance(op, Initializer))
    assert isinstance(stored, FileData)
    np.testing.assert_array_equal(stored.array(), _VALUES)


def test_tensors_lie_in_several_files_and_in_folders_below(tmp_path: Path) -> None:
    model = _folder(
        tmp_path,
        _tensor("a", location="w.bin", offset="8"),
        _tensor("b", location="sub/dir/../w.bin"),
        _tensor("c", location="w.bin", basepath="sub", offset="8"),
    )
    (model.parent / "sub" / "dir").mkdir(parents=True)
    (model.parent / "sub" / "w.bin").write_bytes((_VALUES * 2).tobytes())
    module, diagnostics = reading.read(model, DIALECTS)
    assert module is not None
    assert diagnostics == []
    np.testing.assert_array_equal(_weights(module), [_VALUES, _VALUES * 2, _VALUES])


def test_models_that_onnx_saves_with_external_data_are_read(tmp_path: Path) -> None:
    tensors = [numpy_helper.from_array(np.full(6, n, np.float32), f"w{n}") for n in range(3)]
    model = onnx.ModelProto.FromString(_model(*tensors))
    path = tmp_path / "m.onnx"
    onnx.save(model, path, save_as_external_data=True, all_tensors_to_one_file=False, size_threshold=0)
    module, diagnostics = reading.read(path, DIALECTS)
    assert module is not None
    assert diagnostics == []
    np.testing.assert_array_equal(_weights(module), [np.full(6, n) for n in range(3)])


def test_checksums_are_compared_when_a_model_is_checked(tmp_path: Path) -> None:
    content = b"\0" * 8 + _VALUES.tobytes()
    good = hashlib.sha1(content, usedforsecurity=False).hexdigest()
    path = _folder(tmp_path, _tensor("w", location="w.bin", offset="8", checksum=good))
    assert _found(path) == []
    (path.parent / "w.bin").write_bytes(content[:-1] + b"\1")
    (wrong,) = _found(path)
    assert wrong.code.id == "E0205"
    assert wrong.message == "the checksum of 'w.bin' is not the one that 'w' states"
    assert reading.read(path, DIALECTS)[1] == []


@pytest.mark.parametrize(
    ("entries", "code", "message"),
    [
        ({"location": "../secret"}, "E0301", "the path '../secret' is refused"),
        ({"location": "w.bin/../../secret"}, "E0301", "is refused"),
        ({"location": "/etc/passwd"}, "E0301", "is refused"),
        ({"location": "C:secret"}, "E0301", "is refused"),
        ({"location": "link"}, "E0301", "a part of it is a symbolic link"),
        ({"location": "linked/secret"}, "E0301", "a part of it is a symbolic link"),
        ({"location": "hard"}, "E0301", "the file has another name"),
        ({"location": "pipe"}, "E0301", "it is not a regular file"),
        ({"location": "gone.bin"}, "E0111", "the file 'gone.bin' is missing"),
        ({"location": "w.bin", "basepath": "..", "offset": "999"}, "E0207", "end at byte 1,023"),
        ({"location": "gone", "basepath": ".."}, "E0301", "is refused"),
        ({"location": "w.bin", "offset": "-8"}, "E0207", "the offset of its external data must be an integer"),
        ({"location": "w.bin", "offset": "9" * 30}, "E0207", "must be an integer"),
        ({"location": "w.bin", "offset": "٣"}, "E0207", "must be an integer"),
        ({"location": "w.bin", "length": "23"}, "E0207", "but the length of its external data is 23"),
        ({"location": "w.bin", "offset": "9"}, "E0207", "its external data end at byte 33, but 'w.bin' has 32"),
        ({"location": "w.bin", "__class__": "x"}, "E0207", "external data have no '__class__'"),
        ({"offset": "0"}, "E0207", "its external data have no location"),
        ({"location": ""}, "E0207", "its external data have no location"),
    ],
)
def test_what_leads_elsewhere_or_has_no_meaning_is_refused(
    tmp_path: Path, entries: dict[str, str], code: str, message: str
) -> None:
    path = _folder(tmp_path, _tensor("w", **entries))
    (path.parent / "link").symlink_to(tmp_path / "secret")
    (path.parent / "linked").symlink_to(tmp_path)
    os.link(tmp_path / "secret", path.parent / "hard")
    os.mkfifo(path.parent / "pipe")
    module, diagnostics = reading.read(path, DIALECTS)
    assert module is not None
    (only,) = diagnostics
    assert (only.code.id, only.where) == (code, "graph.initializer 'w'")
    assert message in only.message
    assert _found(path)[0].message == only.message


def test_a_missing_file_is_reported_once(tmp_path: Path) -> None:
    path = _folder(tmp_path, *[_tensor(f"w{n}", location="gone.bin") for n in range(5)])
    assert [d.message for d in _found(path)] == ["the file 'gone.bin' is missing"]


def test_a_pointer_in_the_place_of_data_is_reported(tmp_path: Path) -> None:
    path = _folder(tmp_path, _tensor("w", location="w.bin"))
    (path.parent / "w.bin").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n")
    assert [d.code.id for d in _found(path)] == ["E0104"]


def _cached(tmp_path: Path) -> tuple[Path, Path]:
    """A model as the cache of the Hugging Face hub holds it, and the folder of its blobs."""
    blobs = tmp_path / "models--a--b" / "blobs"
    snapshot = tmp_path / "models--a--b" / "snapshots" / "0123" / "onnx"
    snapshot.mkdir(parents=True)
    blobs.mkdir()
    (blobs / "aaa").write_bytes(_model(_tensor("w", location="model.onnx_data")))
    (blobs / "bbb").write_bytes(_VALUES.tobytes())
    (snapshot / "model.onnx").symlink_to("../../../blobs/aaa")
    return snapshot, blobs


def test_the_cache_of_the_hugging_face_hub_is_read(tmp_path: Path) -> None:
    snapshot, _ = _cached(tmp_path)
    (snapshot / "model.onnx_data").symlink_to("../../../blobs/bbb")
    module, diagnostics = reading.read(snapshot / "model.onnx", DIALECTS)
    assert module is not None
    assert diagnostics == []
    np.testing.assert_array_equal(_weights(module), [_VALUES])


@pytest.mark.parametrize(
    "target", ["../../../../secret", "../../../blobs/deep/secret", "../../../blobs/again", "/etc/passwd"]
)
def test_links_out_of_the_blobs_of_a_cache_are_refused(tmp_path: Path, target: str) -> None:
    snapshot, blobs = _cached(tmp_path)
    (tmp_path / "secret").write_bytes(_VALUES.tobytes())
    (blobs / "deep").mkdir()
    (blobs / "deep" / "secret").write_bytes(_VALUES.tobytes())
    (blobs / "again").symlink_to(tmp_path / "secret")
    (snapshot / "model.onnx_data").symlink_to(target)
    _, diagnostics = reading.read(snapshot / "model.onnx", DIALECTS)
    assert [d.code.id for d in diagnostics] == ["E0301"]


def test_a_link_to_a_file_in_the_folder_of_the_model_is_followed(tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(_model(_tensor("w", location="w")))
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "data").write_bytes(_VALUES.tobytes())
    (tmp_path / "w").symlink_to("parts/data")
    module, diagnostics = reading.read(tmp_path / "m.onnx", DIALECTS)
    assert module is not None
    assert diagnostics == []
    np.testing.assert_array_equal(_weights(module), [_VALUES])


@pytest.mark.parametrize("change", ["truncated", "replaced", "removed"])
def test_data_that_change_after_loading_are_an_error(tmp_path: Path, change: str) -> None:
    (tmp_path / "m.onnx").write_bytes(_model(_tensor("w", location="w", length="24")))
    # Smaller files are read as a whole, and not mapped.
    (tmp_path / "w").write_bytes(_VALUES.tobytes() + b"\0" * LARGEST_COPY_BYTES)
    module, _ = reading.read(tmp_path / "m.onnx", DIALECTS)
    assert module is not None
    if change == "truncated":
        np.testing.assert_array_equal(_weights(module), [_VALUES])
        os.truncate(tmp_path / "w", 1)
        reason = "it became shorter after it was loaded"
    elif change == "replaced":
        (tmp_path / "other").write_bytes((tmp_path / "w").read_bytes())
        (tmp_path / "other").replace(tmp_path / "w")
        reason = "it was replaced or changed after it was loaded"
    else:
        (tmp_path / "w").unlink()
        reason = "no such file or directory"
    with pytest.raises(DiagnosticError) as error:
        _weights(module)
    (diagnostic,) = error.value.diagnostics
    assert (diagnostic.code.id, diagnostic.message) == ("E0102", f"cannot be read: {reason}")
    assert diagnostic.file == str(tmp_path / "w")
