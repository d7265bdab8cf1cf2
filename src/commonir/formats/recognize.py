"""What a file is, told from its content: the first thing that happens to a path a user gives.

It returns the kind of something that can be read, and otherwise says what the file is instead and what to do about it.
It reads a few kilobytes and the outermost tags of a protobuf message, whatever the size of the file; it never parses a
program, and the suffix of a name only helps where content cannot tell.

Sources: the magic numbers are those of the formats' own documentation; field numbers of `onnx.ModelProto` from
onnx.proto, of `CoreML.Specification.Model` from Model.proto.
"""

from __future__ import annotations

import mmap
import os
import re
import stat
from pathlib import Path
from typing import BinaryIO

from commonir.base import file_codes
from commonir.base.diagnostics import Code, Diagnostic, DiagnosticError
from commonir.base.suggestions import did_you_mean
from commonir.base.text import escape
from commonir.formats.kinds import FileKind

_HEAD_BYTES = 4096
# More outermost fields than any real model has; a file of garbage ends long before.
_MAX_FIELDS = 100_000
_MAX_VARINT_BYTES = 10


def recognize(path: str | os.PathLike[str]) -> FileKind:
    """Says what can be read at a path.

    Raises: FILE_NOT_FOUND, FILE_NOT_ACCESSIBLE, EMPTY_FILE, LFS_POINTER, WEB_PAGE, ARCHIVE, TRUNCATED_FILE,
        NOT_A_PACKAGE, UNREAD_FORMAT, UNKNOWN_FORMAT.
    """
    file = os.fspath(path)
    try:
        if _is_folder(file):
            return _recognize_folder(Path(path))
        # A buffer would save nothing: all that is read is the head.
        with open(file, "rb", buffering=0) as stream:
            return _recognize_stream(stream, file)
    except FileNotFoundError as error:
        raise DiagnosticError(_not_found(Path(path))) from error
    except OSError as error:
        raise DiagnosticError(_not_accessible(Path(path), error)) from error


def require_content(path: str | os.PathLike[str], *, where: str = "") -> None:
    """Checks that a part of a model holds content and not a stand-in for it; `where` says what refers to it.

    Raises: MISSING_PART, FILE_NOT_ACCESSIBLE, EMPTY_FILE, LFS_POINTER, WEB_PAGE.
    """
    place = Path(path)
    try:
        _is_folder(os.fspath(path))
        with place.open("rb") as stream:
            found = stand_in(stream.read(_HEAD_BYTES), os.fspath(path))
    except FileNotFoundError as error:
        message = f"the file '{escape(place.name)}' is missing"
        help = "copy the model together with its data files, under their original names"
        raise DiagnosticError(
            Diagnostic(file_codes.MISSING_PART, message, where=where, file=os.fspath(path), help=help)
        ) from error
    except DiagnosticError as error:
        raise DiagnosticError(*(d.located(where=where) for d in error.diagnostics)) from None
    except OSError as error:
        raise DiagnosticError(_not_accessible(place, error).located(where=where)) from error
    if found:
        raise DiagnosticError(found.located(where=where))


# -- files


def _is_folder(file: str) -> bool:
    """Whether there is a folder. Refuses pipes and devices before they are opened: reading one may wait forever.

    Raises: FILE_NOT_ACCESSIBLE; OSError as `stat`.
    """
    mode = os.stat(file).st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        message = "cannot read the file: it is a pipe or a device"
        help = "save the model to a file, or pass it on standard input: `-`"
        raise DiagnosticError(Diagnostic(file_codes.FILE_NOT_ACCESSIBLE, message, file=file, help=help))
    return stat.S_ISDIR(mode)


_LFS_HEAD = b"version https://git-lfs.github.com/spec/"
_PAGE_HEADS = (b"<!doctype html", b"<html", b"<head", b"<?xml", b"<error")
_LONGEST_PAGE_HEAD = max(map(len, _PAGE_HEADS))

