"""A small dialect with one definition of every kind, for the tests of what follows from definitions."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from commonir.base.codes import MALFORMED_REGION
from commonir.base.diagnostics import Diagnostic
from commonir.ir import Data, Region, Value
from commonir.ir.types import TensorType, Type, f16, f32, i32
from commonir.notation import Expr, Index, Indices, Tensor, total
from commonir.ods import (
    Dialect,
    Op,
    attr_types,
    attribute,
    constraint,
    definitions_in,
    derived,
    element_type,
    one_of,
    operand,
    parameter,
    positive,
    region,
    result,
)
from commonir.ods.traits import (
    Commutative,
    IsolatedFromAbove,
    Pure,
    SingleBlock,
    Terminator,
)
from commonir.ods.type_rules import SameOperandsAndResultType


class Mode(Enum):
    """How to compute."""

    FAST = "fast"
    EXACT = "exact"


class Scale(Op, name="t.scale", traits=(Pure,)):
    """Every element times a factor.

    Source: made up for tests.
    """

    x: Value = operand("T[s*]")
    factor: float = attribute(attr_types.number, default=2.0, check=positive, doc="what to multiply with")
    mode: Mode = attribute(attr_types.enumeration(Mode), default=Mode.FAST)
    y: Value = result("T[s*]")
    T = element_type(f16, f32)

    def reference(self, x: Tensor, *, s: Indices) -> Expr:
        return x[s] * self.factor

    @derived
    def halved(self) -> float:
        """Half of the factor."""
        return self.factor / 2


class Affine(Op, name="t.affine", traits=(Pure,)):
    """A product of matrices and, if given, a bias."""

    x: Value = operand("T[b*, k]")
    weight: Value = operand("T[k, n]")
    bias: Value | None = operand("T[n]", default=None)
    y: Value = result("T[b*, n]")
    T = element_type(f16, f32)

    def reference(self, x: Tensor, weight: Tensor, bias: Tensor | None, *, b: Indices, k: Index, n: Index) -> Expr:
        product = total(k, x[(*b, k)] * weight[k, n])
        return product if bias is None else product + bias[n]


class Sum(Op, name="t.sum", traits=(Pure, Commutative)):
    """The sum of any number of tensors, at least one, and of an offset."""

    xs: tuple[Value, ...] = operand("T[s*]", variadic=True)
    offset: Value | None = operand("T[]", default=None)
    y: Value = result("T[s*]")
    T = element_type(f16, f32)

    def infer(self) -> tuple[Type, ...]:
        return (self.xs[0].type,)

    @constraint("C1")
    def _is_not_empty(self) -> bool:
        """There is at least one tensor."""
        return bool(self.xs)


class Window(Op, name="t.window", traits=(Pure,)):
    """Takes a window of a vector."""

    x: Value = operand("f32[n]")
    size: int = parameter(attr_types.integer)
    start: int = parameter(attr_types.integer, default=0)
    parity: int = attribute(attr_types.integer, default=0, check=one_of(0, 1))
    y: Value = result("f32[m]")

    def infer(self) -> tuple[Type, ...]:
        return (TensorType(f32, (self.size,)),)

    @constraint("C1")
    def _starts_inside(self) -> bool:
        """The window starts inside of x."""
        return self.start >= 0

    @constraint("C2")
    def _has_a_size(self) -> bool:
        """The window has at least one element."""
        return self.size > 0


class Literal(Op, name="t.literal", traits=(Pure,)):
    """A constant."""

    value: Data = attribute(attr_types.data)
    y: Value = result("any")

    def infer(self) -> tuple[Type, ...]:
        return (self.value.type,)

    def constant_data(self) -> Data | None:
        return self.value


class Same(Op, name="t.same", traits=(Pure, SameOperandsAndResultType)):
    """The first operand; both have its type, says a trait."""

    a: Value = operand("any")
    b: Value = operand("any")
    y: Value = result("any")

    def infer(self) -> tuple[Type, ...]:
        return (self.a.type,)


class Halves(Op, name="t.halves", traits=(Pure,)):
    """Two results, and a third that is not always there."""

    x: Value = operand("T[s*]")
    counted: bool = attribute(attr_types.flag, default=False)
    first: Value = result("T[s*]")
    second: Value = result("T[s*]")
    count: Value | None = result("i32[]", optional=True)
    T = element_type(f16, f32)

    def infer(self) -> tuple[Type, ...]:
        actual = (self.x.type, self.x.type)
        return (*actual, TensorType(i32, ())) if self.counted else actual


class Yield(Op, name="t.yield", traits=(Pure, Terminator)):
    """Ends a block."""

    values: tuple[Value, ...] = operand("any", variadic=True)

    def infer(self) -> tuple[Type, ...]:
        return ()


class Choose(Op, name="t.choose", traits=(SingleBlock,)):
    """Runs one of two regions."""

    condition: Value = operand("i1[]")
    then: Region = region()
    otherwise: Region = region()
    outcome: tuple[Value, ...] = result("any", variadic=True)

    def infer(self) -> tuple[Type, ...]:
        last = self.then.block.last
        return () if last is None else tuple([v.type for v in last.operands])

    def verify(self) -> Iterator[Diagnostic]:
        if self.otherwise.blocks and self.otherwise.block.arguments:
            yield Diagnostic(MALFORMED_REGION, f"{self.name}: the second region takes no arguments")


class Isolated(Op, name="t.isolated", traits=(IsolatedFromAbove,)):
    """Holds regions that see nothing around them."""

    bodies: tuple[Region, ...] = region(variadic=True)

    def infer(self) -> tuple[Type, ...]:
        return ()


DIALECT = Dialect("t", definitions_in(globals(), "t"), summary="definitions of every kind, for tests")
