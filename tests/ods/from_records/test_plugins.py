"""Forms of operations, types and attributes of two dialects, as mlir-opt reads and prints them.

mlir-opt 22 with `written.td` and `values.td` as plugins, built like `probe.cpp`, accepted the programs of
`*_accepted.mlir` and printed them as it is written there, in both forms; it refused those of `*_refused.mlir`. Where we
differ on purpose is written in docs/tablegen.md.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from commonir.base.diagnostics import DiagnosticError
from commonir.ods import Dialects, verify
from commonir.text.loaded_definitions import load_dialects
from commonir.text.parser import parse_module
from commonir.text.printer import Naming, print_module

from tests.mlir_programs.oracle import SEPARATOR
from tests.tablegen.oracle import mlir_include

_HERE = Path(__file__).parent
_NAMES = ("written", "values")


@cache
def _dialects(name: str) -> Dialects:
    loaded = load_dialects([_HERE / f"{name}.td"], [str(mlir_include())])
    return Dialects(dialects=loaded, allows_unregistered=True)


def _programs(kind: str) -> list[tuple[str, str]]:
    return [(name, each) for name in _NAMES for each in (_HERE / f"{name}_{kind}.mlir").read_text().split(SEPARATOR)]


@pytest.mark.parametrize(("name", "program"), _programs("accepted"))
def test_what_mlir_opt_accepts_is_printed_as_it_does(name: str, program: str) -> None:
    source, _, printed = program.partition("// custom:\n")
    custom, _, generic = printed.partition("// generic:\n")
    for text in (source, custom, generic):
        module = parse_module(text, _dialects(name))
        assert verify(module, _dialects(name)) == []
        shown = print_module(module, generic=False, naming=Naming.MLIR, dialects=_dialects(name))
        assert shown.strip() == custom.strip()
        if text is not custom:
            # The custom form omits attributes that equal their default.
            shown = print_module(module, generic=True, naming=Naming.MLIR, dialects=_dialects(name))
            assert shown.strip() == generic.strip()


@pytest.mark.parametrize(("name", "program"), _programs("refused"))
def test_what_mlir_opt_refuses_is_refused(name: str, program: str) -> None:
    try:
        result = verify(parse_module(program, _dialects(name)), _dialects(name))
    except DiagnosticError as error:
        result = list(error.diagnostics)
    assert any(each.is_error for each in result)
