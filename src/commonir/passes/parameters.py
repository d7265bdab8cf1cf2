"""Parameters of normalizations: scales and shifts, which exporters write with axes of size 1 beside their own, and
epsilons.
"""

from __future__ import annotations

from collections.abc import Sequence

from commonir.dialects import core
from commonir.ir.data import computed_data
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, Type
from commonir.ods import Op, known_data
from commonir.passes.core_forms import core_form
from commonir.symbolic import Dim

MOST_ELEMENTS = 1 << 24
"""The most elements of a sample of what is normalized."""
_LARGEST_EPSILON = 0.1


def epsilons_among(numbers: Sequence[float]) -> tuple[float, ...]:
    """Returns the numbers that may be the epsilon of a normalization, and 0, which may be left out."""
    return (*sorted({n for n in numbers if 0 < n < _LARGEST_EPSILON}), 0.0)


def of_shape(value: Value, shape: tuple[Dim, ...]) -> Value:
    """Returns a value, or a constant with its elements, in another shape."""
    assert isinstance(value.type, TensorType)
    if value.type.shape == shape:
        return value
    data = known_data(value)
    sizes = tuple([n for n in shape if isinstance(n, int)])
    if data is None or len(sizes) < len(shape):
        return core.reshape(value, shape)
    return core.constant(computed_data(data.type.with_shape(sizes), lambda: data.array().reshape(sizes)))


def behind_reshaping(value: Value, shape: tuple[Dim, ...]) -> Value:
    """Returns the value with the same elements in a shape, if there is one before reshaping, else the value."""
    source = value
    while isinstance(source.type, TensorType) and source.type.shape != shape:
        owner = source.owner
        form = core_form(owner) if isinstance(owner, Op) else None
        if form is None or not isinstance(form.op, core.Reshape | core.Unsqueeze | core.Squeeze):
            return value
        source = form.x
    return source


def covers(type: Type, shape: Sequence[Dim | None], axes: Sequence[int]) -> bool:
    """Returns whether a parameter has an element for each along some axes, and none along others."""
    if not isinstance(type, TensorType) or type.shape is None or not type.element.is_float:
        return False
    aligned = (1,) * (len(shape) - len(type.shape)) + type.shape
    return len(aligned) == len(shape) and all(n == (shape[a] if a in axes else 1) for a, n in enumerate(aligned))
