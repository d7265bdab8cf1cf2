"""Whatever goes wrong while an output is written, what was there before is still there, and nothing else is."""

from __future__ import annotations

import errno
import io
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO

import pytest

from commonir.base import codes, copying, file_codes
from commonir.base.copying import copy_range
from commonir.base.diagnostics import DiagnosticError, ExitStatus
from commonir.base.files import atomic_directory, atomic_file, atomic_files, remove_leftovers

from tests.work_counts import calls_of

needs_posix = pytest.mark.skipif(os.name != "posix", reason="a matter of POSIX file systems")


class Boom(Exception):
    """A fault of the writer."""


def full_disk(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def denied(*_: object) -> None:
    raise PermissionError(errno.EACCES, "Permission denied")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def write_package(path: Path, content: str, *, fault: Callable[[], None] | None = None) -> None:
    with atomic_directory(path, marker="Manifest.json") as folder:
        (folder / "Manifest.json").write_text("{}")
        (folder / "Data").mkdir()
        (folder / "Data" / "model").write_text(content)
        if fault:
            fault()


# -- files


def test_file_appears_under_its_name_when_the_block_ends(tmp_path: Path) -> None:
    with atomic_file(tmp_path / "m.onnx") as out:
        out.write(b"new")
        assert "m.onnx" not in names(tmp_path)
    assert (tmp_path / "m.onnx").read_bytes() == b"new"
    assert names(tmp_path) == ["m.onnx"]


@pytest.mark.parametrize("fault", [Boom(), KeyboardInterrupt(), SystemExit(1), GeneratorExit()])
def test_old_file_survives_an_exception_in_the_block(tmp_path: Path, fault: BaseException) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(b"old")
    with pytest.raises(type(fault)), atomic_file(path) as out:
        out.write(b"half")
        raise fault
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["m.onnx"]


@pytest.mark.parametrize(
    ("where", "fault", "code"),
    [
        ("fsync", full_disk, codes.DISK_FULL),
        ("fsync", denied, codes.CANNOT_WRITE),
        ("replace", denied, codes.CANNOT_WRITE),
        ("replace", full_disk, codes.DISK_FULL),
    ],
)
def test_old_file_survives_a_fault_of_the_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str, fault: Callable[..., None], code: codes.Code
) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, where, fault)
    with pytest.raises(DiagnosticError) as caught, atomic_file(path) as out:
        out.write(b"new")
    monkeypatch.undo()
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code is code
    assert diagnostic.file == str(path)
    assert caught.value.status is ExitStatus.UNWRITABLE
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["m.onnx"]


def test_name_that_the_system_refuses_is_a_finding_about_the_output(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 300)
    refused = pytest.raises(DiagnosticError, match=r"error\[E0801\]: cannot write the output: file name too long")
    with refused, atomic_file(path):
        pass


def test_full_disk_inside_the_block_is_a_finding_about_the_output(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(b"old")
    with pytest.raises(DiagnosticError, match=r"error\[E0802\]: no room to write the output"), atomic_file(path):
        full_disk()
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["m.onnx"]


def test_other_system_errors_of_the_block_pass_through(tmp_path: Path) -> None:
    with pytest.raises(PermissionError), atomic_file(tmp_path / "m.onnx"):
        denied()
    assert names(tmp_path) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_device_that_is_full_is_reported_and_left_alone() -> None:
    with pytest.raises(DiagnosticError) as caught, atomic_file("/dev/full") as out:
        out.write(b"x" * 10)
    assert caught.value.diagnostics[0].code is codes.DISK_FULL
    assert Path("/dev/full").is_char_device()


@needs_posix
def test_device_is_written_not_replaced() -> None:
    with atomic_file(os.devnull) as out:
        out.write(b"gone")
    assert Path(os.devnull).is_char_device()


@needs_posix
def test_pipe_behind_dev_stdout_is_written() -> None:
    program = "from commonir.base.files import atomic_file\nwith atomic_file('/dev/stdout') as out: out.write(b'piped')"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, env=environment, check=True)
    assert done.stdout == b"piped"


