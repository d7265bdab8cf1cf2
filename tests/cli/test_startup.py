"""Help must not load what only running a program needs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from commonir.cli.table import VERBS

from tests.cli.conftest import environment

ROOT = Path(__file__).parents[2]
HEAVY = (
    "numpy",
    "ml_dtypes",
    "google",
    "rich",
    "importlib.metadata",
    "onnxruntime",
    "onnx",
    "commonir.ir",
    "commonir.api",
)

PROGRAM = """
import sys
from commonir.cli.main import main
status = main(sys.argv[1:])
loaded = [name for name in {heavy!r} if name in sys.modules]
print("LOADED", *loaded, file=sys.stderr)
sys.exit(status)
"""


ADD = """
func.func @add(%a: tensor<4xf32>) -> tensor<4xf32> {
  %b = tosa.add %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %b : tensor<4xf32>
}
"""


@pytest.mark.fast_every(3)
@pytest.mark.parametrize("arguments", [["--help"], ["--version"], *([verb, "--help"] for verb in VERBS)], ids=" ".join)
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(heavy=HEAVY), *arguments],
        capture_output=True,
        env=environment(),
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "LOADED\n")


@pytest.mark.parametrize(
    "arguments", [["explain"], ["explain", "E0503"], ["completion", "zsh"], ["nonsense"]], ids=" ".join
)
def test_verbs_that_need_no_program_load_nothing_heavy(arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(heavy=HEAVY), *arguments],
        capture_output=True,
        env=environment(),
        text=True,
        check=False,
    )
    assert done.stderr.endswith("LOADED\n")


@pytest.mark.slow
def test_checking_a_program_of_mlir_loads_no_other_format_and_looks_for_no_packages(tmp_path: Path) -> None:
    source = tmp_path / "add.mlir"
    source.write_text(ADD)
    heavy = ("numpy", "google", "importlib.metadata", "commonir.dialects.core", "commonir.dialects.onnx")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(heavy=heavy), "check", str(source)],
        capture_output=True,
        env=environment(),
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "LOADED\n")


def test_a_summary_loads_neither_numpy_nor_passes_that_change_programs() -> None:
    source = ROOT / "examples/mobilenet.mlpackage"
    heavy = ("numpy", "commonir.passes.edit", "commonir.rewrite.legalize")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(heavy=heavy), "info", str(source)],
        capture_output=True,
        env=environment(),
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "LOADED\n")


@pytest.mark.slow
def test_overview_says_of_each_verb_what_its_own_help_says() -> None:
    for name in VERBS:
        done = subprocess.run(
            [sys.executable, "-m", "commonir", name, "--help"],
            capture_output=True,
            env=environment(),
            text=True,
            check=True,
        )
        assert f"Usage: cir {name} " in done.stdout
