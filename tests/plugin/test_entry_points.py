"""The tests of `test_plugin.py` in this process, without pip: the entry points of the package are written out."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest

import commonir as cir
from commonir.native.engine import ENGINE as NATIVE
from commonir.ods import Dialects
from commonir.runtime.kernel_graph.block_steps import GraphStep
from commonir.text.parser import parse_module
from commonir.text.printer import print_module

from tests.command_lines import Cir, command_lines
from tests.console_pages import check_commands
from tests.oracles import require_package
from tests.plugin.programs import DEMO, PROGRAM

PACKAGE = Path(__file__).parent / "package"


@pytest.fixture(autouse=True)
def _entry_points(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts the package on the path, with what an installation says of it beside."""
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]
    lines: list[str] = []
    for group, entries in project["entry-points"].items():
        lines += [f"[{group}]", *[f"{name} = {reference}" for name, reference in entries.items()]]
    about = tmp_path / "installed" / "commonir_demo-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    (about / "entry_points.txt").write_text("\n".join(lines))
    for folder in (PACKAGE, about.parent):
        monkeypatch.syspath_prepend(folder)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Cir:
    return command_lines(capsys)


def named_as_written(text: str) -> str:
    """Returns a text of the format with the names of `DEMO`."""
    return text.replace("i0", "a").replace("i1", "b").replace("t2", "t").replace("t3", "u")


@pytest.mark.parametrize("engine", ["reference", "numpy", "native"])
def test_operations_verify_print_lower_and_run(engine: str) -> None:
    module = parse_module(PROGRAM, Dialects())
    assert cir.verify(module) == []
    text = print_module(module)
    assert print_module(parse_module(text, Dialects())) == text
    assert {op.name for op in cir.lower(module).main.body.operations} >= {"core.mul", "core.add", "demo.median"}
    inputs = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.array([1, 2, 4], np.float32)}
    # blend = 0.25 a + 0.75 b = [[0.75, 1.75, 3.5], [1.5, 2.5, 4.25]]; the median of its products with b is twice each.
    expected = [[[1.5, 3.5, 7.0], [3.0, 5.0, 8.5]], [3.5, 5.0]]
    assert [x.tolist() for x in cir.run(module, inputs, engine=engine).values()] == expected


def test_an_operation_with_a_kernel_is_compiled_with_others() -> None:
    """The code generator has not a line for it: code follows from its reference."""
    require_package("llvmlite")
    module = cir.lower(parse_module(OUTER_PROGRAM, Dialects()))
    executable = NATIVE.prepare(module)
    (step,) = executable.steps_of(module.main.body)
    assert isinstance(step, GraphStep)
    assert [op.name for op in step.operations] == ["demo.outer", "core.tanh"]
    for rows, columns in ((2, 3), (5, 40), (1, 1)):
        a = np.linspace(-2, 2, rows * columns, dtype=np.float32).reshape(rows, columns)
        b = np.linspace(1, 3, 7, dtype=np.float32)
        (y,) = executable.run({"a": a, "b": b}).values()
        np.testing.assert_allclose(y, np.tanh(a[:, :, None] * b), rtol=1e-6)


OUTER_PROGRAM = """
ml_program.func @main(%a: tensor<"N"x"M"xf32>, %b: tensor<7xf32>) -> tensor<"N"x"M"x7xf32> {
  %outer = "demo.outer"(%a, %b) : (tensor<"N"x"M"xf32>, tensor<7xf32>) -> tensor<"N"x"M"x7xf32>
  %y = core.tanh %outer : tensor<"N"x"M"x7xf32>
  ml_program.return %y : tensor<"N"x"M"x7xf32>
}
"""


def test_a_wrong_use_of_an_operation_is_reported_as_one_of_ours() -> None:
    with pytest.raises(cir.DiagnosticError) as caught:
        parse_module(PROGRAM.replace("2.500000e-01", "-1.000000e+00"), Dialects())
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code.id == "E0505"
    assert diagnostic.message == "demo.blend: attribute 'weight' must be positive, found -1.0"


def test_a_format_is_recognized_by_content_and_a_conversion_leads_back(tmp_path: Path, run: Cir) -> None:
    model, onnx, back = tmp_path / "model.txt", tmp_path / "model.onnx", tmp_path / "back.demo"
    model.write_text(DEMO)
    about = json.loads(run("info", str(model), "--json").out)["result"]
    assert [f["operations"] for f in about["functions"]] == [{"demo.total": 2}]
    assert run("convert", str(model), "-o", str(onnx)).status == 0
    assert run("convert", str(onnx), "--to", "demo", "-o", str(back)).status == 0
    assert named_as_written(back.read_text()) == DEMO


