"""MLIR's TableGen files: those of an installed LLVM, else the prelude."""

from __future__ import annotations

from pathlib import Path

import pytest

import commonir as cir
from commonir.tablegen import headers

from tests.tablegen.oracle import mlir_include


@pytest.fixture
def no_llvm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hides every installed LLVM."""
    monkeypatch.setattr(headers, "installed_headers", lambda: None)


def test_folders_with_mlir_are_preferred(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(headers, "installed_headers", lambda: "/installed")
    assert headers.with_headers(["/a"]) == ("/a", "/installed")
    own = tmp_path / "mlir" / "IR" / "OpBase.td"
    own.parent.mkdir(parents=True)
    own.write_text("")
    assert headers.with_headers([str(tmp_path)]) == (str(tmp_path),)
    monkeypatch.setattr(headers, "installed_headers", lambda: None)
    assert headers.with_headers(["/a"]) == ("/a", str(headers.PRELUDE))


def test_dialects_of_mlir_are_found_by_name(tmp_path: Path) -> None:
    own = tmp_path / "mlir" / "Dialect" / "Fancy" / "IR"
    own.mkdir(parents=True)
    (own / "FancyOps.td").write_text('def Fancy_Dialect : Dialect {\n  let name = "fancy_one";\n}\n')
    (tmp_path / "mlir" / "IR").mkdir()
    (tmp_path / "mlir" / "IR" / "OpBase.td").write_text("")
    assert headers.dialect_file("fancy_one", [str(tmp_path)]) == str(own / "FancyOps.td")
    with pytest.raises(cir.DiagnosticError, match="did you mean 'fancy_one'"):
        headers.dialect_file("fancy_on", [str(tmp_path)])


@pytest.mark.usefixtures("no_llvm")
def test_a_dialect_of_mlir_needs_its_files() -> None:
    with pytest.raises(cir.DiagnosticError, match="MLIR's files are not installed"):
        cir.load_dialects(["memref"])


@pytest.mark.usefixtures("no_llvm")
def test_a_file_that_the_prelude_lacks_needs_those_of_mlir(tmp_path: Path) -> None:
    path = tmp_path / "own.td"
    path.write_text('include "mlir/Dialect/Arith/IR/ArithBase.td"\n')
    with pytest.raises(cir.DiagnosticError, match="MLIR's files are not installed: install them"):
        cir.load_dialects([path])


def test_operations_of_a_named_dialect_are_checked() -> None:
    mlir_include()
    (dialect,) = cir.load_dialects(["ub"])
    assert "ub.poison" in dialect.operations
