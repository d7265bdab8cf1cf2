"""One writer at a time has an output; what a killed one left does not stop the next."""

from __future__ import annotations

import errno
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

import commonir as cir
from commonir.base.output_locks import one_writer

_posix = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes and links of POSIX")


def _is_free(path: Path) -> bool:
    """Returns whether a thread of its own gets an output at once."""

    def take() -> bool:
        try:
            with one_writer(path, wait_s=0):
                return True
        except cir.DiagnosticError as error:
            assert [d.code.id for d in error.diagnostics] == ["E0810"]
            return False

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(take).result()


def test_a_second_writer_is_refused_after_its_time(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    with one_writer(path):
        assert not _is_free(path)
        start = time.monotonic()
        with pytest.raises(cir.DiagnosticError, match="E0810"), one_writer(path, wait_s=0.05):
            pass
        assert time.monotonic() - start >= 0.05
    assert _is_free(path)
    assert list(tmp_path.iterdir()) == []


def test_writers_of_other_outputs_do_not_wait(tmp_path: Path) -> None:
    with one_writer(tmp_path / "m.onnx"):
        assert _is_free(tmp_path / "n.onnx")


def test_threads_take_turns(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    inside: list[int] = []

    def write(number: int) -> None:
        for _ in range(10):
            with one_writer(path):
                inside.append(number)
                time.sleep(0.0002)
                assert inside == [number]
                inside.clear()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    assert list(tmp_path.iterdir()) == []


def test_a_failed_writer_gives_the_output_back(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), one_writer(tmp_path / "m.onnx"):
        raise ZeroDivisionError
    assert _is_free(tmp_path / "m.onnx")
    assert list(tmp_path.iterdir()) == []


@_posix
def test_a_killed_writer_does_not_stop_the_next(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        with one_writer(path):
            os.write(writing, b"!")
            time.sleep(60)
        os._exit(1)
    os.read(reading, 1)
    assert not _is_free(path)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    os.close(reading)
    os.close(writing)
    assert len(list(tmp_path.iterdir())) == 1
    assert _is_free(path)
    assert list(tmp_path.iterdir()) == []


@_posix
def test_a_forked_process_does_not_keep_the_output(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    with one_writer(path):
        process = os.fork()
        if process == 0:
            time.sleep(60)
            os._exit(1)
    try:
        assert _is_free(path)
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)


@_posix
def test_a_link_and_its_target_are_one_output(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    path, link = tmp_path / "real" / "m.onnx", tmp_path / "m.onnx"
    path.touch()
    link.symlink_to(path)
    with one_writer(link):
        assert not _is_free(path)
    with one_writer(path):
        assert not _is_free(link)


@_posix
def test_a_link_in_the_place_of_the_lock_is_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    folder = tmp_path / "folder"
    folder.mkdir()
    with one_writer(folder / "m.onnx"):
        (place,) = folder.iterdir()
    place.symlink_to(outside)
    assert _is_free(folder / "m.onnx")
    assert not outside.exists()


@_posix
def test_nothing_is_locked_for_a_device_or_a_folder_that_is_missing(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ExitStack() as held:
        for path in (pipe, Path("/dev/null"), tmp_path / "missing" / "m.onnx"):
            held.enter_context(one_writer(path))
            assert _is_free(path)
    assert list(tmp_path.iterdir()) == [pipe]


@_posix
def test_where_files_cannot_be_locked_writers_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl  # noqa: PLC0415  not on Windows

    def refuse(fd: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with one_writer(tmp_path / "m.onnx"):
        assert _is_free(tmp_path / "m.onnx")
    assert list(tmp_path.iterdir()) == []
