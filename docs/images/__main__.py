"""Draws the images of the documentation with `cir view`: `python -m docs.images`."""

from __future__ import annotations

import re
import sys
import tempfile
from io import BytesIO
from pathlib import Path

from PIL import Image

import commonir as cir
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
    """Takes images of pages in a browser, light and dark: a small, a usual and a large network, with an overlay, and a
    profile.
    """
    with tempfile.TemporaryDirectory() as scratch, Browser(1000, 640) as browser:

        def take(name: str, page: str, *, selects: str = "") -> None:
            for scheme in ("light", "dark"):
                browser.prefer(scheme)
                browser.open(Path(scratch) / page, selects and f"#{selects}")
                browser.evaluate("new Promise(done => setTimeout(done, 300))")
                image = Image.open(BytesIO(browser.screenshot())).convert("RGB")
                small = image.quantize(255, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
                small.save(folder / (f"{name}.png" if scheme == "light" else f"{name}_dark.png"), optimize=True)

        def temporary(name: str) -> str:
            return str(Path(scratch) / name)

        _cir("view", _TRANSFORMER, "-o", temporary("transformer.html"))
        take("page", "transformer.html", selects="/model/transformer/h.0/attn/c_attn/Gemm")
        network, half = cir.load(_TRANSFORMER), temporary("half.onnx")
        _cir("convert", _TRANSFORMER, "-o", half, "--precision", "float16")
        compared = cir.compare(network, cir.load(half))
        cir.view(network, temporary("errors.html"), overlay=[compared, cir.profile(network)], title="transformer.onnx")
        take("errors", "errors.html", selects="/Where")
        _cir("extract", _MOBILENET, "-o", temporary("block.mlpackage"), "--from", "input_3", "--to", "input_19")
        _cir("view", temporary("block.mlpackage"), "-o", temporary("block.html"))
        take("small", "block.html")
        large = Path(temporary("large.mlir"))
        large.write_text(_large(1000), "utf-8")
        _cir("view", str(large), "-o", temporary("large.html"))
        take("large", "large.html")
        _cir("profile", _TRANSFORMER, "--engines", "numpy,onnxruntime", "-o", temporary("profile.html"))
        take("profile", "profile.html")


def _large(layers: int) -> str:
    """Returns a program of repeated layers with ten operations each."""
    lines = ["ml_program.func @main(%x: tensor<4x4xf32>, %mask: tensor<4x4xf32>) -> (tensor<4x4xf32>) {"]
    last = "x"
    for n in range(layers):
        for at, op in enumerate(("exp", "neg", "tanh", "abs", "sigmoid", "relu", "sqrt", "floor")):
            lines.append(f"  %l{n}_{at} = core.{op} %{last} : tensor<4x4xf32>")
            last = f"l{n}_{at}"
        lines.append(f"  %m{n} = core.mul %{last}, %mask : tensor<4x4xf32>")
        lines.append(f"  %s{n} = core.add %m{n}, %l{n}_0 : tensor<4x4xf32>")
        last = f"s{n}"
    return "\n".join([*lines, f"  ml_program.return %{last} : tensor<4x4xf32>", "}"])


if __name__ == "__main__":
    draw(FOLDER)
    photograph(FOLDER)
    sys.exit(0)
