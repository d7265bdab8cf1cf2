"""`cir info`: summarizes a program."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from commonir.base.diagnostics import DiagnosticError
from commonir.cli.answer import Answer
from commonir.cli.choices import parse_dims
from commonir.cli.options import PATH, dims_option
from commonir.cli.session import Session, verb
from commonir.cli.terminal import Terminal
from commonir.reports.summary_tables import SummaryParts, write_summary

if TYPE_CHECKING:
    from commonir import Module
    from commonir.reports import Summary


@verb("cir info model.onnx", "cir info model.onnx --flops --set batch=8", opens=True)
@click.argument("models", metavar="MODEL...", nargs=-1, required=True, type=PATH)
@click.option("--ops", "with_operations", is_flag=True, help="List all operations of every function.")
@click.option("--weights", "with_weights", is_flag=True, help="List the constants, largest first.")
@click.option(
    "--flops", "with_flops", is_flag=True, help="Count floating-point operations and memory. This takes longer."
)
@dims_option("Size of a dynamic dim, for types and counts.")
@click.option(
    "--details",
    "in_detail",
    is_flag=True,
    help="Leave nothing out: metadata, inputs, operations. For ranks also buffers with their lifetimes, and messages by"
    " tag.",
)
def info(
    session: Session,
    models: tuple[str, ...],
    *,
    with_operations: bool,
    with_flops: bool,
    with_weights: bool,
    dims: tuple[str, ...],
    in_detail: bool,
) -> Answer:
    """Summarize a program: format, interface, operations, weights, files, ranks.

    MODEL is a file or package in any supported format, or a folder with the files of all ranks of a program; `-` is
    standard input. Rank files that are named together are one program. A terminal shows the most frequent operations; a
    pipe or file gets all of them.
    """
    names = session.joined(models)
    programs = [session.load(name, lenient=True) for name in names]
    sizes = parse_dims(dims, "--set")

    def summarized(program: Module, *, with_flops: bool) -> Summary:
        return session.api.summarize(
            program, with_flops=with_flops, with_weights=with_weights, with_ranks=True, dims=sizes
        )

    summaries: list[Summary] = []
    for program in programs:
        try:
            summaries.append(summarized(program, with_flops=with_flops))
        except DiagnosticError as error:
            if not with_flops:
                raise
            # The rest is shown even where costs cannot be counted.
            summaries.append(summarized(program, with_flops=False))
            session.findings.extend(error.diagnostics)
    shown = SummaryParts(with_operations=with_operations, in_detail=in_detail)

    def write(out: Terminal) -> None:
        for n, (name, summary) in enumerate(zip(names, summaries, strict=True)):
            if n:
                out.line()
            write_summary(summary, name, out, shown)

    result = [summary.to_json() for summary in summaries]
    return Answer(result[0] if len(result) == 1 else result, write)


command = info
