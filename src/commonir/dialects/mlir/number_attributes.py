"""What arith, math and complex say of their operations in common: what an optimizer may take for granted.

None of it changes what an operation means for values for which it holds; for others nothing is specified.
Source: MLIR arith dialect, attributes.
"""

from __future__ import annotations

from enum import Flag

from commonir.ods.mlir_kinds import dialect_flags
from commonir.ods.own_forms import own_forms


class FastMath(Flag):
    """What may be assumed of floating-point numbers."""

    NONE = 0
    REASSOC = 1
    NNAN = 2
    NINF = 4
    NSZ = 8
    ARCP = 16
    CONTRACT = 32
    AFN = 64
    FAST = 127


class Overflow(Flag):
    """Which overflow does not happen: that of signed or of unsigned numbers."""

    NONE = 0
    NSW = 1
    NUW = 2


fastmath = dialect_flags(FastMath, "arith.fastmath", separator=",")
overflow = dialect_flags(Overflow, "arith.overflow")

OWN = own_forms(fastmath, overflow)
"""What the dialect `arith` has."""

__all__ = ["OWN", "FastMath", "Overflow", "fastmath", "overflow"]
