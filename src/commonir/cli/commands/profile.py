"""`cir profile`: times the operations of a program."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from commonir.base.tuples import NamedTuple
from commonir.cli.answer import Answer
from commonir.cli.choices import parse_dims
from commonir.cli.options import (
    ENGINES,
    OUTPUT,
    collected_as,
    completed,
    computing_options,
    dims_option,
    extern_option,
    function_option,
    memory_limit_option,
    resize_option,
    seed_option,
    time_limit_option,
)
from commonir.cli.programs import inputs_arguments
from commonir.cli.session import Session, verb
from commonir.cli.terminal import Terminal
from commonir.reports.profile_tables import write_profiles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonir.api.running import FastMath
    from commonir.reports import JsonValue, ProfileComparison


class ProfileOptions(NamedTuple):
    """The options of `cir profile`."""

    engines: tuple[str, ...]
    output: str | None
    function: str | None
    warmup: int
    repeat: int
    trace: str | None
    is_complete: bool
    seed: int
    dims: tuple[str, ...]
    is_resizing: bool
    externs: tuple[str, ...]
    threads: int
    fast_math: FastMath
    time_limit: float | None
    mem_limit: int | None


@verb("cir profile model.onnx", "cir profile model.onnx --engines numpy,onnxruntime -o profile.html", opens=True)
@inputs_arguments
@click.option(
    "--engine",
    "--engines",
    "engines",
    metavar="NAME[,NAME]",
    multiple=True,
    help="Time this engine, or several side by side; `cir doctor` lists them, and which is the default.",
    shell_complete=completed("engines"),
)
@function_option("Time this function")
@click.option(
    "--warmup", metavar="N", type=click.IntRange(min=0), default=1, show_default=True, help="Number of untimed runs."
)
@click.option(
    "--repeat", metavar="N", type=click.IntRange(min=1), default=5, show_default=True, help="Number of timed runs."
)
@click.option("-o", "--output", metavar="FILE", type=OUTPUT, help="Draw the profile as an .html page.")
@click.option(
    "--trace", metavar="FILE", type=OUTPUT, help="Write the times for a trace viewer such as chrome://tracing."
)
@click.option("--all", "is_complete", is_flag=True, help="List all operations instead of the slowest.")
@seed_option()
@dims_option()
@resize_option
@extern_option
@computing_options
@time_limit_option(ENGINES)
@memory_limit_option
@collected_as(ProfileOptions)
def profile(session: Session, model: str, inputs: tuple[str, ...], *, options: ProfileOptions) -> Answer:
    """Time a program and each of its operations.

    Operations that an engine fuses are timed separately, so their sum exceeds the time of a run. Each time includes the
    call overhead of the engine. Unnamed values count with the next named value; a loop or branch counts as one
    operation. `onnxruntime` times operations in ordinary runs, under its own names where it fuses them; `iree` only
    the whole program.

    The ranks of a program run together. What each computes, sends and waits for is that of a run with a processor for
    each rank, computed from measured times.

    INPUT is as in `cir run`. Further files of a program of ranks may stand before it.
    """
    names = [name for text in options.engines for name in text.split(",") if name]
    with (
        session.limited_memory(options.mem_limit),
        session.limited_time(options.time_limit, is_watched=not any(map(session.api.runs_together, names))) as left,
        session.progress(f"reading {model}") as progress,
    ):
        program = session.with_externs(session.load(model), options.externs)
        program, function, texts = session.called(program, options.function, inputs)
        arrays = session.inputs(program, texts, function=function, seed=options.seed, resize=options.is_resizing)
        measured = session.api.profile_engines(
            program,
            arrays,
            engines=names or [session.api.default_engine()],
            function=function,
            seed=options.seed,
            dims=parse_dims(options.dims, "--set"),
            warmup=options.warmup,
            repeat=options.repeat,
            options=session.api.engine_options(
                threads=options.threads,
                memory_limit_bytes=options.mem_limit,
                time_limit_seconds=left.seconds,
                fast_math=options.fast_math,
            ),
            on_progress=progress.step,
        )
        if options.trace is not None:
            session.api.save_trace(measured, options.trace)
        if options.output is not None:
            progress.step(f"writing {options.output}")
            session.api.save_profile(measured, options.output, title=os.path.basename(model))
    files = [path for path in (options.trace, options.output) if path is not None]
    return Answer(_result(measured), lambda out: _write(measured, out, files, is_complete=options.is_complete))


def _result(measured: ProfileComparison) -> JsonValue:
    """Returns the JSON form: that of a profile with its sums, or of several side by side."""
    whole = measured.to_json()
    only, *others = measured.profiles
    if others:
        return whole
    return {**only.to_json(), "by_operation": whole["operations"], "by_layer": whole["layers"]}


def _write(measured: ProfileComparison, out: Terminal, files: Sequence[str], *, is_complete: bool) -> None:
    write_profiles(measured, out, is_complete=is_complete)
    for path in files:
        out.line(f"wrote {path}")


command = profile
