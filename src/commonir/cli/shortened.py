"""Reports a file that becomes shorter while a command reads it, as a copy over the model of a running command makes it.

Large files are mapped: reading behind the end of one raises SIGBUS, after which the process cannot go on. Python's
own handlers run only between its steps, so a function of C is set, which gets the lock of the interpreter, writes the
answer of the command and ends the process.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from typing import NoReturn

from commonir.base.diagnostics import Diagnostic
from commonir.base.file_codes import FILE_NOT_ACCESSIBLE

_ACTION_BYTES = 512
"""More than `struct sigaction` has on any system."""

_MAPS = "/proc/self/maps"


@contextmanager
def reporting_shortened_files(report: Callable[[Diagnostic], int]) -> Generator[None]:
    """Ends the process with a diagnostic (E0102) if a file that is mapped becomes shorter than what is read of it.

    `report` writes the answer of the command and returns its exit status. Changes nothing on Windows, which does not
    shorten mapped files.
    """
    number = getattr(signal, "SIGBUS", None)
    if number is None:
        yield
        return
    import ctypes  # noqa: PLC0415  numpy loads it too

    library = ctypes.CDLL(None)
    handler_type = ctypes.CFUNCTYPE(None, ctypes.c_int)

    def end(_: int) -> None:
        _end(report)

    handler = handler_type(end)
    library.signal.argtypes = [ctypes.c_int, handler_type]
    library.signal.restype = ctypes.c_void_p
    before = ctypes.create_string_buffer(_ACTION_BYTES)
    library.sigaction(int(number), None, before)
    library.signal(int(number), handler)
    try:
        yield
    finally:
        library.sigaction(int(number), before, None)


def _end(report: Callable[[Diagnostic], int]) -> NoReturn:
    finding = _finding()
    status = finding.code.status
    try:
        status = report(finding)
        sys.stdout.flush()
    except BaseException:  # noqa: BLE001  a write that was interrupted here cannot be continued
        with suppress(OSError):
            os.write(2, f"{finding}\n".encode("utf-8", "backslashreplace"))
    finally:
        os._exit(int(status))


def _finding() -> Diagnostic:
    return Diagnostic(
        FILE_NOT_ACCESSIBLE,
        "the file became shorter while it was read",
        file=next(iter(shortened()), None),
        help="run the command again; to replace a model that is in use, write a new file and rename it",
    )


def shortened() -> Generator[str]:
    """Yields the files that are mapped beyond their ends, where the system lists mappings (Linux)."""
    page_bytes = os.sysconf("SC_PAGE_SIZE")
    with suppress(OSError, ValueError), open(_MAPS, encoding="utf-8", errors="surrogateescape") as lines:
        for line in lines:
            addresses, _, offset, _, _, path = [*line.rstrip("\n").split(maxsplit=5), ""][:6]
            if not path.startswith("/"):
                continue
            start, stop = [int(part, 16) for part in addresses.split("-")]
            with suppress(OSError):
                pages = -(-os.stat(path).st_size // page_bytes)
                if int(offset, 16) + stop - start > pages * page_bytes:
                    yield path
