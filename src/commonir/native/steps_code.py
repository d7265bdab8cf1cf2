"""Code that calls the kernels of a graph in order, in one thread or shared by a team.

The steps are a table of records, so that this code does not grow with them: each has the kernel's *entry*, a function
with the same parameters for all kernels, the numbers of its sizes and tensors, and how its work is divided.
Neighbouring steps whose work is not divided are a group, and one block for a team; the first record of a group has
their number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import takewhile

from commonir.llvm.llvm_ir import I32, I64, POINTER, Function, LlvmType, LlvmValue, Module
from commonir.llvm.target import Target
from commonir.native.control_code import ControlCode, Structure
from commonir.native.kernels.expression_code import Scratch
from commonir.native.kernels.kernel_code import KernelCode
from commonir.native.kernels.work_units import ALL_UNITS, BLOCK_COST, WorkDivision, points_of
from commonir.native.program import MAIN, KernelCall
from commonir.native.threads.team_code import (
    BLOCKS_PER_THREAD,
    DONE,
    FAULTS,
    FIRST,
    LAST,
    MEMBERS,
    OPEN,
    RUN,
    RUN_SHARED,
    SCRATCH,
    SCRATCH_BYTES,
    SHARE,
    SIZES,
    START,
    STEPS,
    TABLE,
    TAKE,
    THREADS,
    WATCH,
    add_team_functions,
)
from commonir.symbolic import Dim

_RECORDS = "step_records"
_OPERANDS = "step_operands"
_ENTRY, _COUNT, _UNITS, _UNIT_COST, _FIRST_OPERAND, _GROUP = range(6)
_RECORD = "{ ptr, ptr, i64, i64, i64, i64 }"
"""A record: the entry, a function that counts units or null, the number of units or -1, the cost of a unit, the
position of its operands, and the number of steps that begin a block with it."""


LOOP_SHARED_COST = 1 << 18
"""The cost from which on steps in a loop are shared by threads, which meet before and after them in each round."""


def add_steps(
    module: Module,
    target: Target,
    calls: Sequence[KernelCall],
    tensors: Sequence[str],
    symbols: Sequence[str],
    structure: Structure,
) -> None:
    """Adds the main function, and those of a team. `tensors` and `symbols` are those of the table and the sizes."""
    writer = _StepsWriter(module, target, calls, tensors, symbols, structure)
    writer.add_records()
    writer.add_main()
    writer.add_shared_steps()
    writer.add_shared_run()
    add_team_functions(module, target)
    module.definitions.append(_WATCHED)


class _Run:
    """The arguments of a graph, as values in a function that calls kernels."""

    def __init__(self, f: Function, table: LlvmValue, sizes: LlvmValue, faults: LlvmValue, scratch: LlvmValue) -> None:
        self._f = f
        self._records = LlvmValue(f, POINTER, f"@{_RECORDS}")
        self._operands = LlvmValue(f, POINTER, f"@{_OPERANDS}")
        self._arguments = faults, scratch, table, sizes

    def field(self, step: LlvmValue, field: int, type: LlvmType = I64) -> LlvmValue:
        """Returns a field of the record of a step."""
        fields = _RECORD.count(",") + 1
        return self._f.load(self._f.element(self._records, step * fields + field, "i64"), type)

    def call(self, step: LlvmValue, first: LlvmValue, last: LlvmValue) -> None:
        """Adds a call that does a range of the units of a step."""
        operands = self._f.element(self._operands, self.field(step, _FIRST_OPERAND), "i32")
        listed = ", ".join(f"{a.type} {a.text}" for a in (*self._arguments, operands, first, last))
        self._f.add_line(f"call void {self.field(step, _ENTRY, POINTER).text}({listed})")

    def call_all(self, steps: range, after: Callable[[LlvmValue], None]) -> None:
        """Adds calls that do steps in this thread, unless there is a fault, and code that is run after each."""
        f, faults = self._f, self._arguments[0]
        with (
            f.loop(f.integer(steps.start), f.integer(steps.stop)) as step,
            f.when(f.load(faults, I64).compare("eq", 0)),
        ):
            self.call(step, f.integer(0), f.integer(ALL_UNITS))
            after(step)


class _StepsWriter:
    def __init__(
        self,
        module: Module,
        target: Target,
        calls: Sequence[KernelCall],
        tensors: Sequence[str],
        symbols: Sequence[str],
        structure: Structure,
    ) -> None:
        self._module = module
        self._target = target
        self._calls = calls
        self._tensors = {name: n for n, name in enumerate(tensors)}
        self._symbols = {name: n for n, name in enumerate(symbols)}
        self._structure = structure

    # -- the table

    def add_records(self) -> None:
        """Adds the records of the steps, and the functions that they have."""
        calls = self._calls
        groups = [n for steps in self._structure.steps.values() for n in _groups(calls[steps.start : steps.stop])]
        entries = {name: self._entry(call) for name, call in {c.function: c for c in calls}.items()}
        counts: dict[Dim, str] = {}
        records: list[str] = []
        operands: list[int] = []
        for n, call in enumerate(calls):
            units, count = call.units, "null"
            if not isinstance(units, int):
                count = counts.setdefault(units, f"@units{len(counts)}")
                units = -1
            fields = f"ptr {entries[call.function]}, ptr {count}, i64 {units}, i64 {call.unit_cost}"
            records.append(f"{_RECORD} {{ {fields}, i64 {len(operands)}, i64 {groups[n]} }}")
            operands += [self._symbols[s] for s in call.symbols] + [self._tensors[t] for t in call.tensors]
        for units, name in counts.items():
            self._add_count(units, name[1:])
        self._module.definitions += [
            f"@{_RECORDS} = internal constant [{len(records)} x {_RECORD}] [{', '.join(records)}]",
            f"@{_OPERANDS} = internal constant [{len(operands)} x i32] [{', '.join(f'i32 {n}' for n in operands)}]",
        ]

    def _entry(self, call: KernelCall) -> str:
        """Returns a function that loads the sizes and tensors of a kernel by their numbers and calls it."""
        f = Function(self._module, f"{call.function}.entry", [*[POINTER] * 5, I64, I64], is_internal=True)
        faults, scratch, table, sizes, operands, first, last = f.arguments
        loaded: list[LlvmValue] = []
        for n in range(len(call.symbols) + len(call.tensors)):
            number = f.cast("zext", f.load(f.element(operands, f.integer(n), "i32"), I32), "i64")
            source, type = (sizes, I64) if n < len(call.symbols) else (table, POINTER)
            loaded.append(f.load(f.element(source, number, "i64"), type))
        listed = ", ".join(f"{a.type} {a.text}" for a in (faults, scratch, first, last, *loaded))
        f.add_line(f"call void @{call.function}({listed})")
        f.add_line("ret void")
        return f"@{f.name}"

    def _add_count(self, units: Dim, name: str) -> None:
        """Adds a function that returns a number of units for some sizes."""
        f = Function(self._module, name, [POINTER], I64, is_internal=True)
        (sizes,) = f.arguments
        values = {s: f.load(f.element(sizes, f.integer(n), "i64"), I64) for s, n in self._symbols.items()}
        f.add_line(f"ret i64 {_size_code(f, self._target, values).size(units).text}")

    # -- the functions

    def add_main(self) -> None:
        """Adds the function that computes the program in one thread."""
        f = Function(self._module, MAIN, [POINTER] * 5)
        table, sizes, faults, scratch, watch = f.arguments
        run = _Run(f, table, sizes, faults, scratch)
        watched = _Watch(f, watch, faults)
        self._control(f, table, sizes, faults, watched, lambda steps, _: run.call_all(steps, watched.call))
        f.add_line("ret void")

    def add_shared_run(self) -> None:
        """Adds the function by which the thread that needs the result computes the program with its team.

        It alone runs loops and branches; others help with ranges of steps.
        """
        f = Function(self._module, RUN_SHARED, [POINTER])
        (team,) = f.arguments
        place = partial(_place, f, team)
        table, faults, scratch, watch = [f.load(place(n), POINTER) for n in (TABLE, FAULTS, SCRATCH, WATCH)]
        run = _Run(f, table, place(SIZES), faults, scratch)
        watched = _Watch(f, watch, faults)

        def share(steps: range, depth: int) -> None:
            calls = [c for c in self._calls[steps.start : steps.stop] if c.units != 1]
            cost = sum([points_of([c.units]) * c.unit_cost for c in calls])
            if cost < (LOOP_SHARED_COST if depth > 0 else 1):
                run.call_all(steps, watched.call)
            else:
                f.add_line(f"call void @{SHARE}(ptr {team.text}, i64 {steps.start}, i64 {steps.stop})")

        f.add_line(f"store atomic i64 1, ptr {place(OPEN).text} release, align 8")
        self._control(f, table, place(SIZES), faults, watched, share)
        f.add_line(f"store atomic i64 0, ptr {place(OPEN).text} release, align 8")
        f.add_line("ret void")

    def _control(
        self,
        f: Function,
        table: LlvmValue,
        sizes: LlvmValue,
        faults: LlvmValue,
        watched: _Watch,
        steps: Callable[[range, int], None],
    ) -> None:
        values = {s: f.load(f.element(sizes, f.integer(n), "i64"), I64) for s, n in self._symbols.items()}
        size = _size_code(f, self._target, values).size
        ControlCode(f, self._structure, table, self._tensors, faults, steps, watched.call_after_round, size).emit(
            self._structure.program.parts
        )

    def add_shared_steps(self) -> None:
        """Adds the function that all threads of a team go through for a range of steps."""
        f = Function(self._module, STEPS, [POINTER, I64], I64, is_internal=True)
        team, number = f.arguments
        place = partial(_place, f, team)

        def word(number: int, type: LlvmType = I64) -> LlvmValue:
            return f.atomic_load(place(number), type)

        threads, start, first_step, last_step = word(THREADS), word(START), word(FIRST), word(LAST)
        # A thread that comes late must not see the sizes of another run.
        sizes = f.array(I64, max(1, len(self._symbols)))
        for n in range(len(self._symbols)):
            f.store(word(SIZES + n), f.element(sizes, f.integer(n), "i64"))
        table, faults, scratch = word(TABLE, POINTER), word(FAULTS, POINTER), word(SCRATCH, POINTER)
        member = f.computed(I64, f"atomicrmw add ptr {place(MEMBERS).text}, i64 1 acq_rel")
        own_scratch = f.element(scratch, member * word(SCRATCH_BYTES), "i8")
        f.add_line("fence acquire")
        is_same = word(RUN).compare("eq", number)
        run = _Run(f, table, sizes, faults, own_scratch)
        before = f.variable(I64, start)
        with (
            f.when(is_same & member.compare("slt", threads)),
            f.loop(first_step, last_step) as step,
        ):
            group = run.field(step, _GROUP)
            with f.when(group.compare("sgt", 0)):
                units, blocks = _blocks(f, run, step, threads, sizes)
                base = before.get()
                with f.each_of(TAKE, team, base, blocks) as block:
                    # The first blocks have one unit more, as the last ones should end early.
                    each = f.binary("sdiv", "sdiv", units, blocks)
                    longer = units - each * blocks
                    first, last = [n * each + f.intrinsic("smin", n, longer) for n in (block, block + 1)]
                    with f.loop(f.integer(0), group) as n:
                        run.call(step + n, first, last)
                    f.computed(I64, f"atomicrmw add ptr {place(DONE).text}, i64 1 release")
                before.set(base + blocks)
        f.add_line(f"ret i64 {before.get().text}")


class _Watch:
    """Calls of the function of Python that watches a run, if there is one."""

    def __init__(self, f: Function, watch: LlvmValue, faults: LlvmValue) -> None:
        self._f = f
        self._arguments = f"ptr {watch.text}, ptr {faults.text}"
        self._is_there = f.cast("ptrtoint", watch, "i64").compare("ne", 0)

    def call(self, step: LlvmValue) -> None:
        """Adds a call after a step."""
        with self._f.when(self._is_there):
            self._f.add_line(f"call void @watched({self._arguments}, i64 {step.text})")

    def call_after_round(self) -> None:
        """Adds a call after a round of a loop, which may have no steps."""
        self.call(self._f.integer(-1))


# Calls the function of a watch after as many events as it wants; if that fails, this is a fault.
_WATCHED = """
define internal void @watched(ptr %watch, ptr %faults, i64 %step) noinline #0 {
entry:
  %left_at = getelementptr i64, ptr %watch, i64 1
  %every_at = getelementptr i64, ptr %watch, i64 2
  %left = load i64, ptr %left_at
  %less = sub i64 %left, 1
  store i64 %less, ptr %left_at
  %is_due = icmp sle i64 %less, 0
  br i1 %is_due, label %due, label %end
