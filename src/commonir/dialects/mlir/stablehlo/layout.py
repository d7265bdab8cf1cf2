"""Operations of the stablehlo dialect that move elements without computing with them.

Source: StableHLO specification, operations on shapes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from commonir.base.diagnostics import Diagnostic
from commonir.dialects.lazy_core import core
from commonir.dialects.mlir.stablehlo import forms
from commonir.dialects.mlir.stablehlo.base import (
    FUNCTIONAL,
    AnyHlo,
    AnyQuantizedToo,
    BoundedTensor,
    CompatibleElements,
    CompatibleTypes,
    HloOp,
    I32Tensor,
    Positions,
    Scalar,
    ScalarInteger,
    Sizes,
    axes,
    axis,
    distinct,
    element,
    filled,
    is_complex,
    is_quantized,
    kind_of,
    known_scalar,
    like,
    non_negative,
    numbers_given,
    numbers_in,
    rank_of,
    reshaped,
    shape_of,
    stated_shape,
    transposed,
)
from commonir.dialects.mlir.stablehlo.constants import all_numbered
from commonir.dialects.mlir.stablehlo.number_types import number_as
from commonir.dialects.mlir.stablehlo.quantization import broadcast_faults, reshaped_faults, transposed_faults
from commonir.ir.operation import Value
from commonir.ir.types import Shape, TensorType, Type, boolean, i32, i64
from commonir.notation import NotKnownError
from commonir.ods import attribute, known_dims, operand, result, traits
from commonir.ods.operand_shapes import known_dims_of, static_dims
from commonir.ods.text_form import CustomForm
from commonir.ods.type_rules import SameOperandsAndResultElementType, all_element_types_match, all_types_match
from commonir.symbolic import Dim, at_least, element_count

# -- shapes


class Reshape(HloOp, name="stablehlo.reshape", traits=(traits.Pure, CompatibleElements), assembly=FUNCTIONAL):
    """Reshapes a tensor, in row-major order. C1: operand and result have equally many elements."""

    operand: Value = operand(AnyQuantizedToo)
    result_: Value = result(BoundedTensor)

    def verify(self) -> Iterator[Diagnostic]:
        before, after = stated_shape(self.operand), stated_shape(self.result_)
        counts = [_count(s) for s in (before, after)]
        if None not in counts and counts[0] != counts[1]:
            yield self.violated(f"C1: number of output elements ({counts[1]}) doesn't match expected ({counts[0]})")
        yield from map(self.violated, reshaped_faults(self.operand, self.result_))

    def reference(self, operand: Value) -> Value:
        return reshaped(operand, static_dims(self.result_))


def _count(shape: Shape | None) -> int | None:
    if shape is None:
        return None
    count = 1
    for d in shape:
        if not isinstance(d, int):
            return None
        count *= d
    return count


class DynamicReshape(HloOp, name="stablehlo.dynamic_reshape", traits=(traits.Pure,), assembly=FUNCTIONAL):
    """Reshapes a tensor to a computed shape. C1: operand and result have one element type. C2: the computed shape has
    an entry for each axis of the result.
    """

    operand_: Value = operand(AnyQuantizedToo)
    output_shape: Value = operand(Sizes, by_value=True)
    result_: Value = result(AnyQuantizedToo)

    def verify(self) -> Iterator[Diagnostic]:
        if element(self.operand_) is not element(self.result_) and not is_quantized(element(self.operand_)):
            yield self.violated("C1: operand and result should have the same element type")
        yield from map(self.violated, reshaped_faults(self.operand_, self.result_))
        yield from _check_count(self, self.output_shape, self.result_, "C2: output should have a rank equal to")
        yield from self.check_sizes_given(self.output_shape)
        counts: list[int] = []
        for sizes in (shape_of(self.operand_), shape_of(self.result_), numbers_given(self.output_shape) or (None,)):
            count = element_count([-1 if d is None else d for d in sizes]) if None not in sizes else None
            counts += [count] if isinstance(count, int) and count >= 0 else []
        if len(set(counts)) > 1:
            message = "C1: number of elements of operand, result and output_shape doesn't match:"
            yield self.violated(f"{message} {', '.join(map(str, counts))}")

    def reference(self, operand: Value, output_shape: Value) -> Value:
        known = known_dims(output_shape)
        return core.dynamic_reshape(operand, output_shape) if known is None else reshaped(operand, known)


def _check_count(op: HloOp, sizes: Value, tensor: Value, what: str) -> Iterator[Diagnostic]:
    shape = shape_of(sizes)
    if len(shape) == 1 and isinstance(shape[0], int) and shape[0] != rank_of(tensor):
        yield op.violated(f"{what} the number of elements in {sizes.type}")


class Broadcast(
    HloOp,
    name="stablehlo.broadcast",
    traits=(traits.Pure, SameOperandsAndResultElementType),
    assembly="$operand `,` `sizes` `=` $broadcast_sizes attr-dict `:` functional-type(operands, results)",
):
    """Broadcasts a tensor along new leading axes."""

    operand: Value = operand(AnyHlo)
    broadcast_sizes: tuple[int, ...] = attribute(axes, check=non_negative)
    result_: Value = result(AnyQuantizedToo)

    def infer_results(self) -> tuple[Type, ...] | None:
        shape = stated_shape(self.operand)
        return None if shape is None else (like(self.operand.type, (*self.broadcast_sizes, *shape)),)

    def reference(self, operand: Value) -> Value:
        return core.broadcast_to(operand, (*self.broadcast_sizes, *known_dims_of(operand)))


def broadcast_in(x: Value, axes: Sequence[int], shape: Sequence[Dim]) -> Value:
    """A tensor whose axes become those named of a shape, along the others of which it is repeated."""
    ordered = transposed(x, sorted(range(len(axes)), key=lambda n: axes[n]))
    sizes = known_dims_of(ordered)
    places = dict(zip(sorted(axes), sizes, strict=True))
    placed = reshaped(ordered, [places.get(n, 1) for n in range(len(shape))])
    return placed if tuple(known_dims_of(placed)) == tuple(shape) else core.broadcast_to(placed, tuple(shape))


def _check_broadcast(op: HloOp, x: Value, axes: Sequence[int], out: Value) -> Iterator[Diagnostic]:
    source, target = stated_shape(x), stated_shape(out)
    if source is None or target is None:
        return
    if len(axes) != len(source):
        yield op.violated(f"C1: broadcast_dimensions size ({len(axes)}) does not match operand rank ({len(source)})")
        return
    if len(set(axes)) != len(axes):
        yield op.violated("C2: broadcast_dimensions should not have duplicates")
        return
    for n, d in enumerate(axes):
        if not 0 <= d < len(target):
            yield op.violated(f"C3: broadcast_dimensions contains invalid value {d} for result with rank {len(target)}")
            continue
        a, b = source[n], target[d]
        if isinstance(a, int) and isinstance(b, int) and a not in (1, b):
            yield op.violated(
                f"C4: size of operand dimension {n} ({a}) is not equal to 1 or size of result dimension {d} ({b})"
            )


class BroadcastInDim(
    HloOp,
    name="stablehlo.broadcast_in_dim",
    traits=(traits.Pure, CompatibleElements),
    assembly="$operand `,` `dims` `=` $broadcast_dimensions attr-dict `:` functional-type(operands, results)",
):
    """Broadcasts a tensor whose axes are mapped to axes of the result. C1: there is an axis of the result for each axis
    of the operand. C2: these differ. C3: they are axes of the result. C4: sizes of the operand are 1 or those of the
    result.
    """

    operand: Value = operand(AnyQuantizedToo)
    broadcast_dimensions: tuple[int, ...] = attribute(axes)
    result_: Value = result(BoundedTensor)

    def verify(self) -> Iterator[Diagnostic]:
        yield from _check_broadcast(self, self.operand, self.broadcast_dimensions, self.result_)
        yield from map(self.violated, broadcast_faults(self.operand, self.result_, self.broadcast_dimensions))

    def reference(self, operand: Value) -> Value:
        return broadcast_in(operand, self.broadcast_dimensions, static_dims(self.result_))


class DynamicBroadcastInDim(
    HloOp,
    name="stablehlo.dynamic_broadcast_in_dim",
    traits=(traits.Pure,),
    assembly=(
        "$operand `,` $output_dimensions `,` `dims` `=` $broadcast_dimensions attr-dict `:` "
        "functional-type(operands, results)"
    ),
):
    """Broadcasts a tensor to a computed shape; its axes are mapped to axes of the result.

    C1: there is an axis of the result for each axis of the operand. C2: these differ. C3: they are axes of the result.
    C4: sizes of the operand are 1 or those of the result. C5: the computed shape has an entry for each axis of the
    result. C6: the known expanding and non-expanding dimensions are different axes of the operand.
    """

    operand_: Value = operand(AnyQuantizedToo)
    output_dimensions: Value = operand(Sizes, by_value=True)
    broadcast_dimensions: tuple[int, ...] = attribute(axes)
    known_expanding_dimensions: tuple[int, ...] | None = attribute(axes, default=None)
    known_nonexpanding_dimensions: tuple[int, ...] | None = attribute(axes, default=None)
    result_: Value = result(AnyQuantizedToo)

    def verify(self) -> Iterator[Diagnostic]:
        yield from _check_broadcast(self, self.operand_, self.broadcast_dimensions, self.result_)
        yield from map(self.violated, broadcast_faults(self.operand_, self.result_, self.broadcast_dimensions))
        yield from _check_count(self, self.output_dimensions, self.result_, "C5: result should have a rank equal to")
        yield from self.check_sizes_given(self.output_dimensions)
        if element(self.operand_) is not element(self.result_) and not is_quantized(element(self.operand_)):
            yield self.violated("expects operand and result to have compatible element type")
        given, sizes = numbers_given(self.output_dimensions), shape_of(self.operand_)
        for n, (at, size) in enumerate(zip(self.broadcast_dimensions, sizes, strict=False)):
            expected = given[at] if given is not None and 0 <= at < len(given) else None
            if expected is not None and isinstance(size, int) and size not in (1, expected):
                message = (
                    f"C4: size of operand dimension {n} ({size}) is not equal to 1 or value of shape at index {at}"
                )
                yield self.violated(f"{message} ({expected})")
        hints = (*(self.known_expanding_dimensions or ()), *(self.known_nonexpanding_dimensions or ()))
        if len(set(hints)) != len(hints):
            yield self.violated("C6: duplicate expansion hint for at least one operand dimension")
        for n in hints:
            if not 0 <= n < len(sizes):
                yield self.violated(f"C6: hint for expanding dimension {n} does not refer to a valid operand dimension")

    def reference(self, operand: Value, output_dimensions: Value) -> Value:
        known = known_dims(output_dimensions)
        if known is not None:
            return broadcast_in(operand, self.broadcast_dimensions, known)
        places = self.broadcast_dimensions
        ordered = transposed(operand, sorted(range(len(places)), key=lambda n: places[n]))
        sizes = dict(zip(sorted(places), known_dims_of(ordered), strict=True))
        placed = reshaped(ordered, [sizes.get(n, 1) for n in range(static_dims(output_dimensions)[0])])
        everywhere = core.greater_equal(all_numbered(output_dimensions), core.scalar(0, i64))
        return core.select(everywhere, placed, placed)


class Transpose(
    HloOp,
    name="stablehlo.transpose",
    traits=(traits.Pure, CompatibleElements),
    assembly="$operand `,` `dims` `=` $permutation attr-dict `:` functional-type(operands, results)",
):
    """Permutes the axes of a tensor. C1: the permutation names each axis once."""

    operand: Value = operand(AnyQuantizedToo)
    permutation: tuple[int, ...] = attribute(axes)
    result_: Value = result(AnyQuantizedToo)

    def infer_results(self) -> tuple[Type, ...] | None:
        shape = stated_shape(self.operand)
        if shape is None or sorted(self.permutation) != list(range(len(shape))) or is_quantized(element(self.operand)):
            return None
        return (like(self.operand.type, tuple([shape[n] for n in self.permutation])),)

    def verify(self) -> Iterator[Diagnostic]:
        if sorted(self.permutation) != list(range(rank_of(self.operand))):
            message = f"C1: attribute permutation must be a permutation of [{rank_of(self.operand)} axes]"
            yield self.violated(f"{message} but got {list(self.permutation)}")
        else:
            yield from map(self.violated, transposed_faults(self.operand, self.result_, self.permutation))

    def reference(self, operand: Value) -> Value:
        return transposed(operand, self.permutation)


class Reverse(HloOp, name="stablehlo.reverse", traits=(traits.Pure, CompatibleTypes)):
    """Reverses the order of the elements along some axes. C1: the dimensions are different axes of the operand."""

    custom_form: ClassVar[CustomForm | None] = forms.WordsForm(forms.numbers("dims", "dimensions"), types=forms.SAME)

    operand: Value = operand(AnyHlo)
    dimensions: tuple[int, ...] = attribute(axes, check=distinct)
    result_: Value = result(AnyHlo)

    def verify(self) -> Iterator[Diagnostic]:
        for d in self.dimensions:
            if not 0 <= d < rank_of(self.operand):
                message = f"C1: all dimensions should be between 0 and {rank_of(self.operand)}"
                yield self.violated(f"{message}, got {d}")

    def reference(self, operand: Value) -> Value:
        return core.reverse(operand, self.dimensions) if self.dimensions else operand


class Concatenate(HloOp, name="stablehlo.concatenate", traits=(traits.Pure, SameOperandsAndResultElementType)):
    """Concatenates tensors along an axis. C1: there is at least one operand. C2: the dimension is an axis of the
    operands. C3: the sizes along the other axes are equal.
    """

    custom_form: ClassVar[CustomForm | None] = forms.WordsForm(forms.number("dim", "dimension"))

    inputs: tuple[Value, ...] = operand(AnyHlo, variadic=True)
    dimension: int = attribute(axis, check=non_negative)
    result_: Value = result(AnyHlo)

    def infer_results(self) -> tuple[Type, ...] | None:
        shapes = [s for v in self.inputs if (s := stated_shape(v)) is not None]
        if not shapes or any(len(s) != len(shapes[0]) or self.dimension >= len(s) for s in shapes):
            return None
        out: list[Dim | None] = []
        for n, sizes in enumerate(zip(*shapes, strict=True)):
            numbers = [d for d in sizes if isinstance(d, int)]
            if n != self.dimension:
                out.append(numbers[0] if numbers else None)
            else:
                out.append(sum(numbers) if len(numbers) == len(sizes) else None)
        return (like(self.inputs[0].type, tuple(out)),)

    def verify(self) -> Iterator[Diagnostic]:
        if not self.inputs:
            yield self.violated("C1: expects at least one operand")
            return
        shapes = [shape_of(v) for v in self.inputs]
        first = shapes[0]
        if self.dimension >= len(first):
            yield self.violated(f"C2: dimension {self.dimension} is out-of-bounds for input rank {len(first)}")
            return
        for n, shape in enumerate(shapes[1:], 1):
            if len(shape) != len(first):
                yield self.violated(f"C3: operands (0) and ({n}) do not match rank")
                continue
            for d, (a, b) in enumerate(zip(first, shape, strict=True)):
                if d != self.dimension and isinstance(a, int) and isinstance(b, int) and a != b:
                    message = f"C3: shapes of operand (0) and ({n}) do not match at non-concat index"
                    yield self.violated(f"{message}: {d}")

    def reference(self, inputs: tuple[Value, ...]) -> Value:
        first, *rest = inputs
        return core.concat(inputs, self.dimension) if rest else first


# -- parts


class Slice(HloOp, name="stablehlo.slice", traits=(traits.Pure, SameOperandsAndResultElementType)):
    """Extracts a strided slice between static bounds. C1: start indices, limits and strides have one entry for each
    axis. C2: 0 <= start <= limit <= size for each axis, and strides are positive.
    """

    custom_form: ClassVar[CustomForm | None] = forms.SliceForm()

    operand: Value = operand(AnyHlo)
    start_indices: tuple[int, ...] = attribute(axes)
    limit_indices: tuple[int, ...] = attribute(axes)
    strides: tuple[int, ...] = attribute(axes)
    result_: Value = result(AnyHlo)

    def infer_results(self) -> tuple[Type, ...] | None:
        ranges = (self.start_indices, self.limit_indices, self.strides)
        if {len(r) for r in ranges} != {rank_of(self.operand)} or any(s < 1 for s in self.strides):
            return None
        return (like(self.operand.type, tuple([-((a - b) // s) for a, b, s in zip(*ranges, strict=True)])),)

    def verify(self) -> Iterator[Diagnostic]:
        shape = shape_of(self.operand)
        ranges = (self.start_indices, self.limit_indices, self.strides)
        if {len(r) for r in ranges} != {len(shape)}:
            yield self.violated(
                f"C1: the number of elements in start_indices ({len(ranges[0])}) does not match the rank"
            )
            return
        for n, (start, limit, stride) in enumerate(zip(*ranges, strict=True)):
            size = shape[n]
            if start < 0:
                yield self.violated(f"C2: negative start index {start} in dimension {n}")
            elif isinstance(size, int) and limit > size:
                yield self.violated(f"C2: limit index {limit} is larger than dimension size {size} in dimension {n}")
            elif start > limit:
                yield self.violated(f"C2: start index {start} is larger than limit index {limit} in dimension {n}")
            if stride <= 0:
                yield self.violated(f"C2: stride must be positive but got {stride} in dimension {n}")

    def reference(self, operand: Value) -> Value:
        if not self.start_indices:
            return operand
        return core.slice(operand, self.start_indices, self.limit_indices, self.strides)


class RealDynamicSlice(
    HloOp,
    name="stablehlo.real_dynamic_slice",
    traits=(
        traits.Pure,
        all_element_types_match("operand_", "result_"),
        all_types_match("start_indices", "limit_indices", "strides"),
    ),
    assembly=FUNCTIONAL,
):
    """Extracts a strided slice between computed bounds."""

    operand_: Value = operand(AnyHlo)
    start_indices: Value = operand(Positions, by_value=True)
    limit_indices: Value = operand(Positions, by_value=True)
    strides: Value = operand(Positions, by_value=True)
    result_: Value = result(AnyHlo)

    def reference(self, operand: Value, start_indices: Value, limit_indices: Value, strides: Value) -> Value:
        steps = numbers_in(strides)
        starts, limits = known_dims(start_indices), known_dims(limit_indices)
        if starts is not None and limits is not None:
            return core.slice(operand, starts, limits, steps)
        return core.dynamic_slice(operand, _wide(start_indices), _wide(limit_indices), steps)


def _wide(x: Value) -> Value:
    return number_as(x, i64)


class DynamicSlice(
    HloOp, name="stablehlo.dynamic_slice", traits=(traits.Pure, all_element_types_match("operand_", "result_"))
):
    """Extracts a slice of a static size at computed start indices, which are clamped to the operand. C1: there is a
    start index for each axis. C2: slice sizes are at most the sizes of the operand.
    """

    custom_form: ClassVar[CustomForm | None] = forms.WordsForm(forms.numbers("sizes", "slice_sizes"))

    operand_: Value = operand(AnyHlo)
    start_indices: tuple[Value, ...] = operand(ScalarInteger, variadic=True)
    slice_sizes: tuple[int, ...] = attribute(axes, check=non_negative)
    result_: Value = result(AnyHlo)

    def infer_results(self) -> tuple[Type, ...] | None:
        return (like(self.operand_.type, self.slice_sizes),)

    def verify(self) -> Iterator[Diagnostic]:
        shape = shape_of(self.operand_)
        if not len(self.start_indices) == len(self.slice_sizes) == len(shape):
            message = f"C1: has mismatched number of slice sizes ({len(self.slice_sizes)}) and number of start indices"
            yield self.violated(f"{message} ({len(self.start_indices)})")
            return
        yield from _check_starts(self, self.start_indices)
        for n, (size, whole) in enumerate(zip(self.slice_sizes, shape, strict=True)):
            if isinstance(whole, int) and size > whole:
                yield self.violated(f"C2: slice size {size} is greater than dimension size {whole} in dimension {n}")

    def reference(self, operand: Value, start_indices: tuple[Value, ...]) -> Value:
        if not start_indices:
            return operand
        starts = clamped_starts(start_indices, known_dims_of(operand), self.slice_sizes)
        known = known_dims(starts)
        sizes = self.slice_sizes
        if known is not None:
            return core.slice(
                operand, known, tuple([a + n for a, n in zip(known, sizes, strict=True)]), (1,) * len(sizes)
            )
        stops = core.add(starts, core.vector(sizes, i64))
        found = core.dynamic_slice(operand, starts, stops, (1,) * len(sizes))
        return core.reshape(found, sizes)


def _check_starts(op: HloOp, starts: Sequence[Value]) -> Iterator[Diagnostic]:
    if len({element(v) for v in starts}) > 1:
        yield op.violated("C1: start indices must have same element type")


def clamped_starts(starts: Sequence[Value], sizes: Sequence[Dim], parts: Sequence[Dim]) -> Value:
    """Positions as a vector, moved so that parts of some sizes that begin there lie inside of a tensor."""
    rows: list[Value] = []
    for start, size, part in zip(starts, sizes, parts, strict=True):
        at = number_as(start, i64)
        last = size - part
        number = known_scalar(start)
        if isinstance(last, int) and number is not None:
            rows.append(core.vector((min(max(int(number), 0), last),), i64))
            continue
        low = core.maximum(at, core.scalar(0, i64))
        rows.append(core.reshape(core.minimum(low, core.dims((last,), i64, True)), (1,)))
    return rows[0] if len(rows) == 1 else core.concat(tuple(rows), 0)


class DynamicUpdateSlice(
    HloOp,
    name="stablehlo.dynamic_update_slice",
    traits=(traits.Pure, all_element_types_match("operand_", "update", "result_")),
    assembly=FUNCTIONAL,
):
    """Updates a slice at computed start indices, which are clamped to the operand. C1: there is a start index for each
    axis, and the update has the rank of the operand. C2: the sizes of the update are at most those of the operand.
    """

    operand_: Value = operand(AnyHlo)
    update: Value = operand(AnyHlo)
    start_indices: tuple[Value, ...] = operand(ScalarInteger, variadic=True)
    result_: Value = result(AnyHlo)

    def infer_results(self) -> tuple[Type, ...] | None:
        return (self.operand_.type,)

    def verify(self) -> Iterator[Diagnostic]:
        whole, part = shape_of(self.operand_), shape_of(self.update)
        if not len(whole) == len(part) == len(self.start_indices):
            yield self.violated(f"C1: update rank does not match operand rank: {len(part)} vs {len(whole)}")
            return
        yield from _check_starts(self, self.start_indices)
        for n, (a, b) in enumerate(zip(part, whole, strict=True)):
            if isinstance(a, int) and isinstance(b, int) and a > b:
                yield self.violated(f"C2: expects size at dimension {n} of update to be in range [0, {b}]. Got: {a}")

    def reference(self, operand: Value, update: Value, start_indices: tuple[Value, ...]) -> Value:
        whole, part = known_dims_of(operand), known_dims_of(update)
        if whole == part:
            return update
        starts = clamped_starts(start_indices, whole, part)
        moved = [n for n in range(len(whole)) if whole[n] != part[n]]
        if len(moved) == 1:
            return _updated_along(operand, update, starts, moved[0])
        # Positions of all elements of the update, each a row.
        rows: list[Value] = []
        for n in range(len(whole)):
            start = core.slice(starts, (n,), (n + 1,), (1,))
            along = core.add(core.iota((part[n],)), start)
            shape = [1] * len(whole)
            placed = core.reshape(along, (*shape[:n], part[n], *shape[n + 1 :], 1))
            rows.append(core.broadcast_to(placed, (*part, 1)))
        positions = core.concat(tuple(rows), len(whole)) if len(rows) > 1 else rows[0]
        return core.scatter_nd(operand, positions, update)


def _updated_along(operand: Value, update: Value, starts: Value, axis: int) -> Value:
    """A tensor with elements replaced from a position on along one axis; the others are all replaced there."""
    size, rank = known_dims_of(update)[axis], len(known_dims_of(update))
    start = core.slice(starts, (axis,), (axis + 1,), (1,))
    positions = core.unsqueeze(core.add(core.iota((size,)), start), (1,))
    order = [axis, *[n for n in range(rank) if n != axis]]
    result = core.scatter_nd(transposed(operand, order), positions, transposed(update, order))
    return transposed(result, [order.index(n) for n in range(rank)])


# -- padding


def padded(x: Value, value: Value, low: Sequence[Dim], high: Sequence[Dim], interior: Sequence[int]) -> Value:
    """A tensor with elements added around and between its own; negative numbers take some away.

    Raises: NotKnownError for a symbolic number that may be negative.
    """
    rank = len(low)
    for n in range(rank):
        if interior[n]:
            x = _spread(x, value, n, interior[n])
    before, after = [_added(n) for n in low], [_added(n) for n in high]
    number = known_scalar(value)
    numbers = [[n for n in side if isinstance(n, int)] for side in (before, after)]
    is_fixed = [len(n) for n in numbers] == [rank, rank]
    if any(n != 0 for n in (*before, *after)):
        is_plain = kind_of(x) is not boolean and not is_complex(kind_of(x))
        if is_fixed and number is not None and is_plain and abs(number) < 2**53:
            x = core.pad(x, tuple(numbers[0]), tuple(numbers[1]), core.PadMode.CONSTANT, float(number))
        else:
            x = _surrounded(x, value, before, after)
    if any(isinstance(n, int) and n < 0 for n in (*low, *high)):
        sizes = known_dims_of(x)
        starts = tuple([_removed(n) for n in low])
        stops = tuple([size - _removed(n) for size, n in zip(sizes, high, strict=True)])
        x = core.slice(x, starts, stops, (1,) * rank)
    return x


def _added(n: Dim) -> Dim:
    if isinstance(n, int):
        return max(n, 0)
    if not at_least(n, 0):
        raise NotKnownError("whether a computed number of elements is added or taken away is not known before running")
    return n


def _removed(n: Dim) -> int:
    return max(-n, 0) if isinstance(n, int) else 0


def _surrounded(x: Value, value: Value, before: Sequence[Dim], after: Sequence[Dim]) -> Value:
    for n in range(len(before)):
        sizes = known_dims_of(x)
        pieces = [filled(value, (*sizes[:n], count, *sizes[n + 1 :])) for count in (before[n], after[n])]
        parts = [pieces[0]] * (before[n] != 0) + [x] + [pieces[1]] * (after[n] != 0)
        x = core.concat(tuple(parts), n) if len(parts) > 1 else x
    return x


def _spread(x: Value, value: Value, axis: int, count: int) -> Value:
    """A tensor with some elements put between its own along an axis."""
    sizes = known_dims_of(x)
    size = sizes[axis]
    if size == 0:
        return x
    wide = core.unsqueeze(x, (axis + 1,))
    fill = filled(value, (*sizes[: axis + 1], count, *sizes[axis + 1 :]))
    together = core.concat((wide, fill), axis + 1)
    flat = core.reshape(together, (*sizes[:axis], size * (count + 1), *sizes[axis + 1 :]))
    stops = [size * (count + 1) - count if n == axis else d for n, d in enumerate(sizes)]
    return core.slice(flat, (0,) * len(sizes), tuple(stops), (1,) * len(sizes))


class Pad(
    HloOp,
    name="stablehlo.pad",
    traits=(traits.Pure, SameOperandsAndResultElementType),
    assembly=(
        "$operand `,` $padding_value `,` `low` `=` $edge_padding_low `,` `high` `=` $edge_padding_high `,` "
        "`interior` `=` $interior_padding attr-dict `:` functional-type(operands, results)"
    ),
):
    """Pads a tensor at its edges and between its elements; negative padding removes elements. C1: the amounts have one
    entry for each axis. C2: interior padding is not negative. C3: no size of the result is negative.
    """

    operand_: Value = operand(AnyHlo)
    padding_value: Value = operand(Scalar)
    edge_padding_low: tuple[int, ...] = attribute(axes)
    edge_padding_high: tuple[int, ...] = attribute(axes)
    interior_padding: tuple[int, ...] = attribute(axes, check=non_negative)
    result_: Value = result(AnyHlo)

    def infer_results(self) -> tuple[Type, ...] | None:
        shape = stated_shape(self.operand_)
        ranges = (self.edge_padding_low, self.edge_padding_high, self.interior_padding)
        if shape is None or {len(r) for r in ranges} != {len(shape)}:
            return None
        sizes = [
            None if not isinstance(d, int) else d + lo + hi + max(d - 1, 0) * between
            for d, lo, hi, between in zip(shape, *ranges, strict=True)
        ]
        return (like(self.operand_.type, tuple(sizes)),)

    def verify(self) -> Iterator[Diagnostic]:
        rank = rank_of(self.operand_)
        if len(self.edge_padding_low) != rank:
            message = f"C1: edge_padding_low length ({len(self.edge_padding_low)}) must match operand rank ({rank})"
            yield self.violated(message)
            return
        result = self.infer_results()
        shape = stated_shape(self.operand_) if result is None else getattr(result[0], "shape", ())
        for n, d in enumerate(shape or ()):
            if isinstance(d, int) and d < 0:
                yield self.violated(f"C3: padding result in negative size for dimension {n}")

    def reference(self, operand: Value, padding_value: Value) -> Value:
        return padded(operand, padding_value, self.edge_padding_low, self.edge_padding_high, self.interior_padding)


class DynamicPad(
    HloOp,
    name="stablehlo.dynamic_pad",
    traits=(
        traits.Pure,
        all_element_types_match("operand_", "padding_value", "result_"),
        all_types_match("edge_padding_low", "edge_padding_high", "interior_padding"),
    ),
    assembly=FUNCTIONAL,
):
    """Pads a tensor by computed amounts at its edges and between its elements. C1: the amounts have one entry for each
    axis. C2: interior padding is not negative.
    """

    operand_: Value = operand(AnyHlo)
    padding_value: Value = operand(Scalar)
    edge_padding_low: Value = operand(Sizes, by_value=True)
    edge_padding_high: Value = operand(Sizes, by_value=True)
    interior_padding: Value = operand(Sizes, by_value=True)
    result_: Value = result(AnyHlo)

    def verify(self) -> Iterator[Diagnostic]:
        yield from _check_count(self, self.edge_padding_low, self.operand_, "C1: operand should have a rank equal to")
        low, high = numbers_given(self.edge_padding_low), numbers_given(self.edge_padding_high)
        between, shape = numbers_given(self.interior_padding), shape_of(self.operand_)
        for n in between or ():
            if n < 0:
                yield self.violated(f"C2: interior_padding must be non-negative, but got {n}")
        if low is None or high is None or between is None or not len(low) == len(shape) == len(between):
            return
        if all(n >= 0 for n in between):
            pads = zip(shape, low, high, between, strict=True)
            sizes = [d + a + b + max(d - 1, 0) * m if isinstance(d, int) else None for d, a, b, m in pads]
            yield from self.check_result(tuple(sizes))

    def reference(self, operand: Value, padding_value: Value, *paddings: Value) -> Value:
        value, between = known_scalar(padding_value), known_dims(paddings[2])
        if (
            between is not None
            and not any(between)
            and value is not None
            and any(known_dims(v) is None for v in paddings)
        ):
            before, after = [number_as(v, i64) for v in paddings[:2]]
            return core.dynamic_pad(operand, before, after, core.PadMode.CONSTANT, float(value))
        low, high, interior = [numbers_in(v) for v in paddings]
        return padded(operand, padding_value, low, high, interior)


# -- sizes


class GetDimensionSize(
    HloOp,
    name="stablehlo.get_dimension_size",
    traits=(traits.Pure,),
    assembly="$operand `,` `dim` `=` $dimension attr-dict `:` functional-type(operands, results)",
):
    """The dim of the operand along an axis. C1: the dimension is an axis of the operand."""

    operand: Value = operand(AnyQuantizedToo)
    dimension: int = attribute(axis, check=non_negative)
    result_: Value = result(I32Tensor)

    def infer_results(self) -> tuple[Type, ...] | None:
        return (TensorType(i32, ()),)

    def verify(self) -> Iterator[Diagnostic]:
        if self.dimension >= rank_of(self.operand):
            yield self.violated(f"C1: requires dimension attribute in range [0, {rank_of(self.operand)})")

    def reference(self, operand: Value) -> Value:
        return core.dim(operand, self.dimension, i32)


class SetDimensionSize(
    HloOp,
    name="stablehlo.set_dimension_size",
    traits=(traits.Pure,),
    assembly="$operand `,` $size `,` `dim` `=` $dimension attr-dict `:` functional-type(operands, results)",
):
    """Sets the dim along an axis to a computed number: keeps the first elements. C1: the dimension is an axis of the
    operand.
    """

    operand_: Value = operand(AnyHlo)
    size: Value = operand(I32Tensor, by_value=True)
    dimension: int = attribute(axis, check=non_negative)
    result_: Value = result(AnyHlo)

    def verify(self) -> Iterator[Diagnostic]:
        if self.dimension >= rank_of(self.operand_):
            yield self.violated(f"C1: requires dimension attribute in range [0, {rank_of(self.operand_)})")
        if rank_of(self.size):
            yield self.violated(f"C1: size operand should be of rank-0, got {self.size.type}")

    def reference(self, operand: Value, size: Value) -> Value:
        known = known_dims(size)
        if known is None:
            raise NotKnownError("the size of an axis is not known before running")
        sizes = known_dims_of(operand)
        stops = tuple([known[0] if n == self.dimension else d for n, d in enumerate(sizes)])
        return core.slice(operand, (0,) * len(sizes), stops, (1,) * len(sizes))
