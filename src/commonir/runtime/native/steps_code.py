"""Code that calls the kernels of a graph in order, in one thread or shared by a team.

The steps are a table of records, so that this code does not grow with them: each has the kernel's *entry*, a function
with the same parameters for all kernels, the numbers of its sizes and tensors, and how its work is divided.
Neighbouring steps whose work is not divided are a group, and one block for a team; the first record of a group has
their number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile

from commonir.llvm.llvm_ir import I32, I64, POINTER, Function, LlvmType, LlvmValue, Module
from commonir.llvm.target import Target
from commonir.runtime.native.expression_code import Scratch
from commonir.runtime.native.kernel_code import KernelCode
from commonir.runtime.native.program import MAIN, KernelCall
from commonir.runtime.native.team_code import (
    BLOCKS_PER_THREAD,
    DONE,
    FAULTS,
    MEMBERS,
    RUN,
    SCRATCH,
    SCRATCH_BYTES,
    SIZES,
    START,
    STEPS,
    TABLE,
    TAKE,
    THREADS,
    add_team_functions,
)
from commonir.runtime.native.work_units import ALL_UNITS, BLOCK_COST, WorkDivision
from commonir.symbolic import Dim

_RECORDS = "step_records"
_OPERANDS = "step_operands"
_ENTRY, _COUNT, _UNITS, _UNIT_COST, _FIRST_OPERAND, _GROUP = range(6)
_RECORD = "{ ptr, ptr, i64, i64, i64, i64 }"
"""A record: the entry, a function that counts units or null, the number of units or -1, the cost of a unit, the
position of its operands, and the number of steps that begin a block with it."""


def add_steps(
    module: Module, target: Target, calls: Sequence[KernelCall], tensors: Sequence[str], symbols: Sequence[str]
) -> None:
    """Adds the main function, and those of a team. `tensors` and `symbols` are those of the table and the sizes."""
    writer = _StepsWriter(module, target, tensors, symbols)
    writer.add_records(calls)
    writer.add_main()
    writer.add_shared_steps()
    add_team_functions(module, target)


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


class _StepsWriter:
    def __init__(self, module: Module, target: Target, tensors: Sequence[str], symbols: Sequence[str]) -> None:
        self._module = module
        self._target = target
        self._tensors = {name: n for n, name in enumerate(tensors)}
        self._symbols = {name: n for n, name in enumerate(symbols)}
        self._steps = 0

    # -- the table

    def add_records(self, calls: Sequence[KernelCall]) -> None:
        """Adds the records of the steps, and the functions that they have."""
        self._steps = len(calls)
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
            records.append(f"{_RECORD} {{ {fields}, i64 {len(operands)}, i64 {_group(calls, n)} }}")
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
        """Adds the function that computes the graph in one thread."""
        f = Function(self._module, MAIN, [POINTER] * 4)
        run = _Run(f, *f.arguments)
        with f.loop(f.integer(0), f.integer(self._steps)) as step:
            run.call(step, f.integer(0), f.integer(ALL_UNITS))
        f.add_line("ret void")

    def add_shared_steps(self) -> None:
        """Adds the function that all threads of a team go through."""
        f = Function(self._module, STEPS, [POINTER, I64], I64, is_internal=True)
        team, number = f.arguments

        def place(word: int) -> LlvmValue:
            return f.element(team, f.integer(word), "i64")

        def word(number: int, type: LlvmType = I64) -> LlvmValue:
            return f.atomic_load(place(number), type)

        threads, start = word(THREADS), word(START)
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
            f.loop(f.integer(0), f.integer(self._steps)) as step,
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


def _group(calls: Sequence[KernelCall], number: int) -> int:
    """Returns how many steps begin a block with one: all neighbours not divided, 0 for those after the first."""
    if calls[number].units != 1:
        return 1
    if number > 0 and calls[number - 1].units == 1:
        return 0
    return sum(1 for _ in takewhile(lambda c: c.units == 1, calls[number:]))


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
