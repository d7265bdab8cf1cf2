"""Plans of ARK's executor: the model that a plan runs, and whether what it says of processors fits together.

The operations are kept; tasks, configurations and ranges are only checked.
Source: ARK plan files, generations v1 to v3.
"""

from __future__ import annotations

from collections.abc import Sequence

from commonir.base.file_codes import ARK_PLAN, ARK_RANGE
from commonir.base.strict_json import Json
from commonir.base.tuples import NamedTuple
from commonir.dialects import ark
from commonir.formats.ark.schema import OP, NodeData, Object, OpData, RankData, Refused, Schema, items_of, tensors_in

PLAN = ("Rank", "WorldSize", "NumProcessors", "NumWarpsPerProcessor", "TaskInfos", "ProcessorGroups")
TASK = ("Id", "NumWarps", "SramBytes", "Ops")
CONFIG = ("NumWarps", "SramBytes", "NumTasks")
GROUP = ("ProcessorRange", "ResourceGroups")
RESOURCES = ("ProcessorRange", "WarpRange", "SramRange", "TaskGroups")
TASKS = ("TaskId", "TaskRange", "Granularity")

_PAIR, _WITH_STEP = 2, 3


class Range(NamedTuple):
    """Numbers from a first one to before another one, each `step`-th."""

    start: int
    stop: int
    step: int

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return len(range(self.start, self.stop, self.step))


class _Task(NamedTuple):
    """A task, which is done in pieces."""

    warps: int
    sram_bytes: int
    pieces: int


def is_plan(document: Json) -> bool:
    """Whether a document is a plan."""
    return isinstance(document, dict) and "TaskInfos" in document and "Nodes" not in document


