"""The table of verbs with one line for the overview, which imports none of them.

The module of a verb in `commands` has its name, and holds it as `command`.
"""

from __future__ import annotations

import os
import shlex
from importlib import import_module
from typing import TYPE_CHECKING

import click

from commonir.base import codes
from commonir.base.diagnostics import Diagnostic, DiagnosticError, ExitStatus
from commonir.base.suggestions import did_you_mean
from commonir.base.text import escape
from commonir.base.version import __version__
from commonir.cli.help import HELP_NAMES, HelpGroup

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

VERBS = {
    "info": "Summarize a program: interface, operations, weights.",
    "show": "Print a program as MLIR text.",
    "check": "Report everything that is wrong with programs.",
    "run": "Run a program on given or random inputs.",
    "convert": "Convert a program to another format.",
    "compile": "Compile a program to machine code for C, or to a shared library.",
    "opt": "Fold constants and remove redundant operations.",
    "edit": "Rename values, fix dims, set metadata, add or remove outputs.",
    "extract": "Write the part between named values as a model.",
    "compare": "Compare two programs, or two engines, value by value.",
    "reduce": "Find the smallest part of a model that still fails.",
    "diff": "Show structural differences of two programs.",
    "shapes": "Infer the shapes of all values, with symbolic dims.",
    "profile": "Time a program and each of its operations.",
    "view": "Draw a program as a graph, or two side by side.",
    "ops": "Show the reference page of an operation or dialect.",
    "bundle": "Copy imported libraries into a Common IR file.",
    "library": "Write a dialect as a Common IR library.",
    "tblgen": "Print the records of a TableGen file as JSON.",
    "explain": "Explain a diagnostic code.",
    "doctor": "Show installed versions, engines, formats and plugins.",
    "completion": "Print a script for shell completion.",
    "help": "Show the whole help of a verb.",
}


class VerbGroup(HelpGroup):
    """The verbs of the table, each imported when it is called. One argument that is not a verb is a file for `info`."""

    examples = (
        "cir model.onnx                                      what a model contains",
        "cir run model.onnx image=@cat.png                   what it computes",
        "cir convert model.onnx -o model.mlpackage --check   as a Core ML model",
        "cir compare model.onnx model.mlpackage              where the two differ",
    )

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  (click's signature)
        """The verbs in the order of the overview."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  (as above)
        """Imports the verb's module, which defines nothing else."""
        if cmd_name not in VERBS:
            return None
        result = import_module(f"commonir.cli.commands.{cmd_name}").command
        assert isinstance(result, click.Command)
        return result

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002  (as above)
        """Writes the overview from the table alone."""
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Accepts options of a verb also before it, as in `cir --json info model.onnx`."""
        own = {name for parameter in self.get_params(ctx) for name in parameter.opts}
        count = next((n for n, arg in enumerate(args) if not arg.startswith("-") or arg == "-"), len(args))
        if 0 < count < len(args) and own.isdisjoint(args[:count]) and _is_command(args[count]):
            args = [args[count], *args[:count], *args[count + 1 :]]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[str]]:
        """Completes verbs, and where none begins in this way files."""
        # Only completion pays for this import.
        from click.shell_completion import CompletionItem  # noqa: PLC0415

        verbs = [CompletionItem(name, help=help) for name, help in VERBS.items() if name.startswith(incomplete)]
        options = super(click.Group, self).shell_complete(ctx, incomplete) if incomplete.startswith("-") else []
        return [*verbs, *options] or [CompletionItem(incomplete, type="file")]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Finds the verb; without one, `info` of the file named in its place."""
        first = args[0]
        if first in VERBS:
            return super().resolve_command(ctx, args)
        if _is_file_name(first) or ctx.resilient_parsing:
            if not ctx.resilient_parsing and args[1:] and args[1] in VERBS and not os.path.exists(args[1]):
                raise DiagnosticError(_verb_after_file(args))
            return "info", self.get_command(ctx, "info"), args
        raise DiagnosticError(_no_such_verb(first))


def _is_command(text: str) -> bool:
    return text in VERBS or _is_file_name(text)


def _is_file_name(text: str) -> bool:
    return text == "-" or os.path.sep in text or "." in text or os.path.exists(text)


def _no_such_verb(name: str) -> Diagnostic:
    help = did_you_mean(name, VERBS) or "`cir --help` lists the verbs"
    if name == "version":
        help = "`cir --version` shows the version"
    return Diagnostic(codes.WRONG_USAGE, f"no verb and no file is named '{escape(name)}'", help=help)


def _verb_after_file(args: list[str]) -> Diagnostic:
    file, name, *rest = args
    return Diagnostic(
        codes.WRONG_USAGE,
        f"the verb '{name}' stands after the file",
        help=f"write it first: `{escape(shlex.join(['cir', name, file, *rest]))}`",
    )


def _print_version(context: click.Context, _: click.Parameter, is_requested: bool) -> None:
    if is_requested and not context.resilient_parsing:
        click.echo(f"commonir {__version__}")
        context.exit()


@click.group(
    cls=VerbGroup,
    invoke_without_command=True,
    options_metavar="",
    subcommand_metavar="VERB [ARGUMENTS]...",
    context_settings={"help_option_names": HELP_NAMES},
)
@click.option(
    "-V",
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version.",
)
@click.pass_context
def cir(context: click.Context) -> int:
    """Open, check, explain, run and convert machine-learning programs.

    `cir VERB --help` describes a verb; `cir MODEL` is short for `cir info MODEL`. Results go to standard output,
    findings and progress to standard error. Exit status: 0 success, 1 the answer is no, 2 usage error, 3 unreadable
    input, 4 unsupported, 5 refused for safety, 6 output not written, 70 internal error, 130 interrupted.

    An output replaces an older file of its name; a file that the command reads is replaced only by a new version of
    itself, or with --force.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
        return ExitStatus.USAGE
    return ExitStatus.YES
