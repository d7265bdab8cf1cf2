"""From the core to ONNX: rules for each family of operations, and the conversion that uses them.

Rules prefer the operator that runtimes have the best code for, where it means exactly the same. Names, symbolic
dimensions and types are kept. Files are never touched.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from commonir.base.codes import CHANGED_IN_CONVERSION, LOST_IN_CONVERSION, UNSUPPORTED_CONVERSION
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.base.version import __version__
from commonir.conversions.axes_from_start import count_axes_from_start
from commonir.conversions.conversion import ConversionOptions
from commonir.conversions.core_to_core import einsum
from commonir.conversions.core_to_core.foreign_kernels import kernel_rule
from commonir.conversions.core_to_onnx import (
    bits,
    compression,
    contraction,
    early_opsets,
    elementwise,
    indexing,
    learning,
    lists,
    normalization,
    random,
    recurrent,
    reduction,
    sampling,
    shape,
    signals,
    strings,
    structure,
)
from commonir.conversions.core_to_onnx.legal_types import with_legal_types
from commonir.dialects import onnx
from commonir.ir.attributes import DictionaryAttr, IntegerAttr, StringAttr
from commonir.ir.interface import Port, metadata_of, neutral_attributes, set_metadata
from commonir.ir.module import Function, Module, replace_function
from commonir.ir.types import i64
from commonir.ods import Dialects
from commonir.passes.inline_calls import inline_calls
from commonir.passes.remove_unused import remove_unused
from commonir.passes.thread_globals import thread_globals
from commonir.passes.without_requirements import without_requirements
from commonir.rewrite.legalize import Rules, Target, legalize

DEFAULT_OPSET = 18
"""The opset that is written where it has all that a program needs: every runtime of today reads it."""

RULES = Rules(
    [
        *Rules.members(vars(structure), vars(shape), vars(indexing), vars(normalization), vars(sampling)),
        *Rules.members(vars(contraction), vars(recurrent), vars(compression), vars(random)),
        *Rules.members(vars(signals), vars(strings), vars(lists), vars(bits), vars(learning), vars(reduction)),
        *bits.UNSIGNED_SHIFTS,
        *bits.SIGNED_SHIFTS,
        *reduction.CUMULATIVE,
        *reduction.REDUCTIONS,
        *reduction.IN_WIDER_INTEGERS,
        *Rules.members(vars(elementwise)),
        *elementwise.DIRECT_COUNTERPARTS,
        *elementwise.OR_EQUAL,
        *elementwise.WIDENED,
        *elementwise.IN_WIDER_INTEGERS,
        *bits.ARITHMETIC,
        *Rules.members(vars(early_opsets), vars(einsum)),
        kernel_rule(i64),
    ]
)


def core_to_onnx(
    module: Module, opset: int = DEFAULT_OPSET, *, function: str | None = None, diagnostics: Diagnostics | None = None
) -> Module:
    """A function of a lowered module, the main one if none is named, as an ONNX module.

    States become inputs and outputs, which `found` reports.

    Raises: DiagnosticError (E0601) with everything that cannot be expressed, E0706 for an unknown function.
    """
    if not onnx.OLDEST_OPSET <= opset <= onnx.NEWEST_OPSET:
        message = f"opset {opset} cannot be written"
        help = f"choose one from {onnx.OLDEST_OPSET} to {onnx.NEWEST_OPSET}"
        raise DiagnosticError(Diagnostic(UNSUPPORTED_CONVERSION, message, help=help))
    module, threaded = thread_globals(inline_calls(without_requirements(module, diagnostics)), function)
    chosen = module.function(function)
    target = Target("onnx", onnx.version_of(opset))
    result = legalize(module, RULES, Dialects(), target, chosen=lambda op: op is chosen)
    result.entry = chosen.symbol_name
    for key, attribute in neutral_attributes(module).items():
        result.set_extra(key, attribute)
    result.set_extra(onnx.PRODUCER_NAME, StringAttr("commonir"))
    result.set_extra(onnx.PRODUCER_VERSION, StringAttr(__version__))
    count_axes_from_start(result, opset)
    for graph in result.functions.values():
        remove_unused(graph.body)
        if isinstance(graph, onnx.Graph):
            _import_domains(graph)
    texts = port_texts({**chosen.input_ports, **chosen.output_ports})
    if texts:
        about = metadata_of(result)
        set_metadata(result, about._replace(user_defined=(*about.user_defined, *texts.items())))
    if diagnostics is not None:
        for name in _without_default(chosen):
            diagnostics.add(
                CHANGED_IN_CONVERSION, f"the input '{name}' must be given: its default value has no place in ONNX"
            )
        names = zip(chosen.output_names, result.function(result.entry).output_names, strict=True)
        for old, new in [(old, new) for old, new in names if old and new != old]:
            diagnostics.add(CHANGED_IN_CONVERSION, f"the output '{old}' is called '{new}': an input has its name")
        for text in _wildcard_losses(chosen):
            diagnostics.add(LOST_IN_CONVERSION, text)
        diagnostics.extend(t.change() for t in threaded)
    return result


ML = "ai.onnx.ml"
ML_VERSION = 3
"""The version of `ai.onnx.ml` whose operators rules make: a later one deprecates ensembles of trees in this form."""


def _import_domains(graph: onnx.Graph) -> None:
    """States the version of operators of another domain, where there are any."""
    if any(op.name.startswith("onnx.ml.") for op in graph.walk()):
        imports = DictionaryAttr((*graph.opset_import.entries, (ML, IntegerAttr(ML_VERSION))))
        replace_function(graph, graph.with_attributes(opset_import=imports))


def _without_default(function: Function) -> list[str]:
    """The inputs whose default values are lost."""
    values = {v.name: v for v in function.inputs}
    ports = function.input_ports.items()
    return [n for n, port in ports if port.default is not None and structure.default_of(values[n], port) is None]


def _wildcard_losses(function: Function) -> list[str]:
    """Returns the messages for what the signature loses: types with wildcards."""
    ports = (*function.input_ports.items(), *function.output_ports.items())
    return [f"the declared type {p.declared} of '{n}': ONNX has no wildcards" for n, p in ports if p.declared]


def port_texts(ports: Mapping[str, Port]) -> dict[str, str]:
    """Returns as metadata what ONNX has no field for: class labels, channels of images, descriptions and states."""
    texts: dict[str, str] = {}
    for name, port in ports.items():
        if port.labels:
            texts[f"{onnx.LABELS_KEY}{name}"] = json.dumps(port.labels, ensure_ascii=False)
        if port.image is not None:
            texts[f"{onnx.IMAGE_KEY}{name}"] = port.image.value
        if port.doc:
            texts[f"{onnx.DOC_KEY}{name}"] = port.doc
        if port.state:
            texts[f"{onnx.STATE_KEY}{name}"] = port.state
    return texts


def convert(module: Module, options: ConversionOptions, lost: Diagnostics) -> Module:
    """The conversion as users choose it. Raises: as `core_to_onnx`."""
    for name, other in module.functions.items():
        if other is not module.main:
            lost.add(LOST_IN_CONVERSION, f"the function '{name}' is left out: an ONNX model has one function")
    if options.opset is not None:
        return core_to_onnx(with_legal_types(module, options.opset, lost), options.opset, diagnostics=lost)
    return _in_oldest_opset(module, lost)


def _in_oldest_opset(module: Module, lost: Diagnostics) -> Module:
    """The module in the oldest opset, from the default one on, that has all it needs.

    Raises: as `core_to_onnx`, what the newest one lacks.
    """
    for opset in range(DEFAULT_OPSET, onnx.NEWEST_OPSET):
        diagnostics = Diagnostics()
        try:
            result = core_to_onnx(module, opset, diagnostics=diagnostics)
        except DiagnosticError:
            continue
        lost.extend(diagnostics)
        return result
    return core_to_onnx(module, onnx.NEWEST_OPSET, diagnostics=lost)


__all__ = ["DEFAULT_OPSET", "RULES", "convert", "core_to_onnx", "port_texts"]
