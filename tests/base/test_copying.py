from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

import pytest

from commonir.base.copying import clone_file

fcntl = pytest.importorskip("fcntl")


def _cloned(src: Path, dst: Path) -> bool:
    with src.open("rb") as stream:
        return clone_file(stream.fileno(), dst)


@pytest.mark.skipif(sys.platform != "linux", reason="a request of Linux")
def test_a_clone_on_linux_is_the_request_to_share_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_bytes(b"contents")

    def share(dst: int, request: int, src: int) -> int:
        assert request == 0x40049409  # FICLONE of linux/fs.h
        return os.write(dst, os.pread(src, 100, 0))

    monkeypatch.setattr(fcntl, "ioctl", share)
    assert _cloned(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "b").read_bytes() == b"contents"


def test_where_blocks_cannot_be_shared_nothing_is_created(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_bytes(b"contents")

    def refuse(*_: object) -> int:
        raise OSError(95, "not supported")

    monkeypatch.setattr(fcntl, "ioctl", refuse)
    assert not _cloned(tmp_path / "a", tmp_path / "b")
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize("result", [0, -1])
def test_a_clone_on_macos_is_made_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, result: int) -> None:
    (tmp_path / "a").write_bytes(b"contents")
    calls: list[tuple[object, ...]] = []

    class Library:
        def __init__(self, name: object) -> None:
            assert name is None

        def fclonefileat(self, *arguments: object) -> int:
            calls.append(arguments[1:])
            return result

    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(ctypes, "CDLL", Library)
    assert _cloned(tmp_path / "a", tmp_path / "b") == (result == 0)
    # AT_FDCWD of macOS is -2; no flags.
    assert calls == [(-2, os.fsencode(tmp_path / "b"), 0)]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has neither call here")
def test_other_systems_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_bytes(b"contents")
    monkeypatch.setattr(sys, "platform", "win32")
    assert not _cloned(tmp_path / "a", tmp_path / "b")
