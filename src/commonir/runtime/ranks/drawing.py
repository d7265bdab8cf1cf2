"""Inputs of all ranks of a program: those given, and random ones; and inputs of several runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from commonir.ir.module import Module
from commonir.runtime.inputs import random_inputs
from commonir.runtime.ranks.program import Ranks, joined_names
from commonir.runtime.steps import inputs_by_step

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.generic]


def random_rank_inputs(
    module: Module, ranks: Ranks, *, seed: int, dims: Mapping[str, int], given: Mapping[str, Array]
) -> dict[str, Array]:
    """Inputs for all ranks by the names of the program. What ranks call by one name, and is of one type, is the same.

    Raises: as `random_inputs`; DiagnosticError (E0702) for an input that no rank has.
    """
    by_rank = ranks.inputs_by_rank(given)
    drawn = [
        random_inputs(module, function=f.symbol_name, seed=seed, dims=dims, given=own)
        for f, own in zip(ranks.functions, by_rank, strict=True)
    ]
    return joined_names(drawn)


def rank_inputs_by_step(ranks: Ranks, given: Mapping[str, Array], steps: int) -> list[dict[str, Array]]:
    """Returns the inputs of each step; see `inputs_by_step`."""
    by_rank = zip(ranks.functions, ranks.inputs_by_rank(given), strict=True)
    parts = [inputs_by_step(f, own, steps) for f, own in by_rank]
    return [joined_names([part[n] for part in parts]) for n in range(steps)]
