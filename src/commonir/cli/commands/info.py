"""`cir info`: summarizes a program."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from commonir.base.text import format_bytes, format_count
from commonir.cli.answer import Answer
from commonir.cli.columns import Column
from commonir.cli.options import PATH
from commonir.cli.port_tables import write_ports
from commonir.cli.rank_tables import rank_pairs, write_ranks
from commonir.cli.session import Session, verb
from commonir.cli.terminal import Style, Terminal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonir.reports import DeclarationEntry, FunctionSummary, Summary


_LONGEST = 400
"""The number of characters shown of a metadata entry."""


@verb(opens=True)
@click.argument("model", type=PATH)
@click.option("--flops", "with_flops", is_flag=True, help="Count floating-point operations; slower on large programs.")
@click.option("--weights", "with_weights", is_flag=True, help="List the constants, largest first.")
@click.option(
    "--details",
    "in_detail",
    is_flag=True,
    help="For a program of ranks: list all buffers with their lifetimes, and messages by tag.",
)
def info(session: Session, model: str, *, with_flops: bool, with_weights: bool, in_detail: bool) -> Answer:
    """Summarize a program: format, producer, interface, operations, weights, files; for ranks also memory and messages.

    MODEL is a file or package in any supported format; `-` is standard input.
    """
    program = session.load(model, lenient=True)
    summary = session.api.summarize(program, with_flops=with_flops, with_weights=with_weights, with_ranks=True)
    return Answer(summary.to_json(), lambda out: write_summary(summary, model, out, in_detail=in_detail))


def _begun(text: str) -> str:
    """Returns the beginning of a metadata entry: some models contain vocabularies, which `--json` shows."""
    rest = len(text) - _LONGEST
    return text if rest <= 0 else f"{text[:_LONGEST]}.. ({rest} more characters)"


def write_summary(summary: Summary, title: str, out: Terminal, *, in_detail: bool = False) -> None:
    """Writes a summary as text."""
    out.line(title, Style.STRONG)
    weights = ", ".join(
        f"{name} {format_bytes(size_bytes)}" for name, size_bytes in summary.weight_bytes.items() if size_bytes
    )
    out.pairs(
        [
            ("format", summary.title),
            ("producer", summary.producer),
            ("parameters", format_count(summary.parameter_count)),
            ("weights", f"{format_bytes(sum(summary.weight_bytes.values()))} ({weights})" if weights else "none"),
            ("FLOPs", f"{summary.flops} per run" if summary.flops else ""),
            *rank_pairs(summary.ranks),
        ]
    )
    if summary.metadata:
        out.line()
        out.line("metadata", Style.STRONG)
        out.table([Column(""), Column("")], [(key, _begun(text)) for key, text in summary.metadata.items()], indent=2)
    if summary.ranks is not None:
        write_ranks(summary.ranks, out, in_detail=in_detail)
    _write_declarations(summary.declarations, out)
    for group in _grouped(summary.functions):
        _write_function(group, is_entry=group[0].name == summary.entry, out=out)
    if summary.weights is not None:
        out.line()
        out.line("weights", Style.STRONG)
        columns = [Column(""), Column(""), Column("", is_number=True), Column(""), Column("", is_number=True)]
        rows = [
            (w.name, w.type, format_bytes(w.size_bytes), w.file, "" if w.offset is None else f"at {w.offset:,}")
            for w in summary.weights
        ]
        out.table(columns, rows, indent=2)
    if summary.files:
        out.line()
        out.line("files", Style.STRONG)
        rows = [(file.path, format_bytes(file.size_bytes)) for file in summary.files]
        out.table([Column(""), Column("", is_number=True)], rows, indent=2)


def _write_declarations(declarations: Sequence[DeclarationEntry], out: Terminal) -> None:
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


def _grouped(functions: Sequence[FunctionSummary]) -> list[list[FunctionSummary]]:
    """Groups consecutive functions that differ only in their names."""
    out: list[list[FunctionSummary]] = []
    for function in functions:
        if out and function.replaced(name="") == out[-1][0].replaced(name=""):
            out[-1].append(function)
        else:
            out.append([function])
    return out


def _write_function(group: Sequence[FunctionSummary], *, is_entry: bool, out: Terminal) -> None:
    function = group[0]
    notes = [note for note in (function.opset, function.systems, "entry" if is_entry else "") if note]
    last = group[-1].name
    named = {1: f"function {function.name}", 2: f"functions {function.name} and {last}, each"}
    title = named.get(len(group), f"functions {function.name} to {last}, each of {len(group):,}")
    out.line()
    out.line(title + (f" ({', '.join(notes)})" if notes else ""), Style.STRONG)
    write_ports("inputs", function.inputs, out)
    write_ports("outputs", function.outputs, out)
    write_ports("states", function.states, out)
    count = sum(function.operations.values())
    out.line(f"  operations: {count:,}")
    rows = [(name, f"{number:,}") for name, number in function.operations.items()]
    out.table([Column(""), Column("", is_number=True)], rows, indent=4)


command = info
