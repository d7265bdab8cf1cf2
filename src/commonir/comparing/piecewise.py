"""Runs functions piece by piece, so that each value can be inspected without storing all of them.

A piece is a sequence of operations that becomes a function: its inputs are values of earlier pieces, its outputs are
values that are requested or used later. Any engine can run it. A value lives until its last use. Operations run in the
order in which values are requested.

An engine cannot fuse operations across pieces, and values that it would keep in a wider type are rounded at the end of
a piece. The time limit applies to all pieces together.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from math import prod
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from commonir.comparing.live_values import LiveValues, Peak
from commonir.dialects import core
from commonir.dialects.mlir import ml_program
from commonir.ir.cloning import clone
from commonir.ir.module import Function, Invocation, Module
from commonir.ir.operation import Block, Operation, Value
from commonir.ir.ports import NewInterface
from commonir.ir.types import TensorType, Type
from commonir.ods import Op, traits
from commonir.ods.specialize import specialize, specialized_type
from commonir.passes.named_values import returnable
from commonir.runtime.binding.inputs import bind, requirements
from commonir.runtime.engine import DEFAULT_OPTIONS, Engine, EngineOptions
from commonir.runtime.limits import time_is_up
from commonir.runtime.values import is_array, value_type
from commonir.symbolic import DimExpr
from commonir.symbolic.dims import symbols_in

Array = NDArray[np.generic]

PIECE_BYTES = 1 << 26
"""The size of the results of one piece, unless those of a single operation are larger."""

_REFERRING = (core.Call, ml_program.GlobalLoadConst, Invocation)


class PiecewiseRun:
    """One run of a function in pieces: of a lowered module, or of one in a dialect that the engine runs directly."""

    def __init__(
        self,
        module: Module,
        function: Function,
        inputs: Mapping[str, object],
        engine: Engine,
        *,
        options: EngineOptions = DEFAULT_OPTIONS,
        piece_bytes: int = PIECE_BYTES,
        known: Mapping[Value, Array] = MappingProxyType({}),
    ) -> None:
        """`known` are the arrays of values that are not computed.

        Raises: DiagnosticError when the inputs do not fit (E0701 to E0703, E0707).
        """
        self.live_bytes = 0
        self._module = module
        self._engine = engine
        self._options = options
        self._piece_bytes = piece_bytes
        self._function = function
        # Each piece receives a copy, which takes as long as the function is: of one without its operations.
        self._signature = clone(function, keep=lambda _: False)
        bound = bind(function, inputs, requirements(function), check_lower_bounds=False)
        self._dims = dict(bound.dims)
        self._inputs = {**dict(zip(function.inputs, bound.arrays, strict=True)), **known}
        self._live = LiveValues()
        self._seconds = 0.0

    @property
    def peak(self) -> Peak:
        """The most values that were live at once, and the most bytes."""
        return self._live.peak

    def values(self, requested: Sequence[Value]) -> Iterator[Array]:
        """Yields the arrays of values of the function's body, in this order.

        Raises: DiagnosticError as the engine does.
        """
        steps = _schedule(requested, self._inputs)
        self._live = LiveValues(self._inputs)
        uses_left = Counter(v for op in steps for v in _captured(op))
        uses_left.update(requested)
        self._drop_unused(self._inputs, uses_left)
        yielded = 0
        for piece in self._pieces(steps):
            self._run_piece(piece, uses_left)
            while yielded < len(requested) and requested[yielded] in self._live:
                yield self._take(requested[yielded], uses_left)
                yielded += 1
        for value in requested[yielded:]:
            yield self._take(value, uses_left)

    def _take(self, value: Value, uses_left: Counter[Value]) -> Array:
        array = self._live[value]
        uses_left[value] -= 1
        if not uses_left[value]:
            self._live.drop(value)
        return array

    def _drop_unused(self, values: Iterable[Value], uses_left: Mapping[Value, int]) -> None:
        for v in values:
            if not uses_left[v]:
                self._live.drop(v)

    # -- pieces

    def _pieces(self, steps: Sequence[Operation]) -> Iterator[list[Operation]]:
        """Yields groups of operations with results of bounded size; one with a data-dependent result ends its group."""
        piece: list[Operation] = []
        total = 0
        for op in steps:
            sizes_bytes = [self._size_bytes(v.type) for v in op.results]
            piece_bytes = sum(n for n in sizes_bytes if n is not None)
            if piece and total + piece_bytes > self._piece_bytes:
                yield piece
                piece, total = [], 0
            piece.append(op)
            total += piece_bytes
            if None in sizes_bytes:
                yield piece
                piece, total = [], 0
        if piece:
            yield piece

    def _size_bytes(self, type: Type) -> int | None:
        specialized = specialized_type(type, self._dims)
        if not isinstance(specialized, TensorType) or not specialized.is_static:
            return None
        return specialized.element.size_bytes(prod(specialized.static_shape))

    def _run_piece(self, piece: Sequence[Operation], uses_left: Counter[Value]) -> None:
        self._live.begin_piece()
        defined = {v for op in piece for v in op.results}
        captured = list(dict.fromkeys(v for op in piece for v in _captured(op) if v not in defined))
        for op in piece:
            uses_left.subtract(_captured(op))
        outputs = [v for op in piece for v in op.results if uses_left[v] > 0]
        if outputs:
            feeds = {_input_name(n): self._live[v] for n, v in enumerate(captured)}
            results = self._run_operations(piece, captured, outputs, feeds)
            for v, array in zip(outputs, results.values(), strict=True):
                self._live.add(v, array)
                if is_array(array):
                    self._bind_dims(v.type, array.shape)
        self._live.end_piece()
        self.live_bytes = self._live.size_bytes
        self._drop_unused(captured, uses_left)

    def _run_operations(
        self,
        piece: Sequence[Operation],
        captured: Sequence[Value],
        outputs: Sequence[Value],
        feeds: Mapping[str, Array],
    ) -> Mapping[str, Array]:
        """Runs a piece within the remaining time."""
        module = self._module_of(piece, captured, outputs)
        limit = self._options.time_limit_seconds
        if limit is None:
            return self._engine.prepare(module, None, self._options).run(feeds)
        if self._seconds >= limit:
            raise time_is_up()
        start = time.monotonic()
        options = self._options._replace(time_limit_seconds=limit - self._seconds)
        result = self._engine.prepare(module, None, options).run(feeds)
        self._seconds += time.monotonic() - start
        return result

    def _bind_dims(self, type: Type, shape: tuple[int, ...]) -> None:
        """Stores the dims that a result binds, such as data-dependent ones."""
        dims = type.shape if isinstance(type, TensorType) else None
        for d, dim in zip(dims or (), shape, strict=False):
            if isinstance(d, DimExpr) and len(names := symbols_in(d)) == 1 and d.terms == {(names[0],): 1}:
                self._dims.setdefault(names[0].name, dim)

    def _key_of(
        self, piece: Sequence[Operation], captured: Sequence[Value], outputs: Sequence[Value]
    ) -> tuple[object, ...] | None:
        """Returns a key that pieces have in common whose programs are equal; None for one that may be like no other."""
        numbers: dict[Value, object] = {v: n for n, v in enumerate(captured)}
        parts: list[object] = [value_type(v, self._live[v]) for v in captured]
        for op in piece:
            if not isinstance(op, Op) or op.regions or not op.has_trait(traits.Pure) or isinstance(op, _REFERRING):
                return None
            operands = tuple([numbers[v] if v in numbers else _constant_key(v) for v in op.operands])
            parts.append((type(op), op.decoded_attributes(), operands, tuple([r.type for r in op.results])))
            numbers |= {r: (len(parts), r.index) for r in op.results}
        return (*parts, *[numbers[v] for v in outputs])

    def _module_of(self, piece: Sequence[Operation], captured: Sequence[Value], outputs: Sequence[Value]) -> Module:
        """Returns a module with the piece as its main function, specialized for the dims of this run."""
        types = [value_type(v, self._live[v]) for v in captured]
        block = Block(types, [_input_name(n) for n in range(len(captured))])
        mapping: dict[Value, Value] = dict(zip(captured, block.arguments, strict=True))
        constants = dict.fromkeys(v.owner for op in piece for v in op.values_used if is_constant(v))
        for op in (*constants, *piece):
            if isinstance(op, Operation) and not any(r in mapping for r in op.results):
                block.append(clone(op, mapping))
        # Specializing replaces operations, so outputs are taken from the terminator.
        end = block.append(ml_program.Return(tuple([mapping[v] for v in outputs])))
        specialize(block, self._dims)
        returned = [(_output_name(n), v) for n, v in enumerate(end.operands)]
        end.erase()
        function = clone(self._signature)
        result = Module(entry=self._function.symbol_name)
        # Globals and callees that the piece refers to.
        if any(isinstance(op, _REFERRING) for o in piece for op in o.walk()):
            for op in self._module.body.operations:
                if op is not self._function:
                    result.body.append(clone(op))
        result.body.append(function)
        function.replace_interface(NewInterface(block, returnable(function, block, returned), {}, {}, {}))
        return result


# Names with spaces do not collide with those of files.
def _input_name(number: int) -> str:
    return f"input {number} of a piece"


def _output_name(number: int) -> str:
    return f"output {number} of a piece"


def is_constant(value: Value) -> bool:
    """Returns whether a constant operation defines the value."""
    owner = value.owner
    return isinstance(owner, Op) and owner.has_trait(traits.ConstantLike)


_MOST_COMPARED_BYTES = 64


def _constant_key(value: Value) -> object:
    """Returns a key that is equal for equal small constants; others are equal only if they are one."""
    owner = value.owner
    data = owner.constant_data() if isinstance(owner, Op) else None
    if not isinstance(owner, Op) or data is None or data.size_bytes > _MOST_COMPARED_BYTES:
        return value
    return (type(owner), owner.decoded_attributes(), value.type)


def _captured(op: Operation) -> Iterable[Value]:
    """Returns the values that an operation uses, except constants, which are copied into each piece."""
    return [v for v in op.values_used if not is_constant(v)]


def _schedule(requested: Sequence[Value], known: Container[Value]) -> list[Operation]:
    """Returns the operations that values need besides those known, in the order in which the values are requested."""
    scheduled: set[Operation] = set()
    out: list[Operation] = []
    for value in requested:
        pending = [value.owner] if isinstance(value.owner, Operation) and value not in known else []
        while pending:
            op = pending[-1]
            owners = [v.owner for v in op.values_used if not is_constant(v) and v not in known]
            missing = (
                [o for o in owners if isinstance(o, Operation) and o not in scheduled] if op not in scheduled else []
            )
            if missing:
                pending += reversed(missing)
                continue
            pending.pop()
            if op not in scheduled:
                scheduled.add(op)
                out.append(op)
    return out
