"""`cir help`: the whole help of a verb."""

from __future__ import annotations

import click

from commonir.base import codes
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.suggestions import did_you_mean
from commonir.base.text import escape
from commonir.cli.answer import Answer
from commonir.cli.help import HelpGroup, VerbCommand
from commonir.cli.session import Session, verb


def _verbs(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001  (click's signature)
    group = ctx.find_root().command
    assert isinstance(group, click.Group)
    return [name for name in group.list_commands(ctx) if name.startswith(incomplete)]


@verb("cir help convert")
@click.argument("name", metavar="[VERB]", required=False, shell_complete=_verbs)
def help(session: Session, name: str | None) -> Answer:  # noqa: ARG001  (the name of the verb; it needs no program)
    """Show the whole help of a verb; without VERB, an overview and the meaning of the exit status.

    `cir VERB --help` shows the most important part of it, on one screen.
    """
    root = click.get_current_context().find_root()
    group = root.command
    assert isinstance(group, HelpGroup)
    if name is None:
        page = group.full_help(root)
    else:
        command = group.get_command(root, name)
        if command is None:
            raise DiagnosticError(_unknown(name, group.list_commands(root)))
        assert isinstance(command, VerbCommand)
        with command.make_context(name, [], parent=root, resilient_parsing=True) as context:
            page = command.full_help(context)
    return Answer({"verb": name, "page": page}, lambda out: out.lines(page))


def _unknown(name: str, verbs: list[str]) -> Diagnostic:
    """Returns the finding for a name that is not a verb: it may be a diagnostic code or an operation."""
    if name[:1].upper() in "EWN" and name[1:].isdecimal():
        help = f"`cir explain {name.upper()}` explains a code"
    elif "." in name:
        help = f"`cir ops {escape(name)}` shows the page of an operation"
    else:
        help = did_you_mean(name, verbs) or "`cir --help` lists the verbs"
    return Diagnostic(codes.WRONG_USAGE, f"no verb is named '{escape(name)}'", help=help)


command = help
