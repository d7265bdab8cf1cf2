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


def test_weights_are_listed_with_their_places_largest_first() -> None:
    weights = api.summarize(api.load(PACKAGE), with_weights=True).weights
    assert weights is not None
    sizes = [w.size_bytes for w in weights]
    assert sizes == sorted(sizes, reverse=True)
    first = weights[0]
    assert first.file.endswith("weight.bin")
    assert first.offset is not None
    assert first.type.startswith("tensor<")
    content = Path(first.file).read_bytes()
    # The metadata of a blob lie 64 bytes before its data and say where these are.
    assert int.from_bytes(content[first.offset - 48 : first.offset - 40], "little") == first.offset
