"""Options of several commands. A command can replace the help text of an option."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import TypeVar

import click

from commonir.base.text import parse_bytes

Command = TypeVar("Command", bound=Callable[..., object])
Option = Callable[[Command], Command]
Result = TypeVar("Result")

PATH = click.Path(readable=False)
"""A path that need not exist. Opening it reports errors; access rights are not checked before."""


def output_option(where: str = "Where to write; `-` is standard output.", metavar: str = "OUT") -> Option[Command]:
    """Returns the required option `-o OUT`."""
    return click.option("-o", "--output", required=True, metavar=metavar, type=PATH, help=where)


def files_option(*names: str, help: str, metavar: str = "FILE") -> Option[Command]:
    """Returns an option that takes a file or folder and may be repeated."""
    return click.option(*names, metavar=metavar, multiple=True, type=PATH, help=help)


extern_option = files_option(
    "--extern", "externs", help="Read the contents of extern globals from an .npz or .safetensors archive, by name."
)
split_option = click.option(
    "--split-input-file",
    "is_split",
    is_flag=True,
    help="The MLIR text has several programs, separated by lines `// -----`.",
)
unregistered_option = click.option(
    "--allow-unregistered",
    is_flag=True,
    help="Accept operations, types and attributes of dialects that are not known.",
)
resize_option = click.option(
    "--resize", "is_resizing", is_flag=True, help="Resize images to the shape of their inputs."
)


def function_option(does: str) -> Option[Command]:
    """Returns `--function NAME`; the help begins with `does`."""
    return click.option("--function", metavar="NAME", help=f"{does} instead of the entry function.")


def seed_option(of: str = "Seed of random inputs.") -> Option[Command]:
    """Returns `--seed N`."""
    return click.option("--seed", metavar="N", default=0, show_default=True, type=click.IntRange(min=0), help=of)


def dims_option(of: str = "Value of a dynamic dim in random inputs.") -> Option[Command]:
    """Returns `--set DIM=N`, which may be repeated."""
    return click.option("--set", "dims", metavar="DIM=N", multiple=True, help=of)


def tolerance_options(when: str = "") -> Option[Command]:
    """Returns `--atol X` and `--rtol X`."""

    def add(command: Command) -> Command:
        number = click.FloatRange(min=0)
        for name, adjective in (("--rtol", "relative"), ("--atol", "absolute")):
            help = f"{when}{adjective} tolerance."
            command = click.option(name, metavar="X", type=number, help=help[0].upper() + help[1:])(command)
        return command

    return add


class SizeType(click.ParamType[int]):
    """A number of bytes with an optional unit."""

    name = "size"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Returns the number of bytes."""
        try:
            return parse_bytes(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


time_limit_option = click.option(
    "--time-limit", metavar="SECONDS", type=click.FloatRange(min=0, min_open=True), help="Stop a run after this time."
)
memory_limit_option = click.option(
    "--mem-limit", metavar="SIZE", type=SizeType(), help="Refuse to use more memory than this, such as 2G."
)


def collected_as(options: Callable[..., object]) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """Collects the options named by the parameters of `options` into one argument `options` of a command."""
    names = tuple(signature(options).parameters)

    def collect(command: Callable[..., Result]) -> Callable[..., Result]:
        @wraps(command)
        def call(*args: object, **arguments: object) -> Result:
            collected = options(**{name: arguments.pop(name) for name in names})
            return command(*args, **arguments, options=collected)

        return call

    return collect
