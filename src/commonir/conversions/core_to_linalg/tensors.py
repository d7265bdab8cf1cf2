"""Tensors that rules make: empty ones, filled ones, and the structured operations over them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from commonir.conversions.core_to_linalg.scalars import Scalars, scalar_constant
from commonir.conversions.operands import dims_of, element_of
from commonir.conversions.to_mlir.dims import dynamic_sizes, static_sizes
from commonir.conversions.to_mlir.finish import erased, signless
from commonir.dialects.mlir import tensor
from commonir.dialects.mlir.linalg.base import IteratorType
from commonir.dialects.mlir.linalg.base import Yield as LinalgYield
from commonir.dialects.mlir.linalg.generic import Generic
from commonir.dialects.mlir.linalg.named import Fill, NamedOp
from commonir.ir.affine import AffineExpr, AffineMap
from commonir.ir.operation import Block, Region, Value
from commonir.ir.types import ElementType, TensorType, index
from commonir.notation.functions import Number
from commonir.rewrite.legalize import Context
from commonir.symbolic import Dim


def empty(context: Context, element: ElementType, shape: Sequence[Dim]) -> Value:
    """A tensor whose elements are nothing in particular."""
    type = TensorType(element, tuple(shape))
    return tensor.Empty.build({"dynamic_sizes": dynamic_sizes(context, shape)}, [type]).result_


def filled(context: Context, value: Number, element: ElementType, shape: Sequence[Dim]) -> Value:
    """A tensor of one number."""
    return filled_with(scalar_constant(context, value, element), empty(context, element, shape))


def filled_with(value: Value, target: Value) -> Value:
    """A tensor of one element that is a value."""
    block = Block([value.type, signless(element_of(target))])
    block.append(LinalgYield((block.arguments[0],)))
    result = Fill.build({"inputs": (value,), "outputs": (target,), "region": Region([block])}, [target.type])
    return result.results[0]


Body = Callable[[Scalars, Sequence[Value]], Sequence[Value]]
"""Computes what a structured operation yields from the elements of inputs and the previous outputs."""


def generic(
    context: Context,
    inputs: Sequence[tuple[Value, Sequence[AffineExpr]]],
    outputs: Sequence[tuple[Value, Sequence[AffineExpr]]],
    is_reduced: Sequence[bool],
    body: Body,
) -> tuple[Value, ...]:
    """The results of a `linalg.generic`; with each operand comes where its elements are read."""
    operands = (*inputs, *outputs)
    block = Block([signless(element_of(v)) for v, _ in operands])
    yielded = body(Scalars(context, block), block.arguments)
    block.append(LinalgYield(tuple(yielded)))
    rank = len(is_reduced)
    result = Generic.build(
        {
            "inputs": tuple([v for v, _ in inputs]),
            "outputs": tuple([v for v, _ in outputs]),
            "indexing_maps": tuple([AffineMap(rank, 0, tuple(at)) for _, at in operands]),
            "iterator_types": tuple([IteratorType.REDUCTION if r else IteratorType.PARALLEL for r in is_reduced]),
            "region": Region([block]),
        },
        [v.type for v, _ in outputs],
    )
    return result.results


def named(
    definition: type[NamedOp],
    inputs: Sequence[Value],
    output: Value,
    body: Body,
    context: Context,
    attributes: Mapping[str, object] | None = None,
) -> Value:
    """Returns the result of a named structured operation; its maps and body follow from the name."""
    block = Block([signless(element_of(v)) for v in (*inputs, output)])
    block.append(LinalgYield(tuple(body(Scalars(context, block), block.arguments))))
    arguments = {"inputs": tuple(inputs), "outputs": (output,), "region": Region([block]), **(attributes or {})}
    return definition.build(arguments, [output.type]).results[0]


def multiply_add(element: ElementType, wide: ElementType) -> Body:
    """The body of products: what is there plus the product of elements, which are converted first."""

    def body(s: Scalars, arguments: Sequence[Value]) -> Sequence[Value]:
        a, b = [s.cast(v, element, wide) for v in arguments[:2]]
        return (s.apply("add", (arguments[2], s.apply("multiply", (a, b), wide)), wide),)

    return body


def padded(
    context: Context, x: Value, shape: Sequence[Dim], before: Sequence[Dim], after: Sequence[Dim], fill: Number
) -> Value:
    """A tensor continued by a number on both sides of each axis; amounts are not negative."""
    number = scalar_constant(context, fill, element_of(x))
    return padded_with(
        x, TensorType(element_of(x), tuple(shape)), amounts(context, before), amounts(context, after), number
    )


Amounts = tuple[tuple[int, ...], tuple[Value, ...]]
"""Numbers with a mark for each value, and the values."""


def amounts(context: Context, dims: Sequence[Dim]) -> Amounts:
    """Positions or sizes as operations of the tensor dialect take them."""
    return static_sizes(dims), dynamic_sizes(context, dims)


def padded_with(x: Value, type: TensorType, before: Amounts, after: Amounts, fill: Value) -> Value:
    """A tensor continued by an element on both sides of each axis."""
    block = Block([index] * len(before[0]))
    block.append(tensor.Yield(fill))
    arguments = {
        "source": x,
        "static_low": before[0],
        "low": before[1],
        "static_high": after[0],
        "high": after[1],
        "region": Region([block]),
    }
    return tensor.Pad.build(arguments, [type]).results[0]


def cast_to(x: Value, type: TensorType) -> Value:
    """A tensor under a type that knows more or less of its sizes."""
    return x if erased(x.type) is erased(type) else tensor.Cast.build({"source": x}, [type]).dest


def part(context: Context, x: Value, offsets: Sequence[Dim], dims: Sequence[Dim], steps: Sequence[int]) -> Value:
    """A part of a tensor: along each axis a first position, a size and a step."""
    if 0 in dims:
        return empty(context, element_of(x), dims)
    first, count = amounts(context, offsets), amounts(context, dims)
    arguments = {
        "source": x,
        "static_offsets": first[0],
        "offsets": first[1],
        "static_sizes": count[0],
        "sizes": count[1],
        "static_strides": tuple(steps),
        "strides": (),
    }
    return tensor.ExtractSlice.build(arguments, [TensorType(element_of(x), tuple(dims))]).result_


def dilated(context: Context, x: Value, factors: Sequence[int], shape: Sequence[Dim]) -> Value:
    """A tensor with zeros between neighbours, of the shape that follows."""
    zero = False if element_of(x).kind == "bool" else 0
    target = filled(context, zero, element_of(x), shape)
    count = amounts(context, dims_of(x))
    arguments = {
        "source": x,
        "dest": target,
        "static_offsets": (0,) * len(factors),
        "static_sizes": count[0],
        "sizes": count[1],
        "static_strides": tuple(factors),
    }
    return tensor.InsertSlice.build(arguments, [target.type]).results[0]


def like(context: Context, value: Value, element: ElementType | None = None) -> Value:
    """An empty tensor of the sizes of another one."""
    return empty(context, element_of(value) if element is None else element, dims_of(value))