# (offset, magic, what it is, code, what to do)
_UNPACK = "unpack it, and pass what is in it"
_EXPORT = "export the model to ONNX or Core ML with the framework it comes from"
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
    (0, b"\x89HDF\r\n\x1a\n", "an HDF5 file, as Keras writes", file_codes.UNREAD_FORMAT, _EXPORT),
    (0, b"GGUF", "a GGUF file of weights", file_codes.UNREAD_FORMAT, _EXPORT),
    (4, b"TFL3", "a TensorFlow Lite model", file_codes.UNREAD_FORMAT, _EXPORT),
    (0, b"\x80\x02", "a Python pickle, as older PyTorch writes", file_codes.UNREAD_FORMAT, _EXPORT),
    (0, b"\x80\x04", "a Python pickle", file_codes.UNREAD_FORMAT, _EXPORT),
    (
        0,
        b"\x93NUMPY",
        "a numpy array, not a model",
        file_codes.UNREAD_FORMAT,
        "pass it as an input: `cir run MODEL NAME=@FILE`",
    ),
    (8, b'{"', "a safetensors file: weights without a program", file_codes.UNREAD_FORMAT, _EXPORT),
    (0, b"ML\xefR", "MLIR bytecode", file_codes.UNREAD_FORMAT, "print it as text with `mlir-opt`"),
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
    (0, b"\x89PNG", "a picture", file_codes.UNKNOWN_FORMAT, "pass the model"),
    (0, b"\xff\xd8\xff", "a picture", file_codes.UNKNOWN_FORMAT, "pass the model"),
    (0, b"%PDF", "a PDF document", file_codes.UNKNOWN_FORMAT, "pass the model"),
)
_MAGICS_AT = {place: tuple([m for at, m, *_ in _MAGICS if at == place]) for place, *_ in _MAGICS}
_MLIR_HEADS = ("module", "builtin.module", '"builtin.module"', "func.func", "ml_program.", "#", "!", "{-#", "%", "^")


def _recognize_stream(stream: BinaryIO, file: str) -> FileKind:
    head = stream.read(_HEAD_BYTES)
    while len(head) < _HEAD_BYTES and (more := stream.read(_HEAD_BYTES - len(head))):
        head += more
    found = stand_in(head, file)
    if found is None and (_COMMON_IR_JSON.match(head) or file.lower().endswith(_COMMON_IR_JSON_SUFFIX)):
        return FileKind.COMMON_IR
    if found is None and (_is_ark(head) or file.lower().endswith(_ARK_SUFFIX)):
        return FileKind.ARK
    found = found or _other_format(head, file)
    if found:
        raise DiagnosticError(found)
    kind = _text_kind(head, file)
    if kind:
        return kind
    size_bytes = len(head) if len(head) < _HEAD_BYTES else stream.seek(0, os.SEEK_END)
    content = head if size_bytes == len(head) else mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    fields = _outer_fields(content, 0, size_bytes)
    kind = _common_ir_kind(fields, content, file)
    return kind or _protobuf_kind(fields, size_bytes, head, file)


def stand_in(head: bytes, file: str) -> Diagnostic | None:
    """What stands where a model or its weights should be, by the first bytes; None when it looks like content."""
    if not head:
        return Diagnostic(file_codes.EMPTY_FILE, "the file is empty", file=file, help="fetch or write it again")
    if head.startswith(_LFS_HEAD):
        size = next(
            (line[5:].decode("ascii", "replace") for line in head.split(b"\n") if line.startswith(b"size ")), ""
        )
        notes = (f"found: a pointer to {escape(size)} bytes",) if size else ()
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


def _other_format(head: bytes, file: str) -> Diagnostic | None:
    if any(head.startswith(magics, at) for at, magics in _MAGICS_AT.items()):
        what, code, help = next((w, c, h) for at, magic, w, c, h in _MAGICS if head.startswith(magic, at))
        return Diagnostic(code, f"the file is {what}", file=file, help=help)
    text = head.lstrip()
    if text[:1] in (b"{", b"[") and not text.startswith(b"{-#"):
        return Diagnostic(file_codes.UNREAD_FORMAT, "the file is a JSON document, not a model", file=file, help=_EXPORT)
    return None


