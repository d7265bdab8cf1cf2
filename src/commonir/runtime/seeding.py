"""Seeds for the random numbers of a program that leaves the choice open."""

from __future__ import annotations

import hashlib

from commonir.base.diagnostics import InternalError
from commonir.dialects import core
from commonir.ir.cloning import clone
from commonir.ir.module import Module
from commonir.ir.operation import Block
from commonir.passes.select_function import with_called


def with_seeds(module: Module, seed: int | None, function: str | None = None) -> Module:
    """Returns the module with a seed for each operation that has none, derived from the one given and its place.

    The module itself when no seed is given, or none is missing in the function that is to run, the main one where none
    is named.
    """
    if seed is None:
        return module
    # Not the whole module: each of its functions may be run.
    if not any(_is_open(op) for part in with_called(module.function(function)) for op in part.walk()):
        return module
    result = clone(module)
    for number, op in enumerate([op for op in result.walk() if _is_open(op)]):
        if not isinstance(op, core.RandomTensor) or not isinstance(op.parent, Block):
            raise InternalError(f"{op.name} is in no block")
        digest = hashlib.sha256(f"{seed}:{number}".encode()).digest()
        seeded = op.with_attributes(seed=int.from_bytes(digest[:4], "little"))
        op.parent.insert_before(op, seeded)
        for old, new in zip(op.results, seeded.results, strict=True):
            old.replace_all_uses_with(new)
        op.erase()
    return result


def _is_open(op: object) -> bool:
    return isinstance(op, core.RandomTensor) and op.seed == core.ANY_SEED
