"""The wheel of the project, installed where nothing of the tree can be seen."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from sysconfig import get_path

import pytest

import commonir

from tests.oracles import oracle

_ROOT = Path(__file__).parents[1]


def test_wheel_has_every_file_of_the_package_and_both_commands() -> None:
    builders = oracle("hatchling.builders.wheel")
    built = builders.WheelBuilder(str(_ROOT))
    folder = _ROOT / "src"
    expected = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
    assert {f.distribution_path for f in built.recurse_included_files()} == {
        path for path in expected if not path.endswith(".pyc")
    }
    assert set(built.metadata.core.scripts.values()) == {"commonir.__main__:main"}
    assert set(built.metadata.core.scripts) == {"cir", "commonir"}
    assert built.metadata.version == commonir.__version__


@pytest.mark.slow
def test_installed_wheel_runs_the_first_command_of_the_readme(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

    def run(*command: str | Path) -> str:
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check")
    run(*pip, "wheel", "-q", "--no-deps", "--no-build-isolation", "--wheel-dir", tmp_path / "wheels", _ROOT)
    (wheel,) = (tmp_path / "wheels").iterdir()
    python = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv")
    run(*pip, "--python", python, "install", "-q", "--no-deps", "--no-index", wheel)
    # The dependencies are those of the tests, after the folder that has the wheel.
    (folder,) = {Path(path) for path in run(python, "-c", "import site; print(*site.getsitepackages())").split()}
    (folder / "dependencies.pth").write_text(get_path("purelib") + "\n")
    assert Path(run(python, "-c", "import commonir; print(commonir.__file__)").strip()).is_relative_to(folder)

    first = r"^python -m pip install '\.\[native,ort\]' && cir (.*)$"
    (command,) = re.findall(first, (_ROOT / "README.md").read_text(), re.MULTILINE)
    shutil.copytree(_ROOT / "examples", tmp_path / "examples")
    run(python.with_name("cir"), *command.split())
    assert (tmp_path / "mobilenet.onnx").stat().st_size > 0
