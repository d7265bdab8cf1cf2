"""Core operations that need no input: constants, known dimensions, sequences of positions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonir.dialects.core.base import NUMBERS, REALS, CoreOp, as_tensor, axis_of, function, numpy_type, tensor_type
from commonir.ir.data import Data, Scalar, data_of, rounded
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, TensorType, Type, are_known, boolean, i64
from commonir.notation import Kernel, OutOfRangeError, indices, lift, limits
from commonir.ods import attr_types, attribute, constraint, known_dims, operand, result, traits
from commonir.symbolic import Dim, ceil_div, largest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.generic]

MOST_KNOWN = 4096
"""The maximum number of elements in shape inference; longer vectors are data."""


class Constant(CoreOp, name="core.constant", traits=(traits.Pure, traits.ConstantLike)):
    """A tensor known before the program runs."""

    attr_types_suffice = True

    value: Data = attribute(attr_types.data)
    y: Value = result("any")

    def infer(self) -> tuple[Type, ...]:
        return (self.value.type,)

    def constant_data(self) -> Data | None:
        # A constant of a file that states none has no value.
        value = self.attribute_values[0]
        return value if isinstance(value, Data) else None

    def constant_dims(self) -> tuple[Dim, ...] | None:
        """Bools are 1 and 0, like those of comparisons of known elements."""
        data = self.constant_data()
        if data is not None and data.element is boolean and len(data.shape) <= 1 and data.count <= MOST_KNOWN:
            return tuple([int(v is True) for v in data.values()])
        return None if data is None else integer_values(data)


def integer_values(data: Data) -> tuple[int, ...] | None:
    """The elements of a short vector or scalar when all of them are integers, also of another short integer tensor."""
    if not data.element.is_numeric or data.count > MOST_KNOWN or data.element.kind == "complex":
        return None
    if len(data.shape) > 1 and not data.element.is_integer:
        return None
    values = data.values()
    return tuple([int(v) for v in values]) if all(_is_whole(v) for v in values) else None


def _is_whole(value: Scalar) -> bool:
    return isinstance(value, int) or (isinstance(value, float) and value.is_integer())


class Dims(CoreOp, name="core.dims", traits=(traits.Pure, traits.ConstantLike)):
    """A vector of numbers given as expressions in the symbolic dimensions of the program's inputs."""

    values: tuple[Dim, ...] = attribute(attr_types.dims)
    element: ElementType = attribute(attr_types.element, default=i64)
    scalar: bool = attribute(attr_types.flag, default=False)
    y: Value = result("T[*]")
    T = NUMBERS

    @constraint("C1")
    def scalar_has_one_number(self) -> object:
        """A scalar has one number."""
        return not self.scalar or len(self.values) == 1

    @constraint("C2")
    def numbers_fit(self) -> object:
        """Numbers are values of the element type."""
        if not self.element.is_integer:
            return True
        low, high = limits(self.element)
        return all(low <= v <= high for v in self.values if isinstance(v, int))

    def infer(self) -> tuple[Type, ...]:
        return (TensorType(self.element, () if self.scalar else (len(self.values),)),)

    def constant_data(self) -> Data | None:
        values = self.constant_dims()
        numbers = [v for v in values or () if isinstance(v, int)]
        known = values is not None and len(numbers) == len(values)
        return data_of(self.element, as_tensor(self.y.type).static_shape, numbers) if known else None

    def constant_dims(self) -> tuple[Dim, ...] | None:
        # Those of a file that states none have no numbers.
        values: object = self.attribute_values[0]
        return self.values if isinstance(values, tuple) else None


class Dimension(CoreOp, name="core.dim", traits=(traits.Pure,)):
    """The dim of a tensor along one axis, as a scalar."""

    x: Value = operand("any[*]")
    axis: int = attribute(attr_types.integer)
    element: ElementType = attribute(attr_types.element, default=i64)
    y: Value = result("T[]")
    T = NUMBERS

    def infer(self) -> tuple[Type, ...]:
        shape = tensor_type(self.x).shape
        if shape is not None:
            axis_of(self.axis, len(shape))
        return (TensorType(self.element, ()),)

    def reference(self, x: Array) -> Array:
        xp = x.__array_namespace__()
        return xp.asarray(x.shape[self.axis], dtype=numpy_type(self.element))

    def constant_dims(self) -> tuple[Dim, ...] | None:
        shape = tensor_type(self.x).shape
        size = None if shape is None else shape[axis_of(self.axis, len(shape))]
        return None if size is None else (size,)


