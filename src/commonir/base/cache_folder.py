"""The folder of the user for files that can be made again.

Sources: XDG Base Directory Specification 0.8; Apple, File System Programming Guide; Microsoft, known folders.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

VARIABLE = "COMMONIR_CACHE"
"""The environment variable that names the folder."""


def cache_folder() -> Path | None:
    """Returns the folder, which may not exist; None if the user has no home."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named)
    home = os.path.expanduser("~")
    if sys.platform == "win32":
        around, name = os.environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local"), "commonir/Cache"
    elif sys.platform == "darwin":
        around, name = os.path.join(home, "Library", "Caches"), "commonir"
    else:
        around, name = os.environ.get("XDG_CACHE_HOME") or "", "commonir"
        if not os.path.isabs(around):
            around = os.path.join(home, ".cache")
    return Path(around, name) if os.path.isabs(around) else None
