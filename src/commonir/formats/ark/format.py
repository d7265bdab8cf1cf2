"""ARK model files as a format."""

from __future__ import annotations

from pathlib import Path

from commonir.formats.ark.files import SUFFIX, begins_like_ark, is_ark_file
from commonir.formats.content import FileContent
from commonir.formats.format import Certainty, Format, Outline, Recognition, deferred
from commonir.ir.module import Module


class ArkFormat(Format):
    """ARK model files: one for each rank of a program."""

    name = "ark"
    dialect = "ark"
    suffixes = (SUFFIX,)
    shared_suffixes = (".json",)

    read = deferred(Format.read, "commonir.formats.ark.read:read", 2)
    check = deferred(Format.check, "commonir.formats.ark.checking:check", 2)
    read_files = deferred(Format.read_files, "commonir.formats.ark.read:read_files")
    check_files = deferred(Format.check_files, "commonir.formats.ark.checking:check_files")
    verify = deferred(Format.verify, "commonir.formats.ark.checking:verify_program")
    write = deferred(Format.write, "commonir.formats.ark.write:write")
    loads = deferred(Format.loads, "commonir.formats.ark.read:loads")
    dumps = deferred(Format.dumps, "commonir.formats.ark.write:dumps")
    programs = deferred(Format.programs, "commonir.formats.ark.files:programs")

    def recognize(self, content: FileContent) -> Recognition | None:
        if content.entries is not None:
            folder = Path(content.path)
            is_own = any(is_ark_file(folder / name) for name in content.entries if name.endswith(".json"))
        else:
            is_own = begins_like_ark(content.head) or content.name.lower().endswith(SUFFIX)
        return Recognition("ARK model file", Certainty.MARK) if is_own else None

    def outline(self, module: Module) -> Outline:
        """Returns the generation of the files."""
        from commonir.formats.ark.write import ranks_of  # noqa: PLC0415  as above

        ranks = ranks_of(module)
        generation = " ".join(dict.fromkeys([rank.generation for rank in ranks if rank.generation]))
        return Outline(title=f"ARK model {generation}".rstrip())


FORMAT = ArkFormat()
