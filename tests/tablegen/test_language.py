"""The TableGen language against llvm-tblgen, case by case: `accepted.td` and `refused.td` hold them.

A case is accepted when the records are equal as JSON, byte for byte; it is refused when both refuse it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from commonir import tablegen
from commonir.base.diagnostics import DiagnosticError

from tests.tablegen.oracle import oracle_text

HERE = Path(__file__).parent


def _cases(name: str) -> list[str]:
    return (HERE / name).read_text().rstrip("\n").split("\n//----\n")


def _file(folder: Path, text: str) -> Path:
    path = folder / "case.td"
    path.write_text(text)
    return path


@pytest.mark.parametrize("text", _cases("accepted.td"), ids=lambda text: text[:40])
def test_records_are_those_of_llvm_tblgen(text: str, tmp_path: Path) -> None:
    path = _file(tmp_path, text)
    expected = oracle_text(path)
    assert expected is not None
    assert tablegen.json_text(tablegen.records_json(tablegen.load(path))) + "\n" == expected


@pytest.mark.parametrize("text", _cases("refused.td"), ids=lambda text: text[:40])
def test_what_llvm_tblgen_refuses_is_refused(text: str, tmp_path: Path) -> None:
    path = _file(tmp_path, text)
    assert oracle_text(path) is None
    with pytest.raises(DiagnosticError):
        tablegen.load(path)


@pytest.mark.parametrize(
    "text",
    [
        'def x { int y = !cond("a": 1); }',
        "def x { int y = !foldl(0, [1], a, a, 1); }",
        "class A : A;",
        'def x { int y = !exists<int>("a"); }',
        "class A<int i> { int e = !head(!tail(!range(i))); } def a : A<1>;",
    ],
)
def test_nonsense_that_llvm_tblgen_lets_pass_or_crashes_on_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(DiagnosticError):
        tablegen.load(_file(tmp_path, text))
