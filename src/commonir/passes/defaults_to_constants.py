"""Makes constants of inputs that have default values, for formats that cannot state these.

Exporters may list all weights among the inputs, each with its contents: ONNX allows to give others then. Who converts
such a model wants the weights in it. A function whose defaults are all numbers has no weights among its inputs, and
stays as it is.
"""

from __future__ import annotations

from commonir.base.codes import LOST_IN_CONVERSION
from commonir.base.diagnostics import Diagnostics
from commonir.ir.cloning import clone
from commonir.ir.interface import NO_PORT, default_data
from commonir.ir.module import Function, Module
from commonir.passes.fix_inputs import fix_inputs

_NAMED = 3
"""Inputs that are named one by one."""


def defaults_to_constants(module: Module, lost: Diagnostics) -> Module:
    """The program with constants in place of those inputs; the module itself when there are none to replace.

    `lost` reports inputs that are removed.
    Raises: DiagnosticError (E0603) for a function that cannot be changed.
    """
    if not any(map(_lists_weights, module.functions.values())):
        return module
    result = clone(module)
    for function in result.functions.values():
        if _lists_weights(function):
            _replace(function, lost)
    return result


def _lists_weights(function: Function) -> bool:
    # A constant of its own is what such a function can have in the place of an input.
    return bool(function.constants) and any(port.contents is not None for port in function.input_ports.values())


def _replace(function: Function, lost: Diagnostics) -> None:
    """Puts a function in the place of one whose inputs that have defaults are constants."""
    ports = function.input_ports
    known = {v.name: default_data(v.type, ports.get(v.name, NO_PORT)) for v in function.inputs}
    contents = {name: data for name, data in known.items() if data is not None}
    fix_inputs(function, contents)
    names = list(contents)
    some = ", ".join(f"'{name}'" for name in names[:_NAMED])
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    what = "inputs that have default values become constants" if len(names) > 1 else "an input becomes a constant"
    lost.add(LOST_IN_CONVERSION, f"{what}, which cannot be given: {some}{more}")
