"""Operations of the tosa dialect that move elements.

Source: MLIR tosa dialect; TOSA specification 1.0, data layout and scatter/gather operators.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Self

from commonir.base.diagnostics import Diagnostic
from commonir.dialects.lazy_core import core
from commonir.dialects.mlir.tosa.base import (
    AnyShape,
    AnyTosaTensor,
    AtLeast1D,
    IndexTensor2D,
    ScalarNumber,
    Tensor3D,
    TosaOp,
    axis,
    element,
    integers_in,
    known_integers,
    known_number,
    numbers_in,
    permutation,
    shape_rank,
    stated_shape,
    tensor_like,
)
from commonir.dialects.mlir.tosa.reduction import check_axis
from commonir.ir.attributes import DataAttr
from commonir.ir.core_types import core_data
from commonir.ir.data import Data
from commonir.ir.operation import Value
from commonir.ir.types import Shape, Type, i64
from commonir.ods import attr_types, attribute, operand, result, traits
from commonir.ods.mlir_op import FromData, attribute_from_data
from commonir.ods.operand_shapes import known_dims_of
from commonir.ods.type_rules import all_element_types_match
from commonir.symbolic.errors import NotKnownError


def same_sizes(a: Shape | None, b: Shape | None) -> bool:
    """Returns whether two shapes may be equal."""
    return (
        a is None
        or b is None
        or (
            len(a) == len(b)
            and all(x == y or not isinstance(x, int) or not isinstance(y, int) for x, y in zip(a, b, strict=True))
        )
    )


class Const(TosaOp, FromData, name="tosa.const", traits=(traits.ConstantLike,)):
    """A compile-time constant tensor. It has the generic form only. C1: the result has the shape of the tensor."""

    assembly = ""

    attr_types_suffice = True

    values: Data = attribute(attr_types.data)
    output: Value = result(AnyTosaTensor)

    @classmethod
    def from_data(cls, data: Data, type: Type) -> Self | None:
        attribute = attribute_from_data(data, type)
        return cls.build({"values": attribute.data}, (type,)) if isinstance(attribute, DataAttr) else None

    def infer_results(self) -> tuple[Type, ...] | None:
        return (self.values.type,)

    def verify(self) -> Iterator[Diagnostic]:
        if stated_shape(self.output) != self.values.type.shape:
            yield self.violated(f"C1: values of {self.values.type} have not the shape of {self.output.type}")

    def constant_data(self) -> Data | None:
        return core_data(self.values)

    def reference(self) -> Value:
        return core.constant(core_data(self.values))


class Concat(TosaOp, name="tosa.concat"):
    """Concatenates tensors along an axis. C1: the axis is one of the operands'. C2: sizes along the other axes are
    equal.
    """

    input1: tuple[Value, ...] = operand(AtLeast1D, variadic=True)
    axis: int = attribute(axis)
    output: Value = result(AtLeast1D)

    def infer_results(self) -> tuple[Type, ...] | None:
        shapes = [stated_shape(v) for v in self.operands]
        known = [s for s in shapes if s is not None]
        if not known or len(known) < len(shapes) or any(not 0 <= self.axis < len(s) for s in known):
            return None
        sizes = [s[self.axis] for s in known]
        numbers = [d for d in sizes if isinstance(d, int)]
        whole = sum(numbers) if len(numbers) == len(sizes) else None
        if any(len(s) != len(known[0]) for s in known):
            return None
        shape = [next((d for d in dims if isinstance(d, int)), dims[0]) for dims in zip(*known, strict=True)]
        shape[self.axis] = whole
        return (tensor_like(element(self.operands[0]), tuple(shape)),)

    def verify(self) -> Iterator[Diagnostic]:
        if not self.input1:
            yield self.violated("expect at least one operand")
            return
        first = stated_shape(self.input1[0])
        for v in self.input1:
            if element(v) is not element(self.output):
                yield self.violated(f"expect one element type, found {element(v)} and {element(self.output)}")
            yield from check_axis(self, self.axis, stated_shape(v))
            if not self._fits(first, stated_shape(v)):
                message = f"C2: expect all operand shapes to match but for axis {self.axis}, found {v.type}"
                yield self.violated(message)

    def _fits(self, a: Shape | None, b: Shape | None) -> bool:
        if a is None or b is None or len(a) != len(b):
            return a is None or b is None
        rest = [n for n in range(len(a)) if n != self.axis]
        return same_sizes(tuple([a[n] for n in rest]), tuple([b[n] for n in rest]))

    def reference(self, input1: tuple[Value, ...]) -> Value:
        return core.concat(input1, self.axis)


class Pad(TosaOp, name="tosa.pad"):
    """Pads a tensor with a constant by amounts before and after each axis."""

    input1: Value = operand(AtLeast1D)
    padding: Value = operand(AnyShape)
    pad_const: Value = operand(ScalarNumber)
    output: Value = result(AtLeast1D)

    def verify(self) -> Iterator[Diagnostic]:
        shape, count = stated_shape(self.input1), shape_rank(self.padding.type)
        if element(self.input1) is not element(self.output):
            yield self.violated("expect input and output to have the same element type")
        if element(self.pad_const) is not element(self.input1):
            message = f"expect pad_const to be of the element type {element(self.input1)}"
            yield self.violated(f"{message}, found {element(self.pad_const)}")
        if shape is None or count is None:
            return
        if count != 2 * len(shape):
            yield self.violated(f"expected padding tensor dim 0 to have size {2 * len(shape)}, got {count}")
            return
        found, sizes = stated_shape(self.output), known_integers(self.padding)
        if found is not None and len(found) != len(shape):
            yield self.violated(f"expect same input and output tensor rank, found {len(shape)} and {len(found)}")
        elif found is not None and sizes is not None:
            whole = [d + sizes[2 * n] + sizes[2 * n + 1] if isinstance(d, int) else None for n, d in enumerate(shape)]
            if not same_sizes(tuple(whole), found):
                yield self.violated(f"mismatch in output shape: the padded input has sizes {whole}")

    def reference(self, input1: Value, padding: Value, pad_const: Value) -> Value:
        sizes, value = integers_in(padding), known_number(pad_const)
        if value is None:
            raise NotKnownError("what a tensor is padded with is not known before running")
        return core.pad(input1, sizes[::2], sizes[1::2], core.PadMode.CONSTANT, float(value))


class Reshape(TosaOp, name="tosa.reshape"):
    """Reshapes a tensor, in row-major order. C1: the shape has as many elements as the operand."""

    input1: Value = operand(AnyTosaTensor)
    shape: Value = operand(AnyShape)
    output: Value = result(AnyTosaTensor)

    def verify(self) -> Iterator[Diagnostic]:
        if element(self.input1) is not element(self.output):
            yield self.violated("requires one element type for input and output")
        found, sizes = stated_shape(self.output), known_integers(self.shape)
        rank = shape_rank(self.shape.type)
        if found is not None and rank is not None and len(found) != rank:
            yield self.violated(f"new shape has {rank} sizes, but the result has rank {len(found)}")
        elif sizes is not None and not same_sizes(tuple([None if d == -1 else d for d in sizes]), found):
            yield self.violated(f"new shape {list(sizes)} does not match {self.output.type}")
        before, after = _count(stated_shape(self.input1)), _count(found)
        if after is None and sizes is not None and -1 not in sizes:
            after = _count(tuple(sizes))
        if before is not None and after is not None and before != after:
            yield self.violated(f"C1: cannot reshape {before} elements into {after}")

    def reference(self, input1: Value, shape: Value) -> Value:
        return core.reshape(input1, numbers_in(shape))


def _count(shape: Shape | None) -> int | None:
    out = 1
    for d in shape or ():
        if not isinstance(d, int):
            return None
        out *= d
    return None if shape is None else out


class Reverse(TosaOp, name="tosa.reverse"):
    """Reverses the order of the elements along an axis. C1: the axis is one of the operand's."""

    input1: Value = operand(AtLeast1D)
    axis: int = attribute(axis)
    output: Value = result(AtLeast1D)

    def infer_results(self) -> tuple[Type, ...] | None:
        return (self.input1.type,)

    def verify(self) -> Iterator[Diagnostic]:
        yield from check_axis(self, self.axis, stated_shape(self.input1))

    def reference(self, input1: Value) -> Value:
        return core.reverse(input1, (self.axis,))


