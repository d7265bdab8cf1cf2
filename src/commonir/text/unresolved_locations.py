"""Locations that refer to aliases defined later in the text.

Arguments of a body that a form omits have the locations of the operands of its operation, which may be unresolved
too. Source: MLIR text, deferred locations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from commonir.ir.attributes import Attribute
from commonir.ir.locations import LocationAttr
from commonir.ir.operation import Block, Operation, Value
from commonir.ir.origins import Origin


class UnresolvedLocations:
    """The operations with unresolved aliases, and the bodies whose arguments have the locations of operands."""

    def __init__(self) -> None:
        self._alias_uses: list[tuple[Operation, str, int]] = []
        self._bodies: list[Operation] = []

    def add_alias_use(self, op: Operation, name: str, at: int) -> None:
        """Adds an operation whose location is an alias, used at an offset of the text."""
        self._alias_uses.append((op, name, at))

    def copy_locations_from_operands(self, op: Operation) -> None:
        """Adds an operation whose body arguments have the locations of its operands, one by one."""
        self._bodies.append(op)

    def resolve(self, aliases: Mapping[str, Attribute]) -> Iterator[tuple[str, int]]:
        """Sets all locations; yields the undefined aliases and the offsets of their uses."""
        for op, name, at in self._alias_uses:
            location = aliases.get(name)
            if isinstance(location, LocationAttr):
                op.location = location
            else:
                yield name, at
        for op in self._bodies:
            op.regions[0].blocks[0].origins = tuple([_origin(v) for v in op.operands])


def _origin(value: Value) -> Origin | None:
    """Returns the location of a value."""
    owner = value.owner
    return owner.origin_of(value) if isinstance(owner, Block) else owner.location if owner is not None else None
