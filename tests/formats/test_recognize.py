"""First contact: what a file is by its content, and what to do when it is something else."""

from __future__ import annotations

import io
import os
import shutil
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

import commonir
from commonir.base import codes, file_codes
from commonir.base.diagnostics import Diagnostic, DiagnosticError, ExitStatus
from commonir.formats.content import FileContent, require_content
from commonir.formats.format import Certainty, Format, Formats, Recognition
from commonir.ir.module import Module
from commonir.ods import Dialects

KINDS = (
    "Core ML package",
    "compiled Core ML model",
    "Core ML model file",
    "MIL text",
    "MLIR text",
    "ONNX model",
    "ONNX model in text form",
    "Common IR file",
    "ARK model file",
)


FORMATS = Formats()


def recognize(path: Path) -> str:
    return FORMATS.recognize(path).description


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def field(number: int, content: bytes | int) -> bytes:
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    return varint(number << 3 | 2) + varint(len(content)) + content


# Model: specificationVersion = 1, description = 2, mlProgram = 502 / neuralNetwork = 500.
COREML = field(1, 7) + field(2, b"\x0a\x03abc") + field(502, b"\x08\x01" * 50)
ONNX_TENSOR = numpy_helper.from_array(np.zeros((2, 3))).SerializeToString()
SAFETENSORS = b'\x40\0\0\0\0\0\0\0{"w":{"dtype":"F32"'
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 102400\n"


def onnx_model() -> bytes:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 2])
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [x], [y])
    return helper.make_model(graph).SerializeToString()


def zipped() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("model.mlpackage/Manifest.json", "{}")
    return out.getvalue()


def saved_array() -> bytes:
    out = io.BytesIO()
    np.save(out, np.zeros(3))
    return out.getvalue()


def refusal(path: Path) -> Diagnostic:
    with pytest.raises(DiagnosticError) as caught:
        recognize(path)
    (diagnostic,) = caught.value.diagnostics
    assert len(str(diagnostic).splitlines()) <= 6
    return diagnostic


@pytest.mark.parametrize("damage", [b"\x00", b"\xe4"])
def test_damaged_text_is_named_by_the_place_of_the_damage(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "net"
    path.write_bytes(b"module {\n  func.func @f() {\n    " + damage + b"return\n  }\n}\n")
    assert refusal(path).notes[-1] == "as text, it is damaged at byte 32"


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (onnx_model(), "ONNX model"),
        (COREML, "Core ML model file"),
        (field(1, 4) + field(500, b"\x0a\x01x"), "Core ML model file"),
        (onnx_model() + field(1007, b"of a later version"), "ONNX model"),
        (b"program(1.0)\n[buildInfo = dict<string, string>({})]\n{\n}\n", "MIL text"),
        (b"program (1.3) {}", "MIL text"),
        (b"// a comment\n\nmodule {\n}\n", "MLIR text"),
        (b'"builtin.module"() ({}) : () -> ()', "MLIR text"),
        (b"\xef\xbb\xbfmodule {\n}\n", "MLIR text"),
        (b"#map = affine_map<(d0) -> (d0)>\nmodule {}", "MLIR text"),
    ],
)
def test_kind_follows_from_content_whatever_the_suffix(tmp_path: Path, content: bytes, kind: str) -> None:
    for name in ("model", "model.onnx", "model.mlmodel", "model.txt"):
        (tmp_path / name).write_bytes(content)
        assert recognize(tmp_path / name) == kind


def test_saved_onnx_with_external_data_is_recognized(tmp_path: Path) -> None:
    model = onnx.load_from_string(onnx_model())
    model.graph.initializer.append(numpy_helper.from_array(np.zeros(2000, np.float32), "w"))
    onnx.save(model, str(tmp_path / "m.onnx"), save_as_external_data=True, size_threshold=0)
    assert recognize(tmp_path / "m.onnx") == "ONNX model"


