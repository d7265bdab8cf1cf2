"""Copies byte ranges of files inside the kernel, where the system can.

It never decides what is written, and never follows a name found inside a model.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import BinaryIO

from commonir.base import file_codes
from commonir.base.diagnostics import Diagnostic, DiagnosticError

# Faults that only writing can cause, whatever was being done when they came.
NO_SPACE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}

# One system call's worth; an interrupt is handled between two calls.
_CHUNK_BYTES = 64 * 2**20
# Where bytes must pass through this process.
_BUFFER_BYTES = 2**20


def copy_range(src: int, offset: int, length: int, dst: BinaryIO) -> None:
    """Appends a byte range of the open file descriptor `src` to `dst`, inside the kernel where the system can.

    `copy_file_range` shares blocks on file systems that can; `sendfile` copies in the kernel; reading and writing works
    everywhere. The position of `src` does not matter.

    Units: offset and length are bytes.
    Raises: TRUNCATED_FILE when `src` ends before the range does.
    """
    copied = 0
    fd = _descriptor(dst)
    if fd is not None:
        dst.flush()
        start = dst.tell()
        for copy in _kernel_copies():
            copied += _copied_by(copy, fd, src, offset + copied, length - copied)
        dst.seek(start + copied)
    while copied < length:
        content = _read_at(src, min(_BUFFER_BYTES, length - copied), offset + copied)
        if not content:
            missing = length - copied
            message = f"the file ends {missing} bytes before the end of a range of {length} bytes at offset {offset}"
            raise DiagnosticError(Diagnostic(file_codes.TRUNCATED_FILE, message))
        dst.write(content)
        copied += len(content)


def clone_file(src: int, dst: str | os.PathLike[str]) -> bool:
    """Creates the file `dst` with the contents of the open file descriptor `src`, sharing its blocks until one of the
    two is written to; returns False, and creates nothing, where the file system or the system cannot.

    A hard link would take no room either, but a tool that writes in place would then change both files, and readers of
    ONNX refuse files with a second name.
    """
    try:
        if sys.platform == "darwin":
            return _cloned_by_name(src, dst)
        return sys.platform == "linux" and _cloned_by_request(src, dst)
    except (OSError, AttributeError):
        return False


# Of `ioctl` of Linux, and `fclonefileat` of macOS.
_FICLONE = 0x40049409
_AT_FDCWD = -2


def _cloned_by_request(src: int, dst: str | os.PathLike[str]) -> bool:
    from fcntl import ioctl  # noqa: PLC0415  not on Windows

    with open(dst, "xb") as stream:
        try:
            ioctl(stream.fileno(), _FICLONE, src)
        except OSError:
            with suppress(OSError):
                os.unlink(dst)
            raise
    return True


def _cloned_by_name(src: int, dst: str | os.PathLike[str]) -> bool:
    import ctypes  # noqa: PLC0415  only on macOS

    return ctypes.CDLL(None).fclonefileat(src, _AT_FDCWD, os.fsencode(dst), 0) == 0


_Copy = Callable[[int, int, int, int], int]


def _kernel_copies() -> tuple[_Copy, ...]:
    """Returns the copy functions of this system, fastest first; looked up lazily so that a test can remove one."""
    result: list[_Copy] = []
    if hasattr(os, "copy_file_range"):
        result.append(lambda dst, src, offset, count: os.copy_file_range(src, dst, count, offset))
    if hasattr(os, "sendfile"):
        result.append(os.sendfile)
    return tuple(result)


def _copied_by(copy: _Copy, dst: int, src: int, offset: int, length: int) -> int:
    """Copies with one system call, repeated, and returns how many bytes it managed before it refused."""
    copied = 0
    while copied < length:
        try:
            count = copy(dst, src, offset + copied, min(_CHUNK_BYTES, length - copied))
        except OSError as error:
            if error.errno in NO_SPACE:
                raise
            # Different file systems, special files, old kernels: if it is a real error, the next method raises it too.
            return copied
        if count == 0:
            return copied
        copied += count
    return copied


def _read_at(src: int, count: int, offset: int) -> bytes:
    if hasattr(os, "pread"):
        return os.pread(src, count, offset)
    os.lseek(src, offset, os.SEEK_SET)
    return os.read(src, count)


def _descriptor(stream: BinaryIO) -> int | None:
    try:
        return stream.fileno() if stream.seekable() else None
    except (AttributeError, io.UnsupportedOperation):
        return None
