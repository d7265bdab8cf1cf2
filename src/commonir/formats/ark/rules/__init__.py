"""Rules of ARK programs that no operation by itself can break: of a rank as a whole, and of all ranks together."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice

from commonir.base.diagnostics import Diagnostic
from commonir.base.limits import DEFAULT_LIMITS
from commonir.dialects import ark
from commonir.formats.ark.rules.faults import Fault, RankTensors
from commonir.formats.ark.rules.graph import graph_faults
from commonir.formats.ark.rules.memory import memory_warnings
from commonir.formats.ark.rules.ranks import communication_faults, identity_faults
from commonir.formats.ark.rules.tensors import tensor_faults
from commonir.ir.module import Module
from commonir.ods.verify import Locate


def broken_rules(module: Module, locate: Locate, *, is_verified: bool = False) -> list[Diagnostic]:
    """Returns findings about a program of ranks as a whole, in the order of ranks and nodes.

    Ranks whose tensors cannot be examined are skipped; verification of their operations reports why. `is_verified`:
    it has found no errors.
    """
    ranks = [op for op in module.body.operations if isinstance(op, ark.Rank)]
    if not ranks:
        return []
    order = {rank: n for n, rank in enumerate(ranks)}
    diagnostics = list(islice(_faults(module, ranks, is_verified=is_verified), DEFAULT_LIMITS.max_diagnostics))

    def key(fault: Fault) -> tuple[int, int]:
        rank = fault.op if isinstance(fault.op, ark.Rank) else ark.rank_of(fault.op)
        return (order.get(rank, 0) if rank is not None else 0, fault.node)

    return [locate(fault.op, fault.finding) for fault in sorted(diagnostics, key=key)]


def _faults(module: Module, ranks: list[ark.Rank], *, is_verified: bool) -> Iterator[Fault]:
    tensors = [RankTensors(rank, is_verified=is_verified) for rank in ranks]
    sound = [each for each in tensors if each.is_sound]
    yield from chain.from_iterable(map(_of_one, sound))
    wrong = list(identity_faults(ranks))
    yield from wrong
    if not wrong and len(sound) == len(ranks):
        yield from communication_faults(module, {each.rank.rank: each for each in sound})


def _of_one(tensors: RankTensors) -> Iterator[Fault]:
    yield from graph_faults(tensors)
    yield from tensor_faults(tensors)
    yield from memory_warnings(tensors)
