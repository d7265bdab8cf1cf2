"""Pages that follow from the code are what the code says now."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from docs.generate import FOLDER, PAGES

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", PAGES)
def test_page_is_up_to_date(name: str) -> None:
    assert (FOLDER / name).read_text(encoding="utf-8") == PAGES[name](), "stale: run `python -m docs.generate`"


@pytest.mark.parametrize("page", [*sorted(FOLDER.rglob("*.md")), ROOT / "README.md"], ids=lambda page: page.name)
def test_links_lead_to_files_of_the_repository(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        assert target.startswith("https://") or (page.parent / target).exists(), target


def test_every_page_once_in_the_index() -> None:
    listed = re.findall(r"\]\(([a-z_]+\.md)\)", (FOLDER / "index.md").read_text(encoding="utf-8"))
    assert sorted(listed) == sorted(page.name for page in FOLDER.glob("*.md") if page.name != "index.md")


def test_every_benchmark_and_command_of_tests_is_listed() -> None:
    page = (FOLDER / "testing.md").read_text(encoding="utf-8")
    benchmarks = [p for p in (ROOT / "benchmarks").glob("*.py") if '__name__ == "__main__"' in p.read_text("utf-8")]
    names = [f"benchmarks.{p.stem}" for p in benchmarks] + [
        f"tests.{p.parent.name}" for p in ROOT.glob("tests/*/__main__.py")
    ]
    assert [name for name in names if name not in page and name.replace(".", "/") not in page] == []
