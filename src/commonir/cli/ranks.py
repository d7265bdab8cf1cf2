"""Options of commands that shard a program."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., object])


def ranks_options(command: Command) -> Command:
    """Adds `--ranks` and `--parallel` to a command."""
    how = "Shard weights (tensor) or batch (data).  [default: tensor]"
    parallel = click.option("--parallel", metavar="KIND", type=click.Choice(["tensor", "data"]), help=how)
    shard = "Shard the program among N ranks."
    return click.option("--ranks", metavar="N", type=click.IntRange(min=1), help=shard)(parallel(command))


def check_sharding(ranks: int | None, parallel: str | None) -> None:
    """Raises: click.UsageError for `--parallel` without `--ranks`."""
    if parallel is not None and ranks is None:
        raise click.UsageError("'--parallel' needs '--ranks N'")
