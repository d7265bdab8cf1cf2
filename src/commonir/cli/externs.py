"""The option that gives extern globals their contents, for the verbs that run or convert programs."""

from __future__ import annotations

import click

extern_option = click.option(
    "--extern",
    "externs",
    metavar="FILE",
    type=click.Path(),
    multiple=True,
    help="Take the contents of extern globals from this .npz or .safetensors archive, by name.",
)
