"""Options that limit what running a program may take, for the verbs that run one."""

from __future__ import annotations

import click

from commonir.base.text import parse_bytes


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
