"""Examples in the documentation and in docstrings run and give what they say."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs").rglob("*.md"))
MODULES = sorted(
    str(path.relative_to(ROOT / "src").with_suffix("")).replace("/", ".").replace("\\", ".").removesuffix(".__init__")
    for path in (ROOT / "src" / "commonir").rglob("*.py")
    if ">>>" in path.read_text("utf-8")
)


@pytest.mark.slow_cases("surgery.md")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_of_a_page_run(page: Path) -> None:
    failed, _ = doctest.testfile(str(page), module_relative=False)
    assert failed == 0


@pytest.mark.parametrize("module", MODULES)
def test_examples_of_docstrings_run(module: str) -> None:
    failed, _ = doctest.testmod(import_module(module))
    assert failed == 0
