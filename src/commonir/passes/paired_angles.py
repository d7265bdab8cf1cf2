"""Angles of a rotary embedding that are the same for both elements of each pair: how that follows from their
computation.
"""

from __future__ import annotations

from enum import Enum

from commonir.dialects import core
from commonir.ir.data import Data, computed_data
from commonir.ir.operation import Value
from commonir.ir.types import TensorType
from commonir.ods import Op, known_data
from commonir.passes.core_forms import CoreForm, core_form

_MOST_STEPS = 24


class Pairing(Enum):
    """Which elements of the last axis are equal: those of both halves, or each two adjacent ones."""

    HALVES = "halves"
    ADJACENT = "adjacent"

    def half(self, value: Value) -> Value:
        """Returns one element of each pair."""
        data = known_data(value)
        if data is not None:
            return core.constant(self._half_data(data))
        assert isinstance(value.type, TensorType)
        dims = [n for n in value.type.shape or () if n is not None]
        size = dims[-1] if isinstance(dims[-1], int) else 0
        stops = (*dims[:-1], size // 2 if self is Pairing.HALVES else size)
        steps = (*[1] * (len(dims) - 1), 1 if self is Pairing.HALVES else 2)
        return core.slice_(value, (0,) * len(dims), stops, steps)

    def _half_data(self, data: Data) -> Data:
        *lead, size = data.type.static_shape
        taken = slice(0, size // 2) if self is Pairing.HALVES else slice(0, size, 2)
        return computed_data(data.type.with_shape((*lead, size // 2)), lambda: data.array()[..., taken])

    def doubled(self, data: Data) -> Data:
        """Returns elements of pairs, each twice."""
        import numpy as np  # noqa: PLC0415  only where something is compared

        *lead, size = data.type.static_shape
        type = data.type.with_shape((*lead, size * 2))
        if self is Pairing.ADJACENT:
            return computed_data(type, lambda: np.repeat(data.array(), 2, -1))
        return computed_data(type, lambda: np.concatenate([data.array()] * 2, -1))

    def holds_for(self, data: Data) -> bool:
        """Returns whether both elements of each pair of a constant are equal."""
        array = data.array()
        half = self._half_data(data)
        return array.tobytes() == self.doubled(half).array().tobytes()


def pairings_of(value: Value) -> list[Pairing]:
    """Returns the pairings that follow from how a value of known size is computed."""
    size = _last(value)
    if size is None or size % 2:
        return []
    for _ in range(_MOST_STEPS):
        data = known_data(value)
        if data is not None:
            return [p for p in Pairing if data.type.is_static and p.holds_for(data)]
        owner = value.owner
        form = core_form(owner) if isinstance(owner, Op) else None
        if form is None:
            return []
        found = _doubling(form, size)
        if found is not None:
            return [found]
        source = _source(form)
        if source is None or _last(source) != size:
            return []
        value = source
    return []


def _last(value: Value) -> int | None:
    shape = value.type.shape if isinstance(value.type, TensorType) else None
    return shape[-1] if shape and isinstance(shape[-1], int) else None


def _doubling(form: CoreForm, size: int) -> Pairing | None:
    """Returns how an operation writes each element twice along the last axis."""
    repeated = _repeated(form)
    if repeated == -1:
        return Pairing.HALVES
    if not isinstance(form.op, core.Reshape | core.DynamicReshape):
        return None
    shape = form.x.type.shape if isinstance(form.x.type, TensorType) else None
    owner = form.x.owner
    before = core_form(owner) if isinstance(owner, Op) else None
    if before is None or shape is None:
        return None
    axis = _repeated(before)
    if axis == -1 and shape[-2:] == (size // 2, 2):
        return Pairing.ADJACENT
    return Pairing.HALVES if axis == -2 and shape[-2:] == (2, size // 2) else None


def _repeated(form: CoreForm) -> int | None:
    """Returns the axis, from the end, along which a tensor is put after itself or, of size 1, broadcast."""
    rank = len(form.op.results[0].type.shape or ()) if isinstance(form.op.results[0].type, TensorType) else 0
    if isinstance(form.op, core.Concat) and isinstance(form.operands[0], tuple):
        values = form.operands[0]
        return form.op.axis % rank - rank if len(values) == 2 and _is_same(values[0], values[1]) else None
    if not isinstance(form.op, core.BroadcastTo | core.Tile) or not isinstance(form.x.type, TensorType):
        return None
    shape, result = form.x.type.shape or (), form.op.results[0].type
    wide = result.shape or () if isinstance(result, TensorType) else ()
    changed = [a - rank for a, n in enumerate(wide) if a >= rank - len(shape) and n != shape[a - rank]]
    return changed[0] if len(changed) == 1 and shape[changed[0]] == 1 else None


def _is_same(a: Value, b: Value) -> bool:
    """Returns whether two values are one, or axes of size 1 added to one in the same way."""
    if a is b:
        return True
    forms = [core_form(v.owner) if isinstance(v.owner, Op) else None for v in (a, b)]
    first, second = forms
    if first is None or second is None or a.type is not b.type:
        return False
    both = isinstance(first.op, core.Unsqueeze) and isinstance(second.op, core.Unsqueeze)
    return both and first.x is second.x


def _source(form: CoreForm) -> Value | None:
    """Returns the value whose elements an operation takes in order along the last axis, each by itself."""
    op = form.op
    if isinstance(op, core.Gather):
        rank = len(form.x.type.shape or ()) if isinstance(form.x.type, TensorType) else 0
        return form.x if rank and op.axis % rank != rank - 1 else None
    moves = core.Reshape, core.Squeeze, core.Unsqueeze, core.BroadcastTo, core.Slice, core.Cast, core.Cos, core.Sin
    if isinstance(op, moves):
        return form.x
    if isinstance(op, core.Mul | core.Div):
        values = [v for v in form.operands if isinstance(v, Value) and not _is_number(v)]
        return values[0] if len(values) == 1 else None
    return None


def _is_number(value: Value) -> bool:
    data = known_data(value)
    return data is not None and data.count == 1
