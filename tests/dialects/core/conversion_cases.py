"""Conversions to narrow types and of bits, and different slices: oracles are numpy, ml_dtypes and onnx."""

from __future__ import annotations

from collections.abc import Callable

import ml_dtypes
import numpy as np
from onnx import numpy_helper

from commonir.base.arrays import dtype_of
from commonir.ir.types import ELEMENT_TYPES

from tests.dialects.core.drawing import Case, Draw

Maker = Callable[[Draw], Case]

_SATURATING = ("f8E4M3FN", "f8E4M3FNUZ", "f8E5M2", "f8E5M2FNUZ", "f4E2M1FN", "f6E2M3FN", "f6E3M2FN")
_GROUPS = (("f32", "i32", "ui32"), ("f64", "i64", "ui64"), ("f16", "bf16", "i16"), ("i8", "ui8"), ("i4", "ui4"))


def _narrow_cast(draw: Draw) -> Case:
    with np.errstate(all="ignore"):  # what lies beyond the range is the point
        return _narrowed(draw)


def _narrowed(draw: Draw) -> Case:
    source = draw.among("f32", "f32", "f64", "f16", "i32", "i64")
    to = draw.among(*_SATURATING, "f8E8M0FNU", "i4", "ui4", "i2", "ui2")
    dtype = dtype_of(to)
    x = draw.array(draw.maybe_empty(), source, -600, 600)
    if source.startswith("f") and x.size and not to.startswith(("i", "ui")):
        x.reshape(-1)[0] = draw.among(np.inf, -np.inf, np.nan, 1e-7, -0.0, 7e4)
    attributes = {"to": ELEMENT_TYPES[to]}
    if to == "f8E8M0FNU":
        x = np.abs(draw.array(draw.shape(1), "f32", 1e-3, 1e5))
        toward = draw.among("up", "down", "nearest")
        return Case((x,), {**attributes, "toward": toward}, (numpy_helper.to_float8e8m0(x, True, toward),))
    if to.startswith(("i", "ui")):
        return Case((x,), attributes, (x.astype(np.int64).astype(dtype),))
    if draw.flag():
        most = float(str(ml_dtypes.finfo(dtype).max))
        return Case((x,), attributes, (np.clip(x.astype(np.float64), -most, most).astype(x.dtype).astype(dtype),))
    return Case((x,), {**attributes, "saturate": False}, (x.astype(dtype),))


def _bit_cast(draw: Draw) -> Case:
    group = draw.among(*_GROUPS)
    source, to = draw.among(*group), draw.among(*group)
    # Numbers of four bits up to 7 have one code in both types; codes of small numbers are those of no NaN.
    x = draw.array(draw.maybe_empty(), source, 0, 7 if "i4" in group else 100)
    return Case((x,), {"to": ELEMENT_TYPES[to]}, (x.view(dtype_of(to)),))


def _unique(draw: Draw) -> Case:
    x = draw.array(draw.shape(1, 3), draw.among("f32", "i64", "i32", "i1", "f16"), 0, 1)
    x = np.round(x) if x.dtype.kind == "f" else x
    axis = None if draw.flag() else draw.axis(x.ndim)
    values, first, inverse, counts = np.unique(x, True, True, True, axis=axis)
    ascending = draw.flag()
    inverse = inverse.reshape(-1)
    if not ascending:
        order = np.argsort(first)
        values = np.take(values, order, axis=axis or 0)
        first, counts, inverse = first[order], counts[order], np.argsort(order)[inverse]
    expected = (values, *[v.astype(np.int64) for v in (first, inverse, counts)])
    return Case((x,), {"axis": axis, "ascending": ascending}, expected)


def _complex(draw: Draw) -> Case:
    shape, element = draw.maybe_empty(), draw.among("f32", "f64")
    x, y = draw.array(shape, element, -9, 9), draw.array(shape, element, -9, 9)
    return Case((x, y), {}, ((x + 1j * y).astype(np.complex64 if element == "f32" else np.complex128),))


def _real(draw: Draw) -> Case:
    z = _complex(draw).expected[0]
    return Case((z,), {}, (np.real(z),))


def _imag(draw: Draw) -> Case:
    z = _complex(draw).expected[0]
    return Case((z,), {}, (np.imag(z),))


CONVERSION: dict[str, Maker] = {
    "core.complex": _complex,
    "core.real": _real,
    "core.imag": _imag,
    "core.narrow_cast": _narrow_cast,
    "core.bit_cast": _bit_cast,
    "core.unique": _unique,
}
