"""Compiles functions of a lowered program to an object file, with the sources and weights that go with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256

import numpy as np

from commonir.ahead_of_time.c_header import CProgram, c_function, identifiers
from commonir.ahead_of_time.cpu_check import can_check, check_code, enabled_features
from commonir.ahead_of_time.description import description
from commonir.ahead_of_time.entry_code import (
    EntryParts,
    Interface,
    Messages,
    memory_of,
    state_fields,
    storage_dtype,
    write_entry,
    write_weights_check,
)
from commonir.ahead_of_time.entry_points import EntryPoint, entry_point
from commonir.ahead_of_time.library_file import marked
from commonir.ahead_of_time.object_files import named_target, object_file
from commonir.ahead_of_time.undefined_symbols import undefined_symbols
from commonir.ahead_of_time.weights import Weights
from commonir.base.codes import WRONG_USAGE
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.text import format_bytes
from commonir.base.tuples import NamedTuple
from commonir.dialects.mlir import ml_program
from commonir.ir.module import Function as ProgramFunction
from commonir.llvm.compiler import host_target
from commonir.llvm.llvm_ir import I32, POINTER, Function, LlvmType, LlvmValue, Module
from commonir.llvm.target import Target


class CompileOptions(NamedTuple):
    """How a program is compiled: the prefix of all names, the processor, and where memory comes from.

    `sizes` are the largest values of symbols. With `is_embedded` the object has the weights, with `is_static` the
    workspace. `is_shared` is for a library: functions are exported, and the object describes itself.
    """

    prefix: str
    target: Target
    sizes: Mapping[str, int]
    is_embedded: bool = False
    is_static: bool = False
    is_shared: bool = False


class CompiledObject(NamedTuple):
    """An object file, what its sources say, and its weights."""

    data: bytes
    program: CProgram
    weights: Weights


def chosen_target(triple: str | None, cpu: str | None) -> Target:
    """Returns the processor that a program is compiled for: by names of LLVM, by default that of this machine.

    Raises: DiagnosticError (E0901 for unknown names, E0705 without llvmlite).
    """
    host = host_target()
    if triple is None and cpu in (None, "native"):
        return host
    return named_target(triple or host.triple, cpu)


def compile_functions(
    functions: Sequence[ProgramFunction], options: CompileOptions, weights_file: str = ""
) -> CompiledObject:
    """Returns functions of a lowered program as one object file; `weights_file` is for the description of a library.

    Raises: DiagnosticError (E0720 with everything that cannot be compiled, E0707 for sizes without a limit).
    """
    entries, refused = list[EntryPoint](), list[Diagnostic]()
    for function in functions:
        try:
            entries.append(entry_point(function, options.sizes, options.target))
        except DiagnosticError as error:
            refused += error.diagnostics
    if refused:
        raise DiagnosticError(*refused)
    return _Compiler(entries, options, weights_file).compiled()


class _Compiler:
    def __init__(self, entries: Sequence[EntryPoint], options: CompileOptions, weights_file: str) -> None:
        self._options, self._target = options, options.target
        self._weights_file = weights_file
        self._entries = entries
        self._weights = Weights()
        self._messages = Messages()
        words = identifiers([e.name for e in entries], _OWN_FUNCTIONS)
        self._names = [f"{options.prefix}_{w}" for w in words]

    def compiled(self) -> CompiledObject:
        """Returns the object file and what belongs to it."""
        entries, options, p = self._entries, self._options, self._options.prefix
        fields = state_fields(entries)
        initial = {name: self._initial(name) for name in fields}
        for array in [a for e in entries for a in e.program.constants.values()]:
            self._weights.place(array)
        if options.is_embedded and self._weights.size_bytes > MAX_EMBEDDED_BYTES:
            size = format_bytes(self._weights.size_bytes)
            message = f"weights of {size} are too large for an object file"
            help = f"leave out --embed; up to {format_bytes(MAX_EMBEDDED_BYTES)} can be embedded"
            raise DiagnosticError(Diagnostic(WRONG_USAGE, message, help=help))
        places = {n: self._weights.place(a) for n, a in initial.items() if a is not None}
        identity = int.from_bytes(sha256("".join(e.text for e in entries).encode()).digest()[:7], "little")
        interface = Interface(
            p,
            f"{p}_workspace" if options.is_static else "",
            f"{p}_weights" if options.is_embedded else "",
            fields,
            not self._weights.is_empty,
            identity,
        )
        module = Module(self._target.function_attributes)
        sizes: list[int] = []
        for n, (name, entry) in enumerate(zip(self._names, entries, strict=True)):
            memory = memory_of(entry)
            own = interface._replace(identity=identity + n)
            write_entry(module, EntryParts(name, entry, memory, own, self._weights), self._messages, self._target)
            sizes.append(memory.size_bytes)
        self._write_initialize(module, interface, places)
        if interface.has_weights and not options.is_embedded:
            write_weights_check(module, f"{p}_check_weights", self._weights, self._messages)
        text = "\n".join([str(module), *self._memory_globals(interface, max(sizes)), *self._message_globals()])
        host = host_target().triple
        check = check_code(f"{p}_check_cpu", self._target.triple, enabled_features(self._target), host)
        program = CProgram(
            interface,
            tuple([c_function(n, e) for n, e in zip(self._names, entries, strict=True)]),
            dict(zip(fields, identifiers(fields), strict=True)),
            max(sizes),
            self._weights.size_bytes,
            self._target,
            (),
            can_check(self._target.triple, host),
        )
        plain = [text, check]
        if options.is_shared:
            own = marked(description(program, self._weights_file))
            plain.append(_bytes_global(f"{p}_description", own))
        exported = {*self._names, *[f"{p}_{n}" for n in _OWN_FUNCTIONS]} - {interface.weights, interface.workspace}
        graphs = {f"{name}.": e.text for name, e in zip(self._names, entries, strict=True)}
        data = object_file(graphs, self._target, exported, plain, is_shared=options.is_shared)
        program = program._replace(undefined=undefined_symbols(data))
        return CompiledObject(data, program, self._weights)

    def _initial(self, name: str) -> np.ndarray | None:
        """Returns the initial contents of a state; None for zeros."""
        use = next(s for e in self._entries for s in e.states if s.source.sym_name == name)
        source: ml_program.Global = use.source
        array = None if source.data is None else source.data.array()
        if array is None or not np.any(array):
            return None
        return array.astype(storage_dtype(use.type.element), copy=False)

    def _write_initialize(self, module: Module, interface: Interface, places: Mapping[str, int]) -> None:
        """Adds the function that gives states their initial values."""
        if not interface.states:
            return
        f = Function(module, f"{interface.prefix}_initialize", [])
        takes_weights = interface.has_weights and not interface.weights
        weights = f.parameter(POINTER) if takes_weights else LlvmValue(f, POINTER, f"@{interface.weights}")
        states = f.parameter(POINTER)
        no = f.constant(LlvmType("i1"), 0)
        for name, field in interface.states.items():
            place = f.element(states, f.integer(field.place), "i8")
            size = f.integer(int(np.prod(field.type.static_shape)) * storage_dtype(field.type.element).itemsize)
            if name in places:
                source = f.element(weights, f.integer(places[name]), "i8")
                f.call("llvm.memcpy.p0.p0.i64", None, place, source, size, no)
            else:
                f.call("llvm.memset.p0.i64", None, place, f.constant(LlvmType("i8"), 0), size, no)
        f.add_line("ret void")

    def _memory_globals(self, interface: Interface, workspace_bytes: int) -> Iterable[str]:
        if interface.workspace:
            yield f"@{interface.workspace} = internal global [{workspace_bytes} x i8] zeroinitializer, align 64"
        if interface.weights and interface.has_weights:
            yield _bytes_global(interface.weights, b"".join(self._weights.parts()))

    def _message_globals(self) -> Iterable[str]:
        """Yields the texts of errors, and the function that returns one."""
        texts = ["no error", *self._messages.texts, "an unknown error"]
        names = [f"@message.{n}" for n in range(len(texts))]
        for name, text in zip(names, texts, strict=True):
            yield _bytes_global(name[1:], text.encode() + b"\0")
        count = len(texts)
        yield f"@messages = internal constant [{count} x ptr] [{', '.join(f'ptr {n}' for n in names)}]"
        module = Module("nounwind")
        f = Function(module, f"{self._options.prefix}_message", [I32], POINTER)
        (error,) = f.arguments
        number = f.select(error.compare("ult", count - 1), error, count - 1)
        at = f.cast("zext", number, "i64")
        place = f.element(LlvmValue(f, POINTER, "@messages"), at, "ptr")
        f.add_line(f"ret ptr {f.load(place, POINTER).text}")
        yield str(module).replace("#0", "#1")


MAX_EMBEDDED_BYTES = 1 << 29
"""The largest weights in an object file: LLVM needs some 12 times their memory."""

_OWN_FUNCTIONS = ("message", "check_cpu", "check_weights", "initialize", "state", "weights", "workspace", "description")
"""Names behind the prefix that are not those of entry points."""


def _bytes_global(name: str, data: bytes) -> str:
    """Returns a constant of LLVM with some bytes."""
    digits = np.frombuffer(b"0123456789ABCDEF", np.uint8)
    values = np.frombuffer(data, np.uint8)
    text = np.full((len(values), 3), ord("\\"), np.uint8)
    text[:, 1], text[:, 2] = digits[values >> 4], digits[values & 15]
    return f'@{name} = constant [{len(data)} x i8] c"{text.tobytes().decode()}", align 64'
