"""Which function of a module is meant by a name, or by none."""

from __future__ import annotations

import pytest

from commonir.base.diagnostics import DiagnosticError
from commonir.dialects.mlir import ml_program
from commonir.inspection.summary import summarize
from commonir.ir.module import Module
from commonir.ir.operation import Block, Region
from commonir.ir.types import FunctionType
from commonir.passes.lower import lower


def _module(*names: str, entry: str = "") -> Module:
    module = Module(entry=entry)
    for name in names:
        block = Block()
        block.append(ml_program.Return(()))
        module.body.append(ml_program.Func(name, FunctionType((), ()), Region([block])))
    return module


@pytest.mark.parametrize(
    ("module", "main"),
    [
        (_module("only"), "only"),
        (_module("a", "main"), "main"),
        (_module("a", "main", entry="a"), "a"),
        (_module("a", "main", entry="gone"), "main"),
    ],
)
def test_entry_then_main_then_the_only_function_runs(module: Module, main: str) -> None:
    assert module.function(None).symbol_name == main
    assert lower(module).main.symbol_name == main


@pytest.mark.parametrize(("names", "listed"), [(("a", "b"), "functions: a, b"), ((), "functions: none")])
def test_undecided_function_is_a_finding_that_lists_them(names: tuple[str, ...], listed: str) -> None:
    with pytest.raises(DiagnosticError) as refused:
        _ = _module(*names).main
    (result,) = refused.value.diagnostics
    assert (result.code.id, result.notes) == ("E0706", (listed,))


def test_unknown_function_is_a_finding_with_the_nearest_name() -> None:
    with pytest.raises(DiagnosticError) as refused:
        _module("main").function("mian")
    assert refused.value.diagnostics[0].help == "did you mean 'main'?"


def test_summary_of_a_module_without_a_decided_function_names_none() -> None:
    assert summarize(_module("a", "b"), None).entry == ""
