"""The check dialect: expectations in the test programs of StableHLO, which end a run when they do not hold.

Source: StableHLO repository, check dialect and its evaluation by the reference interpreter.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from commonir.dialects.lazy_core import core, integers, real_functions
from commonir.dialects.mlir.stablehlo.base import AnyHlo as AnyTensor
from commonir.dialects.mlir.stablehlo.base import HloOp, is_complex, kind_of, tensors
from commonir.dialects.mlir.stablehlo.bodies import every
from commonir.dialects.mlir.stablehlo.number_types import is_complex_value
from commonir.ir.core_types import core_data
from commonir.ir.data import Data
from commonir.ir.operation import Value
from commonir.ir.types import bf16, f16, f64, integer_type, u32, u64
from commonir.ods import Dialect, attr_types, attribute, definitions_in, operand
from commonir.ods.mlir_attr_types import typed_float, typed_integer
from commonir.ods.type_constraints import is_float
from commonir.ods.type_rules import SameTypeOperands, all_types_match

Inexact = tensors("CHECK_InexactTensor", ("floating-point", is_float), ("complex", is_complex))
"""Elements that have rounding errors."""

_TOLERANCE = 1e-4
_MOST_ULPS = 2**64 - 1


def _require(holds: Value, actual: Value, expected: Value) -> core.Require:
    return core.Require(every(holds), "{0} is not the expected {1}", (actual, expected))


def _of_parts(compare: Callable[[Value, Value], Value], a: Value, b: Value) -> Value:
    """A comparison of numbers; of complex ones, of both parts."""
    if not is_complex_value(a):
        return compare(a, b)
    return core.logical_and(compare(core.real(a), core.real(b)), compare(core.imag(a), core.imag(b)))


def _equal(actual: Value, expected: Value) -> core.Require:
    actual = _rounded(actual)
    return _require(_of_parts(core.equal, actual, expected), actual, expected)


def _rounded(x: Value) -> Value:
    """Half precision as it is stored: an engine may hold intermediate values more precisely."""
    kind = kind_of(x)
    if kind not in (f16, bf16):
        return x
    return core.bit_cast(core.bit_cast(x, integer_type(kind.bits)), kind)


def _almost_equal(actual: Value, expected: Value, tolerance: float | None) -> core.Require:
    def near(a: Value, b: Value) -> Value:
        distance = core.abs(core.sub(core.cast(a, f64), core.cast(b, f64)))
        within = core.less_equal(distance, core.splat(_TOLERANCE if tolerance is None else tolerance, distance))
        return reduce(core.logical_or, [core.equal(a, b), _both_nan(a, b), within])

    actual = _rounded(actual)
    return _require(_of_parts(near, actual, expected), actual, expected)


def _both_nan(a: Value, b: Value) -> Value:
    return core.logical_and(core.is_nan(a), core.is_nan(b))


def _ulps(a: Value, b: Value) -> Value:
    """How many numbers of their type lie between two, as u64: the most that there are between a finite number and
    another one.
    """

    def bits(x: Value) -> Value:
        return integers.as_unsigned(core.bit_cast(x, integer_type(kind_of(x).bits)))

    first, second = bits(a), bits(b)
    top = core.splat(1 << (kind_of(a).bits - 1), first)
    x, y = [core.cast(core.bitwise_and(v, core.bitwise_not(top)), u64) for v in (first, second)]
    one_sign = core.equal(core.bitwise_and(first, top), core.bitwise_and(second, top))
    apart = core.sub(core.maximum(x, y), core.minimum(x, y))
    distance = core.select(one_sign, apart, core.add(x, y))
    finite = core.logical_and(real_functions.is_finite(a), real_functions.is_finite(b))
    same = core.logical_or(core.equal(first, second), _both_nan(a, b))
    none, most = core.splat(0, distance), core.splat(_MOST_ULPS, distance)
    return core.select(same, none, core.select(finite, distance, most))


class ExpectEq(
    HloOp, name="check.expect_eq", traits=(SameTypeOperands,), assembly="$lhs `,` $rhs attr-dict `:` type($lhs)"
):
    """Ends the run unless two tensors are equal; NaN is equal to nothing."""

    lhs: Value = operand(AnyTensor)
    rhs: Value = operand(AnyTensor)

    def reference(self, lhs: Value, rhs: Value) -> core.Require:
        return _equal(lhs, rhs)


class ExpectEqConst(
    HloOp,
    name="check.expect_eq_const",
    traits=(all_types_match("lhs", "value"),),
    assembly="$lhs `,` $value attr-dict",
):
    """Ends the run unless a tensor is equal to a constant; NaN is equal to nothing."""

    lhs: Value = operand(AnyTensor)
    value: Data = attribute(attr_types.data)

    def reference(self, lhs: Value) -> core.Require:
        return _equal(lhs, core.constant(core_data(self.value)))


class ExpectAlmostEq(
    HloOp,
    name="check.expect_almost_eq",
    traits=(SameTypeOperands,),
    assembly="$lhs `,` $rhs (`,` `tolerance` `=` $tolerance^)? attr-dict `:` type($lhs)",
):
    """Ends the run unless the elements of two tensors differ by no more than a tolerance, or are both NaN."""

    lhs: Value = operand(Inexact)
    rhs: Value = operand(Inexact)
    tolerance: float | None = attribute(typed_float(f64), default=None)

    def reference(self, lhs: Value, rhs: Value) -> core.Require:
        return _almost_equal(lhs, rhs, self.tolerance)


class ExpectAlmostEqConst(
    HloOp,
    name="check.expect_almost_eq_const",
    traits=(all_types_match("lhs", "value"),),
    assembly="$lhs `,` $value (`,` `tolerance` `=` $tolerance^)? attr-dict",
):
    """Ends the run unless the elements of a tensor differ from those of a constant by no more than a tolerance, or are
    NaN as they are.
    """

    lhs: Value = operand(Inexact)
    value: Data = attribute(attr_types.data)
    tolerance: float | None = attribute(typed_float(f64), default=None)

    def reference(self, lhs: Value) -> core.Require:
        return _almost_equal(lhs, core.constant(core_data(self.value)), self.tolerance)


class ExpectClose(
    HloOp,
    name="check.expect_close",
    traits=(all_types_match("actual", "expected"),),
    assembly=(
        "$actual `,` $expected `,` `max_ulp_difference` `=` $max_ulp_difference "
        "(`,` `min_ulp_difference` `=` $min_ulp_difference^)? `:` attr-dict type($actual) `,` type($expected)"
    ),
):
    """Ends the run unless the number of floating-point numbers between the elements of two tensors is within bounds."""

    actual: Value = operand(Inexact)
    expected: Value = operand(Inexact)
    max_ulp_difference: int = attribute(typed_integer(u64), default=1)
    min_ulp_difference: int | None = attribute(typed_integer(u64), default=None)

    def reference(self, actual: Value, expected: Value) -> core.Require:
        if is_complex_value(actual):
            both = [_ulps(part(actual), part(expected)) for part in (core.real, core.imag)]
            distance = core.maximum(*both)
        else:
            distance = _ulps(actual, expected)
        holds = core.logical_and(
            core.less_equal(distance, core.splat(self.max_ulp_difference, distance)),
            core.greater_equal(distance, core.splat(self.min_ulp_difference or 0, distance)),
        )
        return _require(holds, actual, expected)


class ExpectSerializedEq(
    HloOp,
    name="check.expect_serialized_eq",
    assembly="$expected `,` `probe_id` `=` $probe_id (`,` `iter` `=` $iteration^)? attr-dict `:` type($expected)",
):
    """Ends the run unless a tensor is equal to what `interpreter.probe` stored in a file."""

    expected: Value = operand(AnyTensor)
    probe_id: str = attribute(attr_types.string)
    iteration: int | None = attribute(typed_integer(u32), default=None)


DIALECT = Dialect("check", definitions_in(globals(), "check"), summary="Expectations in test programs of StableHLO.")
