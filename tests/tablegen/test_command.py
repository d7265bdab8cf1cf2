"""`cir tblgen`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commonir.cli.main import main


def test_tblgen_prints_records_and_takes_folders_and_macros(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "base.td").write_text("class A { int x = 1; }")
    path = tmp_path / "main.td"
    path.write_text('include "base.td"\n#ifdef WANTED\ndef a : A;\n#endif\n')
    assert main(["tblgen", str(path), "-I", str(tmp_path / "shared"), "-D", "WANTED"]) == 0
    records = json.loads(capsys.readouterr().out)
    assert (records["a"]["x"], records["!instanceof"]) == (1, {"A": ["a"]})


def test_tblgen_writes_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "main.td"
    path.write_text("def a;")
    assert main(["tblgen", str(path), "-o", str(tmp_path / "out.json")]) == 0
    assert json.loads((tmp_path / "out.json").read_text())["a"]["!locs"] == ["main.td:1"]
    assert "wrote" in capsys.readouterr().out


def test_tblgen_lists_the_operations_of_a_dialect(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "tf.td"
    path.write_text(
        'def TF_AddOp : Op<"tf.Add", [NoSideEffect]>, Arguments<(ins TF_Tensor:$lhs, TF_Tensor:$rhs)>,\n'
        '  Results<[TF_Tensor]> { let summary = "Adds two tensors"; }\n'
    )
    assert main(["tblgen", str(path), "--dialect"]) == 0
    assert [line.split() for line in capsys.readouterr().out.splitlines()[1:]] == [
        ["tf.Add", "Adds", "two", "tensors."]
    ]
    assert main(["tblgen", str(path), "--dialect", "-o", str(tmp_path / "out.json")]) == 2
    assert not (tmp_path / "out.json").exists()


@pytest.mark.parametrize(("text", "status"), [("def", 3), ("def a : B;", 1), ('include "../x.td"', 5)])
def test_tblgen_says_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, status: int) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "x.td").write_text("def x;")
    path = tmp_path / "in" / "main.td"
    path.write_text(text)
    assert main(["tblgen", str(path)]) == status
    assert "error[E0" in capsys.readouterr().err
