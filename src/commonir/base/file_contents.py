"""The bytes of a file that readers refer to: those of a small file in memory, those of a large one mapped.

What is in memory stays as it was when the file was opened. A mapping follows the file: if it becomes shorter, a
process that reads behind its end gets the signal SIGBUS, which the command line reports (`cli/shortened.py`).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from mmap import mmap

LARGEST_COPY_BYTES = 1 << 20
"""Files up to this size are read: that takes no longer than the page faults of a mapping."""


def contents_of(file: BinaryIO) -> bytes | mmap:
    """Returns the bytes of an open file, from its beginning to its end."""
    size_bytes = os.fstat(file.fileno()).st_size
    if size_bytes <= LARGEST_COPY_BYTES:
        return file.read()
    from mmap import ACCESS_READ, mmap  # noqa: PLC0415  few programs are large

    return mmap(file.fileno(), 0, access=ACCESS_READ)


def identity_of(status: os.stat_result) -> tuple[int, int, int]:
    """Returns the identity of a file or folder, which is another one once it has been replaced or changed.

    It has the time of the last change, as a new file may get the number of one that was deleted.
    """
    return status.st_dev, status.st_ino, status.st_mtime_ns
