"""Pages of commands and examples that users try in their first hour, compared with what they print.

Each page of this folder is a topic: commands with what they print (`tests/console_pages.py`), in pseudo-terminals where
the width matters, and examples in Python (`>>>`), all in one folder with the models of `models.py` that the page names.
"""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

from tests.console_pages import check_commands
from tests.first_hour import models

PAGES = sorted(Path(__file__).parent.glob("*.md"))


# `tests/comparing/test_profile.py` has fast tests of these.
@pytest.mark.slow_cases("01_terminal_widths", "15_ranks", "profile_engines")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page_prints_what_it_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    models.write_models(page.read_text("utf-8"), tmp_path)
    check_commands(page, tmp_path, capsys)
    failed, _ = doctest.testfile(
        str(page), module_relative=False, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    )
    assert failed == 0
