"""The statements of the document on operation definitions, in `operation_definitions.toml`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.specifications import definition_cases, rewriting_cases, statements

DOCUMENT = statements.read("operation_definitions")
OBEYS, BREAKS = dict(DOCUMENT.cases("obeys")), dict(DOCUMENT.cases("breaks"))


@pytest.mark.parametrize("name", OBEYS)
def test_case_that_obeys_is_accepted(name: str, tmp_path: Path) -> None:
    case = OBEYS[name]
    cases = definition_cases if definition_cases.is_about_definitions(case) else rewriting_cases
    cases.check_obeying(case, tmp_path)


@pytest.mark.parametrize("name", BREAKS)
def test_case_that_breaks_is_refused(name: str, tmp_path: Path) -> None:
    case = BREAKS[name]
    cases = definition_cases if definition_cases.is_about_definitions(case) else rewriting_cases
    result = cases.findings(case, tmp_path)
    assert any(case.message in finding for finding in result), result
