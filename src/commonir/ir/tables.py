"""Tables of functions for notebooks: their interfaces, and how often they have each operation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from commonir.base.text import plural
from commonir.ir.module import Function
from commonir.reports import Port
from commonir.reports.columns import Column
from commonir.reports.layout import ReportWriter
from commonir.reports.port_tables import write_ports
from commonir.reports.printing import html_of

_MOST_OPERATIONS = 12
_MOST_FUNCTIONS = 4


def html_of_functions(functions: Sequence[Function]) -> str:
    """Returns the tables of functions as an HTML element; of many functions, those of the first."""
    return html_of(lambda out: _write_functions(functions, out))


def _write_functions(functions: Sequence[Function], out: ReportWriter) -> None:
    for function in functions[:_MOST_FUNCTIONS]:
        _write_function(function, out)
    if len(functions) > _MOST_FUNCTIONS:
        out.line(f"and {plural(len(functions) - _MOST_FUNCTIONS, 'other function')}")


def _write_function(function: Function, out: ReportWriter) -> None:
    out.heading(f"{function.name} {function.symbol_name}")
    write_ports("inputs", tuple([Port(v.name, str(v.type)) for v in function.inputs]), out)
    write_ports("outputs", tuple([Port(name, str(type)) for name, type in function.named_output_types]), out)
    counts = Counter(op.name for op in function.walk() if op is not function)
    out.line(plural(counts.total(), "operation"))
    rows = [(name, f"{count:,}") for name, count in counts.most_common()]
    out.table([Column(""), Column("", is_number=True)], rows, most=_MOST_OPERATIONS)
