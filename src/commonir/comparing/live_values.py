"""The arrays of values that a run in pieces still needs, and the most that were live at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.tuples import NamedTuple
from commonir.ir.operation import Value
from commonir.runtime.values import flat_array

Array = NDArray[np.generic]


class Peak(NamedTuple):
    """The most values that are live at once, and the most bytes of live values."""

    values: int
    size_bytes: int


class LiveValues:
    """Arrays of values. Every change takes the same time, however many values are live."""

    def __init__(self, arrays: Mapping[Value, Any] | None = None) -> None:
        self._arrays: dict[Value, Array] = {}
        self.sizes_bytes: dict[Value, int] = {}
        """The bytes of every value that has been live."""
        self.size_bytes = 0
        self.peak = Peak(0, 0)
        self._piece = 0
        self._peak_piece = -1
        # The pieces in which values became live, and in which they were last.
        self._first: dict[Value, int] = {}
        self._last: dict[Value, int] = {}
        for value, array in (arrays or {}).items():
            self.add(value, array)

    def __contains__(self, value: Value) -> bool:
        return value in self._arrays

    def __getitem__(self, value: Value) -> Array:
        return self._arrays[value]

    def __iter__(self) -> Iterator[Value]:
        return iter(self._arrays)

    def add(self, value: Value, array: Array) -> None:
        """Makes a value live."""
        self.drop(value)
        self._arrays[value] = array
        self.sizes_bytes[value] = flat_array(array).nbytes
        self.size_bytes += self.sizes_bytes[value]
        self._first[value] = self._piece
        self._last.pop(value, None)

    def drop(self, value: Value) -> None:
        """Drops a value, if it is live."""
        if value in self._arrays:
            del self._arrays[value]
            self.size_bytes -= self.sizes_bytes[value]
            self._last[value] = self._piece

    def end_piece(self) -> None:
        """Counts what is live once a piece has been run; what is dropped from now on was live in it."""
        if self.size_bytes > self.peak.size_bytes:
            self._peak_piece = self._piece
        self.peak = Peak(max(self.peak.values, len(self._arrays)), max(self.peak.size_bytes, self.size_bytes))

    def begin_piece(self) -> None:
        """Begins the next piece."""
        self._piece += 1

    @property
    def at_peak(self) -> tuple[Value, ...]:
        """The values that were live when they took most memory, in the order in which they became live."""
        at = self._peak_piece
        return tuple([v for v, n in self._first.items() if n <= at <= self._last.get(v, at)])
