"""Replaces inputs of a function by constants."""

from __future__ import annotations

from collections.abc import Mapping

from commonir.base.codes import IMPOSSIBLE_EDIT
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.ir.data import Data
from commonir.ir.module import Function
from commonir.ir.operation import Value
from commonir.ir.ports import NewInterface
from commonir.passes.named_values import constant_definition, require_one_body, returnable, taken_body


def fix_inputs(function: Function, contents: Mapping[str, Data]) -> Function:
    """Replaces a function by one with constants for some inputs, which must have their types, and returns it.

    Raises: DiagnosticError (E0603) for a function that cannot be changed, or whose dialect has no constants.
    """
    require_one_body(function)
    definition = constant_definition(function)
    if definition is None:
        message = f"inputs of '{function.symbol_name}' ({function.name}) cannot become constants"
        help = "convert the program first, for example to ONNX"
        raise DiagnosticError(Diagnostic(IMPOSSIBLE_EDIT, message, help=help))
    body = function.body
    remaining = [a for a in body.arguments if a.name not in contents]
    for argument in body.arguments:
        data = contents.get(argument.name)
        if data is None:
            continue
        constant = definition.build({"value": data}, [data.type])
        constant.results[0].name = argument.name
        assert body.first is not None  # the end of a body is in it
        body.insert_before(body.first, constant)
        argument.replace_all_uses_with(constant.results[0])
    outputs = list(zip(function.output_names, function.outputs, strict=True))
    block = taken_body(function, remaining)
    replacements: Mapping[Value, Value] = dict(zip(remaining, block.arguments, strict=True))
    returned = returnable(function, block, [(name, replacements.get(v, v)) for name, v in outputs])
    ports = {name: port for name, port in function.input_ports.items() if name not in contents}
    same_names = {name: name for name in (*(a.name for a in block.arguments), *function.output_names)}
    return function.replace_interface(NewInterface(block, returned, ports, function.output_ports, same_names))