class Slice(TosaOp, name="tosa.slice"):
    """Extracts a slice from a start index and a size for each axis."""

    input1: Value = operand(AtLeast1D)
    start: Value = operand(AnyShape)
    size: Value = operand(AnyShape)
    output: Value = result(AtLeast1D)

    def verify(self) -> Iterator[Diagnostic]:
        if element(self.input1) is not element(self.output):
            yield self.violated("requires one element type for input and output")
        shape = stated_shape(self.input1)
        if shape is None:
            return
        for what, value in (("start", self.start), ("size", self.size)):
            if shape_rank(value.type) != len(shape):
                yield self.violated(f"length of {what} is not equal to rank of input shape")
                return
        starts, sizes = known_integers(self.start), known_integers(self.size)
        if sizes is not None and not same_sizes(
            tuple([None if d == -1 else d for d in sizes]), stated_shape(self.output)
        ):
            yield self.violated(f"sizes {list(sizes)} do not match {self.output.type}")
        if starts is None or sizes is None:
            return
        for n, (first, length, d) in enumerate(zip(starts, sizes, shape, strict=True)):
            if first < 0 or (isinstance(d, int) and length > 0 and first + length > d):
                yield self.violated(f"start {first} and size {length} lie outside of axis {n} of size {d}")

    def reference(self, input1: Value, start: Value, size: Value) -> Value:
        starts, sizes = numbers_in(start), numbers_in(size)
        stops = [d if s == -1 else first + s for first, s, d in zip(starts, sizes, known_dims_of(input1), strict=True)]
        return core.slice(input1, starts, tuple(stops), (1,) * len(starts))


