"""Replaces mutable globals of a function by inputs and outputs, for targets without variables.

Each global that the function reads or replaces becomes one more input and output, and is threaded through the branches
and loops that replace it. The source does not change.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from commonir.base.codes import CHANGED_IN_CONVERSION, UNSUPPORTED_CONVERSION
from commonir.base.diagnostics import Diagnostic, DiagnosticError, InternalError
from commonir.base.tuples import NamedTuple
from commonir.dialects import core
from commonir.dialects.mlir import ml_program
from commonir.ir.attributes import DictionaryAttr
from commonir.ir.cloning import clone
from commonir.ir.interface import PORT, Port, port_attribute
from commonir.ir.module import Module, replace_function
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.types import FunctionType
from commonir.ods import path_of

STATE_OUTPUT = "_out"
"""The end of the name of an output that has the new contents of a global."""


class Threaded(NamedTuple):
    """A global that was replaced, and the names of its input and output."""

    variable: ml_program.Global
    input: str
    output: str

    def change(self) -> Diagnostic:
        """Returns the note (N0601) on how to run the program now."""
        message = f"state '{self.variable.sym_name}' becomes the input '{self.input}' and the output '{self.output}'"
        first = "zeros" if self.variable.begins_with_zeros else "its initial value, which is not zero,"
        help = f"give {first} first, then the output of the run before"
        return Diagnostic(CHANGED_IN_CONVERSION, message, help=help)


Contents = dict[ml_program.Global, Value]


def thread_globals(module: Module, function: str | None = None) -> tuple[Module, tuple[Threaded, ...]]:
    """Returns a module in which a function, by default the main one, uses no mutable global, and the replaced globals.

    Returns the module itself if there are none. The new inputs and outputs follow those of the function; an input has
    the name of its global, an output that name with `_out`; the port of the input names the output.

    Raises: DiagnosticError (E0601) for a function that calls another one, or a condition of a loop that replaces
    contents.
    """
    name = module.function(function).symbol_name
    if not any(True for _ in _used(module.function(name))):
        return module, ()
    result = clone(module)
    target = result.functions[name]
    if not isinstance(target, ml_program.Func):
        raise InternalError("only functions of lowered modules have globals")
    threaded = _thread(target)
    return result, threaded


def _thread(function: ml_program.Func) -> tuple[Threaded, ...]:
    for op in function.walk():
        if isinstance(op, core.Call):
            message = f"{op.name}: a function that is called cannot use what the program keeps between runs"
            raise DiagnosticError(Diagnostic(UNSUPPORTED_CONVERSION, message, where=path_of(op)))
    used = tuple(dict.fromkeys(_used(function)))
    names = _Names([v.name for v in function.inputs], function.output_names)
    threaded = tuple([Threaded(g, *names.pair(g.sym_name)) for g in used])
    contents = {t.variable: function.body.add_argument(t.variable.type, t.input) for t in threaded}
    _thread_block(function.body, contents)
    _extend_end(function.body, [contents[g] for g in used])
    _replace_function(function, threaded)
    return threaded


def _replace_function(function: ml_program.Func, threaded: Sequence[Threaded]) -> None:
    """Replaces a function whose body has more inputs and outputs by one that declares them."""
    output_names = function.output_names[: len(function.outputs) - len(threaded)]
    signature = FunctionType(tuple([v.type for v in function.inputs]), tuple([v.type for v in function.outputs]))
    nothing = (DictionaryAttr(()),) * len(threaded)
    attributes = function.arg_attrs or (DictionaryAttr(()),) * (len(function.inputs) - len(threaded))
    states = [DictionaryAttr(((PORT, port_attribute(Port(state=t.output))),)) for t in threaded]
    body = function.body_region
    function.regions = ()
    built = ml_program.Func(
        function.sym_name,
        signature,
        body,
        (*output_names, *(t.output for t in threaded)),
        sym_visibility=function.sym_visibility,
        arg_attrs=(*attributes, *states),
        res_attrs=None if function.res_attrs is None else (*function.res_attrs, *nothing),
    )
    replace_function(function, built)


class _Names:
    """Unique names of inputs and outputs."""

    def __init__(self, inputs: Iterable[str], outputs: Iterable[str]) -> None:
        self._used = {*inputs, *outputs}

    def pair(self, name: str) -> tuple[str, str]:
        """Returns unused names for an input and an output."""
        return self._free(name), self._free(name + STATE_OUTPUT)

    def _free(self, name: str) -> str:
        number = 1
        free = name
        while free in self._used:
            number += 1
            free = f"{name}_{number}"
        self._used.add(free)
        return free


def _variable(op: Operation) -> ml_program.Global | None:
    """Returns the mutable global that an operation loads or stores."""
    if not isinstance(op, ml_program.GlobalLoad | ml_program.GlobalStore):
        return None
    result = op.target
    return result if result is not None and result.is_mutable else None


def _used(op: Operation) -> Iterator[ml_program.Global]:
    """Yields the mutable globals that are loaded or stored in an operation, in order."""
    for inner in op.walk():
        result = _variable(inner)
        if result is not None:
            yield result


def _stored(regions: Iterable[Region]) -> tuple[ml_program.Global, ...]:
    """Returns the globals that are replaced in regions, in order."""
    blocks = [block for region in regions for block in region.blocks]
    nested = (i for block in blocks for op in block.operations for i in op.walk())
    stores = [
        variable for op in nested if isinstance(op, ml_program.GlobalStore) and (variable := _variable(op)) is not None
    ]
    return tuple(dict.fromkeys(stores))


def _thread_block(block: Block, contents: Contents) -> None:
    """Replaces loads by the current contents of globals, which stores update."""
    for op in list(block.operations):
        variable = _variable(op)
        if variable is not None and op.results:
            op.results[0].replace_all_uses_with(contents[variable])
            op.erase()
        elif variable is not None:
            contents[variable] = op.operands[0]
            op.erase()
        elif isinstance(op, core.If):
            _thread_branches(op, contents)
        elif isinstance(op, core.While):
            _thread_loop(op, contents)
        elif op.regions:
            if _stored(op.regions):
                raise DiagnosticError(_unthreaded(op, "it"))
            for region in op.regions:
                _thread_block(region.block, dict(contents))


def _thread_branches(op: core.If, contents: Contents) -> None:
    stored = _stored(op.regions)
    for region in op.regions:
        inside = dict(contents)
        _thread_block(region.block, inside)
        _extend_end(region.block, [inside[g] for g in stored])
    if stored:
        then, orelse = op.regions
        op.regions = ()
        new_op = core.If(condition=op.condition, then=then, orelse=orelse)
        _replace(op, new_op, stored, contents)


def _thread_loop(op: core.While, contents: Contents) -> None:
    condition, body = op.regions
    if _stored([condition]):
        raise DiagnosticError(_unthreaded(op, "its condition"))
    stored = _stored([body])
    for region in (condition, body):
        inside = {**contents, **{g: region.block.add_argument(g.type, g.sym_name) for g in stored}}
        _thread_block(region.block, inside)
        if region is body:
            _extend_end(region.block, [inside[g] for g in stored])
    if stored:
        op.regions = ()
        initial = (*op.initial, *(contents[g] for g in stored))
        _replace(op, core.While(initial=initial, condition=condition, body=body), stored, contents)


def _unthreaded(op: Operation, subject: str) -> Diagnostic:
    message = f"{op.name}: {subject} replaces what the program keeps between runs"
    return Diagnostic(UNSUPPORTED_CONVERSION, message, where=path_of(op))


def _extend_end(block: Block, values: Sequence[Value]) -> None:
    """Adds operands to the terminator of a block."""
    last = block.last
    if not isinstance(last, core.Yield | ml_program.Return):
        raise InternalError("a block without an end")
    if values:
        built = type(last)((*last.operands, *values))
        block.insert_before(last, built)
        last.erase()


def _replace(op: Operation, new_op: Operation, stored: Collection[ml_program.Global], contents: Contents) -> None:
    """Replaces an operation by one with further results."""
    block = op.parent
    if block is None:
        raise InternalError(f"{op.name} is in no block")
    block.insert_before(op, new_op)
    new_op.location = op.location
    count = len(op.results)
    for old, new in zip(op.results, new_op.results[:count], strict=True):
        new.name = old.name
        old.replace_all_uses_with(new)
    contents.update(zip(stored, new_op.results[count:], strict=True))
    op.erase()
