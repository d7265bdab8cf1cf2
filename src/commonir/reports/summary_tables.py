"""Writes summaries of programs: interface, operations, weights, files, ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonir.base.text import format_bytes, format_count
from commonir.base.tuples import NamedTuple
from commonir.reports.columns import Column, type_text
from commonir.reports.layout import ReportWriter, Style
from commonir.reports.port_tables import write_ports
from commonir.reports.rank_tables import rank_pairs, write_ranks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from commonir.reports import DeclarationEntry, FunctionSummary, StorageEntry, Summary


_LONGEST = 400
"""The number of characters shown of a metadata entry."""
_LONGEST_FORMULA = 200
_LONG_FORMULA = "depends on dynamic dims: `--set DIM=N` gives the number, `--details` the formula"
_MOST_ENTRIES = 6
"""The number of metadata entries shown on a terminal."""
_MOST_PORTS = 12
"""The number of inputs or outputs shown on a terminal."""
_MOST_OPERATIONS = 12
"""The number of operations shown on a terminal."""
_MOST_FUNCTIONS = 4
"""The number of different functions that are shown one by one."""


class SummaryParts(NamedTuple):
    """Which parts of a summary are shown in full."""

    with_operations: bool = False
    in_detail: bool = False


def _begun(text: str) -> str:
    """Returns the beginning of a metadata entry: some models contain vocabularies, which `--json` shows."""
    rest = len(text) - _LONGEST
    return text if rest <= 0 else f"{text[:_LONGEST]}.. ({rest} more characters)"


def write_summary(summary: Summary, title: str, out: ReportWriter, shown: SummaryParts) -> None:
    """Writes a summary as text."""
    out.line(title, Style.STRONG)
    weights = ", ".join(
        f"{name} {format_bytes(size_bytes)}" for name, size_bytes in summary.weight_bytes.items() if size_bytes
    )
    out.pairs(
        [
            ("format", summary.title),
            ("producer", summary.producer),
            ("parameters", _parameters(summary)),
            ("stored as", "; ".join(_stored_as(summary.storages))),
            ("weights", f"{format_bytes(sum(summary.weight_bytes.values()))} ({weights})" if weights else "none"),
            ("FLOPs", _flops(summary.flops, shown)),
            ("memory", _memory(summary.peak_memory, shown)),
            *rank_pairs(summary.ranks),
        ]
    )
    if summary.metadata:
        out.line()
        out.line("metadata", Style.STRONG)
        rows = [(key, text if shown.in_detail else _begun(text)) for key, text in summary.metadata.items()]
        most = None if shown.in_detail else _MOST_ENTRIES
        out.table([Column(""), Column("")], rows, indent=2, most=most, rest="--details")
    if summary.ranks is not None:
        write_ranks(summary.ranks, out, in_detail=shown.in_detail)
    _write_declarations(summary.declarations, out)
    _write_functions(summary, out, shown)
    if summary.weights is not None:
        out.line()
        out.line("weights", Style.STRONG)
        columns = [Column("", is_number=n in (2, 5)) for n in range(6)]
        rows = [
            (
                w.name,
                w.type,
                format_bytes(w.size_bytes),
                f"{w.storage}, {w.bits:.3g} bits each" if w.storage else "",
                w.file.removeprefix(f"{title}/"),
                "" if w.offset is None else f"at {w.offset:,}",
            )
            for w in summary.weights
        ]
        out.table(columns, rows, indent=2)
    if summary.files:
        out.line()
        out.line("files", Style.STRONG)
        # A file inside a package is shown by its place in it.
        rows = [(format_bytes(file.size_bytes), file.path.removeprefix(f"{title}/")) for file in summary.files]
        out.table([Column("", is_number=True), Column("")], rows, indent=2)


def _flops(formula: str | None, shown: SummaryParts) -> str:
    if not formula or _is_long(formula, shown):
        return _LONG_FORMULA if formula else ""
    return f"{_quantity(formula, format_count)} per run"


def _memory(formula: str | None, shown: SummaryParts) -> str:
    if not formula or _is_long(formula, shown):
        return _LONG_FORMULA if formula else ""
    unit = "" if formula.isdecimal() else " bytes"
    return f"{_quantity(formula, format_bytes)}{unit} of values needed at once, without weights"


def _is_long(formula: str, shown: SummaryParts) -> bool:
    return len(formula) > _LONGEST_FORMULA and not shown.in_detail


def _quantity(formula: str, shown: Callable[[int], str]) -> str:
    """Returns a number with its unit, or a formula in dynamic dims as it is."""
    return shown(int(formula)) if formula.isdecimal() else formula


def _parameters(summary: Summary) -> str:
    count = format_count(summary.parameter_count)
    if not any(entry.storage for entry in summary.storages):
        return count
    bits = sum(entry.size_bytes for entry in summary.storages) * 8 / summary.parameter_count
    return f"{count}, {bits:.3g} bits each"


def _stored_as(storages: Sequence[StorageEntry]) -> Iterator[str]:
    """Yields how compressed weights are stored, each way with its number of parameters and their size."""
    if any(entry.storage for entry in storages):
        for entry in storages:
            count = format_count(entry.parameter_count)
            yield f"{entry.storage or 'not compressed'}: {count} at {entry.bits:.3g} bits"


def _write_declarations(declarations: Sequence[DeclarationEntry], out: ReportWriter) -> None:
    """Writes the functions and operators of a file, each with a line for each signature."""
    for kind in dict.fromkeys(entry.kind for entry in declarations):
        out.line()
        out.line(f"{kind}s", Style.STRONG)
        rows = [
            ("" if n else entry.name, signature)
            for entry in declarations
            if entry.kind == kind
            for n, signature in enumerate(entry.signatures)
        ]
        out.table([Column(""), Column("")], rows, indent=2)


def _write_functions(summary: Summary, out: ReportWriter, shown: SummaryParts) -> None:
    """Writes the functions: those that differ only in their names together, and many different ones as a list."""
    groups: dict[str, list[FunctionSummary]] = {}
    # The entry comes first.
    for function in sorted(summary.functions, key=lambda each: each.name != summary.entry):
        groups.setdefault(str(function.replaced(name="").to_json()), []).append(function)
    if len(groups) <= _MOST_FUNCTIONS or shown.with_operations or shown.in_detail:
        for group in groups.values():
            _write_function(group[0], [each.name for each in group], summary.entry, out, shown)
        return
    entry = next((function for function in summary.functions if function.name == summary.entry), None)
    if entry is not None:
        _write_function(entry, [entry.name], entry.name, out, shown)
    others = [function for function in summary.functions if function is not entry]
    out.line()
    out.line(f"{len(others):,} {'other ' if entry else ''}functions", Style.STRONG)
    columns = [Column("name"), Column("operations", is_number=True), Column("inputs"), Column("outputs")]
    out.table(columns, [_function_row(function) for function in others], indent=2)


def _function_row(function: FunctionSummary) -> tuple[str, str, str, str]:
    inputs, outputs = [
        ", ".join([type_text(port.type) for port in ports]) for ports in (function.inputs, function.outputs)
    ]
    return function.name, f"{sum(function.operations.values()):,}", inputs, outputs


def _write_function(
    function: FunctionSummary, names: Sequence[str], entry: str, out: ReportWriter, shown: SummaryParts
) -> None:
    """Writes a function, or what functions of these names have in common."""
    out.line()
    if len(names) == 1:
        notes = [note for note in (function.opset, function.systems, "entry" if names[0] == entry else "") if note]
        out.heading(f"function {names[0]}" + (f" ({', '.join(notes)})" if notes else ""))
    else:
        marked = [f"{name} (entry)" if name == entry else name for name in names]
        notes = "".join([f", {note}" for note in (function.opset, function.systems) if note])
        out.heading(f"functions {', '.join(marked)}: {len(names):,} of the same interface and operations{notes}")
    most = None if shown.in_detail else _MOST_PORTS
    for title, ports in (("inputs", function.inputs), ("outputs", function.outputs), ("states", function.states)):
        write_ports(title, ports, out, most, is_short=not shown.in_detail)
    count = sum(function.operations.values())
    out.line(f"  operations: {count:,}")
    rows = [(name, f"{number:,}") for name, number in function.operations.items()]
    is_complete = shown.with_operations or shown.in_detail
    columns = [Column(""), Column("", is_number=True)]
    out.table(columns, rows, indent=4, most=None if is_complete else _MOST_OPERATIONS, rest="--ops")
