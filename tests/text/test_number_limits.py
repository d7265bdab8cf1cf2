"""How integers may be written, and how large they may be: as mlir-opt reads them, or refuses them."""

from __future__ import annotations

import subprocess

import pytest

import commonir as cir

from tests.oracles import mlir_opt

ACCEPTED = (
    '%0:01 = "a"() : () -> i32',
    '%0:0x1 = "a"() : () -> i32',
    '"a"() : () -> tensor<007x0x02xf32>',
    '"a"() : () -> !tosa.shape<04>',
    '"a"() {x = 08 : i32, y = distinct[01]<>, z = array<i32: 08, 0x10>} : () -> ()',
    '"a"() {x = 18446744073709551615 : i64, y = dense<[08, 0x10]> : tensor<2xi32>} : () -> ()',
    "func.func @f(%i: index) { scf.index_switch %i case 08 { scf.yield } default { } return }",
    "func.func @f(%i: i32) { cf.switch %i : i32, [default: ^bb1, 99999999999: ^bb1] ^bb1: return }",
    "func.func @f() { %0 = index.constant 007 return }",
)
REFUSED = (
    '%0:0 = "a"() : () -> ()',
    '"a"() {x = distinct[18446744073709551616]<>} : () -> ()',
    '"a"() {x = 18446744073709551616 : i64} : () -> ()',
    "func.func @f(%i: index) { scf.index_switch %i case 99999999999999999999 { scf.yield } default { } return }",
    "func.func @f(%i: index) { scf.index_switch %i case 9223372036854775808 { scf.yield } default { } return }",
    "func.func @f() { %0 = index.constant 99999999999999999999 return }",
    "func.func @f() { %0 = index.constant 9223372036854775808 return }",
)


def _judged(text: str) -> str | None:
    """Returns what mlir-opt prints; None when it refuses."""
    command = [mlir_opt(), "--allow-unregistered-dialect"]
    run = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    return None if run.returncode else run.stdout


@pytest.mark.parametrize("text", ACCEPTED)
def test_numbers_are_printed_as_mlir_opt_prints_them(text: str) -> None:
    assert str(cir.dumps(cir.loads(text, format="mlir"), format="mlir"), "utf-8") == _judged(text)


@pytest.mark.parametrize("text", REFUSED)
def test_numbers_that_mlir_opt_refuses_are_refused(text: str) -> None:
    assert _judged(text) is None
    with pytest.raises(cir.DiagnosticError):
        cir.loads(text, format="mlir")
