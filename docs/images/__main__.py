"""Draws the images of the documentation with `cir view`: `python -m docs.images`."""

from __future__ import annotations

import re
import sys
import tempfile
from io import BytesIO
from pathlib import Path

from PIL import Image

from commonir.cli.main import main

from tests.chromium import Browser

FOLDER = Path(__file__).parent
_DOCS = FOLDER.parent
_EXAMPLES = _DOCS.parent / "examples"
_MOBILENET, _TRANSFORMER = str(_EXAMPLES / "mobilenet.mlpackage"), str(_EXAMPLES / "transformer.onnx")
_NETWORK, _RULES = str(_EXAMPLES / "rewriting" / "network.mlir"), str(_EXAMPLES / "rewriting" / "tosa.td")
_ATTENTION = ("--from", "/model/transformer/Add_output_0", "--to", "/model/transformer/h.0/Add_output_0")


def draw(folder: Path) -> None:
    """Draws the images of the pages as SVG files in the folder."""

    def view(name: str, *models: str) -> None:
        _cir("view", *models, "-o", str(folder / f"{name}.svg"))

    with tempfile.TemporaryDirectory() as scratch:

        def temporary(name: str) -> str:
            return str(Path(scratch) / name)

        block, part, attention = temporary("block.mlpackage"), temporary("part.onnx"), temporary("attention.onnx")
        _cir("extract", _MOBILENET, "-o", block, "--from", "input_3", "--to", "input_19")
        view("block", block)
        view("ranks", _TRANSFORMER, "--ranks", "2")
        _cir("extract", _TRANSFORMER, "-o", part, *_ATTENTION)
        _cir("opt", part, "-o", attention)
        view("attention", attention)
        _cir("opt", _NETWORK, "--rules", _RULES, "-o", temporary("simpler.mlir"))
        view("rewritten", _NETWORK, temporary("simpler.mlir"))
        for page in ("surgery.md", "ark.md"):
            for name, text in _FILE.findall((_DOCS / page).read_text("utf-8")):
                Path(temporary(name)).write_text(text, "utf-8")
        view("precisions", temporary("single.mlir"), temporary("half.mlir"))
        view("lanes", temporary("net.mlir"))


_FILE = re.compile(r"^```mlir file=(\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
"""A block of a page that is a file."""


def _cir(*words: str) -> None:
    status = main(list(words))
    assert status == 0, words


def photograph(folder: Path) -> None:
    """Takes an image of a page in a browser, with the panel of an operation: `page.png`."""
    with tempfile.TemporaryDirectory() as scratch, Browser(1000, 640) as browser:
        page = Path(scratch) / "transformer.html"
        _cir("view", _TRANSFORMER, "-o", str(page))
        browser.prefer("light")
        browser.open(page, "#/model/transformer/h.0/attn/c_attn/Gemm")
        browser.evaluate("new Promise(done => setTimeout(done, 300))")
        image = Image.open(BytesIO(browser.screenshot())).convert("RGB")
        image.quantize(64, dither=Image.Dither.NONE).save(folder / "page.png", optimize=True)


if __name__ == "__main__":
    draw(FOLDER)
    photograph(FOLDER)
    sys.exit(0)
