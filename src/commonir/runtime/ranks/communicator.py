"""The communicator of a rank, which executes communication operations over a transport.

Operands are rounded to their declared types before they are sent. An all-reduce consists of sends and receives.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.codes import UNSUPPORTED_EXECUTION
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.dialects import core
from commonir.ir.module import Function
from commonir.ir.operation import Operation, Value
from commonir.ir.types import TensorType
from commonir.ods import source_path
from commonir.runtime.ranks.program import communicates
from commonir.runtime.ranks.transport import Posted, Transport
from commonir.runtime.ranks.waiting import Key, Wait
from commonir.runtime.values import declared

Array = NDArray[Any]
Arrays = tuple[Array, ...]

AHEAD_BYTES = 1 << 30
"""The memory of receives that are posted ahead; the system allocates its pages when messages arrive."""


class Communicator:
    """Executes communication operations for an engine. Without a transport, its rank is the only one."""

    def __init__(self) -> None:
        self._transport: Transport | None = None
        self._ahead: deque[Operation] = deque()
        self._posted: dict[Operation, tuple[Posted, ...]] = {}
        self._posted_bytes = 0
        self.seconds = 0.0
        """The time of communication operations in the last run, including the sums of all-reduces."""

    def begin(self, transport: Transport, function: Function) -> None:
        """Starts a run of a function, and posts its receives ahead, in program order."""
        self._transport = transport
        self._ahead = deque(_receives(function))
        self._posted = {}
        self._posted_bytes = 0
        self.seconds = 0.0
        self._post_ahead()

    def end(self) -> None:
        """Ends a run that did not fail."""

    def check(self) -> None:
        """Raises if the run has failed on another rank; see `Transport`."""
        if self._transport is not None:
            self._transport.check()

    def execute(self, op: Operation, values: Mapping[Value, Array]) -> Arrays:
        """Returns the results of a communication operation.

        Raises: DiagnosticError (E0708, E0709, E0717).
        """
        start = time.perf_counter()
        result = self._executed(op, values)
        self.seconds += time.perf_counter() - start
        return result

    def _executed(self, op: Operation, values: Mapping[Value, Array]) -> Arrays:
        match op:
            case core.AllReduce():
                return (self._all_reduce(op, _rounded(op.x, values)),)
            case core.Barrier() if self._transport is None:
                return ()
            case core.Send():
                self._required_transport(op).isend(op.destination, op.tag, _rounded(op.x, values))
                return ()
            case core.Recv():
                transport = self._required_transport(op)
                (posted,) = self._take(op, transport, _received_type(op))
                return (transport.wait(posted, self._wait(op, posted.key)),)
            case core.Barrier():
                self._required_transport(op).barrier(self._wait(op))
                return ()
            case _:
                message = f"{op.name} cannot be run: lower the program first"
                raise DiagnosticError(Diagnostic(UNSUPPORTED_EXECUTION, message, where=source_path(op)))

    def _required_transport(self, op: Operation) -> Transport:
        if self._transport is None:
            message = f"{op.name} needs another rank, but the program runs as a single one"
            help = "run the program with all of its ranks"
            raise DiagnosticError(Diagnostic(UNSUPPORTED_EXECUTION, message, where=source_path(op), help=help))
        return self._transport

    def _all_reduce(self, op: core.AllReduce, x: Array) -> Array:
        transport = self._transport
        out = x.copy()
        if transport is None:
            return out
        for step in core.all_reduce_steps(transport.rank, transport.world_size):
            transport.isend(step.destination, None, x)
        # Dynamic dims are equal on all ranks.
        for posted in self._take(op, transport, _received_type(op).with_shape(x.shape)):
            received = transport.wait(posted, self._wait(op, posted.key))
            with np.errstate(all="ignore"):
                # Rounding the sum of two halves in single precision gives the result of half-precision addition.
                out = np.asarray(out + received, dtype=x.dtype)
        return out

    def _take(self, op: Operation, transport: Transport, type: TensorType) -> tuple[Posted, ...]:
        """Returns the receives posted for an operation; posts them now if they were not posted ahead."""
        if self._ahead and self._ahead[0] is op:
            self._post_next(transport)
        result = self._posted.pop(op, None)
        if result is None:
            return _post(op, transport, type)
        self._posted_bytes -= sum([_size_bytes(p.type) for p in result])
        self._post_ahead()
        return result

    def _wait(self, op: Operation, key: Key | None = None) -> Wait:
        return Wait(op.name, source_path(op), key)

    def _post_ahead(self) -> None:
        transport = self._transport
        while transport is not None and self._ahead and self._posted_bytes < AHEAD_BYTES:
            self._post_next(transport)

    def _post_next(self, transport: Transport) -> None:
        op = self._ahead.popleft()
        self._posted[op] = posted = _post(op, transport, _received_type(op))
        self._posted_bytes += sum([_size_bytes(p.type) for p in posted])


def _received_type(op: Operation) -> TensorType:
    """Returns the type of the messages that an operation receives."""
    type = op.results[0].type
    assert isinstance(type, TensorType)
    return type


def _post(op: Operation, transport: Transport, type: TensorType) -> tuple[Posted, ...]:
    """Posts the receives of an operation and returns them."""
    if isinstance(op, core.Recv):
        return (transport.post_recv(op.source, op.tag, type),)
    steps = core.all_reduce_steps(transport.rank, transport.world_size)
    return tuple([transport.post_recv(step.source, None, type) for step in steps])


def _receives(function: Function) -> Iterable[Operation]:
    """Yields the receiving operations of a function in order, up to the first that may not run exactly once."""
    for op in function.body.operations:
        match op:
            case core.Recv():
                yield op
            case core.AllReduce():
                if not (isinstance(op.x.type, TensorType) and op.x.type.is_static):
                    return
                yield op
            case core.Call():
                return
            case _ if op.regions and any(communicates(nested) or isinstance(nested, core.Call) for nested in op.walk()):
                return
            case _:
                pass


def _size_bytes(type: TensorType) -> int:
    return type.count * type.element.bits // 8 if type.is_static else 0


def _rounded(value: Value, values: Mapping[Value, Array]) -> Array:
    return np.asarray(declared(values[value], value.type))
