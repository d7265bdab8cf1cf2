"""`cir run`: a program on given or random inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from commonir.base import codes
from commonir.cli.answer import Answer
from commonir.cli.session import Session, verb
from commonir.cli.terminal import Column, Terminal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonir.cli.arrays import ArraySummary


@verb()
@click.argument("model", type=click.Path())
@click.argument("inputs", metavar="[INPUT]...", nargs=-1)
@click.option("--engine", metavar="NAME", help="Run with this engine; `cir doctor` lists them.")
@click.option("--function", metavar="NAME", help="Run this function instead of the entry function.")
@click.option(
    "--seed", metavar="N", default=0, show_default=True, type=click.IntRange(min=0), help="Seed of random inputs."
)
@click.option("--set", "sizes", metavar="DIM=SIZE", multiple=True, help="Size of a dynamic dimension in random inputs.")
@click.option("--save", metavar="FILE.npz", type=click.Path(), help="Write the outputs to a numpy archive.")
def run(
    session: Session,
    model: str,
    inputs: tuple[str, ...],
    *,
    engine: str | None,
    function: str | None,
    seed: int,
    sizes: tuple[str, ...],
    save: str | None,
) -> Answer:
    """Run a program and summarize its outputs. Inputs that are not given get seeded random values.

    \b
    INPUT is one of
      NAME=@file.npy               an array
      NAME=@file.npz:KEY           an array out of an archive
      @file.npz                    all arrays of an archive, by name
      NAME=f32[1,3,8,8]:randn      generated: randn, rand, zeros, ones, iota,
                                   randint(low,high) or a number
    """
    arrays = session.arrays
    given = arrays.parse_inputs(inputs, seed=seed)
    dimensions = arrays.parse_dimensions(sizes)
    with session.progress(f"reading {model}") as progress:
        program = session.api.load(session.input_path(model), findings=session.findings)
        drawn = session.api.random_inputs(program, function=function, seed=seed, dims=dimensions, given=given)
        progress.step(f"running {model}")
        outputs = session.api.run(program, drawn, engine=engine, function=function, seed=seed)
        summaries = [arrays.summarize_array(name, array) for name, array in outputs.items()]
    if save is not None:
        for name in arrays.save_arrays(save, outputs):
            session.findings.add(
                codes.WIDENED_OUTPUT, f"output '{name}' is saved as f32: numpy has no name for its type", file=save
            )
    random = [arrays.summarize_array(name, array) for name, array in drawn.items() if name not in given]
    result = {
        "outputs": [summary.to_json() for summary in summaries],
        "random_inputs": [summary.to_json() for summary in random],
        "saved": save,
    }
    return Answer(result, lambda out: _write(random, summaries, seed, save, out))


def _write(
    random: Sequence[ArraySummary], outputs: Sequence[ArraySummary], seed: int, save: str | None, out: Terminal
) -> None:
    if random:
        listed = ", ".join(f"{summary.name} {summary.type}" for summary in random)
        out.line(f"random inputs (seed {seed}): {listed}")
    numbers = [Column(title, is_number=True) for title in ("min", "max", "mean")]
    columns = [Column("output"), Column("type"), *numbers, Column("first values")]
    out.table(columns, [_row(summary) for summary in outputs])
    if save is not None:
        out.line(f"outputs saved to {save}")


def _row(summary: ArraySummary) -> tuple[str, ...]:
    first = ", ".join(_number(value) for value in summary.first)
    statistics = (summary.min, summary.max, summary.mean)
    counts = ((summary.nan_count, "nan"), (summary.inf_count, "inf"))
    odd = "".join(f"; {count:,} {name}" for count, name in counts if count)
    return (summary.name, summary.type, *("" if value is None else _number(value) for value in statistics), first + odd)


def _number(value: float | str) -> str:
    return f"{value:.5g}" if isinstance(value, float) else f"'{value}'" if isinstance(value, str) else f"{value}"


command = run
