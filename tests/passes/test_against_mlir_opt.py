"""Passes against mlir-opt: the programs of `mlir/<pass>_<what>.mlir` come out byte for byte as it leaves them.

Where we differ on purpose, `mlir/remaining.toml` says so by the name of the first function, with the reason.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

from commonir.api import optimize
from commonir.ods import Dialects
from commonir.text.parser import parse_module
from commonir.text.printer import Naming, print_module

from tests.dialects.upstream_text import upstream

FOLDER = Path(__file__).parent / "mlir"
SEPARATOR = "// -----\n"
REMAINING: dict[str, dict[str, str]] = tomllib.loads((FOLDER / "remaining.toml").read_text("utf-8"))
DIALECTS = Dialects()


def pieces(path: Path) -> dict[str, str]:
    """The programs of a file by the names of their first functions."""
    return {_name(text): text for text in path.read_text("utf-8").split(SEPARATOR)}


def _name(text: str) -> str:
    match = re.search(r"(?:func|subgraph) (?:public |private |nested )?@(\w+)", text)
    assert match is not None, text
    return match[1]


def pass_of(path: Path) -> str:
    """The pass that a file is for."""
    return path.stem.partition("_")[0]


CASES = [(path.name, name) for path in sorted(FOLDER.glob("*.mlir")) for name in pieces(path)]


@cache
def results(file: str) -> dict[str, str]:
    """Returns what mlir-opt makes of the programs of a file."""
    path = FOLDER / file
    done = upstream(path.read_text("utf-8"), f"--{pass_of(path)}", "--split-input-file", "--allow-unregistered-dialect")
    assert done.returncode == 0, done.stderr
    return dict(zip(pieces(path), done.stdout.split(SEPARATOR), strict=True))


def ours(name: str, text: str) -> str:
    """Returns what our pass makes of a program."""
    return print_module(optimize(parse_module(text, DIALECTS), passes=[name]), elide=None, naming=Naming.MLIR)


@pytest.mark.parametrize(("file", "name"), CASES)
def test_program_comes_out_as_mlir_opt_leaves_it(file: str, name: str) -> None:
    path = FOLDER / file
    expected = results(file)[name].strip("\n")
    result = ours(pass_of(path), pieces(path)[name]).strip("\n")
    if name in REMAINING.get(path.stem, {}):
        assert result != expected, f"{name} of {file} is as mlir-opt leaves it: take it out of remaining.toml"
    else:
        assert result == expected


@pytest.mark.slow_cases("canonicalize")
@pytest.mark.parametrize("name", ["canonicalize", "symbol-dce", "mlprogram-pipeline-globals"])
def test_what_a_pass_leaves_it_leaves_again(name: str) -> None:
    for path in sorted(FOLDER.glob(f"{name}_*.mlir")):
        for text in pieces(path).values():
            once = ours(name, text)
            assert ours(name, once) == once


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.mlir")), ids=lambda path: path.stem)
def test_what_uses_a_value_stands_in_the_program(path: Path) -> None:
    for text in pieces(path).values():
        module = optimize(parse_module(text, DIALECTS), passes=[pass_of(path)])
        inside = set(module.walk())
        for op in inside:
            for value in (
                *op.results,
                *(a for region in op.regions for block in region.blocks for a in block.arguments),
            ):
                assert inside.issuperset(value.users), f"{value} is used by what is nowhere:\n{text}"


def test_reasons_name_programs_that_are_there() -> None:
    for stem, names in REMAINING.items():
        assert names.keys() <= pieces(FOLDER / f"{stem}.mlir").keys()
