"""The surface: what is refused before a room below sees it."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonir import api
from commonir.base.diagnostics import Diagnostic, DiagnosticError

MODELS = Path(__file__).parent / "models"
PACKAGE = MODELS / "resnet_fp32" / "model.mlpackage"


def _refused(path: Path, format: str) -> Diagnostic:
    with pytest.raises(DiagnosticError) as refused:
        api.load(path, format=format)
    (found,) = refused.value.diagnostics
    return found


def test_file_of_another_format_than_the_one_asked_for_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    api.save(api.convert(api.load(PACKAGE, format="coreml"), "onnx"), path)
    found = _refused(path, "coreml")
    assert (found.code.id, found.message) == ("E0112", "the file is not of the format 'coreml'")
    assert found.notes == ("found: ONNX model",)


def test_format_that_is_only_written_is_refused_as_unread(tmp_path: Path) -> None:
    assert _refused(tmp_path / "m.onnx", "onnx").code.id == "E0110"