def _text_kind(head: bytes, file: str) -> FileKind | None:
    if head[0] in _NO_TEXT:
        return None
    try:
        text = head.decode("utf-8")
    except UnicodeDecodeError as error:
        # The head may end within a character.
        if error.start < len(head) - 3:
            return _kind_of_bytes(head, file)
        text = head[: error.start].decode("utf-8")
    text = text.removeprefix("\ufeff")
    # Names in it may have any characters.
    if _ONNX_TEXT.match(text):
        return FileKind.ONNX_TEXT
    if any(not char.isprintable() and char not in "\t\r\n" for char in text):
        return None
    first = _without_comments(text)
    if first.startswith("program") and first[len("program") :].lstrip().startswith("("):
        return FileKind.MIL_TEXT
    if file.endswith(".onnxtxt"):
        return FileKind.ONNX_TEXT
    if first.startswith(_MLIR_HEADS) or file.endswith(".mlir"):
        return FileKind.MLIR_TEXT
    return None


def _kind_of_bytes(head: bytes, file: str) -> FileKind | None:
    """The kind of a text in another encoding than UTF-8: strings and comments of MLIR may hold any bytes."""
    is_text = not any(byte < ord(" ") and byte not in b"\t\r\n" for byte in head)
    return FileKind.MLIR_TEXT if is_text and file.endswith(".mlir") else None


# Bytes with which no text begins, but most binary models do.
_NO_TEXT = frozenset(range(9))
# A model in text form begins with what it states of itself, after comments.
_ONNX_TEXT = re.compile(r"(?:\s|#[^\n]*\n)*<\s*(?:ir_version|opset_import|producer_name)\s*:")


def _without_comments(text: str) -> str:
    rest = text.lstrip()
    while rest.startswith("//"):
        rest = rest.partition("\n")[2].lstrip()
    return rest


# -- protobuf

# A document of Common IR is an object with one key, the name of a message.
_COMMON_IR_JSON = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"(?:ModelProto|LibraryProto)"\s*:')
_COMMON_IR_JSON_SUFFIX = ".cir.json"
_COMMON_IR_SUFFIX = ".cir"
_ARK_SUFFIX = ".ark.json"
# A model file of ARK is an object with these keys, its plans with two of them.
_ARK_KEYS = (b'"Rank"', b'"WorldSize"', b'"Nodes"')
_ARK_KEYS_ENOUGH = 2


def _is_ark(head: bytes) -> bool:
    """Whether a JSON document begins with the keys of a model file of ARK, of which one may be misspelt."""
    text = head.lstrip()
    if not text.startswith(b"{"):
        return False
    outer = text[1:].partition(b"[")[0].partition(b"{")[0]
    return sum(key in outer for key in _ARK_KEYS) >= _ARK_KEYS_ENOUGH


_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_FIXED_BYTES = {_FIXED64: 8, _FIXED32: 4}
_ONNX_FIELDS = {1: _VARINT, 2: _BYTES, 3: _BYTES, 4: _BYTES, 5: _VARINT, 6: _BYTES, 7: _BYTES, 8: _BYTES, 14: _BYTES}
_ONNX_GRAPH = 7
_ONNX_OPSETS = 8
# Fields that Common IR adds to those of ONNX begin here, in models as in graphs.
_FIRST_OF_COMMON_IR = 50
# A library has a number where a model has its domain; the number is required, or the version of the encoding is there.
_LIBRARY_FIELDS = {1: _VARINT, 7: _BYTES, 8: _BYTES}
_LIBRARY_MARKS = {4: _VARINT, 52: _VARINT}
# The first draft of Common IR: a file is a graph, whose version is field 6.
_FIRST_DRAFT_FIELDS = {
    1: _BYTES,
    2: _BYTES,
    3: _BYTES,
    4: _BYTES,
    5: _BYTES,
    6: _VARINT,
    7: _VARINT,
    8: _BYTES,
    9: _BYTES,
    10: _BYTES,
    11: _BYTES,
    12: _BYTES,
    13: _BYTES,
}
_FIRST_DRAFT_VERSION = 6
_ONNX_TENSOR_FIELDS = {1: _VARINT, 2: _VARINT}
_COREML_FIELDS = {1: _VARINT, 2: _BYTES, 10: _VARINT}
# The numbers of `Model.Type`: what kind of model it is.
_COREML_TYPES = range(200, 3001)


