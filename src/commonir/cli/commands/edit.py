"""`cir edit`: changes names, dims, outputs and metadata of a program."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from commonir.cli.choices import parse_new_dims, parse_pairs
from commonir.cli.options import ExternalData, completed, external_data_options, function_option, output_option
from commonir.cli.programs import program_argument
from commonir.cli.session import Session, verb
from commonir.cli.writing import check_output, written

if TYPE_CHECKING:
    from commonir.cli.answer import Answer


@verb("cir edit model.onnx -o new.onnx --rename x=image --set-dim batch=1", opens=True)
@program_argument("M")
@output_option(renews="model")
@click.option(
    "--rename",
    "renames",
    metavar="OLD=NEW",
    multiple=True,
    help="Rename an input, output or other value.",
    shell_complete=completed("values", "="),
)
@click.option(
    "--set-dim",
    "dims",
    metavar="DIM=N",
    multiple=True,
    help="Set a dim by its name, or by input and axis (`x.0=1`): to a number, or to a name or a range (`x.0=1..16`),"
    " which makes it dynamic.",
    shell_complete=completed("dims", "="),
)
@click.option(
    "--set-input",
    "fixed",
    metavar="NAME[=VALUE]",
    multiple=True,
    help="Make an input a constant. VALUE is as in `cir run`, or the default value of the input.",
    shell_complete=completed("inputs", "="),
)
@click.option(
    "--meta",
    "metadata",
    metavar="KEY=TEXT",
    multiple=True,
    help="Set or remove (`KEY=`) a metadata entry. Keys are description, version, author, license and others.",
)
@click.option(
    "--add-output",
    "added",
    metavar="NAME",
    multiple=True,
    help="Add an intermediate value to the outputs.",
    shell_complete=completed("values"),
)
@click.option(
    "--drop-output",
    "dropped",
    metavar="NAME",
    multiple=True,
    help="Remove an output.",
    shell_complete=completed("values"),
)
@function_option("Change this function")
@external_data_options
def edit(
    session: Session,
    model: str,
    *,
    output: str,
    renames: tuple[str, ...],
    dims: tuple[str, ...],
    fixed: tuple[str, ...],
    metadata: tuple[str, ...],
    added: tuple[str, ...],
    dropped: tuple[str, ...],
    function: str | None,
    external: ExternalData,
) -> Answer:
    """Change the interface and the metadata of a program, in its own format. Weights are copied unchanged.

    Of a program of ranks, all are changed; `rank0.x` is the `x` of one rank of an ARK program.

    All names refer to the original program, so `--rename a=b --rename b=a` swaps two names. An invalid result is not
    written.
    """
    check_output(session, output)
    if not (renames or dims or fixed or metadata or added or dropped):
        options = "--rename, --set-dim, --set-input, --meta, --add-output or --drop-output"
        raise click.UsageError(f"nothing to change: give {options}")
    names = parse_pairs(renames, "--rename", "OLD=NEW")
    texts = parse_pairs(metadata, "--meta", "KEY=TEXT")
    parsed_dims = parse_new_dims(dims)
    with session.progress(f"reading {model}") as progress:
        before = session.load(model)
        inputs = session.inputs(
            before, [text for text in fixed if "=" in text], function=function, seed=0, resize=False
        )
        progress.step("editing")
        after = session.api.edit(
            before,
            rename=names,
            dims=parsed_dims,
            inputs={**dict.fromkeys(text for text in fixed if "=" not in text), **inputs},
            metadata=texts,
            add_outputs=added,
            drop_outputs=dropped,
            function=function,
        )
        progress.step(f"writing {output}")
        return written(session, before, after, output, external)


command = edit
