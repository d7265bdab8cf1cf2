"""Programs with one fault each, and programs like them that are right: what mlir-opt says of them, and what we say.

A file of `verdicts/` has the programs of a dialect, separated by `// -----`. Each begins with mlir-opt's verdict:

    // right
    // wrong: a rule that it breaks
    // right, refused here: a requirement of ours, which `differences.toml` explains
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from commonir.formats.mlir.checking import check_piece
from commonir.ir.module import Module
from commonir.ods import Dialects
from commonir.text.loaded_definitions import load_dialects
from commonir.text.parser import parse_module
from commonir.text.pieces import Piece, pieces_of
from commonir.text.printer import Naming, print_module

from tests.mlir_programs.comparison import STRICTER
from tests.mlir_programs.oracle import SEPARATOR
from tests.oracles import mlir_opt
from tests.tablegen.oracle import mlir_include

_FOLDER = Path(__file__).parent / "verdicts"
_NAMES = sorted(path.stem for path in _FOLDER.glob("*.mlir"))
_RECORDS = {
    "bufferization": "Bufferization/IR/BufferizationOps.td",
    "memref": "MemRef/IR/MemRefOps.td",
    "quant": "Quant/IR/QuantOps.td",
    "vector": "Vector/IR/VectorOps.td",
}
"""The files of dialects that only records define here."""


def _programs(name: str) -> list[tuple[str, str]]:
    """Returns the first line of each program, and its text."""
    texts = [piece.text.strip("\n") for piece in pieces_of((_FOLDER / f"{name}.mlir").read_text())]
    return [(text.partition("\n")[0].removeprefix("// "), text) for text in texts]


@cache
def _dialects(name: str) -> Dialects:
    folder = mlir_include() if name in _RECORDS else None
    loaded = [] if folder is None else load_dialects([folder / "mlir/Dialect" / _RECORDS[name]], [str(folder)])
    return Dialects(dialects=loaded, allows_unregistered=True)


@pytest.fixture
def dialects(name: str) -> Dialects:
    return _dialects(name)


def _checked(text: str, dialects: Dialects) -> tuple[Module | None, list[str]]:
    program, diagnostics = check_piece(Piece(text, 0), "x.mlir", dialects)
    return program, [d.message for d in diagnostics if d.is_error]


def _printed(program: Module, dialects: Dialects) -> str:
    return print_module(program, naming=Naming.MLIR, elide=None, dialects=dialects)


@pytest.mark.parametrize("name", _NAMES)
def test_verdicts_are_those_of_mlir_opt_and_texts_are_read_back(name: str, dialects: Dialects) -> None:
    for verdict, text in _programs(name):
        program, errors = _checked(text, dialects)
        assert not any("has no custom form" in error for error in errors), text
        if "refused here" in verdict:
            assert any(operation in error for error in errors for operation in STRICTER), text
        else:
            assert (errors == []) is verdict.startswith("right"), (text, errors)
        if not errors and program is not None:
            printed = _printed(program, dialects)
            assert _printed(parse_module(printed, dialects), dialects) == printed


def test_there_are_enough_wrong_programs_and_right_ones_like_them() -> None:
    verdicts = [verdict for name in _NAMES for verdict, _ in _programs(name)]
    assert sum(verdict.startswith("wrong: ") for verdict in verdicts) > 300
    assert sum(verdict.startswith("right") for verdict in verdicts) > 80


@pytest.mark.slow
@pytest.mark.parametrize("name", _NAMES)
def test_mlir_opt_says_what_is_stated(name: str) -> None:
    programs = _programs(name)
    assert _accepted([text for _, text in programs]) == [verdict.startswith("right") for verdict, _ in programs]


def _accepted(texts: Sequence[str]) -> list[bool]:
    """Returns whether mlir-opt accepts each of some programs: it prints those that it accepts."""
    command = [mlir_opt(), "--allow-unregistered-dialect", "--split-input-file"]
    result = subprocess.run(command, input=f"\n{SEPARATOR}\n".join(texts), capture_output=True, text=True, check=False)
    parts = result.stdout.split(f"{SEPARATOR}\n")
    assert len(parts) == len(texts)
    return [bool(part.strip()) for part in parts]
