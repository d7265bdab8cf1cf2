"""`cir completion`: the script that teaches a shell the verbs and options."""

from __future__ import annotations

import click

from commonir.base import codes
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.cli.answer import Answer
from commonir.cli.session import Session, verb

_SHELLS = ("bash", "zsh", "fish", "powershell")


@verb()
@click.argument("shell", type=click.Choice(_SHELLS))
def completion(session: Session, shell: str) -> Answer:  # noqa: ARG001  (the script needs no program)
    """Print a script for shell completion.

    \b
    bash:  eval "$(cir completion bash)"      in ~/.bashrc
    zsh:   eval "$(cir completion zsh)"       in ~/.zshrc
    fish:  cir completion fish | source       in ~/.config/fish/config.fish
    PowerShell:  cir completion powershell | Out-String | Invoke-Expression   in $PROFILE
    """
    # Only this verb pays for this import.
    from click.shell_completion import get_completion_class  # noqa: PLC0415

    from commonir.cli.completing import register  # noqa: PLC0415

    root = click.get_current_context().find_root()
    program = root.info_name or "cir"
    register()
    result = get_completion_class(shell)
    if result is None:
        raise DiagnosticError(Diagnostic(codes.WRONG_USAGE, f"there is no completion for '{shell}'"))
    try:
        script = result(root.command, {}, program, f"_{program.upper()}_COMPLETE").source()
    except RuntimeError as error:
        # click asks the shell for its version, and some are too old.
        raise DiagnosticError(Diagnostic(codes.WRONG_USAGE, str(error))) from error
    return Answer({"shell": shell, "script": script}, lambda out: out.raw(script + "\n"))


command = completion
