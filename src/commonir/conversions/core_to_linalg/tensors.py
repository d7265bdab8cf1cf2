"""Tensors that rules make: empty ones, filled ones, and the structured operations over them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from commonir.conversions.core_to_linalg.scalars import Scalars, scalar_constant
from commonir.conversions.operands import element_of, sizes_of
from commonir.conversions.to_mlir.finish import signless
from commonir.conversions.to_mlir.sizes import dynamic_sizes
from commonir.dialects import tensor
from commonir.dialects.linalg.base import IteratorType
from commonir.dialects.linalg.base import Yield as LinalgYield
from commonir.dialects.linalg.generic import Generic
from commonir.dialects.linalg.named import Fill, NamedOp
from commonir.ir.affine import AffineExpr, AffineMap
from commonir.ir.operation import Block, Region, Value
from commonir.ir.types import ElementType, TensorType
from commonir.notation.functions import Number
from commonir.rewrite.legalize import Context
from commonir.symbolic import Dim


def empty(context: Context, element: ElementType, shape: Sequence[Dim]) -> Value:
    """A tensor whose elements are nothing in particular."""
    kind = TensorType(element, tuple(shape))
    return tensor.Empty.build({"dynamic_sizes": dynamic_sizes(context, shape)}, [kind]).result_


def filled(context: Context, value: Number, element: ElementType, shape: Sequence[Dim]) -> Value:
    """A tensor of one number."""
    return filled_with(scalar_constant(context, value, element), empty(context, element, shape))


def filled_with(value: Value, target: Value) -> Value:
    """A tensor of one element that is a value."""
    block = Block([value.type, signless(element_of(target))])
    block.append(LinalgYield((block.arguments[0],)))
    made = Fill.build({"inputs": (value,), "outputs": (target,), "region_": Region([block])}, [target.type])
    return made.results[0]


Body = Callable[[Scalars, Sequence[Value]], Sequence[Value]]
"""What a structured operation yields, of the elements of inputs and of what is there before."""


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
    made = Generic.build(
        {
            "inputs": tuple([v for v, _ in inputs]),
            "outputs": tuple([v for v, _ in outputs]),
            "indexing_maps": tuple([AffineMap(rank, 0, tuple(at)) for _, at in operands]),
            "iterator_types": tuple([IteratorType.REDUCTION if r else IteratorType.PARALLEL for r in is_reduced]),
            "region_": Region([block]),
        },
        [v.type for v, _ in outputs],
    )
    return made.results


def named(
    definition: type[NamedOp],
    inputs: Sequence[Value],
    output: Value,
    body: Body,
    context: Context,
    attributes: Mapping[str, object] | None = None,
) -> Value:
    """The result of a structured operation whose name tells maps and body, which is given once more."""
    block = Block([signless(element_of(v)) for v in (*inputs, output)])
    block.append(LinalgYield(tuple(body(Scalars(context, block), block.arguments))))
    given = {"inputs": tuple(inputs), "outputs": (output,), "region_": Region([block]), **(attributes or {})}
    return definition.build(given, [output.type]).results[0]


def multiply_add(element: ElementType, wide: ElementType) -> Body:
    """The body of products: what is there plus the product of elements, which are converted first."""

    def body(s: Scalars, arguments: Sequence[Value]) -> Sequence[Value]:
        a, b = [s.cast(v, element, wide) for v in arguments[:2]]
        return (s.apply("add", (arguments[2], s.apply("multiply", (a, b), wide)), wide),)

    return body


def like(context: Context, value: Value, element: ElementType | None = None) -> Value:
    """An empty tensor of the sizes of another one."""
    return empty(context, element_of(value) if element is None else element, sizes_of(value))


__all__ = ["Body", "empty", "filled", "filled_with", "generic", "like", "multiply_add", "named"]
