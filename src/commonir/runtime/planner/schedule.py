"""The schedule of the numpy engine: how the blocks of a program run, cached by block, shapes and guarded contents.

From each operation on, a block runs in one of three ways: a plan, a single operation, or direct evaluation. Which one,
and the plan itself, depends on the shapes of the actual values, and may depend on the contents of a few small ones,
which guard the plan. The schedule only stores decisions; the engine runs.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from commonir.base.tuples import NamedTuple
from commonir.ir.operation import Block, Operation, Value
from commonir.ir.types import TensorType, symbols_of, unknown
from commonir.ods import Op, known_dims
from commonir.ods.data_dependent_dims import defined_dims, symbols_mentioned, symbols_within
from commonir.runtime.instances import instance, is_concrete
from commonir.runtime.planner.block_tracing import operations_of
from commonir.runtime.planner.segment_planning import Segment
from commonir.runtime.values import is_array, shapes_of, value_type

Array = NDArray[Any]

MAX_SHAPES = 64
"""The number of shapes stored for each operation at which a scheduled part of a block starts."""

MAX_PLANS = 8
"""The number of shapes with stored plans for each such operation; each plan has buffers of its own."""

MAX_CONTENTS = 4
"""The number of contents of guarded inputs with plans of their own; one more plan serves all others."""


class PlanStep(NamedTuple):
    """A plan that ran as a part of a block, and the entry that contains it."""

    entry: ScheduleEntry
    segment: Segment


class SingleStep(NamedTuple):
    """An operation of a block that ran alone, with the shapes of its results."""

    shapes: list[tuple[int, ...]]


class RecordedRun(NamedTuple):
    """The steps in which a block ran from its first operation to its last, and the dims of symbols at its start.

    It holds for values of the same shapes while single operations return the same shapes, and guards hold.
    """

    dims: dict[str, int]
    steps: list[PlanStep | SingleStep]


class ScheduleEntry:
    """How a block runs from one operation on, for values of some shapes.

    Plans are stored by the contents of the guarded values; after `MAX_CONTENTS`, one plan serves all contents.
    """

    def __init__(self, direct_stop: int) -> None:
        self.direct_stop = direct_stop
        self.direct_runs = 0
        self.recorded: RecordedRun | None = None
        self.instance: Op | None = None
        self._guarded: tuple[Value, ...] = ()
        self._plans: dict[tuple[bytes, ...] | None, Segment] = {}

    @property
    def plans(self) -> Iterable[Segment]:
        """The plans for all contents."""
        return self._plans.values()

    def plan_for(self, values: Mapping[Value, Array]) -> Segment | None:
        """Returns the stored plan for some values; None if there is none."""
        return self._plans.get(_contents(self._guarded, values)) or self._plans.get(None)

    def plan_or_build(
        self, values: Mapping[Value, Array], build: Callable[[tuple[Value, ...] | None], Segment]
    ) -> Segment:
        """Returns the plan for some values. `build` receives the guarded values, None for a plan without guards."""
        segment = self.plan_for(values)
        if segment is not None:
            return segment
        may_guard = len(self._plans) < MAX_CONTENTS
        segment = build(self._guarded if may_guard else None)
        if segment.guarded != self._guarded and may_guard:
            self._plans.clear()
            self._guarded = segment.guarded
        self._plans[_contents(self._guarded, values) if may_guard else None] = segment
        return segment

    def drop_plans(self) -> None:
        """Removes all plans; recorded runs that contain them no longer apply."""
        self._plans.clear()


class BlockSchedule:
    """The operations of a block, facts about them that hold for all shapes, and the entries so far."""

    def __init__(self, block: Block) -> None:
        self.operations = operations_of(block)
        self.defined_dims = [defined_dims(op) for op in self.operations]
        self.is_single = [_handles_no_tensors(op) for op in self.operations]
        # Operations may need only the dims of an argument, which they name by symbols.
        self._last_use: dict[Value, int] = {a: 0 for a in block.arguments if symbols_of([a.type])}
        for n, op in enumerate(self.operations):
            for nested in op.walk() if op.regions else (op,):
                self._last_use.update(dict.fromkeys(nested.operands, n))
        if block.last is not None:
            self._last_use.update(dict.fromkeys(block.last.operands, len(self.operations)))
        self._symbols: dict[int, tuple[str, ...]] = {}
        self._entries: dict[int, OrderedDict[Hashable, ScheduleEntry]] = {}

    def is_needed(self, value: Value, start: int) -> bool:
        """Returns whether the operation at an index, or one after it, uses a value."""
        return self._last_use.get(value, -1) >= start

    def entry(
        self, start: int, values: Mapping[Value, Array], dims: Mapping[str, int], stored: Hashable = ()
    ) -> ScheduleEntry:
        """Returns the entry for the values that are needed from an operation on; `stored` are shapes of globals."""
        shapes = [(v, x.shape if is_array(x) else None) for v, x in values.items() if self.is_needed(v, start)]
        return self._entry(start, (tuple(shapes), tuple(sorted(dims.items())), stored))

    def planned_shapes(self, start: int) -> int:
        """Returns the number of shapes for which there are plans from an operation on."""
        entries = self._entries.get(start)
        return 0 if entries is None else sum([1 for entry in entries.values() if entry.plans])

    def drop_old_plans(self, start: int) -> None:
        """Drops the plans of the least recently used shapes."""
        planned = [entry for entry in self._entries[start].values() if entry.plans]
        for entry in planned[:-MAX_PLANS]:
            entry.drop_plans()

    def instance_at(self, at: int, operands: Sequence[Array], dims: Mapping[str, int]) -> Op:
        """Returns the operation at an index, on operands of known dims."""
        op = self.operations[at]
        assert isinstance(op, Op)
        symbols = self._symbols.get(at)
        if symbols is None:
            symbols = self._symbols[at] = () if is_concrete(op) else _symbols_of(op)
        if not symbols and is_concrete(op):
            return op
        entry = self._entry(at, (tuple(shapes_of(operands)), tuple([dims.get(name) for name in symbols])))
        if entry.instance is None:
            types = [value_type(v, x) for v, x in zip(op.operands, operands, strict=True)]
            entry.instance = instance(op, [Value(t) for t in types], dims)
        return entry.instance

    def segments(self) -> Iterator[Segment]:
        """Yields every plan."""
        for entries in self._entries.values():
            for entry in entries.values():
                yield from entry.plans

    def _entry(self, start: int, key: Hashable) -> ScheduleEntry:
        entries = self._entries.setdefault(start, OrderedDict())
        entry = entries.get(key)
        if entry is None:
            entry = entries[key] = ScheduleEntry(len(self.operations))
            if len(entries) > MAX_SHAPES:
                entries.popitem(last=False)[1].drop_plans()
        entries.move_to_end(key)
        return entry


class Schedule:
    """The schedules of all blocks of a program."""

    def __init__(self) -> None:
        self._blocks: dict[Block, BlockSchedule] = {}

    def get(self, block: Block) -> BlockSchedule:
        """Returns the schedule of a block."""
        result = self._blocks.get(block)
        if result is None:
            result = self._blocks[block] = BlockSchedule(block)
        return result

    def segments(self) -> Iterator[Segment]:
        """Yields every plan."""
        for block in self._blocks.values():
            yield from block.segments()


def _contents(guarded: Iterable[Value], values: Mapping[Value, Array]) -> tuple[bytes, ...]:
    return tuple([values[v].tobytes() for v in guarded])


def _handles_no_tensors(op: Operation) -> bool:
    """Returns whether an operation has an operand or result that is not a tensor, which array programs lack."""
    return any(not isinstance(v.type, TensorType) and v.type is not unknown for v in (*op.operands, *op.results))


def _symbols_of(op: Op) -> tuple[str, ...]:
    """Returns the symbols that an operation mentions."""
    dims = [d for v in op.operands for d in known_dims(v) or ()]
    types = [v.type for v in (*op.operands, *op.results)]
    return tuple(dict.fromkeys((*symbols_of(types), *symbols_within(tuple(dims)), *symbols_mentioned(op))))
