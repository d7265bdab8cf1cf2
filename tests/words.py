"""Counts words of `tests/words.toml` in the tree, which its identifiers, messages and documents should not use.

Run with `python -m tests.words` to list the places of what rose, with `--places WORD [FOLDER]` for all places of a
word, and with `--update` after a clean-up to write the lower counts to `tests/word_counts.toml`. A count never rises
there, except where files moved from one package to another and the sum over the tree stayed.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeAlias

ROOT = Path(__file__).parents[1]
COUNTS = Path(__file__).with_name("word_counts.toml")
TREES = ("src", "tests", "docs", "benchmarks", "examples", ".ci")
SUFFIXES = frozenset({".py", ".pyi", ".md", ".toml", ".mlir", ".td", ".yml"})
# These name the words in order to replace them.
LEFT_OUT = frozenset({"tests/words.py", "tests/words.toml", "tests/word_counts.toml", "docs/glossary.md"})
# What `\b` is in a pattern with a blank, which also stands for `_`: an edge of a word inside of an identifier, too.
_EDGE = "(?:(?<![a-z0-9])(?=[a-z0-9])|(?<=[a-z0-9])(?![a-z0-9]))"

Counts: TypeAlias = dict[str, dict[str, int]]


@dataclass(frozen=True)
class Word:
    """A pattern that should not occur, and what to write instead."""

    name: str
    pattern: re.Pattern[str]
    instead: str
    catches: tuple[str, ...]
    allows: tuple[str, ...]


@dataclass(frozen=True)
class Use:
    """One place where a word is used."""

    path: Path
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text}"


@cache
def words() -> tuple[Word, ...]:
    """Returns the list of words."""
    table = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
    return tuple(
        Word(
            entry["name"],
            re.compile(_in_identifiers(entry["pattern"]), re.MULTILINE | re.IGNORECASE),
            entry["instead"],
            tuple(entry["catches"]),
            tuple(entry["allows"]),
        )
        for entry in table["words"]
    )


def _in_identifiers(pattern: str) -> str:
    """Returns a pattern that matches words with blanks also where an identifier or a file name has `_`."""
    return pattern.replace(" ", "[ _]").replace(r"\b", _EDGE) if " " in pattern else pattern


def files(folder: str = "") -> Iterator[Path]:
    """Yields the files of the tree below a folder, relative to the root, in order."""
    for tree in TREES if not folder else (folder,):
        for path in sorted((ROOT / tree).rglob("*")):
            relative = path.relative_to(ROOT)
            is_read = path.suffix in SUFFIXES or (tree == ".ci" and path.is_file())
            if is_read and "__pycache__" not in path.parts and relative.as_posix() not in LEFT_OUT:
                yield relative
    if not folder:
        yield from (path.relative_to(ROOT) for path in sorted(ROOT.iterdir()) if path.suffix in SUFFIXES)


def _name_and_text(path: Path) -> str:
    """Returns the name of a file and then its content, whose first line is so the second one."""
    return f"{path.stem}\n{(ROOT / path).read_text(encoding='utf-8')}"


def package_of(path: Path) -> str:
    """Returns the folder by which uses are counted: `src/commonir/ir`, `tests/ir`, `docs`."""
    depth = {"src": 3, "tests": 2}.get(path.parts[0], 1)
    return "/".join(path.parts[: min(depth, len(path.parts) - 1)]) or "."


def count(paths: Iterable[Path]) -> Counts:
    """Returns how often each word is used in each package."""
    counts: Counts = {}
    for path in paths:
        text = _name_and_text(path)
        for word in words():
            if number := len(word.pattern.findall(text)):
                package = counts.setdefault(package_of(path), {})
                package[word.name] = package.get(word.name, 0) + number
    return counts


def uses(word: Word, paths: Iterable[Path]) -> Iterator[Use]:
    """Yields each place where a word is used."""
    for path in paths:
        text = _name_and_text(path)
        for match in word.pattern.finditer(text):
            start = match.end() - len(match[0].lstrip())
            line_start, line_end = text.rfind("\n", 0, start) + 1, text.find("\n", start)
            line = text[line_start : line_end if line_end >= 0 else len(text)]
            yield Use(path, text.count("\n", 0, start), line.strip())


def recorded() -> Counts:
    """Returns the counts that are left to remove."""
    return tomllib.loads(COUNTS.read_text(encoding="utf-8")) if COUNTS.exists() else {}


def rises(now: Counts, before: Counts) -> list[str]:
    """Returns a message for each word that a package uses more often than before, with its places."""
    messages: list[str] = []
    for package, counts in sorted(now.items()):
        for word in words():
            number, limit = counts.get(word.name, 0), before.get(package, {}).get(word.name, 0)
            if number > limit:
                places = uses(word, (path for path in files() if package_of(path) == package))
                messages.append(
                    f"{package} uses {word.name!r} {number} times instead of {limit}; write {word.instead}:\n"
                    + "\n".join(f"  {place}" for place in places)
                )
    return messages


def falls(now: Counts, before: Counts) -> list[str]:
    """Returns a message for each count that can be lowered."""
    return [
        f"{package} uses {name!r} {now.get(package, {}).get(name, 0)} times instead of {number}: "
        "run `python -m tests.words --update`"
        for package, counts in sorted(before.items())
        for name, number in counts.items()
        if now.get(package, {}).get(name, 0) < number
    ]


def totals(counts: Counts) -> Counter[str]:
    """Returns how often each word is used in the tree."""
    return sum((Counter(package) for package in counts.values()), Counter[str]())


def lowered(now: Counts, before: Counts) -> Counts:
    """Returns the new counts: the lower ones, and those of now where a word's sum over the tree did not rise.

    A word that was never counted enters with the counts of now.
    """
    before_total, now_total = totals(before), totals(now)
    result: Counts = {}
    for package in sorted({*now, *before}):
        row: dict[str, int] = {}
        for word in words():
            number, limit = now.get(package, {}).get(word.name, 0), before.get(package, {}).get(word.name, 0)
            moved = word.name not in before_total or now_total[word.name] <= before_total[word.name]
            if preserved := number if moved else min(number, limit):
                row[word.name] = preserved
        if row:
            result[package] = row
    return result


def write(counts: Counts) -> None:
    """Writes the counts that are left."""
    tables = [
        f'["{package}"]\n' + "".join(f'"{name}" = {number}\n' for name, number in row.items())
        for package, row in counts.items()
    ]
    COUNTS.write_text(
        "# Uses of the words of words.toml that are left, by package. Lower it: `python -m tests.words --update`.\n\n"
        + "\n".join(tables),
        encoding="utf-8",
    )


def main(arguments: list[str]) -> int:
    """Lists places, or updates the counts; returns the exit status."""
    match arguments:
        case ["--places", name, *folders]:
            expected = [word for word in words() if word.name == name]
            for word in expected:
                for place in uses(word, files(*folders)):
                    sys.stdout.write(f"{place}\n")
            return 0 if expected else 2
        case ["--update"]:
            write(lowered(count(files()), recorded()))
            return 0
        case []:
            messages = rises(count(files()), recorded())
            sys.stdout.write("".join(f"{message}\n" for message in messages))
            return 1 if messages else 0
        case _:
            sys.stderr.write(f"{__doc__}\n")
            return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
