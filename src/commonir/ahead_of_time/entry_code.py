"""The functions that a C program calls: they check sizes, find the place of every tensor, and run a graph.

A function returns 0, or the number of a message. Intermediate tensors lie in a workspace that is large enough for the
largest sizes. Inputs, outputs and states have the element types of the program, and are converted where the graph
computes in wider ones. A fault leaves states as they were.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from commonir.ahead_of_time.entry_points import EntryPoint, StateUse
from commonir.ahead_of_time.weights import MARK, VERSION_AT, Weights
from commonir.base.arrays import dtype_of
from commonir.base.codes import NOT_COMPILED_WHOLE
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.tuples import NamedTuple
from commonir.ir.types import ElementType, TensorType
from commonir.llvm.element_code import loaded_value, stored_value
from commonir.llvm.llvm_ir import I32, I64, POINTER, Function, LlvmType, LlvmValue, Module, Variable
from commonir.llvm.target import Target
from commonir.native.kernels.expression_code import Scratch
from commonir.native.kernels.kernel_code import KernelCode
from commonir.native.kernels.work_units import WorkDivision
from commonir.native.node_code import storage_of
from commonir.native.program import MAIN
from commonir.runtime.kernel_graph.buffers import ALIGNMENT, MAX_ELEMENTS, Arena, Lifetime, arena_of
from commonir.runtime.values import compute_dtype
from commonir.symbolic import Dim
from commonir.symbolic.constraints import Constraint

_KEY_WORDS = 16
"""Words at the start of a workspace that say for which function and sizes its borders are zero."""

_PREDICATES = {"==": "eq", "!=": "ne", "<": "slt", "<=": "sle", ">": "sgt", ">=": "sge"}


class StateField(NamedTuple):
    """A state in the block of all states: its type, and its place in bytes."""

    type: TensorType
    place: int


class Messages:
    """The texts of errors; the number of one is its position, from 1 on."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._numbers: dict[str, int] = {}

    def add(self, text: str) -> int:
        """Returns the number of a text, which is added if it is new."""
        if text not in self._numbers:
            self.texts.append(text)
        return self._numbers.setdefault(text, len(self.texts))


class Interface(NamedTuple):
    """The facts that all functions of a compiled program share: the prefix of their names, and where memory is.

    `workspace` and `weights` are the names of symbols; "" where the caller passes a pointer.
    """

    prefix: str
    workspace: str
    weights: str
    states: Mapping[str, StateField]
    has_weights: bool
    identity: int


def storage_dtype(element: ElementType) -> np.dtype[Any]:
    """Returns the dtype of an element type in memory outside of a graph."""
    return dtype_of(element.name)


