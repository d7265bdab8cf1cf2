"""Labels of probabilities, descriptions of inputs and outputs, and states, which users choose for a program.

They become ports of the functions (`ir/ports.py`), from which every format writes what it has a place for.
"""

from __future__ import annotations

from collections.abc import Mapping

from commonir.base.codes import LABELLED_SCORES, UNDEFINED_VALUE, UNSUPPORTED_CONVERSION
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.base.suggestions import did_you_mean
from commonir.dialects import core
from commonir.dialects.mlir import ml_program
from commonir.ir.cloning import clone
from commonir.ir.interface import port_attributes
from commonir.ir.module import Function, Module, replace_function
from commonir.ir.operation import Value
from commonir.ir.ports import NO_PORT, Port
from commonir.ir.types import TensorType, Type

Labels = tuple[str, ...] | tuple[int, ...]


_SCORES = (core.MatMul, core.Linear, core.Conv, core.Add, core.Sub, core.ReduceMean, core.LogSoftmax)
"""Operations that do not compute probabilities."""


def with_described_ports(
    module: Module,
    labels: Mapping[str, Labels],
    docs: Mapping[str, str],
    states: Mapping[str, str],
    findings: Diagnostics,
) -> Module:
    """Returns a lowered module whose functions have labels, descriptions and states, as in `described_ports`.
    `findings` receives notes about labels for what is not a probability.

    Raises: DiagnosticError (E0401, E0601) where a name or a number of labels does not fit.
    """
    if not labels and not docs and not states:
        return module
    result = clone(module)
    for function in list(result.body.operations):
        if not isinstance(function, ml_program.Func) or function.is_declaration:
            continue
        inputs, outputs = described_ports(function, labels, docs, states)
        before = function.output_ports
        for name, value in zip(function.output_names, function.outputs, strict=True):
            if outputs.get(name, NO_PORT).labels != before.get(name, NO_PORT).labels and _is_score(value):
                message = f"output '{name}' gets labels, but its values are scores: no softmax or sigmoid computes it"
                findings.add(LABELLED_SCORES, message)
        arguments = port_attributes([inputs.get(v.name, NO_PORT) for v in function.inputs])
        results = port_attributes([outputs.get(name, NO_PORT) for name in function.output_names])
        replace_function(function, function.with_attributes(arg_attrs=arguments, res_attrs=results))
    return result


def _is_score(value: Value) -> bool:
    """Returns whether a value is computed by an operation whose results are not probabilities."""
    while isinstance(value.owner, core.Movement | core.Cast):
        value = value.owner.x
    return isinstance(value.owner, _SCORES)


def described_ports(
    function: Function, labels: Mapping[str, Labels], docs: Mapping[str, str], states: Mapping[str, str]
) -> tuple[dict[str, Port], dict[str, Port]]:
    """Returns the ports of inputs and outputs by name, with labels, descriptions and states.

    `labels` are by the name of the output with the probabilities; the name "" is for the only one that they fit.
    `states` have the output with the next contents by the name of the input.

    Raises: DiagnosticError (E0401 for unknown names, E0601 for labels that fit no output, and for states whose input
    and output have different types).
    """
    inputs, outputs = dict(function.input_ports), dict(function.output_ports)
    names = {v.name: inputs for v in function.inputs} | dict.fromkeys(function.output_names, outputs)
    diagnostics: list[Diagnostic] = []
    for name, text in docs.items():
        if name not in names:
            help = did_you_mean(name, names) or f"there are {', '.join(names)}"
            message = f"'{function.symbol_name}' has no input or output '{name}' to describe"
            diagnostics.append(Diagnostic(UNDEFINED_VALUE, message, help=help))
            continue
        names[name][name] = names[name].get(name, NO_PORT)._replace(doc=text)
    for name, values in labels.items():
        try:
            chosen = _labelled_output(function, name, values)
        except DiagnosticError as error:
            diagnostics += error.diagnostics
            continue
        outputs[chosen] = outputs.get(chosen, NO_PORT)._replace(labels=values)
    for name, output in states.items():
        finding = _state_fault(function, name, output)
        if finding is not None:
            diagnostics.append(finding)
        inputs[name] = inputs.get(name, NO_PORT)._replace(state=output)
    if diagnostics:
        raise DiagnosticError(*diagnostics)
    return inputs, outputs


def _state_fault(function: Function, name: str, output: str) -> Diagnostic | None:
    """Returns why an input and an output are not a state; None if they are."""
    inputs = {v.name: v.type for v in function.inputs}
    outputs = dict(zip(function.output_names, [v.type for v in function.outputs], strict=True))
    for what, each, known in (("input", name, inputs), ("output", output, outputs)):
        if each not in known:
            help = did_you_mean(each, known) or f"there are {', '.join(known)}"
            message = f"'{function.symbol_name}' has no {what} '{each}' to be a state"
            return Diagnostic(UNDEFINED_VALUE, message, help=help)
    type = inputs[name]
    if type is not outputs[output]:
        message = f"the input '{name}' of {type} and the output '{output}' of {outputs[output]} are not one state"
        return Diagnostic(UNSUPPORTED_CONVERSION, message, help="a state has one type before and after a run")
    if not isinstance(type, TensorType) or not type.is_static:
        message = f"a state has a fixed shape, and '{name}' is of {type}"
        return Diagnostic(UNSUPPORTED_CONVERSION, message, help="fix dims with `--set-dim DIM=N`")
    return None


def _labelled_output(function: Function, name: str, labels: Labels) -> str:
    """Returns the name of the output whose elements labels name."""
    types = dict(zip(function.output_names, [v.type for v in function.outputs], strict=True))
    if name and name not in types:
        message = f"'{function.symbol_name}' has no output '{name}' for labels"
        help = did_you_mean(name, types) or f"the outputs are {', '.join(types)}"
        raise DiagnosticError(Diagnostic(UNDEFINED_VALUE, message, help=help))
    fitting = [each for each in ([name] if name else types) if _count(types[each]) == len(labels)]
    if len(fitting) == 1:
        return fitting[0]
    listed = ", ".join(f"{n} {type}" for n, type in types.items())
    if fitting:
        message = f"{len(labels):,} labels fit several outputs: {', '.join(fitting)}"
        help = f"name the output: `--labels {fitting[0]}=FILE`"
    else:
        message = f"{len(labels):,} labels fit no output: an output of probabilities has one for each label"
        help = None
    raise DiagnosticError(Diagnostic(UNSUPPORTED_CONVERSION, message, notes=(f"the outputs: {listed}",), help=help))


def _count(type: Type) -> int | None:
    """Returns how many probabilities a type has: a vector of floats, perhaps with axes of size 1 before it."""
    if not isinstance(type, TensorType) or not type.element.is_float or not type.shape:
        return None
    *outer, last = type.shape
    return last if isinstance(last, int) and all(d == 1 or not isinstance(d, int) for d in outer) else None
