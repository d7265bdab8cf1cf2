"""Advice in terms of Python: every option and command that a help text names is an argument or a function."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import commonir
from commonir.base.advice import in_python
from commonir.base.codes import WRONG_USAGE, all_codes
from commonir.base.diagnostics import Diagnostic

SOURCE = Path(commonir.__file__).parent
ONLY_COMMANDS = ("--fails", "--names", "--strict")
"""Options of help texts that no function in Python raises: of `reduce`, `show` and `convert`."""


def test_options_and_commands_are_arguments_and_calls() -> None:
    text = "fix it with `--set-dim n=1`, `--range n=1..16` or `--target iOS17`; `cir edit --rename A=B`, `--resize`"
    assert in_python(text) == (
        "fix it with `dims={'n': 1}`, `ranges={'n': (1, 16)}` or `target='iOS17'`; "
        "`commonir.edit(program, rename={A: B})`, `resize=True`"
    )


def test_other_programs_stay() -> None:
    text = "run `git lfs pull`, `mpiexec -n 2 cir run MODEL --engine mpi` or `cir doctor`, without --options"
    assert in_python(text) == text


def test_diagnostic_speaks_python_and_its_json_of_a_command_the_command_line() -> None:
    finding = Diagnostic(WRONG_USAGE, "no", where="main", notes=["found: 1"], help="use `--engine`")
    assert str(finding).endswith("= help: use `engine=`")
    assert finding.to_json() == {
        "code": "E0901",
        "severity": "error",
        "message": "no",
        "file": None,
        "where": "main",
        "line": None,
        "column": None,
        "notes": ["found: 1"],
        "help": "use `engine=`",
        "fix": None,
    }
    assert finding.to_json(in_python=False)["help"] == "use `--engine`"


def _helps(path: Path) -> Iterator[str]:
    """Yields the texts in a module that are not documentation, with X for what is filled in."""
    tree = ast.parse(path.read_text("utf-8"))
    nodes = [n for n in ast.walk(tree) if isinstance(n, ast.Module | ast.ClassDef | ast.FunctionDef)]
    documentation = {id(n.body[0].value) for n in nodes if n.body and isinstance(n.body[0], ast.Expr)}
    parts = {id(part) for n in ast.walk(tree) if isinstance(n, ast.JoinedStr) for part in n.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(p.value) if isinstance(p, ast.Constant) else "X" for p in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation | parts:
            yield node.value


def _fragments() -> Iterator[str]:
    for code in all_codes():
        yield from re.findall(r"`((?:--|cir )[^`]+)`", code.remedy)
    for path in SOURCE.rglob("*.py"):
        if path.relative_to(SOURCE).parts[0] != "cli" and path.name not in ("codes.py", "file_codes.py", "advice.py"):
            for text in _helps(path):
                yield from re.findall(r"`((?:--|cir )[^`]+)`", text)


@pytest.mark.slow
def test_every_option_that_a_help_names_is_a_parameter_of_a_function() -> None:
    functions = [f for f in (getattr(commonir, name) for name in dir(commonir)) if inspect.isfunction(f)]
    parameters = {name for f in functions for name in inspect.signature(f).parameters} | {"to"}
    fragments = set(_fragments())
    assert len(fragments) > 30
    for fragment in fragments:
        if (
            "--json" in fragment
            or fragment.startswith(ONLY_COMMANDS)
            or fragment.startswith(("cir doctor", "cir explain", "cir bundle"))
        ):
            continue
        shown = in_python(f"`{fragment}`")
        assert "--" not in shown, fragment
        assert "`cir " not in shown, fragment
        for called in re.findall(r"commonir\.(\w+)", shown):
            assert called == "FUNCTION" or hasattr(commonir, called), fragment
        assert set(re.findall(r"(\w+)=", shown)) <= parameters, fragment
