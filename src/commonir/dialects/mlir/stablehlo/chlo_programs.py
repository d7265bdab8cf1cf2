"""Operations of the chlo dialect that have groups or a region: ragged products, and scans along an axis.

Source: StableHLO repository, chlo dialect.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from typing import ClassVar

from commonir.base.diagnostics import Diagnostic
from commonir.dialects.lazy_core import core
from commonir.dialects.mlir.stablehlo.accuracy import precision_faults
from commonir.dialects.mlir.stablehlo.base import (
    HloOp,
    Integers,
    Precision,
    axis,
    element,
    like,
    non_negative,
    precisions_of,
    rank_of,
    shape_of,
    shape_text,
    stated_shape,
    transposed,
)
from commonir.dialects.mlir.stablehlo.bodies import part
from commonir.dialects.mlir.stablehlo.contraction import contracted, dims_faults, product_shape
from commonir.dialects.mlir.stablehlo.dimension_numbers import DotDims, RaggedDotDims, ragged_dot_dims
from commonir.dialects.mlir.stablehlo.number_types import zero
from commonir.dialects.mlir.stablehlo.reduction import arguments_of, malformed, returned
from commonir.ir.attributes import Attribute, DenseArrayAttr, IntegerAttr
from commonir.ir.operation import Region, Value
from commonir.ir.types import ElementType, Shape, TensorType, Type, i32, i64
from commonir.ods import attribute, operand, region, result, traits
from commonir.ods.definition import GROUP_SIZES, RESULT_SIZES
from commonir.ods.mlir_attr_types import array_of, bool_
from commonir.ods.operand_shapes import known_dims_of
from commonir.ods.text_form import CustomForm, FormReader, FormTask, FormWriter, Use
from commonir.ods.type_constraints import AnyTensor as Any
from commonir.ods.type_rules import are_compatible_types
from commonir.symbolic import Dim


class Mode(Enum):
    """The axes of lhs that groups may divide."""

    FREE = "non-contracting"
    CONTRACTING = "contracting"
    BATCH = "batch"


class RaggedDot(HloOp, name="chlo.ragged_dot", traits=(traits.Pure,)):
    """Product of tensors in groups of consecutive places along one axis of lhs.

    If that is an axis of the result, each group has its own rhs; if it is contracted, each group has its own result.
    C1 to C3: the axes are as those of `stablehlo.dot_general`. C4: lhs has one ragged axis. C5: there is a group size
    for each group, and perhaps for each place along the axes before. C6: rhs has an axis of groups if and only if the
    ragged axis is one of the result.
    """

    assembly = ""

    lhs: Value = operand(Any)
    rhs: Value = operand(Any)
    group_sizes: Value = operand(Integers)
    ragged_dot_dimension_numbers: RaggedDotDims = attribute(ragged_dot_dims)
    precision_config: tuple[Precision, ...] | None = attribute(precisions_of("chlo"), default=None)
    result_: Value = result(Any)

    @property
    def dims(self) -> DotDims:
        """The axes of a product without groups."""
        return DotDims(*self.ragged_dot_dimension_numbers[:4])

    @property
    def ragged(self) -> int:
        """The axis of lhs that groups divide."""
        return self.ragged_dot_dimension_numbers.lhs_ragged_dimensions[0]

    @property
    def mode(self) -> Mode:
        """The part that the ragged axis has in the product."""
        if self.ragged in self.dims.lhs_batching_dimensions:
            return Mode.BATCH
        return Mode.CONTRACTING if self.ragged in self.dims.lhs_contracting_dimensions else Mode.FREE

    def before(self) -> tuple[int, ...]:
        """The axes of lhs for each place of which there may be group sizes."""
        batch, contracting = self.dims.lhs_batching_dimensions, self.dims.lhs_contracting_dimensions
        match self.mode:
            case Mode.BATCH:
                return batch[: batch.index(self.ragged)]
            case Mode.CONTRACTING:
                return (*batch, *contracting[: contracting.index(self.ragged)])
            case Mode.FREE:
                return (*batch, *[n for n in range(self.ragged) if n not in (*batch, *contracting)])

    def verify(self) -> Iterator[Diagnostic]:
        faults = list(self._faults())
        yield from map(self.violated, faults)
        if not faults:
            yield from self.check_result(self._shape())

    def _faults(self) -> Iterator[str]:
        left, right, groups = shape_of(self.lhs), shape_of(self.rhs), shape_of(self.group_sizes)
        numbers = self.ragged_dot_dimension_numbers
        yield from precision_faults(self.precision_config)
        faults = list(dims_faults(self.dims, left, right))
        yield from faults
        if faults:
            return
        if len(numbers.lhs_ragged_dimensions) != 1:
            yield "C4: there must be exactly one ragged dimension in the lhs"
            return
        if not 0 <= self.ragged < len(left):
            yield f"C4: lhs_ragged_dim {self.ragged} is out of range: [0, {len(left)})"
            return
        expected = (*[left[n] for n in self.before()], groups[-1] if groups else None)
        if len(groups) not in (1, len(expected)):
            yield f"C5: expected group_sizes to have rank {len(expected)}, got {len(groups)}"
            return
        if len(groups) == len(expected) and any(
            isinstance(a, int) and isinstance(b, int) and a != b for a, b in zip(groups, expected, strict=True)
        ):
            yield f"C5: group_sizes is expected to have shape {shape_text(expected)}, got {shape_text(groups)}"
            return
        yield from self._faults_of_groups(right, groups[-1])

    def _faults_of_groups(self, right: Shape, count: Dim | None) -> Iterator[str]:
        groups = self.ragged_dot_dimension_numbers.rhs_group_dimensions
        for name, others in (
            ("rhs_batching_dimensions", self.dims.rhs_batching_dimensions),
            ("rhs_contracting_dimensions", self.dims.rhs_contracting_dimensions),
        ):
            for n in groups:
                if n in others:
                    yield f"C6: has duplicated dimension from rhs_group_dimensions and {name}: {n}"
                    return
        if self.mode is not Mode.FREE:
            if groups:
                message = "C6: there must be zero group dimensions in the rhs when the ragged dimension is batch or"
                yield f"{message} contracting"
            return
        if len(groups) != 1 or not 0 <= groups[0] < len(right):
            message = "C6: there must be exactly one group dimension in the rhs when the lhs ragged dimension is"
            yield f"{message} non-contracting"
            return
        size = right[groups[0]]
        if isinstance(size, int) and isinstance(count, int) and size != count:
            yield f"C6: rhs group dimension is expected to have size={count}, got {size}"

    def _shape(self) -> Shape:
        left, right = shape_of(self.lhs), shape_of(self.rhs)
        if self.mode is Mode.CONTRACTING:
            return (shape_of(self.group_sizes)[-1], *product_shape(self.dims, left, right))
        groups = self.ragged_dot_dimension_numbers.rhs_group_dimensions
        # An axis of groups is contracted as others are.
        dims = self.dims._replace(rhs_contracting_dimensions=(*self.dims.rhs_contracting_dimensions, *groups))
        return product_shape(dims, left, right)

    def reference(self, lhs: Value, rhs: Value, group_sizes: Value) -> Value:
        expected = element(self.result_)
        assert isinstance(expected, ElementType)
        if self.mode is Mode.BATCH:
            return contracted(lhs, rhs, self.dims, expected)
        masks = self._masks(known_dims_of(lhs)[self.ragged], group_sizes)
        if self.mode is Mode.CONTRACTING:
            return self._by_contracted_group(lhs, rhs, masks, expected)
        (group_axis,) = self.ragged_dot_dimension_numbers.rhs_group_dimensions
        moved = [_without(axes, group_axis) for axes in (self.dims[1], self.dims[3])]
        dims = DotDims(self.dims[0], moved[0], self.dims[2], moved[1])
        total: Value | None = None
        for n, mask in enumerate(masks):
            own = core.squeeze(part(rhs, group_axis, n, n + 1), (group_axis,))
            product = contracted(lhs, own, dims, expected)
            chosen = _ending_with(mask, len(known_dims_of(product)), len(self.before()) + 1)
            product = core.select(chosen, product, zero(product))
            total = product if total is None else core.add(total, product)
        assert total is not None
        return total

    def _by_contracted_group(self, lhs: Value, rhs: Value, masks: Sequence[Value], expected: ElementType) -> Value:
        place = self.dims.lhs_contracting_dimensions.index(self.ragged)
        before = (*self.dims.rhs_batching_dimensions, *self.dims.rhs_contracting_dimensions[:place])
        other = (*before, self.dims.rhs_contracting_dimensions[place])
        products: list[Value] = []
        for mask in masks:
            a = _selected(lhs, mask, (*self.before(), self.ragged))
            b = _selected(rhs, mask, other)
            products.append(core.unsqueeze(contracted(a, b, self.dims, expected), (0,)))
        return core.concat(tuple(products), 0)

    def _masks(self, size: Dim, group_sizes: Value) -> list[Value]:
        """Returns for each group which places along the ragged axis it has: the last axis of a tensor of bools."""
        sizes = core.cast(group_sizes, i64)
        last = len(known_dims_of(sizes)) - 1
        count = known_dims_of(sizes)[last]
        assert isinstance(count, int)
        stops = core.cumsum(sizes, last, False, False)
        starts = core.sub(stops, sizes)
        at = core.iota((size,))
        return [
            core.logical_and(
                core.greater_equal(at, part(starts, last, n, n + 1)), core.less(at, part(stops, last, n, n + 1))
            )
            for n in range(count)
        ]


def _without(axes: Sequence[int], dropped: int) -> tuple[int, ...]:
    """Axes of a tensor as those of one that lacks an axis."""
    return tuple([n - (n > dropped) for n in axes])


def _ending_with(mask: Value, rank: int, leading: int) -> Value:
    """A mask of the leading axes of a tensor, with axes of size 1 for the others; its own may lack the first ones."""
    own = len(known_dims_of(mask))
    return core.unsqueeze(mask, (*range(leading - own), *range(leading, rank)))


def _selected(x: Value, mask: Value, axes: Sequence[int]) -> Value:
    """A tensor with zeros where a mask of some of its axes is false; the mask may lack the first ones of these."""
    own = axes[len(axes) - len(known_dims_of(mask)) :]
    order = sorted(range(len(own)), key=lambda n: own[n])
    others = [n for n in range(len(known_dims_of(x))) if n not in own]
    return core.select(core.unsqueeze(transposed(mask, order), tuple(others)), x, zero(x))


class ScanForm:
    """`(%x) inits (%i) dimension=0 attributes {..} { ^bb0(..): .. } : types`."""

    def read(self, reader: FormReader) -> FormTask:
        inputs = self._uses(reader)
        reader.expect("inits")
        inits = self._uses(reader)
        reader.expect("dimension")
        reader.expect("=")
        attributes: dict[str, Attribute] = {"dimension": IntegerAttr(reader.integer(), i64)}
        attributes |= reader.dictionary("attributes")
        body = yield reader.region()
        reader.expect(":")
        type = reader.function_type()
        values = reader.resolve_all([*inputs, *inits], type.inputs)
        outputs = len(type.results) - len(inits)
        if outputs < 0:
            reader.fail("not enough result types to cover the required carries")
        attributes[RESULT_SIZES] = DenseArrayAttr(i32, (outputs, len(inits)))
        arguments = {"inputs": values[: len(inputs)], "inits": values[len(inputs) :], "body": body}
        return reader.make(arguments, type.results, attributes)

    def _uses(self, reader: FormReader) -> list[Use]:
        reader.expect("(")
        return reader.separated(reader.use, ")")

    def write(self, writer: FormWriter) -> None:
        op = writer.op
        if not isinstance(op, Scan) or op.resultSegmentSizes != (len(op.results) - len(op.inits), len(op.inits)):
            writer.refuse()
        writer.write(f"({writer.values(op.inputs)}) inits ({writer.values(op.inits)}) dimension={op.dimension}")
        shown = writer.dictionary(("dimension", GROUP_SIZES, RESULT_SIZES), keyword="attributes")
        writer.write(f" {shown} " if shown else "  ")
        writer.region(op.body, arguments=True)
        operands = writer.types([v.type for v in op.operands])
        writer.write(f" : ({operands}) -> {writer.result_types([v.type for v in op.results])}")


class Scan(HloOp, name="chlo.scan", traits=(traits.RecursiveEffects, traits.IsolatedFromAbove)):
    """Runs a region for each slice of tensors along an axis, in order or reversed, with carried values.

    The region takes a slice of each input and the carried values, and returns a slice of each output and the next
    carried values. Results are the outputs and the last carried values. C1: there is an input or an output. C2: the
    inputs have one size along the axis. C3: the region takes what it is given.
    """

    custom_form: ClassVar[CustomForm | None] = ScanForm()

    inputs: tuple[Value, ...] = operand(Any, variadic=True)
    inits: tuple[Value, ...] = operand(Any, variadic=True)
    dimension: int = attribute(axis, check=non_negative)
    resultSegmentSizes: tuple[int, ...] = attribute(array_of(i32))  # noqa: N815  as upstream spells it
    body: Region = region(doc="one step: from slices and carried values, slices of outputs and the next carried values")
    scan_dim_size: int | None = attribute(axis, default=None, check=non_negative)
    is_reverse: bool | None = attribute(bool_, default=None)
    is_associative: bool | None = attribute(bool_, default=None)
    results_: tuple[Value, ...] = result(Any, variadic=True)

    def argument_names(self, region: Region) -> Iterable[tuple[Value, str]]:
        arguments = region.blocks[0].arguments if region.blocks else ()
        return [(a, "input" if n < len(self.inputs) else "carry") for n, a in enumerate(arguments)]

    def infer_results(self) -> tuple[Type, ...] | None:
        found = returned(self.body)
        outputs = len(found) - len(self.inits)
        if outputs < 0:
            return None
        size, out = self._size(), list[Type]()
        for n, v in enumerate(found):
            shape = stated_shape(v)
            if shape is None or (n < outputs and self.dimension > len(shape)):
                return None
            at = self.dimension
            out.append(like(v.type, (*shape[:at], size, *shape[at:]) if n < outputs else shape))
        return tuple(out)

    def _size(self) -> Dim | None:
        """The number of slices; None where the program does not say it."""
        sizes = [self.scan_dim_size, *[shape_of(v)[self.dimension] for v in self.inputs if self._has_axis(v)]]
        return next((n for n in sizes if isinstance(n, int)), None)

    def _has_axis(self, value: Value) -> bool:
        return self.dimension < rank_of(value)

    def verify(self) -> Iterator[Diagnostic]:
        if not self.inputs and len(self.results) == len(self.inits):
            yield self.violated("C1: at least one of inputs or outputs must be present")
            return
        for n, v in enumerate(self.inputs):
            if not self._has_axis(v):
                yield self.violated(f"C2: scan dimension of operand {n} is out of bounds")
                return
            size = shape_of(v)[self.dimension]
            if isinstance(size, int) and size != self._size():
                yield self.violated(f"C2: invalid scan dimension size of operand {n}")
                return
        given = arguments_of(self.body)
        if len(given) != len(self.operands):
            yield malformed(self, f"C3: expects {len(self.operands)} arguments in the body, but got {len(given)}")
            return
        for n, (v, a) in enumerate(zip(self.operands, given, strict=True)):
            expected = self._slice(v) if n < len(self.inputs) else v.type
            if not are_compatible_types(expected, a.type):
                yield malformed(self, f"C3: operand and body argument {n} are incompatible: {expected} and {a.type}")

    def _slice(self, value: Value) -> Type:
        shape = shape_of(value)
        return like(value.type, (*shape[: self.dimension], *shape[self.dimension + 1 :]))

    def reference(self, inputs: tuple[Value, ...], inits: tuple[Value, ...], *, body: Region) -> tuple[Value, ...]:
        at = self.dimension
        count = len(inputs)

        def step(*given: Value) -> Sequence[Value]:
            states, slices = given[: len(inits)], given[len(inits) :]
            found = core.inlined(body, [*slices[:count], *states])
            return [*found[len(found) - len(inits) :], *found[: len(found) - len(inits)]]

        sequences = [_first(x, at) for x in inputs]
        if not sequences:
            sequences = [core.iota((self._size() or 0,))]
        slices = [TensorType(core.tensor_type(x).element, known_dims_of(x)[1:]) for x in sequences]
        types = [*[v.type for v in inits], *slices]
        found = core.scan(tuple(inits), tuple(sequences), core.nested(types, step), bool(self.is_reverse))
        outputs = [_placed(x, at) for x in found[len(inits) :]]
        return (*outputs, *found[: len(inits)])


def _first(x: Value, axis: int) -> Value:
    """A tensor with an axis moved to the front."""
    return transposed(x, [axis, *[n for n in range(len(known_dims_of(x))) if n != axis]])


def _placed(x: Value, axis: int) -> Value:
    """A tensor with its first axis moved to a place."""
    return transposed(x, [*range(1, axis + 1), 0, *range(axis + 1, len(known_dims_of(x)))])