def test_an_empty_file_is_an_empty_module_of_mlir(tmp_path: Path) -> None:
    """As for mlir-opt."""
    (tmp_path / "empty.mlir").write_bytes(b"")
    program = commonir.load(tmp_path / "empty.mlir")
    assert (len(list(program.nested())), commonir.verify(program)) == (0, [])


@pytest.mark.parametrize(
    ("content", "code", "message"),
    [
        (b"", file_codes.EMPTY_FILE, "the file is empty"),
        (POINTER, file_codes.LFS_POINTER, "the file is a Git LFS pointer, not the content"),
        (b"\n<!DOCTYPE HTML><html>", file_codes.WEB_PAGE, "the file is a web page, not a model"),
        (b"<html><head><title>Sign in</title>", file_codes.WEB_PAGE, "the file is a web page, not a model"),
        (zipped(), file_codes.ARCHIVE, "the file is a zip archive"),
        (b"\x1f\x8b\x08\x00rest", file_codes.ARCHIVE, "the file is a gzip archive"),
        (b"\x80\x02}q\x00.", file_codes.UNREAD_FORMAT, "the file is a Python pickle, as older PyTorch writes"),
        (saved_array(), file_codes.UNREAD_FORMAT, "the file is a numpy array, not a model"),
        (SAFETENSORS, file_codes.UNREAD_FORMAT, "the file is a safetensors file: weights without a program"),
        ("module {}".encode("utf-16"), file_codes.UNREAD_FORMAT, "the file is text in UTF-16, as Windows writes it"),
        (
            b"GGUF\x03\0\0\0",
            file_codes.UNREAD_FORMAT,
            "the file is a GGUF file: weights for llama.cpp, without a program",
        ),
        (b'{"ir_version": 1}', file_codes.UNREAD_FORMAT, "the file is a JSON document, not a model"),
        (ONNX_TENSOR, file_codes.UNREAD_FORMAT, "the file is an ONNX tensor, not a model"),
        (b"hello\n", file_codes.UNKNOWN_FORMAT, "the content is not of any format that is read here"),
        (bytes(range(1, 200)), file_codes.UNKNOWN_FORMAT, "the content is not of any format that is read here"),
        (bytes(5000), file_codes.UNKNOWN_FORMAT, "the content is not of any format that is read here"),
    ],
)
def test_what_is_not_a_model_is_named(tmp_path: Path, content: bytes, code: codes.Code, message: str) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(content)
    diagnostic = refusal(path)
    assert (diagnostic.code, diagnostic.message, diagnostic.file) == (code, message, str(path))
    assert diagnostic.help


def test_lfs_pointer_message_in_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m.onnx").write_bytes(POINTER)
    assert str(refusal(Path("m.onnx"))) == (
        "error[E0104]: the file is a Git LFS pointer, not the content\n"
        "  --> m.onnx\n"
        "   = found: a pointer to 102400 bytes\n"
        "   = help: run `git lfs install` and `git lfs pull` in its repository"
    )


