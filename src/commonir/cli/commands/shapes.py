"""`cir shapes`: lists the inferred type of every value."""

from __future__ import annotations

import click

from commonir.base.diagnostics import ExitStatus
from commonir.cli.answer import Answer
from commonir.cli.choices import parse_dims
from commonir.cli.options import dims_option
from commonir.cli.programs import program_argument
from commonir.cli.session import Session, verb
from commonir.reports.columns import NODE, Column, type_text


@verb("cir shapes model.onnx --set batch=8", opens=True)
@program_argument()
@dims_option("Show the shapes for one value of a dim.")
@click.option("--constants", "with_constants", is_flag=True, help="List constants too.")
def shapes(session: Session, model: str, *, dims: tuple[str, ...], with_constants: bool) -> Answer:
    """List the values of a program with their types. Dims are numbers, or expressions of the dims of inputs.

    Types that the file does not declare are inferred. A data-dependent dim has its own name. MODEL is a file or package
    in any supported format. Errors of the program, which leave types unknown, are reported: exit status 1.
    """
    program = session.load(model, lenient=True)
    # Inference changes the types in place, so that a signature of MLIR no longer states those of the arguments.
    wrong = [d.located(file=session.input_path(model)) for d in session.api.verify(program) if d.is_error]
    entries = session.api.shapes(program, parse_dims(dims, "--set"), with_constants=with_constants)
    session.findings.extend(wrong)
    several = len({entry.function for entry in entries}) > 1
    columns = [Column("value"), NODE, Column("operation"), Column("type"), *([Column("function")] if several else [])]
    rows = [(e.name, e.node, e.operation, type_text(e.type), *([e.function] if several else [])) for e in entries]
    status = ExitStatus.NO if wrong else ExitStatus.YES
    return Answer([entry.to_json() for entry in entries], lambda out: out.table(columns, rows), status)


command = shapes
