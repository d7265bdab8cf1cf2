"""The documentation site has a page for each dialect, and each page of `docs/` has its place in the navigation."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from docs.images.__main__ import draw, photograph
from docs.site_pages import generated_pages, page_of, python_page
from PIL import Image

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


@pytest.mark.slow
def test_images_of_pages_are_what_a_browser_shows(tmp_path: Path) -> None:
    """Fonts differ between machines; the colours of boxes and their shares of the image do not."""
    photograph(tmp_path)
    names = sorted(path.name for path in tmp_path.glob("*.png"))
    assert names == sorted(path.name for path in (ROOT / "docs/images").glob("*.png"))
    for name in names:
        new, old = (Image.open(folder / name).convert("RGB") for folder in (tmp_path, ROOT / "docs/images"))
        assert new.size == old.size
        shares = [np.histogram(np.asarray(image), 16, (0, 256))[0] / np.asarray(image).size for image in (new, old)]
        assert np.abs(shares[0] - shares[1]).max() < 0.05, name


def test_every_image_is_shown_on_a_page() -> None:
    pages = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]
    shown = "".join(page.read_text("utf-8") for page in pages)
    assert [p.name for p in (ROOT / "docs/images").glob("*.[sp][vn]g") if f"images/{p.name})" not in shown] == []
