"""Describes weights: storage, range, mean, histogram and first elements, of all elements or of a sample.

Sampled are runs of consecutive elements, evenly spaced, so that only a few pages of a large file are read. Infinities
and NaN are counted and otherwise left out. Sums are in float64.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from commonir.base.diagnostics import DiagnosticError
from commonir.base.text import format_bytes
from commonir.inspection.viewing.drawing import JsonValue
from commonir.ir.data import Data, DeferredData, FileData, SplatData
from commonir.ir.operation import Operation
from commonir.ods.weights import Weight, compressed_weight

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MOST_ELEMENTS = 1 << 18
"""Weights of more elements are sampled."""
_RUN = 1 << 10
_MOST_COMPUTED = 1 << 22
"""Compressed weights of more elements are not decompressed."""
_BINS = 32
_FIRST = 24
_SECONDS = 2.0
"""The time for reading all weights of a program; those that remain are described without contents."""


class WeightReader:
    """Describes weights, for at most two seconds."""

    def __init__(self) -> None:
        self._until = monotonic() + _SECONDS

    def describe(self, data: Data, maker: Operation) -> dict[str, JsonValue]:
        """Returns the description of a weight that an operation defines."""
        weight = compressed_weight(maker)
        described: dict[str, JsonValue] = {
            "storage": _storage(data, weight),
            "bytes": format_bytes(data.size_bytes if weight is None else weight.size_bytes),
            "count": data.count,
        }
        if not data.element.bits or data.element.kind in ("string", "dialect") or not data.count:
            return described
        if monotonic() > self._until:
            return described | {"note": "contents not read: the program has many weights"}
        if isinstance(data, DeferredData) and data.count > _MOST_COMPUTED:
            return described | {"note": "contents not read: it is large and compressed"}
        try:
            return described | _statistics(data)
        except (DiagnosticError, OSError):
            return described | {"note": "contents cannot be read"}


def _storage(data: Data, weight: Weight | None) -> str:
    """Returns the form in which a weight is stored, and where."""
    stored = data if weight is None else weight.parts[0]
    if isinstance(stored, FileData):
        where = f"{stored.file.path.replace(chr(92), '/').rpartition('/')[2]}, offset {stored.offset:,}"
    else:
        where = "one value for all elements" if isinstance(stored, SplatData) else "in the file of the model"
    return where if weight is None else f"{weight.storage}; {where}"


def _statistics(data: Data) -> dict[str, JsonValue]:
    import numpy as np  # noqa: PLC0415  only pages with weights need it

    array = data.array().reshape(-1)
    first = [_text(element) for element in array[:_FIRST].tolist()]
    sampled = _sampled(array)
    note = {} if len(sampled) == len(array) else {"note": f"range, mean and histogram of {len(sampled):,} elements"}
    if sampled.dtype.kind in "cOSU":
        return {"first": first}
    wide = sampled.astype(np.float64)
    finite = wide[np.isfinite(wide)]
    odd = {name: int(count) for name, count in (("nan", np.isnan(wide).sum()), ("inf", np.isinf(wide).sum())) if count}
    if not len(finite):
        return {"first": first, **odd, **note}
    low, high = float(finite.min()), float(finite.max())
    counts = np.histogram(finite, bins=_BINS, range=(low, high))[0].tolist() if low < high else [len(finite)]
    return {
        "first": first,
        "min": _text(low),
        "max": _text(high),
        "mean": _text(float(finite.mean())),
        "zeros": _text(float((finite == 0).mean())),
        "histogram": counts,
        **odd,
        **note,
    }


def _sampled(array: NDArray[np.generic]) -> NDArray[np.generic]:
    import numpy as np  # noqa: PLC0415  as above

    if len(array) <= _MOST_ELEMENTS:
        return array
    runs = _MOST_ELEMENTS // _RUN
    starts = [n * (len(array) - _RUN) // (runs - 1) for n in range(runs)]
    return np.concatenate([array[start : start + _RUN] for start in starts])


def _text(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
