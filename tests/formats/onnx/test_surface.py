"""ONNX files in the API: opened, described, changed, compared and written by commands and calls."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

import commonir
from commonir.base.diagnostics import DiagnosticError
from commonir.cli.main import main

from tests.formats.onnx import odd_models


def _file(tmp_path: Path, model: onnx.ModelProto) -> str:
    path = tmp_path / "m.onnx"
    path.write_bytes(model.SerializeToString())
    return str(path)


def _done(*arguments: str) -> str:
    """Returns what a command writes to standard output, when it works."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert main(list(arguments)) == 0
    return out.getvalue()


@pytest.mark.parametrize("verb", ["info", "show", "check", "run"])
def test_verbs_open_onnx_files(tmp_path: Path, verb: str) -> None:
    assert _done(verb, _file(tmp_path, odd_models.texts_everywhere()))


def test_info_reports_what_a_model_says_of_itself(tmp_path: Path) -> None:
    reported = _done("info", _file(tmp_path, odd_models.texts_everywhere()))
    for text in ("IR version 10", "p 1", "of all", "license", "ai.onnx 22"):
        assert text in reported


def test_info_shows_the_beginning_of_a_vocabulary_and_json_all_of_it(tmp_path: Path) -> None:
    model = odd_models.texts_everywhere()
    words = "".join(chr(ord("a") + n % 26) for n in range(5000))
    model.metadata_props.add(key="words", value=words)
    path = _file(tmp_path, model)
    assert f"{words[:400]}.. (4600 more characters)" in _done("info", path)
    assert words not in _done("info", path)
    assert words in _done("info", path, "--json")


def test_info_and_show_report_several_devices(tmp_path: Path) -> None:
    path = _file(tmp_path, odd_models.several_devices())
    assert "devices of 'two'" in _done("info", path)
    assert "onnx.device_configurations" in _done("show", path, "--all")


@pytest.mark.parametrize(("option", "count"), [("--external-data", 2), ("--external-data=none", 1)])
def test_weights_are_written_where_they_are_wanted(tmp_path: Path, option: str, count: int) -> None:
    model = odd_models.old_model()
    weight = numpy_helper.from_array(np.ones((1, 600), np.float32), "u")
    model.graph.initializer.append(weight)
    out = tmp_path / "out"
    out.mkdir()
    _done("convert", _file(tmp_path, model), "-o", str(out / "n.onnx"), option)
    assert len(list(out.iterdir())) == count
    again = onnx.load(out / "n.onnx")
    stored = {t.name: numpy_helper.to_array(t) for t in again.graph.initializer}
    np.testing.assert_array_equal(stored["u"], np.ones((1, 600)))


def test_standard_output_takes_the_weights_too(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    model = odd_models.old_model()
    model.graph.initializer.append(numpy_helper.from_array(np.ones((1, 600), np.float32), "u"))
    path = tmp_path / "external.onnx"
    onnx.save(model, path, save_as_external_data=True, size_threshold=0)
    assert main(["edit", str(path), "--meta", "author=Ada", "-o", "-"]) == 0
    written = onnx.load_from_string(capfdbinary.readouterr().out)
    stored = {t.name: numpy_helper.to_array(t) for t in written.graph.initializer}
    np.testing.assert_array_equal(stored["u"], np.ones((1, 600)))


def test_where_weights_lie_is_not_a_choice_of_other_formats(tmp_path: Path) -> None:
    path = _file(tmp_path, odd_models.old_model())
    assert main(["convert", path, "-o", str(tmp_path / "m.mlir"), "--external-data"]) == 6


def test_bytes_are_read_and_given() -> None:
    model = odd_models.old_model()
    module = commonir.loads(model.SerializeToString(), format="onnx")
    assert onnx.ModelProto.FromString(commonir.dumps(module)) == model


def test_bytes_that_are_not_a_model_are_refused() -> None:
    with pytest.raises(DiagnosticError, match="E0107"):
        commonir.loads(b"\xff\xff", format="onnx")


def test_edits_of_an_onnx_file_keep_what_they_do_not_touch(tmp_path: Path) -> None:
    path = _file(tmp_path, odd_models.texts_everywhere())
    out = str(tmp_path / "n.onnx")
    _done("edit", path, "--rename", "x=pixels", "--meta", "author=B", "-o", out)
    again = onnx.load(out)
    assert [i.name for i in again.graph.input] == ["pixels"]
    assert {e.key: e.value for e in again.metadata_props}["author"] == "B"
    assert again.graph.node[0].doc_string == "of the node"
    assert again.doc_string == "of all"


def test_parts_of_an_onnx_file_are_extracted(tmp_path: Path) -> None:
    path = _file(tmp_path, odd_models.old_model())
    out = str(tmp_path / "n.onnx")
    _done("extract", path, "--from", "t", "--to", "y", "-o", out)
    onnx.checker.check_model(out, full_check=True)
    assert [n.op_type for n in onnx.load(out).graph.node] == ["Mul"]


def test_onnx_files_are_compared(tmp_path: Path) -> None:
    path = _file(tmp_path, odd_models.old_model())
    assert _done("compare", path, path)


def test_onnx_files_become_text_and_core_ml(tmp_path: Path) -> None:
    path = _file(tmp_path, odd_models.old_model())
    _done("convert", path, "-o", str(tmp_path / "n.mlir"))
    assert len(commonir.verify(commonir.load(tmp_path / "n.mlir"))) == 0
    _done("convert", path, "-o", str(tmp_path / "n.mlpackage"), "--check")
