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

from commonir.llvm.llvm_ir import I32, I64, POINTER, Function, LlvmType, LlvmValue, Module, Variable
from commonir.llvm.target import Target
from commonir.native.control_code import ControlCode, Structure
from commonir.native.kernels.expression_code import Scratch
from commonir.native.kernels.kernel_code import KernelCode
from commonir.native.kernels.work_units import ALL_UNITS, BLOCK_COST, WorkDivision
from commonir.native.program import MAIN, KernelCall
from commonir.native.shared_parts import SharedParts
from commonir.native.threads.team_code import (
    BLOCKS_PER_THREAD,
    DONE,
    FAULTS,
    FEW_BLOCKS_PER_THREAD,
    FIRST,
    LAST,
    LOOP,
    MEMBERS,
    OPEN,
    RESULT,
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
    TAKE_OWNED,
    THREADS,
    WATCH,
    add_team_functions,
    first_claim,
)
from commonir.runtime.kernel_graph.control import Loop
from commonir.symbolic import Dim, symbols

_RECORDS = "step_records"
_OPERANDS = "step_operands"
_ENTRY, _COUNT, _UNITS, _UNIT_COST, _BLOCKS, _FIRST_OPERAND, _GROUP = range(7)
_RECORD = "{ ptr, ptr, i64, i64, i64, i64, i64 }"
"""A record: the entry, a function that counts units or null, the number of units or -1, the cost of a unit, the most
blocks for each thread, the position of its operands, and the number of steps that begin a block with it."""


_OWNED_STEPS = "owned_steps"


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

    def call_block(
        self, step: LlvmValue, group: LlvmValue, units: LlvmValue, blocks: LlvmValue, block: LlvmValue
    ) -> None:
        """Adds calls that do a block of the units of a step, or of a group of steps."""
        f = self._f
        # The first blocks have one unit more, as the last ones should end early.
        each = f.binary("sdiv", "sdiv", units, blocks)
        longer = units - each * blocks
        first, last = [n * each + f.intrinsic("smin", n, longer) for n in (block, block + 1)]
        with f.loop(f.integer(0), group) as n:
            self.call(step + n, first, last)

    def call_all(self, steps: range, after: Callable[[LlvmValue], None]) -> None:
        """Adds calls that do steps in this thread, unless there is a fault, and code that is run after each."""
        f, faults = self._f, self._arguments[0]
        with (
            f.loop(f.integer(steps.start), f.integer(steps.stop)) as step,
            f.when(f.load(faults, I64).compare("eq", 0)),
        ):
            self.call(step, f.integer(0), f.integer(ALL_UNITS))
            after(step)