class _OuterFields:
    """The outermost fields of a message: wire type by number, and how the scan ended."""

    __slots__ = ("graph", "is_protobuf", "missing_bytes", "wire_types")

    def __init__(self) -> None:
        # Where the field with the number of the graph of a model lies, if one does.
        self.graph: tuple[int, int] | None = None
        self.wire_types: dict[int, int] = {}
        self.is_protobuf = True
        self.missing_bytes = 0

    def agree_with(self, known: dict[int, int]) -> bool:
        return all(known.get(number, wire) == wire for number, wire in self.wire_types.items())


def _outer_fields(content: bytes | mmap.mmap, start: int, stop: int) -> _OuterFields:
    found = _OuterFields()
    at = start
    for _ in range(_MAX_FIELDS):
        if at == stop:
            return found
        tag, at = _varint(content, at, stop)
        number, wire = (tag >> 3, tag & 7) if tag is not None else (0, 0)
        if number == 0 or found.wire_types.setdefault(number, wire) != wire:
            break
        length = _FIXED_BYTES.get(wire, 0)
        if wire in (_VARINT, _BYTES):
            value, at = _varint(content, at, stop)
            if value is None:
                break
            length = value if wire == _BYTES else 0
        elif not length:
            break
        end = at + length
        if end > stop:
            found.missing_bytes = end - stop
            return found
        if number == _ONNX_GRAPH and wire == _BYTES:
            found.graph = at, end
        at = end
    found.is_protobuf = False
    return found


def _varint(content: bytes | mmap.mmap, at: int, stop: int) -> tuple[int | None, int]:
    """A number, None when there is none, and where it ends."""
    if at < stop and content[at] < 0x80:
        return content[at], at + 1
    value = 0
    for n in range(at, min(at + _MAX_VARINT_BYTES, stop)):
        byte = content[n]
        value |= (byte & 0x7F) << 7 * (n - at)
        if byte < 0x80:
            return value, n + 1
    return None, at


def _common_ir_kind(fields: _OuterFields, content: bytes | mmap.mmap, file: str) -> FileKind | None:
    """The kind of a complete file of Common IR in binary form; None for others."""
    types = fields.wire_types
    if not fields.is_protobuf or fields.missing_bytes:
        return None
    is_library = types.items() >= _LIBRARY_FIELDS.items() and any(types.get(n) == w for n, w in _LIBRARY_MARKS.items())
    is_draft = types.get(1, types.get(2)) == _BYTES and _FIRST_DRAFT_VERSION in types
    is_draft = is_draft and types.items() <= _FIRST_DRAFT_FIELDS.items()
    if is_library or is_draft:
        return FileKind.COMMON_IR
    if fields.graph is None or not fields.agree_with(_ONNX_FIELDS):
        return None
    is_extended = any(_FIRST_OF_COMMON_IR <= n < _COREML_TYPES.start for n in types)
    if not is_extended and _ONNX_OPSETS not in types:
        inner = _outer_fields(content, *fields.graph)
        is_extended = any(n >= _FIRST_OF_COMMON_IR for n in inner.wire_types)
    is_called_so = file.lower().endswith(_COMMON_IR_SUFFIX)
    return FileKind.COMMON_IR if is_extended or is_called_so else None


