"""Places of operations and of arguments that are known when a text has been read to its end.

A location may be an alias that the text defines later, and the arguments of a body that a form leaves out come from
where the operands of its operation do, which may be such a place. Source: MLIR text, deferred locations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from commonir.ir.attributes import Attribute
from commonir.ir.locations import LocationAttr
from commonir.ir.operation import Block, Operation, Value
from commonir.ir.origins import Origin


class UnresolvedLocations:
    """What awaits a place: operations by the alias that tells theirs, and bodies that lie where operands do."""

    def __init__(self) -> None:
        self._named: list[tuple[Operation, str, int]] = []
        self._bodies: list[Operation] = []

    def await_alias(self, op: Operation, name: str, at: int) -> None:
        """Has an operation lie where an alias says, which is used at an offset."""
        self._named.append((op, name, at))

    def follow_operands(self, op: Operation) -> None:
        """Has the arguments of the body of an operation lie where its operands do, one by one."""
        self._bodies.append(op)

    def settle(self, aliases: Mapping[str, Attribute]) -> Iterator[tuple[str, int]]:
        """Gives everything its place; returns the aliases that were not defined, and where they are used."""
        for op, name, at in self._named:
            found = aliases.get(name)
            if isinstance(found, LocationAttr):
                op.location = found
            else:
                yield name, at
        for op in self._bodies:
            op.regions[0].blocks[0].origins = tuple([_origin(v) for v in op.operands])


def _origin(value: Value) -> Origin | None:
    """Where a value comes from."""
    owner = value.owner
    return owner.origin_of(value) if isinstance(owner, Block) else owner.location if owner is not None else None