def test_title_of_a_web_page_is_shown_harmless(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(b"<html><title>\x1b[31mAccess\n denied</title>")
    assert refusal(path).notes == (r"found: a page titled '\x1b[31maccess denied'",)


@pytest.mark.slow_cases("coreml")
@pytest.mark.parametrize("content", [onnx_model(), COREML], ids=["onnx", "coreml"])
def test_every_truncation_is_refused_and_most_are_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "m"
    named = 0
    for length in range(len(content)):
        path.write_bytes(content[:length])
        try:
            recognize(path)
        except DiagnosticError as error:
            named += error.diagnostics[0].code is file_codes.TRUNCATED_FILE
        else:
            # Cut exactly between two outermost fields, after the program itself: what is left is a whole message.
            assert content.startswith(content[:length])
            assert length > len(content) // 2
    assert named > len(content) // 2


def test_truncated_file_says_how_much_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "m.mlmodel"
    path.write_bytes(COREML[:-30])
    diagnostic = refusal(path)
    assert diagnostic.code is file_codes.TRUNCATED_FILE
    assert diagnostic.message == "the file is an incomplete Core ML model file"
    assert diagnostic.notes == (f"found: {len(COREML) - 30} bytes; the content needs 30 more",)


def test_huge_length_is_not_allocated(tmp_path: Path) -> None:
    path = tmp_path / "m"
    path.write_bytes(field(1, 7) + varint(7 << 3 | 2) + varint(2**62) + b"x")
    assert refusal(path).code is file_codes.TRUNCATED_FILE


@given(st.binary(max_size=300))
def test_any_bytes_give_a_kind_or_a_finding(content: bytes) -> None:
    try:
        content_of_file = FileContent("f", content)
        kind = FORMATS.recognize_content(content_of_file).description
    except DiagnosticError as error:
        assert error.status in (ExitStatus.UNREADABLE, ExitStatus.UNSUPPORTED)
    else:
        assert kind in KINDS


# -- paths


def test_missing_file_names_its_neighbour(tmp_path: Path) -> None:
    (tmp_path / "resnet.onnx").write_bytes(b"")
    diagnostic = refusal(tmp_path / "resnt.onnx")
    assert (diagnostic.code, diagnostic.help) == (file_codes.FILE_NOT_FOUND, "did you mean 'resnet.onnx'?")


def test_missing_folder_is_said_so(tmp_path: Path) -> None:
    assert refusal(tmp_path / "no" / "m.onnx").message == "no such file: its folder does not exist either"


@pytest.mark.skipif(os.name != "posix", reason="needs symbolic links")
def test_dangling_link_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "m.onnx").symlink_to("gone.onnx")
    assert refusal(tmp_path / "m.onnx").message == "the link leads to a file that does not exist"


def test_unreadable_file_gives_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    (tmp_path / "m.onnx").write_bytes(b"x")
    monkeypatch.setattr("builtins.open", denied)
    diagnostic = refusal(tmp_path / "m.onnx")
    assert (diagnostic.code, diagnostic.message) == (
        file_codes.FILE_NOT_ACCESSIBLE,
        "cannot read the file: permission denied",
    )


# -- folders


def make(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"{}")
    folder.mkdir(exist_ok=True)
    return folder


def test_packages_and_bundles_are_recognized_by_what_they_hold(tmp_path: Path) -> None:
    assert recognize(make(tmp_path / "any", "Manifest.json", "Data/m")) == "Core ML package"
    assert recognize(make(tmp_path / "a.mlmodelc", "model.mil", "metadata.json")) == "compiled Core ML model"
    assert recognize(make(tmp_path / "b.mlmodelc", "coremldata.bin")) == "compiled Core ML model"


