"""Rewrites conversions to narrow types so that the numbers are those of the type, in wider types that a target has.

A number is rounded to the grid that the narrow type has around it: a power of two that comparisons find, so that all
steps are exact in single precision. Of integers the bits that do not fit are cut off. Quantization to fewer than 8 bits
becomes arithmetic. Convolutions of integers become ones in single precision where every sum is exact there, and the
largest of bytes is found in single precision. What has no such form stays.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from commonir.base.diagnostics import Diagnostics
from commonir.conversions.core_to_core.integer_convolutions import in_single_precision
from commonir.conversions.core_to_core.quantizing import quantized_steps
from commonir.dialects import core
from commonir.dialects.core.base import tensor_type
from commonir.dialects.mlir import ml_program
from commonir.ir.floats import FORMATS, FloatFormat, decoded
from commonir.ir.module import Module
from commonir.ir.operation import Operation, Region, Value
from commonir.ir.types import ElementType, boolean, f32, i8, i32
from commonir.passes.transcribe import Transcription, copied, with_functions

_REWRITTEN = core.NarrowCast | core.BitCast | core.Quantize | core.Conv | core.MaxPool


def wide_narrow_numbers(module: Module, known: frozenset[ElementType] = frozenset()) -> Module:
    """A lowered module without conversions to narrow types and windows of integers; itself when it has none.

    What gives elements of a type that the target knows stays as it is.
    """
    functions = [op for op in module.body.operations if isinstance(op, ml_program.Func) and not op.is_declaration]
    if not any(isinstance(op, _REWRITTEN) for f in functions for op in f.walk()):
        return module
    return with_functions(module, [_Widening(f, known).function() for f in functions])


class _Widening(Transcription):
    """Rewrites the conversions of one function."""

    def __init__(self, source: ml_program.Func, known: frozenset[ElementType]) -> None:
        super().__init__(source, Diagnostics())
        self._known = known
        self._before: dict[Value, Value] = {}

    def rewritten(self, op: Operation, operands: tuple[Value, ...], regions: tuple[Region, ...]) -> Sequence[Value]:
        built: Value | None = None
        if isinstance(op, core.Cast) and op.to is f32 and operands[0] in self._before:
            # Sums become floats again as they were before they became integers.
            return (self._before[operands[0]],)
        if not isinstance(op, _REWRITTEN) or tensor_type(op.y).element in self._known:
            return super().rewritten(op, operands, regions)
        match op:
            case core.NarrowCast(to=to) if to.is_integer:
                (x,) = operands
                built = core.cast(core.cast(x, i32) if tensor_type(x).element.is_float else x, to)
            case core.NarrowCast(to=to, saturate=saturate) if FORMATS[to.name].has_sign:
                built = core.cast(_rounded(core.cast(operands[0], f32), to, saturates=saturate), to)
            case core.NarrowCast(to=to, saturate=saturate, toward=toward):
                built = core.cast(_power_of_two(core.cast(operands[0], f32), to, toward, saturates=saturate), to)
            case core.BitCast(to=to) if _is_whole(to) and _is_whole(tensor_type(operands[0]).element):
                built = core.cast(operands[0], to)
            case core.Quantize(element=to) if to.bits < i8.bits:
                arguments = [core.cast(v, f32) for v in operands]
                built = core.cast(
                    quantized_steps(arguments[0], arguments[1], arguments[2] if len(arguments) > 2 else None, to), to
                )
            case core.Conv() if tensor_type(op.x).element.is_integer:
                built = in_single_precision(op, operands[0], operands[1], operands[2] if op.bias is not None else None)
                if built is not None and isinstance(built.owner, core.Cast):
                    self._before[built] = built.owner.x
            case core.MaxPool() if _is_of_few_bits(op):
                wide = self.place(copied(op, (core.cast(operands[0], f32),))).results[0]
                built = core.cast(wide, tensor_type(op.y).element)
            case _:
                pass
        if built is None:
            return super().rewritten(op, operands, regions)
        return (self.placed(built),)


def _is_of_few_bits(op: core.MaxPool) -> bool:
    """Whether each window has an element, and these are integers that single precision holds."""
    element = tensor_type(op.x).element
    is_inside = all(max(pair) < k for pair, k in zip(op.pads, op.kernel, strict=False))
    return element.is_integer and element.bits < FORMATS[f32.name].precision and is_inside and not op.ceil_mode


def _is_whole(element: ElementType) -> bool:
    return (element.is_integer or element is boolean) and element.bits <= i32.bits


def _rounded(x: Value, to: ElementType, *, saturates: bool) -> Value:
    """A number of single precision rounded to a narrower type, to the nearest one and of two to the even one."""
    format = FORMATS[to.name]
    most = _largest(format, to.name)
    magnitude = core.abs(x)
    step = core.splat(2.0 ** (format.least - format.precision + 1), x)
    for exponent in range(format.least + 1, math.frexp(most)[1]):
        is_beyond = core.greater_equal(magnitude, core.splat(2.0**exponent, x))
        step = core.select(is_beyond, core.splat(2.0 ** (exponent - format.precision + 1), x), step)
    near = core.mul(core.round(core.div(x, step)), step)
    if format.specials == "none":
        # There is no NaN either: zero stands for it.
        return core.select(core.is_nan(x), core.splat(0.0, x), core.clip(near, -most, most))
    if saturates:
        return core.clip(near, -most, most)
    outside = core.splat(math.inf, x) if format.specials == "ieee" else core.splat(math.nan, x)
    is_beyond = core.greater(core.abs(near), core.splat(most, x))
    return core.select(is_beyond, core.mul(near, outside), near)


def _power_of_two(x: Value, to: ElementType, toward: core.Toward, *, saturates: bool) -> Value:
    """A number of single precision as one of the two powers of two around it; NaN of negative ones.

    The power of two below is found bit by bit of its exponent, so that all steps are exact.
    """
    format = FORMATS[to.name]
    least, most = 2.0**format.least, 2.0 ** (format.least + format.exponent_mask - 1)
    part, power = x, core.splat(1.0, x)
    for sign in (1, -1):
        for exponent in (64, 32, 16, 8, 4, 2, 1):
            bound = core.splat(2.0**exponent if sign > 0 else 2.0 ** (1 - exponent), x)
            is_beyond = core.greater_equal(part, bound) if sign > 0 else core.less(part, bound)
            factor = 2.0 ** (sign * exponent)
            part = core.select(is_beyond, core.mul(part, core.splat(1 / factor, x)), part)
            power = core.select(is_beyond, core.mul(power, core.splat(factor, x)), power)
    near = core.select(_goes_up(part, toward), core.mul(power, core.splat(2.0, x)), power)
    is_number = core.greater_equal(x, core.splat(0.0, x))
    if saturates:
        near = core.clip(near, least, most)
    else:
        # What lies below the least power goes up to it as it does between others, or is beyond the range.
        reaches = _goes_up(core.mul(part, core.splat(2.0, x)), toward)
        is_inside = core.logical_or(core.greater_equal(part, core.splat(1.0, x)), reaches)
        is_inside = core.logical_and(is_inside, core.less_equal(near, core.splat(most, x)))
        is_number = core.logical_and(is_number, is_inside)
    return core.select(is_number, near, core.splat(math.nan, x))


def _goes_up(part: Value, toward: core.Toward) -> Value:
    """Whether a number between 1 and 2 counts as 2."""
    match toward:
        case core.Toward.UP:
            return core.greater(part, core.splat(1.0, part))
        case core.Toward.NEAREST:
            return core.greater_equal(part, core.splat(1.5, part))
        case core.Toward.DOWN:
            return core.greater_equal(part, core.splat(math.inf, part))


def _largest(format: FloatFormat, name: str) -> float:
    """The largest number of a format."""
    codes = [decoded(code, name) for code in range(1 << format.bits)]
    return max(math.ldexp(n.significand, n.exponent) for n in codes if n is not None)