def _protobuf_kind(fields: _OuterFields, size_bytes: int, head: bytes, file: str) -> FileKind:
    kind = None
    # A model of Core ML has no field with the number of the graph; one of ONNX may have fields nobody knows.
    if _ONNX_GRAPH in fields.wire_types and fields.agree_with(_ONNX_FIELDS):
        kind = FileKind.ONNX
    elif any(number in _COREML_TYPES for number in fields.wire_types) and fields.agree_with(_COREML_FIELDS):
        kind = FileKind.COREML_MODEL
    named = FileKind.COMMON_IR if kind is FileKind.ONNX and file.lower().endswith(_COMMON_IR_SUFFIX) else kind
    if named and fields.missing_bytes:
        raise DiagnosticError(
            Diagnostic(
                file_codes.TRUNCATED_FILE,
                f"the file is an incomplete {named.value}",
                file=file,
                notes=(f"found: {size_bytes:,} bytes; the content needs {fields.missing_bytes:,} more",),
                help="fetch it again, and compare its size with the original",
            )
        )
    if kind and fields.is_protobuf:
        return kind
    if fields.is_protobuf and fields.wire_types and fields.wire_types.items() >= _ONNX_TENSOR_FIELDS.items():
        message = "the file is an ONNX tensor, not a model"
        raise DiagnosticError(
            Diagnostic(file_codes.UNREAD_FORMAT, message, file=file, help="pass the .onnx file beside it")
        )
    raise DiagnosticError(
        Diagnostic(
            file_codes.UNKNOWN_FORMAT,
            "the content is not of any format that is read here",
            file=file,
            notes=(f"found: {size_bytes:,} bytes that start with {_start_of(head)}",),
            help="`cir doctor` lists the formats",
        )
    )


def _start_of(head: bytes) -> str:
    text = head[:24].decode("utf-8", "replace")
    if text.replace("\n", " ").isprintable() and "\ufffd" not in text:
        return f"'{escape(text)}'"
    return " ".join(f"{byte:02x}" for byte in head[:8])


# -- folders


def _recognize_folder(place: Path) -> FileKind:
    names = sorted(path.name for path in place.iterdir())
    if "Manifest.json" in names:
        return FileKind.COREML_PACKAGE
    if "model.mil" in names or "coremldata.bin" in names:
        return FileKind.COREML_BUNDLE
    if _is_ark_folder(place, names):
        return FileKind.ARK
    notes, help = _folder_advice(place, names)
    message = "the folder is empty" if not names else "the folder is not a model package"
    raise DiagnosticError(Diagnostic(file_codes.NOT_A_PACKAGE, message, file=os.fspath(place), notes=notes, help=help))


def _is_ark_folder(place: Path, names: list[str]) -> bool:
    """Whether there is a model file of ARK in a folder: a program is one for each rank."""
    return any(is_ark_file(place / name) for name in names if name.endswith(".json"))


def is_ark_file(path: Path) -> bool:
    """Whether a file begins like a model file of ARK."""
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        return _is_ark(stream.read(_HEAD_BYTES))


def _folder_advice(place: Path, names: list[str]) -> tuple[tuple[str, ...], str]:
    if not names:
        return (), "fetch the package again, as a whole"
    if "saved_model.pb" in names:
        return ("found: a TensorFlow SavedModel",), _EXPORT
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


# -- refusals of the system


def _not_found(place: Path) -> Diagnostic:
    folder = place.parent
    if not folder.is_dir():
        return Diagnostic(
            file_codes.FILE_NOT_FOUND, "no such file: its folder does not exist either", file=os.fspath(place)
        )
    if os.path.lexists(place):
        return Diagnostic(
            file_codes.FILE_NOT_FOUND, "the link leads to a file that does not exist", file=os.fspath(place)
        )
    try:
        help = did_you_mean(place.name, (escape(path.name) for path in folder.iterdir()))
    except OSError:
        help = None
    return Diagnostic(file_codes.FILE_NOT_FOUND, "no such file", file=os.fspath(place), help=help)


def _not_accessible(place: Path, error: OSError) -> Diagnostic:
    reason = (error.strerror or type(error).__name__).lower()
    return Diagnostic(file_codes.FILE_NOT_ACCESSIBLE, f"cannot read the file: {reason}", file=os.fspath(place))
