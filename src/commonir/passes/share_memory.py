"""Places buffers so that those share memory that are not needed at once."""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from itertools import accumulate

from commonir.base.tuples import NamedTuple

_STEPS_TOGETHER = 64
"""Steps that are looked up as one: it decides how fast a plan is made, and nothing else."""


class Lifetime(NamedTuple):
    """A buffer of so many bytes that is needed from one step to another, both included."""

    size_bytes: int
    start: int
    stop: int


_Placed = tuple[int, int, int, int]
"""The first byte and the one after the last, the first and the last step."""


def peak_of(buffers: Sequence[Lifetime]) -> tuple[int, int]:
    """The most bytes that are needed at once, and the first step at which they are."""
    last = max((buffer.stop for buffer in buffers), default=0)
    changes = [0] * (last + 2)
    for buffer in buffers:
        changes[buffer.start] += buffer.size_bytes
        changes[buffer.stop + 1] -= buffer.size_bytes
    values = list(accumulate(changes))
    peak = max(values)
    return peak, values.index(peak)


def share_memory(buffers: Sequence[Lifetime], alignment: int = 1) -> tuple[int, ...]:
    """Where each buffer lies so that no two of them that are needed at one step have a byte in common.

    The largest are placed first, each into the smallest gap that it fits into between those that are needed at
    one of its steps. Those that are needed at all steps lie together at the beginning.
    """
    first = min((buffer.start for buffer in buffers), default=0)
    last = max((buffer.stop for buffer in buffers), default=0)
    out = [0] * len(buffers)
    order = sorted(range(len(buffers)), key=lambda n: (-buffers[n].size_bytes, buffers[n].start, n))
    base = 0
    for n in order:
        if (buffers[n].start, buffers[n].stop) == (first, last):
            out[n] = base
            base = _aligned(base + buffers[n].size_bytes, alignment)
    together: list[list[_Placed]] = [[] for _ in range(last // _STEPS_TOGETHER + 1)]
    for n in order:
        size, start, stop = buffers[n]
        if (start, stop) == (first, last):
            continue
        at = out[n] = _gap(_at_once(together, start, stop), size, base, alignment)
        for bucket in together[start // _STEPS_TOGETHER : stop // _STEPS_TOGETHER + 1]:
            insort(bucket, (at, at + size, start, stop))
    return tuple(out)


def _at_once(together: Sequence[Sequence[_Placed]], start: int, stop: int) -> list[_Placed]:
    """Returns the placed buffers that are live at any of some steps, in the order of memory."""
    first = start // _STEPS_TOGETHER
    out = [p for p in together[first] if p[2] <= stop and start <= p[3]]
    for n in range(first + 1, stop // _STEPS_TOGETHER + 1):
        # What is needed before is found before.
        out += [p for p in together[n] if p[2] // _STEPS_TOGETHER == n and p[2] <= stop]
    out.sort()
    return out


def _gap(at_once: Sequence[_Placed], size_bytes: int, base: int, alignment: int) -> int:
    """The beginning of the smallest gap from `base` on between what is needed at the same time."""
    best, room = -1, 0
    at = base
    for offset, end, _, _ in at_once:
        gap = offset - at
        if gap >= size_bytes and (best < 0 or gap < room):
            best, room = at, gap
        if end > at:
            at = _aligned(end, alignment)
    return at if best < 0 else best


def _aligned(offset: int, alignment: int) -> int:
    return -(-offset // alignment) * alignment
