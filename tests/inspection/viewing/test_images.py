"""Drawings as PNG and PDF files, without a browser."""

from __future__ import annotations

import re
import zlib
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

import commonir as cir
from commonir.base.diagnostics import DiagnosticError
from commonir.inspection.viewing import draw
from commonir.inspection.viewing.drawing import Drawing
from commonir.inspection.viewing.pdf import pdf
from commonir.inspection.viewing.png import png
from commonir.inspection.viewing.shapes import Box, Curve, Label, Polygon, Ring, Segment, flat
from commonir.inspection.viewing.styles import STYLES
from commonir.inspection.viewing.svg import svg

PROGRAM = """
ml_program.func @main(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %a = core.exp %x : tensor<2x3xf32>
  %y = core.add %a, %x : tensor<2x3xf32>
  ml_program.return %y : tensor<2x3xf32>
}
"""


@pytest.fixture(scope="module")
def drawing() -> Drawing:
    return draw(cir.loads(PROGRAM, format="mlir"), "program (one) \\ λ →")


def _content(file: bytes) -> str:
    (stream,) = re.findall(rb"/FlateDecode >>\nstream\n(.*?)\nendstream", file, re.DOTALL)
    return zlib.decompress(stream).decode("cp1252")


def test_pdf_has_every_object_where_its_table_says(drawing: Drawing) -> None:
    file = pdf(drawing)
    assert file.startswith(b"%PDF-1.7\n")
    start = int(re.findall(rb"startxref\n(\d+)\n%%EOF\n$", file)[0])
    table = file[start:].split(b"trailer")[0].splitlines()
    assert table[:2] == [b"xref", b"0 8"]
    assert all(len(row) == 19 for row in table[2:])
    for number, row in enumerate(table[3:], 1):
        assert file[int(row.split()[0]) :].startswith(f"{number} 0 obj\n".encode())
    width, height, _ = drawing.composed()
    assert f"/MediaBox [0 0 {width:.2f} {height:.2f}]".encode() in file
    (length,) = re.findall(rb"/Length (\d+)", file)
    assert len(re.findall(rb"stream\n(.*?)\nendstream", file, re.DOTALL)[0]) == int(length)


def test_pdf_has_the_texts_of_the_drawing(drawing: Drawing) -> None:
    content = _content(pdf(drawing))
    texts = [
        text.replace("\\(", "(").replace("\\)", ")").replace("\\\\", "\\")
        for text in re.findall(r"\((.*?)\) Tj", content)
    ]
    labels = [shape.text for shape in flat(drawing.composed()[2]) if isinstance(shape, Label)]
    assert texts[0] == "program (one) \\ ? ->"
    assert texts[1:] == labels[1:]
    assert content.count("q\n") == content.count("Q\n") + content.endswith("Q")


def test_png_has_the_colours_of_boxes_where_they_are(drawing: Drawing) -> None:
    image = Image.open(BytesIO(png(drawing))).convert("RGB")
    width, height, shapes = drawing.composed()
    assert image.size == (round(2 * width), round(2 * height))
    pixels = np.asarray(image)
    heads = [shape for shape in flat(shapes) if isinstance(shape, Box) and shape.style.startswith("is-")]
    assert len(heads) == 3
    for head in heads:
        fill = STYLES[head.style].fill
        assert fill is not None
        color = tuple(pixels[round(2 * (head.y + 3)), round(2 * (head.x + head.width - 6))])
        assert f"#{color[0]:02x}{color[1]:02x}{color[2]:02x}" == fill[0]
    assert tuple(pixels[-1, -1]) == (255, 255, 255)


def test_very_large_images_are_smaller_than_the_drawing() -> None:
    shapes = (Box("card", 0, 0, 30_000, 90_000),)
    large = Drawing(30_000, 90_000, shapes, (), {}, "large", "1 operation", (), ())
    assert "/MediaBox [0 0 4" in pdf(large).decode("latin-1")
    long = Drawing(300, 90_000, shapes, (), {}, "long", "1 operation", (), ())
    assert Image.open(BytesIO(png(long))).size[1] == 30_000
    with pytest.raises(DiagnosticError, match=r"a drawing of 30,000 x 90,\d+ pixels is too large for a PNG file"):
        png(large)


def test_every_shape_is_in_every_file() -> None:
    shapes = (
        Box("stuck", 10, 10, 50, 20, 5),
        Segment("idle", (10, 40), (60, 40)),
        Curve("lost", ((10, 60), (30, 60), (40, 90), (60, 90))),
        Polygon("tip", ((10, 100), (20, 100), (15, 110))),
        Ring("ring", (40, 105), 5),
        Segment("meeting", (10, 120), (60, 120)),
    )
    drawing = Drawing(300, 140, shapes, (), {}, "shapes", "", (), ())
    content = _content(pdf(drawing))
    assert (content.count("[6 3] 0 d"), content.count("[2 4] 0 d"), content.count("/O35 gs")) == (2, 1, 1)
    pixels = np.asarray(Image.open(BytesIO(png(drawing))).convert("RGB")).astype(int)
    for shape, point in zip(shapes, [(30, 20), None, None, (15, 102), (40, 105), (30, 120)], strict=True):
        style = STYLES[shape.style]
        color = style.fill or style.stroke
        assert color is not None
        assert f'class="{shape.style}"' in svg(drawing)
        if point is not None and shape.style != "meeting":
            x, y = point[0] * 2, round((point[1] + drawing.composed()[1] - 140) * 2)
            assert np.abs(pixels[y, x] - [int(color[0][n : n + 2], 16) for n in (1, 3, 5)]).max() < 12
