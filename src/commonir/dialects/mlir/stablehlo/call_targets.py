"""Meanings of custom calls: the targets that jax, torch and TensorFlow write, for programs of one device.

Another target is refused by its name. Sources: jax/_src/export/shape_poly.py (shape_assertion), the custom calls that
StableHLO's dialect recognizes for chlo operations (mhlo.*), XLA's names for sharding annotations, jaxlib's names for
LAPACK.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from commonir.base.codes import UNSUPPORTED_CONVERSION
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.dialects.lazy_core import core
from commonir.dialects.mlir.stablehlo import chlo, contraction
from commonir.dialects.mlir.stablehlo.base import HloOp, Transposition
from commonir.ir.attributes import Attribute, DictionaryAttr, IntegerAttr, StringAttr
from commonir.ir.operation import Operation, Value
from commonir.ir.types import TensorType, boolean, i32
from commonir.notation import NotationError
from commonir.ods import known_data, results_of
from commonir.ods.operand_shapes import known_dims_of

if TYPE_CHECKING:
    from commonir.dialects.mlir.stablehlo.control import CustomCall

CallMeaning = Callable[["CustomCall", tuple[Value, ...]], "tuple[Value, ...] | Operation"]
_UPPER, _TRANSPOSED, _UNIT, _LEFT = ord("U"), ord("T"), ord("U"), ord("L")
"""Letters of LAPACK, which jaxlib writes as numbers."""


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


def _settings(op: CustomCall, *keys: str) -> Mapping[str, int]:
    """Returns the integers of `backend_config`, or of the `attributes` of a call of an operation."""
    stored: list[Attribute | None] = [op.backend_config, *[op.extra.get(key) for key in keys]]
    entries = [e for a in stored if isinstance(a, DictionaryAttr) for e in a.entries]
    return {key: int(a.value) for key, a in entries if isinstance(a, IntegerAttr)}


def _top_k(op: CustomCall, inputs: tuple[Value, ...]) -> tuple[Value, ...]:
    settings = _settings(op, "mhlo.attributes")
    if len(inputs) != 1 or "k" not in settings or settings.get("largest", 1) == 0:
        raise NotationError("'mhlo.topk' takes one operand, its number of elements k, and returns the largest")
    return _same(chlo.TopK(inputs[0], settings["k"]))


def _factored(op: CustomCall, inputs: tuple[Value, ...]) -> tuple[Value, ...]:
    """Factors matrices as `potrf`; its second result is 0 where a matrix is positive definite."""
    settings = _settings(op, "mhlo.backend_config")
    is_lower = settings.get("uplo", _UPPER) != _UPPER
    (factor,) = _same(contraction.Cholesky(inputs[0], lower=is_lower))
    rank = len(known_dims_of(factor))
    is_nan = core.cast(core.is_nan(factor), i32)
    return factor, core.reduce_max(is_nan, (rank - 2, rank - 1))


def _solved(op: CustomCall, inputs: tuple[Value, ...]) -> tuple[Value, ...]:
    """Solves triangular systems as `trsm`."""
    settings = _settings(op, "mhlo.backend_config")
    is_transposed = settings.get("trans_x") == _TRANSPOSED
    a, b = inputs
    return _same(
        contraction.TriangularSolve(
            a,
            b,
            left_side=settings.get("side", _LEFT) == _LEFT,
            lower=settings.get("uplo") != _UPPER,
            unit_diagonal=settings.get("diag") == _UNIT,
            transpose_a=Transposition.TRANSPOSE if is_transposed else Transposition.NO_TRANSPOSE,
        )
    )


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
        **{f"lapack_{t}potrf_ffi": _factored for t in "sd"},
        **{f"lapack_{t}trsm_ffi": _solved for t in "sd"},
    }
)
