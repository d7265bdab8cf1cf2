"""Rules for conversions of elements that index notation cannot say."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from commonir.conversions.core_to_linalg.scalars import Scalars
from commonir.conversions.core_to_linalg.tensors import empty, generic
from commonir.conversions.operands import dims_of, element_of
from commonir.conversions.to_mlir.finish import signless
from commonir.dialects import core
from commonir.dialects.core.base import tensor_type
from commonir.dialects.mlir import arith
from commonir.dialects.mlir import complex as complex_
from commonir.ir.affine import AffineDim
from commonir.ir.operation import Value
from commonir.ir.types import boolean, i64
from commonir.rewrite.legalize import Context, Mismatch, Result, rule

Mapped = Callable[[Scalars, Sequence[Value]], Value]


def mapped(context: Context, inputs: Sequence[Value], result: Value, body: Mapped) -> Value:
    """A scalar function of the elements of tensors of one shape."""
    shape = dims_of(result)
    at = [AffineDim(n) for n in range(len(shape))]
    target = empty(context, element_of(result), shape)
    (results,) = generic(
        context,
        [(v, at) for v in inputs],
        [(target, at)],
        [False] * len(shape),
        lambda s, arguments: (body(s, arguments[:-1]),),
    )
    return results


@rule(core.BitCast)
def bit_cast(op: core.BitCast, context: Context, x: Value) -> Result:
    source, target = tensor_type(op.x).element, op.to

    def body(s: Scalars, arguments: Sequence[Value]) -> Value:
        (v,) = arguments
        if source is boolean or target is boolean:
            return s.cast(v, source, target)
        if signless(source) is signless(target):
            return v
        return s.make(arith.Bitcast.build({"in_": v}, [signless(target)]))

    return mapped(context, [x], op.y, body)


@rule(core.NarrowCast)
def narrow_cast(op: core.NarrowCast, context: Context, x: Value) -> Result:
    """To integers: the low bits of the integer."""
    source, target = tensor_type(op.x).element, op.to
    if not target.is_integer:
        return Mismatch(f"arith does not round to {target} as asked for")

    def body(s: Scalars, arguments: Sequence[Value]) -> Value:
        (v,) = arguments
        wide = i64 if source.is_float else source
        whole = s.cast(v, source, wide)
        bits = wide.width
        if bits == target.bits:
            return whole
        return s.cast(whole, wide, target)

    return mapped(context, [x], op.y, body)


@rule(core.MakeComplex)
def make_complex(op: core.MakeComplex, context: Context, real: Value, imaginary: Value) -> Result:
    element_type = tensor_type(op.y).element

    def body(s: Scalars, arguments: Sequence[Value]) -> Value:
        operands = {"real": arguments[0], "imaginary": arguments[1]}
        return s.make(complex_.Create.build(operands, [element_type]))

    return mapped(context, [real, imaginary], op.y, body)


@rule(core.Real)
def real_part(op: core.Real, context: Context, x: Value) -> Result:
    return mapped(context, [x], op.y, lambda s, arguments: s.make(complex_.Re(arguments[0])))


@rule(core.Imaginary)
def imaginary_part(op: core.Imaginary, context: Context, x: Value) -> Result:
    return mapped(context, [x], op.y, lambda s, arguments: s.make(complex_.Im(arguments[0])))
