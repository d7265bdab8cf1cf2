"""The interface by which one rank sends tensors to others and receives them.

A send copies the array and never blocks. Receives are posted, ahead of time where possible, and waited for later.
Messages with the same source and tag are matched to receives in the order in which these were posted.
"""

from __future__ import annotations

from typing import Any, Protocol

from numpy.typing import NDArray

from commonir.base.tuples import NamedTuple
from commonir.ir.types import TensorType
from commonir.runtime.ranks.waiting import Key, Tag, Wait

Array = NDArray[Any]


class Posted(NamedTuple):
    """A posted receive: the key and type of the message, and a number for the transport."""

    key: Key
    type: TensorType
    number: int = 0


class Transport(Protocol):
    """The connection of one rank to the others."""

    @property
    def rank(self) -> int:
        """The number of the rank."""
        ...

    @property
    def world_size(self) -> int:
        """The number of ranks."""
        ...

    def check(self) -> None:
        """Raises if the run has failed on another rank. Engines call it whenever they check the time limit."""
        ...

    def isend(self, destination: int, tag: Tag, array: Array) -> None:
        """Sends a copy of an array without blocking."""
        ...

    def post_recv(self, source: int, tag: Tag, type: TensorType) -> Posted:
        """Posts a receive of a message from a rank."""
        ...

    def wait(self, posted: Posted, wait: Wait) -> Array:
        """Waits for the array of a receive and returns it; `wait` describes the waiting operation.

        Raises: DiagnosticError (E0708 for another element type or shape; E0717 when no rank can continue).
        """
        ...

    def barrier(self, wait: Wait) -> None:
        """Waits until all ranks are at the barrier. Raises: DiagnosticError (E0717 when no rank can continue)."""
        ...
