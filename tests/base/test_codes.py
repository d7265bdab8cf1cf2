"""Codes are unique, numbered by room, and explained."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from commonir.base.codes import all_codes, find_code
from commonir.base.diagnostics import Code, DiagnosticError, ExitStatus, Severity
from commonir.base.limits import DEFAULT_LIMITS, Limits

CODES = list(all_codes())
# The exit status that a room of numbers usually has; a code may say otherwise within what is listed.
PACKAGES = {
    "01": {ExitStatus.UNREADABLE, ExitStatus.UNSUPPORTED},
    "03": {ExitStatus.REFUSED},
    "08": {ExitStatus.UNWRITABLE, ExitStatus.UNSUPPORTED, ExitStatus.USAGE},
    "09": {ExitStatus.USAGE, ExitStatus.OUR_BUG},
}


def test_codes_are_unique() -> None:
    twice = [number for number, count in Counter(code.id for code in CODES).items() if count > 1]
    assert not twice, "these numbers stand for two codes: take numbers that are not in use"


@pytest.mark.parametrize("code", CODES, ids=lambda code: code.id)
def test_code_is_well_formed_and_explained(code: Code) -> None:
    assert re.fullmatch(r"[EWN]0[1-9]\d\d", code.id)
    assert {"E": Severity.ERROR, "W": Severity.WARNING, "N": Severity.NOTE}[code.id[0]] is code.severity
    assert code.title[0].islower() or code.title[:2].isupper()
    assert not code.title.endswith(".")
    assert code.explanation.endswith(".")
    assert code.explanation.rstrip(".") != code.title
    assert len(code.explanation) > 40


@pytest.mark.parametrize("code", [code for code in CODES if code.id[1:3] in PACKAGES], ids=lambda code: code.id)
def test_code_has_the_exit_status_of_its_room(code: Code) -> None:
    assert code.severity is not Severity.ERROR or code.status in PACKAGES[code.id[1:3]]


def test_codes_are_found_in_either_case_and_unknown_ones_refused_with_near_ones() -> None:
    assert find_code("e0103").title == "the file is empty"
    with pytest.raises(DiagnosticError, match="no diagnostic has the code 'E0199'"):
        find_code("E0199")


def test_limits_are_immutable_and_varied_by_copy() -> None:
    with pytest.raises(AttributeError):
        DEFAULT_LIMITS.max_rank = 3  # pyright: ignore[reportAttributeAccessIssue] -- what is tested
    assert DEFAULT_LIMITS._replace(max_rank=3) == Limits(max_rank=3)
