"""`cir profile`: times the operations of a program."""

from __future__ import annotations

import click

from commonir.cli.answer import Answer
from commonir.cli.choices import parse_dims
from commonir.cli.options import (
    PATH,
    completed,
    dims_option,
    extern_option,
    function_option,
    memory_limit_option,
    resize_option,
    seed_option,
    time_limit_option,
)
from commonir.cli.session import Session, verb
from commonir.cli.terminal import Terminal
from commonir.reports import Profile
from commonir.reports.profile_tables import write_profile


@verb("cir profile model.onnx", "cir profile model.onnx --engine onnxruntime --trace trace.json", opens=True)
@click.argument("model", type=PATH)
@click.argument("inputs", metavar="[INPUT]...", nargs=-1, shell_complete=completed("inputs", "="))
@click.option(
    "--engine", metavar="NAME", help="Time this engine; `cir doctor` lists them.", shell_complete=completed("engines")
)
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
    write_profile(result, out, is_complete=is_complete)
    if trace is not None:
        out.line(f"wrote {trace}")


command = profile
