"""Rules of the Common IR that only files break, each broken once; the test is named after the rule."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import commonir as cir
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.dialects.common_ir.rules import RULES, Checked

EXAMPLES = Path(__file__).parents[3] / "examples" / "common_ir"
BY_LABEL = {rule.label: rule for rule in RULES}


def _document(name: str) -> Any:
    return json.loads((EXAMPLES / name).read_text(encoding="utf-8"))


def _graph_in_library(folder: Path) -> bytes:
    library = _document("libraries/activations.cir.json")
    library["LibraryProto"]["graph"] = _document("functions.cir.json")["ModelProto"]["graph"]
    return json.dumps(library).encode()


def _undefined_input(folder: Path) -> bytes:
    model = _document("functions.cir.json")
    model["ModelProto"]["graph"]["node"][1]["input"] = ["dubled"]
    return json.dumps(model).encode()


def _no_counts(folder: Path) -> bytes:
    model = _document("overloads.cir.json")
    for name in ("activations", "float_twice", "integer_twice", "operators"):
        text = (EXAMPLES / "libraries" / f"{name}.cir.json").read_text(encoding="utf-8")
        (folder / "libraries").mkdir(exist_ok=True)
        (folder / "libraries" / f"{name}.cir.json").write_text(text, encoding="utf-8")
    for node in model["ModelProto"]["graph"]["node"]:
        node.pop("input_arg_count", None)
    return json.dumps(model).encode()


def _library_as_root(folder: Path) -> bytes:
    return (EXAMPLES / "libraries" / "activations.cir.json").read_bytes()


def _missing_import(folder: Path) -> bytes:
    model = _document("functions.cir.json")
    model["ModelProto"]["graph"]["imported_libraries"] = ["nowhere.cir"]
    return json.dumps(model).encode()


def _no_text(folder: Path) -> bytes:
    return json.dumps(_document("functions.cir.json")).encode().replace(b"Shows", b"Sh\xffws")


CASES = {
    "CIR3": (_graph_in_library, "E0250", "LibraryProto has no field 'graph'"),
    "CIR20": (_undefined_input, "E0255", "CIR20: 'dubled' is not an output of a node, an input or an initializer"),
    "CIR22": (_no_counts, "W0255", "has no list of argument counts"),
    "CIR27": (_library_as_root, "E0706", "there is no function to run"),
    "CIR29": (_missing_import, "E0252", "the library 'nowhere.cir' is not found"),
    "CIR35": (_no_text, "E0250", "is not UTF-8"),
}


def _findings(path: Path, *, runs: bool) -> list[Diagnostic]:
    diagnostics = Diagnostics()
    try:
        module = cir.load(path, findings=diagnostics, lenient=True)
        diagnostics.extend(cir.verify(module))
        if runs:
            cir.run(module)
    except DiagnosticError as error:
        diagnostics.extend(error.diagnostics)
    return list(diagnostics)


@pytest.mark.parametrize("label", CASES)
def test_breaking(label: str, tmp_path: Path) -> None:
    make, code, message = CASES[label]
    path = tmp_path / "model.cir.json"
    path.write_bytes(make(tmp_path))
    diagnostics = [d for d in _findings(path, runs=label == "CIR27") if message in d.message]
    assert diagnostics
    assert diagnostics[0].code.id == code
    assert BY_LABEL[label].code is None or BY_LABEL[label].code is diagnostics[0].code


def test_every_rule_that_only_files_break_has_a_case() -> None:
    assert [r.label for r in RULES if r.checked is Checked.FILE and r.label not in CASES] == []


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([1, 0], "CIR23: 'Scaled' has 1 parameter, found 2 counts"),
        ([0], "the argument counts [0] do not divide 1 input among the 1 parameter of function 'Scaled'"),
    ],
)
def test_counts_of_calls_are_those_of_the_function(counts: list[int], message: str, tmp_path: Path) -> None:
    model = _document("functions.cir.json")
    model["ModelProto"]["graph"]["node"][0]["input_arg_count"] = counts
    path = tmp_path / "model.cir.json"
    path.write_text(json.dumps(model), encoding="utf-8")
    assert message in [d.message for d in _findings(path, runs=False)]
    cir.save(cir.load(path), tmp_path / "again.cir.json")
    again = json.loads((tmp_path / "again.cir.json").read_text(encoding="utf-8"))
    assert again["ModelProto"]["graph"]["node"][0]["input_arg_count"] == counts


def test_a_second_function_of_one_name_is_reported_not_dropped(tmp_path: Path) -> None:
    model = _document("functions.cir.json")
    functions = model["ModelProto"]["graph"]["function"]
    functions.append(functions[0])
    path = tmp_path / "model.cir.json"
    path.write_text(json.dumps(model), encoding="utf-8")
    with pytest.raises(DiagnosticError, match="CIR15: 'Scaled' is the name of two functions"):
        cir.load(path)
