"""Help pages: `--help` is one screen that begins with examples, `cir help VERB` says everything."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar

import click

HELP_NAMES = ["-h", "--help"]
_SENTENCE = re.compile(r"(?<=[^.]\.)\s")
OPTIONS = "Options"
"""The section of options that have none of their own."""
_MAX_NAMES = 22
"""The widest first column of options."""
_SCREEN = 40
"""The number of lines of a screen."""


class GroupedOption(click.Option):
    """An option that stands in a section of its own in the help."""

    def __init__(self, *args: Any, section: str = OPTIONS, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.section = section


class VerbCommand(click.Command):
    """A command whose help begins with examples."""

    examples: Sequence[str] = ()

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Returns the parts of the usage line: arguments, then required options, then `[OPTIONS]`."""
        params = self.get_params(ctx)
        arguments = [p.make_metavar(ctx) for p in params if isinstance(p, click.Argument)]
        required = [f"{p.opts[0]} {p.metavar}" for p in params if isinstance(p, click.Option) and p.required]
        return [*arguments, *required, "[OPTIONS]"]

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes one screen: usage, examples, what the verb does, options.

        Where that is too much, only the names of the options in sections of their own are shown.
        """
        pages = [self._short_help(ctx, is_compact=is_compact) for is_compact in (False, True)]
        formatter.write(next((page for page in pages if page.count("\n") <= _SCREEN), pages[-1]))

    def _short_help(self, ctx: click.Context, *, is_compact: bool) -> str:
        formatter = ctx.make_formatter()
        self.format_usage(ctx, formatter)
        _write_examples(self.examples, formatter)
        formatter.write_paragraph()
        formatter.write_text((self.help or "").split("\n\n")[0])
        for title, options in self._sections(ctx).items():
            if title != OPTIONS and is_compact:
                names = ", ".join([option.opts[0] for option in options])
                formatter.write_paragraph()
                formatter.write_text(f"{title}: {names}")
            else:
                with formatter.section(title):
                    formatter.write_dl([_short(option, ctx) for option in options], col_max=_MAX_NAMES)
        return formatter.getvalue()

    def full_help(self, ctx: click.Context) -> str:
        """Returns the page with all that the docstring and the options say."""
        formatter = ctx.make_formatter()
        self.format_usage(ctx, formatter)
        _write_examples(self.examples, formatter)
        self.format_help_text(ctx, formatter)
        for title, options in self._sections(ctx).items():
            with formatter.section(title):
                formatter.write_dl(_records(options, ctx), col_max=_MAX_NAMES)
        return formatter.getvalue()

    def _sections(self, ctx: click.Context) -> dict[str, list[click.Option]]:
        """Returns the options by section."""
        out: dict[str, list[click.Option]] = {OPTIONS: []}
        for option in self.get_params(ctx):
            if isinstance(option, click.Option) and not option.hidden:
                section = option.section if isinstance(option, GroupedOption) else OPTIONS
                out.setdefault(section, []).append(option)
        return out


class BareOptions(VerbCommand):
    """A command with options that may stand alone: `bare` are the values that they have then, by option.

    A value follows `=`. A number may also follow `--check` after a space, unless a file has its name.
    """

    bare: ClassVar[Mapping[str, str]] = MappingProxyType({})

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Gives options that stand alone their values."""
        end = args.index("--") if "--" in args else len(args)
        filled: list[str] = []
        for arg in args[:end]:
            value = self.bare.get(arg)
            if arg.isdecimal() and filled[-1:] == ["--check=1"] and not os.path.exists(arg):
                filled[-1] = f"--check={arg}"
            else:
                filled.append(arg if value is None else f"{arg}={value}")
        return super().parse_args(ctx, filled + args[end:])


def _records(options: Sequence[click.Option], ctx: click.Context) -> list[tuple[str, str]]:
    return [record for option in options if (record := option.get_help_record(ctx)) is not None]


def _short(option: click.Option, ctx: click.Context) -> tuple[str, str]:
    """Returns the names of an option, and the first sentence of its help with its default."""
    names, text = option.get_help_record(ctx) or ("", "")
    if option.opts == HELP_NAMES:
        return names, f"Show this page; `cir help {ctx.info_name}` says more."
    default = re.search(r"\[default: ([^;\]]+)", text)
    first = _SENTENCE.split(option.help or "", maxsplit=1)[0]
    return names, f"{first}  [default: {default[1]}]" if default else first


def _write_examples(examples: Sequence[str], formatter: click.HelpFormatter) -> None:
    """Writes command lines as they are typed."""
    if examples:
        formatter.write("\n" + "".join(f"  {example}\n" for example in examples))


class HelpGroup(click.Group):
    """A group of commands whose help begins with examples."""

    examples: Sequence[str] = ()

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes one screen: usage, examples, the verbs."""
        self.format_usage(ctx, formatter)
        _write_examples(self.examples, formatter)
        self.format_commands(ctx, formatter)
        formatter.write_paragraph()
        name = ctx.info_name
        formatter.write_text(f"`{name} VERB --help` describes a verb, `{name} help` says more.")

    def full_help(self, ctx: click.Context) -> str:
        """Returns the page with all that the docstring says, and the options."""
        formatter = ctx.make_formatter()
        self.format_usage(ctx, formatter)
        _write_examples(self.examples, formatter)
        self.format_help_text(ctx, formatter)
        self.format_options(ctx, formatter)
        return formatter.getvalue()
