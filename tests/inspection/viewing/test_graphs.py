"""Drawings of functions as graphs, taken apart as XML."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import commonir as cir
from commonir import api
from commonir.inspection.viewing import draw
from commonir.inspection.viewing.drawing import Drawing
from commonir.inspection.viewing.svg import svg

from tests.command_lines import command_lines
from tests.faults import model, with_other_weight

SVG = "{http://www.w3.org/2000/svg}"
TWO_WAYS = """
ml_program.func @main(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %a = core.exp %x : tensor<2x3xf32>
  %b = core.neg %x : tensor<2x3xf32>
  %y = core.add %a, %b : tensor<2x3xf32>
  ml_program.return %y : tensor<2x3xf32>
}
"""
LOOP = """
func.func @f(%n: index, %x: f32) -> f32 {
  %a = arith.constant 0 : index
  %b = arith.constant 1 : index
  %r = scf.for %i = %a to %n step %b iter_args(%v = %x) -> (f32) {
    %w = arith.addf %v, %x : f32
    scf.yield %w : f32
  }
  return %r : f32
}
"""


class Box:
    """A box of a drawing: where it is, its styles, the text in it, and its title."""

    def __init__(self, group: ET.Element) -> None:
        frame = group.find(f"{SVG}rect")
        assert frame is not None
        self.mark = group.get("data-at", "")
        self.styles = [rect.get("class", "") for rect in group.findall(f"{SVG}rect")]
        self.x, self.y, self.width, self.height = (float(frame.get(k, "nan")) for k in ("x", "y", "width", "height"))
        self.texts = [text.text or "" for text in group.findall(f"{SVG}text")]
        self.title = (group.findtext(f"{SVG}title") or "").splitlines()

    def holds(self, other: Box) -> bool:
        """Returns whether another box lies within it."""
        return (
            self.x <= other.x
            and self.y <= other.y
            and other.x + other.width <= self.x + self.width
            and other.y + other.height <= self.y + self.height
        )


def _all_boxes(root: ET.Element) -> list[Box]:
    return [Box(g) for g in root.iter(f"{SVG}g") if g.get("class") == "box"]


def _boxes(drawing: Drawing) -> dict[str, Box]:
    """Boxes by what stands first in them."""
    return {box.texts[0]: box for box in _all_boxes(ET.fromstring(svg(drawing)))}


def _joined(drawing: Drawing) -> set[tuple[str, str]]:
    """The lines, each by what stands first in the boxes at its ends."""
    root = ET.fromstring(svg(drawing))
    names = {box.mark: box.texts[0] for box in _all_boxes(root)}
    arrows = [g for g in root.iter(f"{SVG}g") if g.get("class") == "arrow"]
    ends = [arrow.get("data-ends", "").split() for arrow in arrows]
    return {(names.get(a, ""), names[b]) for a, b in ends}


def _drawn(text: str) -> Drawing:
    return draw(cir.loads(text, format="mlir"), "program")


def test_boxes_are_operations_and_lines_what_they_use() -> None:
    drawing = _drawn(TWO_WAYS)
    boxes = _boxes(drawing)
    assert list(boxes) == ["x", "exp", "neg", "add", "y"]
    assert _joined(drawing) == {("x", "exp"), ("x", "neg"), ("exp", "add"), ("neg", "add"), ("add", "y")}
    assert boxes["exp"].y == boxes["neg"].y
    assert boxes["x"].y < boxes["exp"].y < boxes["add"].y < boxes["y"].y
    assert boxes["add"].texts == ["add", "y · 2x3xf32"]
    assert boxes["add"].title == [
        "core.add",
        "gives y: tensor<2x3xf32>",
        "a: a: tensor<2x3xf32>",
        "b: b: tensor<2x3xf32>",
    ]


def test_blocks_are_drawn_within_the_operation_that_holds_them() -> None:
    drawing = _drawn(LOOP)
    boxes = _boxes(drawing)
    loop = boxes["for"]
    assert loop.styles == ["card", "is-control"]
    assert all(loop.holds(boxes[name]) for name in ("i", "v", "addf", "yield"))
    assert not loop.holds(boxes["return"] if "return" in boxes else boxes["n"])
    # What is used within comes from outside: a line to the operation that holds the block.
    assert {("n", "for"), ("x", "for"), ("x", "addf"), ("v", "addf"), ("addf", "yield")} <= _joined(drawing)


def test_constants_are_identified_by_what_uses_them(tmp_path: Path) -> None:
    weight = numpy_helper.from_array(np.zeros((4, 5), np.float32), "w")
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"]),
        helper.make_node("Constant", [], ["axes"], value=numpy_helper.from_array(np.array([0]), "c")),
        helper.make_node("Unsqueeze", ["h", "axes"], ["y"]),
    ]
    ports = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 4]),
        helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, "N", 5]),
    ]
    graph = helper.make_graph(nodes, "main", ports[:1], ports[1:], [weight])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), tmp_path / "m.onnx")
    boxes = _boxes(draw(cir.load(tmp_path / "m.onnx"), "m"))
    assert list(boxes) == ["x", "MatMul", "Unsqueeze", "y"]
    assert (boxes["MatMul"].styles, boxes["MatMul"].texts[-1]) == (["card", "is-layer"], "B 4x5xf32")
    assert "axes = [0]" in boxes["Unsqueeze"].title


def test_every_operation_of_a_network_is_drawn_once() -> None:
    program = model("bert_fp16")
    drawing = draw(program, "bert")
    result = [box for box in _all_boxes(ET.fromstring(svg(drawing))) if box.styles[0] in ("card", "port")]
    computing = [op for op in program.main.body.operations if op.constant_data() is None and op.results]
    assert len(result) == len(computing) + len(program.inputs) + len(program.outputs)
    assert drawing.left_out == ()


@pytest.mark.slow
def test_every_operation_and_line_of_a_large_program_is_drawn() -> None:
    count = 3500
    lines = ["ml_program.func @main(%v0: tensor<f32>) -> (tensor<f32>) {"]
    lines += [f"  %v{n + 1} = core.add %v{n}, %v0 : tensor<f32>" for n in range(count)]
    lines += [f"  ml_program.return %v{count} : tensor<f32>", "}"]
    drawing = draw(cir.loads("\n".join(lines), format="mlir"), "chain")
    root = ET.fromstring(svg(drawing))
    assert (drawing.summary, drawing.left_out) == ("3,500 operations", ())
    assert len(_all_boxes(root)) == count + 2
    assert len([g for g in root.iter(f"{SVG}g") if g.get("class") == "arrow"]) == 2 * count


def test_names_of_files_cannot_leave_their_place() -> None:
    module = cir.loads(TWO_WAYS, format="mlir")
    evil = "</title></svg><script>alert(1)</script>\x1b[31m"
    next(op for op in module.main.body.operations).results[0].name = evil
    drawing = draw(module, evil)
    root = ET.fromstring(svg(drawing))
    assert not list(root.iter(f"{SVG}script"))
    assert "\x1b" not in svg(drawing)


def test_of_two_programs_what_differs_stands_out_on_both_sides(tmp_path: Path) -> None:
    a, b = (cir.loads(text, format="mlir") for text in (TWO_WAYS, TWO_WAYS.replace("core.exp", "core.tanh")))
    api.view(a, tmp_path / "x.svg", other=b, title="one", other_title="two")
    root = ET.parse(tmp_path / "x.svg").getroot()
    boxes = _all_boxes(root)
    assert [(box.texts[0], box.texts[-1]) for box in boxes if "differs" in box.styles] == [
        ("exp", "differs: operation"),
        ("tanh", "differs: operation"),
    ]
    assert "operation: core.exp → core.tanh" in boxes[1].title
    titles = [text.text for text in root.iter(f"{SVG}text") if text.get("class") == "head"]
    assert titles == ["one: main", "two: main"]


def test_weights_that_differ_stand_out_at_what_uses_them(tmp_path: Path) -> None:
    program = model("resnet_fp32")
    fault = with_other_weight(program, 0.5)
    api.view(program, tmp_path / "x.svg", other=fault.program)
    marked = [box for box in _all_boxes(ET.parse(tmp_path / "x.svg").getroot()) if "differs" in box.styles]
    assert len(marked) == 2
    assert all("weights differ" in box.texts for box in marked)
    assert all(f"gives {fault.name}: " in "\n".join(box.title) for box in marked)


def test_command_draws_any_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "two.mlir"
    path.write_text(TWO_WAYS)
    drawing = tmp_path / "two.html"
    done = command_lines(capsys)("view", str(path), "-o", str(drawing))
    assert (done.status, done.out.splitlines()[0]) == (0, "3 operations")
    assert "script-src 'sha256-" in drawing.read_text()


@pytest.mark.parametrize("name", ["bert_fp16", "resnet_fp32", "greedy_decode_fp32"])
def test_boxes_keep_apart_and_lines_end_at_them(name: str) -> None:
    root = ET.fromstring(svg(draw(model(name), name)))
    boxes = {box.mark: box for box in _all_boxes(root)}
    by_graph: dict[str, list[Box]] = {}
    for mark, box in boxes.items():
        graph = mark.rpartition(".")[0]
        outer = boxes.get(graph.rpartition(".")[0])
        assert outer is None or outer.holds(box)
        for other in by_graph.setdefault(graph, []):
            beside = box.x >= other.x + other.width + 9 or other.x >= box.x + box.width + 9
            assert beside or box.y >= other.y + other.height + 9 or other.y >= box.y + box.height + 9
        by_graph[graph].append(box)
    for arrow in [g for g in root.iter(f"{SVG}g") if g.get("class") == "arrow"]:
        path = arrow.find(f"{SVG}path")
        assert path is not None
        numbers = [float(n) for n in re.findall(r"-?[\d.]+", path.get("d", ""))]
        source, target = (boxes.get(end) for end in arrow.get("data-ends", "").split())
        if source is not None:
            assert source.x <= numbers[0] <= source.x + source.width
            assert numbers[1] == pytest.approx(source.y + source.height, abs=0.2)
        if target is not None:
            assert target.x <= numbers[-2] <= target.x + target.width
            assert numbers[-1] == pytest.approx(target.y, abs=0.2)


def test_command_without_a_file_opens_a_page_in_the_browser(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("click.launch", opened.append)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    path = tmp_path / "two.mlir"
    path.write_text(TWO_WAYS)
    assert command_lines(capsys)("view", str(path)).status == 0
    (page,) = tmp_path.glob("cir-*/two.html")
    assert opened == [page.as_uri()]
    assert page.read_text().startswith("<!DOCTYPE html>")