class Tile(TosaOp, name="tosa.tile"):
    """Repeats a tensor along each axis."""

    input1: Value = operand(AtLeast1D)
    multiples: Value = operand(AnyShape)
    output: Value = result(AtLeast1D)

    def verify(self) -> Iterator[Diagnostic]:
        if element(self.input1) is not element(self.output):
            yield self.violated("requires one element type for input and output")
        shape, found = stated_shape(self.input1), stated_shape(self.output)
        rank, times = shape_rank(self.multiples.type), known_integers(self.multiples)
        declared = shape if shape is not None else found
        if declared is not None and rank is not None and rank != len(declared):
            yield self.violated(f"expect 'multiples' to have rank {len(declared)} but got {rank}")
        elif shape is not None and times is not None:
            whole = [d * t if isinstance(d, int) and t > 0 else None for d, t in zip(shape, times, strict=True)]
            if any(t == 0 or t < -1 for t in times):
                yield self.violated(f"expect element of 'multiples' to be positive or -1, found {list(times)}")
            elif not same_sizes(tuple(whole), found):
                yield self.violated(f"the repeated input has sizes {whole}, not those of {self.output.type}")

    def reference(self, input1: Value, multiples: Value) -> Value:
        return core.tile(input1, integers_in(multiples))


class Transpose(TosaOp, name="tosa.transpose", traits=(all_element_types_match("input1", "output"),)):
    """Permutes the axes: axis n of the result is axis perms[n] of the operand. C1: the permutation names each axis
    once.
    """

    input1: Value = operand(AtLeast1D)
    perms: tuple[int, ...] = attribute(permutation)
    output: Value = result(AtLeast1D)

    def infer_results(self) -> tuple[Type, ...] | None:
        shape = stated_shape(self.input1)
        if shape is None or sorted(self.perms) != list(range(len(shape))):
            return None
        return (tensor_like(element(self.input1), tuple([shape[n] for n in self.perms])),)

    def verify(self) -> Iterator[Diagnostic]:
        shape, what = stated_shape(self.input1), "input"
        if shape is None:
            shape, what = stated_shape(self.output), "output"
        if shape is not None and len(shape) != len(self.perms):
            message = f"expected perms attribute to have size {len(shape)} ({what} rank) but got size {len(self.perms)}"
            yield self.violated(message)
        elif sorted(self.perms) != list(range(len(self.perms))):
            yield self.violated(f"C1: expected valid permutation indices, found {list(self.perms)}")

    def reference(self, input1: Value) -> Value:
        return core.transpose(input1, self.perms)


class Gather(TosaOp, name="tosa.gather"):
    """Gathers rows of each batch at indices."""

    values: Value = operand(Tensor3D)
    indices: Value = operand(IndexTensor2D)
    output: Value = result(Tensor3D)

    def infer_results(self) -> tuple[Type, ...] | None:
        values, indices = stated_shape(self.values), stated_shape(self.indices)
        shape = (
            None if values is None else values[0],
            None if indices is None else indices[1],
            None if values is None else values[2],
        )
        return (tensor_like(element(self.values), shape),)

    def verify(self) -> Iterator[Diagnostic]:
        if element(self.values) is not element(self.output):
            yield self.violated("requires one element type for values and output")
        yield from _check_batch(self, [self.values, self.indices, self.output], 0)

    def reference(self, values: Value, indices: Value) -> Value:
        return core.gather_nd(values, core.unsqueeze(indices, (2,)), 1)


def _check_batch(op: TosaOp, values: Sequence[Value], at: int) -> Iterator[Diagnostic]:
    sizes = {s[at] for v in values if (s := stated_shape(v)) is not None and isinstance(s[at], int)}
    if len(sizes) > 1:
        yield op.violated(f"requires one size of axis {at}, found {sorted(map(str, sizes))}")


class Scatter(TosaOp, name="tosa.scatter"):
    """Scatters rows into a copy of each batch at indices, each of which occurs at most once."""

    values_in: Value = operand(Tensor3D)
    indices: Value = operand(IndexTensor2D)
    input: Value = operand(Tensor3D)
    values_out: Value = result(Tensor3D)

    def infer_results(self) -> tuple[Type, ...] | None:
        return (self.values_in.type,)

    def verify(self) -> Iterator[Diagnostic]:
        for v in (self.input, self.values_out):
            if element(v) is not element(self.values_in):
                yield self.violated("requires one element type for values_in, input and values_out")
        yield from _check_batch(self, [self.values_in, self.indices, self.input, self.values_out], 0)

    def reference(self, values_in: Value, indices: Value, input: Value) -> Value:
        positions = core.cast(core.unsqueeze(indices, (2,)), i64)
        batch = core.iota(known_dims_of(positions), 0, i64)
        return core.scatter_nd(values_in, core.concat((batch, positions), 2), input)
