"""Type checkers understand definitions: pyright agrees with every line of `cases.py`.

A line of it that must be refused has an ignore comment, and pyright reports those that ignore nothing.
`test_cases_when_run.py` is the fast part.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.oracles import oracle

ROOT = Path(__file__).parents[2]
CASES = Path(__file__).with_name("cases.py")


def _findings(path: Path) -> list[tuple[int, str]]:
    """Line and rule of everything pyright says of a file under the settings of this repository."""
    oracle("pyright")
    command = [sys.executable, "-m", "pyright", "--outputjson", "--project", str(ROOT), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    if not done.stdout.startswith("{"):
        pytest.fail(f"pyright did not run: {done.stdout}{done.stderr}")
    result = json.loads(done.stdout)["generalDiagnostics"]
    return [(d["range"]["start"]["line"] + 1, d.get("rule", "")) for d in result]


@pytest.mark.slow
def test_pyright_infers_accessors_refuses_wrong_arguments_and_narrows_in_match() -> None:
    assert _findings(CASES) == []
