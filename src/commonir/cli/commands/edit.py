"""`cir edit`: names, sizes, outputs and metadata of a program changed, weights untouched."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from commonir.cli.choices import parse_pairs, parse_sizes
from commonir.cli.options import PATH, function_option, output_option
from commonir.cli.session import Session, verb
from commonir.cli.writing import check_output, written

if TYPE_CHECKING:
    from commonir.cli.answer import Answer


@verb(opens=True)
@click.argument("model", metavar="M", type=PATH)
@output_option("Where to write; may be M itself.")
@click.option("--rename", "renames", metavar="OLD=NEW", multiple=True, help="Rename an input, output or other value.")
@click.option(
    "--set-dim",
    "sizes",
    metavar="DIM=SIZE",
    multiple=True,
    help="Fix a dynamic dimension by its name, or an axis of an input, as in `x.0=1`.",
)
@click.option(
    "--set-input",
    "fixed",
    metavar="NAME[=VALUE]",
    multiple=True,
    help="Make an input a constant: of a value, given as to `cir run`, or of its default.",
)
@click.option(
    "--meta",
    "metadata",
    metavar="KEY=TEXT",
    multiple=True,
    help="Set description, version, author, license or another text; `KEY=` removes it.",
)
@click.option("--add-output", "added", metavar="NAME", multiple=True, help="Return another value too.")
@click.option("--drop-output", "dropped", metavar="NAME", multiple=True, help="Remove an output.")
@function_option("Change this function")
def edit(
    session: Session,
    model: str,
    *,
    output: str,
    renames: tuple[str, ...],
    sizes: tuple[str, ...],
    fixed: tuple[str, ...],
    metadata: tuple[str, ...],
    added: tuple[str, ...],
    dropped: tuple[str, ...],
    function: str | None,
) -> Answer:
    """Change what a program receives and returns, in its own format; weights are copied as they are.

    All names are those of the program as it is, so `--rename a=b --rename b=a` swaps two. The result obeys every
    rule of its format, or nothing is written.
    """
    check_output(session, output)
    if not (renames or sizes or fixed or metadata or added or dropped):
        options = "--rename, --set-dim, --set-input, --meta, --add-output or --drop-output"
        raise click.UsageError(f"nothing to change: give {options}")
    names = parse_pairs(renames, "--rename", "OLD=NEW")
    texts = parse_pairs(metadata, "--meta", "KEY=TEXT")
    dimensions = parse_sizes(sizes)
    with session.progress(f"reading {model}") as progress:
        before = session.load(model)
        given = session.inputs(before, [text for text in fixed if "=" in text], function=function, seed=0, resize=False)
        progress.step("changing it")
        after = session.api.edit(
            before,
            rename=names,
            dims=dimensions,
            inputs={**dict.fromkeys(text for text in fixed if "=" not in text), **given},
            metadata=texts,
            add_outputs=added,
            drop_outputs=dropped,
            function=function,
        )
        progress.step(f"writing {output}")
        return written(session, before, after, output)


command = edit
