"""Options that several verbs have, each declared once; a verb says what one is for where it differs."""

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
"""A file or a folder, whether or not there is one: rights do not tell whether it can be read, reading it does."""


def output_option(where: str = "Where to write; `-` is standard output.", metavar: str = "OUT") -> Option[Command]:
    """`-o OUT`, which has to be given."""
    return click.option("-o", "--output", required=True, metavar=metavar, type=PATH, help=where)


def files_option(*names: str, help: str, metavar: str = "FILE") -> Option[Command]:
    """Files or folders, as many as one likes."""
    return click.option(*names, metavar=metavar, multiple=True, type=PATH, help=help)


extern_option = files_option(
    "--extern",
    "externs",
    help="Take the contents of extern globals from this .npz or .safetensors archive, by name.",
)
split_option = click.option(
    "--split-input-file",
    "is_split",
    is_flag=True,
    help="The MLIR text holds several programs, parted by lines `// -----`.",
)
resize_option = click.option("--resize", "is_resizing", is_flag=True, help="Resize images to the size of their inputs.")


def function_option(does: str) -> Option[Command]:
    """`--function NAME`, with what the verb does to it."""
    return click.option("--function", metavar="NAME", help=f"{does} instead of the entry function.")


def seed_option(of: str = "Seed of random inputs.") -> Option[Command]:
    """`--seed N`."""
    return click.option("--seed", metavar="N", default=0, show_default=True, type=click.IntRange(min=0), help=of)


def sizes_option(of: str = "Size of a dynamic dimension in random inputs.") -> Option[Command]:
    """`--set DIM=SIZE`, as often as one likes."""
    return click.option("--set", "sizes", metavar="DIM=SIZE", multiple=True, help=of)


def tolerance_options(when: str = "") -> Option[Command]:
    """`--atol X` and `--rtol X`."""

    def add(command: Command) -> Command:
        number = click.FloatRange(min=0)
        for name, kind in (("--rtol", "relative"), ("--atol", "absolute")):
            help = f"{when}{kind} tolerance."
            command = click.option(name, metavar="X", type=number, help=help[0].upper() + help[1:])(command)
        return command

    return add


class SizeType(click.ParamType[int]):
    """A number of bytes, with a unit if one likes."""

    name = "size"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number of bytes."""
        try:
            return parse_bytes(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


time_limit_option = click.option(
    "--time-limit",
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True),
    help="Stop a run of a program after this.",
)
memory_limit_option = click.option(
    "--mem-limit", metavar="SIZE", type=SizeType(), help="Refuse to use more memory than this, as in 2G."
)


def collected_as(options: Callable[..., object]) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """Passes the options that the parameters of `options` name to a command as one argument, `options`."""
    names = tuple(signature(options).parameters)

    def collect(command: Callable[..., Result]) -> Callable[..., Result]:
        @wraps(command)
        def call(*args: object, **arguments: object) -> Result:
            collected = options(**{name: arguments.pop(name) for name in names})
            return command(*args, **arguments, options=collected)

        return call

    return collect