def state_fields(entries: Iterable[EntryPoint]) -> dict[str, StateField]:
    """Returns the states of all functions, placed as the members of a C structure."""
    out: dict[str, StateField] = {}
    end = 0
    for use in [s for e in entries for s in e.states]:
        name = use.source.sym_name
        if name not in out:
            dtype = storage_dtype(use.type.element)
            place = -(-end // dtype.itemsize) * dtype.itemsize
            out[name] = StateField(use.type, place)
            end = place + prod(use.type.static_shape) * dtype.itemsize
    return out


def state_bytes(fields: Mapping[str, StateField]) -> int:
    """Returns the size of the block of all states."""
    return max([0, *[f.place + _bytes(f.type) for f in fields.values()]])


class EntryMemory(NamedTuple):
    """Where tensors of a function lie in the workspace: those it computes, and copies of others in wider types.

    `direct` are the outputs that are computed where the caller wants them, by tensor. Scratch memory follows the arena.
    """

    arena: Arena
    direct: Mapping[str, int]
    scratch_bytes: int

    @property
    def size_bytes(self) -> int:
        """The size of the workspace, at any alignment."""
        return _KEY_WORDS * 8 + self.arena.size_bytes + self.scratch_bytes + 2 * ALIGNMENT


def memory_of(entry: EntryPoint) -> EntryMemory:
    """Returns the places of tensors for the largest sizes."""
    program = entry.program
    given = {*program.constants, *[t.name for t in program.inputs]}
    end = 1 + max([t.lifetime.last for t in (*program.inputs, *program.intermediates, *program.outputs)], default=0)
    direct: dict[str, int] = {}
    for n, output in enumerate(entry.outputs):
        if output.tensor not in given and not _is_converted(output.type.element):
            direct.setdefault(output.tensor, n)
    for shape in [t.shape for t in (*program.inputs, *program.outputs)]:
        _check_elements(entry, prod([entry.largest(d) for d in shape]))
    for t in program.intermediates:
        _check_elements(entry, entry.largest(t.size))
    sizes = {t.memory: entry.largest(t.size) * t.dtype.itemsize for t in program.intermediates}
    lives = {t.memory: t.lifetime for t in program.intermediates}
    for t in program.outputs:
        if t.name not in given and t.name not in direct:
            sizes[t.name] = _largest_bytes(entry, t.shape, t.dtype)
            lives[t.name] = t.lifetime._replace(last=end)
    kept = {t.name for t in program.outputs}
    lifetimes = {t.name: t.lifetime for t in program.inputs}
    for name, type in _tensors_from_outside(entry):
        if _is_converted(type.element):
            sizes[name] = _largest_bytes(entry, _dims(type), compute_dtype(type.element))
            lives[name] = lifetimes[name]._replace(last=end) if name in kept else lifetimes[name]
    loaded = {s.loaded for s in entry.states}
    for s in entry.states:
        if s.stored in loaded:
            sizes[_staged(s)], lives[_staged(s)] = _bytes(s.type), Lifetime(end, end)
    scratch = max([entry.largest(d) for d in program.scratch], default=0)
    arena = arena_of(sizes, lives)
    shared = {t.name: arena.offsets[t.memory] for t in program.intermediates}
    return EntryMemory(arena._replace(offsets={**arena.offsets, **shared}), direct, scratch)


def _check_elements(entry: EntryPoint, count: int) -> None:
    """Raises: DiagnosticError (E0720) for a tensor with positions of more than 32 bits."""
    if count > MAX_ELEMENTS:
        message = f"function '{entry.name}': a tensor has up to {count:,} elements, the limit is {MAX_ELEMENTS:,}"
        raise DiagnosticError(Diagnostic(NOT_COMPILED_WHOLE, message, help="state smaller limits: --size NAME=MAX"))


def _tensors_from_outside(entry: EntryPoint) -> list[tuple[str, TensorType]]:
    inputs = [(i.tensor, i.type) for i in entry.inputs if i.tensor]
    return [*inputs, *[(s.loaded, s.type) for s in entry.states if s.loaded]]


def _largest_bytes(entry: EntryPoint, shape: Sequence[Dim], dtype: np.dtype[Any]) -> int:
    return prod([entry.largest(d) for d in shape]) * dtype.itemsize


def _dims(type: TensorType) -> list[Dim]:
    return [d for d in type.shape or () if d is not None]


def _is_converted(element: ElementType) -> bool:
    return storage_dtype(element) != compute_dtype(element)


def _bytes(type: TensorType) -> int:
    return prod(type.static_shape) * storage_dtype(type.element).itemsize


def _staged(use: StateUse) -> str:
    return f"{use.source.sym_name} staged"


class EntryParts(NamedTuple):
    """An entry point with its name in C and all its memory."""

    name: str
    entry: EntryPoint
    memory: EntryMemory
    interface: Interface
    weights: Weights


def write_entry(module: Module, parts: EntryParts, messages: Messages, target: Target) -> None:
    """Adds the function of an entry point. It calls the graph's main function by its own name and a suffix."""
    _EntryWriter(module, parts, messages, target).write()


class _EntryWriter:
    def __init__(self, module: Module, parts: EntryParts, messages: Messages, target: Target) -> None:
        self._entry, self._program, self._interface = parts.entry, parts.entry.program, parts.interface
        self._memory, self._weights, self._name = parts.memory, parts.weights, parts.name
        self._messages, self._target = messages, target
        self._f = f = Function(module, parts.name, [], I32)
        entry, interface = parts.entry, parts.interface
        self._weights_pointer = self._memory_argument(interface.weights) if interface.has_weights else None
        self._workspace = self._memory_argument(interface.workspace)
        self._states = f.parameter(POINTER) if entry.states else None
        self._sizes = {s.name: f.parameter(I64) for s in entry.sizes}
        self._inputs = [f.parameter(POINTER) for _ in entry.inputs]
        self._outputs = [f.parameter(POINTER) for _ in entry.outputs]
        self._error = f.variable(I32, 0)

    def _memory_argument(self, symbol: str) -> LlvmValue:
        return LlvmValue(self._f, POINTER, f"@{symbol}") if symbol else self._f.parameter(POINTER)

    def write(self) -> None:
        """Adds all instructions."""
        f = self._f
        if self._weights_pointer is not None and not self._interface.weights:
            check_header(f, self._weights_pointer, self._weights, self._messages, self._error)
        for s in self._entry.sizes:
            n = self._sizes[s.name]
            text = f"{self._entry.name}: the size '{s.name}' is not between {s.lower} and {s.upper}"
            is_wrong = f.binary("or", "or", n.compare("slt", s.lower), n.compare("sgt", s.upper))
            set_error(self._error, is_wrong, self._messages.add(text))
        with f.when(self._error.get().compare("eq", 0)):
            self._check_constraints(self._entry.constraints)
        with f.when(self._error.get().compare("eq", 0)):
            self._run()
        f.add_line(f"ret i32 {self._error.get().text}")

    def _check_constraints(self, constraints: Sequence[Constraint]) -> None:
        dims = self._dims()
        for c in constraints:
            lhs, rhs = dims.size(c.lhs), dims.size(c.rhs)
            holds = lhs.compare(_PREDICATES[c.relation], rhs)
            for dim in c.unless_empty:
                holds = self._f.binary("or", "or", holds, dims.size(dim).compare("eq", 0))
            text = f"{self._entry.name}: the sizes do not fulfil {c.lhs} {c.relation} {c.rhs}"
            set_error(self._error, holds ^ True, self._messages.add(text))

    def _dims(self) -> KernelCode:
        """Returns a writer of expressions of sizes, in the region that instructions are added to."""
        nothing = WorkDivision(self._f.integer(0), self._f.integer(0), is_divided=False)
        scratch = Scratch(self._workspace)
        return KernelCode(self._f, self._target, {}, self._sizes, self._workspace, [], scratch, nothing)

    def _run(self) -> None:
        f, entry = self._f, self._entry
        dims = self._dims()
        address = f.cast("ptrtoint", self._workspace, "i64")
        key = f.element(self._workspace, (f.integer(0) - address) & (ALIGNMENT - 1), "i8")
        arena = f.element(key, f.integer(_KEY_WORDS * 8), "i8")
        self._clear_borders(dims, key, arena)
        places: dict[str, LlvmValue] = {}
        for name, offset in self._memory.arena.offsets.items():
            places[name] = f.element(arena, f.integer(offset), "i8")
        sources = self._sources(dims, places)
        table = f.array(POINTER, max(1, len(self._program.table)))
        for n, name in enumerate(self._program.table):
            # Loops and branches give the others an address.
            if name in sources:
                f.store(self._tensor(name, sources, dims), f.element(table, f.integer(n), "ptr"))
        sizes = f.array(I64, max(1, len(self._program.symbols)))
        for n, symbol in enumerate(self._program.symbols):
            f.store(self._sizes[symbol], f.element(sizes, f.integer(n), "i64"))
        faults = f.array(I64, 2)
        f.store(f.integer(0), faults)
        scratch = f.element(arena, f.integer(self._memory.arena.size_bytes), "i8")
        no_watch = LlvmValue(f, POINTER, "null")
        f.call(f"{self._name}.{MAIN}", None, table, sizes, faults, scratch, no_watch)
        fault = f.load(faults, I64)
        for n, check in enumerate(self._program.checks, 1):
            number = self._messages.add(_fault_text(entry, check.tensor, check.axis))
            set_error(self._error, fault.compare("eq", n), number)
        with f.when(fault.compare("eq", 0)):
            self._finish(dims, sources)

    def _clear_borders(self, dims: KernelCode, key: LlvmValue, arena: LlvmValue) -> None:
        """Fills tensors with borders if the workspace was last used for another function or other sizes."""
        f = self._f
        offsets = self._memory.arena.offsets
        bordered = [t for t in self._program.intermediates if t.border is not None]
        if not bordered:
            return
        words = [f.integer(self._interface.identity), *self._sizes.values()]
        if len(words) > _KEY_WORDS:
            words = words[:1]
        places = [f.element(key, f.integer(n), "i64") for n in range(len(words))]
        is_other = f.constant(LlvmType("i1"), len(words) == 1 and bool(self._sizes))
        for word, place in zip(words, places, strict=True):
            is_other = f.binary("or", "or", f.load(place, I64).compare("ne", word), is_other)
        with f.when(is_other):
            for t in bordered:
                start = f.element(arena, f.integer(offsets[t.name]), "i8")
                count = dims.size(t.size) * t.dtype.itemsize
                byte = f.constant(LlvmType("i8"), t.border or 0)
                f.call("llvm.memset.p0.i64", None, start, byte, count, f.constant(LlvmType("i1"), 0))
            for word, place in zip(words, places, strict=True):
                f.store(word, place)

    def _sources(self, dims: KernelCode, places: Mapping[str, LlvmValue]) -> dict[str, LlvmValue]:
        """Returns where tensors from outside and computed ones lie, after converting those in narrower types."""
        f, entry = self._f, self._entry
        out = dict(places)
        outside = [(i.tensor, i.type, p) for i, p in zip(entry.inputs, self._inputs, strict=True) if i.tensor]
        outside += [(s.loaded, s.type, self._state(s)) for s in entry.states if s.loaded]
        for tensor, type, pointer in outside:
            if _is_converted(type.element):
                wide = storage_of(compute_dtype(type.element))
                self._convert(pointer, storage_of(storage_dtype(type.element)), out[tensor], wide, type, dims)
            else:
                out[tensor] = pointer
        for tensor, n in self._memory.direct.items():
            out[tensor] = self._outputs[n]
        for name, array in self._program.constants.items():
            assert self._weights_pointer is not None
            place = self._weights.place(array)
            out[name] = f.element(self._weights_pointer, f.integer(place), "i8")
        return out

    def _tensor(self, name: str, sources: Mapping[str, LlvmValue], dims: KernelCode) -> LlvmValue:
        """Returns the pointer to the first element of a tensor, behind its border or inside of another one."""
        t = next((t for t in self._program.intermediates if t.name == name), None)
        if t is None or t.offset == 0:
            return sources[name]
        return self._f.element(sources[name], dims.size(t.offset), storage_of(t.dtype))

    def _state(self, use: StateUse) -> LlvmValue:
        assert self._states is not None
        place = self._interface.states[use.source.sym_name].place
        return self._f.element(self._states, self._f.integer(place), "i8")

    def _finish(self, dims: KernelCode, sources: Mapping[str, LlvmValue]) -> None:
        """Copies outputs that are not in their place yet, and then states: an output may be an old state."""
        f, entry = self._f, self._entry
        for n, (output, pointer) in enumerate(zip(entry.outputs, self._outputs, strict=True)):
            if self._memory.direct.get(output.tensor) != n:
                self._copy_out(output.tensor, sources, pointer, output.type, dims)
        stored = [s for s in entry.states if s.stored]
        staged = [s for s in stored if _staged(s) in sources]
        for s in staged:
            self._copy_out(s.stored, sources, sources[_staged(s)], s.type, dims)
        for s in stored:
            if s in staged:
                self._copy(sources[_staged(s)], self._state(s), f.integer(_bytes(s.type)))
            else:
                self._copy_out(s.stored, sources, self._state(s), s.type, dims)

    def _copy_out(
        self, tensor: str, sources: Mapping[str, LlvmValue], to: LlvmValue, type: TensorType, dims: KernelCode
    ) -> None:
        """Copies a tensor to memory outside, in its declared element type."""
        constant = self._program.constants.get(tensor)
        computed = compute_dtype(type.element) if constant is None else constant.dtype
        declared = storage_dtype(type.element)
        if computed == declared:
            self._copy(sources[tensor], to, self._count(type, dims) * declared.itemsize)
        else:
            self._convert(sources[tensor], storage_of(computed), to, storage_of(declared), type, dims)

    def _count(self, type: TensorType, dims: KernelCode) -> LlvmValue:
        count: Dim = 1
        for d in _dims(type):
            count = count * d
        return dims.size(count)

    def _copy(self, source: LlvmValue, to: LlvmValue, size: LlvmValue) -> None:
        self._f.call("llvm.memcpy.p0.p0.i64", None, to, source, size, self._f.constant(LlvmType("i1"), 0))

    def _convert(
        self, source: LlvmValue, storage: str, to: LlvmValue, new_storage: str, type: TensorType, dims: KernelCode
    ) -> None:
        """Converts elements between a floating-point type of 16 bits and single precision."""
        f, count = self._f, self._count(type, dims)
        start = f.integer(0)
        for lanes in (self._target.lanes(), 1):
            stop = f.binary("sdiv", "sdiv", count, lanes) * lanes
            with f.loop(start, stop, lanes) as i:
                x = f.load(f.element(source, i, storage), LlvmType(storage, lanes))
                x = loaded_value(f, x, type.element)
                f.store(stored_value(f, x, new_storage, type.element), f.element(to, i, new_storage))
            start = stop


def set_error(error: Variable, condition: LlvmValue, number: int) -> None:
    """Sets the number of an error where a condition holds, unless an earlier one is set."""
    f, before = condition.function, error.get()
    is_new = f.binary("and", "and", condition, before.compare("eq", 0))
    error.set(f.select(is_new, f.constant(I32, number), before))


def write_weights_check(module: Module, name: str, weights: Weights, messages: Messages) -> None:
    """Adds the function that compares a block of weights, whose size it receives, with those of the program."""
    f = Function(module, name, [POINTER, I64], I32)
    pointer, size = f.arguments
    error = f.variable(I32, 0)
    is_short = size.compare("ult", weights.size_bytes)
    set_error(error, is_short, messages.add("the weights are shorter than the program's"))
    with f.when(error.get().compare("eq", 0)):
        check_header(f, pointer, weights, messages, error)
    f.add_line(f"ret i32 {error.get().text}")


def check_header(f: Function, pointer: LlvmValue, weights: Weights, messages: Messages, error: Variable) -> None:
    """Sets an error if weights do not belong to the code."""
    mark = int.from_bytes(MARK, "little", signed=True)
    set_error(error, f.load(pointer, I64).compare("ne", mark), messages.add("these are not weights of a program"))
    version = f.load(f.element(pointer, f.integer(VERSION_AT), "i8"), I64)
    text = "the weights belong to another version of the program"
    set_error(error, version.compare("ne", signed(weights.version)), messages.add(text))


def signed(word: int) -> int:
    """Returns 64 bits as a signed integer."""
    return word - (1 << 64) if word >= 1 << 63 else word


def _fault_text(entry: EntryPoint, tensor: str, axis: int) -> str:
    name = entry.names.get(tensor)
    what = f"'{name}'" if name is not None else "a tensor"
    return f"{entry.name}: a position on axis {axis} of {what} is out of range"
