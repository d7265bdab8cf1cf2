"""Completion of arguments: names of formats, engines, passes, operations, and of what is in the model of the command.

`completion.py` prints the scripts for shells; they call `cir` again, which comes here. Nothing else loads this module.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable

import click
from click.shell_completion import CompletionItem, ShellComplete, add_completion_class

Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem[str]]]


def register() -> None:
    """Makes PowerShell known to click."""
    add_completion_class(PowerShell)


class PowerShell(ShellComplete):
    """Completion in PowerShell."""

    name = "powershell"
    source_template = """\
Register-ArgumentCompleter -Native -CommandName %(prog_name)s -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $env:COMP_WORDS = $commandAst.ToString()
    $env:COMP_CWORD = $wordToComplete
    $env:%(complete_var)s = "powershell_complete"
    %(prog_name)s | ForEach-Object {
        $type, $value, $help = $_ -split "`t", 3
        if ($type -eq "plain") {
            if (-not $help) { $help = $value }
            if ($value -match '[\\s''"`$(){};|&<>@#]') { $value = "'" + $value.Replace("'", "''") + "'" }
            [System.Management.Automation.CompletionResult]::new($value, $value, "ParameterValue", $help)
        }
    }
    Remove-Item Env:COMP_WORDS, Env:COMP_CWORD, Env:%(complete_var)s -ErrorAction SilentlyContinue
}
"""

    def get_completion_args(self) -> tuple[list[str], str]:
        """Returns the complete words after the name of the program, and the word that is completed."""
        words = _words_of_powershell(os.environ["COMP_WORDS"])[1:]
        # PowerShell removes a variable that is set to the empty string.
        incomplete = os.environ.get("COMP_CWORD", "").strip("'\"")
        if incomplete and words and words[-1] == incomplete:
            words.pop()
        return words, incomplete

    def format_completion(self, item: CompletionItem[str]) -> str:
        """Returns the type, the value and the help, separated by tabs."""
        help = " ".join((item.help or "").split())
        return f"{item.type}\t{item.value}\t{help}"


def _words_of_powershell(line: str) -> list[str]:
    """Returns the words of a line, in which a backslash separates folders and a backtick escapes."""
    lexer = shlex.shlex(line, posix=True)
    lexer.whitespace_split, lexer.commenters, lexer.escape = True, "", "`"
    words: list[str] = []
    try:
        words.extend(lexer)
    except ValueError:
        # The last word has an open quotation mark.
        words.append(lexer.token)
    return words


def complete(what: str, incomplete: str, model: str | None = None, *, ending: str = "") -> list[CompletionItem[str]]:
    """Returns the names that begin with a text; of several that are separated by commas, it completes the last."""
    from commonir import api  # noqa: PLC0415  only values of options need it

    before, comma, last = incomplete.rpartition(",")
    names = api.completions(what, model)
    found = [(name, help) for name, help in names if name.startswith(last)]
    return [CompletionItem(f"{before}{comma}{name}{ending}", help=help) for name, help in found]


def model_of(ctx: click.Context) -> str | None:
    """Returns the first model of the command line, if it is there already."""
    given: list[str | tuple[str, ...] | None] = [ctx.params.get(name) for name in ("model", "models", "first")]
    # Where the value of an option is completed, arguments are not assigned yet.
    words = list(ctx.args)
    for each in given:
        words += each if isinstance(each, tuple) else [each] if each else []
    return next((word for word in words if os.path.exists(word)), None)
