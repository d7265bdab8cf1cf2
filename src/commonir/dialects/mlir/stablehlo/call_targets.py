"""Meanings of custom calls: the targets that jax, torch and TensorFlow write, for programs of one device.

Another target is refused by its name. Sources: jax/_src/export/shape_poly.py (shape_assertion), the custom calls that
StableHLO's dialect recognizes for chlo operations (mhlo.*), XLA's names for sharding annotations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from commonir.base.codes import UNSUPPORTED_CONVERSION
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.dialects.lazy_core import core
from commonir.dialects.mlir.stablehlo import called_programs, chlo, lapack, random_bits
from commonir.dialects.mlir.stablehlo.base import HloOp, rng_algorithm, sizes_in
from commonir.dialects.mlir.stablehlo.foreign_calls import settings_of
from commonir.ir.attributes import StringAttr
from commonir.ir.operation import Operation, Value
from commonir.ir.types import ElementType, TensorType, boolean
from commonir.notation import NotationError
from commonir.ods import known_data, results_of
from commonir.ods.type_rules import element_of

if TYPE_CHECKING:
    from commonir.dialects.mlir.stablehlo.control import CustomCall

CallMeaning = Callable[["CustomCall", tuple[Value, ...]], "tuple[Value, ...] | Operation"]


def meaning_of(op: CustomCall, inputs: tuple[Value, ...]) -> tuple[Value, ...] | Operation:
    """Returns the results of a custom call in terms of the core, or its assertion.

    Raises: DiagnosticError (E0601) for a target without a meaning here.
    """
    target = op.call_target_name
    meaning = _MEANINGS.get(target)
    if meaning is None:
        help = "export the model without this call, or replace it by operations that compute the same"
        message = f"{op.name}: the function '{target}' is outside of the program, and commonir does not know it"
        raise DiagnosticError(Diagnostic(UNSUPPORTED_CONVERSION, message, help=help))
    return meaning(op, inputs)


def _asserted(op: CustomCall, inputs: tuple[Value, ...]) -> tuple[Value, ...] | Operation:
    """Requires its first operand; `{n}` in the message is the n-th of the others."""
    if not inputs or inputs[0].type is not TensorType(boolean, ()):
        raise NotationError("the first operand of a shape assertion is its condition, a tensor<i1>")
    condition, *values = inputs
    known = known_data(condition)
    if known is not None and all(known.values()):
        return ()
    message = op.extra.get("error_message")
    text = message.value if isinstance(message, StringAttr) else "a shape assertion of the program fails"
    return core.Require(condition, text, tuple(values))


def _forwarded(op: CustomCall, inputs: tuple[Value, ...]) -> tuple[Value, ...]:
    """Annotates values; for one device, each result is the operand at its position."""
    if [v.type for v in inputs] != [r.type for r in op.results]:
        raise NotationError(f"'{op.call_target_name}' for several devices divides values, and here is one device")
    return inputs


def _same(prototype: HloOp) -> tuple[Value, ...]:
    """Returns the results of an operation that means the same; it is not inserted."""
    results = results_of(prototype.reference(*prototype.grouped_operands()))
    prototype.erase()
    return results


def _function(make: Callable[[Value], HloOp]) -> CallMeaning:
    def meaning(op: CustomCall, inputs: tuple[Value, ...]) -> tuple[Value, ...]:
        if len(inputs) != 1:
            raise NotationError(f"'{op.call_target_name}' takes one operand, found {len(inputs)}")
        return _same(make(inputs[0]))

    return meaning


def _top_k(op: CustomCall, inputs: tuple[Value, ...]) -> tuple[Value, ...]:
    settings = settings_of(op)
    if len(inputs) != 1 or "k" not in settings or settings.get("largest", 1) == 0:
        raise NotationError("'mhlo.topk' takes one operand, its number of elements k, and returns the largest")
    return _same(chlo.TopK(inputs[0], settings["k"]))


def _dynamic_top_k(op: CustomCall, inputs: tuple[Value, ...]) -> tuple[Value, ...]:
    if len(inputs) != 2:
        raise NotationError(f"'{op.call_target_name}' takes two operands, found {len(inputs)}")
    (k,) = sizes_in(inputs[1])
    return chlo.largest(inputs[0], k)


def _dynamic_random_bits(op: CustomCall, inputs: tuple[Value, ...]) -> tuple[Value, ...]:
    stored = op.extra.get("rng_algorithm")
    element = element_of(op.results[1].type) if len(op.results) == 2 else None
    if len(inputs) != 2 or stored is None or not isinstance(element, ElementType):
        raise NotationError(
            f"'{op.call_target_name}' takes a state, a shape and the algorithm, and returns two tensors"
        )
    return random_bits.generated(inputs[0], rng_algorithm.from_attribute(stored), sizes_in(inputs[1]), element)


_ANNOTATIONS = (
    "Sharding",
    "SPMDFullToShardShape",
    "SPMDShardToFullShape",
    "annotate_device_placement",
    "LayoutConstraint",
    "MoveToDevice",
    "MoveToHost",
    "PinToDevice",
    "xla.sdy.FuncResultSharding",
    "xla.sdy.GlobalToLocalShape",
    "xla.sdy.LocalToGlobalShape",
)
_FUNCTIONS = (
    chlo.Acos,
    chlo.Acosh,
    chlo.Asin,
    chlo.Asinh,
    chlo.Atanh,
    chlo.Cosh,
    chlo.Erf,
    chlo.Erfc,
    chlo.Sinh,
    chlo.Tan,
)
_MEANINGS: Mapping[str, CallMeaning] = MappingProxyType(
    {
        "shape_assertion": _asserted,
        **dict.fromkeys(_ANNOTATIONS, _forwarded),
        **{f"mhlo.{c.name.partition('.')[2]}": _function(c) for c in _FUNCTIONS},
        "mhlo.topk": _top_k,
        "ApproxTopK": called_programs.approximate_top_k,
        "stablehlo.dynamic_reduce_window": called_programs.reduced_windows,
        "stablehlo.dynamic_top_k": _dynamic_top_k,
        "stablehlo.dynamic_rng_bit_generator": _dynamic_random_bits,
        **lapack.CALLS,
    }
)
