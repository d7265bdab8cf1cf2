"""The entry point: parses the command line and returns the exit status."""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

import click

from commonir.base import codes
from commonir.base.diagnostics import Diagnostic, DiagnosticError, ExitStatus
from commonir.base.plugins import PluginWarning
from commonir.base.suggestions import did_you_mean
from commonir.base.text import escape
from commonir.cli.answer import Answer, write_answer
from commonir.cli.findings import write_finding
from commonir.cli.table import cir
from commonir.cli.terminal import Terminal, discard, quiet_pipes

_NAMES = ("cir", "commonir")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command line and returns its exit status."""
    argv = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that cannot show a character gets its escape sequence instead of a crash.
            stream.reconfigure(errors="backslashreplace")
    status: int = ExitStatus.YES
    try:
        with quiet_pipes(), _plugin_warnings():
            status = _invoke(argv)
            sys.stdout.flush()
    except OSError as error:
        status = _unwritable(error)
    except (KeyboardInterrupt, click.Abort) as error:
        click.echo("interrupted", err=True)
        for note in getattr(error, "__notes__", ()):
            # The state of the command, such as ranks that wait for each other.
            click.echo(f"   = {note}", err=True)
        status = ExitStatus.INTERRUPTED
    return int(status)


@contextmanager
def _plugin_warnings() -> Generator[None]:
    """Shows warnings about plugins as those about models, without a line of source code."""
    with warnings.catch_warnings():
        show = warnings.showwarning

        def show_plugin(message: Warning | str, category: type[Warning], *place: Any, **options: Any) -> None:
            if issubclass(category, PluginWarning):
                click.echo(f"warning: {message}", err=True)
            else:
                show(message, category, *place, **options)

        warnings.showwarning = show_plugin
        yield


def _unwritable(error: OSError) -> int:
    """Reports that standard output takes no more text, such as on a full disk."""
    from commonir.base.files import output_fault  # noqa: PLC0415  no other command line needs it here

    finding = output_fault(None, error)
    discard(sys.stdout)
    with quiet_pipes():
        write_finding(finding, Terminal(is_error=True))
    return finding.code.status


def _invoke(arguments: list[str]) -> int:
    name = os.path.basename(sys.argv[0]).removesuffix(".exe")
    program = name if name in _NAMES else _NAMES[0]
    if f"_{program.upper()}_COMPLETE" in os.environ:
        # Only completion pays for this import.
        from commonir.cli.completing import register  # noqa: PLC0415

        register()
        return int(cir.main(arguments, prog_name=program, standalone_mode=False) or 0)
    try:
        with cir.make_context(program, list(arguments)) as context:
            return int(cir.invoke(context))
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        return _refuse(_usage_finding(error, arguments), error, arguments)
    except DiagnosticError as error:
        return _refuse(error.diagnostics[0], None, arguments)


def _refuse(finding: Diagnostic, error: click.ClickException | None, arguments: list[str]) -> int:
    context = error.ctx if isinstance(error, click.UsageError) else None
    verb = context.info_name if context and context.parent else None
    answer = Answer.refused(finding)
    # The flags of a wrong command line are not parsed; only this one matters for the message.
    return write_answer(answer, [finding], verb or "usage", Terminal(), Terminal(is_error=True), "--json" in arguments)


def _other_name(option: str, command: click.Command, arguments: Sequence[str]) -> str | None:
    """Returns the name that an option of other tools has here."""
    names = {name for parameter in command.params for name in parameter.opts}
    if "--passes" in names and (passes := _passes_among(arguments)):
        return f"`--passes {','.join(passes)}` runs passes"
    if option in ("-i", "--input", "--inputs") and "inputs" in names:
        return "inputs stand after the model: `NAME=@file.npy`"
    if option in ("-o", "--output", "--outputs") and "--save" in names:
        return "`--save FILE` writes the outputs"
    return None


def _passes_among(arguments: Sequence[str]) -> list[str]:
    """Returns the passes that arguments name as options, as those of mlir-opt do."""
    from commonir import api  # noqa: PLC0415  only a wrong command line needs it

    known = {entry.name for entry in api.passes()}
    return [name for a in arguments if a.startswith("-") and (name := a.lstrip("-")) in known]


def _usage_finding(error: click.ClickException, arguments: Sequence[str]) -> Diagnostic:
    message = error.format_message()
    context = error.ctx if isinstance(error, click.UsageError) else None
    help = None
    if isinstance(error, click.NoSuchOption) and context:
        # click's own message suggests names too, and differs between versions.
        message = f"no such option '{error.option_name}'"
        options = [name for parameter in context.command.params for name in parameter.opts if name.startswith("--")]
        help = _other_name(error.option_name, context.command, arguments) or did_you_mean(error.option_name, options)
    if isinstance(error, click.MissingParameter) and error.param is not None and error.param.opts[0] == "-o":
        # A word after an option may be its value.
        words = [word for word in arguments[1:] if not word.startswith("-")]
        is_plain = len(words) == len(("model", "output")) and not any(w.startswith("-") for w in arguments[1:-1])
        help = f"write `-o {escape(words[1])}`" if is_plain else None
    notes = (context.get_usage().replace("Usage:", "usage:"),) if context else ()
    help = help or (f"see `{context.command_path} --help`" if context else None)
    text = message[:1].lower() + message[1:].removesuffix(".")
    return Diagnostic(codes.WRONG_USAGE, text, notes=notes, help=help)
