"""Sets seeds of random operations that have none."""

from __future__ import annotations

import hashlib

from commonir.base.diagnostics import InternalError
from commonir.dialects import core
from commonir.ir.cloning import clone
from commonir.ir.module import Module
from commonir.ir.operation import Block
from commonir.passes.select_function import with_called


def with_seeds(module: Module, seed: int | None, function: str | None = None) -> Module:
    """Returns the module with a seed for each random operation without one, derived from `seed` and its position.

    Returns the module itself when `seed` is None, or no seed is missing in the function, by default the main one.
    """
    if seed is None:
        return module
    # Only the functions that this one calls: others run separately.
    if not any(_needs_seed(op) for part in with_called(module.function(function)) for op in part.walk()):
        return module
    result = clone(module)
    for number, op in enumerate([op for op in result.walk() if _needs_seed(op)]):
        if not isinstance(op, core.RandomTensor) or not isinstance(op.parent, Block):
            raise InternalError(f"{op.name} is not in a block")
        digest = hashlib.sha256(f"{seed}:{number}".encode()).digest()
        seeded = op.with_attributes(seed=int.from_bytes(digest[:4], "little"))
        op.parent.insert_before(op, seeded)
        for old, new in zip(op.results, seeded.results, strict=True):
            old.replace_all_uses_with(new)
        op.erase()
    return result


def _needs_seed(op: object) -> bool:
    return isinstance(op, core.RandomTensor) and op.seed == core.ANY_SEED
