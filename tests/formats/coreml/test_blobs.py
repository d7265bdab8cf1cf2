"""Weight files: what metadata state is checked before anything is mapped, and reported with its place."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import pytest

from commonir.base.diagnostics import Code, Diagnostic, DiagnosticError
from commonir.base.file_codes import (
    EMPTY_FILE,
    LFS_POINTER,
    MALFORMED_VALUE,
    MALFORMED_WEIGHTS,
    MISSING_PART,
    NEWER_FORMAT,
    PATH_OUTSIDE_MODEL,
)
from commonir.dialects.mil.program import Const
from commonir.formats.coreml.blobs import BLOB_TYPES, WeightFile
from commonir.formats.coreml.read import check, read, read_with_findings
from commonir.formats.coreml.types import DATA_TYPES

from tests.formats.coreml import building as b

KIND = b.tensor(b.FLOAT32, 2, 3)
WHERE = "main.block[CoreML5].operations[0] 'w'.attributes['val']"


def package_with(tmp_path: Path, value: b.Message, weights: bytes | None = b.SIMPLE_WEIGHTS) -> Path:
    body = b.block([b.const("w", value), b.op("softmax", {"x": "x"}, [("y", KIND)])], ["y"])
    return b.save(tmp_path, b.model(b.program({"main": b.function([("x", KIND)], body)})), weights)


def faults_of(tmp_path: Path, value: b.Message, weights: bytes | None = b.SIMPLE_WEIGHTS) -> list[Diagnostic]:
    module, diagnostics = check(package_with(tmp_path, value, weights), b.DIALECTS)
    assert module is not None
    return diagnostics


def metadata(sentinel: int = 0xDEADBEEF, code: int = 2, size: int = 24, offset: int = 128, padding: int = 0) -> bytes:
    return struct.pack("<II56x", 1, 2) + struct.pack("<IIQQQ32x", sentinel, code, size, offset, padding) + bytes(24)


@pytest.mark.parametrize(
    ("offset", "weights", "message"),
    [
        (65, b.SIMPLE_WEIGHTS, "offset 65 is not a multiple of 64"),
        (0, b.SIMPLE_WEIGHTS, "offset 0 leaves no room for metadata in a weight file of 152 bytes"),
        (128, b.SIMPLE_WEIGHTS, "offset 128 leaves no room for metadata in a weight file of 152 bytes"),
        (2**63, b.SIMPLE_WEIGHTS, f"offset {2**63} leaves no room for metadata in a weight file of 152 bytes"),
        (64, metadata(sentinel=0xDEADBEEE), "there is no metadata at offset 64"),
        (64, metadata(code=99), "the metadata at offset 64 has the unknown element type 99"),
        (64, metadata(size=25), "the data of the tensor at offset 64 leave the weight file"),
        (64, metadata(size=2**64 - 1), "the data of the tensor at offset 64 leave the weight file"),
        (64, metadata(offset=2**64 - 1), "the data of the tensor at offset 64 leave the weight file"),
        (64, metadata(offset=0), "the data of the tensor at offset 64 leave the weight file"),
        (64, metadata(code=14), "the tensor at offset 64 holds i32, but tensor<2x3xf32> is declared"),
        (64, metadata(size=20), "the tensor at offset 64 has 20 bytes, but tensor<2x3xf32> takes 24"),
        (64, b"\x01\0\0\0", "a weight file begins with 64 bytes of header, found 4"),
        (64, struct.pack("<II56x", 1, 1), "the weight file has blob storage version 1, expected 2"),
    ],
)
def test_malformed_weights_are_reported_with_their_place(
    tmp_path: Path, offset: int, weights: bytes, message: str
) -> None:
    diagnostics = faults_of(tmp_path, b.blob(KIND, offset), weights)
    assert [(d.code, d.message, d.where) for d in diagnostics] == [(MALFORMED_WEIGHTS, message, WHERE)]


@pytest.mark.parametrize(
    ("weights", "code"),
    [
        (None, MISSING_PART),
        (b"", EMPTY_FILE),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n", LFS_POINTER),
        (struct.pack("<II56x", 1, 3), NEWER_FORMAT),
    ],
)
def test_file_that_holds_no_weights_is_reported(tmp_path: Path, weights: bytes | None, code: object) -> None:
    diagnostics = faults_of(tmp_path, b.blob(KIND, 64), weights)
    assert [(d.code, d.where) for d in diagnostics] == [(code, WHERE)]


@pytest.mark.parametrize(
    "name",
    ["/etc/passwd", "@model_path/../../Manifest.json", "../model.mlmodel", "@model_path", "@model_path/"],
)
def test_weights_outside_of_the_model_are_refused(tmp_path: Path, name: str) -> None:
    diagnostics = faults_of(tmp_path, b.blob(KIND, 64, name))
    assert [(d.code, d.where) for d in diagnostics] == [(PATH_OUTSIDE_MODEL, WHERE)]


def test_link_to_weights_outside_of_the_model_is_refused(tmp_path: Path) -> None:
    package = package_with(tmp_path, b.blob(KIND, 64))
    place = package / "Data" / "com.apple.CoreML" / "weights" / "weight.bin"
    place.rename(tmp_path / "secret")
    place.symlink_to(tmp_path / "secret")
    _, diagnostics = read_with_findings(package, b.DIALECTS)
    assert [d.code for d in diagnostics] == [PATH_OUTSIDE_MODEL]


@pytest.mark.parametrize("inside", [True, False])
def test_weights_with_another_name_outside_of_the_package_are_refused(tmp_path: Path, *, inside: bool) -> None:
    package = package_with(tmp_path, b.blob(KIND, 64))
    place = package / "Data" / "com.apple.CoreML" / "weights" / "weight.bin"
    os.link(place, package / "again" if inside else tmp_path / "secret")
    _, diagnostics = read_with_findings(package, b.DIALECTS)
    assert [d.code for d in diagnostics] == ([] if inside else [PATH_OUTSIDE_MODEL])


@pytest.mark.parametrize(("target", "codes"), [("blobs", []), ("elsewhere", [PATH_OUTSIDE_MODEL])])
def test_weights_in_the_blobs_of_a_hub_are_read(tmp_path: Path, target: str, codes: list[Code]) -> None:
    snapshot = tmp_path / "models--a--b" / "snapshots" / "0123"
    snapshot.mkdir(parents=True)
    package = package_with(snapshot, b.blob(KIND, 64))
    blobs = tmp_path / "models--a--b" / target
    blobs.mkdir()
    for number, place in enumerate([p for p in package.rglob("*") if p.is_file()]):
        place.rename(blobs / str(number))
        place.symlink_to(blobs / str(number))
    assert [d.code for d in read_with_findings(package, b.DIALECTS)[1]] == codes


def test_bare_model_reads_no_weights_above_its_folder(tmp_path: Path) -> None:
    (tmp_path / "weight.bin").write_bytes(b.SIMPLE_WEIGHTS)
    folder = tmp_path / "below"
    folder.mkdir()
    content = b.simple_model()
    operations = content.mlProgram.functions[0].value.block_specializations[0].value.operations
    operations[0].CopyFrom(b.const("w", b.blob(KIND, 64, "@model_path/../weight.bin")))
    (folder / "model.mlmodel").write_bytes(content.SerializeToString())
    _, diagnostics = read_with_findings(folder / "model.mlmodel", b.DIALECTS)
    assert [d.code for d in diagnostics] == [PATH_OUTSIDE_MODEL]


def test_unreadable_file_is_one_fault_for_all_its_constants(tmp_path: Path) -> None:
    constants = [b.const(f"w{n}", b.blob(KIND, 64)) for n in range(5)]
    body = b.block([*constants, b.op("softmax", {"x": "x"}, [("y", KIND)])], ["y"])
    package = b.save(tmp_path, b.model(b.program({"main": b.function([("x", KIND)], body)})), None)
    _, diagnostics = check(package, b.DIALECTS)
    assert [d.code for d in diagnostics] == [MISSING_PART]
    assert "4 more constants refer to it" in diagnostics[0].notes


def test_constant_in_a_weight_file_must_be_a_tensor(tmp_path: Path) -> None:
    value = b.strings_list("a")
    value.blobFileValue.fileName = "@model_path/weights/weight.bin"
    diagnostics = faults_of(tmp_path, value)
    assert MALFORMED_VALUE in [d.code for d in diagnostics]


@pytest.mark.parametrize(
    ("code", "type_code", "count", "data", "padding", "expected"),
    [
        (b.UINT4, 11, 3, b"\x21\x03", 4, (1, 2, 3)),
        (25, 8, 3, b"\xe1\x03", 4, (1, -2, 3)),
        (39, 12, 3, b"\xf5\x01", 7, (5, 6, 7)),
        (b.FLOAT16, 1, 2, b"\x00\x3c\x00\xc0", 0, (1.0, -2.0)),
        (13, 5, 1, b"\x80\x3f", 0, (1.0,)),
        (40, 16, 1, b"\x38", 0, (1.0,)),
    ],
)
def test_tensors_are_unpacked(
    tmp_path: Path, code: int, type_code: int, count: int, data: bytes, padding: int, expected: tuple[float, ...]
) -> None:
    weights = bytearray(b.weight_file((type_code, data)))
    struct.pack_into("<Q", weights, 64 + 24, padding)
    w = read(package_with(tmp_path, b.blob(b.tensor(code, count), 64), bytes(weights)), b.DIALECTS).main.body.first
    assert isinstance(w, Const)
    assert w.val.values() == expected


def test_unused_bits_are_those_of_the_last_byte(tmp_path: Path) -> None:
    weights = bytearray(b.weight_file((11, b"\x21\x03")))
    struct.pack_into("<Q", weights, 64 + 24, 0)
    (diagnostic,) = faults_of(tmp_path, b.blob(b.tensor(b.UINT4, 3), 64), bytes(weights))
    assert diagnostic.message == "the tensor at offset 64 states 0 unused bits, but tensor<3xui4> leaves 4"


def test_words_of_metadata_that_say_nothing_may_hold_anything(tmp_path: Path) -> None:
    """The reserved fields, and for elements of whole bytes the unused bits, which coremltools 7 did not set."""
    weights = bytearray(b.SIMPLE_WEIGHTS)
    struct.pack_into("<Q", weights, 64 + 24, 11751492080)
    weights[64 + 32 : 128] = b"\xaa" * 32
    assert faults_of(tmp_path, b.blob(KIND, 64), bytes(weights)) == []


def test_entries_walk_the_whole_file(tmp_path: Path) -> None:
    place = tmp_path / "weight.bin"
    place.write_bytes(b.weight_file((2, bytes(24)), (3, bytes(65)), (1, bytes(2))))
    file = WeightFile(str(place))
    assert [(e.offset, e.type_code, e.size_bytes, e.data_offset) for e in file.entries()] == [
        (64, 2, 24, 128),
        (192, 3, 65, 256),
        (384, 1, 2, 448),
    ]
    file.close()


def test_walking_a_file_that_announces_too_many_entries_ends(tmp_path: Path) -> None:
    place = tmp_path / "weight.bin"
    place.write_bytes(struct.pack("<II56x", 2**32 - 1, 2) + b.SIMPLE_WEIGHTS[64:])
    file = WeightFile(str(place))
    with pytest.raises(DiagnosticError):
        list(file.entries())
    file.close()


def test_every_element_type_of_weight_files_is_one_of_programs() -> None:
    assert set(BLOB_TYPES.values()) <= set(DATA_TYPES.values())
