"""Questions that the rules of every conversion ask about their operands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from commonir.base.codes import UNSUPPORTED_CONVERSION
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.limits import DEFAULT_LIMITS
from commonir.dialects.core.base import tensor_type
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, are_known
from commonir.ods import Op
from commonir.ods.inference import operand_names
from commonir.symbolic import Dim, DimExpr


def refused(message: str) -> DiagnosticError:
    """Why an operation cannot be expressed."""
    return DiagnosticError(Diagnostic(UNSUPPORTED_CONVERSION, message))


def require_computable(count: int) -> None:
    """Raises: DiagnosticError (E0601) for a constant of more elements than a conversion computes."""
    most = DEFAULT_LIMITS.max_immediate_elements
    if count > most:
        raise refused(f"it needs a constant of {count} elements, and conversions compute at most {most}")


def shape_of(value: Value) -> tuple[Dim | None, ...]:
    """The shape of a value of known rank. Raises: DiagnosticError (E0601) when the rank is unknown."""
    result = tensor_type(value).shape
    if result is None:
        raise refused(f"the rank of '{value.name}' is not known")
    return result


def dims_of(value: Value) -> tuple[Dim, ...]:
    """The sizes of a value. Raises: DiagnosticError (E0601) when one is unknown."""
    result = shape_of(value)
    if not are_known(result):
        raise refused(f"the shape of '{value.name}' is not known")
    return result


def rank_of(value: Value) -> int:
    """The number of axes of a value. Raises: DiagnosticError (E0601) when it is unknown."""
    return len(shape_of(value))


def element_of(value: Value) -> ElementType:
    """The element type of a tensor."""
    return tensor_type(value).element


def runs_of(dims: Sequence[Dim]) -> Iterator[tuple[int, ...] | DimExpr]:
    """Dimensions in order, neighbours that are numbers together, since one constant holds them."""
    for is_fixed, run in groupby(dims, lambda d: isinstance(d, int)):
        if is_fixed:
            yield tuple([d for d in run if isinstance(d, int)])
        else:
            yield from [d for d in run if not isinstance(d, int)]


def named_operands(op: Op, operands: Sequence[Value | tuple[Value, ...] | None]) -> dict[str, Value]:
    """Returns the new operands of a kernel by the names under which the kernel reads them."""
    flat = [u for v in operands if v is not None for u in (v if isinstance(v, tuple) else (v,))]
    return dict(zip(operand_names(op), flat, strict=True))


def axes_from_start(axes: Sequence[int], rank: int) -> tuple[int, ...]:
    """Axes counted from the front, in ascending order."""
    return tuple(sorted(a + rank if a < 0 else a for a in axes))
