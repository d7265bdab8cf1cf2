"""Padding of convolution and pooling windows in the mil dialect.

Source: MIL operation reference, pad_type of conv and of the pools.
"""

from __future__ import annotations

from enum import Enum

from commonir.dialects import core
from commonir.ir.operation import Value
from commonir.ods import attr_types, one_of
from commonir.ods.operand_shapes import known_dims_of
from commonir.symbolic import Dim, ceil_div, floor_div, largest


class PadType(Enum):
    """Padding of the spatial axes."""

    VALID = "valid"
    SAME = "same"
    SAME_LOWER = "same_lower"
    CUSTOM = "custom"


PAD_TYPE = attr_types.enumeration(PadType)
UNTIL_CORE_ML_5 = one_of(PadType.VALID, PadType.SAME, PadType.CUSTOM)
"""The padding types of iOS 15."""


def spread(values: tuple[int, ...], rank: int) -> tuple[int, ...]:
    """One number for each spatial axis, 1 where none is given."""
    return values or (1,) * rank


def has_one_per_axis(rank: int, strides: tuple[int, ...], dilations: tuple[int, ...], pad: tuple[int, ...]) -> bool:
    """Returns whether numbers for spatial axes, where given, are as many as these, and twice as many of padding."""
    return len(strides) in (0, rank) and len(dilations) in (0, rank) and len(pad) in (0, 2 * rank)


def paddings(
    pad_type: PadType, pad: tuple[int, ...], sizes: tuple[Dim, ...], reach: tuple[int, ...], strides: tuple[int, ...]
) -> tuple[tuple[Dim, Dim], ...]:
    """Padding before and after each spatial axis. `reach` is the size of a window with its dilation."""
    match pad_type:
        case PadType.VALID:
            return ((0, 0),) * len(sizes)
        case PadType.CUSTOM:
            return tuple(zip(pad[::2], pad[1::2], strict=True)) or ((0, 0),) * len(sizes)
        case PadType.SAME | PadType.SAME_LOWER:
            out: list[tuple[Dim, Dim]] = []
            for size, k, s in zip(sizes, reach, strides, strict=True):
                # With stride 1 the amount does not depend on the size.
                total = k - 1 if s == 1 else largest((ceil_div(size, s) - 1) * s + k - size, 0)
                less = floor_div(total, 2)
                out.append((less, total - less) if pad_type is PadType.SAME else (total - less, less))
            return tuple(out)


def padded(
    x: Value, amounts: tuple[tuple[Dim, Dim], ...], reach: tuple[int, ...], fill: float
) -> tuple[Value, tuple[tuple[int, int], ...]]:
    """The operand, and the padding that the window operation itself has to add.

    Amounts that depend on an unknown size are applied here: as much padding as a window can need is added, and what is
    too much is cut off again.
    """
    fixed = tuple([(a, b) for a, b in amounts if isinstance(a, int) and isinstance(b, int)])
    if len(fixed) == len(amounts):
        return x, fixed
    most = (0, 0, *(k - 1 for k in reach))
    wide = core.pad(x, most, most, core.PadMode.CONSTANT, fill)
    sizes = known_dims_of(x)
    starts = [0, 0, *(m - a for m, (a, _) in zip(most[2:], amounts, strict=True))]
    stops = [*sizes[:2], *(m + n + b for m, n, (_, b) in zip(most[2:], sizes[2:], amounts, strict=True))]
    cut = core.slice(wide, tuple(starts), tuple(stops), (1,) * len(sizes))
    return cut, ((0, 0),) * len(amounts)
