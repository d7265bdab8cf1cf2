"""Tables of the inputs, outputs and states of functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonir.base.text import with_short_dims
from commonir.reports.columns import Column, type_text
from commonir.reports.layout import ReportWriter

if TYPE_CHECKING:
    from commonir.reports import Port


def write_ports(
    title: str, ports: tuple[Port, ...], out: ReportWriter, most: int | None = None, *, is_short: bool = True
) -> None:
    """Writes the inputs, outputs or states of a function, if it has any; on a terminal no more than about `most`.

    Unless `is_short` is not set, `?` stands for dims that are long expressions.
    """
    if ports:
        out.line(f"  {title}:")
        types = [type_text(with_short_dims(port.type) if is_short else port.type) for port in ports]
        rows = [(port.name, type, port.note) for port, type in zip(ports, types, strict=True)]
        out.table([Column(""), Column(""), Column("")], rows, indent=4, most=most, rest="--details")
