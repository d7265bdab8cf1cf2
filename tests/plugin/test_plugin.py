"""Additions of another package work through the same doors as ours: dialect, format, conversion, pass and engine.

The fast tests of the same, without pip, are in `test_entry_points.py`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.plugin.programs import DEMO, PROGRAM

PACKAGE = Path(__file__).parent / "package"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the plugin installed by pip."""
    target = tmp_path_factory.mktemp("plugin")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    command += ["--disable-pip-version-check", "--target", str(target), str(PACKAGE)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return target


def run_with_plugin(installed: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Runs Python where the plugin is installed beside commonir."""
    path = os.pathsep.join([str(installed), *(p for p in sys.path if p)])
    environment = {**os.environ, "PYTHONPATH": path, "NO_COLOR": "1"}
    return subprocess.run(
        [sys.executable, *command], check=False, capture_output=True, text=True, env=environment, timeout=120
    )


@pytest.mark.slow
def test_operations_of_a_plugin_are_documented(installed: Path) -> None:
    listing = run_with_plugin(installed, "-m", "commonir", "ops", "--dialect", "demo", "--json")
    names = [entry["name"] for entry in json.loads(listing.stdout)["result"]]
    assert names == ["demo.blend", "demo.total", "demo.outer", "demo.median"]
    page = run_with_plugin(installed, "-m", "commonir", "ops", "demo.outer").stdout
    assert "All products of an element of a" in page
    assert "T[b*, m, n]" in page


SCRIPT = f"""
import json
import numpy as np
import commonir as cir
from commonir.ods import Dialects
from commonir.text.parser import parse_module
from commonir.text.printer import print_module

module = parse_module({PROGRAM!r}, Dialects())
out = {{"verified": [str(d) for d in cir.verify(module)]}}
text = print_module(module)
out["text"] = text
out["round_trip"] = print_module(parse_module(text, Dialects())) == text
lowered = cir.lower(module)
out["lowered"] = [op.name for op in lowered.main.body.operations]
a = np.arange(6, dtype=np.float32).reshape(2, 3)
b = np.array([1, 2, 4], dtype=np.float32)
for engine in ("reference", "numpy"):
    found = cir.run(module, {{"a": a, "b": b}}, engine=engine)
    out[engine] = [v.tolist() for v in found.values()]
print(json.dumps(out))
"""


@pytest.mark.slow
def test_operations_of_a_plugin_verify_print_lower_and_run(installed: Path) -> None:
    done = run_with_plugin(installed, "-c", SCRIPT)
    assert done.returncode == 0, done.stderr
    out = json.loads(done.stdout)
    assert out["verified"] == []
    assert "demo.blend %a, %b" in out["text"]
    assert out["round_trip"]
    assert "demo.blend" not in out["lowered"]
    assert {"core.mul", "core.add", "demo.outer", "demo.median"} <= set(out["lowered"])
    # blend = 0.25 a + 0.75 b = [[0.75, 1.75, 3.5], [1.5, 2.5, 4.25]]; the median of its products with b is twice each.
    expected = [[[1.5, 3.5, 7.0], [3.0, 5.0, 8.5]], [3.5, 5.0]]
    assert out["reference"] == expected
    assert out["numpy"] == expected


@pytest.mark.slow
def test_a_wrong_use_of_a_plugin_operation_is_reported_as_one_of_ours(installed: Path) -> None:
    program = PROGRAM.replace("weight = 2.500000e-01", "weight = -1.000000e+00")
    script = f"""
import commonir as cir
from commonir.ods import Dialects
from commonir.text.parser import parse_module

try:
    print(*cir.verify(parse_module({program!r}, Dialects())))
except cir.DiagnosticError as error:
    print(*error.diagnostics)
"""
    output = run_with_plugin(installed, "-c", script).stdout
    assert "E0505" in output
    assert "demo.blend: attribute 'weight' must be positive, found -1.0" in output


@pytest.mark.slow
def test_rules_of_a_file_call_a_function_of_a_plugin(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "rules.td").write_text(
        'def Scale : Op<"my.scale", [NoSideEffect]>, Arguments<(ins AnyTensor:$x, I32Attr:$k)>, Results<[AnyTensor]>;\n'
        'def : Pat<(Scale (Scale $x, $k), $k), (Scale $x, (NativeCodeCall<"doubled($0)"> $k))>;\n'
    )
    scale = '"my.scale"(%{}) {{k = 4 : i32}} : (tensor<2xf32>) -> tensor<2xf32>'
    (tmp_path / "in.mlir").write_text(
        "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
        f"%0 = {scale.format('a')}\n%1 = {scale.format('0')}\nreturn %1 : tensor<2xf32>\n}}\n"
    )
    files = [str(tmp_path / name) for name in ("in.mlir", "rules.td")]
    done = run_with_plugin(installed, "-m", "commonir", "opt", files[0], "--rules", files[1], "--no-check", "-o", "-")
    assert done.returncode == 0, done.stderr
    assert "k = 8 : i32" in done.stdout


def cir(installed: Path, *arguments: str) -> str:
    """Runs a command, which must succeed, and returns its output."""
    done = run_with_plugin(installed, "-m", "commonir", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_a_format_of_a_plugin_is_recognized_by_content_and_runs(installed: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.txt"  # the suffix says nothing
    model.write_text(DEMO)
    about = json.loads(cir(installed, "info", str(model), "--json"))["result"]
    assert [f["operations"] for f in about["functions"]] == [{"demo.total": 2}]
    assert json.loads(cir(installed, "check", str(model), "--json"))["diagnostics"] == []
    cir(installed, "convert", str(model), "-o", str(tmp_path / "out.onnx"))
    cir(installed, "compare", str(model), str(tmp_path / "out.onnx"))


@pytest.mark.slow
def test_a_wrong_file_of_a_plugin_format_is_reported_with_its_path(installed: Path, tmp_path: Path) -> None:
    model = tmp_path / "wrong.demo"
    model.write_text(DEMO + "output v\n")
    done = run_with_plugin(installed, "-m", "commonir", "check", str(model))
    assert done.returncode == 4
    assert "line 7 is not understood: output v" in done.stderr
    assert str(model) in done.stderr


@pytest.mark.slow
def test_a_conversion_of_a_plugin_leads_to_its_format_and_back(installed: Path, tmp_path: Path) -> None:
    model, onnx, back = tmp_path / "model.demo", tmp_path / "model.onnx", tmp_path / "back.demo"
    model.write_text(DEMO)
    cir(installed, "convert", str(model), "-o", str(onnx))
    cir(installed, "convert", str(onnx), "--to", "demo", "-o", str(back))
    assert back.read_text().replace("i0", "a").replace("i1", "b").replace("t2", "t").replace("t3", "u") == DEMO
    refused = run_with_plugin(installed, "-m", "commonir", "convert", str(model), "--to", "demoo", "-o", str(back))
    assert "did you mean 'demo'" in refused.stderr


@pytest.mark.slow
def test_a_pass_of_a_plugin_takes_its_place_in_a_pipeline(installed: Path, tmp_path: Path) -> None:
    blend = "%{} = demo.blend %a, %{} {{weight = {} : f64}} : tensor<3xf32>, tensor<3xf32>"
    program = tmp_path / "in.mlir"
    program.write_text(
        "ml_program.func @main(%a: tensor<3xf32>) -> tensor<3xf32> {\n"
        f"{blend.format('x', 'a', '1.0')}\n{blend.format('y', 'x', '0.25')}\n"
        "ml_program.return %y : tensor<3xf32>\n}\n"
    )
    assert "demo-drop-blends: replaces blends of one weight" in cir(installed, "opt", "--list-passes")
    for options, weight in (("", "0.25"), ("{weight=0.25}", "1.0")):
        passes = f"cse,demo-drop-blends{options}"
        out = cir(installed, "opt", str(program), "--passes", passes, "--no-check", "-o", "-")
        assert out.count("demo.blend") == 1
        assert f"weight = {weight}" in out
    pipeline = "builtin.module(demo-drop-blends{weight=0.25},demo-drop-blends)"
    assert "demo.blend" not in cir(installed, "opt", str(program), "--pass-pipeline", pipeline, "--no-check", "-o", "-")


@pytest.mark.slow
def test_an_engine_of_a_plugin_runs_programs(installed: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.demo"
    model.write_text("#demo 1\ninput a 2\nt = total a a\noutput t\n")
    script = f"""
import numpy as np
import commonir as cir

program = cir.load({str(model)!r})
print(cir.run(program, {{"a": np.array([0.3, 0.6], np.float32)}}, engine="demo-rounding")["t"].tolist())
made = cir.loads(cir.dumps(program, format="demo-text"), format="demo-text")
print([op.name for op in made.main.body.operations])
print([d.name for d in cir.optimize(made, passes=["demo-drop-blends"]).main.body.operations])
"""
    done = run_with_plugin(installed, "-c", script)
    assert done.returncode == 0, done.stderr
    names = "['demo.total', 'ml_program.return']"
    assert done.stdout.splitlines() == ["[1.0, 1.0]", names, names]
    cir(installed, "run", str(model), "--engine", "demo-rounding")


@pytest.mark.slow
def test_doctor_lists_everything_a_plugin_adds(installed: Path) -> None:
    plugins = json.loads(cir(installed, "doctor", "--json"))["result"]["plugins"]
    assert sorted([(p["kind"], p["name"]) for p in plugins if p["package"] == "commonir-demo"]) == [
        ("conversion", "demo"),
        ("dialect", "demo"),
        ("engine", "demo-rounding"),
        ("format", "demo-text"),
        ("pass", "demo-drop-blends"),
    ]
