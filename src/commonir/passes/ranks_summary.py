"""Summary of a program of ranks: memory of each rank, and communication between ranks."""

from __future__ import annotations

from commonir.dialects import ark, core
from commonir.ir.module import Module
from commonir.passes import traffic
from commonir.passes.ark.memory_report import memory_of
from commonir.passes.ark.messages import communicate, ranks_by_number
from commonir.passes.ark.volume import barriers_of, traffic_of
from commonir.reports import RanksSummary, RankSummary


def ranks_summary(module: Module) -> RanksSummary | None:
    """Returns the ranks of an ARK or core program; None for a program without ranks or with invalid memory."""
    if any(isinstance(op, ark.Rank) for op in module.body.operations):
        return _of_ark(module)
    return _of_core(module)


def _of_ark(module: Module) -> RanksSummary | None:
    """Returns uses the first of several ranks with one number; returns None if tensors have no memory."""
    ranks = ranks_by_number(module)
    if not all(rank.is_placed for rank in ranks.values()):
        return None
    communication = communicate(module)
    world_size = max(rank.world_size for rank in ranks.values())
    return RanksSummary(
        world_size,
        tuple([memory_of(ranks[number], communication) for number in sorted(ranks)]),
        traffic_of(communication),
        barriers_of(communication),
        world_size - len(ranks),
        tuple(sorted(communication.blocked)),
    )


def _of_core(module: Module) -> RanksSummary | None:
    """Returns a summary without memory, because core values have none."""
    functions = core.ranks_of(module)
    if not functions:
        return None
    declared = [core.rank_of(function) or (0, 1) for function in functions]
    world_size = max(world for _, world in declared)
    numbers = [number for number, _ in declared]
    return RanksSummary(
        world_size,
        tuple([RankSummary(n, f.symbol_name) for n, f in zip(numbers, functions, strict=True)]),
        traffic.core_traffic(functions),
        traffic.barriers_of(functions),
        world_size - len(functions),
    )
