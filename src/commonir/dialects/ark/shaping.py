"""Operations of ARK that reduce, reorder and look up elements.

Source: ARK model files, operations and numerics.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from commonir.base.diagnostics import Diagnostic
from commonir.dialects import core
from commonir.dialects.ark.base import BOOL, DIMS, INT, MAX_RANK, AnyTensor, ArkOp, dims_of, element_of, stored, widened
from commonir.ir.operation import Value
from commonir.ir.types import i32
from commonir.ods import attribute, operand, result

_MATRIX = 2


class _Reduce(ArkOp):
    """Reduces an axis, which is kept with size 1 or removed. The axis of a vector is always kept.

    C1: both tensors have the same data type. C2: the axis is in range. C3: the output has the reduced shape. C4: input
    and output are different tensors.
    """

    keeps_value: ClassVar[bool] = False

    input: Value = operand(AnyTensor)
    output: Value = operand(AnyTensor)
    Axis: int = attribute(INT, doc="the axis, from 0")
    KeepDim: bool = attribute(BOOL, doc="whether the axis is kept with size 1")
    result_: Value = result(AnyTensor)

    @property
    def written_shape(self) -> tuple[int, ...] | None:
        shape = dims_of(self.input)
        if not 0 <= self.Axis < len(shape):
            return None
        kept = (1,) if self.KeepDim else ()
        return (*shape[: self.Axis], *kept, *shape[self.Axis + 1 :]) or (1,)

    def broken_rules(self) -> Iterator[Diagnostic]:
        if element_of(self.input) is not element_of(self.output):
            result = f"{element_of(self.input)} and {element_of(self.output)}"
            yield self.broken("C1", f"tensors must have one data type, found {result}")
        expected = self.written_shape
        if expected is None:
            last = len(dims_of(self.input)) - 1
            yield self.broken("C2", f"'Axis' must be between 0 and {last}, found {self.Axis}")
            return
        if dims_of(self.output) != expected:
            yield self.broken("C3", f"expected to write {list(expected)}, found {list(dims_of(self.output))}")
        # Asking for owners makes the verifier check each operation on its own operands.
        if self.input.owner is self.output.owner and self.input is self.output:
            yield self.broken("C4", "a tensor cannot be reduced in its place")

    def reference(self, input: Value, output: Value) -> Value:
        return stored(core.reshape(self.reduced(widened(input)), dims_of(output)), output)

    def reduced(self, x: Value) -> Value:
        """Returns the reduction of each line, with the axis kept."""
        raise NotImplementedError


class ReduceSum(_Reduce, name="ark.ReduceSum"):
    """Reduces an axis to its sum; half precision accumulates in single precision."""

    def reduced(self, x: Value) -> Value:
        return core.reduce_sum(x, (self.Axis,), True)


class ReduceMax(_Reduce, name="ark.ReduceMax"):
    """Reduces an axis to its maximum; NaN counts as minus infinity."""

    def reduced(self, x: Value) -> Value:
        if element_of(x).is_float:
            x = core.select(core.is_nan(x), core.splat(float("-inf"), x), x)
        return core.reduce_max(x, (self.Axis,), True)


class ReduceMean(_Reduce, name="ark.ReduceMean"):
    """Reduces an axis to its mean."""

    def reduced(self, x: Value) -> Value:
        return core.div(core.reduce_sum(x, (self.Axis,), True), core.splat(dims_of(x)[self.Axis], x))


class Transpose(ArkOp, name="ark.Transpose"):
    """Permutes the axes: axis `n` of the result is axis `Permutation[n]` of the operand.

    If only the inverse of the permutation fits the shapes, it is used: the description of the format specifies it,
    ARK's own files do not.

    C1: both tensors have the same data type. C2: the permutation names each axis once. C3: the output has the permuted
    shape.
    """

    input: Value = operand(AnyTensor)
    output: Value = operand(AnyTensor)
    Permutation: tuple[int, ...] = attribute(DIMS, doc="axes of the input")
    result_: Value = result(AnyTensor)

    @property
    def axes(self) -> tuple[int, ...] | None:
        """For each axis of what is written that of what is read; None where no reading of the permutation fits."""
        given, expected = dims_of(self.input), dims_of(self.output)
        inverse = tuple(sorted(range(len(self.Permutation)), key=self.Permutation.__getitem__))
        for axes in (self.Permutation, inverse):
            if sorted(axes) == list(range(len(given))) and tuple([given[a] for a in axes]) == expected:
                return axes
        return None

    @property
    def written_shape(self) -> tuple[int, ...] | None:
        given = dims_of(self.input)
        is_one = sorted(self.Permutation) == list(range(len(given)))
        return tuple([given[a] for a in self.Permutation]) if is_one else None

    def broken_rules(self) -> Iterator[Diagnostic]:
        expected = self.written_shape
        if element_of(self.input) is not element_of(self.output):
            result = f"{element_of(self.input)} and {element_of(self.output)}"
            yield self.broken("C1", f"tensors must have one data type, found {result}")
        if expected is None:
            axes = len(dims_of(self.input))
            message = f"'Permutation' must name each of {axes} axes once, found {list(self.Permutation)}"
            yield self.broken("C2", message)
        elif self.axes is None:
            yield self.broken("C3", f"expected to write {list(expected)}, found {list(dims_of(self.output))}")

    def reference(self, input: Value, output: Value) -> Value:
        return stored(core.transpose(input, self.axes or self.Permutation), output)


class Embedding(ArkOp, name="ark.Embedding"):
    """Looks up rows of a matrix by index; a negative index counts from the end.

    C1: indices are INT32, of at most rank 3. C2: the matrix has rank 2 and the data type of the output. C3: the output
    has the shape of the indices, padded to rank 3 by leading axes of size 1, and the length of a row.
    """

    input: Value = operand(AnyTensor, doc="indices of rows")
    weight: Value = operand(AnyTensor, doc="the matrix")
    output: Value = operand(AnyTensor)
    result_: Value = result(AnyTensor)

    @property
    def written_shape(self) -> tuple[int, ...]:
        positions = dims_of(self.input)
        return (*(1,) * (MAX_RANK - 1 - len(positions)), *positions, dims_of(self.weight)[-1])

    def broken_rules(self) -> Iterator[Diagnostic]:
        positions, rows, expected = dims_of(self.input), dims_of(self.weight), self.written_shape
        if element_of(self.input) is not i32 or len(positions) >= MAX_RANK:
            yield self.broken("C1", f"numbers of rows must be INT32 of at most 3 axes, found {self.input.type}")
        if len(rows) != _MATRIX or element_of(self.weight) is not element_of(self.output):
            message = f"expected a matrix of {element_of(self.output)}, found {self.weight.type}"
            yield self.broken("C2", message)
        if dims_of(self.output) != expected:
            yield self.broken("C3", f"expected to write {list(expected)}, found {list(dims_of(self.output))}")

    def reference(self, input: Value, weight: Value, output: Value) -> Value:
        return core.reshape(core.gather(weight, input, 0), dims_of(output))


class Noop(ArkOp, name="ark.Noop"):
    """No operation: keeps a tensor in the program."""

    writes = ()

    input: Value = operand(AnyTensor)
