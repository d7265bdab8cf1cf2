"""How commands let users divide a program among ranks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., object])


def ranks_options(command: Command) -> Command:
    """Adds `--ranks` and `--parallel` to a command."""
    how = "What ranks share: `tensor`, the weights of layers, or `data`, the batch.  [default: tensor]"
    parallel = click.option("--parallel", metavar="KIND", type=click.Choice(["tensor", "data"]), help=how)
    divide = "Divide the program among N ranks, which together compute the same."
    return click.option("--ranks", metavar="N", type=click.IntRange(min=1), help=divide)(parallel(command))


def check_division(ranks: int | None, parallel: str | None) -> None:
    """Raises: click.UsageError for a way to divide without a number of ranks."""
    if parallel is not None and ranks is None:
        raise click.UsageError("'--parallel' says how '--ranks' divides, which is missing")
