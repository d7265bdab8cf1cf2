"""Copies operations of ARK programs with other operands and attributes."""

from __future__ import annotations

from collections.abc import Mapping

from commonir.dialects import ark
from commonir.ir.attributes import is_sequence
from commonir.ir.operation import Operation, Value


def copied(op: ark.ArkOp | ark.Tensor, values: dict[Value, Value], changed: Mapping[str, object]) -> Operation:
    """Returns the operation with other attributes and with its operands replaced; adds its results to `values`."""
    arguments = {f.name: _mapped(op.field_value(f), values) for f in op.layout.arguments}
    result = type(op).build({**arguments, **changed}, [r.type for r in op.results], op.location)
    for before, after in zip(op.results, result.results, strict=True):
        after.name = before.name
        values[before] = after
    return result


def _mapped(content: object, values: Mapping[Value, Value]) -> object:
    if isinstance(content, Value):
        return values[content]
    if is_sequence(content) and any(isinstance(v, Value) for v in content):
        return tuple([_mapped(v, values) for v in content])
    return content
