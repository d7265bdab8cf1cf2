"""Models of single operators give what onnxruntime or onnx's evaluator gives, whatever is known of their shapes."""

from __future__ import annotations

import pytest

from tests.onnx_operators.choices import reason
from tests.onnx_operators.verdicts import RECIPES, drawn, judge

ROUNDS = 4


@pytest.mark.parametrize("number", range(len(RECIPES)), ids=[f"{n}-{r.__name__}" for n, r in enumerate(RECIPES)])
def test_drawn_models_give_what_another_evaluator_gives(number: int) -> None:
    for seed in range(number, ROUNDS * len(RECIPES), len(RECIPES)):
        it = drawn(seed)
        found = judge(it)
        others = [isinstance(o, list) for o in (found.reference, found.runtime)]
        if not any(others) or reason(it) is not None:
            continue
        assert isinstance(found.ours, list), f"seed {seed}: {it}: {found.ours}"
        assert not found.findings, f"seed {seed}: {it}"
        assert len(found.differing) < sum(others), f"seed {seed}: {it}: {found.differing}"
