"""Drawings of programs of ranks, taken apart as XML."""

from __future__ import annotations

import base64
import hashlib
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from commonir import api
from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import core
from commonir.inspection.viewing import draw
from commonir.inspection.viewing.drawing import Drawing
from commonir.inspection.viewing.lanes import draw_lanes
from commonir.inspection.viewing.letters import shortened, width_of
from commonir.inspection.viewing.page import page
from commonir.inspection.viewing.svg import svg
from commonir.ir.module import Module
from commonir.ods import Dialects
from commonir.passes.timeline import Arrow, Lane, Point, RankStep, StepKind, Timeline
from commonir.text.parser import parse_module

from tests.formats.ark import model_files as files
from tests.formats.ark.rank_programs import sync
from tests.passes.ark import ark_programs as programs
from tests.passes.ark.ark_programs import Document, copy, incoming, outgoing, received, sent, whole

SVG = "{http://www.w3.org/2000/svg}"


def _root(drawing: Drawing) -> ET.Element:
    return ET.fromstring(svg(drawing))


def _groups(root: ET.Element, class_: str) -> list[ET.Element]:
    return [g for g in root.iter(f"{SVG}g") if g.get("class") == class_]


def _reported(group: ET.Element) -> list[str]:
    return (group.findtext(f"{SVG}title") or "").splitlines()


def _labels(group: ET.Element) -> list[str]:
    return [text.text or "" for text in group.iter(f"{SVG}text")]


def _texts(root: ET.Element, class_: str) -> list[str]:
    return [text.text or "" for text in root.iter(f"{SVG}text") if text.get("class") == class_]


def _top(group: ET.Element) -> float:
    return float(group.find(f"{SVG}rect").get("y", "nan"))  # type: ignore[union-attr]  boxes have one


def _exchange() -> Module:
    return programs.program(programs.exchange(0), programs.exchange(1))


def _circle() -> Module:
    """Three ranks, each of which receives from the one before it before it sends to the next; and one alone."""

    def rank(n: int) -> list[Document]:
        before, after = (n - 1) % 3, (n + 1) % 3
        x = outgoing(0, 4, [(after, 0)])
        first = [copy(whole(40, 4), x, 1, "start"), received(incoming(10, 4, [(before, 0)]), before, 0, 12)]
        return [*first, *sent(files.later(x, 1), after, 0, 22)]

    return programs.program(rank(0), rank(1), rank(2), [copy(whole(0, 4), whole(1, 4), 2)])


def test_ranks_are_lanes_and_their_operations_boxes_in_order() -> None:
    root = _root(draw(_exchange(), "net"))
    assert _texts(root, "head") == ["rank 0", "rank 1"]
    boxes = _groups(root, "box")
    first = [box for box in boxes if _reported(box)[0].startswith("rank 0,")]
    assert [_labels(box) for box in first] == [
        ["Copy", "scale · 8xf32"],
        ["Send → rank 1", "tag 0 · 32 B"],
        ["Recv ← rank 1", "tag 1 · 32 B"],
        ["Add", "total · 8xf32"],
    ]
    assert len(boxes) == 8
    tops = [_top(box) for box in first]
    assert tops == sorted(tops)
    assert _reported(first[1]) == [
        "rank 0, steps 1 to 2 of 5", "Send send · 8xf32", "SendDone senddone · 8xf32",
        "rank 0 → rank 1, tag 0 · 32 B",
    ]  # fmt: skip


def test_messages_are_arrows_from_the_send_down_to_the_receive() -> None:
    root = _root(draw(_exchange(), "net"))
    arrows = _groups(root, "arrow")
    assert [_reported(arrow) for arrow in arrows] == [
        ["rank 0 → rank 1", "tag 0 · 32 B"],
        ["rank 1 → rank 0", "tag 1 · 32 B"],
    ]
    for arrow in arrows:
        begin, end = _line(arrow)
        assert begin < end


def test_what_waits_for_all_ranks_stands_at_one_height() -> None:
    first = [copy(whole(40, 4), whole(41, 4), 42), sync(0, 2, 60)]
    root = _root(draw(programs.program(first, [sync(1, 2, 60)]), "net"))
    tops = [_top(box) for box in _groups(root, "box") if _labels(box)[0] == "DeviceSync"]
    assert len(tops) == 2
    assert len(set(tops)) == 1
    assert len([line for line in root.iter(f"{SVG}line") if line.get("class") == "meeting"]) == 1


def test_a_deadlock_is_reported_and_marked() -> None:
    drawing = draw(_circle(), "net")
    reported = "deadlock: these wait for each other forever: rank 0 for rank 2, rank 2 for rank 1, rank 1 for rank 0"
    assert drawing.findings == (reported,)
    root = _root(drawing)
    assert reported in _texts(root, "alert")
    stuck = [box for box in _groups(root, "box") if box.find(f"{SVG}rect").get("class") == "stuck"]  # type: ignore[union-attr]
    assert [_labels(box)[0] for box in stuck] == ["Recv ← rank 2", "Recv ← rank 0", "Recv ← rank 1"]
    assert _texts(root, "end") == ["waits forever", "2 operations not reached"] * 3
    assert [_reported(arrow) for arrow in _groups(root, "arrow")] == [
        ["rank 0 waits for rank 2"], ["rank 1 waits for rank 0"], ["rank 2 waits for rank 1"],
    ]  # fmt: skip


