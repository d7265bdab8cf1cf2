"""The builtin dialect: what belongs to no other. `builtin.module` itself is `ir.Module`.

Source: MLIR builtin dialect, operations.
"""

from __future__ import annotations

from commonir.ir.operation import Value
from commonir.ods import Dialect, StatedResults, any_type, operand, result
from commonir.ods.traits import Pure


class UnrealizedConversionCast(
    StatedResults,
    name="builtin.unrealized_conversion_cast",
    traits=(Pure,),
    assembly="($inputs^ `:` type($inputs))? `to` type($outputs) attr-dict",
):
    """Stands between two parts of a program that disagree about types, until both are converted."""

    __slots__ = ()

    inputs: tuple[Value, ...] = operand(any_type, variadic=True)
    outputs: tuple[Value, ...] = result(any_type, variadic=True)


DIALECT = Dialect(
    "builtin",
    (UnrealizedConversionCast,),
    summary="modules, and casts between types that have no operation of their own",
)
