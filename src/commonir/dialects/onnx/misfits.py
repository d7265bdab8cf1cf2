"""Why a node is not one of the definition of its operator, so that it is kept as `onnx.custom`.

Source: `OpSchema::Verify` of onnx.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from commonir.base.codes import WRONG_ATTRIBUTE, WRONG_OPERAND_COUNT
from commonir.base.diagnostics import Diagnostic
from commonir.base.suggestions import did_you_mean
from commonir.base.text import escape, plural
from commonir.dialects import onnx
from commonir.dialects.onnx.attribute_values import attribute_fault
from commonir.dialects.onnx.program import TRAILING_NAMES, Custom
from commonir.ir.attributes import DenseArrayAttr, DictionaryAttr
from commonir.ods import Op
from commonir.ods.definition import ATTRIBUTE_REFERENCES


def definition_of(op: Custom, opsets: Mapping[str, int]) -> type[Op] | None:
    """Returns the definition of the operator of a node, which it does not fit, in versions of operator sets by domain.

    None if there is no such operator.
    """
    name = onnx.operation_name(op.domain, op.op_type)
    if name is None:
        return None
    version = opsets.get(op.domain, opsets.get("", opsets.get("ai.onnx", 0)))
    result = onnx.DIALECT.find(name, onnx.version_in(op.domain, version))
    return onnx.DIALECT.find(onnx.added_name(op.op_type)) if result is None and not op.domain else result


def misfits(op: Custom, definition: type[Op]) -> Iterator[Diagnostic]:
    """Yields the inputs and attributes of a node that a definition cannot hold."""
    layout = definition.layout
    inputs = layout.inputs
    trailing = op.extra.get(TRAILING_NAMES)
    count = len(op.inputs) + len(op.absent) + (int(trailing.values[0]) if isinstance(trailing, DenseArrayAttr) else 0)
    last = inputs[-1] if inputs else None
    if last is None or not last.variadic:
        if count > len(inputs):
            yield Diagnostic(WRONG_OPERAND_COUNT, f"{op.op_type} takes {plural(len(inputs), 'input')}, found {count}")
    elif any(n >= len(inputs) - 1 for n in op.absent):
        yield Diagnostic(WRONG_OPERAND_COUNT, f"{op.op_type}: an input among '{last.spelling}' is not given")
    for name, value in op.attributes.entries:
        fault = attribute_fault(definition.name, layout, name, value)
        if fault is not None:
            yield Diagnostic(WRONG_ATTRIBUTE, fault.message, help=fault.help)
    references = op.extra.get(ATTRIBUTE_REFERENCES)
    referring = [name for name, _ in references.entries] if isinstance(references, DictionaryAttr) else []
    for name in (*op.graph_names, *referring):
        place = layout.spelled.get(name)
        if place is None:
            help = did_you_mean(name, layout.spelled)
            yield Diagnostic(WRONG_ATTRIBUTE, f"{definition.name} has no attribute '{escape(name)}'", help=help)
        elif place < len(layout.attributes) and name not in referring:
            yield Diagnostic(WRONG_ATTRIBUTE, f"attribute '{escape(name)}': found a graph")
