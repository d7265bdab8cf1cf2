"""Cases of the part of the document on operation definitions that is about rewrite patterns.

The text of a case is a TableGen file of definitions and rules. Its other keys:

    program    a program in MLIR text, to which the rules are applied
    result     the operations of its function afterwards, without its end: names, and attributes as `name = value`
    legalize   the dialect that the program is legalized to, instead of applying the rules until none matches
    files      other files, by name
    functions  names of Python functions, of FUNCTIONS, that the rules may call

A case that breaks a statement is an error when the rules load, a reason why a rule does not apply to the program, or an
error of the legalization.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import commonir as cir
from commonir.base.diagnostics import DiagnosticError
from commonir.ir.module import Module
from commonir.passes.rules import Rules, load_rules
from commonir.reports import RuleReport

from tests.specifications.statements import Case

FUNCTIONS: Mapping[str, Callable[..., object]] = {"asText": str, "isEven": lambda k: k % 2 == 0}


def check_obeying(case: Case, folder: Path) -> None:
    """Compares the operations that rules give with those of a case."""
    rules = _loaded(case, folder)
    if "program" in case.other:
        assert _operations(_transformed(case, rules, [])) == case.other["result"]


def findings(case: Case, folder: Path) -> list[str]:
    """Returns the errors in the rules of a case, and the reasons why they do not apply to its program."""
    reports: list[RuleReport] = []
    try:
        rules = _loaded(case, folder)
        if "program" in case.other:
            _transformed(case, rules, reports)
    except DiagnosticError as error:
        return [f"{d.code.id}: {'; '.join([d.message, *d.notes])}" for d in error.diagnostics]
    return [mismatch.reason for report in reports for mismatch in report.mismatches]


def _loaded(case: Case, folder: Path) -> Rules:
    files = case.other.get("files", {})
    assert isinstance(files, Mapping)
    for name, text in files.items():
        (folder / name).write_text(text)
    path = folder / "rules.td"
    path.write_text(case.text)
    names: Any = case.other.get("functions", ())
    return load_rules(path, [folder], functions={name: FUNCTIONS[name] for name in names})


def _transformed(case: Case, rules: Rules, reports: list[RuleReport]) -> Module:
    module = cir.loads(str(case.other["program"]), format="mlir", dialects=rules.dialects)
    target = case.other.get("legalize")
    if target is not None:
        return cir.legalize(module, str(target), rules=rules.rewrites, dialects=rules.dialects)
    return cir.optimize(module, passes=(), rules=rules.rewrites, reports=reports)


def _operations(module: Module) -> list[str]:
    out: list[str] = []
    for op in list(module.main.body.operations)[:-1]:
        attributes = [f"{name} = {value}" for name, value in getattr(op, "attribute_dictionary", {}).items()]
        out.append(" ".join([op.name, *([f"{{{', '.join(attributes)}}}"] if attributes else [])]))
    return out
