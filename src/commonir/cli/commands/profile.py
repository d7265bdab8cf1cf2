"""`cir profile`: times the operations of a program."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import click

from commonir.base.text import format_bytes, plural
from commonir.cli.answer import Answer
from commonir.cli.choices import parse_dims
from commonir.cli.columns import NODE, Column
from commonir.cli.options import (
    PATH,
    dims_option,
    extern_option,
    function_option,
    memory_limit_option,
    resize_option,
    seed_option,
    time_limit_option,
)
from commonir.cli.session import Session, verb
from commonir.cli.terminal import Style, Terminal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonir.reports import Profile, ProfileEntry

_SHOWN = 15


@verb("cir profile model.onnx", "cir profile model.onnx --engine onnxruntime --trace trace.json", opens=True)
@click.argument("model", type=PATH)
@click.argument("inputs", metavar="[INPUT]...", nargs=-1)
@click.option("--engine", metavar="NAME", help="Time this engine; `cir doctor` lists them.")
@function_option("Time this function")
@click.option(
    "--warmup", metavar="N", type=click.IntRange(min=0), default=1, show_default=True, help="Number of untimed runs."
)
@click.option(
    "--repeat", metavar="N", type=click.IntRange(min=1), default=5, show_default=True, help="Number of timed runs."
)
@click.option("--trace", metavar="FILE", type=PATH, help="Write the times for a trace viewer such as chrome://tracing.")
@click.option("--all", "is_complete", is_flag=True, help="List all operations instead of the slowest.")
@seed_option()
@dims_option()
@resize_option
@extern_option
@time_limit_option()
@memory_limit_option
def profile(
    session: Session,
    model: str,
    inputs: tuple[str, ...],
    *,
    engine: str | None,
    function: str | None,
    warmup: int,
    repeat: int,
    trace: str | None,
    is_complete: bool,
    seed: int,
    dims: tuple[str, ...],
    is_resizing: bool,
    externs: tuple[str, ...],
    time_limit: float | None,
    mem_limit: int | None,
) -> Answer:
    """Time a program and each of its operations.

    Operations that an engine fuses are timed separately, so their sum exceeds the time of a run. Each time includes the
    call overhead of the engine. Unnamed values count with the next named value; a loop or branch counts as one
    operation.

    INPUT is as in `cir run`.
    """
    with session.progress(f"reading {model}") as progress:
        program, function, texts = session.called(session.with_externs(session.load(model), externs), function, inputs)
        arrays = session.inputs(program, texts, function=function, seed=seed, resize=is_resizing)
        measured = session.api.profile(
            program,
            arrays,
            engine=engine,
            function=function,
            seed=seed,
            dims=parse_dims(dims, "--set"),
            warmup=warmup,
            repeat=repeat,
            options=session.api.engine_options(memory_limit_bytes=mem_limit, time_limit_seconds=time_limit),
            on_progress=progress.step,
        )
        if trace is not None:
            session.api.save_trace(measured, trace)
    return Answer(measured.to_json(), lambda out: _write(measured, out, trace, is_complete=is_complete))


def _write(result: Profile, out: Terminal, trace: str | None, *, is_complete: bool) -> None:
    out.line(f"{result.function} on {result.engine}: {_time(result.seconds)} a run", Style.STRONG)
    total = sum(entry.seconds for entry in result.entries)
    out.pairs(
        [
            ("first run", f"{_time(result.first_seconds)}, including preparation"),
            ("fastest", f"{_time(result.least_seconds)} of {plural(result.repeat, 'run')}"),
            ("operations", f"{len(result.entries):,}, {_time(total)} when run separately"),
            ("of that", f"{_time(result.call_seconds)} call overhead for each"),
            ("memory", f"{format_bytes(result.peak_bytes)} of values needed at once, without weights"),
        ]
    )
    by_name: defaultdict[str, list[ProfileEntry]] = defaultdict(list)
    for entry in result.entries:
        by_name[entry.operation or ", ".join(entry.operations)].append(entry)
    rows = [(name, f"{len(own):,}", *_costs(own, total)) for name, own in by_name.items()]
    order = sorted(zip(rows, by_name.values(), strict=True), key=lambda pair: -sum(e.seconds for e in pair[1]))
    numbers = [Column(title, is_number=True) for title in ("time", "share", "output bytes", "GFLOP/s")]
    out.table([Column("operation"), Column("number", is_number=True), *numbers], [row for row, _ in order[:_SHOWN]])
    if len(order) > _SHOWN:
        out.line(f"and {plural(len(order) - _SHOWN, 'operation')} more")
    shown = result.entries if is_complete else sorted(result.entries, key=lambda e: -e.seconds)[:_SHOWN]
    out.line("in order:" if is_complete else "slowest operations:")
    columns = [Column("value"), NODE, Column("operation"), Column("type"), *numbers]
    rows = [(e.name, e.node, e.operation or ", ".join(e.operations), e.type, *_costs([e], total)) for e in shown]
    out.table(columns, rows)
    if trace is not None:
        out.line(f"wrote {trace}")


def _costs(entries: Sequence[ProfileEntry], total: float) -> tuple[str, ...]:
    seconds = sum(entry.seconds for entry in entries)
    flops = [entry.flops for entry in entries if entry.flops is not None]
    rate = f"{sum(flops) / seconds / 1e9:.2g}" if flops and len(flops) == len(entries) and seconds else ""
    share = f"{seconds / total:.0%}" if total else ""
    return _time(seconds), share, format_bytes(sum(entry.size_bytes for entry in entries)), rate


def _time(seconds: float) -> str:
    """Returns a time with a suitable unit."""
    for unit, length in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= length:
            return f"{seconds / length:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} us"


command = profile