class StepsWriter:
    """Writes the code of the steps. `tensors` and `symbols` are those of the table and the sizes."""

    def __init__(
        self,
        module: Module,
        target: Target,
        calls: Sequence[KernelCall],
        tensors: Sequence[str],
        symbols: Sequence[str],
        structure: Structure,
        shared: SharedParts,
    ) -> None:
        self._module = module
        self._target = target
        self._calls = calls
        self._tensors = {name: n for n, name in enumerate(tensors)}
        self._symbols = {name: n for n, name in enumerate(symbols)}
        self._structure = structure
        self._shared = shared
        self._loops = shared.loops
        self._first_claim = first_claim(len(symbols), len(tensors))

    def add(self) -> None:
        """Adds the main function, and those of a team."""
        self._add_records()
        self._add_main()
        self._add_owned_steps()
        self._add_shared_loops()
        self._add_shared_steps()
        self._add_shared_run()
        add_team_functions(self._module, self._target)
        self._module.definitions.append(_WATCHED)

    # -- the table

    def _add_records(self) -> None:
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
            blocks = FEW_BLOCKS_PER_THREAD if call.prepares else BLOCKS_PER_THREAD
            records.append(f"{_RECORD} {{ {fields}, i64 {blocks}, i64 {len(operands)}, i64 {groups[n]} }}")
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

    def _add_main(self) -> None:
        """Adds the function that computes the program in one thread."""
        f = Function(self._module, MAIN, [POINTER] * 5)
        table, sizes, faults, scratch, watch = f.arguments
        run = _Run(f, table, sizes, faults, scratch)
        watched = _Watch(f, watch, faults)
        control = self._control(f, table, sizes, faults, watched, lambda steps, _: run.call_all(steps, watched.call))
        control.emit(self._structure.program.parts)
        f.add_line("ret void")

    def _add_shared_run(self) -> None:
        """Adds the function by which the thread that needs the result computes the program with its team.

        It alone runs branches, and loops that depend on data; others help with ranges of steps and counted loops.
        """
        f = Function(self._module, RUN_SHARED, [POINTER])
        (team,) = f.arguments
        place = partial(_place, f, team)
        table, faults, scratch, watch = [f.load(place(n), POINTER) for n in (TABLE, FAULTS, SCRATCH, WATCH)]
        run = _Run(f, table, place(SIZES), faults, scratch)
        watched = _Watch(f, watch, faults)

        def share(steps: range, depth: int) -> None:
            if self._shared.has_steps(steps, depth):
                f.add_line(f"call void @{SHARE}(ptr {team.text}, i64 {steps.start}, i64 {steps.stop}, i64 0)")
            else:
                run.call_all(steps, watched.call)

        def share_loop(loop: Loop) -> bool:
            if loop not in self._loops:
                return False
            copy = place(SIZES + len(self._symbols))
            with f.loop(f.integer(0), f.integer(len(self._tensors))) as n:
                f.store(f.load(f.element(table, n, "i64"), I64), f.element(copy, n, "i64"))
            f.add_line(f"call void @{SHARE}(ptr {team.text}, i64 0, i64 0, i64 {1 + self._loops.index(loop)})")
            return True

        f.add_line(f"store atomic i64 1, ptr {place(OPEN).text} release, align 8")
        control = self._control(f, table, place(SIZES), faults, watched, share, share_loop)
        control.emit(self._structure.program.parts)
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
        run_loop: Callable[[Loop], bool] = lambda _: False,
    ) -> ControlCode:
        values = {s: f.load(f.element(sizes, f.integer(n), "i64"), I64) for s, n in self._symbols.items()}
        changing = self._structure.program.changing()

        def slot(symbol: str) -> LlvmValue:
            return f.element(sizes, f.integer(self._symbols[symbol]), "i64")

        def size(dim: Dim) -> LlvmValue:
            now = {s: f.load(slot(s), I64) for s in symbols(dim) if s in changing}
            return _size_code(f, self._target, {**values, **now}).size(dim)

        after_round = watched.call_after_round
        return ControlCode(f, self._structure, table, self._tensors, faults, steps, after_round, size, slot, run_loop)

    def _add_shared_loops(self) -> None:
        """Adds a function for each loop whose rounds threads go through together; it returns the blocks done then."""
        for n, loop in enumerate(self._loops):
            f = Function(self._module, _loop_name(n), [*[POINTER] * 6, *[I64] * 3], I64, is_internal=True)
            team, table, sizes, faults, scratch, watch, member, threads, base = f.arguments
            # A fault does not end rounds, in which threads would differ, but then nothing is computed in them.
            no_faults, patience = f.array(I64, 1), f.array(I64, 1)
            f.store(f.integer(0), no_faults)
            f.store(f.integer(0), patience)
            before = f.variable(I64, base)
            fixed = [team, table, sizes, faults, scratch, patience, member, threads]

            def run(
                steps: range,
                _: int,
                f: Function = f,
                fixed: Sequence[LlvmValue] = fixed,
                before: Variable = before,
            ) -> None:
                arguments = [*fixed, before.get(), f.integer(steps.start), f.integer(steps.stop)]
                listed = ", ".join(f"{a.type} {a.text}" for a in arguments)
                before.set(f.computed(I64, f"call i64 @{_OWNED_STEPS}({listed})"))

            self._control(f, table, sizes, no_faults, _Watch(f, watch, faults), run).emit([loop])
            f.add_line(f"ret i64 {before.get().text}")

    def _add_owned_steps(self) -> None:
        """Adds the function that all threads go through for a range of steps in a loop that they run together."""
        if not self._loops:
            return
        f = Function(self._module, _OWNED_STEPS, [*[POINTER] * 6, *[I64] * 5], I64, is_internal=True)
        team, table, sizes, faults, scratch, patience, member, threads, start, first_step, last_step = f.arguments
        run = _Run(f, table, sizes, faults, scratch)
        claims = _place(f, team, self._first_claim)
        before = f.variable(I64, start)
        with f.loop(first_step, last_step) as step:
            group = run.field(step, _GROUP)
            with f.when(group.compare("sgt", 0)):
                units, blocks = _blocks(f, run, step, threads, sizes)
                base = before.get()
                with f.each_of(TAKE_OWNED, team, claims, base, blocks, member, patience) as block:
                    with f.when(f.load(faults, I64).compare("eq", 0)):
                        run.call_block(step, group, units, blocks, block)
                    f.add_line(f"call void @{RESULT}(ptr {claims.text}, i64 {base.text}, i64 {block.text})")
                before.set(base + blocks)
        f.add_line(f"ret i64 {before.get().text}")

    def _add_shared_steps(self) -> None:
        """Adds the function that all threads of a team go through for a range of steps."""
        f = Function(self._module, STEPS, [POINTER, I64, I64], I64, is_internal=True)
        team, number, helps = f.arguments
        place = partial(_place, f, team)
        is_helper = helps.compare("ne", 0)

        def word(number: int, type: LlvmType = I64) -> LlvmValue:
            return f.atomic_load(place(number), type)

        threads, start, first_step, last_step, loop = [word(n) for n in (THREADS, START, FIRST, LAST, LOOP)]
        # A thread that comes late must not see the sizes of another run.
        sizes = f.array(I64, max(1, len(self._symbols)))
        for n in range(len(self._symbols)):
            f.store(word(SIZES + n), f.element(sizes, f.integer(n), "i64"))
        table, faults, scratch = word(TABLE, POINTER), word(FAULTS, POINTER), word(SCRATCH, POINTER)
        copy = self._table_copy(f, team, is_helper & loop.compare("sgt", 0))
        entered = f.variable(I64, 0)
        with f.when(is_helper):
            entered.set(f.computed(I64, f"atomicrmw add ptr {place(MEMBERS).text}, i64 1 acq_rel"))
        member = entered.get()
        own_scratch = f.element(scratch, member * word(SCRATCH_BYTES), "i8")
        f.add_line("fence acquire")
        is_same = word(RUN).compare("eq", number)
        run = _Run(f, table, sizes, faults, own_scratch)
        before = f.variable(I64, start)
        with f.when(is_same & member.compare("slt", threads)):
            with f.loop(first_step, last_step) as step:
                group = run.field(step, _GROUP)
                with f.when(group.compare("sgt", 0)):
                    units, blocks = _blocks(f, run, step, threads * run.field(step, _BLOCKS), sizes)
                    base = before.get()
                    with f.each_of(TAKE, team, base, blocks) as block:
                        run.call_block(step, group, units, blocks, block)
                        f.computed(I64, f"atomicrmw add ptr {place(DONE).text}, i64 1 release")
                    before.set(base + blocks)
            for n in range(len(self._loops)):
                with f.when(loop.compare("eq", 1 + n)):
                    own_table = f.select(is_helper, copy, table)
                    watch = f.select(is_helper, LlvmValue(f, POINTER, "null"), word(WATCH, POINTER))
                    arguments = team, own_table, sizes, faults, own_scratch, watch, member, threads, start
                    listed = ", ".join(f"{a.type} {a.text}" for a in arguments)
                    before.set(f.computed(I64, f"call i64 @{_loop_name(n)}({listed})"))
        f.add_line(f"ret i64 {before.get().text}")

    def _table_copy(self, f: Function, team: LlvmValue, is_needed: LlvmValue) -> LlvmValue:
        """Returns a copy of the team's table of addresses, of this thread alone, for what is needed of it."""
        if not self._loops:
            return team
        out, count = f.array(I64, len(self._tensors)), f.integer(len(self._tensors))
        source = _place(f, team, SIZES + len(self._symbols))
        with f.when(is_needed), f.loop(f.integer(0), count) as n:
            f.store(f.atomic_load(f.element(source, n, "i64"), I64), f.element(out, n, "i64"))
        return out


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


