"""Attributes that arith, math and complex share: the assumptions an optimizer may make.

None of it changes what an operation means for values for which it holds; for others nothing is specified.
Source: MLIR arith dialect, attributes.
"""

from __future__ import annotations

from enum import Flag

from commonir.ods.mlir_attr_types import dialect_flags
from commonir.ods.own_forms import own_forms


class FastMath(Flag):
    """Assumptions about floating-point numbers."""

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
    """Overflow that does not happen: signed or unsigned."""

    NONE = 0
    NSW = 1
    NUW = 2


fastmath = dialect_flags(FastMath, "arith.fastmath", separator=",")
overflow = dialect_flags(Overflow, "arith.overflow")

OWN = own_forms(fastmath, overflow)
"""The attribute forms of the dialect `arith`."""
