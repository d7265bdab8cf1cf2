"""Replaces inputs and outputs that are states by mutable globals: the inverse of `thread_globals`, for targets that
have states. The port of an input names the output with its next contents. The source does not change.
"""

from __future__ import annotations

from collections.abc import Iterator

from commonir.base.codes import CHANGED_IN_CONVERSION
from commonir.base.diagnostics import Diagnostics
from commonir.dialects.mlir import ml_program
from commonir.ir.attributes import DataAttr
from commonir.ir.cloning import clone
from commonir.ir.data import SplatData
from commonir.ir.interface import NO_PORT, port_attributes
from commonir.ir.module import Module
from commonir.ir.operation import Operation, Value
from commonir.ir.types import FunctionType, TensorType


def ports_to_globals(module: Module, changes: Diagnostics) -> Module:
    """Returns a lowered module with globals for its states; `changes` receives a note for each.

    Globals begin with zeros, and have the names of the inputs. A state of several functions, of one name and type, is
    one global. An input whose port does not fit, because its type is not static or not that of the output, stays.
    """
    if not any(True for f in _functions(module) for _ in _states(f)):
        return module
    result = clone(module)
    known: dict[tuple[str, TensorType], ml_program.Global] = {}
    for function in list(_functions(result)):
        states, first = list(_states(function)), function.body.first
        assert first is not None, "a function ends with its outputs"
        for argument, type, output in states:
            target = known.get((argument.name, type))
            if target is None:
                target = known[argument.name, type] = _declared(result, argument.name, type)
            message = f"the input '{argument.name}' and the output '{output}' become the state '{target.sym_name}'"
            changes.add(CHANGED_IN_CONVERSION, message)
            _load(argument, target, first)
            _store(function, output, target)
        if states:
            _replace_function(function, {a.name for a, _, _ in states}, {output for _, _, output in states})
    return result


def _functions(module: Module) -> Iterator[ml_program.Func]:
    return (op for op in module.body.operations if isinstance(op, ml_program.Func) and not op.is_declaration)


def _states(function: ml_program.Func) -> Iterator[tuple[Value, TensorType, str]]:
    """Yields the inputs that are states, each with the name of its output; an output is that of one state."""
    outputs = dict(zip(function.output_names, function.outputs, strict=True))
    ports = function.input_ports
    for argument in function.inputs:
        output = ports.get(argument.name, NO_PORT).state
        value, type = outputs.pop(output, None), argument.type
        if value is not None and value.type is type and isinstance(type, TensorType) and type.is_static:
            yield argument, type, output


def _declared(module: Module, stem: str, type: TensorType) -> ml_program.Global:
    """Returns a new global of a module that begins with zeros."""
    name, number = stem, 1
    while name in module.symbols:
        number += 1
        name = f"{stem}_{number}"
    zeros = SplatData(type, bytes(type.element.size_bytes(1)))
    built = ml_program.Global(name, type, DataAttr(zeros), True, ml_program.Visibility.PUBLIC)
    first = module.body.first
    assert first is not None, "the module has a function"
    return module.body.insert_before(first, built)


def _load(argument: Value, target: ml_program.Global, before: Operation) -> None:
    """Reads a global before an operation, in place of an argument."""
    load = ml_program.GlobalLoad.of(target)
    load.results[0].name = argument.name
    assert before.parent is not None
    before.parent.insert_before(before, load)
    argument.replace_all_uses_with(load.results[0])


def _store(function: ml_program.Func, output: str, target: ml_program.Global) -> None:
    """Stores an output in a global where the function ends."""
    last = function.body.last
    assert last is not None, "a function ends with its outputs"
    value = last.operands[function.output_names.index(output)]
    function.body.insert_before(last, ml_program.GlobalStore.to(target, value))


def _replace_function(function: ml_program.Func, inputs: set[str], outputs: set[str]) -> None:
    """Replaces a function by one without some inputs and outputs."""
    block, last, parent = function.body, function.body.last, function.parent
    assert last is not None
    assert parent is not None
    arguments, results = function.input_ports, function.output_ports
    block.keep_arguments([v.index for v in block.arguments if v.name not in inputs])
    remaining = [(n, v) for n, v in zip(function.output_names, last.operands, strict=True) if n not in outputs]
    last.erase()
    block.append(ml_program.Return(tuple([v for _, v in remaining])))
    names = tuple([name for name, _ in remaining])
    built = ml_program.Func(
        function.sym_name,
        FunctionType(tuple([v.type for v in block.arguments]), tuple([v.type for _, v in remaining])),
        function.body_region.take(),
        names,
        function.sym_visibility,
        port_attributes([arguments.get(v.name, NO_PORT) for v in block.arguments]),
        port_attributes([results.get(name, NO_PORT) for name in names]),
    )
    parent.insert_before(function, built)
    function.regions = ()
    function.erase()
