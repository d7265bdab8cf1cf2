"""The programs of a folder's files, as other projects write them, against mlir-opt: those of our dialects."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.mlir_programs import comparison, oracle, programs
from tests.mlir_programs.comparison import FORMS

_LARGEST_CHARACTERS = 300_000
_SEPARATOR = re.compile(r"^// ?-----.*$", re.MULTILINE)
_DIALECT = re.compile(r'^\s*(?:%\S+(?::\d+)? = )?"(\w+)\.[\w.-]+"\(', re.MULTILINE)
_OURS = frozenset({*programs.NAMES, "builtin"})


class Found(NamedTuple):
    """Results for the programs of a folder: how many there are of each kind, and each that is reported differently."""

    counts: Counter[str]
    differences: list[str]


def compared(folder: Path) -> Found:
    """Returns what both make of the programs that use our dialects only."""
    result = Found(Counter(), [])
    for path, good in accepted(folder, result.counts):
        result.counts["compared"] += len(good)
        of_forms = [d for form in FORMS for d in comparison.differences(good, form)] if good else []
        refused = [(s, message) for s in good if (message := "; ".join(oracle.findings(s)))]
        result.counts["reported differently"] += len({d.source for d in of_forms} | {s for s, _ in refused})
        result.differences.extend([f"{path}, {d.form}:\n{d.lines}" for d in of_forms])
        result.differences.extend([f"{path}, refused: {message}" for _, message in refused])
    return result


def accepted(folder: Path, counts: Counter[str]) -> Iterator[tuple[Path, list[str]]]:
    """The programs of each file that mlir-opt accepts and that use our dialects only, each once; others are counted."""
    seen: set[str] = set()
    for path in sorted(folder.rglob("*.mlir")):
        sources = [s for s in dict.fromkeys(_programs(path)) if s not in seen]
        seen.update(sources)
        good: list[str] = []
        for source, answer in zip(sources, oracle.ask(sources, oracle.GENERIC), strict=True):
            if answer.text is None:
                counts["refused by mlir-opt"] += 1
            elif not set(_DIALECT.findall(answer.text)) <= _OURS:
                counts["of other dialects"] += 1
            else:
                good.append(source)
        yield path, good


def _programs(path: Path) -> Iterator[str]:
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return
    if len(text) <= _LARGEST_CHARACTERS:
        yield from (s.strip("\n") + "\n" for s in _SEPARATOR.split(text) if s.strip())
