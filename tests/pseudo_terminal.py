"""Runs command lines in a pseudo-terminal of a given width, as a user sees them."""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

_ERASED = re.compile(r"(?:[^\n]*\n[^\n]*\x1b\[1A|[^\n]*)\x1b\[2K")
"""Text that is erased again, such as progress: on the same line, or on the line above."""
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")


def is_available() -> bool:
    """Returns whether this system has pseudo-terminals: POSIX does, Windows does not."""
    return os.name == "posix"


def run(
    arguments: Sequence[str], folder: Path, columns: int, environment: Mapping[str, str] | None = None
) -> tuple[int, str]:
    """Runs `cir` and returns its exit status and what the terminal shows, without control sequences."""
    status, shown = run_raw(arguments, folder, columns, environment)
    return status, _CONTROL.sub("", _ERASED.sub("", shown))


def run_raw(
    arguments: Sequence[str], folder: Path, columns: int, environment: Mapping[str, str] | None = None
) -> tuple[int, str]:
    """Runs `cir` and returns its exit status and all that it writes to the terminal."""
    import fcntl  # noqa: PLC0415  POSIX only
    import pty  # noqa: PLC0415
    import termios  # noqa: PLC0415

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    inherited = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES", "NO_COLOR")}
    process = subprocess.Popen(
        [sys.executable, "-m", "commonir", *arguments],
        cwd=folder,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**inherited, "TERM": "xterm", **(environment or {})},
    )
    os.close(theirs)
    shown = bytearray()
    while True:
        try:
            part = os.read(ours, 1 << 16)
        except OSError:  # Linux reports the end as an error.
            break
        if not part:
            break
        shown += part
    os.close(ours)
    return process.wait(), shown.decode("utf-8", "replace")
