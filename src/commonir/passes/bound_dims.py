"""Sets the ranges of symbolic dimensions of inputs, for targets that need bounds."""

from __future__ import annotations

from collections.abc import Mapping

from commonir.base.codes import UNKNOWN_DIMENSION
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.base.suggestions import did_you_mean
from commonir.dialects.mlir import ml_program
from commonir.ir.cloning import clone
from commonir.ir.interface import NO_PORT, DimRange, Port, port_attributes
from commonir.ir.module import Function, Module
from commonir.ir.ports import NewInterface
from commonir.ir.types import TensorType, Type, symbols_of
from commonir.passes.data_dependent_dims import dims_by_name, named_inputs
from commonir.passes.named_values import returnable, taken_body
from commonir.passes.transcribe import Transcription, with_functions
from commonir.symbolic import plain_symbol


def bound_dims(module: Module, ranges: Mapping[str, DimRange]) -> Module:
    """Returns a lowered module whose inputs have bounds for symbolic dimensions, by the names of these.

    Raises: DiagnosticError for a dimension that no input has.
    """
    if not ranges:
        return module
    functions = [op for op in module.body.operations if isinstance(op, ml_program.Func) and not op.is_declaration]
    ranges = dims_by_name([v for f in functions for v in f.inputs], ranges)
    symbols = symbols_of([v.type for f in functions for v in f.inputs])
    for name in ranges:
        if name not in symbols:
            message = f"no input has a dimension '{name}'"
            notes = [f"dynamic dimensions: {', '.join(symbols) or 'none'}"]
            raise DiagnosticError(Diagnostic(UNKNOWN_DIMENSION, message, notes=notes, help=did_you_mean(name, symbols)))
    return with_functions(module, [_bounded(f, ranges) for f in functions])


def bound_dims_of_interfaces(module: Module, ranges: Mapping[str, DimRange]) -> Module | None:
    """Returns a module that stays in its dialect, whose inputs have bounds for dynamic dims; None if the dialect has no
    place for them, or the module has no such dim.
    """
    result = clone(module)
    for function in list(result.defined_functions.values()):
        if not _bound_interface(function, dims_by_name(function.inputs, ranges)):
            return None
    return result


def _bound_interface(function: Function, ranges: Mapping[str, DimRange]) -> bool:
    """Gives a function inputs with bounds, in place; returns whether it has them then."""
    named = dict(named_inputs(function.inputs))
    known = symbols_of(named.values())
    bodies = [block for region in function.regions for block in region.blocks]
    is_changeable = len(bodies) == 1 and len(function.inputs) == len(function.body.arguments)
    if not is_changeable or not all(name in known for name in ranges):
        return False
    ports = dict(function.input_ports)
    changed = {v.name: _port(type, ports.get(v.name, NO_PORT), ranges) for v, type in named.items()}
    outputs = list(zip(function.output_names, function.outputs, strict=True))
    block = taken_body(function, function.body.arguments)
    moved = dict(zip(named, block.arguments, strict=True))
    same = {name: name for name in (*(v.name for v in named), *function.output_names)}
    returned = returnable(function, block, [(name, moved.get(v, v)) for name, v in outputs])
    built = function.replace_interface(NewInterface(block, returned, changed, function.output_ports, same))
    resulting = built.input_ports
    return all(resulting.get(name, NO_PORT).ranges == port.ranges for name, port in changed.items())


def _bounded(function: ml_program.Func, ranges: Mapping[str, DimRange]) -> ml_program.Func:
    result = Transcription(function, Diagnostics()).function()
    known = result.input_ports
    ports = [_port(v.type, known.get(v.name, NO_PORT), ranges) for v in result.inputs]
    return result.with_attributes(arg_attrs=port_attributes(ports))


def _port(type: Type, port: Port, ranges: Mapping[str, DimRange]) -> Port:
    """Returns the port of an input of a type with the ranges of its symbolic dims."""
    if not isinstance(type, TensorType) or type.shape is None:
        return port
    names = [plain_symbol(d) for d in type.shape]
    if not any(name in ranges for name in names):
        return port
    dim_ranges: list[DimRange] = []
    for axis, (name, dim) in enumerate(zip(names, type.shape, strict=True)):
        before = port.ranges[axis] if axis < len(port.ranges) else DimRange(1, None)
        if name is not None and name in ranges:
            dim_ranges.append(ranges[name])
        else:
            dim_ranges.append(DimRange(dim, dim) if isinstance(dim, int) else before)
    # The shape by default stays as far as the ranges allow.
    default = tuple([_nearest(dim, r) for dim, r in zip(port.shape, dim_ranges, strict=False)])
    return port._replace(shapes=(), shape=default, ranges=tuple(dim_ranges))


def _nearest(dim: int, dim_range: DimRange) -> int:
    """Returns the size of a range that is nearest to another one."""
    least = max(dim, dim_range.lower)
    return least if dim_range.upper is None else min(least, dim_range.upper)
