"""The threads that run a compiled graph together, from Python: their memory, and how a run of them begins."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.llvm.code_loading import CodeLibrary
from commonir.native.threads.team_code import (
    FAULTS,
    HELP,
    RUN_SHARED,
    SCRATCH,
    SCRATCH_BYTES,
    SIZES,
    TABLE,
    THREADS,
    WATCH,
    WORD_BYTES,
    YIELD,
    team_words,
)
from commonir.native.threads.workers import Workers, yielding_function
from commonir.runtime.kernel_graph.buffers import ALIGNMENT


class Team:
    """The threads that run a compiled graph together. One run at a time may go on."""

    def __init__(self, library: CodeLibrary, symbols: int, tensors: int, threads: int, workers: Workers) -> None:
        self._library = library
        self._workers = workers
        self._run_shared = library.function(RUN_SHARED, 1)
        self._help = library.function(HELP, 1)
        # The words that threads write often are on lines of the cache of their own.
        memory = np.zeros(team_words(symbols, tensors, threads) + 2 * ALIGNMENT // WORD_BYTES, np.int64)
        skipped = -memory.ctypes.data % ALIGNMENT // WORD_BYTES
        self._words: NDArray[Any] = memory[skipped:]
        self._address: int = self._words.ctypes.data
        self._words[YIELD] = yielding_function()

    def run(self, arguments: tuple[int, int, int, int, int], sizes: NDArray[Any], threads: int) -> None:
        """Runs the graph in up to so many threads, this one among them.

        The arguments are the addresses of the table, of faults and of scratch memory, the bytes of scratch memory that
        each thread has, and the address of a watch or 0.
        """
        words = self._words
        words[TABLE], words[FAULTS], words[SCRATCH], words[SCRATCH_BYTES], words[WATCH] = arguments
        words[SIZES : SIZES + len(sizes)] = sizes
        with self._workers.helping(threads - 1, self._help_now) as helpers:
            words[THREADS] = 1 + helpers
            self._run_shared(self._address)

    def sizes(self, count: int) -> NDArray[Any]:
        """Returns the values of so many symbols after a run."""
        return self._words[SIZES : SIZES + count]

    def _help_now(self) -> None:
        self._help(self._address)
