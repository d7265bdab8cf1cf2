"""Base classes of ONNX operators with windows over spatial axes: strides, dilations, and padding.

Source: ONNX operator reference, Conv, ConvTranspose and the pooling operators, `auto_pad`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from commonir.base.text import plural
from commonir.base.tuples import NamedTuple
from commonir.dialects import core
from commonir.dialects.onnx.base import rank_of, shape_of
from commonir.ir.operation import Value
from commonir.notation import NotationError, NotKnownError
from commonir.ods import Check
from commonir.symbolic import Dim, ceil_div, floor_div, largest

Pairs = tuple[tuple[int, int], ...]


_RULES = ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")
AUTO_PAD = Check(f"one of {', '.join(_RULES)}", lambda rule: rule in (*_RULES, ""), _RULES)
"""An empty rule counts as NOTSET: exporters of opset 1 wrote it, and runtimes read it so."""


class Windowed(Protocol):
    """Attributes of operators with windows over the spatial axes, those after the first two."""

    @property
    def auto_pad(self) -> str: ...
    @property
    def pads(self) -> tuple[int, ...] | None: ...
    @property
    def strides(self) -> tuple[int, ...] | None: ...


class Window(NamedTuple):
    """The windows of an operator as the core describes them; `x` is the operand, padded here if they cannot express the
    padding.
    """

    x: Value
    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: Pairs


def window(
    op: Windowed, x: Value, kernel: tuple[int, ...], dilations: tuple[int, ...] | None, fill: float = 0.0
) -> Window:
    """The windows of a convolution or pooling; `fill` is what padding consists of."""
    rank = len(kernel)
    strides, steps = per_axis(op.strides, rank, "strides"), per_axis(dilations, rank, "dilations")
    if not op.auto_pad.startswith("SAME"):
        pads = ((0, 0),) * rank if op.auto_pad == "VALID" else pad_pairs(op.pads, rank)
        return Window(x, kernel, strides, steps, pads)
    reach = [(k - 1) * d for k, d in zip(kernel, steps, strict=True)]
    sizes = shape_of(x)[2:]
    if len(sizes) != rank:
        raise NotationError(f"a window of {rank} axes for {len(sizes)} spatial axes")
    totals = [
        largest((ceil_div(n, s) - 1) * s + r + 1 - n, 0) if s > 1 else r
        for n, s, r in zip(sizes, strides, reach, strict=True)
    ]
    numbers = [t for t in totals if isinstance(t, int)]
    if len(numbers) == len(totals):
        return Window(x, kernel, strides, steps, shared(numbers, op.auto_pad))
    padded = _padded(x, totals, reach, fill, op.auto_pad)
    return Window(padded, kernel, strides, steps, ((0, 0),) * rank)


def _padded(x: Value, totals: Sequence[Dim], reach: Sequence[int], fill: float, rule: str) -> Value:
    """A tensor padded by amounts that depend on symbolic sizes: padded by the largest amounts, and cut."""
    most = shared(reach, rule)
    wide = core.pad(x, (0, 0, *(a for a, _ in most)), (0, 0, *(b for _, b in most)), core.PadMode.CONSTANT, fill)
    sizes = shape_of(x)
    befores = [floor_div(t, 2) if rule == "SAME_UPPER" else ceil_div(t, 2) for t in totals]
    starts = [a - before for (a, _), before in zip(most, befores, strict=True)]
    stops = [start + n + t for start, n, t in zip(starts, sizes[2:], totals, strict=True)]
    return core.slice(wide, (0, 0, *starts), (*sizes[:2], *stops), (1,) * len(sizes))


def per_axis(values: tuple[int, ...] | None, rank: int, name: str) -> tuple[int, ...]:
    """One number for each spatial axis, 1 where none are given. Raises: NotationError for another number of them."""
    if not values:
        return (1,) * rank
    if len(values) != rank:
        raise NotationError(f"{name} has {plural(len(values), 'number')}, expected {rank}: one for each spatial axis")
    return values


def shared(totals: Sequence[int], rule: str) -> Pairs:
    """Padding divided between both sides; an odd one goes to the end for SAME_UPPER, to the start otherwise."""
    if rule == "SAME_UPPER":
        return tuple([(t // 2, t - t // 2) for t in totals])
    return tuple([(t - t // 2, t // 2) for t in totals])


def pad_pairs(pads: tuple[int, ...] | None, rank: int) -> Pairs:
    """Padding before and after each axis, from all amounts before followed by all amounts after."""
    if not pads:
        return ((0, 0),) * rank
    if len(pads) != 2 * rank:
        expected = f"expected {2 * rank}: before and after each spatial axis"
        raise NotationError(f"pads has {plural(len(pads), 'number')}, {expected}")
    return tuple(zip(pads[:rank], pads[rank:], strict=True))


def kernel_of(weight: Value) -> tuple[int, ...]:
    """The spatial sizes of a filter. Raises: NotKnownError when they are not numbers."""
    sizes = shape_of(weight)[2:]
    numbers = tuple([n for n in sizes if isinstance(n, int)])
    if len(numbers) != len(sizes):
        raise NotKnownError("the size of the filter is not known before running")
    return numbers


def spatial_rank(x: Value) -> int:
    """The number of spatial axes. Raises: NotationError when there is none."""
    rank = rank_of(x) - 2
    if rank < 1:
        raise NotationError(f"a tensor of rank {rank + 2} has no spatial axis")
    return rank