def test_a_package_that_is_replaced_as_it_is_listed_is_recognized(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = make(tmp_path / "m.mlpackage", "Manifest.json", "Data/m")
    ready = make(tmp_path / "ready.mlpackage", "Manifest.json", "Data/m")
    aside = tmp_path / "aside"
    list_names = os.listdir

    def replaced(folder: str) -> list[str]:
        """Lists the old package after another save has taken its name and emptied it."""
        if not ready.exists():
            return list_names(folder)
        package.rename(aside)
        ready.rename(package)
        shutil.rmtree(aside)
        return []

    monkeypatch.setattr(os, "listdir", replaced)
    assert recognize(package) == "Core ML package"


@pytest.mark.parametrize(
    ("name", "content", "message", "notes", "help"),
    [
        ("m.mlpackage", (), "the folder is empty", (), "fetch the package again, as a whole"),
        (
            "m.mlpackage",
            ("Data/com.apple.CoreML/model.mlmodel",),
            "the folder is not a model package",
            ("found: no 'Manifest.json' in it",),
            "copy the package again, as a whole",
        ),
        (
            "zoo",
            ("a.onnx", "b.onnx", "c.mil", "d.mil", "readme"),
            "the folder is not a model package",
            ("found: 'a.onnx', 'b.onnx', 'c.mil', ...",),
            "pass 'zoo/a.onnx'",
        ),
        (
            "hub",
            ("config.json", "model.safetensors"),
            "the folder is not a model package",
            ("found: a checkpoint of weights with its configuration",),
            "export the model to ONNX or Core ML with the framework it comes from",
        ),
        (
            "m.mlpackage/Data",
            ("com.apple.CoreML/model.mlmodel",),
            "the folder is not a model package",
            (),
            "pass the folder around it, 'm.mlpackage'",
        ),
    ],
)
def test_folder_that_is_not_a_package_gets_advice(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    content: tuple[str, ...],
    message: str,
    notes: tuple[str, ...],
    help: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    if "/" in name:
        Path(name).parent.mkdir()
    diagnostic = refusal(make(Path(name), *content))
    assert diagnostic.code is file_codes.NOT_A_PACKAGE
    assert (diagnostic.message, diagnostic.notes, diagnostic.help) == (message, notes, help)


# -- parts of a model


def test_part_with_content_is_accepted(tmp_path: Path) -> None:
    (tmp_path / "weight.bin").write_bytes(bytes(64))
    require_content(tmp_path / "weight.bin")


@pytest.mark.parametrize(
    ("content", "code"),
    [(b"", file_codes.EMPTY_FILE), (POINTER, file_codes.LFS_POINTER), (None, file_codes.MISSING_PART)],
)
def test_part_without_content_is_refused_with_what_refers_to_it(
    tmp_path: Path, content: bytes | None, code: codes.Code
) -> None:
    path = tmp_path / "weight.bin"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DiagnosticError) as caught:
        require_content(path, where="main.operations[3]")
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.code, diagnostic.where, diagnostic.file) == (code, "main.operations[3]", str(path))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes of POSIX")
@pytest.mark.parametrize("ask", [recognize, require_content])
def test_pipe_is_refused_without_waiting_for_it(tmp_path: Path, ask: Callable[[Path], object]) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(DiagnosticError, match="it is a pipe or a device") as refused:
        ask(path)
    assert refused.value.diagnostics[0].code.id == "E0102"


# -- formats of plugins


class ZippedFormat(Format):
    """A format whose files are archives with a mark of their own."""

    name = "zipped"
    suffixes = (".zipped",)

    def recognize(self, content: FileContent) -> Recognition | None:
        is_own = content.head.startswith(b"PK\x03\x04own")
        return Recognition("zipped program", Certainty.MARK) if is_own else None


def test_a_format_recognizes_its_files_before_archives_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "model"
    path.write_bytes(b"PK\x03\x04own")
    formats = Formats([ZippedFormat()], discover=False)
    assert formats.recognize(path).description == "zipped program"
    path.write_bytes(zipped())
    with pytest.raises(DiagnosticError, match="the file is a zip archive"):
        formats.recognize(path)


class CountingFormat(Format):
    """A format that counts the files it was to recognize."""

    name = "counting"

    def __init__(self) -> None:
        self.count = 0

    def recognize(self, content: FileContent) -> Recognition | None:
        self.count += 1
        return None


@pytest.mark.parametrize("content", [b"unknown", onnx_model()], ids=["unknown", "uncertain"])
def test_a_format_recognizes_each_file_once(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model"
    path.write_bytes(content)
    counting = CountingFormat()
    formats = Formats([counting])
    for attempts in (1, 2):
        with suppress(DiagnosticError):
            formats.recognize(path)
        assert counting.count == attempts


def test_what_a_format_does_not_override_it_refuses(tmp_path: Path) -> None:
    zipped_format = ZippedFormat()
    module = Module()
    assert not zipped_format.is_readable
    assert not zipped_format.is_writable
    assert [d.message for d in zipped_format.check(tmp_path / "m", Dialects())[1]] == [
        "files of format 'zipped' cannot be read"
    ]
    for refused in (
        lambda: zipped_format.write(module, tmp_path / "m"),
        lambda: zipped_format.dumps(module),
        lambda: zipped_format.loads(b"", Dialects()),
        lambda: zipped_format.read_files([tmp_path / "a", tmp_path / "b"], Dialects()),
        lambda: zipped_format.show(module, None),
    ):
        with pytest.raises(DiagnosticError, match="zipped"):
            refused()
