"""Diagnostics for a path that holds something other than a model, with advice.

Sources: the magic numbers are those of the formats' own documentation.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from commonir.base import file_codes
from commonir.base.diagnostics import Code, Diagnostic
from commonir.base.suggestions import did_you_mean_file
from commonir.base.text import escape

_LFS_HEAD = b"version https://git-lfs.github.com/spec/"
_PAGE_HEADS = (b"<!doctype html", b"<html", b"<head", b"<?xml", b"<error")
# How many characters must be printable for a file to be taken for a text.
_LEAST_TEXT = 24
_LONGEST_PAGE_HEAD = max(map(len, _PAGE_HEADS))

# (offset, magic, what it is, code, what to do)
_UNPACK = "unpack it, and pass what is in it"
_EXPORT = "export the model to ONNX or Core ML with the framework it comes from"
_FROM_TORCH = "export it from Python: `torch.onnx.export(model, inputs, 'model.onnx')`, or with coremltools"
_FROM_KERAS = "export it from Python: `keras.saving.load_model(FILE).export('model.onnx', format='onnx')`"
_FROM_TFLITE = "`python -m tf2onnx.convert --tflite FILE --output model.onnx` converts it"
_FROM_TENSORFLOW = "`python -m tf2onnx.convert --saved-model FOLDER --output model.onnx` converts it"
_FROM_WEIGHTS = (
    "export the model that they belong to, such as with `optimum-cli export onnx`; "
    "`cir run MODEL @FILE` takes arrays as inputs"
)
_FROM_GGUF = "export the model that it was made from, such as with `optimum-cli export onnx`"
_MAGICS: tuple[tuple[int, bytes, str, Code, str], ...] = (
    (0, b"\xff\xfe", "text in UTF-16, as Windows writes it", file_codes.UNREAD_FORMAT, "save it in UTF-8"),
    (0, b"\xfe\xff", "text in UTF-16", file_codes.UNREAD_FORMAT, "save it in UTF-8"),
    (0, b"PK\x03\x04", "a zip archive", file_codes.ARCHIVE, _UNPACK),
    (0, b"PK\x05\x06", "an empty zip archive", file_codes.ARCHIVE, "fetch it again"),
    (0, b"\x1f\x8b", "a gzip archive", file_codes.ARCHIVE, _UNPACK),
    (0, b"BZh", "a bzip2 archive", file_codes.ARCHIVE, _UNPACK),
    (0, b"\xfd7zXZ\x00", "an xz archive", file_codes.ARCHIVE, _UNPACK),
    (0, b"\x28\xb5\x2f\xfd", "a zstandard archive", file_codes.ARCHIVE, _UNPACK),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive", file_codes.ARCHIVE, _UNPACK),
    (257, b"ustar", "a tar archive", file_codes.ARCHIVE, _UNPACK),
    (0, b"\x89HDF\r\n\x1a\n", "an HDF5 file, as Keras writes", file_codes.UNREAD_FORMAT, _FROM_KERAS),
    (0, b"GGUF", "a GGUF file: weights for llama.cpp, without a program", file_codes.UNREAD_FORMAT, _FROM_GGUF),
    (4, b"TFL3", "a TensorFlow Lite model", file_codes.UNREAD_FORMAT, _FROM_TFLITE),
    (0, b"\x80\x02", "a Python pickle, as older PyTorch writes", file_codes.UNREAD_FORMAT, _FROM_TORCH),
    (0, b"\x80\x04", "a Python pickle", file_codes.UNREAD_FORMAT, _EXPORT),
    (
        0,
        b"\x93NUMPY",
        "a numpy array, not a model",
        file_codes.UNREAD_FORMAT,
        "pass it as an input: `cir run MODEL NAME=@FILE`",
    ),
    (8, b'{"', "a safetensors file: weights without a program", file_codes.UNREAD_FORMAT, _FROM_WEIGHTS),
    (
        0,
        b"ML\xefR",
        "MLIR bytecode",
        file_codes.UNREAD_FORMAT,
        (
            "print it as text with `mlir-opt`, an artifact of StableHLO with `stablehlo-translate --deserialize`; "
            "jax's `exported.mlir_module()` is the text"
        ),
    ),
    (
        0,
        b"ORTM",
        "an ONNX model in onnxruntime's own format",
        file_codes.UNREAD_FORMAT,
        "pass the .onnx file it was made from",
    ),
    (
        4,
        b"ORTM",
        "an ONNX model in onnxruntime's own format",
        file_codes.UNREAD_FORMAT,
        "pass the .onnx file it was made from",
    ),
    (0, b"\x89PNG", "an image", file_codes.UNKNOWN_FORMAT, "pass the model"),
    (0, b"\xff\xd8\xff", "an image", file_codes.UNKNOWN_FORMAT, "pass the model"),
    (0, b"%PDF", "a PDF document", file_codes.UNKNOWN_FORMAT, "pass the model"),
)
_ZIP = b"PK\x03\x04"
# A name near the beginning of a zip archive, what it is, what to do.
_ZIP_CONTENTS: tuple[tuple[bytes, str, str], ...] = (
    (b"/data.pkl", "a PyTorch checkpoint", _FROM_TORCH),
    (b"metadata.json", "a Keras model", _FROM_KERAS),
    (b"model.weights.h5", "a Keras model", _FROM_KERAS),
    (b".npy", "a numpy archive of arrays, not a model", "pass it as inputs: `cir run MODEL @FILE`"),
)
# Suffixes of files whose beginning does not say what they are.
_NAMED_LIKE = {
    (".pt", ".pth", ".ckpt"): ("a PyTorch checkpoint", _FROM_TORCH),
    (".keras", ".h5"): ("a Keras model", _FROM_KERAS),
    (".tflite",): ("a TensorFlow Lite model", _FROM_TFLITE),
    (".pb",): ("a TensorFlow graph", _FROM_TENSORFLOW),
    (".gguf",): ("a GGUF file", _FROM_GGUF),
    (".safetensors",): ("a safetensors file", _FROM_WEIGHTS),
}
_ADDRESS = re.compile(r"(?:https?|s3|gs|hf):/")
_MAGICS_AT = {place: tuple([m for at, m, *_ in _MAGICS if at == place]) for place, *_ in _MAGICS}
_ONNX_TENSOR_FIELDS = {1: 0, 2: 0}


def placeholder(head: bytes, file: str) -> Diagnostic | None:
    """Returns what is wrong with the first bytes of a file that holds no content; None when it looks like content."""
    if not head:
        help = "download or export the model again"
        return Diagnostic(file_codes.EMPTY_FILE, "the file is empty", file=file, help=help)
    if head.startswith(_LFS_HEAD):
        declared_size = next(
            (line[5:].decode("ascii", "replace") for line in head.split(b"\n") if line.startswith(b"size ")), ""
        )
        notes = (f"found: a pointer to {escape(declared_size)} bytes",) if declared_size else ()
        return Diagnostic(
            file_codes.LFS_POINTER,
            "the file is a Git LFS pointer, not the content",
            file=file,
            notes=notes,
            help="run `git lfs install` and `git lfs pull` in its repository",
        )
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if text[:_LONGEST_PAGE_HEAD].lower().startswith(_PAGE_HEADS):
        return Diagnostic(
            file_codes.WEB_PAGE,
            "the file is a web page, not a model",
            file=file,
            notes=_title_of(text.lower()),
            help="open it in a browser to see what the server said, then download the file itself",
        )
    return None


def _title_of(page: bytes) -> tuple[str, ...]:
    _, opened, rest = page.partition(b"<title>")
    title = " ".join(rest.partition(b"</title>")[0].decode("utf-8", "replace").split())
    return (f"found: a page titled '{escape(title[:80])}'",) if opened and title else ()


def other_format(head: bytes, file: str) -> Diagnostic | None:
    """Returns the diagnostic for a file of a well-known format that is not a program."""
    if head.startswith(_ZIP):
        for name, what, help in _ZIP_CONTENTS:
            if name in head:
                return Diagnostic(file_codes.UNREAD_FORMAT, f"the file is {what}", file=file, help=help)
    if any(head.startswith(magics, at) for at, magics in _MAGICS_AT.items()):
        what, code, help = next((w, c, h) for at, magic, w, c, h in _MAGICS if head.startswith(magic, at))
        return Diagnostic(code, f"the file is {what}", file=file, help=help)
    text = head.lstrip()
    if text[:1] in (b"{", b"[") and not text.startswith(b"{-#"):
        return Diagnostic(file_codes.UNREAD_FORMAT, "the file is a JSON document, not a model", file=file, help=_EXPORT)
    return None


def incomplete(description: str, size_bytes: int, missing_bytes: int, file: str) -> Diagnostic:
    """Returns the diagnostic for a file that ends before its content does."""
    return Diagnostic(
        file_codes.TRUNCATED_FILE,
        f"the file is an incomplete {description}",
        file=file,
        notes=(f"found: {size_bytes:,} bytes; the content needs {missing_bytes:,} more",),
        help="fetch it again, and compare its size with the original",
    )


def unknown_content(head: bytes, size_bytes: int, wire_types: dict[int, int] | None, file: str) -> Diagnostic:
    """Returns the diagnostic for a file that no format recognizes; `wire_types` are those of a protobuf message."""
    if wire_types and wire_types.items() >= _ONNX_TENSOR_FIELDS.items():
        message = "the file is an ONNX tensor, not a model"
        return Diagnostic(file_codes.UNREAD_FORMAT, message, file=file, help="pass the .onnx file beside it")
    notes = (f"found: {size_bytes:,} bytes that start with {_start_of(head)}", *_spoiled_text(head))
    for suffixes, (what, help) in _NAMED_LIKE.items():
        if file.lower().endswith(suffixes):
            message = f"the file is named like {what}, which is not read here"
            return Diagnostic(file_codes.UNREAD_FORMAT, message, file=file, notes=notes, help=help)
    return Diagnostic(
        file_codes.UNKNOWN_FORMAT,
        "the content is not of any format that is read here",
        file=file,
        notes=notes,
        help="`cir doctor` lists the formats",
    )


def _spoiled_text(head: bytes) -> Iterator[str]:
    """Yields a note on the first byte that keeps a file from being text, if much text comes before it."""
    # The head may end within a character.
    text = head.decode("utf-8", "replace").rstrip("\ufffd")
    spoiled = next(
        (n for n, char in enumerate(text) if char == "\ufffd" or not (char.isprintable() or char.isspace())), 0
    )
    if spoiled >= _LEAST_TEXT:
        yield f"as text, it is damaged at byte {len(text[:spoiled].encode())}"


def _start_of(head: bytes) -> str:
    text = head[:24].decode("utf-8", "replace")
    if text.replace("\n", " ").isprintable() and "\ufffd" not in text:
        return f"'{escape(text)}'"
    return " ".join(f"{byte:02x}" for byte in head[:8])


def not_a_package(place: Path, names: tuple[str, ...]) -> Diagnostic:
    """Returns the diagnostic for a folder that is not a model; `names` are those of its entries."""
    notes, help = _folder_advice(place, names)
    message = "the folder is empty" if not names else "the folder is not a model package"
    return Diagnostic(file_codes.NOT_A_PACKAGE, message, file=os.fspath(place), notes=notes, help=help)


def _folder_advice(place: Path, names: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    if not names:
        return (), "fetch the package again, as a whole"
    if "saved_model.pb" in names:
        return ("found: a TensorFlow SavedModel",), _FROM_TENSORFLOW
    if any(name.endswith((".safetensors", ".bin")) for name in names) and "config.json" in names:
        return ("found: a checkpoint of weights with its configuration",), _EXPORT
    if place.suffix == ".mlpackage":
        return ("found: no 'Manifest.json' in it",), "copy the package again, as a whole"
    if place.name == "Data":
        return (), f"pass the folder around it, '{escape(os.fspath(place.parent))}'"
    models = [
        name for name in names if name.endswith((".mlpackage", ".onnx", ".mlmodel", ".mlmodelc", ".mil", ".mlir"))
    ]
    if models:
        listed = ", ".join(f"'{escape(name)}'" for name in models[:3]) + (", ..." if len(models) > 3 else "")
        return (f"found: {listed}",), f"pass '{escape(os.fspath(place / models[0]))}'"
    listed = ", ".join(f"'{escape(name)}'" for name in names[:3]) + (", ..." if len(names) > 3 else "")
    return (f"found: {listed}",), "a Core ML package holds a 'Manifest.json' and a folder 'Data'"


def not_found(place: Path) -> Diagnostic:
    """Returns the diagnostic for a path that does not exist."""
    folder = place.parent
    if _ADDRESS.match(os.fspath(place)):
        help = "download it, such as with `curl -LO`, and pass the file"
        return Diagnostic(file_codes.FILE_NOT_FOUND, "models are read from files", file=os.fspath(place), help=help)
    if not folder.is_dir():
        return Diagnostic(
            file_codes.FILE_NOT_FOUND, "no such file: its folder does not exist either", file=os.fspath(place)
        )
    if os.path.lexists(place):
        return Diagnostic(
            file_codes.FILE_NOT_FOUND, "the link leads to a file that does not exist", file=os.fspath(place)
        )
    help = did_you_mean_file(os.fspath(place))
    return Diagnostic(file_codes.FILE_NOT_FOUND, "no such file", file=os.fspath(place), help=help)


def not_accessible(place: Path, error: OSError) -> Diagnostic:
    """Returns the diagnostic for a path that the system refuses to read."""
    reason = (error.strerror or type(error).__name__).lower()
    return Diagnostic(file_codes.FILE_NOT_ACCESSIBLE, f"cannot read the file: {reason}", file=os.fspath(place))
