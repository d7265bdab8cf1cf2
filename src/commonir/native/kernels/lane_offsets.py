"""Vectors of elements that are not neighbours but near, always in the same way: these are read with what is between
them, and moved to their lanes.

So are every other element, elements in reverse, and those that several neighbours share, as in groups of channels.
"""

from __future__ import annotations

from collections.abc import Sequence

from commonir.base.tuples import NamedTuple
from commonir.llvm.llvm_ir import Function, LlvmType, LlvmValue
from commonir.symbolic import Dim, index, linear_in, substitute_indices

MOST_READS = 4
"""The most vectors that are read for one: more take as long as reading each element."""


class MovingGuard(NamedTuple):
    """A guard whose position moves by 1 where the address does: that of the first lane, and the bound, in 32 bits."""

    position: LlvmValue
    bound: LlvmValue


def lane_offsets(address: Dim, name: str, lanes: int, count: int, *, is_aligned: bool) -> list[int] | None:
    """Returns how far the elements of some lanes of a vector along an index are from that of the first lane.

    None if they are too far apart, or differ between vectors; `is_aligned` says that these begin at multiples of lanes.
    """
    step = linear_in(address, name)[0]
    if isinstance(step, int):
        out = [step * n for n in range(count)]
    elif step is None and is_aligned:
        moved = [substitute_indices(address, {name: index(name) * lanes + n}) for n in range(count)]
        out = [n for d in moved if isinstance(n := d - moved[0], int)]
    else:
        return None
    is_near = len(out) == count > 0 and max(out) - min(out) < MOST_READS * lanes
    return out if is_near else None


def loaded_at(
    f: Function,
    pointer: LlvmValue,
    storage: str,
    offsets: Sequence[int],
    lanes: int,
    holds: LlvmValue | None,
    guards: Sequence[MovingGuard] = (),
) -> LlvmValue:
    """Returns a vector whose first lanes are the elements at some offsets from a pointer; anything unless it `holds`.

    Nothing before the first of these elements is read, nor behind the last one. Lanes that `guards` exclude have
    anything, and with guards only elements of lanes are read.
    """
    type, low = LlvmType(storage, lanes), min(offsets)
    span = max(offsets) - low + 1
    starts = [*range(0, span - lanes, lanes), max(span - lanes, 0)]
    read: list[LlvmValue] = []
    for at in starts:
        masks = [f.first_lanes(span, lanes)] if span < lanes else []
        if holds is not None:
            masks.append(f.splat(holds, lanes))
        if guards:
            # What lies between two lanes may be outside of the tensor where one of them is.
            masks.append(f.lanes_where([low + at + n in offsets for n in range(lanes)]))
        for g in guards:
            position = f.splat(g.position + (low + at), lanes) + f.lane_numbers(LlvmType("i32", lanes))
            masks.append(position.compare("ult", f.splat(g.bound, lanes)))
        mask = f.all_of(masks)
        read.append(f.load(f.element_beside(pointer, f.integer(0), low + at, storage), type, mask))
    places: list[tuple[int, int]] = []
    for n in range(lanes):
        # Lanes behind the last element have that of the first one.
        at = (offsets[n] if n < len(offsets) else offsets[0]) - low
        part = min(at // lanes, len(starts) - 1)
        places.append((part, at - starts[part]))
    return _collected(f, read, places, lanes)


def _collected(f: Function, read: Sequence[LlvmValue], places: Sequence[tuple[int, int]], lanes: int) -> LlvmValue:
    """Returns a vector of lanes of up to four vectors: the number of each, and the lane there."""
    pairs = [
        f.interleaved(read[n], read[min(n + 1, len(read) - 1)], _in_pair(places, n, lanes))
        for n in range(0, len(read), 2)
    ]
    first, *others = pairs
    if not others:
        return first
    return f.interleaved(first, others[0], [n if part < 2 else lanes + n for n, (part, _) in enumerate(places)])


def _in_pair(places: Sequence[tuple[int, int]], first: int, lanes: int) -> list[int]:
    """Returns the lanes of a vector and the one after it that have places there, the first one for others."""
    return [(part - first) * lanes + lane if first <= part < first + 2 else 0 for part, lane in places]
