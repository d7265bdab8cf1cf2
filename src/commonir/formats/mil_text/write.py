"""Writes a module of the mil dialect as MIL text, with weight files beside it.

`m.mil` gets the program, and the description of the model in attributes of ours; the folder `m.weights` gets the weight
files that it refers to, so that texts in one folder do not share files. All files take their places together, the text
last: an old output survives any failure. The manifest and the further files of a package are not part of a program.

Writes what it is given: never converts, never fixes. Source: docs/mil_text.md.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from commonir.base.codes import NOT_IN_FORMAT
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.base.files import atomic_file, atomic_files, made_folders
from commonir.dialects.mil.description import description_of
from commonir.formats.coreml.derived import derived_description
from commonir.formats.coreml.values import Blob, belongs_in_weights
from commonir.formats.mil_text.printer import print_program
from commonir.ir.data import Data, FileData
from commonir.ir.module import Module

if TYPE_CHECKING:
    from commonir.formats.coreml.message_types import BlobFileValueMessage

WEIGHTS_SUFFIX = ".weights"
_FOLDER = "weights"


def write(module: Module, path: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Writes a program and returns the files written.

    Raises: NOT_IN_FORMAT, CANNOT_WRITE, DISK_FULL, OUTPUT_IN_THE_WAY.
    """
    # Loads protobuf, which `import commonir` must not.
    from commonir.formats.coreml.messages import message_class  # noqa: PLC0415
    from commonir.formats.coreml.package import MODEL_PATH, relative_path  # noqa: PLC0415
    from commonir.formats.coreml.weights import plan_weights  # noqa: PLC0415

    if module.modules:
        message = "a pipeline has no form as MIL text: it holds several programs"
        raise DiagnosticError(Diagnostic(NOT_IN_FORMAT, message, help="write a package"))
    version = (description_of(module) or derived_description(module)).specification_version
    reference = message_class("MILSpec.BlobFileValue")
    blobs: dict[int, Blob] = {}
    asked: list[Blob | None] = []

    def collect(data: Data) -> tuple[str, int] | None:
        """Notes the constants in the order of the text, in which they are asked for again."""
        if not belongs_in_weights(data, version):
            asked.append(None)
            return None
        if id(data) not in blobs:
            made: BlobFileValueMessage = reference()  # pyright: ignore[reportAssignmentType]  made at run time
            blobs[id(data)] = Blob(data, made)
        asked.append(blobs[id(data)])
        return "", 0

    found = Diagnostics()
    print_program(module, found=found, keeps_model=True, reference=collect)
    found.raise_errors()
    planned = plan_weights(list(blobs.values()))
    target = Path(path)
    moved = _moved([f.path for f in planned], f"{target.stem}{WEIGHTS_SUFFIX}")
    answers = iter(asked)

    def refer(data: Data) -> tuple[str, int] | None:
        del data  # the next one of those asked for
        blob = next(answers)
        if blob is None:
            return None
        return f"{MODEL_PATH}/{moved[relative_path(blob.reference.fileName)]}", blob.reference.offset

    text = print_program(module, keeps_model=True, reference=refer).encode()
    for blob in blobs.values():
        if isinstance(blob.data, FileData):
            # The output may take the place of a file that is being read.
            blob.data.file.hold()
    if not planned:
        with atomic_file(path) as stream:
            stream.write(text)
        return (target,)
    files = [target.parent / moved[f.path] for f in planned]
    with made_folders(*dict.fromkeys(f.parent for f in files)), atomic_files(*files, target) as streams:
        for plan, stream in zip(planned, streams, strict=False):
            plan.write(stream)
        streams[-1].write(text)
    return (target, *files)


def _moved(paths: Sequence[str], folder: str) -> Mapping[str, str]:
    """The paths of weight files below the folder of an output, whose name already says that they are weights."""
    parts = {path: PurePosixPath(path).parts for path in paths}
    skipped = 1 if all(p[0] == _FOLDER and len(p) > 1 for p in parts.values()) else 0
    return {path: PurePosixPath(folder, *p[skipped:]).as_posix() for path, p in parts.items()}
