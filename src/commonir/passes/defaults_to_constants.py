"""Turns inputs with default values into constants, for formats that do not have default values.

Exporters may list all weights among the inputs, each with its contents, because ONNX allows to override them. Functions
whose defaults are only numbers have no weights among their inputs, and stay as they are.
"""

from __future__ import annotations

from commonir.base.codes import LOST_IN_CONVERSION
from commonir.base.diagnostics import Code, Diagnostics
from commonir.base.text import listed
from commonir.ir.cloning import clone
from commonir.ir.data import Data, FileData, data_of
from commonir.ir.interface import NO_PORT, default_data
from commonir.ir.module import Function, Module
from commonir.passes.fix_inputs import fix_inputs

_LOADED_BYTES = 1024
"""Contents below this size, which ONNX's tools store inside of a model, do not stay in a file: shape inference may need
those of a constant, and onnxruntime's reads no files.
"""
_NAMED = 3
"""Inputs that are named one by one."""


def defaults_to_constants(
    module: Module, lost: Diagnostics, code: Code = LOST_IN_CONVERSION, help: str | None = None
) -> Module:
    """Returns the program with constants in place of such inputs; the module itself if there are none.

    `lost` reports inputs that are removed, under a code and with help.
    Raises: DiagnosticError (E0603) for a function that cannot be changed.
    """
    if not any(map(_lists_weights, module.functions.values())):
        return module
    result = clone(module)
    for function in result.functions.values():
        if _lists_weights(function):
            lost.add(code, _replace(function), help=help)
    return result


def _lists_weights(function: Function) -> bool:
    # A constant of its own is what such a function can have in the place of an input.
    return bool(function.constants) and any(port.contents is not None for port in function.input_ports.values())


def _replace(function: Function) -> str:
    """Replaces the inputs of a function that have default values by constants, and returns the message about it."""
    ports = function.input_ports
    defaults = {v.name: default_data(v.type, ports.get(v.name, NO_PORT)) for v in function.inputs}
    contents = {name: _loaded(data) for name, data in defaults.items() if data is not None}
    fix_inputs(function, contents)
    names = list(contents)
    shown = listed([f"'{name}'" for name in names], _NAMED)
    subject = "inputs that have default values become constants" if len(names) > 1 else "an input becomes a constant"
    return f"{subject}, which cannot be given: {shown}"


def _loaded(data: Data) -> Data:
    is_small = isinstance(data, FileData) and data.size_bytes < _LOADED_BYTES
    return data_of(data.element, data.shape, data.values()) if is_small else data
