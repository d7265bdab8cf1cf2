"""Constraints of calls of foreign functions: memory layout of their values, and aliasing.

Source: StableHLO dialect, custom_call, output_operand_alias.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from commonir.dialects.mlir.stablehlo.dimension_numbers import entries_of
from commonir.ir.attributes import ArrayAttr, Attribute, DataAttr, DialectAttr
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, TupleType, Type

_ALIAS = ("stablehlo", "output_operand_alias")


def layout_faults(what: str, content: Attribute | None, values: Sequence[Value]) -> Iterator[str]:
    """Yields the faults of the layouts of operands or results."""
    types = [v.type for v in values]
    if what == "result" and len(types) == 1 and isinstance(types[0], TupleType):
        types = list(types[0].elements)
    if not isinstance(content, ArrayAttr):
        return
    if len(content.values) != len(types):
        yield f"number of {what}s must match the number of {what} layouts, {len(types)} != {len(content.values)}"
        return
    for n, (type, layout) in enumerate(zip(types, content.values, strict=True)):
        if isinstance(type, TupleType):
            yield "tuple types are not fully supported with layout constraints yet"
        elif isinstance(layout, DataAttr):
            yield from _order_faults(f"{what} #{n}", type, [v for v in layout.data.values() if isinstance(v, int)])


def _order_faults(what: str, type: Type, order: Sequence[int]) -> Iterator[str]:
    if not isinstance(type, TensorType):
        if order:
            yield f"only tensor types can have non-empty layout: {what} of type {type} has layout {list(order)}"
    elif type.shape is not None and sorted(order) != list(range(len(type.shape))):
        rank = len(type.shape)
        yield f"incorrect layout {list(order)} for type {type}, layout must be a permutation of [0, {rank})"


def alias_faults(content: Attribute | None, operands: Sequence[Value], results: Sequence[Value]) -> Iterator[str]:
    """Yields the faults of output-operand aliases."""
    for alias in content.values if isinstance(content, ArrayAttr) else ():
        if not isinstance(alias, DialectAttr) or (alias.dialect, alias.mnemonic) != _ALIAS:
            yield f"expects output_operand_aliases to hold #stablehlo.output_operand_alias, found {alias!r}"
            continue
        try:
            entries = dict(entries_of(alias.body or ""))
        except ValueError as error:
            yield str(error)
            continue
        number = entries.get("operand_index", 0)
        if not isinstance(number, int) or not 0 <= number < len(operands):
            yield f"expects operand_index of output_operand_alias to be in range [0, {len(operands)}), got {number}"
            continue
        whole = results[0].type if len(results) == 1 else TupleType(tuple([r.type for r in results]))
        parts = [_part(whole, entries, "output_tuple_indices")]
        parts.append(_part(operands[number].type, entries, "operand_tuple_indices"))
        for found, name in zip(parts, ("output_tuple_indices", "operand_tuple_indices"), strict=True):
            if found is None:
                yield f"{name} of output_operand_alias are out of bounds"
        output, given = parts
        if output is not None and given is not None and output is not given:
            yield f"shapes mismatch in output_operand_alias: operand part has type {given}, output part {output}"


def _part(whole: Type, entries: dict[str, tuple[int, ...] | int], name: str) -> Type | None:
    """The part of a type that a list of positions leads to; None when there is none."""
    places = entries.get(name, ())
    for n in () if isinstance(places, int) else places:
        if not isinstance(whole, TupleType) or not 0 <= n < len(whole.elements):
            return None
        whole = whole.elements[n]
    return whole
