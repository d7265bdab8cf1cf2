"""The default selection of tests: which cases of a family stay in it. `test_time_limit.py` has fast tests of it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[1]
_FAMILIES = """import pytest

@pytest.mark.fast_every(3)
@pytest.mark.parametrize("number", range(9))
def test_one(number): ...

@pytest.mark.fast_every(3)
@pytest.mark.parametrize(("a", "b"), [(n, n) for n in range(6)])
@pytest.mark.parametrize("letter", "xyz")
def test_several(a, b, letter): ...
"""


@pytest.mark.slow
def test_a_spread_of_a_family_is_fast_whichever_cases_are_collected(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text((_ROOT / "tests" / "conftest.py").read_text())
    (tmp_path / "pyproject.toml").write_text((_ROOT / "pyproject.toml").read_text())
    path = tmp_path / "test_families.py"
    path.write_text(_FAMILIES)
    fast = _collected(path)
    numbers = [int(n) for n in re.findall(r"test_one\[(\d)\]", fast)]
    assert numbers == list(range(numbers[0], 9, 3))
    assert fast.count("test_several[") == 6
    assert {letter for letter in "xyz" if f"[{letter}-" in fast} == set("xyz")
    alone = _collected(f"{path}::test_one[{numbers[1]}]")
    assert f"test_one[{numbers[1]}]" in alone
    assert "test_one[" not in _collected(f"{path}::test_one[{numbers[1] + 1}]")


def _collected(what: Path | str) -> str:
    command = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider", str(what)]
    return subprocess.run(command, capture_output=True, text=True, cwd=_ROOT, check=False).stdout
