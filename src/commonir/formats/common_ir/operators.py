"""Nodes of the libraries that stand for dialects of this program, as operations of these dialects.

`org.commonir.core.add` is the operation `core.add`: inputs are divided among its operands by the argument counts, and
its attributes and the values of its parameters are attributes of the node.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from commonir.base.codes import UNKNOWN_OPERATION, WRONG_ATTRIBUTE, WRONG_OPERAND_COUNT
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.suggestions import did_you_mean
from commonir.base.text import escape, plural
from commonir.base.tuples import NamedTuple
from commonir.dialects.common_ir import Call, argument_counts
from commonir.dialects.onnx.data_types import ELEMENTS
from commonir.formats.onnx import unknown_fields
from commonir.ir.attributes import Attribute, BoolAttr, BytesAttr, DenseArrayAttr, IntegerAttr, StringAttr, TypeAttr
from commonir.ir.operation import Region
from commonir.ir.types import TensorType, Type
from commonir.ods import Dialects, Op, attr_types
from commonir.ods.attr_types import AttrType
from commonir.ods.declared import DeclaredOp, OperatorUse
from commonir.ods.definition import ATTRIBUTE_REFERENCES
from commonir.ods.fields import BOUND, MISSING


def built(
    dialects: Dialects,
    name: str,
    use: OperatorUse,
    types: Sequence[Type],
    graphs_given: Mapping[str, tuple[Region, ...]],
) -> Op:
    """An operation of a dialect.

    Raises: DiagnosticError (E0405, E0502, E0505) with everything that contradicts the definition.
    """
    definition = dialects.find(name)
    if definition is None:
        dialect = dialects.get(name.partition(".")[0])
        near = did_you_mean(name, () if dialect is None else dialect.operations)
        raise DiagnosticError(Diagnostic(UNKNOWN_OPERATION, f"no operation is called '{escape(name)}'", help=near))
    wrong: list[Diagnostic] = []
    arguments = _operands(definition, use, wrong)
    fields = {f.spelling: f for f in definition.layout.attributes}
    for key, value in use.attributes.items():
        f = fields.get(key)
        if f is None or f.type is None:
            help = did_you_mean(key, fields)
            wrong.append(Diagnostic(WRONG_ATTRIBUTE, f"{name} has no attribute '{escape(key)}'", help=help))
            continue
        try:
            arguments[f.name] = decoded(f.type, value)
        except ValueError as error:
            wrong.append(Diagnostic(WRONG_ATTRIBUTE, f"{name}: attribute '{escape(key)}': {error}"))
    regions = {f.spelling: f for f in definition.layout.regions}
    for key, graphs in graphs_given.items():
        f = regions.get(key)
        if f is None or (not f.variadic and len(graphs) != 1):
            wrong.append(
                Diagnostic(WRONG_ATTRIBUTE, f"{name} has no attribute '{escape(key)}' of {len(graphs)} graphs")
            )
        else:
            arguments[f.name] = graphs if f.variadic else graphs[0]
    if wrong:
        raise DiagnosticError(*wrong)
    return definition.build(arguments, types)


def _operands(definition: type[Op], use: OperatorUse, wrong: list[Diagnostic]) -> dict[str, Any]:
    """The operands by field."""
    inputs = definition.layout.inputs
    counts = use.counts
    if counts is None and len(use.operands) == len(inputs):
        counts = (1,) * len(inputs)
    if counts is None or len(counts) != len(inputs) or min(counts, default=0) < 0 or sum(counts) != len(use.operands):
        shown = "no argument counts" if use.counts is None else f"argument counts {list(use.counts)}"
        text = f"{definition.name}: {plural(len(use.operands), 'input')} and {shown} for {len(inputs)} operands"
        wrong.append(Diagnostic(WRONG_OPERAND_COUNT, text))
        return {}
    out: dict[str, Any] = {}
    at = 0
    for f, count in zip(inputs, counts, strict=True):
        operands = [v for v in use.operands[at : at + count] if v is not None]
        at += count
        if f.variadic:
            out[f.name] = tuple(operands)
        elif len(operands) > 1:
            text = f"{definition.name}: '{f.spelling}' takes one value, found {len(operands)}"
            wrong.append(Diagnostic(WRONG_OPERAND_COUNT, text))
        elif operands:
            out[f.name] = operands[0]
    return out


def decoded(attr_type: AttrType[Any], value: Attribute) -> object:
    """The value of an attribute of a kind, from the form that files have for it. Raises: ValueError."""
    match value:
        case IntegerAttr(value=0 | 1 as number) if attr_type is attr_types.flag or attr_type is attr_types.unit:
            return attr_type.from_attribute(BoolAttr(bool(number)))
        case IntegerAttr(value=number) if attr_type is attr_types.element and number in ELEMENTS:
            return attr_type.from_attribute(TypeAttr(ELEMENTS[number]))
        case TypeAttr(type=TensorType(element=element, shape=None)) if attr_type is attr_types.element:
            return attr_type.from_attribute(TypeAttr(element))
        case StringAttr(value=text) if attr_type is attr_types.raw:
            return attr_type.from_attribute(BytesAttr(text.encode()))
        case IntegerAttr(value=number) if attr_type is attr_types.number:
            raise ValueError(f"expected a float, found {number}")
        case DenseArrayAttr(element=element) if element.is_integer and attr_type is attr_types.numbers:
            raise ValueError(f"expected floats, found integers: {value}")
        case _:
            return attr_type.from_attribute(value)


def stored_attributes(op: Op) -> dict[str, Attribute]:
    """The attributes of a node in the form of files, without references and those that have no value."""
    match op:
        case Call():
            return dict(op.attributes.entries)
        case DeclaredOp():
            return dict(op.declared_attributes)
        case _:
            values = zip(op.layout.attributes, op.attribute_values, strict=True)
            absent = (None, BOUND, MISSING)
            return {f.spelling: f.type.to_attribute(v) for f, v in values if f.type is not None and v not in absent}


def written_names(op: Op) -> list[str]:
    """The names of the attributes of a node in the writer's order: those that are not defaults, graphs, references."""
    names = list(stored_attributes(op)) if isinstance(op, Call) else unknown_fields.written_attributes(op)
    return [*names, *unknown_fields.stored(op, ATTRIBUTE_REFERENCES)]


ABSENT_INPUTS = "common_ir.absent_inputs"
"""The places of the empty names among the inputs of a node, whose argument counts count them."""


class WrittenInputs(NamedTuple):
    """The names of the inputs of a node, and its argument counts."""

    names: list[str]
    counts: tuple[int, ...]


def written_inputs(op: Op, names: Sequence[str]) -> WrittenInputs:
    """Returns the inputs of a node as its file has them; `names` are those of its operands."""
    absent = op.extra.get(ABSENT_INPUTS)
    own = (1,) * len(op.operands) if isinstance(op, Call) else op.segment_sizes
    declared = argument_counts(op)
    counts = own if declared is None else declared
    places = [int(n) for n in absent.values] if isinstance(absent, DenseArrayAttr) else []
    if places and sum(counts) != len(names) + len(places):
        return WrittenInputs(list(names), own)  # the program changed
    out = list(names)
    for n in places:
        out.insert(n, "")
    return WrittenInputs(out, counts)
