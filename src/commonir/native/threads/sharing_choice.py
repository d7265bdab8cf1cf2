"""Whether threads share a run, as earlier runs suggest."""

from __future__ import annotations

from math import inf

BUSY = 0.75
"""The part of its time that a thread gets on a processor up to which the machine is busy: threads that wait use one."""

TRIED_ALONE = 4
MADE_ALONE = 32
"""The runs that are made alone to see how long they take, and those until a shared one is tried again."""


class SharingChoice:
    """Whether runs of one size are shared by threads, from how long earlier ones took.

    Sharing pays unless other processes use the machine: then a thread waits for another one that the system does not
    run. So when the machine is busy, some runs are made alone, and as long as those are faster, only a few are shared.
    """

    def __init__(self) -> None:
        self._shared = 0.0
        self._alone = inf
        self._alone_left = 0

    @property
    def is_shared(self) -> bool:
        """Whether the next run is shared."""
        return self._alone_left == 0

    def record(self, seconds: float, processor_seconds: float) -> None:
        """Takes note of how long a run took that was made as chosen, and how long its thread was on a processor."""
        if self._alone_left > 0:
            self._alone = _recent(self._alone, seconds) if self._alone < inf else seconds
            self._alone_left -= 1
            if self._alone_left == 0:
                # The next run says whether this has changed.
                self._shared = 0.0
            return
        self._shared = _recent(self._shared, seconds) if self._shared > 0 else seconds
        if processor_seconds > BUSY * seconds:
            return
        if self._alone == inf:
            self._alone_left = TRIED_ALONE
        elif self._shared > self._alone:
            self._alone_left = MADE_ALONE


def _recent(mean: float, value: float) -> float:
    """Returns a mean in which later values count more."""
    return 0.75 * mean + 0.25 * value
