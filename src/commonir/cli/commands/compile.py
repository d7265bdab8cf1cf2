"""`cir compile`: machine code that needs no Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from commonir.base.text import format_bytes
from commonir.cli.answer import Answer
from commonir.cli.choices import parse_dims
from commonir.cli.options import OUTPUT, PATH, completed
from commonir.cli.session import Session, verb
from commonir.cli.terminal import Style, Terminal

if TYPE_CHECKING:
    from commonir.reports import Compilation


@verb(
    "cir compile model.onnx -o net/",
    "cir compile model.onnx -o net.so --cpu x86-64-v3",
    "cir compile model.mlpackage -o net/ --target aarch64-linux-gnu --size n=4",
    opens=True,
)
@click.argument("model", metavar="M", type=PATH)
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="OUT",
    type=OUTPUT,
    help="Write a folder with an object file, a header, weights and an example; or a library `.so`, `.dylib`, `.dll`.",
)
@click.option(
    "--function",
    "functions",
    metavar="NAME",
    multiple=True,
    help="Compile this function, not all public ones; may be repeated.",
    shell_complete=completed("functions"),
)
@click.option(
    "--size",
    "sizes",
    metavar="DIM=MAX",
    multiple=True,
    help="The largest size of a dynamic dim; may be repeated.",
    shell_complete=completed("dims", "="),
)
@click.option("--target", metavar="TRIPLE", help="The system, such as `aarch64-linux-gnu`. The default is this one.")
@click.option("--cpu", metavar="NAME", help="The processor, by LLVM's name. Without it and --target, this one.")
@click.option("--name", metavar="NAME", help="What the names of all C symbols begin with. The default is that of OUT.")
@click.option("--embed", is_flag=True, help="Put the weights into the object file or library.")
@click.option("--static-workspace", is_flag=True, help="Put the memory for intermediate tensors into the object file.")
def compile(
    session: Session,
    model: str,
    *,
    output: str,
    functions: tuple[str, ...],
    sizes: tuple[str, ...],
    target: str | None,
    cpu: str | None,
    name: str | None,
    embed: bool,
    static_workspace: bool,
) -> Answer:
    """Compile a program to machine code that runs without Python and without any library.

    A folder gets NAME.o, NAME.h, NAME.weights and main.c, which shows how to call the functions. A library runs in
    Python too, with `commonir.load_compiled`, and needs a linker. Dynamic dims are parameters with limits: those that
    the program states, or --size.

    By default the code is for the processor of this machine, whose instructions others may lack: the header has a
    function that checks. `--cpu x86-64-v3` is for all x86 processors since about 2015, `--cpu x86-64` for all of them.
    """
    with session.progress(f"reading {model}") as progress:
        program = session.load(model)
        progress.step("compiling")
        result = session.api.compile(
            program,
            output,
            functions=[f.removeprefix("@") for f in functions] or None,
            sizes=parse_dims(sizes, "--size"),
            name=name,
            target=target,
            cpu=cpu,
            embed=embed,
            static_workspace=static_workspace,
        )
    return Answer(result.to_json(), lambda out: _write(result, out))


def _write(result: Compilation, out: Terminal) -> None:
    out.line(f"compiled {result.heading}", Style.STRONG)
    out.line(f"  workspace: {format_bytes(result.workspace_bytes)}")
    if result.undefined:
        out.line(f"  calls: {', '.join(result.undefined)}")
    for file in result.files:
        out.line(f"  wrote {file.path} ({format_bytes(file.size_bytes)})")


command = compile
