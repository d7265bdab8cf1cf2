"""Side effects of operations.

Source: MLIR, side effects.
"""

from __future__ import annotations

from enum import IntEnum

from commonir.ir.operation import Operation
from commonir.ir.types import MemRefType
from commonir.ods import traits
from commonir.ods.operation import Op


class Effects(IntEnum):
    """The strongest effect of an operation."""

    NONE = 0
    READS = 1
    ANY = 2


def effects_of(op: Operation) -> Effects:
    """Returns the strongest effect of an operation and everything in it; an undefined one may have any."""
    own_effects = _own_effects(op)
    return _nested_effects(op) if own_effects is None else own_effects


def _own_effects(op: Operation) -> Effects | None:
    """Returns the effect of an operation itself; None when its only effects are those of its regions."""
    if not isinstance(op, Op):
        return Effects.ANY
    if op.has_trait(traits.Pure):
        return Effects.NONE
    if op.has_trait(traits.RecursiveEffects):
        return None
    if op.has_trait(traits.OnlyReads):
        return Effects.READS
    if op.has_trait(traits.PureOnTensors):
        is_memory = any(isinstance(v.type, MemRefType) for v in op.operands)
        return Effects.ANY if is_memory else Effects.NONE
    return Effects.ANY


def _nested_effects(op: Operation) -> Effects:
    most = Effects.NONE
    pending = [op]
    while pending:
        for region in pending.pop().regions:
            for block in region.blocks:
                for inner in block.operations:
                    result = _own_effects(inner)
                    if result is Effects.ANY:
                        # No effect is stronger, so the rest of the region is not visited.
                        return result
                    if result is None:
                        pending.append(inner)
                    else:
                        most = max(most, result)
    return most


def may_have_no_effect(definition: type[Operation]) -> bool:
    """Returns whether operations of a definition are not terminators and may have no effects except reads."""
    if not issubclass(definition, Op) or definition.has_trait(traits.Terminator):
        return False
    harmless = (traits.Pure, traits.RecursiveEffects, traits.OnlyReads, traits.PureOnTensors)
    return any(definition.has_trait(t) for t in harmless)


def is_unneeded(op: Operation) -> bool:
    """Returns whether an operation is dead: its results are unused, and it has no effects but reads."""
    if any(r.is_used for r in op.results) or not may_have_no_effect(type(op)):
        return False
    return effects_of(op) <= Effects.READS