def _loop_name(number: int) -> str:
    return f"loop{number}"


def _blocks(f: Function, run: _Run, step: LlvmValue, most: LlvmValue, sizes: LlvmValue) -> tuple[LlvmValue, LlvmValue]:
    """Returns the number of units, and that of blocks: so many at most, of some cost at least.

    Numbers of units of blocks differ by one at most, which balances threads where there are few units.
    """
    counted = f.variable(I64, run.field(step, _UNITS))
    with f.when(counted.get().compare("slt", 0)):
        count = run.field(step, _COUNT, POINTER)
        counted.set(f.computed(I64, f"call i64 {count.text}(ptr {sizes.text})"))
    units = counted.get()
    worth = f.binary("sdiv", "sdiv", units * run.field(step, _UNIT_COST), BLOCK_COST)
    wanted = f.intrinsic("smax", f.intrinsic("smin", most, worth), f.integer(1))
    return units, f.intrinsic("smin", wanted, units)


def _size_code(f: Function, target: Target, values: Mapping[str, LlvmValue]) -> KernelCode:
    """Returns an emitter of the code of sizes in a function, as in kernels."""
    nothing = f.integer(0)
    division = WorkDivision(nothing, nothing, is_divided=False)
    return KernelCode(f, target, {}, values, nothing, [], Scratch(nothing), division)
