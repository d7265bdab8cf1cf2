"""ARK model files as a format."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from commonir.base.diagnostics import Diagnostic
from commonir.formats.ark.files import SUFFIX, begins_like_ark, is_ark_file, programs
from commonir.formats.content import FileContent
from commonir.formats.format import (
    DEFAULT_READ_OPTIONS,
    DEFAULT_WRITE_OPTIONS,
    Certainty,
    Format,
    Opened,
    Outline,
    ReadOptions,
    Recognition,
    WriteOptions,
)
from commonir.ir.module import Module
from commonir.ods import Dialects

# Finding the format of another file asks this module, which must not load the dialect for it.


class ArkFormat(Format):
    """ARK model files: one for each rank of a program."""

    name = "ark"
    dialect = "ark"
    suffixes = (SUFFIX,)

    def recognize(self, content: FileContent) -> Recognition | None:
        if content.entries is not None:
            folder = Path(content.path)
            is_own = any(is_ark_file(folder / name) for name in content.entries if name.endswith(".json"))
        else:
            is_own = begins_like_ark(content.head) or content.name.lower().endswith(SUFFIX)
        return Recognition("ARK model file", Certainty.MARK) if is_own else None

    def read(
        self, path: str | os.PathLike[str], dialects: Dialects, options: ReadOptions = DEFAULT_READ_OPTIONS
    ) -> Opened:
        from commonir.formats.ark.read import read  # noqa: PLC0415  as above

        return read(path, dialects)

    def check(
        self, path: str | os.PathLike[str], dialects: Dialects, options: ReadOptions = DEFAULT_READ_OPTIONS
    ) -> Opened:
        from commonir.formats.ark.checking import check  # noqa: PLC0415  as above

        return check(path, dialects)

    def read_files(self, paths: Sequence[str | os.PathLike[str]], dialects: Dialects) -> Opened:
        from commonir.formats.ark.read import read_files  # noqa: PLC0415  as above

        return read_files(paths, dialects)

    def check_files(self, paths: Sequence[str | os.PathLike[str]], dialects: Dialects) -> Opened:
        from commonir.formats.ark.checking import check_files  # noqa: PLC0415  as above

        return check_files(paths, dialects)

    def programs(self, paths: Sequence[str | os.PathLike[str]]) -> list[tuple[str, ...]]:
        return programs(paths)

    def verify(self, module: Module) -> list[Diagnostic]:
        from commonir.formats.ark.checking import verify_program  # noqa: PLC0415  as above

        return verify_program(module)

    def write(
        self, module: Module, path: str | os.PathLike[str], options: WriteOptions = DEFAULT_WRITE_OPTIONS
    ) -> tuple[Path, ...]:
        from commonir.formats.ark.write import write  # noqa: PLC0415  as above

        return write(module, path)

    def loads(self, content: bytes, dialects: Dialects) -> Opened:
        from commonir.formats.ark.read import loads  # noqa: PLC0415  as above

        return loads(content, dialects)

    def dumps(self, module: Module) -> bytes:
        from commonir.formats.ark.write import dumps  # noqa: PLC0415  as above

        return dumps(module)

    def outline(self, module: Module) -> Outline:
        """Returns the generation of the files."""
        from commonir.formats.ark.write import ranks_of  # noqa: PLC0415  as above

        ranks = ranks_of(module)
        generation = " ".join(dict.fromkeys([rank.generation for rank in ranks if rank.generation]))
        return Outline(title=f"ARK model {generation}".rstrip())


FORMAT = ArkFormat()
