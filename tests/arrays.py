"""Reads arrays from files, and closes the files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def read_arrays(path: Path | str) -> dict[str, Array]:
    """Returns the arrays of an `.npz` file by name. The file is closed also where the test is skipped afterwards."""
    with np.load(path, allow_pickle=False) as stored:
        return dict(stored)
