"""`--dialect FILE.td -I DIR` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commonir.cli.main import main

from tests.tablegen.oracle import mlir_include

_HERE = Path(__file__).parent
_TD, _MLIR = str(_HERE / "sample.td"), str(_HERE / "sample.mlir")


def _given() -> list[str]:
    return ["--dialect", _TD, "-I", str(mlir_include())]


def test_check_reads_verifies_and_notes_what_cpp_keeps(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", _MLIR, *_given(), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [(d["code"], d["message"].partition(":")[0]) for d in document["diagnostics"]] == [
        ("N0265", "sample.odd"),
        ("N0265", "sample.plain"),
        ("N0265", "sample.cpp"),
    ]
    assert main(["check", _MLIR]) == 1
    assert "unknown operation 'sample.add'" in capsys.readouterr().err


@pytest.mark.slow
def test_show_and_opt_keep_the_custom_form(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["show", _MLIR, *_given()]) == 0
    assert "%0 = sample.add %arg0, %arg0 : i32" in capsys.readouterr().out
    out = tmp_path / "out.mlir"
    assert main(["opt", _MLIR, *_given(), "--passes", "cse", "--no-check", "-o", str(out)]) == 0
    assert "sample.paint" in out.read_text()


@pytest.mark.slow
def test_ops_documents_the_dialect(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ops", *_given()]) == 0
    assert "sample.add Adds two numbers." in [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert main(["ops", "sample.add", *_given()]) == 0
    assert "sample.add $lhs `,` $rhs (`mode` $mode^)? attr-dict `:` type($sum)" in capsys.readouterr().out
    assert main(["ops", "sample", *_given()]) == 0
    assert "Something of everything." in capsys.readouterr().out


def test_a_file_that_is_not_there_or_is_wrong_has_a_code(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["check", _MLIR, "--dialect", str(tmp_path / "no.td")]) == 3
    assert "E0101" in capsys.readouterr().err
    bad = tmp_path / "bad.td"
    bad.write_text('def X_AOp : Op<"x.a">, Arguments<(ins NoSideEffect:$a)>;')
    assert main(["check", _MLIR, "--dialect", str(bad)]) == 1
    assert "E0264" in capsys.readouterr().err


def test_a_program_of_loaded_definitions_runs_as_ours(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    program = tmp_path / "sum.mlir"
    program.write_text("""func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = arith.addf %a, %a : tensor<2xf32>
  return %0 : tensor<2xf32>
}
""")
    arith = mlir_include() / "mlir/Dialect/Arith/IR/ArithOps.td"
    options = ["--dialect", str(arith), "-I", str(mlir_include()), "--json"]
    assert main(["run", str(program), "a=f32[2]:ones", *options]) == 0
    assert "diagnostics" in json.loads(capsys.readouterr().out)
