"""Functions of a program as graphs of kernels that are compiled whole, with what a caller passes and receives.

A state (a mutable global) is an input of the graph where the function loads it, and an output where it stores it.
Symbols of sizes have limits: those of the program, and those that a caller of the compiler states.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from commonir.base.codes import NOT_COMPILED_WHOLE, WRONG_DIMENSIONS
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.base.suggestions import did_you_mean, known_names
from commonir.base.tuples import NamedTuple
from commonir.dialects.mlir import ml_program
from commonir.ir.interface import NO_PORT, Port
from commonir.ir.module import Function
from commonir.ir.operation import Operation, Value
from commonir.ir.types import TensorType, Type, string
from commonir.llvm.scalar_functions import NotCompiled
from commonir.llvm.target import Target
from commonir.native.compiling import generated_program
from commonir.native.kernels.expression_code import missing_code
from commonir.native.program import CompiledProgram
from commonir.notation import Constraint
from commonir.ods import source_path
from commonir.runtime.binding.ports import names_of
from commonir.runtime.interpreter.control import is_control
from commonir.runtime.kernel_graph.building import NotAKernel
from commonir.runtime.kernel_graph.control import GraphProgram
from commonir.runtime.kernel_graph.program_building import ProgramBuilder, operations_of
from commonir.symbolic import Dim, extreme, index, substitute
from commonir.symbolic.dims import symbols_in


class SizeLimit(NamedTuple):
    """A symbol of sizes, and its smallest and largest value."""

    name: str
    lower: int
    upper: int


class Argument(NamedTuple):
    """An input or output: its name in the program, its type, its tensor in the graph, and what the program says of it.

    The tensor of an input that nothing reads is "".
    """

    name: str
    type: TensorType
    tensor: str
    port: Port = NO_PORT


class StateUse(NamedTuple):
    """A mutable global, and its tensors in the graph: `loaded` at the start, `stored` at the end; "" for neither."""

    source: ml_program.Global
    type: TensorType
    loaded: str
    stored: str


class EntryPoint(NamedTuple):
    """A function that is compiled whole: what a caller passes, the text of its module, and what its code expects.

    `names` are those of values of the program, by tensor.
    """

    name: str
    sizes: tuple[SizeLimit, ...]
    inputs: tuple[Argument, ...]
    outputs: tuple[Argument, ...]
    states: tuple[StateUse, ...]
    constraints: tuple[Constraint, ...]
    text: str
    program: CompiledProgram
    names: Mapping[str, str]

    def largest(self, dim: Dim) -> int:
        """Returns the largest value of an expression of sizes within their limits. Raises: DiagnosticError (E0707)."""
        values: dict[str, Dim] = {s.name: index(s.name) + s.lower for s in self.sizes}
        extents: dict[str, Dim] = {s.name: s.upper - s.lower + 1 for s in self.sizes}
        result = extreme(substitute(dim, values) if not isinstance(dim, int) else dim, extents, upper=True)
        if isinstance(result, int):
            return result
        message = f"function '{self.name}': the size {dim} has no limit"
        raise DiagnosticError(Diagnostic(WRONG_DIMENSIONS, message, help="state one: --size NAME=MAX"))


def entry_point(function: Function, limits: Mapping[str, int], target: Target) -> EntryPoint:
    """Returns a lowered function as one program. `limits` are the largest values of symbols.

    Raises: DiagnosticError (E0720 for operations that are not compiled, E0707 for sizes without a limit).
    """
    builder = ProgramBuilder(missing_code)
    states = _EntryBuilder(function, builder).build()
    sizes = _size_limits(function, limits)
    program = builder.program()
    _check_symbols(function, program, sizes)
    try:
        generated = generated_program(program, target)
    except NotCompiled as reason:
        message = f"function '{function.symbol_name}': {reason} has no machine code"
        raise DiagnosticError(Diagnostic(NOT_COMPILED_WHOLE, message, help=_REMEDY)) from reason
    outputs = [t.name for t in generated.program.outputs]
    ports, output_ports = function.input_ports, function.output_ports
    read = {*builder.inputs}
    inputs = [
        Argument(n, _tensor_type(v, function), builder.input(v) if v in read else "", ports.get(n, NO_PORT))
        for n, v in zip(names_of(function), function.inputs, strict=True)
    ]
    results = [
        Argument(n, _tensor_type(v, function), tensor, output_ports.get(n, NO_PORT))
        for n, v, tensor in zip(function.output_names, function.outputs, outputs, strict=False)
    ]
    return EntryPoint(
        function.symbol_name,
        sizes,
        tuple(inputs),
        tuple(results),
        tuple([s._replace(stored=outputs[int(s.stored)] if s.stored else "") for s in states]),
        tuple(builder.constraints),
        generated.text,
        generated.program,
        builder.value_names,
    )


def _tensor_type(value: Value, function: Function) -> TensorType:
    if isinstance(value.type, TensorType):
        return value.type
    message = f"function '{function.symbol_name}': '{value.name}' has type {value.type}, which C code cannot pass"
    raise DiagnosticError(Diagnostic(NOT_COMPILED_WHOLE, message, help=_REMEDY))


_REMEDY = "`cir extract` writes the part of the program that can be compiled; the rest runs in Python"

_NO_STRINGS = "strings are not compiled: `cir edit --drop-output NAME` removes outputs such as labels of classes"


class _EntryBuilder:
    """Builds the graph of a function, with loads and stores of globals as inputs and outputs."""

    def __init__(self, function: Function, builder: ProgramBuilder) -> None:
        self._function = function
        self._builder = builder
        self._states: dict[ml_program.Global, StateUse] = {}
        self._contents: dict[ml_program.Global, Value] = {}
        self._output_count = 0

    def build(self) -> list[StateUse]:
        """Adds all operations, and returns the states; `stored` of these are positions of outputs.

        Raises: DiagnosticError with all operations that are not kernels.
        """
        refused: dict[str, Diagnostic] = {}
        for op in operations_of(self._function.body):
            try:
                self._add(op)
            except NotAKernel as reason:
                refused.setdefault(op.name, _refusal(self._function, op, str(reason)))
        if refused:
            raise DiagnosticError(*refused.values())
        for v in self._function.outputs:
            self._output(v)
        states: list[StateUse] = []
        for target, use in self._states.items():
            if use.stored:
                self._output(self._contents[target])
                use = use._replace(stored=str(self._output_count - 1))
            states.append(use)
        return states

    def _output(self, value: Value) -> None:
        self._builder.output(value)
        self._output_count += 1

    def _add(self, op: Operation) -> None:
        match op:
            case ml_program.GlobalLoad() if op.target is not None and op.target.is_mutable:
                self._load(op.target, op.results[0])
            case ml_program.GlobalStore() if op.target is not None:
                target = op.target
                use = self._states.get(target) or StateUse(target, _state_type(target), "", "")
                self._states[target] = use._replace(stored="stored")
                self._contents[target] = op.value
            case _:
                self._builder.add(op)

    def _load(self, source: ml_program.Global, result: Value) -> None:
        contents = self._contents.get(source)
        if contents is not None:
            self._builder.load(result, contents)
            return
        self._contents[source] = result
        self._states[source] = StateUse(source, _state_type(source), self._builder.input(result), "")


def _state_type(source: ml_program.Global) -> TensorType:
    if isinstance(source.type, TensorType) and source.type.is_static:
        return source.type
    message = f"state @{source.sym_name} has type {source.type}, and only tensors of fixed shape are compiled"
    raise DiagnosticError(Diagnostic(NOT_COMPILED_WHOLE, message, where=source_path(source), help=_REMEDY))


def _refusal(function: Function, op: Operation, reason: str) -> Diagnostic:
    """Returns the error about an operation that is not compiled."""
    what = "is not a computation of array elements by formulas" if reason == op.name else f"is not compiled: {reason}"
    if is_control(op) and reason == op.name:
        what = "runs through Python"
    message = f"function '{function.symbol_name}': {op.name} {what}"
    has_strings = any(_has_strings(v.type) for v in (*op.operands, *op.results))
    return Diagnostic(NOT_COMPILED_WHOLE, message, where=source_path(op), help=_NO_STRINGS if has_strings else _REMEDY)


def _has_strings(type: Type) -> bool:
    return isinstance(type, TensorType) and type.element is string


def _size_limits(function: Function, limits: Mapping[str, int]) -> tuple[SizeLimit, ...]:
    """Returns the limits of the symbols in the shapes of inputs, in order of occurrence."""
    lowest: dict[str, int] = {}
    ranges: dict[str, list[tuple[int, int | None]]] = {}
    for name, value in zip(names_of(function), function.inputs, strict=True):
        port = function.input_ports.get(name, NO_PORT)
        for axis, dim in enumerate(_tensor_type(value, function).shape or ()):
            for s in symbols_in(dim) if dim is not None and not isinstance(dim, int) else ():
                lowest.setdefault(s.name, s.least)
                if str(dim) != s.name:
                    continue
                if port.ranges:
                    allowed_range = port.ranges[axis]
                    ranges.setdefault(s.name, []).append((allowed_range.lower, allowed_range.upper))
                elif port.shapes:
                    allowed = [shape[axis] for shape in port.shapes]
                    ranges.setdefault(s.name, []).append((min(allowed), max(allowed)))
    unknown = [n for n in limits if n not in lowest]
    diagnostics = Diagnostics()
    for n in unknown:
        help = did_you_mean(n, list(lowest)) or known_names("size", list(lowest))
        diagnostics.add(WRONG_DIMENSIONS, f"function '{function.symbol_name}' has no size '{n}'", help=help)
    out: list[SizeLimit] = []
    for name, least in lowest.items():
        given = ranges.get(name, [])
        lower = max([least, *[low for low, _ in given]])
        uppers = [high for _, high in given if high is not None]
        upper = limits.get(name, min(uppers, default=None))
        if upper is None:
            message = f"function '{function.symbol_name}': the size '{name}' has no limit"
            diagnostics.add(WRONG_DIMENSIONS, message, help=f"state the largest one: --size {name}=MAX")
        elif upper < lower or any(upper > high for high in uppers):
            message = f"function '{function.symbol_name}': the limit {upper} of '{name}' is not an allowed size"
            allowed = f"from {lower}" + (f" to {min(uppers)}" if uppers else "")
            diagnostics.add(WRONG_DIMENSIONS, message, help=f"the program allows sizes {allowed}")
        else:
            out.append(SizeLimit(name, lower, upper))
    diagnostics.raise_errors()
    return tuple(out)


def _check_symbols(function: Function, program: GraphProgram, sizes: Iterable[SizeLimit]) -> None:
    """Checks that every size follows from those of inputs. Raises: DiagnosticError (E0720)."""
    known = {s.name for s in sizes}
    for node in [node for graph in program.graphs() for node in graph.nodes.values()]:
        for name in sorted(node.symbols() - known):
            what = f"the size '{name}' is only known when {node.origins[0].operation} has run"
            message = f"function '{function.symbol_name}': {what}"
            raise DiagnosticError(Diagnostic(NOT_COMPILED_WHOLE, message, help=_REMEDY))