def test_a_rank_that_waits_for_one_that_has_ended_is_reported() -> None:
    drawing = draw(programs.program([received(incoming(10, 4, [(1, 0)]), 1, 0, 12)], []), "net")
    assert drawing.findings == ("rank 0 waits forever",)


def test_what_nobody_receives_ends_in_a_ring() -> None:
    drawing = draw(programs.program(sent(outgoing(0, 4, [(1, 7)]), 1, 7, 2), [copy(whole(0, 4), whole(1, 4), 2)]), "n")
    assert drawing.findings == ("1 message never received",)
    (arrow,) = _groups(_root(drawing), "arrow")
    assert _reported(arrow) == ["rank 0 → rank 1", "tag 7 · 16 B", "never received"]
    assert arrow.find(f"{SVG}circle") is not None


def test_ranks_whose_files_are_missing_have_a_lane_when_something_is_sent_to_them() -> None:
    drawing = draw(programs.together(files.document("v3", programs.exchange(0), (), 0, 2)), "net")
    root = _root(drawing)
    assert _texts(root, "head") == ["rank 0", "rank 1"]
    assert "not there" in _texts(root, "sub")
    assert drawing.left_out == ("not there: 1 rank, taken to send what is received from them",)
    assert len(_groups(root, "arrow")) == 2


EVIL = "</title></text><script>alert(1)</script>&\"'\x1b\u202e]]>"


def test_names_from_files_stay_texts() -> None:
    drawing = draw(programs.program([copy(whole(0, 4), whole(1, 4), 2, EVIL)]), EVIL)
    for text in (svg(drawing), page(drawing)):
        assert "<script>alert" not in text
        assert "\x1b" not in text
        assert "\u202e" not in text
    root = _root(drawing)
    assert not list(root.iter(f"{SVG}script"))
    assert root.findtext(f"{SVG}title") == "</title></text><script>alert(1)</script>&\"'\\x1b\\u202e]]>"


def test_a_drawing_refers_to_nothing_outside_and_runs_nothing() -> None:
    root = _root(draw(_exchange(), "net"))
    for part in root.iter():
        assert part.tag.removeprefix(SVG) in {
            "svg",
            "title",
            "desc",
            "style",
            "rect",
            "g",
            "line",
            "path",
            "circle",
            "text",
        }
        for name, value in part.attrib.items():
            assert not name.startswith("on")
            assert "href" not in name
            assert "url(" not in value
    assert "@import" not in (root.findtext(f"{SVG}style") or "")


