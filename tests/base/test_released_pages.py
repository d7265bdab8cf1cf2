"""Memory of constants in mapped files, against what the system says that this process holds."""

from __future__ import annotations

import mmap
import sys
from pathlib import Path

import numpy as np
import pytest

from commonir.base.arrays import release_pages

BYTES = 1 << 21


def resident_kilobytes(path: Path) -> int:
    """Returns the memory that the mappings of a file take in this process."""
    lines = Path("/proc/self/smaps").read_text().splitlines()
    starts = [n for n, line in enumerate(lines) if line.endswith(str(path))]
    sizes = [next(line for line in lines[n:] if line.startswith("Rss:")) for n in starts]
    return sum([int(line.split()[1]) for line in sizes])


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux lists the memory of mappings so")
def test_pages_of_a_mapped_array_are_given_back_and_read_again(tmp_path: Path) -> None:
    path = tmp_path / "weights"
    expected = np.random.default_rng(0).integers(0, 256, BYTES, np.uint8)
    path.write_bytes(expected.tobytes())
    with path.open("rb") as stream:
        content = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    array = np.frombuffer(memoryview(content)[100:-100], np.uint8)
    assert array.sum() == expected[100:-100].sum()
    assert resident_kilobytes(path) >= BYTES >> 10
    release_pages(array[: BYTES // 2])
    assert resident_kilobytes(path) <= (BYTES >> 11) + 2 * (mmap.PAGESIZE >> 10)
    np.testing.assert_array_equal(array, expected[100:-100])


def test_pages_of_other_arrays_stay(tmp_path: Path) -> None:
    path = tmp_path / "weights"
    path.write_bytes(bytes(BYTES))
    with path.open("rb") as stream:
        changed = np.frombuffer(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_COPY), np.uint8)
    changed[...] = 7
    release_pages(changed)
    assert (changed == 7).all()
