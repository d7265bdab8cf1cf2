"""Attributes of calls of foreign functions: settings, and constraints of memory layout and aliasing.

Source: StableHLO dialect, custom_call, output_operand_alias.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from commonir.dialects.mlir.stablehlo.base import sizes_in
from commonir.dialects.mlir.stablehlo.dimension_numbers import entries_of
from commonir.ir.attributes import ArrayAttr, Attribute, DataAttr, DialectAttr, DictionaryAttr, IntegerAttr
from commonir.ir.operation import Value
from commonir.ir.types import TensorType, TupleType, Type
from commonir.ods.operand_shapes import known_dims_of
from commonir.symbolic import Dim

if TYPE_CHECKING:
    from commonir.dialects.mlir.stablehlo.control import CustomCall

_SETTINGS = ("mhlo.backend_config", "mhlo.attributes")
"""Attributes in which jax keeps settings of calls: of foreign functions, and of operations of chlo."""
_ALIAS = ("stablehlo", "output_operand_alias")


def settings_of(op: CustomCall) -> Mapping[str, int]:
    """Returns the integers among the settings of a call, by name."""
    stored = [op.backend_config, *[op.extra.get(key) for key in _SETTINGS]]
    entries = [e for a in stored if isinstance(a, DictionaryAttr) for e in a.entries]
    return {key: int(a.value) for key, a in entries if isinstance(a, IntegerAttr)}


def result_shape(op: CustomCall, number: int, inputs: Sequence[Value]) -> Sequence[Dim]:
    """Returns the shape of a result: that of its type, or the operand that `indices_of_shape_operands` names.

    Raises: NotKnownError for a shape that is computed while running.
    """
    stored = op.extra.get("indices_of_shape_operands")
    positions = [int(v) for v in stored.data.values() if isinstance(v, int)] if isinstance(stored, DataAttr) else []
    type = op.results[number].type
    if (isinstance(type, TensorType) and type.is_static) or number >= len(positions):
        return known_dims_of(type)
    return sizes_in(inputs[positions[number]])


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