class ShapeOf(CoreOp, name="core.shape_of", traits=(traits.Pure,)):
    """The shape of a tensor, as a vector."""

    x: Value = operand("any[*]")
    element: ElementType = attribute(attr_types.element, default=i64)
    y: Value = result("T[r]")
    T = NUMBERS

    def infer(self) -> tuple[Type, ...]:
        return (TensorType(self.element, (tensor_type(self.x).rank,)),)

    def reference(self, x: Array) -> Array:
        xp = x.__array_namespace__()
        return xp.asarray(x.shape, dtype=numpy_type(self.element))

    def constant_dims(self) -> tuple[Dim, ...] | None:
        shape = tensor_type(self.x).shape
        return shape if are_known(shape) else None


class Iota(CoreOp, name="core.iota", traits=(traits.Pure,)):
    """A tensor whose elements are their indices along one axis."""

    shape: tuple[Dim, ...] = attribute(attr_types.dims)
    axis: int = attribute(attr_types.integer, default=0)
    element: ElementType = attribute(attr_types.element, default=i64)
    y: Value = result("T[*]")
    T = NUMBERS

    def reference(self) -> Kernel:
        at = indices("i", len(self.shape))
        return lift(at[axis_of(self.axis, len(at))], self.element).by(*at).where(dict(zip(at, self.shape, strict=True)))


class Range(CoreOp, name="core.range", traits=(traits.Pure,)):
    """Numbers from start (inclusive) to limit (exclusive) by a step; all three are scalars known at run time."""

    start: Value = operand("T[]", by_value=True)
    limit: Value = operand("T[]", by_value=True)
    step: Value = operand("T[]", by_value=True)
    y: Value = result("T[n]")
    T = REALS

    @constraint("C1")
    def step_is_not_zero(self) -> object:
        """The step is not 0."""
        return known_dims(self.step) != (0,)

    def infer(self) -> tuple[Type, ...]:
        start, limit, step = known_dims(self.start), known_dims(self.limit), known_dims(self.step)
        size: Dim | None = None
        if start and limit and step and isinstance(step[0], int) and step[0] != 0:
            size = largest(ceil_div(limit[0] - start[0], step[0]), 0)
        return (TensorType(tensor_type(self.start).element, (size,)),)

    def reference(self, start: Array, limit: Array, step: Array) -> Array:
        xp = start.__array_namespace__()
        return xp.arange(start.item(), limit.item(), step.item(), dtype=start.dtype)

    def kernel_of_sizes(self) -> Kernel | None:
        start, step, type = known_dims(self.start), known_dims(self.step), tensor_type(self.y)
        if start is None or step is None or type.shape is None or type.shape[0] is None:
            return None
        (i,) = indices("i", 1)
        return lift(start[0] + i * step[0], type.element).by(i).where({i: type.shape[0]})

    def constant_dims(self) -> tuple[Dim, ...] | None:
        bounds = [known_dims(v) for v in (self.start, self.limit, self.step)]
        numbers = [b[0] for b in bounds if b is not None and isinstance(b[0], int)]
        if len(numbers) != len(bounds) or numbers[2] == 0:
            return None
        out = range(*numbers)
        # Python counts no range that is longer than memory.
        return None if out[MOST_KNOWN:] else tuple(out)


constant = function(Constant)
dims = function(Dims)
dim = function(Dimension)
shape_of = function(ShapeOf)
iota = function(Iota)
range_ = function(Range)


def scalar(value: Scalar, element: ElementType) -> Value:
    """A constant of rank 0; of a float, the nearest value of the element type.

    Raises: OutOfRangeError when an integer is not a value of the element type.
    """
    if element.is_integer and isinstance(value, int | float):
        low, high = limits(element)
        if not low <= value <= high:
            raise OutOfRangeError(value, element)
    elif element.is_float and isinstance(value, int | float):
        value = rounded(value, element)
    return Constant(data_of(element, (), (value,))).y


def splat(value: Scalar, like: Value) -> Value:
    """A constant of rank 0 with the element type of another value."""
    return scalar(value, tensor_type(like).element)


def vector(values: tuple[int, ...], element: ElementType = i64) -> Value:
    """A constant vector of integers."""
    return Constant(data_of(element, (len(values),), values)).y
