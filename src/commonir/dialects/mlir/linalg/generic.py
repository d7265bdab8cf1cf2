"""Structured operations that state their bodies, and those that only move elements.

Source: MLIR linalg dialect, generic, map, reduce, transpose and broadcast.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import ClassVar

from commonir.base.diagnostics import Diagnostic
from commonir.dialects.mlir.linalg.base import IteratorType, StructuredOp, affine_maps, iterators
from commonir.dialects.mlir.linalg.forms import GenericForm, MapForm, RearrangingForm, ReduceForm
from commonir.dialects.mlir.linalg.named import kinds_of
from commonir.ir.affine import AffineDim, AffineMap
from commonir.ir.attributes import Attribute
from commonir.ir.operation import Region, Value
from commonir.ir.types import MemRefType, Shape, TensorType, i64
from commonir.ods import attr_types, attribute, operand, region, result, traits
from commonir.ods.definition import GROUP_SIZES
from commonir.ods.mlir_attr_types import array_of
from commonir.ods.text_form import CustomForm
from commonir.ods.type_constraints import AnyMemRef, AnyRankedTensor, AnyShaped, AnyTensor, AnyType, any_type_of
from commonir.ods.type_rules import shape_of
from commonir.symbolic import Dim

positions = array_of(i64)


def rank_of(value: Value) -> int:
    """The number of axes of an operand."""
    shape = shape_of(value.type)
    return len(shape) if isinstance(shape, tuple) else 0


def argument_names(op: StructuredOp, region: Region, before: str) -> Iterable[tuple[Value, str]]:
    """Returns the names of the arguments of a body: `in`, and `before` for initial values."""
    arguments = region.blocks[0].arguments if region.blocks else ()
    count = len(op.read)
    return [(a, "in" if n < count else before) for n, a in enumerate(arguments)]


RankedTensorOrMemRef = any_type_of(AnyMemRef, AnyRankedTensor)


class Generic(StructuredOp, name="linalg.generic"):
    """Applies a region at each point of an iteration space, to the elements that indexing maps select.

    C1: there is an indexing map for each operand, with a dimension for each iterator and a result for each axis. C2:
    axes that are indexed by the same dimension have equal sizes. C3: the body takes an element of each operand and
    yields an element for each output.
    """

    custom_form: ClassVar[CustomForm | None] = GenericForm()

    inputs: tuple[Value, ...] = operand(AnyType, variadic=True, doc="tensors, or numbers, that the body reads")
    outputs: tuple[Value, ...] = operand(AnyShaped, variadic=True, doc="initial values, of the types of the results")
    indexing_maps: tuple[AffineMap, ...] = attribute(affine_maps)
    iterator_types: tuple[IteratorType, ...] = attribute(iterators)
    region: Region = region(doc="from one element of each operand, one of each result")
    doc: str | None = attribute(attr_types.string, default=None)
    library_call: str | None = attribute(attr_types.string, default=None)
    result_tensors: tuple[Value, ...] = result(AnyRankedTensor, variadic=True)

    def indexing(self) -> tuple[AffineMap, ...]:
        return self.indexing_maps

    def iterator_kinds(self) -> tuple[IteratorType, ...]:
        return self.iterator_types

    def argument_names(self, region: Region) -> Iterable[tuple[Value, str]]:
        return argument_names(self, region, "out")

    def reference(self, inputs: tuple[Value, ...], outputs: tuple[Value, ...], *, region: Region) -> tuple[Value, ...]:
        return self.computed(inputs, outputs, region)


class _EqualDims(StructuredOp):
    """An operation whose operands have equal dims where they share a loop: a dynamic dim equals no number."""

    def verify(self) -> Iterator[Diagnostic]:
        diagnostics = list(super().verify())
        yield from diagnostics
        known: dict[int, Dim | None] = {}
        for value, each in zip(self.operands, () if diagnostics else self.indexing(), strict=False):
            for expr, dim in zip(each.results, _dims_of(value), strict=False):
                if isinstance(expr, AffineDim) and known.setdefault(expr.position, dim) != dim:
                    shown = ["?" if d is None else str(d) for d in (known[expr.position], dim)]
                    yield self.violated(
                        f"dims of loop {expr.position} differ: {shown[0]} and {shown[1]} in {value.type}"
                    )


def _dims_of(value: Value) -> Shape:
    type = value.type
    return (type.shape or ()) if isinstance(type, TensorType | MemRefType) else ()


class Map(_EqualDims, name="linalg.map"):
    """Applies a region elementwise to tensors of one shape. C1: the operands have one shape."""

    custom_form: ClassVar[CustomForm | None] = MapForm()
    result_name = "mapped"

    inputs: tuple[Value, ...] = operand(RankedTensorOrMemRef, variadic=True)
    init: Value = operand(RankedTensorOrMemRef)
    region: Region = region(doc="from one element of each operand, one of the result")
    result_: tuple[Value, ...] = result(AnyTensor, variadic=True)

    def indexing(self) -> tuple[AffineMap, ...]:
        return (AffineMap.identity(rank_of(self.init)),) * (len(self.inputs) + 1)

    def iterator_kinds(self) -> tuple[IteratorType, ...]:
        return (IteratorType.PARALLEL,) * rank_of(self.init)

    def argument_names(self, region: Region) -> Iterable[tuple[Value, str]]:
        return argument_names(self, region, "init")

    def reference(self, inputs: tuple[Value, ...], init: Value, *, region: Region) -> tuple[Value, ...]:
        return self.computed(inputs, (init,), region)


class Reduce(_EqualDims, name="linalg.reduce", traits=(traits.SameVariadicOperandSize,)):
    """Reduces tensors along some dimensions with a region, starting from the init operands. C1: dimensions are axes of
    the inputs in increasing order. C2: the inputs have one shape, and the init operands have it without the reduced
    axes.
    """

    custom_form: ClassVar[CustomForm | None] = ReduceForm()
    result_name = "reduced"

    inputs: tuple[Value, ...] = operand(RankedTensorOrMemRef, variadic=True)
    inits: tuple[Value, ...] = operand(RankedTensorOrMemRef, variadic=True)
    dimensions: tuple[int, ...] = attribute(positions)
    region: Region = region(doc="combines an element of each input with the results so far")
    results_: tuple[Value, ...] = result(AnyTensor, variadic=True)

    @property
    def properties(self) -> Mapping[str, Attribute]:
        return {k: v for k, v in super().properties.items() if k != GROUP_SIZES}

    def _rank(self) -> int:
        return rank_of(self.inputs[0]) if self.inputs else 0

    def indexing(self) -> tuple[AffineMap, ...]:
        rank = self._rank()
        kept = [AffineDim(d) for d in range(rank) if d not in self.dimensions]
        whole, reduced = AffineMap.identity(rank), AffineMap(rank, 0, kept)
        return (*(whole,) * len(self.inputs), *(reduced,) * len(self.inits))

    def iterator_kinds(self) -> tuple[IteratorType, ...]:
        return kinds_of([d in self.dimensions for d in range(self._rank())])

    def argument_names(self, region: Region) -> Iterable[tuple[Value, str]]:
        return argument_names(self, region, "init")

    def verify(self) -> Iterator[Diagnostic]:
        dims, rank = self.dimensions, self._rank()
        if any(b <= a for a, b in pairwise(dims)):
            message = "attribute 'dimensions' failed to satisfy constraint"
            yield self.violated(f"{message}: i64 dense array attribute should be in increasing order")
        elif any(not 0 <= d < rank for d in dims):
            yield self.violated(f"dimensions for reduction should be in the range [0, {rank - 1}].")
        elif len(self.inputs) != len(self.inits):
            yield self.violated("expected equal number of inputs and outputs")
        elif any(rank_of(v) != rank - len(dims) for v in self.inits):
            message = f"number of dimensions after reduction {rank - len(dims)} doesn't match the init rank"
            yield self.violated(f"{message} {rank_of(self.inits[0])}")
        else:
            yield from super().verify()

    def reference(self, inputs: tuple[Value, ...], inits: tuple[Value, ...], *, region: Region) -> tuple[Value, ...]:
        return self.computed(inputs, inits, region)


class _Rearranging(_EqualDims):
    """An operation that moves the elements of one tensor to other positions of another."""

    input: Value = operand(RankedTensorOrMemRef)
    init: Value = operand(RankedTensorOrMemRef)
    region: Region = region(doc="yields its first argument")
    result_: tuple[Value, ...] = result(AnyTensor, variadic=True)

    def reference(self, input: Value, init: Value, *, region: Region) -> tuple[Value, ...]:
        return self.computed((input,), (init,), region)


class Transpose(_Rearranging, name="linalg.transpose"):
    """Permutes the dimensions: dimension `n` of the result is dimension `permutation[n]` of the input. C1: the
    permutation names each axis once. C2: the sizes of input and init agree.
    """

    custom_form: ClassVar[CustomForm | None] = RearrangingForm("permutation")
    result_name = "transposed"

    permutation: tuple[int, ...] = attribute(positions)

    def indexing(self) -> tuple[AffineMap, ...]:
        rank = len(self.permutation)
        source = [AffineDim(self.permutation.index(d)) for d in range(rank)]
        return AffineMap(rank, 0, source), AffineMap.identity(rank)

    def iterator_kinds(self) -> tuple[IteratorType, ...]:
        return (IteratorType.PARALLEL,) * len(self.permutation)

    def verify(self) -> Iterator[Diagnostic]:
        rank = rank_of(self.input)
        if sorted(self.permutation) != list(range(len(self.permutation))):
            yield self.violated("permutation is not valid")
        elif rank != rank_of(self.init):
            yield self.violated(f"input rank {rank} does not match init rank {rank_of(self.init)}")
        elif rank != len(self.permutation):
            yield self.violated(f"size of permutation {len(self.permutation)} does not match the argument rank {rank}")
        else:
            yield from super().verify()


class Broadcast(_Rearranging, name="linalg.broadcast"):
    """Broadcasts the input along new dimensions. C1: the dimensions are axes of the result; the others are those of the
    input, in order. C2: the sizes of input and init agree.
    """

    custom_form: ClassVar[CustomForm | None] = RearrangingForm("dimensions")
    result_name = "broadcasted"

    dimensions: tuple[int, ...] = attribute(positions)

    def indexing(self) -> tuple[AffineMap, ...]:
        rank = rank_of(self.init)
        kept = [AffineDim(d) for d in range(rank) if d not in self.dimensions]
        return AffineMap(rank, 0, kept), AffineMap.identity(rank)

    def iterator_kinds(self) -> tuple[IteratorType, ...]:
        return (IteratorType.PARALLEL,) * rank_of(self.init)

    def verify(self) -> Iterator[Diagnostic]:
        rank, expected = rank_of(self.input), rank_of(self.init)
        if rank + len(self.dimensions) != expected:
            message = "input rank plus added dimensions does not match init rank."
            yield self.violated(
                f"{message} input rank: {rank}, dimensions size: {len(self.dimensions)}, init rank: {expected}"
            )
        elif any(not 0 <= d < expected for d in self.dimensions):
            yield self.violated(
                f"dimensions are out of range. expected range: [0, {expected - 1}], got: {list(self.dimensions)}"
            )
        elif len({*self.dimensions}) != len(self.dimensions):
            yield self.violated(f"dimensions {list(self.dimensions)} name one axis twice")
        else:
            yield from super().verify()
