"""Model files in folders: each content once, with the stages that its format has."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

_MLIR_STAGES = ("load", "check", "save", "run")
_CORE_ML_STAGES = ("load", "check", "save", "convert-onnx")

STAGES_OF_SUFFIX: dict[str, tuple[str, ...]] = {
    ".onnx": (
        *("load", "check", "run", "save", "opt", "opt-fast", "opt-fuse", "older", "oldest", "newest"),
        "newest-fuse",
        *("coreml", "coreml-fixed", "stablehlo", "linalg", "ark"),
    ),
    ".onnxtxt": ("load", "check", "run", "save", "opt"),
    ".mlpackage": _CORE_ML_STAGES,
    ".mlmodel": _CORE_ML_STAGES,
    ".mlir": _MLIR_STAGES,
    ".td": ("records",),
}
"""The stages of a file by its suffix, in this order."""


class WildFile(NamedTuple):
    """A model file, and what it is called in the tables: its path below the folder that was given."""

    path: Path
    name: str


class Case(NamedTuple):
    """One stage of one file."""

    file: WildFile
    stage: str


def cases_in(folders: Sequence[Path], stages: Sequence[str], pattern: str = "*") -> list[Case]:
    """The stages of all files whose names match a pattern; no stages means all."""
    return [
        Case(file, stage)
        for file in _files_in(folders)
        if fnmatch(file.name, pattern)
        for stage in STAGES_OF_SUFFIX[file.path.suffix]
        if not stages or stage in stages
    ]


def _files_in(folders: Sequence[Path]) -> Iterator[WildFile]:
    seen: set[bytes] = set()
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix not in STAGES_OF_SUFFIX or any(p.suffix == ".mlpackage" for p in path.parents):
                continue
            if path.is_file():
                digest = hashlib.sha256(path.read_bytes()).digest()
                if digest in seen:
                    continue
                seen.add(digest)
            elif path.suffix != ".mlpackage":
                continue
            yield WildFile(path, path.relative_to(folder).as_posix())
