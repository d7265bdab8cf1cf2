"""Code of loops and branches: it changes addresses in the table of a program, and runs ranges of its steps.

A state that is stored has two places, which are written by turns; the name of the state has the address of the one that
was written last. Slices have addresses that move along their arrays. So nothing is copied.

Sizes that change are stored where kernels read them, when they are below their limits and meet all constraints; else
this is a fault.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from commonir.base.tuples import NamedTuple
from commonir.llvm.llvm_ir import I64, POINTER, Function, LlvmType, LlvmValue
from commonir.native.program import BROKEN, OUTGROWN
from commonir.notation import Constraint
from commonir.runtime.kernel_graph.control import (
    Branch,
    GraphProgram,
    Loop,
    Part,
    ReadSizes,
    Requirement,
    Slice,
    walk_parts,
)
from commonir.runtime.kernel_graph.graph import KernelGraph
from commonir.runtime.values import compute_dtype
from commonir.symbolic import Dim
from commonir.symbolic import symbol as dim_symbol


class Structure(NamedTuple):
    """The parts of a program, the steps of each graph, and the names under which tensors are stored."""

    program: GraphProgram
    steps: Mapping[KernelGraph, range]
    stored: Mapping[str, str]

    def tensor(self, name: str) -> str:
        """Returns the name under which a tensor is stored."""
        return self.stored.get(name, name)


_RELATIONS = {"==": "eq", "!=": "ne", "<=": "sle", "<": "slt", ">=": "sge", ">": "sgt"}


def limit_of(symbol: str) -> str:
    """Returns the symbol that limits one that changes."""
    return f"{symbol} limit"


def places_of(name: str) -> tuple[str, str]:
    """Returns the names of the two places of a tensor that each round writes anew."""
    return f"{name} even", f"{name} odd"


def control_tensors(structure: Structure) -> list[str]:
    """Returns the tensors whose addresses loops and branches read or change."""
    out: list[str] = []
    for part in walk_parts(structure.program.parts):
        match part:
            case Loop():
                out += [n for s in part.states for n in (s.name, s.initial, s.written)]
                out += [n for s in (*part.read, *part.written) for n in (s.name, s.array)]
                out += [n for s in part.stored for n in places_of(structure.tensor(s.written))]
                out += [part.condition] if part.condition else []
            case Branch():
                out += [part.condition, *[n for r in part.results for n in r]]
            case Requirement():
                out.append(part.condition)
            case ReadSizes():
                out += [tensor for _, tensor, _ in part.numbers]
            case _:
                pass
    return list(dict.fromkeys(map(structure.tensor, out)))


class ControlCode:
    """Adds the code of parts to a function.

    `run` adds code for a range of steps, given how many loops are around it, `after_round` code that is run after each
    round, and `size` returns a size. `size_slot` returns the address of the value of a symbol. `run_loop` may add other
    code for a loop; it returns whether it did.
    """

    def __init__(
        self,
        function: Function,
        structure: Structure,
        table: LlvmValue,
        numbers: Mapping[str, int],
        faults: LlvmValue,
        run: Callable[[range, int], None],
        after_round: Callable[[], None],
        size: Callable[[Dim], LlvmValue],
        size_slot: Callable[[str], LlvmValue],
        run_loop: Callable[[Loop], bool] = lambda _: False,
    ) -> None:
        self._f = function
        self._structure = structure
        self._table = table
        self._numbers = numbers
        self._faults = faults
        self._run = run
        self._after_round = after_round
        self._size = size
        self._size_slot = size_slot
        # The symbols that have had a value, in the order of the code.
        self._changing = structure.program.changing()
        self._assigned = set[str]()
        self._run_loop = run_loop
        self._depth = 0

    def emit(self, parts: Sequence[Part]) -> None:
        """Adds the code of parts, one after another."""
        for part in parts:
            match part:
                case KernelGraph():
                    if self._structure.steps[part]:
                        self._run(self._structure.steps[part], self._depth)
                case Loop():
                    if not self._run_loop(part):
                        self._loop(part)
                case Branch():
                    self._branch(part)
                case Requirement():
                    self._require(self._holds(part.condition), BROKEN)
                case ReadSizes():
                    self._store_sizes([(name, self._element(tensor)) for name, tensor, _ in part.numbers])
                    self._assign(part.computed)

    def _slot(self, name: str) -> LlvmValue:
        number = self._numbers[self._structure.tensor(name)]
        return self._f.element(self._table, self._f.integer(number), "i64")

    def _address(self, name: str) -> LlvmValue:
        return self._f.load(self._slot(name), I64)

    def _move(self, names: Iterable[tuple[str, str]]) -> None:
        """Gives names the addresses of others, which are all read first."""
        for address, to in [(self._address(source), to) for to, source in names]:
            self._f.store(address, self._slot(to))

    def _holds(self, condition: str) -> LlvmValue:
        pointer = self._f.load(self._slot(condition), POINTER)
        return self._f.load(pointer, LlvmType("i8")).compare("ne", 0)

    def _element(self, name: str) -> LlvmValue:
        """Returns the element of a tensor of one integer."""
        return self._f.load(self._f.load(self._slot(name), POINTER), I64)

    def _is_sound(self) -> LlvmValue:
        return self._f.load(self._faults, I64).compare("eq", 0)

    def _branch(self, branch: Branch) -> None:
        holds = self._holds(branch.condition)
        with self._f.when(holds):
            self.emit(branch.then)
            self._move([(r.name, r.then) for r in branch.results])
        with self._f.when(holds ^ True):
            self.emit(branch.orelse)
            self._move([(r.name, r.orelse) for r in branch.results])

    def _loop(self, loop: Loop) -> None:
        f, tensor = self._f, self._structure.tensor
        self._assign([(size.symbol, size.initial) for size in loop.sizes])
        places = [(s.written, *places_of(tensor(s.written))) for s in loop.stored]
        self._move([(s.name, s.initial) for s in loop.states])
        self._move([(written, even) for written, even, _ in places])
        slices = [(s, self._step(s)) for s in (*loop.read, *loop.written)]
        length = self._size(loop.length)
        for s, step in slices:
            start = self._address(s.array)
            f.store(start + (length - 1) * step if loop.is_reversed else start, self._slot(s.name))

        self._depth += 1

        def test(number: LlvmValue) -> LlvmValue:
            if not loop.condition:
                return number.compare("slt", length) & self._is_sound()
            self.emit(loop.test)
            return self._holds(loop.condition) & self._is_sound()

        with f.rounds(test) as number:
            self.emit(loop.body)
            self._move([(s.name, s.written) for s in loop.states])
            is_odd = (number & 1).compare("ne", 0)
            for written, even, odd in places:
                f.store(f.select(is_odd, self._address(even), self._address(odd)), self._slot(written))
            for s, step in slices:
                before = self._address(s.name)
                f.store(before - step if loop.is_reversed else before + step, self._slot(s.name))
            self._assign([(size.symbol, size.following) for size in loop.sizes])
            self._after_round()
        self._depth -= 1
        self._assign(loop.results)

    def _assign(self, values: Sequence[tuple[str, Dim]]) -> None:
        """Gives symbols values, which are all computed before."""
        self._store_sizes([(symbol, self._size(value)) for symbol, value in values])

    def _store_sizes(self, values: Sequence[tuple[str, LlvmValue]]) -> None:
        """Gives symbols values if these are below their limits, and checks what depends on them.

        After a fault steps are not run, and sizes stay as they are.
        """
        for symbol, value in values:
            self._require(value.compare("ult", self._size(dim_symbol(limit_of(symbol)))), OUTGROWN)
        if values:
            # Threads that come late must not take these for the sizes of a step before.
            self._f.add_line("fence release")
        with self._f.when(self._is_sound()):
            for symbol, value in values:
                self._f.store(value, self._size_slot(symbol))
        changed = {symbol for symbol, _ in values}
        self._assigned.update(changed)
        unknown = set(self._changing) - self._assigned
        for c in self._structure.program.constraints:
            if not changed.isdisjoint(c.symbols) and unknown.isdisjoint(c.symbols):
                self._require(self._meets(c), BROKEN)

    def _require(self, condition: LlvmValue, fault: int) -> None:
        """Adds a fault if a condition does not hold, unless there is one already."""
        with self._f.when((condition ^ True) & self._is_sound()):
            self._f.store(self._f.integer(fault), self._faults)

    def _meets(self, c: Constraint) -> LlvmValue:
        holds = self._size(c.lhs).compare(_RELATIONS[c.relation], self._size(c.rhs))
        for d in c.unless_empty:
            holds = holds | self._size(d).compare("eq", 0)
        return holds

    def _step(self, s: Slice) -> LlvmValue:
        """Returns the bytes of a slice."""
        return self._size(s.step * compute_dtype(s.spec.element).itemsize)
