"""Pages of profiles in a real browser, light and dark. Fast tests are in `test_profile.py`."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import commonir as cir

from tests.chromium import Browser
from tests.comparing.test_profile import PROGRAM
from tests.passes.rank_programs import program as ranks

PAPER = {"light": (255, 255, 255), "dark": (13, 17, 23)}


@pytest.mark.slow
def test_pages_draw_without_requests_in_light_and_dark(tmp_path: Path) -> None:
    path, of_ranks = tmp_path / "p.html", tmp_path / "r.html"
    engines = ["numpy", "reference"]
    cir.save_profile(cir.profile_engines(cir.loads(PROGRAM, format="mlir"), engines=engines, repeat=1), path)
    program = cir.loads(ranks([["%y = core.all_reduce %x : tensor<4xf32>"]] * 2), format="mlir")
    cir.save_profile(cir.profile_engines(program, engines=["numpy"], repeat=1), of_ranks)
    with Browser(1000, 900) as browser:
        for scheme, paper in PAPER.items():
            browser.prefer(scheme)
            browser.open(path)
            assert not browser.complaints()
            # Bars are drawn, and dots lie inside of the roofline.
            wide = "[...document.querySelectorAll('.bar i')].some(e => e.getBoundingClientRect().width > 100)"
            assert browser.evaluate(wide)
            assert browser.evaluate("document.querySelectorAll('circle').length") == 2 * 3
            assert browser.evaluate("document.documentElement.scrollWidth <= innerWidth")
            pixels = np.asarray(Image.open(BytesIO(browser.screenshot())).convert("RGB"))
            assert tuple(pixels[-1, 0]) == paper
        browser.open(of_ranks)
        assert not browser.complaints()
        assert browser.evaluate("document.querySelectorAll('rect.send').length") == 2
