"""MLIR's TableGen files: those of an installed LLVM, and the prelude, which means the same."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import commonir as cir
from commonir.tablegen import headers

from tests.tablegen.oracle import llvm_tblgen, mlir_include

SAMPLE = Path(__file__).with_name("prelude.td")
RECORDS = Path(__file__).parents[1] / "ods" / "from_records"
FAULTS = """
func.func @f(%x: tensor<2xf32>, %y: tensor<2xi32>) {
  %a = my.add %x, %x : tensor<2xf32>
  "my.yield"(%a) : (tensor<2xf32>) -> ()
  return
}
"""


def _described(path: Path, include_dir: object) -> list[tuple[str, str, list[str]]]:
    """Returns what operations of a file are with the files of a folder: their pages and C++ that is not understood."""
    dialects = cir.load_dialects([path], [str(include_dir)])
    return [
        (name, str(version.__doc__), [str(each) for each in getattr(version, "unknown", ())])
        for dialect in dialects
        for name, versions in sorted(dialect.operations.items())
        for version in versions
    ]


@pytest.fixture
def no_llvm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hides every installed LLVM."""
    monkeypatch.setattr(headers, "installed_headers", lambda: None)


@pytest.mark.usefixtures("no_llvm")
def test_a_dialect_is_checked_without_llvm() -> None:
    dialects = cir.load_dialects([SAMPLE])
    module = cir.loads(FAULTS, format="mlir", dialects=dialects)
    messages = [found.message for found in cir.verify(module, dialects=dialects)]
    # Both traits of the record are violated.
    assert [message.split(":")[1].strip() for message in messages] == ["Terminator", "HasParent(my.pick)"]


@pytest.mark.parametrize("path", [SAMPLE, RECORDS / "references.td"], ids=lambda path: path.stem)
def test_definitions_are_those_of_the_files_of_mlir(path: Path) -> None:
    assert _described(path, headers.PRELUDE) == _described(path, mlir_include())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sample", "forms"])
def test_definitions_of_large_files_are_those_of_the_files_of_mlir(name: str) -> None:
    path = RECORDS / f"{name}.td"
    assert _described(path, headers.PRELUDE) == _described(path, mlir_include())


@pytest.mark.slow
@pytest.mark.parametrize("generator", ["op-defs", "op-decls", "op-doc", "dialect-defs", "typedef-defs", "enum-defs"])
def test_mlir_tblgen_generates_the_same_with_the_prelude(generator: str) -> None:
    program = Path(llvm_tblgen()).resolve().parent / "mlir-tblgen"

    def generated(include_dir: object) -> list[str]:
        command = [program, f"-gen-{generator}", "-I", str(include_dir), str(SAMPLE)]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()

    words = generated(headers.PRELUDE)
    assert words == generated(mlir_include())
    assert len(words) > 40


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


def test_operations_of_a_named_dialect_are_checked() -> None:
    mlir_include()
    (dialect,) = cir.load_dialects(["ub"])
    assert "ub.poison" in dialect.operations
