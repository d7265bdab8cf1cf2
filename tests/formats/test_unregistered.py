"""Programs with unknown dialects: refused with advice, or accepted as mlir-opt accepts them.

The verdicts are those of mlir-opt 22 with `--allow-unregistered-dialect`, which the slow test runs.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import commonir as cir
from commonir.api import unregistered
from commonir.cli.main import main
from commonir.formats.mlir.checking import check_piece
from commonir.ods import Dialects
from commonir.ods.unknown_dialects import UPSTREAM
from commonir.text.pieces import Piece

from tests.oracles import mlir_opt
from tests.tablegen.oracle import mlir_include

TEXT = """\
func.func @f(%x: !foo.t) -> i32 {
  %0 = "foo.bar"(%x) {a = #foo.attr<1>} : (!foo.t) -> i32
  %1 = "noprefix"() : () -> i32
  return %0 : i32
}
"""

ACCEPTED = (
    TEXT,
    '"foo.op"() ({ %0 = "foo.a"(%1) : (i32) -> i32\n %1 = "foo.b"() : () -> i32 }) : () -> ()',
    '"foo.op"() ({ func.func private @a()\n func.func private @a() }) : () -> ()',
    'func.func @f() { "foo.end"() : () -> () }',
    'func.func @f() {\n^a:\n "foo.end"()[^b] : () -> ()\n^b:\n return }',
    '%0 = "foo.op"() <{a = 1 : i32}> {foo.x = !foo<y>} : () -> tensor<4xf32, #foo.enc>',
)
REFUSED = (
    '"func.foo"() : () -> ()',
    '%0 = "foo.op"() : () -> !func.bar',
    '%0 = "foo.op"() {a = #func.bar} : () -> i32',
    """"foo.op"() ({
    ^a:
      %0 = arith.addi %1, %1 : i32
      "foo.end"()[^b] : () -> ()
    ^b:
      %1 = arith.constant 1 : i32
      "foo.end"() : () -> ()
    }) : () -> ()""",
    '"foo.op"() ({\n^a:\n "foo.end"()[^b] : () -> ()\n^b:\n %1 = arith.constant 1 : i32 }) : () -> ()',
    '"foo.op"() ({ return }) : () -> ()',
    '"foo.op"() ({\n^a:\n cf.br ^a }) : () -> ()',
    'func.func @f() { "foo.op"() ({ func.return }) : () -> ()\n return }',
)


def _findings(text: str, *, allowed: bool) -> list[tuple[str, str]]:
    _, diagnostics = check_piece(Piece(text, 0), "x.mlir", Dialects(allows_unregistered=allowed))
    return [(d.code.id, d.message) for d in diagnostics]


def test_types_attributes_and_operations_of_unknown_dialects_are_refused() -> None:
    assert _findings(TEXT, allowed=False) == [
        ("E0514", "type '!foo.t' of an unknown dialect"),
        ("E0514", "attribute '#foo.attr' of an unknown dialect"),
        ("E0501", "unknown operation 'foo.bar'"),
        ("E0501", "unknown operation 'noprefix'"),
    ]


@pytest.mark.parametrize("text", ACCEPTED)
def test_they_are_accepted_if_allowed(text: str) -> None:
    assert _findings(text, allowed=True) == []


@pytest.mark.parametrize("text", REFUSED)
def test_faults_around_them_are_refused_even_if_allowed(text: str) -> None:
    assert _findings(text, allowed=True) != []


@pytest.mark.slow
def test_mlir_opt_says_the_same() -> None:
    for texts, status in ((ACCEPTED, 0), (REFUSED, 1)):
        for text in texts:
            command = [mlir_opt(), "--allow-unregistered-dialect"]
            answer = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
            assert answer.returncode == status, text


def test_types_of_dialects_of_mlir_are_accepted() -> None:
    assert _findings("func.func private @f(!llvm.ptr) -> i32", allowed=False) == []


def test_files_of_the_dialects_of_mlir_exist() -> None:
    folder = mlir_include() / "mlir/Dialect"
    assert [file for file in UPSTREAM.values() if not (folder / file).is_file()] == []


def test_commands_take_the_option(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "x.mlir", tmp_path / "y.mlir"
    path.write_text(TEXT)
    assert unregistered(cir.load(path)) == ("foo.bar", "noprefix")
    assert main(["check", str(path)]) == 1
    assert "`--allow-unregistered` accepts it" in capsys.readouterr().err
    assert main(["check", "--allow-unregistered", str(path)]) == 0
    assert main(["show", "--allow-unregistered", str(path)]) == 0
    assert '"foo.bar"(%arg0)' in capsys.readouterr().out
    assert main(["opt", "--allow-unregistered", str(path), "-o", str(out)]) == 0
    assert "note[N0710]: outputs are not compared: nothing defines foo.bar, noprefix" in capsys.readouterr().err
    assert unregistered(cir.load(out)) == ("foo.bar", "noprefix")
