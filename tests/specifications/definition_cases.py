"""Cases of the parts of the document on operation definitions that are about definitions.

The text of a case is a TableGen file of definitions. Its other keys, of which `module` marks these cases:

    module     a program in MLIR text that is read and verified with the definitions; may be empty
    printed    lines of the program as it is printed
    generic    lines of the program in the generic form
    pages      texts of the reference pages of operations, by their names
    inputs     inputs `a` and `b` of the main function, as nested lists of 32-bit floats
    output     its output

A case that breaks a statement has an error when the definitions load or the program is read or verified, or a note
about what is left to C++.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import commonir as cir
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.ir.module import Module
from commonir.ods import Dialect, Dialects
from commonir.ods.documentation import operation_page
from commonir.text.loaded_definitions import load_dialects, not_evaluable
from commonir.text.printer import Naming, print_module

from tests.specifications.statements import Case


def is_about_definitions(case: Case) -> bool:
    """Returns whether a case is one of those that this module describes."""
    return "module" in case.other


def check_obeying(case: Case, folder: Path) -> None:
    """Checks that a case has no findings, and everything that it states."""
    dialects = _loaded(case, folder)
    other: Mapping[str, Any] = case.other
    if other["module"]:
        module = cir.loads(str(other["module"]), format="mlir", dialects=dialects)
        assert _findings(module, dialects) == []
        for key in ("printed", "generic"):
            text = print_module(
                module, generic=key == "generic", naming=Naming.MLIR, dialects=Dialects(dialects=dialects)
            )
            for line in other.get(key, ()):
                assert line in text
        if "output" in other:
            inputs = [np.array(each, np.float32) for each in other["inputs"]]
            (result,) = cir.run(module, dict(zip("ab", inputs, strict=False))).values()
            np.testing.assert_array_equal(result, np.array(other["output"], np.float32))
    for name, texts in other.get("pages", {}).items():
        dialect = next(d for d in dialects if d.name == name.partition(".")[0])
        for text in texts:
            assert text in operation_page(dialect, name)


def findings(case: Case, folder: Path) -> list[str]:
    """Returns the findings of a case, each as its code and message."""
    try:
        dialects = _loaded(case, folder)
        text = str(case.other["module"])
        found = _findings(cir.loads(text, format="mlir", dialects=dialects), dialects) if text else []
    except DiagnosticError as error:
        found = [*error.diagnostics]
    return [f"{d.code.id}: {d.message}" for d in found]


def _loaded(case: Case, folder: Path) -> tuple[Dialect, ...]:
    path = folder / "definitions.td"
    path.write_text(case.text)
    return load_dialects([path])


def _findings(module: Module, dialects: tuple[Dialect, ...]) -> list[Diagnostic]:
    return [*cir.verify(module, dialects=dialects), *not_evaluable(module)]
