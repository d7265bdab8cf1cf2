"""Where the files of a Core ML model lie: a package and its manifest, or a bare model file.

Names in a manifest and in a program are never followed out of the package: not by `..`, not by an absolute path, not
through a symbolic link. Of a bare model file, only files in and below its own folder are read. Nothing is written.
Source: coremltools 9, modelpackage.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path

from commonir.base import strict_json
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.base.file_codes import (
    FILE_NOT_ACCESSIBLE,
    FILE_NOT_FOUND,
    LIMIT_EXCEEDED,
    MALFORMED_MANIFEST,
    MISSING_PART,
    NESTING_TOO_DEEP,
    NEWER_FORMAT,
    NO_WEIGHTS_FOLDER,
    NOT_A_PACKAGE,
    PATH_OUTSIDE_MODEL,
)
from commonir.base.files import leftovers_of
from commonir.base.limits import DEFAULT_LIMITS, Limits
from commonir.base.safe_paths import has_name_outside, is_blob_of
from commonir.base.strict_json import JsonDepthError, JsonError
from commonir.base.suggestions import did_you_mean
from commonir.base.text import escape
from commonir.base.tuples import NamedTuple
from commonir.formats.content import require_content

MANIFEST = "Manifest.json"
DATA = "Data"
MODEL_PATH = "@model_path"
NEWEST_FORMAT = (1, 0, 0)

_ITEM_KEYS = ("path", "name", "author", "description")
_WEIGHTS = "weights"


class ModelFiles:
    """The files of one model. `folder` is what `@model_path` stands for; `manifest` is "" for a bare model file."""

    __slots__ = ("folder", "manifest", "model", "path")

    def __init__(self, path: str, model: Path, manifest: str, folder: Path | None = None) -> None:
        self.path = path
        self.model = model
        self.folder = model.parent if folder is None else folder
        self.manifest = manifest

    def weight_file(self, name: str) -> Path:
        """The file that a program refers to by a name such as `@model_path/weights/weight.bin`.

        Raises: PATH_OUTSIDE_MODEL.
        """
        place = _inside(self.folder, relative_path(name), name)
        root = Path(self.path) if self.manifest else self.folder
        if has_name_outside(place, (root, *leftovers_of(root))):
            notes = (f"found: '{escape(name)}' has another name, which may be anywhere",)
            help = "copy the package with `cp -r`, so that its files are its own"
            message = "a file of the model is also a file elsewhere"
            raise DiagnosticError(Diagnostic(PATH_OUTSIDE_MODEL, message, notes=notes, help=help))
        return place


def relative_path(name: str) -> str:
    """Where the file that a program calls by a name lies, from the folder of the model."""
    relative = name.removeprefix(MODEL_PATH)
    return relative.removeprefix("/") if relative != name else name


def open_model(path: str | os.PathLike[str], diagnostics: Diagnostics, limits: Limits) -> ModelFiles:
    """Finds the model file behind a path that a user gave. Warnings go to `found`.

    Raises: FILE_NOT_FOUND, NOT_A_PACKAGE, MALFORMED_MANIFEST, NEWER_FORMAT, PATH_OUTSIDE_MODEL, MISSING_PART, and what
        stands in place of a model (E0103 to E0105).
    """
    location = Path(path)
    if not location.is_dir():
        if not location.exists():
            raise DiagnosticError(Diagnostic(FILE_NOT_FOUND, "no such file", file=os.fspath(path)))
        require_content(location)
        return ModelFiles(os.fspath(path), location, "")
    return _open_package(location, diagnostics, limits)


def _open_package(package: Path, diagnostics: Diagnostics, limits: Limits) -> ModelFiles:
    place = package / MANIFEST
    file = os.fspath(place)
    if not place.is_file():
        message = f"the folder is not a model package: it has no '{MANIFEST}'"
        raise DiagnosticError(Diagnostic(NOT_A_PACKAGE, message, file=os.fspath(package)))
    # A link named `Manifest.json` must not disclose what another file holds.
    _inside(package, MANIFEST, MANIFEST)
    manifest = read_manifest(_read_text(place, limits), file)
    model = _item_places(package, manifest, diagnostics, file)
    require_content(model, where=f"itemInfoEntries['{escape(manifest.root)}'].path")
    # Where the model is a link, the weights lie beside that.
    folder = (
        model.parent
        if model.is_relative_to(os.path.realpath(package))
        else (package / DATA / manifest.model_path).parent
    )
    return ModelFiles(os.fspath(package), model, manifest.text, folder)


class Manifest(NamedTuple):
    """A manifest: its text, its items by identifier, and which of them is the model."""

    text: str
    items: Mapping[str, Mapping[str, str]]
    root: str

    @property
    def model_path(self) -> str:
        """Where the model file lies, from the folder `Data`."""
        return self.items[self.root]["path"]


def read_manifest(text: str, file: str) -> Manifest:
    """Reads the text of a manifest. Where its items lie is not looked at.

    Raises: MALFORMED_MANIFEST, NEWER_FORMAT, NESTING_TOO_DEEP.
    """
    faults = Diagnostics()
    manifest = _parse(text, file)
    _check_version(manifest, file, faults)
    items = _items(manifest, file, faults)
    faults.raise_errors()
    root = manifest.get("rootModelIdentifier")
    if not isinstance(root, str) or root not in items:
        shown = f"'{escape(root)}'" if isinstance(root, str) else "nothing"
        message = f"'rootModelIdentifier' must name an entry of 'itemInfoEntries', found {shown}"
        help = did_you_mean(root, items) if isinstance(root, str) else None
        raise DiagnosticError(Diagnostic(MALFORMED_MANIFEST, message, file=file, help=help))
    return Manifest(text, items, root)


def further_files(package: str, used: Collection[str]) -> dict[str, Path]:
    """The files of a package beside its manifest and those that are used, by their paths below the package.

    Symbolic links that lead out of the package are not among them.
    """
    root = os.path.realpath(package)
    skipped = {os.path.realpath(path) for path in used} | {os.path.realpath(os.path.join(root, MANIFEST))}
    result: dict[str, Path] = {}
    for folder, _, names in os.walk(root):
        for name in names:
            place = Path(os.path.realpath(os.path.join(folder, name)))
            if place.is_file() and place.is_relative_to(root) and os.fspath(place) not in skipped:
                result[Path(folder, name).relative_to(root).as_posix()] = place
    return dict(sorted(result.items()))


def is_inside(relative: str) -> bool:
    """Whether a relative path, as written, stays below the folder that it starts from."""
    is_strange = not relative or "\0" in relative or "\\" in relative or (os.name == "nt" and ":" in relative)
    return not is_strange and not relative.startswith("/") and ".." not in relative.split("/")


def _read_text(place: Path, limits: Limits) -> str:
    file = os.fspath(place)
    try:
        size_bytes = place.stat().st_size
        if size_bytes > limits.max_text_bytes:
            message = f"a manifest of {size_bytes:,} bytes exceeds the limit of {limits.max_text_bytes:,}"
            raise DiagnosticError(Diagnostic(LIMIT_EXCEEDED, message, file=file))
        return place.read_text(encoding="utf-8")
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise DiagnosticError(Diagnostic(FILE_NOT_ACCESSIBLE, f"cannot be read: {reason}", file=file)) from error
    except UnicodeDecodeError as error:
        message = f"the manifest is not UTF-8 text (byte {error.start})"
        raise DiagnosticError(Diagnostic(MALFORMED_MANIFEST, message, file=file)) from None


def _parse(text: str, file: str) -> dict[str, object]:
    try:
        manifest = strict_json.parse(text)
    except JsonDepthError:
        raise DiagnosticError(Diagnostic(NESTING_TOO_DEEP, "the manifest is nested too deeply", file=file)) from None
    except JsonError as error:
        message = f"the manifest is not valid JSON: {error}"
        raise DiagnosticError(Diagnostic(MALFORMED_MANIFEST, message, file=file, line=error.line)) from None
    if not isinstance(manifest, dict):
        raise DiagnosticError(Diagnostic(MALFORMED_MANIFEST, "the manifest must be a JSON object", file=file))
    return {**manifest}


def _check_version(manifest: Mapping[str, object], file: str, faults: Diagnostics) -> None:
    declared = manifest.get("fileFormatVersion")
    parts = declared.split(".") if isinstance(declared, str) else []
    if len(parts) != 3 or not all(part.isascii() and part.isdecimal() and len(part) < 10 for part in parts):
        shown = f"'{escape(declared)}'" if isinstance(declared, str) else "none" if declared is None else "no string"
        message = f"'fileFormatVersion' must be a string of three numbers such as '1.0.0', found {shown}"
        faults.add(MALFORMED_MANIFEST, message, file=file)
        return
    version = tuple(map(int, parts))
    if version > NEWEST_FORMAT:
        newest = ".".join(map(str, NEWEST_FORMAT))
        raise DiagnosticError(
            Diagnostic(
                NEWER_FORMAT, f"the package has format version {declared}; the newest known is {newest}", file=file
            )
        )


def _items(manifest: Mapping[str, object], file: str, faults: Diagnostics) -> dict[str, dict[str, str]]:
    entries = manifest.get("itemInfoEntries")
    out: dict[str, dict[str, str]] = {}
    if not isinstance(entries, dict):
        faults.add(MALFORMED_MANIFEST, "'itemInfoEntries' must be an object of entries", file=file)
        return out
    for identifier, entry in entries.items():  # pyright: ignore[reportUnknownVariableType]  JSON
        where = f"itemInfoEntries['{escape(str(identifier))}']"  # pyright: ignore[reportUnknownArgumentType]
        texts: dict[str, str] = {}
        for key in _ITEM_KEYS:
            value: object = entry.get(key) if isinstance(entry, dict) else None  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
            if isinstance(value, str):
                texts[key] = value
            else:
                message = f"'{key}' must be a string, found {'none' if value is None else 'another value'}"
                faults.add(MALFORMED_MANIFEST, message, where=where, file=file)
        out[str(identifier)] = texts  # pyright: ignore[reportUnknownArgumentType]
    return out


def _item_places(package: Path, manifest: Manifest, diagnostics: Diagnostics, file: str) -> Path:
    """Checks the place of every item and returns that of the model file."""
    root = manifest.root
    faults = Diagnostics()
    data = package / DATA
    model = data
    for identifier, item in manifest.items.items():
        if len(faults) >= DEFAULT_LIMITS.max_diagnostics:
            break
        where = f"itemInfoEntries['{escape(identifier)}'].path"
        path = item["path"]
        try:
            place = _inside(data, path, path)
        except DiagnosticError as error:
            faults.extend(d.located(file=file, where=where) for d in error.diagnostics)
            continue
        if identifier == root:
            model = place
            if place.is_dir():
                message = f"the model must be a file, but '{escape(path)}' is a folder"
                faults.add(MALFORMED_MANIFEST, message, where=where, file=file)
        if place.exists():
            continue
        if identifier != root and place.name == _WEIGHTS:
            message = f"the folder '{escape(path)}' is missing; it is read as an empty folder"
            diagnostics.add(
                NO_WEIGHTS_FOLDER, message, where=where, file=file, help="create it for the sake of other tools"
            )
            continue
        message = f"'{escape(path)}', which the manifest lists, is missing"
        help = "copy the package as a whole, with `cp -r` or as an archive"
        faults.add(MISSING_PART, message, where=where, file=file, help=help)
    faults.raise_errors()
    return model


def _inside(folder: Path, relative: str, declared: str) -> Path:
    """A path below a folder, with symbolic links resolved.

    Raises: PATH_OUTSIDE_MODEL.
    """
    root = Path(os.path.realpath(folder))
    if is_inside(relative):
        place = Path(os.path.realpath(root / relative))
        if (place != root and place.is_relative_to(root)) or is_blob_of(place, root):
            return place
        notes = (f"found: '{escape(declared)}' leads to another folder through a symbolic link",)
        help = "copy the package with `cp -rL`, which replaces links by what they point to"
    else:
        notes = (f"found: '{escape(declared)}'",)
        help = "move the file into the package and save the model with a name relative to it"
    message = "a file name leads out of the folder of the model"
    raise DiagnosticError(Diagnostic(PATH_OUTSIDE_MODEL, message, notes=notes, help=help))
