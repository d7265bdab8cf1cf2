"""Assigns memory to buffers so that those that are not live at the same time share it."""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from itertools import accumulate

from commonir.base.tuples import NamedTuple

_BUCKET_STEPS = 64
"""Steps that are looked up as one: it decides how fast a plan is made, and nothing else."""


class Lifetime(NamedTuple):
    """A buffer of some bytes that is live from one step to another, both included."""

    size_bytes: int
    start: int
    stop: int


_Placed = tuple[int, int, int, int]
"""The first byte and the one after the last, the first and the last step."""


def peak_of(buffers: Sequence[Lifetime]) -> tuple[int, int]:
    """Returns the largest number of bytes that are live at once, and the first step at which they are."""
    last = max((buffer.stop for buffer in buffers), default=0)
    changes = [0] * (last + 2)
    for buffer in buffers:
        changes[buffer.start] += buffer.size_bytes
        changes[buffer.stop + 1] -= buffer.size_bytes
    values = list(accumulate(changes))
    peak = max(values)
    return peak, values.index(peak)


def share_memory(buffers: Sequence[Lifetime], alignment: int = 1) -> tuple[int, ...]:
    """Returns the offset of each buffer, such that buffers that are live at the same step do not overlap.

    The largest are placed first, each into the smallest gap between those that are live at one of its steps. Those that
    are live at all steps are placed together at the beginning.
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
    buckets: list[list[_Placed]] = [[] for _ in range(last // _BUCKET_STEPS + 1)]
    for n in order:
        size_bytes, start, stop = buffers[n]
        if (start, stop) == (first, last):
            continue
        at = out[n] = _gap(_at_once(buckets, start, stop), size_bytes, base, alignment)
        for bucket in buckets[start // _BUCKET_STEPS : stop // _BUCKET_STEPS + 1]:
            insort(bucket, (at, at + size_bytes, start, stop))
    return tuple(out)


def _at_once(buckets: Sequence[Sequence[_Placed]], start: int, stop: int) -> list[_Placed]:
    """Returns the placed buffers that are live at any of some steps, in order of memory."""
    first = start // _BUCKET_STEPS
    out = [p for p in buckets[first] if p[2] <= stop and start <= p[3]]
    for n in range(first + 1, stop // _BUCKET_STEPS + 1):
        # What is needed before is found before.
        out += [p for p in buckets[n] if p[2] // _BUCKET_STEPS == n and p[2] <= stop]
    out.sort()
    return out


def _gap(at_once: Sequence[_Placed], size_bytes: int, base: int, alignment: int) -> int:
    """Returns the offset of the smallest gap from `base` on between the buffers that are live at the same time."""
    best_offset, best_gap = -1, 0
    at = base
    for offset, end, _, _ in at_once:
        gap = offset - at
        if gap >= size_bytes and (best_offset < 0 or gap < best_gap):
            best_offset, best_gap = at, gap
        if end > at:
            at = _aligned(end, alignment)
    return at if best_offset < 0 else best_offset


def _aligned(offset: int, alignment: int) -> int:
    return -(-offset // alignment) * alignment
