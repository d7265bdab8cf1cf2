"""Compares the records of TableGen files with those of llvm-tblgen, which runs for each of them."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from commonir import tablegen
from commonir.base.diagnostics import DiagnosticError

from tests.tablegen.oracle import first_difference, oracle_text


class Outcome(Enum):
    """The result of a comparison."""

    EQUAL = "equal"
    BOTH_REFUSE = "refused by both"
    DIFFERENT = "different"
    REFUSED = "refused here only"
    ACCEPTED = "accepted here only"


class Compared(NamedTuple):
    """The comparison of one file."""

    name: str
    outcome: Outcome
    detail: str
    seconds: float
    oracle_seconds: float


def compare(
    include: Path, name: str, sources: tablegen.Sources | None = None, include_dirs: Sequence[Path] = ()
) -> Compared:
    """Compares one file, named relative to the first folder that it includes from."""
    path = include / name
    folders = [str(folder) for folder in (include, *include_dirs)]
    begin = time.perf_counter()
    theirs = oracle_text(path, [f"-I{folder}" for folder in folders])
    middle = time.perf_counter()
    ours, refusal = None, ""
    try:
        ours = tablegen.json_text(tablegen.records_json(tablegen.load(path, folders, sources=sources))) + "\n"
    except DiagnosticError as error:
        refusal = str(error)
    outcome, detail = _outcome(ours, theirs, refusal)
    return Compared(name, outcome, detail, time.perf_counter() - middle, middle - begin)


def _outcome(ours: str | None, theirs: str | None, refusal: str) -> tuple[Outcome, str]:
    if ours is None or theirs is None:
        if ours is None:
            return (Outcome.BOTH_REFUSE if theirs is None else Outcome.REFUSED), refusal
        return Outcome.ACCEPTED, ""
    if ours == theirs:
        return Outcome.EQUAL, ""
    return Outcome.DIFFERENT, first_difference(json.loads(ours), json.loads(theirs)) or "only in spelling"


def compare_all(include: Path, names: Sequence[str] = ()) -> Iterator[Compared]:
    """Compares all files of a folder, or those that are named."""
    sources = tablegen.Sources()
    for name in names or sorted(str(path.relative_to(include)) for path in include.rglob("*.td")):
        yield compare(include, name, sources)
