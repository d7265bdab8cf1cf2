"""The largest and smallest values of element types, against those of ml_dtypes."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from commonir.ir.types import ELEMENT_TYPES
from commonir.notation.functions import limits

_NARROW = sorted(name for name, t in ELEMENT_TYPES.items() if t.kind == "float" and t.bits <= 8)


@pytest.mark.parametrize("name", _NARROW)
def test_narrow_floats_have_the_limits_of_ml_dtypes(name: str) -> None:
    spelled = {"f8E8M0FNU": "float8_e8m0fnu"}.get(name, f"float{name[1]}_{name[2:].lower()}")
    theirs = np.dtype(getattr(ml_dtypes, spelled))
    info = ml_dtypes.finfo(theirs)
    has_infinity = bool(np.isinf(np.asarray(np.inf, np.float32).astype(theirs).astype(np.float32)))
    top = np.inf if has_infinity else float(info.max)
    low = float(info.smallest_normal) if name == "f8E8M0FNU" else -top
    assert limits(ELEMENT_TYPES[name]) == (low, top)
