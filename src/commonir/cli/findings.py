"""Writes findings to a terminal: like `Diagnostic.__str__`, with color, and with escaped text from files."""

from __future__ import annotations

from commonir.base.diagnostics import Diagnostic, Severity
from commonir.base.text import message_line
from commonir.cli.terminal import Style, Terminal

_STYLES = {Severity.ERROR: Style.ERROR, Severity.WARNING: Style.WARNING, Severity.NOTE: Style.NOTE}


def write_finding(finding: Diagnostic, err: Terminal) -> None:
    """Writes one finding."""
    heading = err.styled(f"{finding.severity.value}[{finding.code.id}]", _STYLES[finding.severity])
    lines = [f"{heading}: {err.styled(message_line(finding.message), Style.STRONG)}"]
    place = ": ".join(message_line(part) for part in (finding.place, finding.where) if part)
    if place:
        lines.append(f"  {err.styled('-->', Style.FAINT)} {place}")
    equals = err.styled("=", Style.FAINT)
    lines += [f"   {equals} {message_line(note)}" for note in finding.notes]
    if finding.command_line_advice:
        lines.append(f"   {equals} help: {message_line(finding.command_line_advice)}")
    err.raw("\n".join(lines) + "\n")
