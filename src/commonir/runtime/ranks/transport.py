"""What carries tensors between the ranks of a program, as one rank sees it.

A send takes a copy and never waits. Receives are posted, ahead of time where possible, and waited for later: messages
of one source and tag are given in the order in which their receives were posted.
"""

from __future__ import annotations

from typing import Any, Protocol

from numpy.typing import NDArray

from commonir.base.tuples import NamedTuple
from commonir.ir.types import TensorType
from commonir.runtime.ranks.waiting import Key, Tag, Wait

Array = NDArray[Any]


class Posted(NamedTuple):
    """A receive: what it is for, the type of what is to come, and by which number the transport knows it."""

    key: Key
    kind: TensorType
    number: int = 0


class Transport(Protocol):
    """What one rank sends and receives by."""

    @property
    def rank(self) -> int:
        """The number of the rank."""
        ...

    @property
    def world_size(self) -> int:
        """How many ranks there are."""
        ...

    def check(self) -> None:
        """Ends a run that has ended elsewhere; engines ask it wherever they look at the time."""
        ...

    def isend(self, destination: int, tag: Tag, array: Array) -> None:
        """Sends a copy of an array, without waiting for anything."""
        ...

    def post_recv(self, source: int, tag: Tag, kind: TensorType) -> Posted:
        """Says that a message of a rank will be received."""
        ...

    def wait(self, posted: Posted, wait: Wait) -> Array:
        """Returns the array of a receive, when it has come; `wait` says where the program waits.

        Raises: DiagnosticError (E0708 for another element type or shape; E0717 when no rank can go on).
        """
        ...

    def barrier(self, wait: Wait) -> None:
        """Waits until all ranks are here. Raises: DiagnosticError (E0717 when no rank can go on)."""
        ...