def test_a_page_loads_nothing_and_its_policy_knows_its_script() -> None:
    text = page(draw(_exchange(), "net"))
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; "
    assert f"content=\"{policy}base-uri 'none'; form-action 'none'\"" in text
    outside = text.replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?:|src=|href=|@import|url\(", outside)
    assert "{{" not in text


def test_drawings_are_the_same_every_time() -> None:
    assert draw(_exchange(), "net") == draw(_exchange(), "net")


def _chain(length: int) -> list[Document]:
    inputs = [whole(0, 4), *[files.later(whole(n, 4), n + 10_000) for n in range(1, length)]]
    return [copy(inputs[n], whole(n + 1, 4), n + 10_001, f"step{n}") for n in range(length)]


def test_many_operations_in_a_row_are_one_box_that_names_the_first_ones() -> None:
    drawing = draw(programs.program(_chain(300), _chain(2)), "net")
    assert drawing.left_out == ("more than 16 operations in a row that only compute are drawn as one box",)
    boxes = _groups(_root(drawing), "box")
    assert _labels(boxes[0]) == ["300 operations", "300 Copy"]
    assert _reported(boxes[0])[0] == "rank 0, steps 0 to 299 of 300"
    assert _reported(boxes[0])[-1] == "and 284 more"
    assert len(boxes) == 3


@pytest.mark.slow
def test_a_program_of_ten_thousand_operations_is_a_drawing_of_bounded_size() -> None:
    ranks: list[list[Document]] = []
    for rank in (0, 1):
        other_rank, ops = 1 - rank, list[Document]()
        for n in range(0, 25_000, 20):
            x = outgoing(n, 4, [(other_rank, rank)])
            ops += [copy(whole(n + 1, 4), x, n + 2), *sent(files.later(x, n + 2), other_rank, rank, n + 3)]
            ops.append(received(incoming(n + 8, 4, [(other_rank, other_rank)]), other_rank, other_rank, n + 9))
        ranks.append(ops)
    drawing = draw(programs.program(*ranks), "net")
    assert drawing.summary == "2 ranks · 10,000 operations · 2,500 messages, 40.0 kB"
    assert drawing.left_out == ("left out in the middle: 8,400 operations in 3,150 rows, 2,100 messages",)
    assert len(svg(drawing)) < 2_000_000
    _root(drawing)


def test_messages_to_and_from_what_is_left_out_end_there() -> None:
    computes, sends, receives = [
        RankStep(kind, kind.name) for kind in (StepKind.COMPUTES, StepKind.SENDS, StepKind.RECEIVES)
    ]
    lanes = (
        Lane(0, (computes, sends) * 1000),
        Lane(1, (*(computes, sends) * 500, receives, receives)),
        Lane(2, (*(computes, sends) * 900, receives, receives)),
    )
    arrows = (
        Arrow(Point(0, 1), Point(1, 1000), 1, 0, 4),
        Arrow(Point(0, 1003), Point(1, 1001), 1, 1, 4),
        Arrow(Point(0, 1001), Point(2, 1800), 2, 2, 4),
        Arrow(Point(0, 3), Point(2, 1801), 2, 3, 4),
    )
    drawing = draw_lanes(Timeline(3, lanes, arrows, ()), "net")
    assert drawing.left_out == ("left out in the middle: 3,502 operations in 1,400 rows, 1 message",)
    root = _root(drawing)
    assert [_reported(arrow)[1] for arrow in _groups(root, "arrow")] == ["tag 0 · 4 B", "tag 2 · 4 B", "tag 3 · 4 B"]
    assert "1,400 rows left out" in _texts(root, "note")
    (gap,) = [rect for rect in root.iter(f"{SVG}rect") if rect.get("class") == "gap"]
    top = float(gap.get("y", "nan"))
    ends = [_line(arrow) for arrow in _groups(root, "arrow")]
    assert [begin < top < end for begin, end in ends] == [False, False, True]
    assert ends[0][1] == top
    assert ends[1][0] == top + float(gap.get("height", "nan"))


def _line(arrow: ET.Element) -> tuple[float, float]:
    """The heights at which an arrow begins and ends."""
    line = arrow.find(f"{SVG}path")
    assert line is not None
    numbers = [float(n) for n in re.findall(r"-?[\d.]+", line.get("d", ""))]
    return numbers[1], numbers[-1]


def _core(*bodies: str) -> Module:
    functions = [f"ml_program.func @rank{n}(%x: tensor<2x3xf32>) {{ {body} }}" for n, body in enumerate(bodies)]
    module = parse_module("\n".join(functions), Dialects())
    for n, function in enumerate(module.functions.values()):
        core.set_rank(function, n, len(bodies))
    return module


def test_programs_of_the_core_are_drawn_too() -> None:
    send = "core.send %x {destination = 1, tag = 5} : tensor<2x3xf32>"
    receive = "%y = core.recv {source = 0, tag = 5, shape = [2, 3], element = f32} : tensor<2x3xf32>"
    reduce = "%z = core.all_reduce %x : tensor<2x3xf32>"
    end = "ml_program.return"
    root = _root(draw(_core(f"{send}\n{reduce}\n{end}", f"{receive}\n{reduce}\n{end}"), "net"))
    assert [_labels(box) for box in _groups(root, "box")] == [
        ["send → rank 1", "tag 5 · 24 B"],
        ["recv ← rank 0", "tag 5 · 24 B"],
        ["all_reduce", "z · 2x3xf32"],
        ["all_reduce", "z · 2x3xf32"],
    ]
    assert [_reported(arrow) for arrow in _groups(root, "arrow")] == [["rank 0 → rank 1", "tag 5 · 24 B"]]


def test_programs_without_a_function_are_refused(tmp_path: Path) -> None:
    module = parse_module("ml_program.global private @g : i32", Dialects())
    with pytest.raises(DiagnosticError, match="there is nothing to draw") as caught:
        api.view(module, tmp_path / "x.svg")
    assert caught.value.diagnostics[0].code.id == "E0807"
    assert not list(tmp_path.iterdir())


def test_the_suffix_decides_what_is_written(tmp_path: Path) -> None:
    module = _exchange()
    assert api.view(module, tmp_path / "x.svg").size_bytes == len((tmp_path / "x.svg").read_bytes())
    api.view(module, tmp_path / "x.html")
    api.view(module, tmp_path / "page", to="html")
    assert (tmp_path / "x.html").read_text().startswith("<!DOCTYPE html>")
    assert (tmp_path / "page").read_text().startswith("<!DOCTYPE html>")
    with pytest.raises(DiagnosticError, match=r"a drawing is written as html, svg, png or pdf, not as 'x.gif'"):
        api.view(module, tmp_path / "x.gif")


SAMPLES = ("", "a", "Send → rank 12", "層の出力" * 9, "iiiillll" * 9, "WWWW" * 9, "e\u0301" * 40)


@pytest.mark.parametrize("text", SAMPLES)
def test_shortened_texts_fit_and_begin_like_the_whole(text: str) -> None:
    for room in (20.0, 60.0, 170.0):
        shown = shortened(text, 12, room)
        assert width_of(shown, 12) <= room
        assert shown == text or (shown.endswith("…") and text.startswith(shown[:-1]))
