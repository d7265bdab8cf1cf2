"""Pieces that rules build with: constants, sizes as values, and the broadcasting that stablehlo does not do by itself.

Sizes that are numbers stand in attributes and types. Others are computed as 64-bit integers from the sizes of
arguments, and go into the operations that take them as operands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

from commonir.conversions.operands import dims_of, element_of
from commonir.conversions.symbolic_dims import VectorDims, early
from commonir.dialects.mlir import stablehlo as hlo
from commonir.dialects.mlir.stablehlo.base import ComparisonDirection
from commonir.ir.data import Data, DeferredData, Scalar, SplatData, computed_data, data_of
from commonir.ir.operation import Block, Region, Value
from commonir.ir.types import ElementType, TensorType, boolean, i64, integer_type, signedness_of
from commonir.notation import limits
from commonir.ods import Op, operations_behind
from commonir.rewrite.legalize import Context
from commonir.symbolic import Dim

# -- constants


_WIDTHS = (2, 4, 8, 16, 32, 64)


def constant_of_data(context: Context, data: Data) -> Value:
    """A constant, at the beginning of the function; integers of other widths than there are in the next wider one."""
    element = data.element
    if element.is_integer and element.bits not in _WIDTHS:
        data = _widened(data, element)
    return context.hoist(hlo.Constant(data))


def _widened(data: Data, element: ElementType) -> Data:
    if element.bits == 1:
        type = data.type.with_element(boolean)
        return computed_data(type, lambda: data.array().astype(bool))
    wide = integer_type(next(w for w in _WIDTHS if w > max(element.bits, 4)), signedness_of(element))
    type = data.type.with_element(wide)
    return DeferredData(type, lambda: data_of(wide, data.shape, data.values()))


def constant(context: Context, element: ElementType, shape: tuple[int, ...], values: Sequence[Scalar]) -> Value:
    """A constant of a few elements; what is the same is there once for a function."""
    key = ("constant", element, shape, tuple(map(repr, values)))
    if key not in context.memo:
        context.memo[key] = constant_of_data(context, data_of(element, shape, values))
    return context.memo[key]


def scalar(context: Context, value: Scalar, element: ElementType) -> Value:
    """A constant of rank 0."""
    return constant(context, element, (), (value,))


def zero(context: Context, element: ElementType) -> Value:
    """Nothing, as a constant of rank 0."""
    return scalar(context, False if element is boolean else 0.0 if element.is_float else 0, element)


def integers(context: Context, values: Sequence[int]) -> Value:
    """A constant vector of positions or sizes."""
    return constant(context, i64, (len(values),), values)


# -- sizes


def numbers_of(dims: Sequence[Dim]) -> tuple[int, ...] | None:
    """Sizes as numbers; None when one is an expression."""
    result = tuple([d for d in dims if isinstance(d, int)])
    return result if len(result) == len(dims) else None


def vector(context: Context, dims: Sequence[Dim]) -> Value:
    """A vector of sizes."""
    return _Dims(context).vector(dims)


def size(context: Context, dim: Dim) -> Value:
    """Returns a dim as a vector of one element. Raises: DiagnosticError (E0601) if the program cannot compute it."""
    return _Dims(context).value(dim)


def axis_size(context: Context, x: Value, axis: int) -> Value:
    """The size of an axis as a vector of one element."""
    result = early(context, hlo.GetDimensionSize(x, axis))
    wide = early(context, hlo.Convert.build({"operand": result}, [TensorType(i64, ())]))
    return early(context, hlo.Reshape.build({"operand": wide}, [TensorType(i64, (1,))]))


class _Dims(VectorDims):
    add, subtract, multiply, divide = hlo.Add, hlo.Subtract, hlo.Mul, hlo.Div
    integers = staticmethod(integers)

    def concatenated(self, parts: tuple[Value, ...]) -> Op:
        return hlo.Concatenate(parts, 0)

    def axis(self, value: Value, axis: int) -> Value:
        return axis_size(self.context, value, axis)

    def quotient(self, num: Dim, dividend: Value, divisor: Value) -> Value:  # noqa: ARG002  of any sign
        whole, rest = self.put(hlo.Div(dividend, divisor)), self.put(hlo.Rem(dividend, divisor))
        zero, one = self.number(0), self.number(1)
        is_below = self.put(hlo.Compare(rest, zero, ComparisonDirection.LT))
        return self.put(hlo.Select(is_below, self.put(hlo.Subtract(whole, one)), whole))

    def remainder(self, num: Dim, dividend: Value, divisor: Value) -> Value:
        whole = self.quotient(num, dividend, divisor)
        return self.put(hlo.Subtract(dividend, self.put(hlo.Mul(whole, divisor))))

    def largest(self, values: Sequence[Value]) -> Value:
        return reduce(lambda a, b: self.put(hlo.Max(a, b)), values)


# -- moves


def placed(context: Context, x: Value, axes: Sequence[int], shape: Sequence[Dim]) -> Value:
    """A tensor whose axes become those named of a shape, along the others of which it is repeated."""
    if dims_of(x) == tuple(shape) and list(axes) == list(range(len(shape))):
        return x
    type = TensorType(element_of(x), tuple(shape))
    x, axes = _before_moves(x, axes)
    if numbers_of(shape) is not None and numbers_of(dims_of(x)) is not None:
        return hlo.BroadcastInDim.build({"operand": x, "broadcast_dimensions": tuple(axes)}, [type]).results[0]
    pairs = list(enumerate(zip(dims_of(x), [shape[a] for a in axes], strict=True)))
    arguments = {
        "operand_": x,
        "output_dimensions": vector(context, shape),
        "broadcast_dimensions": tuple(axes),
        "known_expanding_dimensions": tuple([n for n, (d, to) in pairs if d == 1 and to != 1]) or None,
        "known_nonexpanding_dimensions": tuple([n for n, (d, to) in pairs if d == to]) or None,
    }
    return hlo.DynamicBroadcastInDim.build(arguments, [type]).results[0]


def _before_moves(x: Value, axes: Sequence[int]) -> tuple[Value, Sequence[int]]:
    """The tensor of which axes were moved or added, or that was repeated, with those that its axes become.

    Compilers make one of two broadcasts after each other, and forget which sizes are known to be equal.
    """
    while True:
        match x.owner:
            case hlo.Transpose(permutation=permutation, operand=source):
                axes = [axes[permutation.index(n)] for n in range(len(permutation))]
            case hlo.BroadcastInDim(broadcast_dimensions=places, operand=source):
                axes = [axes[p] for p in places]
            case hlo.DynamicBroadcastInDim(broadcast_dimensions=places, operand_=source):
                axes = [axes[p] for p in places]
            case hlo.Reshape(operand=source) if (kept := _kept_axes(dims_of(source), dims_of(x))) is not None:
                axes = [axes[p] for p in kept]
            case _:
                return x, axes
        x = source


def _kept_axes(before: Sequence[Dim], after: Sequence[Dim]) -> list[int] | None:
    """The places of axes in a shape that has others of size 1 besides; None where there is another difference."""
    out: list[int] = []
    for n, d in enumerate(after):
        if len(out) < len(before) and before[len(out)] == d:
            out.append(n)
        elif d != 1:
            return None
    return out if len(out) == len(before) else None


def broadcast(context: Context, x: Value, shape: Sequence[Dim]) -> Value:
    """A tensor broadcast to a shape as in numpy: axes are aligned at the end."""
    rank = len(dims_of(x))
    return placed(context, x, range(len(shape) - rank, len(shape)), shape)


def filled(context: Context, value: Scalar, element: ElementType, shape: Sequence[Dim]) -> Value:
    """A tensor whose elements are one number."""
    numbers = numbers_of(shape)
    if numbers is not None:
        key = ("splat", element, numbers, repr(value))
        if key not in context.memo:
            context.memo[key] = constant_of_data(context, _splat(value, element, numbers))
        return context.memo[key]
    return placed(context, scalar(context, value, element), (), shape)


def _splat(value: Scalar, element: ElementType, shape: tuple[int, ...]) -> Data:
    return SplatData(TensorType(element, shape), bytes(data_of(element, (1,), (value,)).buffer()))


def like(context: Context, value: Scalar, x: Value) -> Value:
    """A number as a tensor of the type of another one."""
    return filled(context, value, element_of(x), dims_of(x))


def reshaped(context: Context, x: Value, shape: Sequence[Dim]) -> Value:
    """A tensor in another shape; itself when it has that."""
    if dims_of(x) == tuple(shape):
        return x
    type = TensorType(element_of(x), tuple(shape))
    if numbers_of(shape) is not None and numbers_of(dims_of(x)) is not None:
        return hlo.Reshape.build({"operand": x}, [type]).results[0]
    held_, expected = [n for n, d in enumerate(dims_of(x)) if d != 1], [n for n, d in enumerate(shape) if d != 1]
    is_ordered = element_of(x).is_float or element_of(x).is_integer
    if is_ordered and [dims_of(x)[n] for n in held_] == [shape[n] for n in expected]:
        # Compilers have code for this, and not for reshapes by computed shapes.
        return placed(context, _without_ones(context, x, held_), expected, shape)
    arguments = {"operand_": x, "output_shape": vector(context, shape)}
    return hlo.DynamicReshape.build(arguments, [type]).results[0]


def _without_ones(context: Context, x: Value, remaining: Sequence[int]) -> Value:
    """A tensor without axes of size 1: reductions over them, which change no number."""
    dims, element_type = dims_of(x), element_of(x)
    axes = tuple([n for n in range(len(dims)) if n not in remaining])
    if not axes:
        return x
    if element_type is boolean:
        start, definition = scalar(context, False, element_type), hlo.Or
    else:
        start, definition = scalar(context, limits(element_type)[0], element_type), hlo.Max
    arguments = {
        "inputs": (x,),
        "init_values": (start,),
        "dimensions": axes,
        "body": combining(element_type, definition),
    }
    return hlo.Reduce.build(arguments, [TensorType(element_type, tuple([dims[n] for n in remaining]))]).results[0]


def transposed(x: Value, permutation: Sequence[int]) -> Value:
    """A tensor with its axes in another order; itself when the order is the same."""
    if list(permutation) == sorted(permutation):
        return x
    match x.owner:
        case hlo.BroadcastInDim(broadcast_dimensions=places, operand=source):
            type = TensorType(element_of(x), tuple([dims_of(x)[p] for p in permutation]))
            axes = tuple([list(permutation).index(p) for p in places])
            return hlo.BroadcastInDim.build({"operand": source, "broadcast_dimensions": axes}, [type]).results[0]
        case _:
            return hlo.Transpose(x, tuple(permutation)).result_


def part(context: Context, x: Value, starts: Sequence[Dim], stops: Sequence[Dim], steps: Sequence[int]) -> Value:
    """Every so many elements between two positions along each axis."""
    shape = dims_of(x)
    if all(a == 0 and b == n and s == 1 for a, b, s, n in zip(starts, stops, steps, shape, strict=True)):
        return x
    first, last = numbers_of(starts), numbers_of(stops)
    if first is not None and last is not None and numbers_of(shape) is not None:
        return hlo.Slice(x, first, last, tuple(steps)).result_
    dims = tuple([_count(b - a, s) for a, b, s in zip(starts, stops, steps, strict=True)])
    arguments = {
        "operand_": x,
        "start_indices": vector(context, starts),
        "limit_indices": vector(context, stops),
        "strides": integers(context, steps),
    }
    return hlo.RealDynamicSlice.build(arguments, [TensorType(element_of(x), dims)]).results[0]


def _count(length: Dim, step: int) -> Dim:
    return length if step == 1 else (length + step - 1) // step


def iota(context: Context, shape: Sequence[Dim], axis: int, element: ElementType = i64) -> Value:
    """Numbers from 0 along an axis."""
    type = TensorType(element, tuple(shape))
    if numbers_of(shape) is not None:
        return hlo.Iota.build({"iota_dimension": axis}, [type]).results[0]
    arguments = {"output_shape": vector(context, shape), "iota_dimension": axis}
    return hlo.DynamicIota.build(arguments, [type]).results[0]


def converted(x: Value, element: ElementType) -> Value:
    """A tensor with elements of another type."""
    if element_of(x) is element:
        return x
    return hlo.Convert.build({"operand": x}, [TensorType(element, dims_of(x))]).results[0]


def compared(a: Value, b: Value, direction: ComparisonDirection) -> Value:
    """Returns the elementwise comparison in a direction."""
    return hlo.Compare(a, b, direction).result_


def together(xs: Sequence[Value], axis: int) -> Value:
    """Tensors one after another."""
    if len(xs) == 1:
        return xs[0]
    shapes = [dims_of(x) for x in xs]
    length = shapes[0][axis]
    for s in shapes[1:]:
        length = length + s[axis]
    type = TensorType(element_of(xs[0]), (*shapes[0][:axis], length, *shapes[0][axis + 1 :]))
    return hlo.Concatenate.build({"inputs": tuple(xs), "dimension": axis}, [type]).results[0]


# -- nested programs


def body(elements: Sequence[ElementType], build: Callable[..., Sequence[Value]]) -> Region:
    """A program of single numbers: `build` receives and returns them."""
    block = Block([TensorType(e, ()) for e in elements])
    values = tuple(build(*block.arguments))
    for op in (*operations_behind(values), hlo.Return(values)):
        block.append(op)
    return Region([block])


def combining(element: ElementType, definition: Callable[[Value, Value], Op]) -> Region:
    """A program that combines two numbers by an operation."""

    def both(a: Value, b: Value) -> Sequence[Value]:
        return definition(a, b).results

    return body([element, element], both)
