"""The statements of the document on the dialect `ml_program`, in `ml_program.toml`.

A case is a program. `prints` is its text as mlir-opt writes it, after the passes of `passes` if there are any. `runs`
are runs one after the other, with the contents of globals from one to the next: expressions of numpy for `inputs` and
`outputs`. `warns` says that `cir check` warns of it. `mlir` says where mlir-opt 22 judges or prints otherwise.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

import commonir as cir
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.dialects.mlir import ml_program
from commonir.formats.mlir.checking import check_piece
from commonir.ir.module import Module
from commonir.ods import Dialects
from commonir.text.parser import parse_module
from commonir.text.pieces import Piece
from commonir.text.printer import Naming, print_module

from tests.mlir_programs.oracle import SEPARATOR
from tests.oracles import mlir_opt
from tests.specifications import statements
from tests.specifications.statements import Case

DOCUMENT = statements.read("ml_program")
OBEYS, BREAKS = (dict(DOCUMENT.cases(kind)) for kind in ("obeys", "breaks"))
DIALECTS = Dialects()


def _value(expression: str) -> np.ndarray[Any, Any]:
    return np.asarray(eval(expression, {"np": np}))


def _findings(text: str) -> tuple[Module | None, list[Diagnostic]]:
    return check_piece(Piece(text, 0), "x.mlir", DIALECTS)


def _results(program: Module, case: Case) -> list[list[np.ndarray[Any, Any]]]:
    externs: Mapping[str, str] = case.other.get("externs", {})  # pyright: ignore[reportAssignmentType]
    if externs:
        program = cir.with_externs(program, {name: _value(text) for name, text in externs.items()})
    state = cir.State()
    out: list[list[np.ndarray[Any, Any]]] = []
    runs: Sequence[Mapping[str, Any]] = case.other["runs"]  # pyright: ignore[reportAssignmentType]
    for run in runs:
        function = run.get("function", "f")
        names = [port.name for port in program.functions[function].inputs]
        inputs = dict(zip(names, map(_value, run.get("inputs", ())), strict=True))
        out.append(list(cir.run(program, inputs, function=function, state=state).values()))
    return out


def _printed(program: Module, case: Case) -> str:
    passes = case.other.get("passes")
    if isinstance(passes, str):
        program = cir.optimize(program, passes=passes)
    return print_module(program, naming=Naming.MLIR, elide=None)


@pytest.mark.parametrize("case", OBEYS.values(), ids=OBEYS)
def test_a_program_that_obeys_is_accepted_printed_and_run(case: Case) -> None:
    program, found = _findings(case.text)
    assert [d for d in found if d.is_error] == []
    assert bool(found) is case.other.get("warns", False)
    assert program is not None
    if "runs" in case.other:
        runs: Sequence[Mapping[str, Any]] = case.other["runs"]  # pyright: ignore[reportAssignmentType]
        for result, run in zip(_results(program, case), runs, strict=True):
            expected = [_value(text) for text in run["outputs"]]
            assert [(a.dtype, a.tolist()) for a in result] == [(e.dtype, e.tolist()) for e in expected]
    if "prints" in case.other:
        assert _printed(program, case).strip() == str(case.other["prints"]).strip()


@pytest.mark.parametrize("case", BREAKS.values(), ids=BREAKS)
def test_a_program_that_breaks_a_statement_is_reported(case: Case) -> None:
    program, found = _findings(case.text)
    if "runs" in case.other:
        assert [d for d in found if d.is_error] == []
        assert bool(found) is case.other.get("warns", False)
        assert program is not None
        with pytest.raises(DiagnosticError) as refused:
            _results(program, case)
        found = list(refused.value.diagnostics)
    texts = [f"{d.code.id}: {d.message}" for d in found]
    (reported,) = [d for d, text in zip(found, texts, strict=True) if case.message in text][:1] or [None]
    assert reported is not None, texts
    assert str(case.other.get("help", "")) in (reported.help or "")


def test_the_dialect_has_these_operations_and_no_others() -> None:
    names = (
        *("func", "global", "global_load", "global_load_const", "global_load_graph", "global_store"),
        *("global_store_graph", "output", "return", "subgraph", "token"),
    )
    assert sorted(ml_program.DIALECT.operations) == [f"ml_program.{name}" for name in names]
    own = ml_program.DIALECT.own
    assert own is not None
    assert (sorted(own.attributes), sorted(own.types)) == (["extern"], ["token"])


@pytest.mark.slow
def test_mlir_opt_judges_and_prints_every_case_so() -> None:
    cases = [*[(True, case) for case in OBEYS.values()], *[(False, case) for case in BREAKS.values()]]
    cases = [(is_right, case) for is_right, case in cases if case.other.get("mlir") != "crashes"]
    for passes in {case.other.get("passes") for _, case in cases}:
        chosen = [(is_right, case) for is_right, case in cases if case.other.get("passes") == passes]
        for (is_right, case), answer in zip(chosen, _answers([case.text for _, case in chosen], passes), strict=True):
            judged = {"accepts": True, "refuses": False}.get(
                str(case.other.get("mlir")), is_right or "runs" in case.other
            )
            assert bool(answer) is judged, case.text
            if answer and is_right and case.other.get("mlir") != "prints otherwise":
                assert _printed(parse_module(case.text, DIALECTS), case).strip() == answer


def _answers(texts: Sequence[str], passes: object) -> list[str]:
    """Returns the texts that mlir-opt prints for programs; "" for one that it refuses."""
    command = [mlir_opt(), "--split-input-file", *([f"--{passes}"] if passes else [])]
    joined = f"\n{SEPARATOR}\n".join(texts)
    result = subprocess.run(command, input=joined, capture_output=True, text=True, check=False)
    parts = result.stdout.split(f"{SEPARATOR}\n")
    assert len(parts) == len(texts)
    return [part.strip() for part in parts]
