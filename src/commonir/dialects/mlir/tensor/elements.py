"""Operations of the tensor dialect on single elements and sizes, and those that make tensors.

Source: MLIR tensor dialect.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from commonir.base.codes import MALFORMED_REGION
from commonir.base.diagnostics import Diagnostic
from commonir.dialects.lazy_core import core, lifting
from commonir.dialects.mlir.tensor.base import TensorOp, count_dynamic, mixed_sizes, refined, row
from commonir.ir.core_types import core_type
from commonir.ir.data import Data
from commonir.ir.operation import Region, Value
from commonir.ir.types import ElementType, TensorType, Type, boolean, i64, index
from commonir.ods import known_dims, operand, region, result, traits
from commonir.ods.operand_shapes import ranked_shape
from commonir.ods.traits import has_parent
from commonir.ods.type_constraints import AnyRankedTensor, AnyStaticShapeTensor, AnyTensor, AnyType, Index, confined
from commonir.ods.type_rules import element_of, types_match_with
from commonir.symbolic import Dim, element_count
from commonir.symbolic.errors import NotKnownError

AnyNon0RankedOrUnrankedTensor = confined(
    AnyTensor, lambda t: isinstance(t, TensorType) and t.shape != (), "non-0-ranked or unranked tensor"
)


class Empty(
    TensorOp, name="tensor.empty", traits=(traits.Pure,), assembly="`(`$dynamic_sizes`)` attr-dict `:` type($result)"
):
    """A tensor of a shape with unspecified elements; here they are zeros. C1: there is one operand for each dynamic dim
    of the type.
    """

    dynamic_sizes: tuple[Value, ...] = operand(Index, variadic=True)
    result_: Value = result(AnyRankedTensor)

    def verify(self) -> Iterator[Diagnostic]:
        yield from _wrong_count(self, self.dynamic_sizes, self.result_.type)

    def reference(self, dynamic_sizes: tuple[Value, ...]) -> Value:
        element = core.as_tensor(core_type(self.result_.type)).element
        return filled(zero(element), self.result_.type, dynamic_sizes)


def zero(element: ElementType) -> Value:
    """Zero, or false."""
    return core.scalar(False if element is boolean else 0, element)


def filled(value: Value, declared: Type, dynamic: tuple[Value, ...]) -> Value:
    """A tensor of one element, of a stated type with values for the sizes that it leaves open."""
    try:
        return core.broadcast_to(value, mixed_sizes(ranked_shape(declared), dynamic))
    except NotKnownError:
        return _filled_when_running(value, declared, dynamic)


def _filled_when_running(value: Value, declared: Type, dynamic: tuple[Value, ...]) -> Value:
    """As `filled`, of data-dependent sizes: nothing, continued on one side by as much as is asked for."""
    shape = ranked_shape(declared)
    rest = iter(dynamic)
    sizes = row([core.scalar(d, i64) if isinstance(d, int) else next(rest) for d in shape])
    nothing = core.broadcast_to(core.scalar(0, i64), (0,) * len(shape))
    zeros = core.dynamic_pad(nothing, core.vector((0,) * len(shape), i64), sizes)
    chosen = core.select(core.equal(zeros, core.scalar(0, i64)), value, value)
    return refined(chosen, declared)


def _wrong_count(op: TensorOp, dynamic: tuple[Value, ...], declared: Type) -> Iterator[Diagnostic]:
    expected = count_dynamic(ranked_shape(declared))
    if len(dynamic) != expected:
        yield op.violated(f"incorrect number of dynamic sizes, has {len(dynamic)}, expected {expected}")


class Splat(
    TensorOp,
    name="tensor.splat",
    traits=(
        traits.Pure,
        types_match_with("operand type matches element type of result", "aggregate", "input", element_of),
    ),
    assembly="$input (`[` $dynamic_sizes^ `]`)? attr-dict `:` type($aggregate)",
):
    """Creates a tensor whose elements all equal a scalar. C1: there is one operand for each size that the type leaves
    open.
    """

    result_name = "splat"

    input: Value = operand(AnyType)
    dynamic_sizes: tuple[Value, ...] = operand(Index, variadic=True)
    aggregate: Value = result(AnyRankedTensor)

    def folds(self, operands: Sequence[Data]) -> bool:
        return len(operands) == 1

    def verify(self) -> Iterator[Diagnostic]:
        yield from _wrong_count(self, self.dynamic_sizes, self.aggregate.type)

    def reference(self, input: Value, dynamic_sizes: tuple[Value, ...]) -> Value:
        return filled(input, self.aggregate.type, dynamic_sizes)


class FromElements(
    TensorOp,
    name="tensor.from_elements",
    traits=(
        traits.Pure,
        types_match_with("operand types match result element type", "result_", "elements", element_of),
    ),
    assembly="$elements attr-dict `:` type($result)",
):
    """Creates a tensor from its elements, in row-major order. C1: there is one operand for each element."""

    result_name = "from_elements"

    elements: tuple[Value, ...] = operand(AnyType, variadic=True)
    result_: Value = result(AnyStaticShapeTensor)

    def folds(self, operands: Sequence[Data]) -> bool:
        return bool(operands)

    def verify(self) -> Iterator[Diagnostic]:
        type = self.result_.type
        expected = type.count if isinstance(type, TensorType) and type.is_static else 0
        if len(self.elements) != expected:
            yield self.violated(
                f"number of operands and types do not match: got {len(self.elements)} operands and {expected} types"
            )
        for v in self.elements:
            if v.type is not element_of(type):
                yield self.violated(
                    f"operand types match result element type: expected {element_of(type)}, found {v.type}"
                )
                return

    def reference(self, elements: tuple[Value, ...]) -> Value:
        shape = tuple([d for d in ranked_shape(self.result_) if isinstance(d, int)])
        if not elements:
            return core.broadcast_to(zero(core.as_tensor(core_type(self.result_.type)).element), shape)
        whole = core.concat(tuple([core.unsqueeze(v, (0,)) for v in elements]), 0)
        return whole if len(shape) == 1 else core.reshape(whole, shape)


class Dim_(  # noqa: N801  `Dim` is a size
    TensorOp, name="tensor.dim", traits=(traits.Pure,), assembly="attr-dict $source `,` $index `:` type($source)"
):
    """The dim of a tensor along an axis; unspecified for an axis out of range."""

    result_name = "dim"

    source: Value = operand(AnyNon0RankedOrUnrankedTensor)
    index: Value = operand(Index)
    result_: Value = result(Index)

    def reference(self, source: Value, index: Value) -> Value:
        at, rank = known_dims(index), core.tensor_type(source).rank
        if at is not None and isinstance(at[0], int) and rank is not None and 0 <= at[0] < rank:
            return core.dim(source, at[0])
        return core.gather(core.shape_of(source), index, 0)


class Rank(TensorOp, name="tensor.rank", traits=(traits.Pure,), assembly="$tensor attr-dict `:` type($tensor)"):
    """The rank of a tensor."""

    result_name = "rank"

    tensor: Value = operand(AnyTensor)
    rank: Value = result(Index)

    def reference(self, tensor: Value) -> Value:
        known = core.tensor_type(tensor).rank
        return core.dim(core.shape_of(tensor), 0) if known is None else core.dims((known,), i64, True)


class Extract(
    TensorOp,
    name="tensor.extract",
    traits=(
        traits.Pure,
        types_match_with("result type matches element type of tensor", "tensor", "result_", element_of),
    ),
    assembly="$tensor `[` $indices `]` attr-dict `:` type($tensor)",
):
    """Extracts one element of a tensor at indices. C1: there is one index for each axis."""

    result_name = "extracted"

    tensor: Value = operand(AnyRankedTensor)
    indices: tuple[Value, ...] = operand(Index, variadic=True)
    result_: Value = result(AnyType)

    def folds(self, operands: Sequence[Data]) -> bool:
        tensor, *indices = operands
        places = [d.values()[0] for d in indices]
        return all(isinstance(n, int) and 0 <= n < size for n, size in zip(places, tensor.shape, strict=True))

    def verify(self) -> Iterator[Diagnostic]:
        if len(self.indices) != len(ranked_shape(self.tensor)):
            yield self.violated("incorrect number of indices for extract_element")

    def reference(self, tensor: Value, indices: tuple[Value, ...]) -> Value:
        if not indices:
            return tensor
        return core.gather(tensor, indices[0], 0) if len(indices) == 1 else core.gather_nd(tensor, row(indices))


class Insert(
    TensorOp,
    name="tensor.insert",
    traits=(
        traits.Pure,
        types_match_with("result type matches type of dest", "dest", "result_", lambda t: t),
        types_match_with("scalar type matches element type of dest", "dest", "scalar", element_of),
    ),
    assembly="$scalar `into` $dest `[` $indices `]` attr-dict `:` type($dest)",
):
    """Inserts an element into a copy of a tensor at indices. C1: there is one index for each axis."""

    result_name = "inserted"

    scalar: Value = operand(AnyType)
    dest: Value = operand(AnyRankedTensor)
    indices: tuple[Value, ...] = operand(Index, variadic=True)
    result_: Value = result(AnyRankedTensor)

    def verify(self) -> Iterator[Diagnostic]:
        if len(self.indices) != len(ranked_shape(self.dest)):
            yield self.violated("incorrect number of indices")

    def reference(self, scalar: Value, dest: Value, indices: tuple[Value, ...]) -> Value:
        if not indices:
            return scalar
        return core.scatter_nd(dest, core.unsqueeze(row(indices), (0,)), core.unsqueeze(scalar, (0,)))


class Yield(
    TensorOp,
    name="tensor.yield",
    traits=(traits.Pure, traits.Terminator, has_parent("tensor.generate", "tensor.pad")),
    assembly="$value attr-dict `:` type($value)",
):
    """Yields a value from a region to the enclosing operation."""

    value: Value = operand(AnyType)

    def reference(self, value: Value) -> core.Yield:
        return core.Yield((value,))


def wrong_body(op: TensorOp, body: Region, rank: int, element: Type) -> Iterator[Diagnostic]:
    """Yields the faults of a region that computes an element from its position."""
    if len(body.blocks) != 1:
        yield Diagnostic(MALFORMED_REGION, f"{op.name}: region with 1 blocks expected, found {len(body.blocks)}")
        return
    block = body.block
    if len(block.arguments) != rank:
        yield Diagnostic(MALFORMED_REGION, f"{op.name}: must have one body argument per input dimension, {rank}")
    if any(a.type is not index for a in block.arguments):
        yield Diagnostic(MALFORMED_REGION, f"{op.name}: all body arguments must be index")
    last = block.last
    if not isinstance(last, Yield):
        yield Diagnostic(MALFORMED_REGION, f"{op.name}: expects the region to end with tensor.yield")
    elif last.value.type is not element:
        yield Diagnostic(
            MALFORMED_REGION, f"{op.name}: body must be terminated with a `yield` operation of the tensor element type"
        )


def generated(body: Region, sizes: tuple[Dim, ...]) -> Value:
    """Computes elements by a region of their positions."""
    block, rank = body.block, len(sizes)

    def along(d: int) -> Value:
        counted = core.iota((sizes[d],))
        others = tuple([a for a in range(rank) if a != d])
        return core.unsqueeze(counted, others) if others else counted

    try:
        positions = {a: along(d) for d, a in enumerate(block.arguments)}
        (value,) = lifting.Lifting(sizes, along).values(block, positions)
        return core.broadcast_to(value, sizes)
    except lifting.NotLiftable:
        return _generated_one_by_one(body, sizes)


def _generated_one_by_one(body: Region, sizes: tuple[Dim, ...]) -> Value:
    block = body.block

    def step(at: Value) -> tuple[Value, ...]:
        places: list[Value] = []
        for n in reversed(sizes):
            size = core.dims((n,), i64, True)
            places.append(core.mod(at, size))
            at = core.floor_div(at, size)
        arguments = dict(zip(block.arguments, reversed(places), strict=True))
        return lifting.replayed(block, arguments, lambda d: places[-1 - d])

    nested = core.nested([TensorType(i64, ())], step)
    (found,) = core.scan((), (core.iota((element_count(sizes),)),), nested)
    return core.reshape(found, sizes)


class Generate(
    TensorOp,
    name="tensor.generate",
    traits=(traits.RecursiveEffects, traits.SingleBlock),
    assembly="$dynamic_extents $body attr-dict `:` type($result)",
):
    """Creates a tensor whose elements a region computes from their indices. C1: there is one operand for each size that
    the type leaves open.
    """

    result_name = "generated"

    dynamic_extents: tuple[Value, ...] = operand(Index, variadic=True)
    body: Region = region(doc="computes an element from its indices")
    result_: Value = result(AnyRankedTensor)

    def verify(self) -> Iterator[Diagnostic]:
        shape = ranked_shape(self.result_)
        if len(self.dynamic_extents) != count_dynamic(shape):
            yield self.violated("must have as many index operands as dynamic extents in the result type")
        yield from wrong_body(self, self.body, len(shape), element_of(self.result_.type))

    def reference(self, dynamic_extents: tuple[Value, ...], *, body: Region) -> Value:
        return generated(body, mixed_sizes(ranked_shape(self.result_), dynamic_extents))
