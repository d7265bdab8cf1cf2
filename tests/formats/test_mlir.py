"""MLIR text as a format: programs of any dialect are written and read with everything in them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import commonir as cir
from commonir.base.file_codes import LIMIT_EXCEEDED
from commonir.base.limits import DEFAULT_LIMITS
from commonir.dialects import core
from commonir.formats.mlir.format import FORMAT
from commonir.ir.data import data_of
from commonir.ir.equality import are_equal
from commonir.ir.module import Module
from commonir.ir.types import f32, tensor
from commonir.ods import Dialects

from tests.conversions.programs import core_module

_BYTES = b'"a.b"() {a = "\\FF\\FE\\0A"} : () -> ()\n'


def sample() -> Module:
    weights = core.constant(data_of(f32, (3,), (0.0, 1.0, 2.0)))
    return core_module(lambda x: core.add(core.add(x, weights), weights), {"x": tensor(f32, 3)}, ["sum"])


@pytest.mark.parametrize("dialect", ["core", "onnx"])
def test_program_is_equal_after_writing_and_reading(tmp_path: Path, dialect: str) -> None:
    program = sample() if dialect == "core" else cir.convert(sample(), "onnx")
    (entry,) = cir.save(program, tmp_path / "m.mlir")
    again = cir.load(entry.path)
    assert are_equal(again, program)
    assert cir.run(again, {"x": np.ones(3, np.float32)})["sum"].tolist() == [1, 3, 5]


def test_conversion_to_text_keeps_the_dialect() -> None:
    program = cir.convert(sample(), "onnx")
    assert cir.convert(program, "mlir") is program


@pytest.mark.parametrize(
    "content", [b'// stra\xdfe\n"a.b"() {a = "\xff\xfe\\0A"} : () -> ()\n', b"\xef\xbb\xbf" + _BYTES]
)
def test_bytes_that_are_not_utf_8_are_kept_in_strings(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "m.mlir"
    path.write_bytes(content)
    # As mlir-opt prints it, which refuses only the mark at the beginning.
    assert cir.dumps(cir.load(path), format="mlir") == b"module {\n  " + _BYTES + b"}\n\n"


def test_places_that_no_text_states_are_not_written(tmp_path: Path) -> None:
    path = tmp_path / "m.mlir"
    path.write_bytes(_BYTES)
    assert b"loc" not in cir.dumps(cir.load(path), format="mlir")
    path.write_bytes(_BYTES.rstrip() + b' loc("of.py":3:4)')
    assert b'loc("of.py":3:4)' in cir.dumps(cir.load(path), format="mlir")


@pytest.mark.slow
def test_text_beyond_the_limit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.mlir"
    with path.open("wb") as stream:
        stream.truncate(DEFAULT_LIMITS.max_text_bytes + 1)
    module, result = FORMAT.read(path, Dialects())
    assert (module, [d.code for d in result]) == (None, [LIMIT_EXCEEDED])


def test_faults_of_the_operations_are_found_by_a_check(tmp_path: Path) -> None:
    path = tmp_path / "m.mlir"
    path.write_text(
        "module {\n"
        "  ml_program.func @main(%x: tensor<2xf32>) -> (tensor<3xf32>) {\n"
        '    %y = "core.exp"(%x) : (tensor<2xf32>) -> tensor<3xf32>\n'
        "    ml_program.return %y : tensor<3xf32>\n"
        "  }\n"
        "}\n"
    )
    module, diagnostics = cir.check(path)
    assert module is not None
    assert [d.code.id for d in diagnostics] == ["E0506"]


def test_text_of_a_program_is_loaded_and_dumped_without_a_file() -> None:
    text = (
        "module {\n  func.func @main(%arg0: i32) -> i32 {\n    %0 = arith.addi %arg0, %arg0 : i32\n"
        "    return %0 : i32\n  }\n}\n\n"
    )
    assert cir.dumps(cir.loads(text, format="mlir"), format="mlir").decode() == text
    with pytest.raises(cir.DiagnosticError, match="E0240"):
        cir.loads("module {", format="mlir")