@needs_posix
def test_link_is_followed_and_kept(tmp_path: Path) -> None:
    (tmp_path / "real.onnx").write_bytes(b"old")
    (tmp_path / "link.onnx").symlink_to("real.onnx")
    with atomic_file(tmp_path / "link.onnx") as out:
        out.write(b"new")
    assert (tmp_path / "link.onnx").is_symlink()
    assert (tmp_path / "real.onnx").read_bytes() == b"new"


@needs_posix
def test_mode_of_a_replaced_file_is_kept_and_a_new_file_follows_the_umask(tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.write_bytes(b"")
    old.chmod(0o640)
    with atomic_file(old):
        pass
    assert old.stat().st_mode & 0o777 == 0o640
    mask = os.umask(0o027)
    try:
        with atomic_file(tmp_path / "new"):
            pass
    finally:
        os.umask(mask)
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o640


def test_missing_folder_is_reported_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(DiagnosticError) as caught, atomic_file(tmp_path / "no" / "m.onnx"):
        pass
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.code, diagnostic.help) == (codes.CANNOT_WRITE, "create the folder first")
    assert diagnostic.message == "cannot write the output: no such file or directory"


def test_file_does_not_replace_a_folder(tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    with pytest.raises(DiagnosticError) as caught, atomic_file(tmp_path / "m"):
        pass
    assert caught.value.diagnostics[0].code is codes.OUTPUT_IN_THE_WAY
    assert (tmp_path / "m").is_dir()


# -- folders


def test_folder_appears_under_its_name_when_the_block_ends(tmp_path: Path) -> None:
    write_package(tmp_path / "m.mlpackage", "new")
    assert (tmp_path / "m.mlpackage" / "Data" / "model").read_text() == "new"
    assert names(tmp_path) == ["m.mlpackage"]


def test_package_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "m.mlpackage"
    write_package(path, "old")
    (path / "extra").write_text("of the old one")
    write_package(path, "new")
    assert (path / "Data" / "model").read_text() == "new"
    assert names(path) == ["Data", "Manifest.json"]
    assert names(tmp_path) == ["m.mlpackage"]


def test_old_package_survives_an_exception_in_the_block(tmp_path: Path) -> None:
    path = tmp_path / "m.mlpackage"
    write_package(path, "old")
    for fault in (Boom(), KeyboardInterrupt()):

        def throw(fault: BaseException = fault) -> None:
            raise fault

        with pytest.raises(type(fault)):
            write_package(path, "new", fault=throw)
        assert (path / "Data" / "model").read_text() == "old"
        assert names(tmp_path) == ["m.mlpackage"]


def test_full_disk_while_a_package_is_written_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "m.mlpackage"
    write_package(path, "old")
    with pytest.raises(DiagnosticError) as caught:
        write_package(path, "new", fault=full_disk)
    assert caught.value.diagnostics[0].code is codes.DISK_FULL
    assert (path / "Data" / "model").read_text() == "old"
    assert names(tmp_path) == ["m.mlpackage"]


def without_swapping(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes the system one that cannot swap two names."""
    monkeypatch.setattr("commonir.base.files._exchange", lambda *_: False)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux swaps names")
def test_a_package_is_replaced_in_one_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m.mlpackage"
    write_package(path, "old")
    monkeypatch.delattr(os, "rename")
    write_package(path, "new")
    monkeypatch.undo()
    assert (path / "Data" / "model").read_text() == "new"
    assert names(tmp_path) == ["m.mlpackage"]


@pytest.mark.parametrize("failing", [1, 2], ids=["old-aside", "new-in-place"])
@pytest.mark.parametrize("fault", [PermissionError(errno.EACCES, "Permission denied"), KeyboardInterrupt()])
def test_old_package_survives_a_failing_rename(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: int, fault: BaseException
) -> None:
    path = tmp_path / "m.mlpackage"
    write_package(path, "old")
    rename = os.rename
    calls = 0

    def failing_rename(src: str, dst: str) -> None:
        nonlocal calls
        calls += 1
        if calls == failing:
            raise fault
        rename(src, dst)

    without_swapping(monkeypatch)
    monkeypatch.setattr(os, "rename", failing_rename)
    expected = KeyboardInterrupt if isinstance(fault, KeyboardInterrupt) else DiagnosticError
    with pytest.raises(expected):
        write_package(path, "new")
    monkeypatch.undo()
    assert (path / "Data" / "model").read_text() == "old"
    assert names(tmp_path) == ["m.mlpackage"]


def test_interrupt_between_the_renames_brings_the_old_package_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.mlpackage"
    write_package(path, "old")
    rename = os.rename
    calls = 0

    def interrupted_rename(src: str, dst: str) -> None:
        nonlocal calls
        calls += 1
        rename(src, dst)
        if calls == 1:
            raise KeyboardInterrupt

    without_swapping(monkeypatch)
    monkeypatch.setattr(os, "rename", interrupted_rename)
    with pytest.raises(KeyboardInterrupt):
        write_package(path, "new")
    monkeypatch.undo()
    assert (path / "Data" / "model").read_text() == "old"
    assert names(tmp_path) == ["m.mlpackage"]


def test_folder_of_the_user_is_never_replaced(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "thesis.txt").write_text("dear")
    with pytest.raises(DiagnosticError) as caught:
        write_package(home, "new")
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code is codes.OUTPUT_IN_THE_WAY
    assert diagnostic.message == "the output is not written: the folder in its place has files but no 'Manifest.json'"
    assert (home / "thesis.txt").read_text() == "dear"
    assert names(tmp_path) == ["home"]


def test_empty_folder_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "m.mlpackage").mkdir()
    write_package(tmp_path / "m.mlpackage", "new")
    assert (tmp_path / "m.mlpackage" / "Manifest.json").exists()


def test_folder_does_not_replace_a_file(tmp_path: Path) -> None:
    (tmp_path / "m.mlpackage").write_text("a file")
    with pytest.raises(DiagnosticError) as caught:
        write_package(tmp_path / "m.mlpackage", "new")
    assert caught.value.diagnostics[0].code is codes.OUTPUT_IN_THE_WAY
    assert (tmp_path / "m.mlpackage").read_text() == "a file"


# -- ranges

CONTENT = bytes(range(256)) * 40


def refusing(error: int) -> Callable[[int, int, int, int], int]:
    def copy(dst: int, src: int, offset: int, count: int) -> int:
        raise OSError(error, os.strerror(error))

    return copy


def copied(src: Path, dst: BinaryIO, offset: int, length: int) -> None:
    with src.open("rb") as stream:
        copy_range(stream.fileno(), offset, length, dst)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "src"
    path.write_bytes(CONTENT)
    return path


def short_copy(dst: int, src: int, offset: int, count: int) -> int:
    """A system call that always copies less than it is asked to, and stops for good after a while."""
    if offset > 5000:
        return 0
    return os.write(dst, os.pread(src, min(count, 700), offset))


SYSTEM_METHODS = copying._kernel_copies
METHODS: dict[str, Callable[[], tuple[Callable[[int, int, int, int], int], ...]]] = {
    "system": SYSTEM_METHODS,
    "only-read-and-write": lambda: (),
    "refused-then-next": lambda: (refusing(errno.EXDEV), *SYSTEM_METHODS()[1:]),
    "all-refused": lambda: (refusing(errno.ENOSYS), refusing(errno.EINVAL)),
    "short-and-stopping": lambda: (short_copy, short_copy),
}


@needs_posix
@pytest.mark.parametrize("method", METHODS)
def test_range_is_copied_exactly_by_every_method(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    monkeypatch.setattr(copying, "_kernel_copies", METHODS[method])
    monkeypatch.setattr(copying, "_CHUNK_BYTES", 1000)
    monkeypatch.setattr(copying, "_BUFFER_BYTES", 900)
    with (tmp_path / "dst").open("wb") as dst:
        dst.write(b"head")
        copied(source, dst, 100, 9000)
        dst.write(b"tail")
        assert dst.tell() == 9008
    assert (tmp_path / "dst").read_bytes() == b"head" + CONTENT[100:9100] + b"tail"


def test_range_is_copied_into_memory(source: Path) -> None:
    out = io.BytesIO()
    copied(source, out, 256, 300)
    assert out.getvalue() == CONTENT[256:556]


@pytest.mark.parametrize("method", ["system", "only-read-and-write"])
def test_range_past_the_end_is_refused(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    monkeypatch.setattr(copying, "_kernel_copies", METHODS[method])
    with (tmp_path / "dst").open("wb") as dst, pytest.raises(DiagnosticError) as caught:
        copied(source, dst, len(CONTENT) - 10, 25)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code is file_codes.TRUNCATED_FILE
    assert (
        diagnostic.message
        == f"the file ends 15 bytes before the end of a range of 25 bytes at offset {len(CONTENT) - 10}"
    )


@needs_posix
def test_full_disk_is_not_mistaken_for_a_method_that_does_not_work(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "_kernel_copies", lambda: (refusing(errno.ENOSPC),))
    with pytest.raises(DiagnosticError) as caught, atomic_file(tmp_path / "dst") as dst:
        copied(source, dst, 0, 100)
    assert caught.value.diagnostics[0].code is codes.DISK_FULL
    assert names(tmp_path) == ["src"]


def _write_file(folder: Path) -> AbstractContextManager[object]:
    return atomic_file(folder / "old")


def _write_files(folder: Path) -> AbstractContextManager[object]:
    return atomic_files(folder / "data", folder / "old")


def _write_folder(folder: Path) -> AbstractContextManager[object]:
    return atomic_directory(folder / "package", marker="Manifest.json")


@needs_posix
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
@pytest.mark.parametrize("write", [_write_file, _write_files, _write_folder])
def test_signals_that_end_the_process_leave_the_old_output_alone(
    tmp_path: Path, write: Callable[[Path], AbstractContextManager[object]], name: str
) -> None:
    number = getattr(signal, name)
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(number) is not signal.SIG_DFL:
        pytest.skip(f"{name} does not end this process, or another thread gets it")
    (tmp_path / "old").write_text("old")
    with pytest.raises(SystemExit) as end, write(tmp_path):
        assert len(list(tmp_path.iterdir())) > 1
        os.kill(os.getpid(), number)
    assert end.value.code == 128 + number
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("old", "old")]
    assert signal.getsignal(number) is signal.SIG_DFL


def test_ignored_signals_stay_ignored_while_a_file_is_written(tmp_path: Path) -> None:
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with atomic_file(tmp_path / "new") as stream:
            assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
            stream.write(b"new")
    finally:
        signal.signal(signal.SIGTERM, before)
    assert (tmp_path / "new").read_bytes() == b"new"


def test_files_are_written_from_any_thread(tmp_path: Path) -> None:
    def write() -> None:
        with atomic_file(tmp_path / "new") as stream:
            stream.write(b"new")

    thread = threading.Thread(target=write)
    thread.start()
    thread.join()
    assert (tmp_path / "new").read_bytes() == b"new"


def test_looking_for_leftovers_takes_linear_time(tmp_path: Path) -> None:
    def work(count: int) -> int:
        targets = [tmp_path / f"{count}" / f"w{n}" for n in range(count)]
        targets[0].parent.mkdir()
        for target in targets:
            target.touch()
        return calls_of(lambda: remove_leftovers(*targets))

    assert work(100) < 2.2 * work(50)
