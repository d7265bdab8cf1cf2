from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

import commonir
from commonir.base.diagnostics import DiagnosticError
from commonir.base.images import read_image
from commonir.base.safe_paths import normal_path, open_inside, open_regular
from commonir.cli.arrays import parse_inputs


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "model" / "parts").mkdir(parents=True)
    (tmp_path / "secret").write_bytes(b"secret")
    (tmp_path / "model" / "parts" / "a.bin").write_bytes(b"content")
    return tmp_path / "model"


def test_a_file_below_the_folder_is_opened(folder: Path) -> None:
    with open_inside(folder, "parts/../parts/./a.bin") as stream:
        assert stream.read() == b"content"


@pytest.mark.parametrize(
    "name", ["", "/etc/passwd", "../secret", "parts/../../secret", "..", ".", "a\0b", "a\\..\\b", "C:x"]
)
def test_a_path_that_leads_out_is_refused(folder: Path, name: str) -> None:
    with pytest.raises(DiagnosticError, match="E0301"):
        open_inside(folder, name)


def test_a_missing_file_is_not_a_fault_of_the_path(folder: Path) -> None:
    with pytest.raises(FileNotFoundError):
        open_inside(folder, "parts/b.bin")


def test_a_symbolic_link_is_refused(folder: Path) -> None:
    (folder / "link").symlink_to(folder.parent / "secret")
    with pytest.raises(DiagnosticError, match="symbolic link"):
        open_inside(folder, "link")


def test_a_file_below_a_linked_folder_is_refused(folder: Path) -> None:
    (folder / "around").symlink_to(folder.parent)
    with pytest.raises(DiagnosticError, match="symbolic link"):
        open_inside(folder, "around/secret")


def test_a_file_with_a_second_name_is_refused(folder: Path) -> None:
    os.link(folder.parent / "secret", folder / "hard")
    with pytest.raises(DiagnosticError, match="another name"):
        open_inside(folder, "hard")


def test_a_pipe_is_refused_without_waiting(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    with pytest.raises(DiagnosticError, match="not a regular file"):
        open_inside(folder, "pipe")


def test_only_regular_files_are_read_by_the_name_of_a_user(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    for place, reason in (("pipe", "pipe or a device"), ("/dev/zero", "pipe or a device"), ("parts", "Is a directory")):
        with pytest.raises(OSError, match=reason):
            open_regular(folder / place)
    with open_regular(folder / "parts" / "a.bin") as stream:
        assert stream.read() == b"content"


def _td(path: Path) -> object:
    return commonir.load_dialects(path)


def _labels(path: Path) -> object:
    return commonir.read_labels(path)


def _image(path: Path) -> object:
    return read_image(str(path), grayscale=False)


def _array(path: Path) -> object:
    return parse_inputs([f"x=@{path}"], seed=0)


def _archive(path: Path) -> object:
    return parse_inputs([f"@{path}"], seed=0)


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("x.td", _td),
        ("x.txt", _labels),
        ("x.png", _image),
        ("x.npy", _array),
        ("x.npz", _archive),
        ("x.safetensors", _archive),
        ("x.onnx", commonir.load),
        ("x.mlir", commonir.load),
    ],
)
def test_a_pipe_is_refused_wherever_a_file_is_read(tmp_path: Path, name: str, read: Callable[[Path], object]) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises(DiagnosticError, match="pipe or a device"):
        read(tmp_path / name)


def test_a_path_is_normalized() -> None:
    assert normal_path("a//b/./c/../d") == "a/b/d"
