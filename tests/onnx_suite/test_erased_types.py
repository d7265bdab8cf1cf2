"""Types that models do not state are inferred, never wrongly, and never worse than onnx infers them."""

from __future__ import annotations

import pytest

from tests.onnx_suite.test_suite import A_FEW, cases_of

LEAST_EXACT = {False: 1165, True: 428}
"""Cases with exact types: of operators as they are, and expanded into other operators. onnx has 1146 and 293."""


@pytest.mark.slow
@pytest.mark.parametrize("is_expanded", [False, True], ids=["operators", "expanded"])
def test_types_are_inferred_at_least_as_well_as_by_onnx(is_expanded: bool) -> None:
    cases = [c for c in cases_of(kinds=("node",)) if c.is_expanded is is_expanded]
    from tests.onnx_suite.erased_types import Verdict, inferred, verdict  # noqa: PLC0415  needs the oracle

    result = list(inferred(cases))
    verdicts = {i.case.name: verdict(i.stated, i.ours) for i in result}
    assert [name for name, v in verdicts.items() if v is Verdict.WRONG] == []
    assert [i.case.name for i in result if i.knows_less] == []
    assert sum(v is Verdict.EXACT for v in verdicts.values()) >= LEAST_EXACT[is_expanded]


def test_types_of_a_few_cases_are_inferred_exactly() -> None:
    cases = [case for case in cases_of() if case.name in A_FEW]
    from tests.onnx_suite.erased_types import Verdict, inferred, verdict  # noqa: PLC0415  needs the oracle

    assert {i.case.name: verdict(i.stated, i.ours) for i in inferred(cases)} == dict.fromkeys(A_FEW, Verdict.EXACT)
