"""Several programs in one MLIR text, and comments that announce what is wrong: options of mlir-opt that `cir` takes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.command_lines import Cir, command_lines
from tests.oracles import mlir_opt

GOOD = "func.func @first() {\n  return\n}\n"
BAD = "func.func @second() {\n  %0 = arith.constant 1 : i32\n  return %0 : i32\n}\n"
SEPARATOR = "// -----\n"
MESSAGE = "has 1 operands, but enclosing function (@second) returns 0"


@pytest.fixture
def cir(capsys: pytest.CaptureFixture[str]) -> Cir:
    return command_lines(capsys)


@pytest.fixture
def text(tmp_path: Path) -> Path:
    return tmp_path / "programs.mlir"


def test_line_of_a_finding_is_that_of_the_file(cir: Cir, text: Path) -> None:
    text.write_text(GOOD + SEPARATOR + BAD)
    done = cir("check", str(text), "--split-input-file")
    assert done.status == 1
    assert f"--> {text}:7:3: second.operations[1] func.return" in done.err
    assert "= 7 |   return %0 : i32\n   =   |   ^\n" in done.err


def test_programs_of_one_text_may_share_names(cir: Cir, text: Path) -> None:
    text.write_text(GOOD + SEPARATOR + GOOD)
    done = cir("check", str(text))
    assert done.status == 1
    assert "separated by `// -----`, which --split-input-file reads one by one" in done.err
    assert cir("check", str(text), "--split-input-file").status == 0


@pytest.mark.parametrize("line", ["// -----  ", "  // -----", "\t// -----"])
def test_blanks_around_a_separator_are_those_of_mlir_opt(cir: Cir, text: Path, line: str) -> None:
    text.write_text(f"{GOOD}{line}\n{GOOD}")
    assert cir("check", str(text), "--split-input-file").status == 0
    theirs = [mlir_opt(), str(text), "--split-input-file"]
    assert subprocess.run(theirs, capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize(
    ("comment", "line"),
    [
        ("expected-error@+1", "  return %0 : i32\n"),
        ("expected-error@below", "  return %0 : i32\n"),
        ("expected-error@unknown", "  return %0 : i32\n"),
        ("expected-error-re@below", "  return %0 : i32\n"),
    ],
)
def test_announced_finding_is_as_it_should_be_here_and_in_mlir_opt(
    cir: Cir, text: Path, comment: str, line: str
) -> None:
    message = "has {{[0-9]}} operands" if "-re" in comment else MESSAGE
    text.write_text(GOOD + SEPARATOR + BAD.replace(line, f"  // {comment} {{{{{message}}}}}\n{line}"))
    assert cir("check", str(text), "--split-input-file", "--verify-diagnostics").status == 0
    if "unknown" not in comment:  # mlir-opt means findings without any place
        theirs = [mlir_opt(), str(text), "--split-input-file", "--verify-diagnostics"]
        assert subprocess.run(theirs, capture_output=True, check=False).returncode == 0


def test_comment_after_the_line_points_back(cir: Cir, text: Path) -> None:
    marked = BAD.replace("i32\n}", f"i32\n  // expected-error@above {{{{{MESSAGE}}}}}\n}}")
    text.write_text(marked)
    assert cir("check", str(text), "--verify-diagnostics").status == 0


def test_announced_finding_that_is_not_there_is_an_error(cir: Cir, text: Path) -> None:
    text.write_text("// expected-error@+1 {{something}}\n" + GOOD)
    done = cir("check", str(text), "--verify-diagnostics")
    assert done.status == 1
    assert 'error[E0247]: expected error "something" was not found' in done.err
    assert f"--> {text}:1: expected on line 2" in done.err


def test_one_comment_announces_one_finding(cir: Cir, text: Path) -> None:
    twice = "// expected-error@below {{operands}}\n  "
    text.write_text(BAD.replace("return", f"{twice}{twice}return"))
    done = cir("check", str(text), "--verify-diagnostics")
    assert done.status == 1
    assert done.err.count("error[") == 1


def test_finding_that_is_not_announced_is_reported(cir: Cir, text: Path) -> None:
    text.write_text(BAD)
    done = cir("check", str(text), "--verify-diagnostics")
    assert done.status == 1
    assert MESSAGE in done.err


def test_expression_that_is_none_is_reported(cir: Cir, text: Path) -> None:
    text.write_text("// expected-error-re@+1 {{a{{(}}b}}\n" + GOOD)
    done = cir("check", str(text), "--verify-diagnostics")
    assert "error[E0248]" in done.err


def test_programs_are_shown_as_mlir_opt_shows_them(cir: Cir, text: Path) -> None:
    text.write_text(GOOD + SEPARATOR + BAD.replace("@second()", "@second() -> i32"))
    done = cir("show", str(text), "--split-input-file")
    theirs = subprocess.run([mlir_opt(), str(text), "--split-input-file"], capture_output=True, check=True, text=True)
    assert done.out == theirs.stdout


@pytest.mark.parametrize(
    "operation",
    [
        "%0 = onnx.Constant dense<1> : tensor<i64>",
        '%0 = "onnx.NoValue"() {value} : () -> none',
        '%0 = "onnx.Softmax"(%a) {axis = true, other = 0 : si64} : (tensor<1x1xf32>) -> tensor<1x1xf32>',
    ],
)
def test_a_text_of_onnx_mlir_is_recognized(cir: Cir, text: Path, operation: str) -> None:
    text.write_text(f"func.func @f(%a: tensor<1x1xf32>) {{\n  {operation}\n  return\n}}\n")
    done = cir("check", str(text))
    assert done.status != 0
    assert "`--dialect src/Dialect/ONNX/ONNX.td -I DIR`" in done.err


def test_other_formats_have_no_pieces(cir: Cir, tmp_path: Path) -> None:
    model = tmp_path / "model.onnx"
    model.write_bytes(b"\x08\x09:\x02\x0a\x00")
    done = cir("check", str(model), "--split-input-file")
    assert done.status != 0
    assert "is not MLIR text" in done.err
