"""Builds the inputs of all ranks of a program, for one or several steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from commonir.inputs.random_inputs import random_inputs
from commonir.inputs.steps import inputs_by_step
from commonir.ir.module import Module
from commonir.runtime.ranks.program import Ranks, joined_names

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.generic]


def random_rank_inputs(
    module: Module,
    ranks: Ranks,
    *,
    seed: int,
    dims: Mapping[str, int],
    given: Mapping[str, Array],
    memory_limit_bytes: int | None = None,
) -> dict[str, Array]:
    """Returns inputs for all ranks by full name; see `random_inputs`. Inputs of the same name and type are equal.

    Raises: as `random_inputs`; DiagnosticError (E0702) for an input that no rank has.
    """
    by_rank = ranks.inputs_by_rank(given)
    drawn = [
        random_inputs(
            module,
            function=f.symbol_name,
            seed=seed,
            dims=dims,
            given=rank_inputs,
            memory_limit_bytes=memory_limit_bytes,
        )
        for f, rank_inputs in zip(ranks.functions, by_rank, strict=True)
    ]
    return joined_names(drawn)


def rank_inputs_by_step(ranks: Ranks, inputs: Mapping[str, Array], steps: int) -> list[dict[str, Array]]:
    """Returns the inputs of each step; see `inputs_by_step`."""
    by_rank = zip(ranks.functions, ranks.inputs_by_rank(inputs), strict=True)
    parts = [inputs_by_step(f, rank_inputs, steps) for f, rank_inputs in by_rank]
    return [joined_names([part[n] for part in parts]) for n in range(steps)]
