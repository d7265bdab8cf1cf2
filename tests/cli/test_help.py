"""Help pages: one screen each that begins with an example which works as a command line."""

from __future__ import annotations

import re
import shlex

import click
import pytest

from commonir.cli.help import VerbCommand
from commonir.cli.table import VERBS
from commonir.cli.table import cir as group

from tests.command_lines import Cir

SCREEN = 40
NEEDS_NO_EXAMPLE = {"completion", "help"}


def command_of(name: str) -> VerbCommand:
    command = group.get_command(click.Context(group, info_name="cir"), name)
    assert isinstance(command, VerbCommand)
    return command


@pytest.mark.parametrize("arguments", [[], *([verb, "--help"] for verb in VERBS)], ids=" ".join)
def test_help_fits_a_screen_and_begins_with_an_example(cir: Cir, arguments: list[str]) -> None:
    lines = cir(*arguments).out.splitlines()
    assert len(lines) <= SCREEN
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("Usage: cir ")
    if arguments[:1] != ["completion"]:
        assert lines[1:3] == ["", f"  {lines[2].strip()}"]
        assert lines[2].startswith("  cir ")


@pytest.mark.parametrize("verb", VERBS)
def test_examples_are_command_lines_that_parse(verb: str) -> None:
    command = command_of(verb)
    for example in command.examples:
        program, name, *arguments = shlex.split(example)
        assert (program, name) == ("cir", verb)
        # Folders that must exist are not there.
        command.make_context(name, arguments).close()


@pytest.mark.parametrize("verb", VERBS)
def test_short_help_and_help_of_the_verb_have_the_same_options(cir: Cir, verb: str) -> None:
    short, full = cir(verb, "-h").out, cir("help", verb).out
    assert cir(verb, "--help").out == short
    for option in [option for option in command_of(verb).params if isinstance(option, click.Option)]:
        named = re.compile(rf"(?<![\w`]){option.opts[0]}(?![\w-])")
        assert named.search(short.split("Options:")[1])
        assert named.search(full.split("Options:")[1])


def test_whole_overview_says_what_the_exit_status_means(cir: Cir) -> None:
    assert "5 refused for safety" in " ".join(cir("help").out.split())


@pytest.mark.parametrize(
    ("name", "help"),
    [
        ("convrt", "did you mean 'convert'?"),
        ("e0804", "`cir explain E0804` explains a code"),
        ("mil.conv", "`cir ops mil.conv` shows the page of an operation"),
        ("zzz", "`cir --help` lists the verbs"),
    ],
)
def test_help_of_what_is_not_a_verb(cir: Cir, name: str, help: str) -> None:
    assert cir("help", name) == (2, "", f"error[E0901]: no verb is named '{name}'\n   = help: {help}\n")


def test_options_may_stand_before_the_verb(cir: Cir) -> None:
    assert cir("--json", "info", "ok.mil") == cir("info", "--json", "ok.mil")
    assert cir("--flops", "ok.mil") == cir("info", "ok.mil", "--flops")


def test_verb_after_its_file_is_pointed_out(cir: Cir) -> None:
    assert cir("ok.mil", "run", "x=3").err == (
        "error[E0901]: the verb 'run' stands after the file\n   = help: write it first: `cir run ok.mil x=3`\n"
    )
