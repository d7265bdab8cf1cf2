"""Every statement of a specification has cases that obey and break it, or says which test shows it."""

from __future__ import annotations

import pytest

from tests.specifications import statements


@pytest.mark.parametrize("name", statements.documents())
def test_statements_have_cases(name: str) -> None:
    assert list(statements.faults(statements.read(name))) == []
