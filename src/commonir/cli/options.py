"""Options of several commands. A command can replace the help text of an option."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from inspect import signature
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import click

from commonir.base.text import parse_bytes
from commonir.base.tuples import NamedTuple
from commonir.cli.help import OPTIONS, GroupedOption

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Command = TypeVar("Command", bound=Callable[..., object])
Option = Callable[[Command], Command]
Result = TypeVar("Result")

EXTERNAL = "External weights of ONNX and Common IR"
"""The section of options about files of weights."""
ENGINES = "How engines compute"
"""The section of options about how a program runs."""
CHECK = "With --check"
"""The section of options of a numeric check."""
PATH = click.Path(readable=False)
"""A path that need not exist. Opening it reports errors; access rights are not checked before."""


class OutputPath(click.Path):
    """The path of an output. `renews` is the parameter whose files it may replace; see `replacing.py`."""

    def __init__(self, *, renews: str | None = None) -> None:
        super().__init__(readable=False)
        self.renews = renews


OUTPUT = OutputPath()
"""An output that replaces nothing that the command reads."""

_IN_MODEL = ("nodes", "values", "inputs", "dims", "functions")


def completed(
    what: str, ending: str = ""
) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem[str]]]:
    """Returns the completions of an argument in a shell: names of formats, engines, ...; see `api.completions`."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:  # noqa: ARG001
        # Only completion pays for this import.
        from commonir.cli import completing  # noqa: PLC0415

        model = completing.model_of(ctx) if what in _IN_MODEL else None
        if what in _IN_MODEL and model is None:
            return []
        return completing.complete(what, incomplete, model, ending=ending)

    return complete


def output_option(*, renews: str | None = None) -> Option[Command]:
    """Returns the required option `-o OUT`, which may replace the file of the parameter `renews`."""
    where = "Where to write, also M" if renews else "Where to write"
    help = f"{where}; `-` is standard output."
    return click.option("-o", "--output", required=True, metavar="OUT", type=OutputPath(renews=renews), help=help)


fuse_option = click.option(
    "--fuse",
    metavar="[=NAMES]",
    help="Replace operations by one that the format has. Both compute the same on sample values, up to rounding."
    " NAMES such as `gelu,layer_norm` are separated by commas; with `-` before each, all but those are replaced.",
    shell_complete=completed("recognitions"),
)
BARE_FUSE = MappingProxyType({"--fuse": "all"})
"""The value of `--fuse` where it stands alone."""


def files_option(*names: str, help: str, metavar: str = "FILE") -> Option[Command]:
    """Returns an option that takes a file or folder and may be repeated."""
    return click.option(*names, metavar=metavar, multiple=True, type=PATH, help=help)


extern_option = files_option("--extern", "externs", help="Read extern globals from .npz or .safetensors archives.")
split_option = click.option(
    "--split-input-file",
    "is_split",
    is_flag=True,
    help="The text has several programs, separated by `// -----`.",
)
unregistered_option = click.option(
    "--allow-unregistered",
    is_flag=True,
    help="Accept operations, types and attributes of unknown dialects.",
)
resize_option = click.option(
    "--resize", "is_resizing", is_flag=True, help="Resize images to the shape of their inputs."
)


force_option = click.option("--force", "is_forced", is_flag=True, help="Replace files that are read, without asking.")


def _without_sigil(_: click.Context, __: click.Parameter, name: str | None) -> str | None:
    """Returns the name of a function without the `@` of the text."""
    return None if name is None else name.removeprefix("@")


def function_option(does: str) -> Option[Command]:
    """Returns `--function NAME`; the help begins with `does`."""
    return click.option(
        "--function",
        metavar="NAME",
        callback=_without_sigil,
        help=f"{does} instead of the entry function.",
        shell_complete=completed("functions"),
    )


def seed_option(of: str = "Seed of random inputs.", section: str = OPTIONS) -> Option[Command]:
    """Returns `--seed N`."""
    return click.option(
        "--seed",
        cls=GroupedOption,
        section=section,
        metavar="N",
        default=0,
        show_default=True,
        type=click.IntRange(min=0),
        help=of,
    )


def dims_option(of: str = "Value of a dynamic dim in random inputs.", section: str = OPTIONS) -> Option[Command]:
    """Returns `--set DIM=N`, which may be repeated."""
    return click.option(
        "--set",
        "dims",
        cls=GroupedOption,
        section=section,
        metavar="DIM=N",
        multiple=True,
        help=of,
        shell_complete=completed("dims", "="),
    )


Tolerance: TypeAlias = "float | Mapping[str, float] | None"
"""A tolerance for all values, or tolerances by name; `*` is the name of all others."""


