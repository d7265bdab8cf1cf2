"""The documentation site has a page for each dialect, and each page of `docs/` has its place in the navigation."""

from __future__ import annotations

from pathlib import Path

import pytest
from docs.images.__main__ import draw
from docs.site_pages import generated_pages, page_of, python_page

from commonir.ods import Dialects

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_reference_has_every_operation_of_every_dialect() -> None:
    pages = dict(generated_pages())
    dialects = Dialects()
    for name in dialects.names():
        dialect = dialects.get(name)
        assert dialect is not None
        page = pages[f"reference/{page_of(name)}"]
        assert [op for op in dialect.operations if f"## `{op}`" not in page] == []


def test_pages_of_dialects_leave_the_page_of_the_folder_free() -> None:
    pages = [page_of(name) for name in Dialects().names()]
    assert {"index.md", "python.md"}.isdisjoint(pages)
    assert len(set(pages)) == len(pages)


def test_every_page_is_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    names = [str(page.relative_to(ROOT / "docs").as_posix()) for page in (ROOT / "docs").rglob("*.md")]
    assert [name for name in names if name not in navigation] == []


def test_python_page_documents_the_public_functions() -> None:
    page = python_page()
    assert "::: commonir.api.programs.convert" in page
    assert "::: commonir.api.running.run" in page


@pytest.mark.slow
def test_images_are_what_cir_view_draws(tmp_path: Path) -> None:
    draw(tmp_path)
    for image in tmp_path.glob("*.svg"):
        assert image.read_text("utf-8") == (ROOT / "docs/images" / image.name).read_text("utf-8")
    assert sorted(p.name for p in tmp_path.glob("*.svg")) == sorted(
        p.name for p in (ROOT / "docs/images").glob("*.svg")
    )


def test_every_image_is_shown_on_a_page() -> None:
    pages = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]
    shown = "".join(page.read_text("utf-8") for page in pages)
    assert [p.name for p in (ROOT / "docs/images").glob("*.svg") if f"images/{p.name})" not in shown] == []
