"""Malformed definitions, and the nearest correct ones, against the verdict of mlir-tblgen."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import pytest

from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.records import Record
from commonir.tablegen import Sources
from commonir.text.loaded_definitions import load_dialects

from tests.tablegen.oracle import llvm_tblgen, mlir_include

_HERE = Path(__file__).parent
_CASE = re.compile(r"^// ([\w-]+)(?:: (.*))?\n", re.MULTILINE)
_GENERATORS = ("op-decls", "op-defs", "typedef-defs", "attrdef-defs", "enum-defs")


class Definition(Record):
    """A definition of a file: the lines that have it, its text, and a part of the message that it must have."""

    first: int
    last: int
    text: str
    message: str


@cache
def _cases(name: str) -> dict[str, Definition]:
    """Returns the definitions of a file after its head, by their names."""
    text = (_HERE / f"{name}.td").read_text()
    marks = list(_CASE.finditer(text, text.index("\n\n", text.index("D_Handle"))))
    ends = [m.start() for m in marks[1:]] + [len(text)]
    return {
        m[1]: Definition(text.count("\n", 0, m.start()) + 1, text.count("\n", 0, end), text[m.end() : end], m[2] or "")
        for m, end in zip(marks, ends, strict=True)
    }


def _head(name: str) -> str:
    text = (_HERE / f"{name}.td").read_text()
    return text[: text.index("\n\n", text.index("D_Handle")) + 1]


@cache
def _faults(name: str) -> tuple[Diagnostic, ...]:
    """Returns all faults of a file, which is loaded once."""
    try:
        load_dialects([_HERE / f"{name}.td"], [str(mlir_include())])
    except DiagnosticError as error:
        return error.diagnostics
    return ()


@pytest.fixture(scope="module")
def faults() -> tuple[Diagnostic, ...]:
    return _faults("refused")


@pytest.mark.parametrize("name", _cases("refused"))
def test_malformed_definition_is_refused_at_its_place(name: str, faults: tuple[Diagnostic, ...]) -> None:
    case = _cases("refused")[name]
    inside = [d for d in faults if d.line is not None and case.first <= d.line <= case.last]
    assert {d.code.id for d in inside} == {"E0264"}
    assert any(case.message in d.message for d in inside), [d.message for d in inside]


def test_no_other_fault_is_found(faults: tuple[Diagnostic, ...]) -> None:
    places = [(case.first, case.last) for case in _cases("refused").values()]
    assert [d for d in faults if not any(first <= (d.line or 0) <= last for first, last in places)] == []


@pytest.mark.slow
def test_correct_definitions_are_accepted() -> None:
    assert _faults("accepted") == ()


@pytest.mark.slow
@pytest.mark.parametrize("name", _cases("refused_here"))
def test_what_only_a_compiler_of_cpp_refuses_is_refused(name: str) -> None:
    case = _cases("refused_here")[name]
    inside = [d.message for d in _faults("refused_here") if case.first <= (d.line or 0) <= case.last]
    assert any(case.message in message for message in inside), inside


@pytest.mark.slow
def test_what_cannot_be_evaluated_is_refused(tmp_path: Path) -> None:
    accepted: list[str] = []
    sources = Sources()
    for name, case in _cases("refused_early").items():
        path = tmp_path / f"{name}.td"
        path.write_text(_head("refused_early") + case.text)
        try:
            load_dialects([path], [str(mlir_include())], sources=sources)
        except DiagnosticError:
            continue
        accepted.append(name)
    assert accepted == []


def _is_accepted(path: Path) -> Iterator[bool]:
    """Yields for each generator whether mlir-tblgen accepts a file."""
    program = Path(llvm_tblgen()).resolve().parent / "mlir-tblgen"
    for each in _GENERATORS:
        command = [str(program), f"--gen-{each}", "-I", str(mlir_include()), str(path), "-o", "/dev/null"]
        yield subprocess.run(command, capture_output=True, check=False).returncode == 0


def _accepted_by_mlir(folder: Path, name: str) -> Iterator[str]:
    """Yields the names of the definitions of a file that mlir-tblgen accepts."""

    def is_accepted(case: Definition) -> bool:
        path = folder / f"{name}_{case.first}.td"
        path.write_text(_head(name) + case.text)
        return all(_is_accepted(path))

    cases = _cases(name)
    with ThreadPoolExecutor(2) as pool:
        verdicts = pool.map(is_accepted, cases.values())
        yield from [each for each, accepted in zip(cases, verdicts, strict=True) if accepted]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["refused", "refused_early"])
def test_mlir_refuses_them_too(tmp_path: Path, name: str) -> None:
    assert list(_accepted_by_mlir(tmp_path, name)) == []


@pytest.mark.slow
def test_mlir_accepts_the_others(tmp_path: Path) -> None:
    assert all(_is_accepted(_HERE / "accepted.td"))
    assert list(_accepted_by_mlir(tmp_path, "refused_here")) == list(_cases("refused_here"))
