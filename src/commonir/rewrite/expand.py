"""One step of expansion: a composite operation replaced by what its reference says, and folding on the way.

Calling a reference with the real operands is the expansion; there is no conversion table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from commonir.base.codes import VIOLATED_CONSTRAINT
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.dialects import core
from commonir.ir.operation import Block, Location, Operation, Region, Value
from commonir.ir.types import TensorType
from commonir.notation import NotationError, NotKnownError
from commonir.ods import Op, not_known, operations_behind, results_of, traits


class Expansion:
    """What stands for an operation: the values of its results, and the new operations behind them in order."""

    __slots__ = ("operations", "results")

    def __init__(self, results: tuple[Value, ...], operations: list[Operation]) -> None:
        self.results = results
        self.operations = operations


def expand(op: Op, operands: Sequence[Value], regions: Mapping[str, Region] | None = None) -> Expansion:
    """A composite on other operands, one level down: calls its reference. The new operations are in no block.

    `operands` are flat, as `op.operands`.

    Raises: DiagnosticError (E0504) when the reference cannot be stated for these operands; E0509 when it depends on
        values that only running tells.
    """
    replacement = dict(zip(op.operands, operands, strict=True))
    grouped: list[Value | tuple[Value, ...] | None] = []
    for f in op.layout.formals:
        v: Value | tuple[Value, ...] | None = op.field_value(f)
        if isinstance(v, tuple):
            grouped.append(tuple([replacement[u] for u in v]))
        else:
            grouped.append(None if v is None else replacement[v])
    try:
        returned = op.reference(*grouped, **(regions or {}))
    except NotKnownError as reason:
        raise DiagnosticError(not_known(op, reason)) from None
    except NotationError as error:
        raise DiagnosticError(Diagnostic(VIOLATED_CONSTRAINT, f"{op.name}: {error}")) from None
    if isinstance(returned, Operation) and not returned.results:
        return Expansion((), [*operations_behind(returned.operands), returned])
    outputs = results_of(returned)
    return Expansion(outputs, operations_behind(outputs))


def append(block: Block, expansion: Expansion, location: Location | None = None) -> tuple[Value, ...]:
    """Puts an expansion at the end of a block, folding what shape arithmetic decides, and returns the results."""
    replaced: dict[Value, Value] = {}
    for op in expansion.operations:
        simpler = folded(op)
        if simpler is None:
            block.append(op)
            op.location = op.location or location
            continue
        owner = simpler.owner
        if isinstance(owner, Operation) and owner.parent is None:
            block.append(owner)
            owner.location = location
        op.results[0].replace_all_uses_with(simpler)
        replaced[op.results[0]] = simpler
        op.erase()
    return tuple([_last(v, replaced) for v in expansion.results])


def _last(value: Value, replaced: dict[Value, Value]) -> Value:
    while value in replaced:
        value = replaced[value]
    return value


def folded(op: Operation) -> Value | None:
    """A simpler value for the single result: an operand it equals, or a vector of known dimensions."""
    if not isinstance(op, Op) or len(op.results) != 1 or op.has_trait(traits.ConstantLike):
        return None
    simpler = op.fold()
    if isinstance(simpler, Value):
        return simpler
    kind = op.results[0].type
    if not isinstance(kind, TensorType) or not kind.element.is_integer or kind.rank not in (0, 1):
        return None
    known = op.constant_dims()
    if known is None:
        return None
    return core.Dims(known, kind.element, kind.rank == 0).y
