"""Programs as mlir-opt prints them, and as we do."""

from __future__ import annotations

import subprocess
from difflib import unified_diff

from commonir.base.diagnostics import DiagnosticError
from commonir.ods import Dialects
from commonir.ods.verify import verify
from commonir.text.parser import parse_module
from commonir.text.printer import Naming, print_module

from tests.oracles import mlir_opt

GENERIC = "--mlir-print-op-generic"


def upstream(source: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Returns the output of mlir-opt for a program."""
    return subprocess.run([mlir_opt(), *options], input=source, capture_output=True, text=True, check=False)


def assert_printed_equally(source: str) -> None:
    """A program is accepted by both, and printed equally in the default and in the generic form.

    What we print reads back: the generic form, read again, gives the custom form.
    """
    module = parse_module(source, Dialects())
    assert [str(d) for d in verify(module, Dialects())] == []
    custom, generic = upstream(source), upstream(source, GENERIC)
    assert custom.returncode == generic.returncode == 0, custom.stderr
    _assert_same(print_module(module, elide=None, naming=Naming.MLIR), custom.stdout)
    _assert_same(print_module(module, generic=True, elide=None, naming=Naming.MLIR), generic.stdout)
    again = parse_module(generic.stdout, Dialects())
    _assert_same(print_module(again, elide=None, naming=Naming.MLIR), upstream(generic.stdout).stdout)


def _assert_same(ours: str, theirs: str) -> None:
    difference = "\n".join(unified_diff(theirs.splitlines(), ours.splitlines(), "mlir-opt", "ours", lineterm="", n=0))
    assert not difference, difference
    assert ours == theirs


def assert_refused_by_both(source: str) -> None:
    """A program is refused by both."""
    assert upstream(source).returncode != 0
    try:
        diagnostics = verify(parse_module(source, Dialects()), Dialects())
    except DiagnosticError:
        return
    assert diagnostics, "accepted"
