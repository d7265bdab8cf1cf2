"""`cir edit`: names, sizes, outputs and metadata of a program changed, weights untouched."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from commonir.base import codes
from commonir.base.diagnostics import Diagnostics
from commonir.base.text import escape
from commonir.cli.session import Session, verb
from commonir.cli.writing import check_output, written

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commonir.cli.answer import Answer


@verb()
@click.argument("model", metavar="M", type=click.Path())
@click.option(
    "-o", "--output", required=True, metavar="OUT", type=click.Path(), help="Where to write; may be M itself."
)
@click.option("--rename", "renames", metavar="OLD=NEW", multiple=True, help="Rename an input, output or other value.")
@click.option(
    "--set-dim",
    "sizes",
    metavar="DIM=SIZE",
    multiple=True,
    help="Fix a dynamic dimension by its name, or an axis of an input, as in `x.0=1`.",
)
@click.option(
    "--meta",
    "metadata",
    metavar="KEY=TEXT",
    multiple=True,
    help="Set description, version, author, license or another text; `KEY=` removes it.",
)
@click.option("--add-output", "added", metavar="NAME", multiple=True, help="Return another value too.")
@click.option("--drop-output", "dropped", metavar="NAME", multiple=True, help="Return an output no longer.")
@click.option("--function", metavar="NAME", help="Change this function instead of the entry function.")
def edit(
    session: Session,
    model: str,
    *,
    output: str,
    renames: tuple[str, ...],
    sizes: tuple[str, ...],
    metadata: tuple[str, ...],
    added: tuple[str, ...],
    dropped: tuple[str, ...],
    function: str | None,
) -> Answer:
    """Change what a program receives and returns, in its own format; weights are copied as they are.

    All names are those of the program as it is, so `--rename a=b --rename b=a` exchanges two. The result obeys every
    rule of its format, or nothing is written.
    """
    check_output(session, output)
    if not (renames or sizes or metadata or added or dropped):
        raise click.UsageError("nothing to change: give --rename, --set-dim, --meta, --add-output or --drop-output")
    names = _pairs(renames, "--rename", "OLD=NEW")
    texts = _pairs(metadata, "--meta", "KEY=TEXT")
    dimensions = _sizes(sizes)
    with session.progress(f"reading {model}") as progress:
        before = session.api.load(session.input_path(model), findings=session.findings)
        progress.step("changing it")
        after = session.api.edit(
            before,
            rename=names,
            dims=dimensions,
            metadata=texts,
            add_outputs=added,
            drop_outputs=dropped,
            function=function,
        )
        progress.step(f"writing {output}")
        return written(session, before, after, output)


def _pairs(texts: Sequence[str], option: str, form: str) -> dict[str, str]:
    """The two sides of options such as `a=b`.

    Raises: WRONG_USAGE with all that have no `=`, or give one name twice.
    """
    out: dict[str, str] = {}
    found = Diagnostics()
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key:
            message = f"'{option} {escape(text)}' is not of the form {form}"
            found.add(codes.WRONG_USAGE, message)
        elif key in out:
            found.add(codes.WRONG_USAGE, f"'{option}' is given twice for '{escape(key)}'")
        out[key] = value
    found.raise_errors()
    return out


def _sizes(texts: Sequence[str]) -> dict[str, int]:
    out: dict[str, int] = {}
    found = Diagnostics()
    for key, value in _pairs(texts, "--set-dim", "DIM=SIZE").items():
        if re.fullmatch(r"[0-9]{1,18}", value) is None:
            message = f"'--set-dim {escape(key)}={escape(value)}': the size must be a number"
            found.add(codes.WRONG_USAGE, message, help="give a name and a size: `--set-dim batch=8`")
        else:
            out[key] = int(value)
    found.raise_errors()
    return out


command = edit
