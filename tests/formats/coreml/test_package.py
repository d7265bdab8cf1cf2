"""Packages: every rule of the manifest, and no file outside of the package is ever read."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.file_codes import (
    DAMAGED_MESSAGE,
    EMPTY_FILE,
    FILE_NOT_FOUND,
    LFS_POINTER,
    LIMIT_EXCEEDED,
    MALFORMED_MANIFEST,
    MISSING_PART,
    NESTING_TOO_DEEP,
    NEWER_FORMAT,
    NO_WEIGHTS_FOLDER,
    NOT_A_PACKAGE,
    PATH_OUTSIDE_MODEL,
    TRUNCATED_FILE,
)
from commonir.base.limits import DEFAULT_LIMITS
from commonir.formats.coreml.read import read, read_with_findings

from tests.command_lines import command_lines
from tests.formats.coreml import building as b

MODELS = Path(__file__).parents[2] / "models"

VERSION_RULE = "'fileFormatVersion' must be a string of three numbers such as '1.0.0', found"


def errors_of(package: Path) -> list[Diagnostic]:
    module, diagnostics = read_with_findings(package, b.DIALECTS)
    assert module is None
    return diagnostics


def with_manifest(tmp_path: Path, **changes: Any) -> Path:
    return b.save(tmp_path, b.simple_model(), stated={**b.manifest(), **changes})


def with_model_path(tmp_path: Path, path: str) -> Path:
    declared = b.manifest()
    declared["itemInfoEntries"][b.MODEL_ITEM]["path"] = path
    return b.save(tmp_path, b.simple_model(), stated=declared)


def test_missing_path_is_reported(tmp_path: Path) -> None:
    assert [d.code for d in errors_of(tmp_path / "nothing")] == [FILE_NOT_FOUND]


def test_folder_without_manifest_is_not_a_package(tmp_path: Path) -> None:
    assert [d.code for d in errors_of(tmp_path)] == [NOT_A_PACKAGE]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"fileFormatVersion": None},
            f"{VERSION_RULE} none",
        ),
        (
            {"fileFormatVersion": 1},
            f"{VERSION_RULE} no string",
        ),
        (
            {"fileFormatVersion": "1.0"},
            f"{VERSION_RULE} '1.0'",
        ),
        (
            {"fileFormatVersion": "1.0.-1"},
            f"{VERSION_RULE} '1.0.-1'",
        ),
        ({"itemInfoEntries": []}, "'itemInfoEntries' must be an object of entries"),
        ({"rootModelIdentifier": 3}, "'rootModelIdentifier' must name an entry of 'itemInfoEntries', found nothing"),
        ({"rootModelIdentifier": "x"}, "'rootModelIdentifier' must name an entry of 'itemInfoEntries', found 'x'"),
    ],
)
def test_malformed_manifests_are_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    assert [(d.code, d.message) for d in errors_of(with_manifest(tmp_path, **changes))] == [
        (MALFORMED_MANIFEST, message)
    ]


@pytest.mark.parametrize("key", ["path", "name", "author", "description"])
def test_every_key_of_an_item_is_required(tmp_path: Path, key: str) -> None:
    declared = b.manifest()
    del declared["itemInfoEntries"][b.WEIGHTS_ITEM][key]
    diagnostics = errors_of(b.save(tmp_path, b.simple_model(), stated=declared))
    assert [(d.code, d.message, d.where) for d in diagnostics] == [
        (MALFORMED_MANIFEST, f"'{key}' must be a string, found none", f"itemInfoEntries['{b.WEIGHTS_ITEM}']")
    ]


def test_all_faults_of_a_manifest_are_reported_at_once(tmp_path: Path) -> None:
    package = with_manifest(tmp_path, fileFormatVersion="x", itemInfoEntries={"a": {"path": 1}})
    assert [d.code for d in errors_of(package)] == [MALFORMED_MANIFEST] * 5


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{", MALFORMED_MANIFEST),
        ("[]", MALFORMED_MANIFEST),
        ('{"fileFormatVersion": "1.0.0", "fileFormatVersion": "1.0.0"}', MALFORMED_MANIFEST),
        ("[" * 100_000, NESTING_TOO_DEEP),
        ("\ufeff{}", MALFORMED_MANIFEST),
        ("1" * 5000, MALFORMED_MANIFEST),
    ],
)
def test_text_that_is_not_a_manifest_is_refused(tmp_path: Path, text: str, code: object) -> None:
    package = b.save(tmp_path, b.simple_model())
    (package / "Manifest.json").write_text(text)
    assert [d.code for d in errors_of(package)] == [code]


def test_manifest_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    package = b.save(tmp_path, b.simple_model())
    (package / "Manifest.json").write_bytes(b"\xff\xfe{}")
    assert [d.code for d in errors_of(package)] == [MALFORMED_MANIFEST]


def test_size_of_a_manifest_is_limited(tmp_path: Path) -> None:
    package = b.save(tmp_path, b.simple_model())
    with pytest.raises(DiagnosticError) as caught:
        read(package, b.DIALECTS, DEFAULT_LIMITS._replace(max_text_bytes=10))
    assert [d.code for d in caught.value.diagnostics] == [LIMIT_EXCEEDED]


@pytest.mark.parametrize("version", ["1.0.1", "1.1.0", "2.0.0"])
def test_newer_package_is_refused(tmp_path: Path, version: str) -> None:
    diagnostics = errors_of(with_manifest(tmp_path, fileFormatVersion=version))
    assert [(d.code, d.message) for d in diagnostics] == [
        (NEWER_FORMAT, f"the package has format version {version}; the newest known is 1.0.0")
    ]


def test_older_package_is_read(tmp_path: Path) -> None:
    assert read(with_manifest(tmp_path, fileFormatVersion="0.9.12"), b.DIALECTS).functions


@pytest.mark.parametrize(
    "path",
    [
        "../Manifest.json",
        "com.apple.CoreML/../../Manifest.json",
        "/etc/passwd",
        "com.apple.CoreML\\..\\..\\x",
        "",
        "com.apple.CoreML/model\0.mlmodel",
    ],
)
def test_item_outside_of_the_package_is_refused(tmp_path: Path, path: str) -> None:
    diagnostics = errors_of(with_model_path(tmp_path, path))
    assert [(d.code, d.where) for d in diagnostics] == [(PATH_OUTSIDE_MODEL, f"itemInfoEntries['{b.MODEL_ITEM}'].path")]


@pytest.mark.parametrize("item", ["model.mlmodel", "weights"])
def test_link_out_of_the_package_is_refused(tmp_path: Path, item: str) -> None:
    package = b.save(tmp_path, b.simple_model())
    place = package / "Data" / "com.apple.CoreML" / item
    outside = tmp_path / "outside"
    place.rename(outside)
    place.symlink_to(outside)
    assert [d.code for d in errors_of(package)] == [PATH_OUTSIDE_MODEL]


def test_manifest_that_is_a_link_out_of_the_package_is_refused(tmp_path: Path) -> None:
    package = b.save(tmp_path, b.simple_model())
    (package / "Manifest.json").rename(tmp_path / "Manifest.json")
    (package / "Manifest.json").symlink_to(tmp_path / "Manifest.json")
    assert [d.code for d in errors_of(package)] == [PATH_OUTSIDE_MODEL]


def test_link_within_the_package_is_followed(tmp_path: Path) -> None:
    package = b.save(tmp_path, b.simple_model())
    place = package / "Data" / "com.apple.CoreML" / "model.mlmodel"
    place.rename(place.with_name("real.mlmodel"))
    place.symlink_to("real.mlmodel")
    assert read(package, b.DIALECTS).functions


def test_package_may_itself_be_a_link(tmp_path: Path) -> None:
    package = b.save(tmp_path, b.simple_model())
    (tmp_path / "link").symlink_to(package)
    assert read(tmp_path / "link", b.DIALECTS).functions


def test_missing_item_is_reported(tmp_path: Path) -> None:
    package = b.save(tmp_path, b.simple_model())
    (package / "Data" / "com.apple.CoreML" / "model.mlmodel").unlink()
    assert [(d.code, d.where) for d in errors_of(package)] == [
        (MISSING_PART, f"itemInfoEntries['{b.MODEL_ITEM}'].path")
    ]


def test_missing_folder_of_weights_is_a_warning(tmp_path: Path) -> None:
    kind = b.tensor(b.FLOAT32, 2)
    body = b.block([b.op("softmax", {"x": "x"}, [("y", kind)])], ["y"])
    package = b.save(tmp_path, b.model(b.program({"main": b.function([("x", kind)], body)})))
    shutil.rmtree(package / "Data" / "com.apple.CoreML" / "weights")
    module, diagnostics = read_with_findings(package, b.DIALECTS)
    assert module is not None
    assert [(d.code, d.is_error) for d in diagnostics] == [(NO_WEIGHTS_FOLDER, False)]


def test_model_must_be_a_file(tmp_path: Path) -> None:
    package = with_model_path(tmp_path, "com.apple.CoreML/weights")
    diagnostics = errors_of(package)
    assert [(d.code, d.message) for d in diagnostics] == [
        (MALFORMED_MANIFEST, "the model must be a file, but 'com.apple.CoreML/weights' is a folder")
    ]


def test_model_is_found_through_the_manifest(tmp_path: Path) -> None:
    package = with_model_path(tmp_path, "com.microsoft.OnnxRuntime/other.bin")
    data = package / "Data"
    (data / "com.microsoft.OnnxRuntime").mkdir()
    (data / "com.apple.CoreML" / "model.mlmodel").rename(data / "com.microsoft.OnnxRuntime" / "other.bin")
    shutil.copytree(data / "com.apple.CoreML" / "weights", data / "com.microsoft.OnnxRuntime" / "weights")
    module, diagnostics = read_with_findings(package, b.DIALECTS)
    assert module is not None
    assert diagnostics == []


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", EMPTY_FILE),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n", LFS_POINTER),
        (b"\xff" * 40, DAMAGED_MESSAGE),
        (b.simple_model().SerializeToString()[:-30], TRUNCATED_FILE),
    ],
)
def test_file_that_is_not_a_model_is_reported(tmp_path: Path, content: bytes, code: object) -> None:
    package = b.save(tmp_path, b.simple_model())
    (package / "Data" / "com.apple.CoreML" / "model.mlmodel").write_bytes(content)
    assert [d.code for d in errors_of(package)] == [code]


def test_info_of_a_package_without_its_weights_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(MODELS / "kinds" / "functions.mlpackage", package := tmp_path / "m.mlpackage")
    for weights in package.rglob("weight.bin"):
        weights.write_bytes(b"version https://git-lfs.github.com/spec/v1\nsize 12\n")
    done = command_lines(capsys)("info", str(package))
    assert "error[E0104]" in done.err
    assert "mil.mul  2" in done.out
    assert done.status == 3


def test_manifest_of_coremltools_is_accepted(tmp_path: Path) -> None:
    package = b.save(tmp_path, b.simple_model())
    assert json.loads((package / "Manifest.json").read_text())["fileFormatVersion"] == "1.0.0"
    assert read_with_findings(package, b.DIALECTS)[1] == []
