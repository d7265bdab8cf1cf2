"""`cir tblgen`: prints the records of a TableGen file."""

from __future__ import annotations

import click

from commonir.base.files import atomic_file
from commonir.cli.answer import Answer, listed_operations
from commonir.cli.options import OUTPUT, PATH, files_option
from commonir.cli.session import Session, verb
from commonir.cli.terminal import Terminal


@verb("cir tblgen MyOps.td -I include", "cir tblgen MyOps.td --dialect")
@click.argument("file", type=PATH)
@files_option("-I", "include_dirs", metavar="DIR", help="Search this folder for included files.")
@click.option("-D", "defines", metavar="NAME", multiple=True, help="Define a preprocessor macro.")
@click.option("-o", "--output", metavar="FILE", type=OUTPUT, help="Write the JSON to a file.")
@click.option("--dialect", "is_listing", is_flag=True, help="List the operations of the file and its includes.")
def tblgen(
    session: Session,
    file: str,
    *,
    include_dirs: tuple[str, ...],
    defines: tuple[str, ...],
    output: str | None,
    is_listing: bool,
) -> Answer:
    """Print the records of a TableGen file as JSON, as `llvm-tblgen --dump-json` does.

    Included files are searched for in the folders of -I and in the folder of FILE. Other files are not read.
    """
    if is_listing:
        if output is not None or defines:
            raise click.UsageError("'--dialect' lists operations; it takes neither -o nor -D")
        return listed_operations(session.api.operations(dialects=session.api.load_dialects([file], include_dirs)))
    text = session.api.tablegen_json(file, include_dirs, defines)
    if output is not None:
        with atomic_file(output) as stream:
            stream.write(text.encode())
        return Answer({"output": output}, lambda out: out.line(f"wrote {output}"))

    def write(out: Terminal) -> None:
        # JSON escapes control characters itself.
        out.raw(text)

    return Answer({"records": text}, write)


command = tblgen
