"""Operations of the tensor dialect that keep the elements and change how they are seen.

Source: MLIR tensor dialect.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from commonir.base.diagnostics import Diagnostic
from commonir.dialects.lazy_core import core
from commonir.dialects.mlir.tensor.base import (
    Groups,
    TensorOp,
    as_position,
    known_size,
    mixed,
    positions,
    reassociation,
    refined,
    static_sizes,
)
from commonir.ir.core_types import core_type
from commonir.ir.operation import Value
from commonir.ir.types import DYNAMIC, ElementType, Shape, TensorType, Type
from commonir.ods import attribute, operand, result, traits
from commonir.ods.operand_shapes import known_dims_of, ranked_shape
from commonir.ods.type_constraints import (
    AnyFloat,
    AnySignedInteger,
    AnySignlessInteger,
    AnySignlessIntegerOrIndex,
    AnyTensor,
    AnyUnsignedInteger,
    Index,
    is_ranked_tensor,
    tensor_of,
    tensor_rank_of,
)
from commonir.ods.type_rules import are_compatible_shapes, element_of
from commonir.symbolic import Dim, element_count, floor_div
from commonir.symbolic.errors import NotKnownError

_NUMBERS = tensor_of(AnySignlessInteger, AnyUnsignedInteger, AnySignedInteger, AnyFloat)


def _cannot_cast(op: TensorOp, source: Type, dest: Type) -> Diagnostic:
    return op.violated(f"operand type '{source}' and result type '{dest}' are cast incompatible")


class Cast(
    TensorOp, name="tensor.cast", traits=(traits.Pure,), assembly="$source attr-dict `:` type($source) `to` type($dest)"
):
    """Casts a tensor to a type with a more or less static shape. C1: the types have one element type and compatible
    shapes.
    """

    result_name = "cast"

    source: Value = operand(AnyTensor)
    dest: Value = result(AnyTensor)

    def verify(self) -> Iterator[Diagnostic]:
        a, b = self.source.type, self.dest.type
        if element_of(a) is not element_of(b) or not are_compatible_shapes(a, b):
            yield _cannot_cast(self, a, b)

    def reference(self, source: Value) -> Value:
        return refined(source, self.dest.type)


class Bitcast(
    TensorOp,
    name="tensor.bitcast",
    traits=(traits.Pure,),
    assembly="$source attr-dict `:` type($source) `to` type($dest)",
):
    """Reinterprets the bits of each element as another type of the same width. C1: the element types have one bit
    width, and the shapes are compatible.
    """

    source: Value = operand(_NUMBERS)
    dest: Value = result(_NUMBERS)

    def verify(self) -> Iterator[Diagnostic]:
        a, b = element_of(self.source.type), element_of(self.dest.type)
        fit = isinstance(a, ElementType) and isinstance(b, ElementType) and width(a) == width(b)
        if not fit or not are_compatible_shapes(self.source.type, self.dest.type):
            yield _cannot_cast(self, self.source.type, self.dest.type)

    def reference(self, source: Value) -> Value:
        expected = core.as_tensor(core_type(self.dest.type)).element
        same = core.tensor_type(source).element is expected
        return refined(source if same else core.bit_cast(source, expected), self.dest.type)


def width(element: ElementType) -> int:
    """Returns the number of bits of a number: 1 for a bool, whatever its storage takes."""
    return 1 if element.kind == "bool" else element.bits


class Reshape(
    TensorOp,
    name="tensor.reshape",
    traits=(traits.Pure,),
    assembly="$source `(` $shape `)` attr-dict `:` functional-type(operands, results)",
):
    """Reshapes a tensor, in row-major order, to a shape given by an operand.

    C1: source and result have one element type. C2: a ranked result has as many axes as the shape has entries. C3:
    source and result have equally many elements if both are static.
    """

    result_name = "reshape"

    source: Value = operand(AnyTensor)
    shape: Value = operand(tensor_rank_of((AnySignlessIntegerOrIndex,), (1,)))
    result_: Value = result(AnyTensor)

    def verify(self) -> Iterator[Diagnostic]:
        source, expected = self.source.type, self.result_.type
        if element_of(source) is not element_of(expected):
            yield self.violated("element types of source and destination tensor types should be the same")
        (length,) = ranked_shape(self.shape)
        if not isinstance(expected, TensorType) or expected.shape is None:
            return
        if not isinstance(length, int):
            yield self.violated("a shape of unknown length cannot be that of a tensor of known rank")
        elif length != len(expected.shape):
            yield self.violated("length of shape operand differs from the result's tensor rank")
        if (
            isinstance(source, TensorType)
            and source.is_static
            and expected.is_static
            and source.count != expected.count
        ):
            yield self.violated("source and destination tensor should have the same number of elements")

    def reference(self, source: Value, shape: Value) -> Value:
        expected = self.result_.type
        if isinstance(expected, TensorType) and expected.is_static:
            return core.reshape(source, expected.static_shape)
        return refined(core.dynamic_reshape(source, as_position(shape)), expected)


def _wrong_groups(op: TensorOp, groups: Groups, expanded: Shape, collapsed: Shape) -> Iterator[Diagnostic]:
    """Yields the faults of reassociation groups, each of which is one axis of the other shape."""
    if len(groups) != len(collapsed):
        message = f"expected rank of the collapsed type ({len(collapsed)}) to be the number of reassociation maps"
        yield op.violated(f"{message} ({len(groups)})")
        return
    flat = [axis for group in groups for axis in group]
    if flat != list(range(len(flat))):
        yield op.violated("expected reassociation map to be valid and contiguous")
        return
    if groups and len(flat) != len(expanded):
        yield op.violated(f"expected reassociation map to have {len(expanded)} dimensions, found {len(flat)}")
        return
    for n, (group, whole) in enumerate(zip(groups, collapsed, strict=True)):
        parts = [expanded[axis] for axis in group]
        known = [p for p in parts if isinstance(p, int)]
        if len(known) == len(parts) and (not isinstance(whole, int) or element_count(known) != whole):
            yield op.violated(f"expected dimension {n} of collapsed type to be static value of {element_count(known)}")
        elif len(known) < len(parts) and isinstance(whole, int) and op.name == "tensor.collapse_shape":
            yield op.violated(f"expected dimension {n} of collapsed type to be dynamic, as a part of it is")


class ExpandShape(
    TensorOp,
    name="tensor.expand_shape",
    traits=(traits.Pure,),
    assembly="$src $reassociation `output_shape` custom<DynamicIndexList>($output_shape, $static_output_shape)"
    " attr-dict `:` type($src) `into` type($result)",
):
    """Expands each dimension into several. C1: there is a group of adjacent axes of the result for each axis of the
    source, in order, and their sizes fit it. C2: `output_shape` has the sizes of the result type.
    """

    result_name = "expanded"

    src: Value = operand(AnyTensor)
    reassociation: Groups = attribute(reassociation)
    output_shape: tuple[Value, ...] = operand(Index, variadic=True)
    static_output_shape: tuple[int, ...] = attribute(positions)
    result_: Value = result(AnyTensor)

    def verify(self) -> Iterator[Diagnostic]:
        if not is_ranked_tensor(self.src.type) or not is_ranked_tensor(self.result_.type):
            yield self.violated("C1: expected source and result of known rank")
            return
        source, expected = ranked_shape(self.src), ranked_shape(self.result_)
        if element_of(self.src.type) is not element_of(self.result_.type):
            yield self.violated("expected source and result to have one element type")
        if len(self.static_output_shape) != len(expected):
            result = len(self.static_output_shape)
            yield self.violated(f"expected as many sizes as dimensions of the output ({len(expected)}), found {result}")
            return
        if sum(n == DYNAMIC for n in self.static_output_shape) != len(self.output_shape):
            yield self.violated("mismatch in dynamic dims in output_shape and static_output_shape")
        if static_sizes(expected) != self.static_output_shape:
            yield self.violated(
                f"expected output_shape to be {list(static_sizes(expected))}, found {list(self.static_output_shape)}"
            )
        yield from _wrong_groups(self, self.reassociation, expected, source)

    def reference(self, src: Value, output_shape: tuple[Value, ...]) -> Value:
        source = ranked_shape(src)
        given = mixed(self.static_output_shape, output_shape)
        sizes: list[Dim] = [n if isinstance(n, int) else -1 for n in given]
        for axis, n in enumerate(given):
            if isinstance(n, Value):
                sizes[axis] = self._size(n, axis, source, sizes)
        return core.reshape(src, tuple(sizes))

    def _size(self, declared: Value, axis: int, source: Shape, sizes: Sequence[Dim]) -> Dim:
        """A size: what the operand says, or what is left of the axis that is divided."""
        try:
            return known_size(declared)
        except NotKnownError:
            place = next(n for n, group in enumerate(self.reassociation) if axis in group)
            others = [sizes[a] for a in self.reassociation[place] if a != axis]
            whole = source[place]
            if whole is None or -1 in others:
                raise
            return floor_div(whole, element_count(others))


class CollapseShape(
    TensorOp,
    name="tensor.collapse_shape",
    traits=(traits.Pure,),
    assembly="$src $reassociation attr-dict `:` type($src) `into` type($result)",
):
    """Collapses groups of adjacent dimensions into one each. C1: there is a group of adjacent axes of the source for
    each axis of the result, in order, and their sizes fit it.
    """

    result_name = "collapsed"

    src: Value = operand(AnyTensor)
    reassociation: Groups = attribute(reassociation)
    result_: Value = result(AnyTensor)

    def verify(self) -> Iterator[Diagnostic]:
        if element_of(self.src.type) is not element_of(self.result_.type):
            yield self.violated("expected source and result to have one element type")
        if not is_ranked_tensor(self.src.type) or not is_ranked_tensor(self.result_.type):
            yield self.violated("C1: expected source and result of known rank")
        else:
            yield from _wrong_groups(self, self.reassociation, ranked_shape(self.src), ranked_shape(self.result_))

    def reference(self, src: Value) -> Value:
        known = known_dims_of(src)
        return core.reshape(src, tuple([element_count([known[a] for a in group]) for group in self.reassociation]))
