"""From the core to ARK: what a function computes as the operations of one rank, on views of buffers.

A program of ranks (`core.set_rank`) becomes one file for each, any other program one of one rank. Files are made in the
third generation, and taken to another one when that is asked for. A program that is one of ARK already is only that.
Never touches files.
"""

from __future__ import annotations

from functools import partial

from commonir.base.codes import LOST_IN_CONVERSION, UNSUPPORTED_CONVERSION
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.conversions.conversion import Conversion, ConversionOptions
from commonir.conversions.core_to_ark import (
    communication,
    elementwise,
    functions,
    indexing,
    moves,
    products,
    quantizing,
    ranks,
    reduction,
    windows,
)
from commonir.conversions.core_to_ark.context import ComputedTypes
from commonir.conversions.core_to_core import einsum, reshaping
from commonir.conversions.core_to_core.foreign_kernels import kernel_rule
from commonir.dialects import core
from commonir.ir.cloning import clone
from commonir.ir.interface import Port, metadata_of
from commonir.ir.module import Function, Module
from commonir.ir.types import i64
from commonir.ods import Dialects
from commonir.passes.ark.generations import in_generation
from commonir.passes.ark.steps import next_tag
from commonir.passes.convert_elements import convert_elements
from commonir.passes.inline_calls import inline_calls
from commonir.passes.remove_unused import remove_unused
from commonir.passes.straight_line import straight_line
from commonir.passes.thread_globals import thread_globals
from commonir.passes.without_requirements import without_requirements
from commonir.rewrite.legalize import Rules, Target, legalize

_FAMILIES = (
    einsum,
    reshaping,
    ranks,
    moves,
    indexing,
    products,
    quantizing,
    communication,
    reduction,
    elementwise,
    functions,
    windows,
)

RULES = Rules(
    [
        *Rules.members(*map(vars, _FAMILIES)),
        *elementwise.DIRECT_COUNTERPARTS,
        *reduction.REDUCTIONS,
        kernel_rule(i64),
    ]
)

TARGET = Target("ark", also_legal=frozenset({core.Constant.name}))
"""Constants become weights where an operation needs them."""


def core_to_ark(module: Module, lost: Diagnostics) -> Module:
    """The functions of a lowered module as ranks: those that are of ranks, else the main one.

    States become inputs and outputs. `lost` is changes of them, of inputs and outputs that have another type, and of
    functions that are left out.

    Raises: DiagnosticError (E0601) with everything that cannot be expressed.
    """
    module = inline_calls(without_requirements(clone(module), lost))
    module = _in_types_of_ark(straight_line(_without_states(module, lost)))
    functions = _chosen(module)
    for name, other in module.functions.items():
        if other not in functions:
            lost.add(LOST_IN_CONVERSION, f"the function '{name}' is left out: an ARK program has one for each rank")
    changes = Diagnostics()
    _report_lost(module, functions, lost)
    for function in functions:
        remove_unused(function.body)
        _refuse_open(function)
    context = partial(ranks.Ranks, first_tag=_first_tag(functions), changes=changes)
    module.entry = ""
    result = legalize(module, RULES, Dialects(), TARGET, chosen=lambda op: op in functions, context=context)
    lost.extend({finding.message: finding for finding in changes}.values())
    return result


def _report_lost(module: Module, functions: tuple[Function, ...], lost: Diagnostics) -> None:
    """Reports metadata of a program, its inputs and its outputs that ARK files cannot store."""
    metadata = metadata_of(module)
    arguments = [name for name, value in metadata._asdict().items() if value]
    if arguments:
        lost.add(LOST_IN_CONVERSION, f"ARK files have no place for metadata: {', '.join(arguments)}")
    changes: dict[str, None] = {}
    for function in functions:
        for what, ports in (("input", function.input_ports), ("output", function.output_ports)):
            for name, port in ports.items():
                if stored := _said(port):
                    changes[f"ARK files have no place for what is said of the {what} '{name}': {', '.join(stored)}"] = (
                        None
                    )
    for message in changes:
        lost.add(LOST_IN_CONVERSION, message)


def _said(port: Port) -> list[str]:
    attributes = {
        "a description": port.doc,
        "that it is an image": port.image is not None,
        "labels": port.labels,
        "a default value": port.is_optional,
    }
    return [what for what, is_there in attributes.items() if is_there]


def _chosen(module: Module) -> tuple[Function, ...]:
    """The functions of ranks, else the main one."""
    return core.ranks_of(module) or (module.function(None),)


def _without_states(module: Module, lost: Diagnostics) -> Module:
    """The module with inputs and outputs in the place of states, of each rank that has them."""
    changes: dict[str, Diagnostic] = {}
    for name in [f.symbol_name for f in _chosen(module)]:
        module, threaded = thread_globals(module, name)
        changes.update({change.message: change for change in (t.change() for t in threaded)})
    lost.extend(changes.values())
    return module


def _in_types_of_ark(module: Module) -> Module:
    """The module computed in element types that ARK stores, where it has others for which there is one."""
    policy = ComputedTypes()
    results = [v.type for op in module.nested() for v in op.results]
    arguments = [v.type for op in module.nested() for r in op.regions for block in r.blocks for v in block.arguments]
    return convert_elements(module, policy) if any(map(policy.changes, (*results, *arguments))) else module


def _refuse_open(function: Function) -> None:
    """Raises: DiagnosticError (E0601) where sizes of inputs are not fixed."""
    dims = ranks.dynamic_dims(function)
    if dims:
        message = f"ARK has fixed sizes only, and those named {', '.join(dims)} are not"
        help = "fix each with `--set-dim NAME=SIZE`"
        raise DiagnosticError(Diagnostic(UNSUPPORTED_CONVERSION, message, where=function.symbol_name, help=help))


def _first_tag(functions: tuple[Function, ...]) -> int:
    """The first tag that no message of the program has, as ARK picks it."""
    tags = [op.tag for f in functions for op in f.body.operations if isinstance(op, core.Send | core.Recv)]
    return next_tag(tags)


def _convert(module: Module, options: ConversionOptions, lost: Diagnostics) -> Module:
    """The conversion as users choose it. Raises: as `core_to_ark`."""
    return _in_generation(core_to_ark(module, lost), options)


def _in_generation(module: Module, options: ConversionOptions) -> Module:
    """The program in the generation of a number: 1 to 4."""
    return module if options.opset is None else in_generation(module, f"v{options.opset}")


def _within(module: Module, options: ConversionOptions, lost: Diagnostics) -> Module:
    """The same for a program of ARK."""
    del lost
    return _in_generation(module, options)


CONVERSION = Conversion("ark", _convert, _within, takes=frozenset({"opset"}), takes_ranks=True)

__all__ = ["CONVERSION", "RULES", "core_to_ark"]
