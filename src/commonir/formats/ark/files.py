"""Finds the files of one ARK program: names have the number of the rank after `rank` or `gpu`.

It reads no more of a file than its beginning.
"""

from __future__ import annotations

import os
import re
from codecs import BOM_UTF8
from collections.abc import Container, Mapping, Sequence
from itertools import islice
from pathlib import Path

from commonir.base.diagnostics import Diagnostic
from commonir.base.file_codes import MISSING_RANK

_NUMBERED = re.compile(r"(?<![A-Za-z])(?:rank|gpu)[_-]?(\d+)(?!.*(?:rank|gpu)[_-]?\d)", re.IGNORECASE)
_WORLD_SIZE = re.compile(rb'"WorldSize"\s*:\s*(\d+)')
SUFFIX = ".ark.json"
_HEAD_BYTES = 1024
_RECOGNIZED_BYTES = 4096
# A model file is an object with these keys, its plans with two of them.
_KEYS = (b'"Rank"', b'"WorldSize"', b'"Nodes"')
_KEYS_ENOUGH = 2
_UNNUMBERED = "*"
_SHOWN = 5


def begins_like_ark(head: bytes) -> bool:
    """Returns whether a JSON document begins with the keys of a model file, of which one may be misspelt."""
    # With a byte order mark it is not JSON, as reading reports.
    text = head.removeprefix(BOM_UTF8).lstrip()
    if not text.startswith(b"{"):
        return False
    outer = text[1:].partition(b"[")[0].partition(b"{")[0]
    return sum(key in outer for key in _KEYS) >= _KEYS_ENOUGH


def is_ark_file(path: Path) -> bool:
    """Returns whether a file begins like a model file."""
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        return begins_like_ark(stream.read(_RECOGNIZED_BYTES))


def siblings(path: Path, rank: int, world_size: int) -> tuple[list[Path], list[Diagnostic]]:
    """The files of all ranks of a program beside that of one of them, and a finding about those that are not there."""
    numbered = _NUMBERED.search(path.name)
    if numbered is None or int(numbered[1]) != rank:
        message = f"the file is one of {world_size} ranks, and the names of the other files do not follow from its name"
        help = "call the files NAME.rank0.json, NAME.rank1.json and so on, and put them into one folder"
        return [path], [Diagnostic(MISSING_RANK, message, file=os.fspath(path), help=help)]
    beside = {**_numbered_siblings(path), rank: path}
    files = [p for n, p in sorted(beside.items()) if n < world_size]
    start, stop = numbered.span(1)
    return files, missing_ranks(path, beside, world_size, f"'{path.name[:start]}{{}}{path.name[stop:]}'")


def _numbered_siblings(path: Path) -> dict[int, Path]:
    """The files of a folder whose names have another number, by that."""
    name = _program_name(path)
    try:
        result = [p for p in path.parent.iterdir() if _program_name(p) == name and p.is_file()]
    except OSError:
        # A folder whose files may be read, and which may not be listed.
        return {}
    return {n: p for p in result if (n := _number_of(p)) is not None}


def missing_ranks(path: Path, there: Container[int], world_size: int, shown: str = "rank {}") -> list[Diagnostic]:
    """Returns a finding about missing ranks; `shown` describes each by its number."""
    absent = list(islice((n for n in range(world_size) if n not in there), _SHOWN + 1))
    if not absent:
        return []
    names = ", ".join([shown.replace("{}", str(n)) for n in absent[:_SHOWN]]) + (
        ", ..." if len(absent) > _SHOWN else ""
    )
    message = f"of {world_size} ranks, not all are there: {names} {'is' if len(absent) == 1 else 'are'} missing"
    return [Diagnostic(MISSING_RANK, message, file=os.fspath(path))]


def numbered(path: Path, numbers: Sequence[int]) -> list[Path]:
    """The files for ranks of these numbers: `NAME.rank0.ark.json` and so on for `NAME.ark.json`, and for that of any of
    them.
    """
    match = _NUMBERED.search(path.name)
    if match is not None and int(match[1]) in numbers:
        start, stop = path.name[: match.start(1)], path.name[match.end(1) :]
        return [path.with_name(f"{start}{number}{stop}") for number in numbers]
    suffix = SUFFIX if path.name.lower().endswith(SUFFIX) else path.suffix
    stem = path.name[: len(path.name) - len(suffix)]
    return [path.with_name(f"{stem}.rank{number}{suffix}") for number in numbers]


def files_of_folder(folder: Path) -> list[Path]:
    """The model files of a folder, by their numbers; other JSON documents are passed over."""
    files = [p for p in folder.glob("*.json") if p.is_file() and (_NUMBERED.search(p.name) or is_ark_file(p))]
    return sorted(files, key=lambda p: (_number_of(p) or 0, p.name))


def _number_of(path: Path) -> int | None:
    match = _NUMBERED.search(path.name)
    return None if match is None else int(match[1])


def by_name(paths: Sequence[Path]) -> Mapping[str, list[Path]]:
    """Files by the names of their programs, `*` where the number of the rank is."""
    groups: dict[str, list[Path]] = {}
    for path in paths:
        groups.setdefault(_program_name(path), []).append(path)
    return groups


def _program_name(path: Path) -> str:
    match = _NUMBERED.search(path.name)
    return path.name if match is None else f"{path.name[: match.start(1)]}*{path.name[match.end(1) :]}"


def programs(paths: Sequence[str | os.PathLike[str]]) -> list[tuple[str, ...]]:
    """Files, those of the ranks of one program together: by their names, or where these have no numbers, all those that
    say that there are several ranks.
    """
    groups: dict[tuple[str, str], list[str]] = {}
    for each in paths:
        path = Path(each)
        name = _program_name(path)
        if name == path.name:
            key = (_UNNUMBERED, "") if _is_of_several(path) else (name, str(path.parent))
        else:
            key = (name, "")
        groups.setdefault(key, []).append(os.fspath(each))
    out: list[tuple[str, ...]] = []
    for (name, _), files in groups.items():
        numbers = [_number_of(Path(file)) for file in files]
        if name == _UNNUMBERED or len(set(numbers)) == len(numbers):
            out.append(tuple(files))
        else:
            # One name in several folders is a program in each of them.
            folders: dict[Path, list[str]] = {}
            for file in files:
                folders.setdefault(Path(file).parent, []).append(file)
            out += [tuple(inner) for inner in folders.values()]
    return out


def _is_of_several(path: Path) -> bool:
    try:
        with path.open("rb") as stream:
            result = _WORLD_SIZE.search(stream.read(_HEAD_BYTES))
    except OSError:
        return False
    return result is not None and int(result[1]) > 1
