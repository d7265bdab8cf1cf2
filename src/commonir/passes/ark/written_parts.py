"""Tracks which parts of a buffer are written: boxes of arrays, merged where they touch, and runs of bytes.

It is conservative: of very many parts it may forget some.
"""

from __future__ import annotations

from commonir.dialects.ark.views import View, is_box_in

_MAX_PARTS = 64
"""Parts that are kept in mind apart."""


class WrittenParts:
    """The written parts of one buffer."""

    def __init__(self) -> None:
        self._boxes: list[View] = []
        self._runs: list[tuple[int, int]] = []

    def covers(self, view: View) -> bool:
        """Returns whether all of a view is written."""
        start, stop = view.span
        if any(first <= start and stop <= last for first, last in self._runs):
            return True
        return any(is_box_in(box, view) for box in self._boxes)

    def add(self, view: View) -> None:
        """Adds a written view."""
        if self.covers(view):
            return
        joined = view
        while (partner := next((box for box in self._boxes if _joined(box, joined)), None)) is not None:
            self._boxes.remove(partner)
            joined = _joined(partner, joined) or joined
        if len(self._boxes) < _MAX_PARTS:
            self._boxes.append(joined)
        if joined.run_count == 1:
            self._add_run(*joined.span)

    def _add_run(self, start: int, stop: int) -> None:
        apart = [run for run in self._runs if run[1] < start or run[0] > stop]
        touching = [run for run in self._runs if run not in apart]
        merged = (min([start, *[run[0] for run in touching]]), max([stop, *[run[1] for run in touching]]))
        self._runs = [merged, *apart][:_MAX_PARTS]


def _have_same_layout(a: View, b: View) -> bool:
    return a.strides == b.strides and a.element.bits == b.element.bits


def _joined(a: View, b: View) -> View | None:
    """Returns two views as one, if one contains the other, or they touch along one axis and agree along the others."""
    if not _have_same_layout(a, b):
        return None
    if is_box_in(a, b) or is_box_in(b, a):
        return a if is_box_in(a, b) else b
    boxes = list(zip(a.offsets, a.shape, b.offsets, b.shape, strict=True))
    differing = [n for n, (p, size, q, other_size) in enumerate(boxes) if (p, size) != (q, other_size)]
    if len(differing) != 1:
        return None
    axis = differing[0]
    p, size, q, other_size = boxes[axis]
    if p + size < q or q + other_size < p:
        return None
    start, stop = min(p, q), max(p + size, q + other_size)
    shape = (*a.shape[:axis], stop - start, *a.shape[axis + 1 :])
    return a._replace(shape=shape, offsets=(*a.offsets[:axis], start, *a.offsets[axis + 1 :]))