class Plan(Schema):
    """Reads a plan as the model that it runs: an operation for each node, in order."""

    def __init__(self, file: str = "") -> None:
        super().__init__(file)
        self._tasks: dict[int, _Task] = {}

    def read(self, document: Json) -> RankData | None:
        """The model of a plan; None when too little of it can be read."""
        try:
            return self._plan(document if isinstance(document, dict) else {})
        except Refused:
            return None

    def _plan(self, document: Object) -> RankData | None:
        content = {name: part for name, part in document.items() if name != "Architecture"}
        top = self._object(content, "", PLAN, "a plan")
        self._string(document.get("Architecture", ""), "Architecture")
        tensors = [t for task in items_of(top["TaskInfos"]) if isinstance(task, dict) for t in tensors_in(task)]
        self._generation = ark.V1 if any("Pads" in t for t in tensors) else ark.V3
        rank = self._number(top["Rank"], "Rank", 0)
        # Plans that ARK ships have 0 here.
        world = max(self._number(top["WorldSize"], "WorldSize", 0), 1)
        if rank >= world:
            self._wrong("Rank", f"the rank must be less than 'WorldSize', {world}, found {rank}", ARK_RANGE)
        processors = self._number(top["NumProcessors"], "NumProcessors", 1)
        warps = self._number(top["NumWarpsPerProcessor"], "NumWarpsPerProcessor", 1)
        tasks = self._each(top["TaskInfos"], "TaskInfos", self._task)
        if not self._has_errors():
            every = Range(0, processors, 1), Range(0, warps, 1)
            self._each(top["ProcessorGroups"], "ProcessorGroups", lambda v, at: self._group(v, at, *every))
        self._wrong("TaskInfos", "the plan is read as the model that it runs: its tasks are not kept", ARK_PLAN)
        ops = [op for task in tasks for op in task]
        return None if self._has_errors() else RankData(rank, world, self._generation, _nodes_of(ops))

    # -- tasks

    def _task(self, value: Json, place: str) -> list[OpData]:
        task = self._object(value, place, TASK, "a task")
        number = self._id(task["Id"], f"{place}.Id")
        if number in self._tasks:
            self._wrong(f"{place}.Id", f"two tasks have the number {number}", ARK_RANGE)
        limits = [
            self._number(task[name], f"{place}.{name}", least) for name, least in (("NumWarps", 1), ("SramBytes", 0))
        ]
        counts: set[int] = set()
        ops = self._each(task["Ops"], f"{place}.Ops", lambda op, at: self._planned(op, at, limits, counts))
        if len(counts) > 1:
            message = f"the operations of a task must have one 'NumTasks', found {', '.join(map(str, sorted(counts)))}"
            self._wrong(f"{place}.Ops", message, ARK_RANGE)
        self._tasks[number] = _Task(limits[0], limits[1], max(counts, default=0))
        return ops

    def _planned(self, value: Json, place: str, limits: Sequence[int], counts: set[int]) -> OpData:
        op = self._object(value, place, (*OP, "Config"), "an operation")
        config = op["Config"]
        missing = [f for f in CONFIG if not isinstance(config, dict) or f not in config]
        if missing or not isinstance(config, dict):
            raise self._refuse(f"{place}.Config", f"the configuration must be an object with the field '{missing[0]}'")
        counts.add(self._number(config["NumTasks"], f"{place}.Config.NumTasks", 0))
        for name, limit in zip(CONFIG, limits, strict=False):
            expected = self._number(config[name], f"{place}.Config.{name}", 0)
            if expected > limit:
                message = f"the operation needs {expected:,}, but its task has {limit:,}"
                self._wrong(f"{place}.Config.{name}", message, ARK_RANGE)
        return self._op({name: part for name, part in op.items() if name != "Config"}, place)

    # -- processors

    def _group(self, value: Json, place: str, processors: Range, warps: Range) -> None:
        group = self._object(value, place, GROUP, "a group of processors")
        own = self._inside(group["ProcessorRange"], f"{place}.ProcessorRange", processors)
        inner = f"{place}.ResourceGroups"
        self._each(group["ResourceGroups"], inner, lambda v, at: self._resources(v, at, own, warps))

    def _resources(self, value: Json, place: str, processors: Range, warps: Range) -> None:
        resources = self._object(value, place, RESOURCES, "a group of resources")
        self._inside(resources["ProcessorRange"], f"{place}.ProcessorRange", processors)
        own = self._inside(resources["WarpRange"], f"{place}.WarpRange", warps)
        sram = self._range(resources["SramRange"], f"{place}.SramRange")
        inner = f"{place}.TaskGroups"
        self._each(resources["TaskGroups"], inner, lambda v, at: self._pieces(v, at, own.size, sram.size))

    def _pieces(self, value: Json, place: str, warps: int, sram_bytes: int) -> None:
        pieces = self._object(value, place, TASKS, "a group of tasks")
        number = self._id(pieces["TaskId"], f"{place}.TaskId")
        self._number(pieces["Granularity"], f"{place}.Granularity", 1)
        task = self._tasks.get(number)
        if task is None:
            raise self._refuse(f"{place}.TaskId", f"there is no task {number}", ARK_RANGE)
        self._inside(pieces["TaskRange"], f"{place}.TaskRange", Range(0, task.pieces, 1))
        for what, expected, limit in (("warps", task.warps, warps), ("bytes of SRAM", task.sram_bytes, sram_bytes)):
            if expected > limit:
                message = f"task {number} needs {expected:,} {what}, but the group has {limit:,}"
                self._wrong(f"{place}.TaskId", message, ARK_RANGE)

    def _range(self, value: Json, place: str) -> Range:
        """Two numbers, or three. Raises: Refused."""
        numbers = self._numbers(value, place)
        if len(numbers) not in (_PAIR, _WITH_STEP):
            raise self._refuse(place, f"a range has two numbers, or three with its step, found {len(numbers)}")
        start, stop, step = (*numbers, 1)[:_WITH_STEP]
        if not 0 <= start <= stop or step < 1:
            raise self._refuse(place, f"a range goes from a number up to another one, found {list(numbers)}", ARK_RANGE)
        return Range(start, stop, step)

    def _inside(self, value: Json, place: str, outer: Range) -> Range:
        """A range inside another one. Raises: Refused."""
        result = self._range(value, place)
        if result.size and not (outer.start <= result.start and result.stop <= outer.stop):
            message = f"{result.start} to {result.stop} is not inside of {outer.start} to {outer.stop}"
            self._wrong(place, message, ARK_RANGE)
        return result


def _nodes_of(ops: Sequence[OpData]) -> tuple[NodeData, ...]:
    """A node for each operation, with edges from those that give the tensors which it mentions."""
    producers: dict[int, int] = {}
    before: list[set[int]] = []
    after: list[set[int]] = [set() for _ in ops]
    for n, op in enumerate(ops):
        before.append({producers[t.id] for t in (*op.reads, *op.writes) if t.id in producers})
        for at in before[n]:
            after[at].add(n)
        producers |= {t.id: n for t in op.results}
    edges = enumerate(zip(ops, before, after, strict=True))
    return tuple([NodeData(n, tuple(sorted(a)), tuple(sorted(b)), (op,)) for n, (op, a, b) in edges])
