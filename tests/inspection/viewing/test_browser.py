"""Pages in a real browser, in light and dark: what users see, click and type. Fast tests are in test_page.py."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import commonir as cir
from commonir import api

from tests.chromium import Browser
from tests.faults import model

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[3] / "examples"
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
PAPER = {"light": (255, 255, 255), "dark": (13, 17, 23)}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser(1200, 800) as browser:
        yield browser


def _type(browser: Browser, text: str) -> None:
    browser.press("/", "/")
    for letter in text:
        browser.press(letter, letter)


def _text(browser: Browser, id: str) -> str:
    return str(browser.evaluate(f"document.getElementById('{id}').innerText"))


def _pixels(browser: Browser) -> np.ndarray:
    return np.asarray(Image.open(BytesIO(browser.screenshot())).convert("RGB"))


def _large(path: Path, layers: int) -> int:
    """Writes a program of repeated layers, all of which use one mask, and returns the number of its operations."""
    lines = ["ml_program.func @main(%x: tensor<4x4xf32>, %mask: tensor<4x4xf32>) -> (tensor<4x4xf32>) {"]
    last = "x"
    for n in range(layers):
        for at, op in enumerate(("exp", "neg", "tanh", "abs", "sigmoid", "relu", "sqrt", "floor")):
            lines.append(f"  %l{n}_{at} = core.{op} %{last} : tensor<4x4xf32>")
            last = f"l{n}_{at}"
        lines.append(f"  %m{n} = core.mul %{last}, %mask : tensor<4x4xf32>")
        lines.append(f"  %s{n} = core.add %m{n}, %l{n}_0 : tensor<4x4xf32>")
        last = f"s{n}"
    lines += [f"  ml_program.return %{last} : tensor<4x4xf32>", "}"]
    path.write_text("\n".join(lines))
    return 10 * layers


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_network_is_drawn_searched_and_described(browser: Browser, tmp_path: Path, scheme: str) -> None:
    program = model("resnet_fp32")
    api.view(program, tmp_path / "net.html")
    browser.prefer(scheme)
    browser.open(tmp_path / "net.html")
    pixels = _pixels(browser)
    assert tuple(pixels[700, 600]) != (0, 0, 0)
    assert tuple(pixels[790, 1190]) == PAPER[scheme]
    # The head of a convolution.
    blue = np.abs(pixels.astype(int) - ((43, 108, 176) if scheme == "light" else (47, 111, 179))).max(axis=2) < 3
    assert blue.sum() > 500
    _type(browser, "conv 8x8x8")
    names = [op.results[0].name for op in program.main.body.operations if op.name == "mil.conv"]
    shown = str(
        browser.evaluate("[...document.querySelectorAll('#results li span')].map(e => e.textContent).join('|')")
    )
    assert 0 < len(shown.split("|")) <= len(names)
    browser.press("Enter")
    panel = _text(browser, "details")
    assert panel.startswith("mil.conv")
    for part in ("OPERANDS", "weight", "RESULTS", "used by", "min", "max", "mean", "first elements"):
        assert part in panel
    first = browser.evaluate("location.hash")
    browser.press("ArrowDown")
    assert browser.evaluate("location.hash") != first
    browser.press("ArrowUp")
    assert browser.evaluate("location.hash") == first
    browser.press("Enter")
    assert browser.evaluate("location.hash") != first
    # A link to a user goes there; Escape leaves the search, then the panel.
    browser.evaluate("document.querySelector('#details a').click()")
    assert _text(browser, "details").startswith("mil.")
    for _ in range(2):
        browser.press("Escape")
    assert browser.evaluate("document.getElementById('panel').hidden") is True
    assert browser.evaluate("document.getElementById('query').value") == ""
    assert browser.complaints() == []


def test_an_address_names_an_operation(browser: Browser, tmp_path: Path) -> None:
    program = model("resnet_fp32")
    api.view(program, tmp_path / "net.html")
    name = next(op.results[0].name for op in program.main.body.operations if op.name == "mil.max_pool")
    browser.open(tmp_path / "net.html", f"#{name}")
    assert _text(browser, "details").startswith(f"mil.max_pool\n\n{name}")
    # It is in the middle of what the panel leaves of the window, and clicking there selects it again.
    left, right = "document.getElementById('side')", "document.getElementById('panel')"
    edges = f"({left}.getBoundingClientRect().right + {right}.getBoundingClientRect().left - 12) / 2"
    middle = float(str(browser.evaluate(edges)))
    browser.press("Escape")
    assert browser.evaluate(f"{right}.hidden") is True
    browser.click(middle, 400)
    assert _text(browser, "details").startswith("mil.max_pool")
    assert browser.complaints() == []


def test_regions_fold_and_themes_change(browser: Browser, tmp_path: Path) -> None:
    browser.prefer("light")
    api.view(cir.loads(LOOP, format="mlir"), tmp_path / "loop.html")
    browser.open(tmp_path / "loop.html")
    opened = _pixels(browser)
    browser.press("c", "c")
    browser.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    folded = _pixels(browser)
    assert (opened != folded).any()
    browser.press("t", "t")
    assert browser.evaluate("document.documentElement.dataset.theme") == "dark"
    # What is inside of a folded operation is found and opened.
    _type(browser, "addf")
    browser.press("Enter")
    assert _text(browser, "details").startswith("arith.addf")
    assert browser.complaints() == []


def test_functions_fold_at_their_titles(browser: Browser, tmp_path: Path) -> None:
    browser.prefer("light")
    api.view(cir.loads(_functions(60, 10), format="mlir"), tmp_path / "many.html")
    browser.open(tmp_path / "many.html")
    _type(browser, "exp v59_9")
    assert _text(browser, "found") == "1 found"
    browser.press("Enter")
    assert _text(browser, "details").startswith("math.exp")
    assert browser.complaints() == []


def _functions(count: int, length: int) -> str:
    """Functions that are chains of operations."""
    out: list[str] = []
    for f in range(count):
        names = ["%x", *[f"%v{f}_{n}" for n in range(length)]]
        body = [f"  {names[n + 1]} = math.exp {names[n]} : f32" for n in range(length)]
        out += [f"func.func @f{f}(%x: f32) -> f32 {{", *body, f"  return {names[-1]} : f32", "}"]
    return "\n".join(out)


def test_ten_thousand_operations_are_drawn_at_once(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "large.mlir"
    count = _large(path, 1000)
    saved = api.view(cir.load(path), tmp_path / "large.html")
    assert saved.summary == f"{count:,} operations"
    browser.open(tmp_path / "large.html")
    assert int(str(browser.evaluate("document.documentElement.dataset.drawn"))) < 3000
    # Opened whole, it still moves: a frame takes far less than half a second.
    browser.evaluate("document.getElementById('unfold').click()")
    slowest = browser.evaluate(
        "(async () => { const canvas = document.getElementById('drawing'); let most = 0;"
        "  document.getElementById('fit').click();"
        "  for (let n = 0; n < 10; n++) { const begin = performance.now();"
        "    canvas.dispatchEvent(new WheelEvent('wheel', {deltaY: -20, ctrlKey: true, clientX: 500, clientY: 400}));"
        "    await new Promise(done => requestAnimationFrame(() => setTimeout(done)));"
        "    most = Math.max(most, performance.now() - begin); } return most; })()"
    )
    assert float(str(slowest)) < 500
    _type(browser, "l777_3")
    browser.press("Enter")
    assert _text(browser, "details").startswith("core.abs")
    assert browser.complaints() == []


def test_ranks_and_two_programs_have_the_same_controls(browser: Browser, tmp_path: Path) -> None:
    a, b = model("resnet_fp32"), model("resnet_fp16")
    api.view(a, tmp_path / "both.html", other=b, title="one", other_title="two")
    browser.open(tmp_path / "both.html")
    _type(browser, "conv")
    browser.press("Enter")
    assert "weights differ" in _text(browser, "details")
    ranks = api.shard(api.lower(cir.load(EXAMPLES / "transformer.onnx")), 2, "tensor")
    api.view(ranks, tmp_path / "ranks.html")
    browser.open(tmp_path / "ranks.html")
    _type(browser, "all_reduce")
    assert _text(browser, "found") == "8 found"
    browser.press("Enter")
    assert _text(browser, "details").startswith("rank 0, step")
    assert browser.complaints() == []


def test_an_overlay_is_chosen_in_the_page(browser: Browser, tmp_path: Path) -> None:
    program = model("resnet_fp32")
    profile = cir.profile(program, engine="numpy", repeat=1)
    half = cir.convert(program, "mil", precision="float16")
    api.view(program, tmp_path / "hot.html", overlay=[profile, cir.compare(program, half)])
    browser.prefer("light")
    browser.open(tmp_path / "hot.html")
    assert "slowest" in _text(browser, "shown")
    assert _text(browser, "legend").startswith("up to")
    highest = max(profile.entries, key=lambda entry: entry.seconds)
    first = str(browser.evaluate("document.querySelector('#results li').innerText"))
    assert highest.name in first
    darkest = np.abs(_pixels(browser).astype(int) - (157, 0, 38)).max(axis=2) < 3
    # The step of the slowest operation is in the legend, the drawing and the map.
    assert darkest.sum() > 200
    browser.evaluate("document.querySelector('#results li').click()")
    assert "of all operations" in _text(browser, "details")
    assert "largest error" in _text(browser, "details")
    for shown in ("memory at once", "relative error", "operation type", "time on numpy"):
        browser.press("l", "l")
        assert browser.evaluate("document.getElementById('overlay').selectedOptions[0].text") == shown
    _type(browser, "largest error")
    assert _text(browser, "found").endswith(" found")
    assert browser.complaints() == []


ARRANGED = """
(() => {
  const data = JSON.parse(document.getElementById('scene').textContent);
  const all = [];
  const graphs = data.graphs.map((graph, n) => readGraph(graph, null, String(n), all));
  const result = [];
  for (let seed = 0; seed < 12; seed++) {
    for (const [n, node] of all.entries()) {
      node.isOpen = node.graphs.length > 0 && ((((n + 1) * (seed + 3) * 40503) >>> 7) & 3) !== 0;
    }
    const scene = arrange(graphs, data.sizes);
    const box = (node) => [node.at, node.role, node.X, node.Y, node.width, node.height];
    result.push({
      boxes: scene.boxes.map(box),
      lines: scene.lines.map(({ line, points, tip }) => [box(line.source), box(line.target), points, tip]),
      size: [scene.width, scene.height],
    });
  }
  return result;
})()
"""


@pytest.mark.parametrize("name", ["transformer.onnx", "mobilenet.mlpackage"])
def test_nothing_overlaps_whatever_is_folded(browser: Browser, tmp_path: Path, name: str) -> None:
    """Boxes of one graph keep apart and are within the box around them; each line begins and ends at its boxes."""
    api.view(cir.load(EXAMPLES / name), tmp_path / "net.html")
    browser.open(tmp_path / "net.html")
    states = browser.evaluate(ARRANGED)
    assert isinstance(states, list)
    assert len({str(state) for state in states}) > 6
    for state in states:
        _check_boxes({at: tuple(place) for at, _, *place in state["boxes"]}, state["size"])
        for source, target, points, tip in state["lines"]:
            begin, end = points[:2], points[-2:]
            assert source[2] - 1e-6 <= begin[0] <= source[2] + source[4] + 1e-6
            assert target[2] - 1e-6 <= end[0] <= target[2] + target[4] + 1e-6
            if source[1] != "port":
                assert begin[1] == pytest.approx(source[3] + source[5])
            if target[1] != "port":
                assert end[1] == pytest.approx(target[3])
            assert tip == 1 or target[1] in ("port", "group")
            assert points[1::2] == sorted(points[1::2])


def _check_boxes(places: dict[str, tuple[float, ...]], size: list[float]) -> None:
    by_graph: dict[str, list[tuple[float, ...]]] = {}
    for at, (x, y, width, height) in places.items():
        graph = at.rpartition(".")[0]
        outer = places.get(graph.rpartition(".")[0], (0.0, 0.0, *size))
        assert outer[0] - 0.01 <= x
        assert x + width <= outer[0] + outer[2] + 0.01
        assert outer[1] - 0.01 <= y
        assert y + height <= outer[1] + outer[3] + 0.01
        for other in by_graph.setdefault(graph, []):
            beside = x >= other[0] + other[2] + 9 or other[0] >= x + width + 9
            assert beside or y >= other[1] + other[3] + 9 or other[1] >= y + height + 9
        by_graph[graph].append((x, y, width, height))
