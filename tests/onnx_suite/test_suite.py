"""The backend suite of onnx: every case passes but those that `remaining.toml` names, and those do not.

The cases run in parts, so that several processes share them; each part imports everything anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import pytest

from tests.oracles import oracle
from tests.pool import judge_all

if TYPE_CHECKING:
    from tests.onnx_suite.cases import Case
    from tests.onnx_suite.outcomes import Outcome

PARTS = 3
PARTS_THROUGH_ARK = (0,)
"""All of them: `python -m tests.onnx_suite --kind all --to ark`."""
LIMIT_SECONDS = 60.0
SUITE_VERSION = "1.23.2"
"""Other versions of onnx have other cases."""

A_FEW = ("test_add", "test_softmax_axis_1", "test_matmul_2d", "test_layer_normalization_2d_axis1", "test_gather_0")
LEAST_THROUGH_CORE_ML = 1000
LEAST_PASSING = 2010
LEAST_THROUGH_ARK = 360
"""Of each part."""
ROUNDED_IN_ARK = frozenset({"test_attention_4d_causal_fp16_expanded"})
"""Half precision is rounded at each operation there: one element differs by one unit in the last place."""


def cases_of(part: int | None = None, kinds: Sequence[str] | None = None) -> list[Case]:
    """The cases of one part, every third; all when none is named."""
    if oracle("onnx").__version__ != SUITE_VERSION:
        pytest.skip(f"the cases are those of onnx {SUITE_VERSION}")
    from tests.onnx_suite.cases import KINDS, load_cases  # noqa: PLC0415  needs the oracle

    result = load_cases(kinds or KINDS)
    return result if part is None else result[part::PARTS]


def outcomes_of(cases: Sequence[Case], route: str, *, processes: int = 1) -> list[Outcome]:
    """Returns the outcomes of cases in a process of their own; with 0 processes in this one."""
    from tests.onnx_suite.outcomes import ended  # noqa: PLC0415  needs the oracle
    from tests.onnx_suite.routes import judging  # noqa: PLC0415

    make = partial(judging, "numpy", route)
    return list(judge_all(cases, make, ended, processes=processes, limit_seconds=LIMIT_SECONDS))


def surprises(outcomes: Sequence[Outcome], route: str) -> list[str]:
    """Cases that do not pass and are not named, and cases that are named and pass."""
    from tests.onnx_suite.outcomes import Verdict  # noqa: PLC0415  needs the oracle
    from tests.onnx_suite.remaining import remaining  # noqa: PLC0415

    known = remaining(route)
    return [
        f"{o.case.name}: {o.reason if o.verdict is not Verdict.PASS else 'passes, but is named'}"
        for o in outcomes
        if (o.verdict is Verdict.PASS) == (o.case.name in known)
    ]


@pytest.mark.parametrize("route", ["", "ark", "verify", "messages", "onnx", "opset13", "coreml"])
def test_a_few_cases_pass_by_each_route(route: str) -> None:
    oracle("onnxruntime")
    if route == "coreml":
        oracle("coremltools")
    cases = [case for case in cases_of() if case.name in A_FEW]
    assert len(cases) == len(A_FEW)
    assert surprises(outcomes_of(cases, route, processes=0), route) == []


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_cases_pass_but_those_that_are_named(part: int) -> None:
    assert surprises(outcomes_of(cases_of(part), ""), "") == []


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS_THROUGH_ARK)
def test_what_becomes_an_ark_model_gives_what_the_case_says(part: int) -> None:
    from tests.onnx_suite.outcomes import Verdict  # noqa: PLC0415  needs the oracle
    from tests.onnx_suite.remaining import remaining  # noqa: PLC0415

    result = outcomes_of(cases_of(part), "ark")
    known = {*ROUNDED_IN_ARK, *remaining("")}
    assert [
        f"{o.case.name}: {o.reason}" for o in result if o.verdict is Verdict.FAIL and o.case.name not in known
    ] == []
    assert sum(o.verdict is Verdict.PASS for o in result) >= LEAST_THROUGH_ARK


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_models_are_verified_and_written_again_with_equal_messages(part: int) -> None:
    cases = cases_of(part)
    for route in ("verify", "messages"):
        assert surprises(outcomes_of(cases, route), route) == []


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_cases_come_back_from_the_core(part: int) -> None:
    oracle("onnxruntime")
    assert surprises(outcomes_of(cases_of(part), "onnx"), "onnx") == []


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_cases_of_newer_operators_go_to_opset_13(part: int) -> None:
    oracle("onnxruntime")
    cases = [c for c in cases_of(part, ["node"]) if not c.is_expanded and opset_of(c) > 13]
    assert surprises(outcomes_of(cases, "opset13"), "opset13") == []


def opset_of(case: Case) -> int:
    """The version of the default operator set that the model of a case imports; 0 when it imports none."""
    model = oracle("onnx").load(case.model, load_external_data=False)
    return max([o.version for o in model.opset_import if o.domain in ("", "ai.onnx")], default=0)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_cases_go_through_core_ml(part: int) -> None:
    oracle("coremltools")
    assert surprises(outcomes_of(cases_of(part, ["node"]), "coreml"), "coreml") == []


def test_enough_cases_pass() -> None:
    from tests.onnx_suite.remaining import remaining  # noqa: PLC0415  needs the oracle

    whole = cases_of()
    nodes = {case.name for case in whole if case.kind == "node" and "." not in case.operator}
    assert len(whole) - len(remaining("")) >= LEAST_PASSING
    assert len(nodes - remaining("coreml").keys()) >= LEAST_THROUGH_CORE_ML
    assert {name for route in ("", "verify", "messages", "onnx", "opset13", "coreml") for name in remaining(route)} <= {
        case.name for case in whole
    }
