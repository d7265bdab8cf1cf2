"""Plans of shared memory, against what makes a plan a plan."""

from __future__ import annotations

import random

from commonir.passes.share_memory import Lifetime, peak_of, share_memory


def _at_once(a: Lifetime, b: Lifetime) -> bool:
    return a.start <= b.stop and b.start <= a.stop


def test_no_byte_is_given_to_two_buffers_at_one_step() -> None:
    draw = random.Random(5)
    for _ in range(200):
        buffers: list[Lifetime] = []
        for _ in range(draw.randint(0, 30)):
            start = draw.randint(0, 150)
            buffers.append(Lifetime(draw.randint(1, 60), start, draw.randint(start, min(150, start + 40))))
        offsets = share_memory(buffers, 4)
        assert all(offset % 4 == 0 and offset >= 0 for offset in offsets)
        placed = list(zip(buffers, offsets, strict=True))
        for n, (a, p) in enumerate(placed):
            for b, q in placed[:n]:
                assert not _at_once(a, b) or p + a.size_bytes <= q or q + b.size_bytes <= p
        tensor = [sum(b.size_bytes for b in buffers if b.start <= step <= b.stop) for step in range(151)]
        assert peak_of(buffers) == (max(tensor), tensor.index(max(tensor)))


def test_buffers_that_are_never_needed_at_once_lie_at_one_place() -> None:
    assert share_memory([Lifetime(8, n, n) for n in range(5)]) == (0, 0, 0, 0, 0)


def test_the_smallest_gap_that_fits_is_taken() -> None:
    # At step 2 a gap of 30 bytes lies below the one of 10; ten bytes go into the latter.
    wide, narrow = Lifetime(30, 0, 0), Lifetime(10, 0, 0)
    separators = [Lifetime(40, 0, 2), Lifetime(35, 0, 2)]
    offsets = share_memory([*separators, wide, narrow, Lifetime(9, 1, 1), Lifetime(1, 3, 3)])
    assert offsets == (0, 40, 75, 105, 75, 0)


def test_nothing_needs_no_memory() -> None:
    assert share_memory([]) == ()
    assert peak_of([]) == (0, 0)
