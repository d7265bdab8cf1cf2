"""Which bytes the tensors of ARK programs are, against numpy's own views of memory."""

from __future__ import annotations

import random

import numpy as np

from commonir.dialects.ark.views import View, overlap
from commonir.ir.types import ElementType, f32, i8

DTYPES = {f32: np.float32, i8: np.int8}
BUFFER_BYTES = 96


def _random_view(draw: random.Random) -> View:
    element: ElementType = draw.choice([f32, i8])
    while True:
        strides = tuple([draw.randint(1, 5) for _ in range(draw.randint(1, 3))])
        if np.prod(strides) * element.bits // 8 <= BUFFER_BYTES:
            break
    shape = tuple([draw.randint(1, n) for n in strides])
    offsets = tuple([draw.randint(0, n - m) for n, m in zip(strides, shape, strict=True)])
    return View(0, element, shape, strides, offsets)


def _touched(view: View) -> set[int]:
    """The bytes of a view, as numpy places it."""
    memory = np.zeros(BUFFER_BYTES, np.uint8)
    count = int(np.prod(view.strides)) * view.element.bits // 8
    array = memory[:count].view(DTYPES[view.element]).reshape(view.strides)
    part = array[tuple([slice(o, o + n) for o, n in zip(view.offsets, view.shape, strict=True)])]
    part.view(f"u{part.itemsize}")[...] = np.iinfo(f"u{part.itemsize}").max
    return set(np.flatnonzero(memory).tolist())


def test_views_overlap_exactly_where_numpys_views_share_bytes() -> None:
    draw = random.Random(6)
    seen = {True: 0, False: 0}
    for _ in range(2000):
        a, b = _random_view(draw), _random_view(draw)
        shared = bool(_touched(a) & _touched(b))
        seen[shared] += 1
        assert overlap(a, b) is shared, (a, b)
    assert min(seen.values()) > 200


def test_runs_and_span_are_the_bytes_that_numpy_touches() -> None:
    draw = random.Random(7)
    for _ in range(500):
        view = _random_view(draw)
        touched = _touched(view)
        assert {byte for first, last in view.runs() for byte in range(first, last)} == touched
        assert view.span == (min(touched), max(touched) + 1)
        assert view.run_count == len(list(view.runs()))


def test_tensors_of_other_buffers_never_overlap() -> None:
    a = View(0, f32, (4,), (4,), (0,))
    assert not overlap(a, a._replace(buffer=1))