def tolerance_options(section: str = OPTIONS) -> Option[Command]:
    """Returns `--atol X` and `--rtol X`, which may be repeated with the name of a value: `--atol y=1e-3`."""

    def add(command: Command) -> Command:
        for name, adjective in (("--rtol", "Relative"), ("--atol", "Absolute")):
            help = f"{adjective} tolerance, of all values or by name."
            option = click.option(
                name,
                cls=GroupedOption,
                section=section,
                metavar="[NAME=]X",
                multiple=True,
                callback=_tolerance,
                help=help,
            )
            command = option(command)
        return command

    return add


def _tolerance(ctx: click.Context, param: click.Parameter, texts: Sequence[str]) -> Tolerance:
    out: dict[str, float] = {}
    for text in texts:
        name, _, number = text.rpartition("=")
        try:
            value = float(number)
        except ValueError:
            value = -1.0
        if not value >= 0:
            message = f"'{text}' is not a tolerance: write a number, or NAME=NUMBER for one value"
            raise click.BadParameter(message, ctx, param)
        out[name or "*"] = value
    return out["*"] if list(out) == ["*"] else out or None


def repro_option(section: str = OPTIONS) -> Option[Command]:
    """Returns `--repro DIR`."""
    return click.option(
        "--repro",
        cls=GroupedOption,
        section=section,
        metavar="DIR",
        type=OUTPUT,
        help="Save the first divergence as a small reproducer.",
    )


def time_limit_option(section: str = OPTIONS) -> Option[Command]:
    """Returns `--time-limit SECONDS`."""
    return click.option(
        "--time-limit",
        cls=GroupedOption,
        section=section,
        metavar="SECONDS",
        type=click.FloatRange(min=0, min_open=True),
        help="Stop the command after this time.",
    )


DEFAULT_FAST_MATH = "winograd"
"""The default of `--fast-math`."""


def computing_options(command: Command) -> Command:
    """Adds `--threads N` and `--fast-math KIND`."""
    threads = click.option(
        "--threads",
        cls=GroupedOption,
        section=ENGINES,
        metavar="N",
        type=click.IntRange(min=1),
        default=1,
        show_default=True,
        help="Use so many threads.",
    )
    fast_math = click.option(
        "--fast-math",
        cls=GroupedOption,
        section=ENGINES,
        type=click.Choice(["none", "winograd", "bf16"]),
        default=DEFAULT_FAST_MATH,
        show_default=True,
        help="How far results may be from sums in single precision: not at all, fewer multiplications in"
        " convolutions and large products, or also products in bfloat16. Only the engine native goes beyond none.",
    )
    return threads(fast_math(command))


class SizeType(click.ParamType[int]):
    """A number of bytes with an optional unit."""

    name = "size"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Returns the number of bytes."""
        try:
            return parse_bytes(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


memory_limit_option = click.option(
    "--mem-limit",
    cls=GroupedOption,
    section=ENGINES,
    metavar="SIZE",
    type=SizeType(),
    help="Refuse to use more memory than this, such as 2G.",
)


class ExternalData(NamedTuple):
    """Where weights are written: as `commonir.save` takes it."""

    where: bool | str | None = None
    threshold: int | None = None


DEFAULT_EXTERNAL_DATA = ExternalData()


def external_data_options(command: Callable[..., Result]) -> Callable[..., Result]:
    """Adds `--external-data FILE|none|each` and `--external-threshold SIZE`, and collects them as `external`."""
    collected = collected_as(_external, "external")(command)
    with_threshold = click.option(
        "--external-threshold",
        cls=GroupedOption,
        section=EXTERNAL,
        metavar="SIZE",
        type=SizeType(),
        help="The least size of external weights, such as 1M. The default is 1024.",
    )(collected)
    return click.option(
        "--external-data",
        cls=GroupedOption,
        section=EXTERNAL,
        metavar="FILE|none|each",
        is_flag=False,
        flag_value="",
        help="Write weights to FILE beside OUT, into OUT, or each to a file. Without a value to OUT.data; by default"
        " where they are in the input.",
    )(with_threshold)


def _external(external_data: str | None, external_threshold: int | None) -> ExternalData:
    where = {None: None, "": True, "none": False}.get(external_data, external_data)
    return ExternalData(where, external_threshold)


def collected_as(
    options: Callable[..., object], argument: str = "options"
) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """Collects the options named by the parameters of `options` into one argument of a command."""
    names = tuple(signature(options).parameters)

    def collect(command: Callable[..., Result]) -> Callable[..., Result]:
        @wraps(command)
        def call(*args: object, **arguments: object) -> Result:
            collected = options(**{name: arguments.pop(name) for name in names})
            return command(*args, **arguments, **{argument: collected})

        return call

    return collect
