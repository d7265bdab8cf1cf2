"""The cases of the statements of the Common IR, each in `cir.check`, and run where it states inputs.

A file is `m.cir.json`, whose text may be `verbatim`, or `m.cir` with `binary` replacements. A case may state further
files of its folder by name, such as libraries, each as the name of a base or as a text. A case that obeys a statement
has no finding; the outputs of a run are those that it states. What breaks a statement has the finding that it states,
when it is checked or, with inputs, when it runs.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import commonir as cir
from commonir.base.diagnostics import DiagnosticError

from tests.specifications import statements
from tests.specifications.common_ir_files import document

DOCUMENT = statements.read("common_ir")


def findings(case: statements.Case, folder: Path) -> tuple[list[str], dict[str, Any]]:
    """Returns the errors and warnings of a case, each as its code and message, and the outputs of its run."""
    for name, text in _texts(case, "files").items():
        (folder / name).write_text(document(DOCUMENT.bases.get(text, text)))
    path = folder / "m.cir.json"
    path.write_text(case.text if case.other.get("verbatim") else document(case.text))
    path = _binary(case, path)
    found = [f"{d.code.id}: {d.message}" for d in cir.check(path)[1]]
    if found or "inputs" not in case.other:
        return found, {}
    try:
        outputs = cir.run(cir.load(path), {name: _array(v) for name, v in _arrays(case, "inputs").items()})
    except DiagnosticError as error:
        return [f"{d.code.id}: {d.message}" for d in error.diagnostics], {}
    return [], dict(outputs)


def _binary(case: statements.Case, path: Path) -> Path:
    """Returns the binary form of a file, in which a case replaces some texts by bytes, as Latin-1 has them."""
    if "binary" not in case.other:
        return path
    cir.save(cir.load(path), path.with_name("m.cir"))
    content = path.with_name("m.cir").read_bytes()
    for old, new in _texts(case, "binary").items():
        assert old.encode() in content
        content = content.replace(old.encode(), new.encode("latin-1"))
    path.with_name("m.cir").write_bytes(content)
    return path.with_name("m.cir")


def _texts(case: statements.Case, key: str) -> dict[str, str]:
    table = case.other.get(key, {})
    assert isinstance(table, dict)
    return table


def _arrays(case: statements.Case, key: str) -> dict[str, Any]:
    table = case.other.get(key, {})
    assert isinstance(table, dict)
    return table


def _array(value: Any) -> Any:
    """Returns an input: numbers are float32 or int64, `{zeros = [2, 3]}` has that shape, `{int8 = [1]}` that type.

    A complex number is a pair of its parts.
    """
    match value:
        case {"zeros": shape}:
            return np.zeros(shape, np.float32)
        case {"complex64": parts} | {"complex128": parts}:
            return (np.array(parts) @ [1, 1j]).astype(next(iter(value)))
        case dict():
            ((dtype, values),) = value.items()
            return np.array(values, dtype)
        case _:
            pass
    array = np.array(value)
    return array.astype(np.float32) if array.dtype == np.float64 else array


@pytest.mark.parametrize(("name", "case"), [pytest.param(n, c, id=n) for n, c in DOCUMENT.cases("obeys")])
def test_what_obeys_a_statement_has_no_findings(name: str, case: statements.Case, tmp_path: Path) -> None:
    found, outputs = findings(case, tmp_path)
    assert found == []
    for output, expected in _arrays(case, "outputs").items():
        np.testing.assert_array_equal(outputs[output], _array(expected))


@pytest.mark.parametrize(("name", "case"), [pytest.param(n, c, id=n) for n, c in DOCUMENT.cases("breaks")])
def test_what_breaks_a_statement_has_the_finding(name: str, case: statements.Case, tmp_path: Path) -> None:
    found, _ = findings(case, tmp_path)
    assert any(case.message in f for f in found), found


OBEYS = list(DOCUMENT.cases("obeys"))


@pytest.mark.slow_cases(*[name for name, _ in OBEYS[4:]])
@pytest.mark.parametrize(("name", "case"), [pytest.param(n, c, id=n) for n, c in OBEYS])
def test_what_obeys_is_written_as_it_was_read(name: str, case: statements.Case, tmp_path: Path) -> None:
    """Also by way of the binary form and of text. What is normalized: argument counts, the version of extensions.

    A case states as `renamed` the names that text changes, because they stand beside equal ones.
    """
    findings(case, tmp_path)
    path, again = tmp_path / "m.cir.json", tmp_path / "again.cir.json"
    expected = _normalized(json.loads(path.read_text()))
    for suffix in (".cir", ".mlir"):
        cir.save(cir.load(path), tmp_path / f"between{suffix}")
        cir.save(cir.load(tmp_path / f"between{suffix}"), again)
        content = again.read_text()
        for changed, stated in _texts(case, "renamed").items() if suffix == ".mlir" else ():
            assert f'"{changed}"' in content
            content = content.replace(f'"{changed}"', f'"{stated}"')
        assert _normalized(json.loads(content)) == expected


def _normalized(content: Any) -> Any:
    if isinstance(content, dict):
        normal = ("common_ir_version", "input_arg_count")
        return {k: _normalized(v) for k, v in content.items() if v != [] and k not in normal}
    return [_normalized(v) for v in content] if isinstance(content, list) else content


MODELS = [(n, c) for n, c in DOCUMENT.cases("obeys") if c.text.lstrip().startswith('{"ModelProto"')]


@pytest.mark.slow_cases(*[name for name, _ in MODELS[3:]])
@pytest.mark.parametrize(("name", "case"), [pytest.param(n, c, id=n) for n, c in MODELS])
def test_the_onnx_model_of_what_obeys_passes_the_full_check(name: str, case: statements.Case, tmp_path: Path) -> None:
    findings(case, tmp_path)
    try:
        model = cir.convert(cir.load(tmp_path / "m.cir.json"), "onnx")
    except DiagnosticError as error:
        # An operator that is only declared has no meaning, and ONNX lacks some types.
        assert {d.code.id for d in error.diagnostics} <= {"E0512", "E0601"}
        return
    cir.save(model, tmp_path / "m.onnx")
    stated = onnx.load(tmp_path / "m.onnx").graph
    for v in (*stated.input, *stated.output):
        # The check demands a shape of every tensor, so any rank cannot be expressed; onnxruntime runs it.
        if v.type.HasField("tensor_type") and not v.type.tensor_type.HasField("shape"):
            return
    onnx.checker.check_model(str(tmp_path / "m.onnx"), full_check=True)


CONTRADICTIONS = [
    (name, case)
    for name, case in DOCUMENT.cases("breaks")
    if name.startswith("declared-results-") and "E0506" in case.message and '"ModelProto"' in case.text
]


@pytest.mark.parametrize(("name", "case"), [pytest.param(n, c, id=n) for n, c in CONTRADICTIONS])
def test_what_contradicts_its_declaration_is_not_converted(name: str, case: statements.Case, tmp_path: Path) -> None:
    findings(case, tmp_path)
    with pytest.raises(DiagnosticError) as raised:
        cir.convert(cir.load(tmp_path / "m.cir.json"), "onnx")
    assert "E0506" in {d.code.id for d in raised.value.diagnostics}
