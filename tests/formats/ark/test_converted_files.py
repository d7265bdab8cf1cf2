"""Commands on ARK files of several ranks and without names end with an answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commonir.cli.main import main

from tests.formats.ark.model_files import exchange, product, text


@pytest.mark.parametrize("name", ["net.ark.json", "net.mlir"])
def test_a_program_of_ranks_is_checked_after_conversion(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for rank in range(2):
        (tmp_path / f"a.rank{rank}.json").write_bytes(text(exchange("v3", rank), "v3"))
    opset = ("--opset", "2") if name.endswith(".json") else ()
    source, output = str(tmp_path / "a.rank0.json"), str(tmp_path / name)
    assert main(["convert", source, "-o", output, "--check", *opset]) == 0
    assert capsys.readouterr().err == ""


def test_names_of_an_ark_file_are_changed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "net.json"
    path.write_bytes(text(product("v3"), "v3"))
    assert main(["edit", str(path), "-o", str(tmp_path / "new.ark.json"), "--rename", "t3=y"]) == 0
    assert capsys.readouterr().err == ""
    names = [node["Op"]["Name"] for node in json.loads((tmp_path / "new.ark.json").read_text())["Nodes"]]
    assert names[-1] == "y"


STATEFUL = """
ml_program.global private mutable @total(dense<0.0> : tensor<2x4xf32>) : tensor<2x4xf32>
ml_program.func @main(%x: tensor<2x4xf32>) -> (tensor<2x4xf32>) {
  %a = core.constant {value = dense<1.0> : tensor<4x8xf32>} : tensor<4x8xf32>
  %b = core.constant {value = dense<0.5> : tensor<8x4xf32>} : tensor<8x4xf32>
  %p = core.matmul %x, %a : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
  %y = core.matmul %p, %b : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
  %c = ml_program.global_load @total : tensor<2x4xf32>
  %s = core.add %c, %y : tensor<2x4xf32>
  ml_program.global_store @total = %s : tensor<2x4xf32>
  ml_program.return %s : tensor<2x4xf32>
}
"""


@pytest.mark.parametrize("ranks", [(), ("--ranks", "2")], ids=["one", "two"])
def test_states_become_inputs_and_outputs_and_are_checked_over_runs(
    ranks: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, output = tmp_path / "net.mlir", tmp_path / "net.ark.json"
    source.write_text(STATEFUL)
    assert main(["convert", str(source), "-o", str(output), "--check=2", *ranks]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in printed if line.endswith("ok")] == ["s", "total"]
    first = tmp_path / "net.rank1.ark.json" if ranks else output
    assert main(["run", str(first), "x=f32[2,4]:ones", "total=f32[2,4]:ones"]) == 0
    # 1 + 8 * 0.5 * 4
    values = [line.split() for line in capsys.readouterr().out.splitlines() if "total_out" in line]
    assert [words[2:5] for words in values] == [["17", "17", "17"]] * (2 if ranks else 1)
