"""Measures what one thread of this machine can do at most: a matrix product, and a copy of memory."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from commonir.reports import MachinePeak
from commonir.runtime.blas import limited_threads

_SIZE = 768
_COPY_BYTES = 1 << 26
_REPEATS = 5


def machine_peak() -> MachinePeak:
    """Returns the measured peaks: products of 768 x 768 matrices in single precision, and a copy of 64 MiB, which reads
    and writes each byte. The fastest of 5 runs counts.
    """
    a = np.ones((_SIZE, _SIZE), np.float32)
    out = np.empty_like(a)
    source = np.ones(_COPY_BYTES // 4, np.float32)
    copy = np.empty_like(source)
    with limited_threads(1):
        product = _fastest(lambda: np.matmul(a, a, out=out))
        moved = _fastest(lambda: np.copyto(copy, source))
    return MachinePeak(2 * _SIZE**3 / product, 2 * _COPY_BYTES / moved)


def _fastest(run: Callable[[], object]) -> float:
    times: list[float] = []
    for _ in range(_REPEATS):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)
