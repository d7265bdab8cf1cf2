"""Models of single operators give what onnxruntime or onnx's evaluator gives, whatever is known of their shapes."""

from __future__ import annotations

import pytest

from tests.onnx_operators.choices import reason
from tests.onnx_operators.verdicts import RECIPES, drawn, judge

ROUNDS = 4


@pytest.mark.fast_every(3)
@pytest.mark.parametrize("number", range(len(RECIPES)), ids=[f"{n}-{r.__name__}" for n, r in enumerate(RECIPES)])
def test_drawn_models_give_what_another_evaluator_gives(number: int) -> None:
    for seed in range(number, ROUNDS * len(RECIPES), len(RECIPES)):
        it = drawn(seed)
        result = judge(it)
        others = [isinstance(o, list) for o in (result.reference, result.runtime)]
        if not any(others) or reason(it) is not None:
            continue
        assert isinstance(result.ours, list), f"seed {seed}: {it}: {result.ours}"
        assert not result.findings, f"seed {seed}: {it}"
        assert len(result.differing) < sum(others), f"seed {seed}: {it}: {result.differing}"
