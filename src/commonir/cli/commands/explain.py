"""`cir explain`: explains a diagnostic code."""

from __future__ import annotations

import click

from commonir.base.codes import all_codes, find_code
from commonir.base.diagnostics import Code
from commonir.cli.answer import Answer
from commonir.cli.options import completed
from commonir.cli.session import Session, verb
from commonir.cli.terminal import Style, Terminal
from commonir.reports.columns import Column


@verb("cir explain E0503")
@click.argument("code", required=False, shell_complete=completed("codes"))
def explain(session: Session, code: str | None) -> Answer:  # noqa: ARG001  (codes need no program)
    """Explain a diagnostic code such as E0503; without CODE, list them."""
    if code is None:
        known = list(all_codes())
        rows = [(each.id, each.title) for each in known]
        return Answer([_json(each) for each in known], lambda out: out.table([Column("code"), Column("")], rows))
    explained = find_code(code)
    return Answer(_json(explained), lambda out: _write(explained, out))


def _json(code: Code) -> dict[str, str | int]:
    return {
        "code": code.id,
        "severity": code.severity.value,
        "title": code.title,
        "explanation": code.explanation,
        "exit_status": int(code.status),
    }


def _write(code: Code, out: Terminal) -> None:
    out.line(f"{code.severity.value}[{code.id}]: {code.title}", Style.STRONG)
    out.line()
    out.paragraph(code.explanation)
    out.line()
    out.line(f"exit status {int(code.status)}")


command = explain