due:
  %every = load i64, ptr %every_at
  store i64 %every, ptr %left_at
  %function = load ptr, ptr %watch
  %failed = call i64 %function(i64 %step)
  %stops = icmp ne i64 %failed, 0
  br i1 %stops, label %stop, label %end
stop:
  store i64 -1, ptr %faults
  br label %end
end:
  ret void
}
"""


def _place(f: Function, team: LlvmValue, word: int) -> LlvmValue:
    return f.element(team, f.integer(word), "i64")


def _groups(calls: Sequence[KernelCall]) -> Iterator[int]:
    """Yields how many steps begin a block with each: all neighbours not divided, 0 for those after the first."""
    for n, call in enumerate(calls):
        if call.units != 1:
            yield 1
        elif n > 0 and calls[n - 1].units == 1:
            yield 0
        else:
            yield sum(1 for _ in takewhile(lambda c: c.units == 1, calls[n:]))


def _blocks(
    f: Function, run: _Run, step: LlvmValue, threads: LlvmValue, sizes: LlvmValue
) -> tuple[LlvmValue, LlvmValue]:
    """Returns the number of units, and that of blocks: some for each thread, of some cost at least.

    Numbers of units of blocks differ by one at most, which balances threads where there are few units.
    """
    counted = f.variable(I64, run.field(step, _UNITS))
    with f.when(counted.get().compare("slt", 0)):
        count = run.field(step, _COUNT, POINTER)
        counted.set(f.computed(I64, f"call i64 {count.text}(ptr {sizes.text})"))
    units = counted.get()
    worth = f.binary("sdiv", "sdiv", units * run.field(step, _UNIT_COST), BLOCK_COST)
    wanted = f.intrinsic("smax", f.intrinsic("smin", threads * BLOCKS_PER_THREAD, worth), f.integer(1))
    return units, f.intrinsic("smin", wanted, units)


def _size_code(f: Function, target: Target, values: Mapping[str, LlvmValue]) -> KernelCode:
    """Returns an emitter of the code of sizes in a function, as in kernels."""
    nothing = f.integer(0)
    division = WorkDivision(nothing, nothing, is_divided=False)
    return KernelCode(f, target, {}, values, nothing, [], Scratch(nothing), division)
