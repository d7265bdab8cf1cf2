"""The normative statements of a specification, each with cases that obey and that break it.

`DOCUMENT.toml` lists them in the order of the document:

    document = "Model File Format"      # the title of the document
    summary = "..."                     # the sentence below the title of the generated page

    [bases]                             # texts that cases change
    main = '''...'''

    [[statement]]
    id = "unique-node-ids"              # names the tests: `test_ark.py -k unique-node-ids`
    section = "Node"                    # where the document says it
    says = "every node has its own ID"  # in our words
    rule = "E0411"                      # diagnostic codes and rule labels, or what the definition derives it from
    note = "..."                        # where real files and tools differ, and how it was decided; optional

    [[statement.obeys]]                 # the base `main` as it is
    [[statement.obeys]]
    text = '''...'''                    # a whole text instead of a base
    [[statement.breaks]]
    base = "main"                       # may be omitted
    replace = [["\"Id\": 2", "\"Id\": 1"]]  # each first text occurs in the base
    message = "E0411: two nodes have the ID 1"  # part of the code and message of a finding

A statement without a case that obeys or breaks it says why: `permission = true` if nothing can break it (a MAY), or
`test = "tests/PATH.py::FUNCTION"` if Python is needed to show it. Other keys of a case, such as `inputs` and `outputs`
of a run, are for the test of the document: `Case.other`.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from commonir.base.records import Record

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]


class Case(Record):
    """A text, and for one that breaks a statement part of the finding that it must have."""

    text: str
    message: str = ""
    other: Mapping[str, object] = {}


class Statement(Record):
    """One normative statement."""

    id: str
    section: str
    says: str
    rule: str
    obeys: tuple[Case, ...] = ()
    breaks: tuple[Case, ...] = ()
    test: str = ""
    note: str = ""
    permission: bool = False


class Document(Record):
    """A specification: its title, its statements in order, and the texts that its cases change, by name."""

    name: str
    title: str
    summary: str
    statements: tuple[Statement, ...]
    bases: Mapping[str, str]

    def cases(self, kind: str) -> Iterator[tuple[str, Case]]:
        """Yields the cases that obey or break a statement, each with an id for the test."""
        for statement in self.statements:
            of_kind = statement.obeys if kind == "obeys" else statement.breaks
            for i, case in enumerate(of_kind):
                yield (statement.id if len(of_kind) == 1 else f"{statement.id}-{i}"), case


def documents() -> list[str]:
    """Returns the names of all documents."""
    return sorted(p.stem for p in FOLDER.glob("*.toml"))


@cache
def read(name: str) -> Document:
    """Returns the statements of a document."""
    table = tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8"))
    bases: dict[str, str] = table["bases"]
    return Document(
        name,
        table["document"],
        table["summary"],
        tuple(
            Statement(
                **entry
                | {kind: tuple(_case(bases, each) for each in entry.get(kind, ())) for kind in ("obeys", "breaks")}
            )
            for entry in table.get("statement", ())
        ),
        bases,
    )


def _case(bases: Mapping[str, str], entry: Mapping[str, Any]) -> Case:
    text: str = entry.get("text") or bases[entry.get("base", "main")]
    for old, new in entry.get("replace", ()):
        assert old in text, f"{old!r} does not occur in the text that it is replaced in"
        text = text.replace(old, new)
    other = {key: value for key, value in entry.items() if key not in ("text", "base", "replace", "message")}
    return Case(text, entry.get("message", ""), other)


def faults(document: Document) -> Iterator[str]:
    """Yields the faults of a list of statements: repeated ids, missing cases, tests that do not exist."""
    seen: set[str] = set()
    for statement in document.statements:
        where = f"{document.name}: {statement.id}"
        if statement.id in seen:
            yield f"{where}: the id occurs twice"
        seen.add(statement.id)
        if statement.test:
            yield from (f"{where}: {fault}" for fault in _faults_of_test(statement.test))
        elif not statement.obeys:
            yield f"{where}: no case obeys it"
        elif not statement.breaks and not statement.permission:
            yield f"{where}: no case breaks it"
        yield from (f"{where}: a case that breaks it has no message" for case in statement.breaks if not case.message)


def _faults_of_test(test: str) -> Iterator[str]:
    path, _, function = test.partition("::")
    if not (ROOT / path).is_file():
        yield f"there is no {path}"
    elif function not in _functions_of(path):
        yield f"{path} has no function {function!r}"


@cache
def _functions_of(path: str) -> frozenset[str]:
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def page_lines(document: Document) -> Iterator[str]:
    """Yields the table of a document as Markdown, one row for each statement."""
    yield from ("| statement | section | rule | test |", "|-|-|-|-|")
    for statement in document.statements:
        says = f"{statement.says}. {statement.note}" if statement.note else statement.says
        test = statement.test or f"`{statement.id}` of `tests/specifications/test_{document.name}.py`"
        yield f"| {_cell(says)} | {_cell(statement.section)} | {_cell(statement.rule)} | {_cell(test)} |"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
