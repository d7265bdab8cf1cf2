"""Tables for notebooks: the interface of functions and how often they have each operation; the fields of operations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from commonir.base.text import plural
from commonir.ir.data import Data
from commonir.ir.module import Function, Module
from commonir.ir.operation import Operation, Value
from commonir.reports import Port, printing
from commonir.reports.columns import Column
from commonir.reports.layout import ReportWriter
from commonir.reports.port_tables import write_ports

_MOST_OPERATIONS = 12
_MOST_FUNCTIONS = 4
_MOST_ELEMENTS = 8
_LONGEST_TEXT = 80


def html_of(op: Operation) -> str:
    """Returns the tables of a program, function or other operation as an HTML element; of many functions, the first."""
    match op:
        case Module():
            return printing.html_of(lambda out: _write_functions(list(op.functions.values()), out))
        case Function():
            return printing.html_of(lambda out: _write_function(op, out))
        case _:
            return printing.html_of(lambda out: _write_operation(op, out))


def _write_functions(functions: Sequence[Function], out: ReportWriter) -> None:
    for function in functions[:_MOST_FUNCTIONS]:
        _write_function(function, out)
    if len(functions) > _MOST_FUNCTIONS:
        out.line(f"and {plural(len(functions) - _MOST_FUNCTIONS, 'other function')}")


def _write_function(function: Function, out: ReportWriter) -> None:
    out.heading(f"{function.name} {function.symbol_name}")
    write_ports("inputs", tuple([Port(v.name, str(v.type)) for v in function.inputs]), out)
    write_ports("outputs", tuple([Port(name, str(type)) for name, type in function.named_output_types]), out)
    counts = Counter(op.name for op in function.walk() if op is not function and not op.runs_nothing())
    out.line(plural(counts.total(), "operation"))
    rows = [(name, f"{count:,}") for name, count in counts.most_common()]
    out.table([Column(""), Column("", is_number=True)], rows, most=_MOST_OPERATIONS)


def _write_operation(op: Operation, out: ReportWriter) -> None:
    out.heading(f"{op.name} {op.source_name}".rstrip())
    operands, results = op.field_names
    names = [*operands, *[""] * (len(op.operands) - len(operands))]
    rows = [_value_row("operand", name, v) for name, v in zip(names, op.operands, strict=True)]
    for name, attribute in op.attribute_dictionary.items():
        if name not in op.extra:
            rows.append(("attribute", name, _cut(str(attribute)), ""))
    names = [*results, *[""] * (len(op.results) - len(results))]
    rows += [_value_row("result", name, v) for name, v in zip(names, op.results, strict=True)]
    out.table([Column(""), Column("name"), Column("value"), Column("type")], rows)
    for region in op.regions:
        for block in region.blocks:
            out.line(f"a block of {plural(len(block), 'operation')}")


def _value_row(kind: str, name: str, value: Value) -> tuple[str, str, str, str]:
    """Returns the name of a value, or its elements if it is a small constant, and its type."""
    data = None if value.defining_op is None or kind == "result" else value.defining_op.constant_data()
    shown = f"%{value.name or '_'}" if data is None or data.count > _MOST_ELEMENTS else _elements(data)
    return kind, name, shown, str(value.type)


def _elements(data: Data) -> str:
    return _cut(", ".join([f"{v:.5g}" if isinstance(v, float) else str(v) for v in data.values()]))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 3]}..."
