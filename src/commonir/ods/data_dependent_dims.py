"""Data-dependent dims: symbols defined by the result of an operation, or an argument of a nested block.

A symbol of a function's input is bound before the program runs. Any other symbol is defined as a dim of the first
value that has it; later expressions may use it, also in nested blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from commonir.base.tuples import NamedTuple
from commonir.ir.operation import Operation, Value
from commonir.ir.types import TensorType, Type, symbols_of
from commonir.ods.operation import Op
from commonir.symbolic import Dim, DimExpr, plain_symbol, symbols


class DataDependentDim(NamedTuple):
    """A symbol, defined as the dim of an axis of one of several values."""

    position: int
    axis: int
    name: str


def dims_introduced(values: Iterable[Value], known: Iterable[str]) -> tuple[DataDependentDim, ...]:
    """Returns the symbols defined by the dims of values, without those that are already known."""
    seen = set(known)
    out: list[DataDependentDim] = []
    for position, v in enumerate(values):
        for axis, d in enumerate(_shape(v.type)):
            name = plain_symbol(d)
            if name is not None and name not in seen:
                seen.add(name)
                out.append(DataDependentDim(position, axis, name))
    return tuple(out)


def defined_dims(op: Operation) -> tuple[DataDependentDim, ...]:
    """Returns the symbols defined by the results of an operation: those in neither its operands nor its attributes."""
    if not any(isinstance(d, DimExpr) for r in op.results for d in _shape(r.type)):
        return ()
    return dims_introduced(op.results, {*symbols_of([v.type for v in op.operands]), *symbols_mentioned(op)})


def symbols_mentioned(op: Operation) -> Iterator[str]:
    """Yields the symbols in the attributes of an operation."""
    for value in op.attribute_values if isinstance(op, Op) else ():
        yield from symbols_within(value)


def symbols_within(value: object) -> Iterator[str]:
    """Yields the symbols in the value of an attribute."""
    match value:
        case DimExpr():
            yield from symbols(value)
        case TensorType():
            yield from symbols_of([value])
        case tuple():
            members: tuple[object, ...] = value  # pyright: ignore[reportUnknownVariableType]  any values
            for v in members:
                yield from symbols_within(v)
        case _:
            pass


def _shape(type: Type) -> tuple[Dim | None, ...]:
    return (type.shape or ()) if isinstance(type, TensorType) else ()
