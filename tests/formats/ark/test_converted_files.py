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
