"""Makes constants of inputs that have default values, for formats that cannot state these.

Exporters may list all weights among the inputs, each with its contents: ONNX allows to give others then. Who converts
such a model wants the weights in it. A function whose defaults are all numbers has no weights among its inputs, and
stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping

from commonir.base.codes import LOST_IN_CONVERSION
from commonir.base.diagnostics import Diagnostics
from commonir.ir.cloning import clone
from commonir.ir.interface import NO_PORT, NewInterface, default_data
from commonir.ir.module import Function, Module
from commonir.ir.operation import Value
from commonir.passes.named_values import require_one_body, returnable, taken_body
from commonir.passes.simplify import constant_definition

_NAMED = 3
"""Inputs that are named one by one."""


def defaults_to_constants(module: Module, lost: Diagnostics) -> Module:
    """The program with constants in place of those inputs; the module itself when there are none to replace.

    `lost` is told which inputs can no longer be given.
    Raises: DiagnosticError (E0603) for a function that cannot be changed.
    """
    if not any(map(_lists_weights, module.functions.values())):
        return module
    made = clone(module)
    for function in made.functions.values():
        if _lists_weights(function):
            _replace(function, lost)
    return made


def _lists_weights(function: Function) -> bool:
    # A constant of its own is what such a function can have in the place of an input.
    return bool(function.constants) and any(port.contents is not None for port in function.input_ports.values())


def _replace(function: Function, lost: Diagnostics) -> None:
    """Puts a function in the place of one whose inputs that have defaults are constants."""
    require_one_body(function)
    body, ports = function.body, function.input_ports
    known = {a: default_data(a.type, ports.get(a.name, NO_PORT)) for a in body.arguments}
    constants = {a: data for a, data in known.items() if data is not None}
    definition = constant_definition(function)
    assert definition is not None  # such functions have constants
    for argument, data in constants.items():
        constant = definition.build({"value": data}, [data.type])
        constant.results[0].name = argument.name
        assert body.first is not None  # the end of a body is in it
        body.insert_before(body.first, constant)
        argument.replace_all_uses_with(constant.results[0])
    kept = [a for a in body.arguments if a not in constants]
    outputs = list(zip(function.output_names, function.outputs, strict=True))
    block = taken_body(function, kept)
    moved: Mapping[Value, Value] = dict(zip(kept, block.arguments, strict=True))
    returned = returnable(function, block, [(name, moved.get(v, v)) for name, v in outputs])
    names = [a.name for a in constants]
    input_ports = {name: port for name, port in ports.items() if name not in names}
    same_names = {name: name for name in (*(a.name for a in block.arguments), *function.output_names)}
    function.give_interface(NewInterface(block, returned, input_ports, function.output_ports, same_names))
    some = ", ".join(f"'{name}'" for name in names[:_NAMED])
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    what = "inputs that have default values become constants" if len(names) > 1 else "an input becomes a constant"
    lost.add(LOST_IN_CONVERSION, f"{what}, which cannot be given: {some}{more}")


__all__ = ["defaults_to_constants"]
