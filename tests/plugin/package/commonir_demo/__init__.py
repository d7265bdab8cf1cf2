"""A dialect with operations of each form of reference, and a function for rewrite rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonir.dialects import core
from commonir.ir import Value
from commonir.ir.types import Type, f32, f64
from commonir.notation import Expr, Index, Indices, Tensor
from commonir.ods import (
    Dialect,
    Op,
    attr_types,
    attribute,
    definitions_in,
    element_type,
    operand,
    positive,
    result,
    traits,
)
from commonir.passes.rules import RuleFunction

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.generic]


class Blend(Op, name="demo.blend", traits=(traits.Pure,), assembly="$a `,` $b attr-dict `:` type($a) `,` type($b)"):
    """A weighted mean of two tensors: weight * a + (1 - weight) * b."""

    a: Value = operand("T[*]")
    b: Value = operand("T[*]")
    weight: float = attribute(attr_types.number, default=0.5, check=positive)
    y: Value = result("T[*]")
    T = element_type(f32, f64)

    def reference(self, a: Value, b: Value) -> Value:
        left = core.mul(a, core.splat(self.weight, a))
        return core.add(left, core.mul(b, core.splat(1 - self.weight, b)))


class Total(Op, name="demo.total", traits=(traits.Pure,)):
    """The sum of two tensors of one shape."""

    a: Value = operand("T[s*]")
    b: Value = operand("T[s*]")
    y: Value = result("T[s*]")
    T = element_type(f32, f64)

    def reference(self, a: Value, b: Value) -> Value:
        return core.add(a, b)


class Outer(Op, name="demo.outer", traits=(traits.Pure,)):
    """All products of an element of a (for each batch) with an element of b."""

    a: Value = operand("T[b*, m]")
    b: Value = operand("T[n]")
    y: Value = result("T[b*, m, n]")
    T = element_type(f32, f64)

    def reference(self, a: Tensor, b_: Tensor, *, b: Indices, m: Index, n: Index) -> Expr:
        return a[(*b, m)] * b_[n]


class Median(Op, name="demo.median", traits=(traits.Pure,)):
    """The middle element along the last axis; of an even number, the mean of the two in the middle."""

    x: Value = operand("T[s*, n]")
    y: Value = result("T[s*]")
    T = element_type(f32, f64)

    def infer(self) -> tuple[Type, ...]:
        kind = core.tensor_type(self.x)
        return (kind.with_shape(None if kind.shape is None else kind.shape[:-1]),)

    def reference(self, x: Array) -> Array:
        xp = x.__array_namespace__()
        return xp.median(x, axis=-1).astype(x.dtype)


DIALECT = Dialect("demo", definitions_in(globals(), "demo"), summary="A dialect from outside of commonir.")
DOUBLED = RuleFunction("doubled", lambda number: 2 * number)
