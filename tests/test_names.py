"""Names of tests are short enough to be read."""

from __future__ import annotations

import re
from pathlib import Path

_LONG_NAME = re.compile(r"^\s*def (test_\w{75,})\(", re.MULTILINE)


def test_names_of_tests_are_under_80_characters() -> None:
    files = Path(__file__).parent.rglob("test_*.py")
    assert [f"{file.name}: {name}" for file in files for name in _LONG_NAME.findall(file.read_text("utf-8"))] == []