@pytest.mark.parametrize("name", ["m.bin", "m.onnx", "m.demo"])
def test_a_program_of_a_format_is_shown_and_written_as_one(name: str, tmp_path: Path, run: Cir) -> None:
    model, other, out = tmp_path / name, tmp_path / "other.mlir", tmp_path / "out.demo"
    model.write_text(DEMO)
    other.write_text(PROGRAM)
    assert "format      Demo program\n" in run("info", str(model)).out
    assert json.loads(run("info", str(model), "--json").out)["result"]["format"] == "demo-text"
    assert run("diff", str(model), str(model)).out.startswith("demo-text against demo-text")
    assert run("diff", str(model), str(other)).out.startswith("demo-text against mlir")
    done = run("opt", str(model), "-o", "-")
    assert (done.status, named_as_written(done.out)) == (0, DEMO)
    done = run("opt", str(model), "-o", str(out), "--passes", "cse")
    assert (done.status, done.out.splitlines()[0], named_as_written(out.read_text())) == (0, "Demo program", DEMO)
    converted = run("convert", str(model), "-o", str(tmp_path / "other.onnx"))
    assert converted.out.splitlines()[0] == "Demo program -> ONNX model"
    back = run("convert", str(tmp_path / "other.onnx"), "--to", "demo", "-o", str(out))
    assert back.out.splitlines()[0] == "ONNX model, IR version 8 -> Demo program"


def test_a_lowered_program_of_a_format_is_no_longer_one_of_it(tmp_path: Path, run: Cir) -> None:
    model, out = tmp_path / "m.demo", tmp_path / "lowered.mlir"
    model.write_text(DEMO)
    assert run("opt", str(model), "--passes", "lower", "-o", str(out)).out.startswith("Demo program -> core program")
    assert "core.add" in out.read_text()
    with pytest.raises(
        cir.DiagnosticError, match="a program without a file format of its own cannot be written as 'onnx'"
    ):
        cir.save(cir.load(out), tmp_path / "m.onnx")
    with pytest.raises(cir.DiagnosticError, match="a program of format 'demo-text' cannot be written as 'onnx'"):
        cir.save(cir.load(model), tmp_path / "m.onnx")


def test_a_wrong_file_of_a_format_is_reported_with_its_path(tmp_path: Path, run: Cir) -> None:
    model = tmp_path / "wrong.demo"
    model.write_text(DEMO + "output v\n")
    done = run("check", str(model))
    assert done.status == 4
    assert "line 7 is not understood: output v" in done.err
    assert str(model) in done.err


def test_a_pass_takes_its_place_in_a_pipeline_with_its_options(tmp_path: Path, run: Cir) -> None:
    program = tmp_path / "in.mlir"
    program.write_text(
        "ml_program.func @main(%a: tensor<3xf32>) -> tensor<3xf32> {\n"
        "%x = demo.blend %a, %a {weight = 1.0 : f64} : tensor<3xf32>, tensor<3xf32>\n"
        "%y = demo.blend %a, %x {weight = 0.25 : f64} : tensor<3xf32>, tensor<3xf32>\n"
        "ml_program.return %y : tensor<3xf32>\n}\n"
    )
    done = run("opt", str(program), "--passes", "cse,demo-drop-blends{weight=0.25}", "--no-check", "-o", "-")
    assert done.status == 0
    assert "weight = 1.0" in done.out
    assert "weight = 0.25" not in done.out


def test_an_engine_runs_programs(tmp_path: Path) -> None:
    model = tmp_path / "model.demo"
    model.write_text("#demo 1\ninput a 2\nt = total a a\noutput t\n")
    outputs = cir.run(cir.load(model), {"a": np.array([0.3, 0.6], np.float32)}, engine="demo-rounding")
    assert outputs["t"].tolist() == [1.0, 1.0]


def test_tutorial_shows_the_package_and_what_commands_print(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tutorial = Path(__file__).parents[2] / "docs/tutorials/plugins.md"
    shown = re.findall(r"^```(?:python|toml)\n(.*?)^```$", tutorial.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    sources = [path.read_text("utf-8") for path in (PACKAGE / "pyproject.toml", PACKAGE / "commonir_demo/programs.py")]
    parts = [part.strip("\n") for block in shown for part in block.split("\n\n\n")]
    assert [part for part in parts if not any(part in source for source in sources)] == []
    folder = tmp_path / "page"
    folder.mkdir()
    monkeypatch.chdir(folder)
    check_commands(tutorial, folder, capsys)


def test_doctor_lists_everything_that_is_added(run: Cir) -> None:
    plugins = json.loads(run("doctor", "--json").out)["result"]["plugins"]
    assert sorted([(p["kind"], p["name"]) for p in plugins if p["package"] == "commonir-demo"]) == [
        ("conversion", "demo"),
        ("dialect", "demo"),
        ("engine", "demo-rounding"),
        ("format", "demo-text"),
        ("pass", "demo-drop-blends"),
    ]
