"""The weights of a compiled program: constants of all functions, one after another, behind a header.

The header has a mark, a number that the code of the program also has, and the size of the whole in bytes. So code never
reads weights that belong to another version of the program, and a file that is too short is found before it is read.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.runtime.kernel_graph.buffers import ALIGNMENT

Array = NDArray[Any]

MARK = b"CIRWEIGH"
HEADER_BYTES = ALIGNMENT
VERSION_AT, SIZE_AT = 8, 16
"""Where the header has the number and the size, as integers of 64 bits, least significant byte first."""


class Weights:
    """Constants at places in one block; equal ones are stored once."""

    def __init__(self) -> None:
        self._arrays: list[tuple[int, Array]] = []
        self._places: dict[tuple[str, bytes], int] = {}
        # Arrays whose contents are known; they live as long as their identities are used.
        self._known: dict[int, int] = {}
        self._owners: list[Array] = []
        self._digest = sha256()
        self.size_bytes = HEADER_BYTES

    def place(self, array: Array) -> int:
        """Adds an array, and returns its place in bytes from the start of the header."""
        at = self._known.get(id(array))
        if at is not None:
            return at
        self._known[id(array)] = at = self._placed(array)
        self._owners.append(array)
        return at

    def _placed(self, array: Array) -> int:
        array = np.ascontiguousarray(array)
        contents = sha256(_bytes_of(array)).digest()
        key = (f"{array.dtype}{array.shape}", contents)
        at = self._places.get(key)
        if at is None:
            at = self._places[key] = self.size_bytes
            self._arrays.append((at, array))
            self._digest.update(contents)
            self.size_bytes += -(-array.nbytes // ALIGNMENT) * ALIGNMENT
        return at

    @property
    def is_empty(self) -> bool:
        """Whether there are no constants."""
        return not self._arrays

    @property
    def version(self) -> int:
        """A number that follows from all contents and their places."""
        return int.from_bytes(self._digest.digest()[:8], "little")

    def parts(self) -> Iterator[bytes | memoryview]:
        """Yields the bytes of the header and of all constants, in order."""
        yield (MARK + struct.pack("<QQ", self.version, self.size_bytes)).ljust(HEADER_BYTES, b"\0")
        for _, array in self._arrays:
            yield _bytes_of(array)
            yield b"\0" * (-array.nbytes % ALIGNMENT)


def _bytes_of(array: Array) -> memoryview:
    return array.reshape(-1).view(np.uint8).data
