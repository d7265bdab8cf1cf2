"""Tables of the inputs, outputs and states of functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonir.cli.columns import Column
from commonir.cli.terminal import Terminal

if TYPE_CHECKING:
    from commonir.reports import Port


def write_ports(title: str, ports: tuple[Port, ...], out: Terminal) -> None:
    """Writes the inputs, outputs or states of a function, if it has any."""
    if ports:
        out.line(f"  {title}:")
        out.table([Column(""), Column(""), Column("")], [(port.name, port.type, port.note) for port in ports], indent=4)
