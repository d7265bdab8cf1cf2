"""Writes a module of the mil dialect as MIL text, with weight files beside it.

`m.mil` gets the program, and the description of the model in attributes of ours; the folder `m.weights` gets the weight
files that it refers to, so that texts in one folder do not share files. All files take their places together: an old
output survives any failure. The manifest and the further files of a package are not part of a program.

Writes what it is given: never converts, never fixes. Source: docs/mil_text.md.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, BinaryIO

from commonir.base.codes import NOT_IN_FORMAT
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.base.files import atomic_file, created_folders
from commonir.base.linked_files import LinkedFile, named_by_leftovers, replace_together
from commonir.dialects.mil.base import SPECIFICATION_VERSIONS
from commonir.dialects.mil.description import description_of
from commonir.dialects.mil.program import Func
from commonir.formats.coreml.package import MODEL_PATH, relative_path
from commonir.formats.coreml.values import Blob, belongs_in_weights
from commonir.formats.mil_text.printer import print_program
from commonir.ir.data import Data, FileData
from commonir.ir.module import Module

if TYPE_CHECKING:
    from commonir.formats.coreml.messages import BlobFileValueMessage
    from commonir.formats.coreml.weights import PlannedFile

WEIGHTS_SUFFIX = ".weights"
_FOLDER = "weights"


def write(module: Module, path: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Writes a program and returns the files written.

    Raises: NOT_IN_FORMAT, CANNOT_WRITE, DISK_FULL, OUTPUT_IN_THE_WAY.
    """
    if module.modules:
        message = "a pipeline has no form as MIL text: it holds several programs"
        raise DiagnosticError(Diagnostic(NOT_IN_FORMAT, message, help="write a package"))
    # Where the output is a link, the weights lie beside what it leads to.
    target = Path(os.path.realpath(path)) if os.path.islink(path) else Path(path)
    weights = _Weights(module)
    diagnostics = Diagnostics()
    print_program(module, diagnostics=diagnostics, keeps_model=True, reference=weights.collect)
    diagnostics.raise_errors()
    planned = weights.plan(f"{target.stem}{WEIGHTS_SUFFIX}")
    weights.hold()

    def write_text(stream: BinaryIO, places: Sequence[Path] = ()) -> None:
        weights.restart([place.relative_to(target.parent).as_posix() for place in places])
        stream.write(print_program(module, keeps_model=True, reference=weights.refer).encode())

    if not planned:
        with atomic_file(path) as stream:
            write_text(stream)
        return (target,)
    linked = [LinkedFile(target.parent / place, file.write) for place, file in planned.items()]
    with created_folders(*dict.fromkeys([file.path.parent for file in linked])):
        inside = [place for file in linked for place in file.path.parent.iterdir()]
        obsolete = set(named_by_leftovers(target, inside)) - {file.path for file in linked}
        return (target, *replace_together(target, linked, write_text, obsolete))


class _Weights:
    """The constants of a program that belong into weight files.

    The text is printed twice: once to collect them, and again when their places are known. Both times they are asked
    for in the same order.
    """

    __slots__ = ("_answers", "_asked", "_blobs", "_places", "_version")

    def __init__(self, module: Module) -> None:
        self._version = _specification_version(module)
        self._blobs: dict[int, Blob] = {}
        self._asked: list[Blob | None] = []
        self._answers: Iterator[Blob | None] = iter(())
        self._places: Mapping[str, str] = {}

    def collect(self, data: Data) -> tuple[str, int] | None:
        """Notes a constant."""
        # Loads protobuf, which `import commonir` must not.
        from commonir.formats.coreml.messages import message_class  # noqa: PLC0415

        if not belongs_in_weights(data, self._version):
            self._asked.append(None)
            return None
        if id(data) not in self._blobs:
            built: BlobFileValueMessage = message_class("MILSpec.BlobFileValue")()  # pyright: ignore[reportAssignmentType]  made at run time
            self._blobs[id(data)] = Blob(data, built)
        self._asked.append(self._blobs[id(data)])
        return "", 0

    def plan(self, folder: str) -> Mapping[str, PlannedFile]:
        """The files to write, by their paths from the folder of the text."""
        # Loads protobuf, which `import commonir` must not.
        from commonir.formats.coreml.weights import plan_weights  # noqa: PLC0415

        planned = plan_weights(list(self._blobs.values()))
        self._places = _moved([f.path for f in planned], folder)
        return {self._places[f.path]: f for f in planned}

    def restart(self, places: Sequence[str]) -> None:
        """Begins anew to refer to the constants, whose files are at places from the folder of the text."""
        self._answers = iter(self._asked)
        self._places = dict(zip(self._places, places, strict=True))

    def refer(self, data: Data) -> tuple[str, int] | None:
        """How the text refers to the next of the constants."""
        del data  # known by its turn
        blob = next(self._answers)
        if blob is None:
            return None
        return f"{MODEL_PATH}/{self._places[relative_path(blob.reference.fileName)]}", blob.reference.offset

    def hold(self) -> None:
        """Keeps the contents of files whose place the output may take."""
        for blob in self._blobs.values():
            if isinstance(blob.data, FileData):
                blob.data.file.ensure_mapped()


def _specification_version(module: Module) -> int:
    """The version of the model; of a text without description, what its operation sets need."""
    description = description_of(module)
    if description is not None:
        return description.specification_version
    labels = {r.block.label for op in module.body.operations if isinstance(op, Func) for r in op.specializations}
    return max((SPECIFICATION_VERSIONS.get(label, 0) for label in labels), default=0)


def _moved(paths: Sequence[str], folder: str) -> Mapping[str, str]:
    """The paths of weight files below the folder of an output, whose name already says that they are weights."""
    parts = {path: PurePosixPath(path).parts for path in paths}
    bare = {path: p[1:] if len(p) > 1 and _is_weights_folder(p[0]) else p for path, p in parts.items()}
    names = bare if len(set(bare.values())) == len(bare) else parts
    return {path: PurePosixPath(folder, *p).as_posix() for path, p in names.items()}


def _is_weights_folder(name: str) -> bool:
    return name == _FOLDER or name.endswith(WEIGHTS_SUFFIX)
