"""Draws the images of the documentation with `cir view`: `python -m docs.images`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from commonir.cli.main import main

FOLDER = Path(__file__).parent
_EXAMPLES = FOLDER.parents[1] / "examples"
_MOBILENET, _TRANSFORMER = str(_EXAMPLES / "mobilenet.mlpackage"), str(_EXAMPLES / "transformer.onnx")


def draw(folder: Path) -> None:
    """Draws a block of MobileNet, and the transformer on two ranks, as SVG files in the folder."""
    with tempfile.TemporaryDirectory() as scratch:
        block = str(Path(scratch) / "block.mlpackage")
        _cir("extract", _MOBILENET, "-o", block, "--from", "input_3", "--to", "input_19")
        _cir("view", block, "-o", str(folder / "block.svg"))
        _cir("view", _TRANSFORMER, "--ranks", "2", "-o", str(folder / "ranks.svg"))


def _cir(*words: str) -> None:
    status = main(list(words))
    assert status == 0, words


if __name__ == "__main__":
    draw(FOLDER)
    sys.exit(0)
