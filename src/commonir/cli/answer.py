"""The answer of a command, written as text or as a versioned JSON document.

The document has the fields of `DOCUMENT_FIELDS`. The number in its schema does not change when a field is added.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from typing import TYPE_CHECKING

from commonir.base.diagnostics import Diagnostic, DiagnosticError, ExitStatus
from commonir.base.text import plural
from commonir.cli.findings import write_finding
from commonir.cli.terminal import Style, Terminal, quiet_pipes
from commonir.reports.columns import Column

if TYPE_CHECKING:
    from commonir.reports import JsonValue, OperationEntry

_SCHEMA_VERSION = 1
MOST_FINDINGS = 20
"""The number of findings shown on a terminal, as by clang."""


MOST_LISTED = 10_000
"""The number of findings that are written where they are not shown on a terminal, also as JSON."""

DOCUMENT_FIELDS = {
    "schema": "the verb, and a number that changes when a field changes its meaning or is removed",
    "ok": "whether the exit status is 0",
    "result": "the result of the command; null if there is none",
    "diagnostics": f"the findings, at most {MOST_LISTED:,}",
    "more_diagnostics": "the number of findings that are not listed; absent when all are",
}
"""The fields of the JSON document of an answer, with their meaning."""


class Answer:
    """The outcome of a command: a result for `--json`, the same as text, and the exit status."""

    __slots__ = ("result", "status", "write")

    def __init__(
        self, result: JsonValue, write: Callable[[Terminal], None], status: ExitStatus = ExitStatus.YES
    ) -> None:
        self.result = result
        self.write = write
        self.status = status

    @classmethod
    def refused(cls, *findings: Diagnostic) -> Answer:
        """Returns an answer without a result, because of findings."""
        return cls(None, lambda _: None, DiagnosticError(*findings).status)


def listed_operations(operations: Sequence[OperationEntry]) -> Answer:
    """Returns an answer that lists operations."""
    rows = [(entry.name, _since(entry), entry.summary) for entry in operations]
    columns = [Column("operation"), Column("since"), Column("")]
    return Answer([entry.to_json() for entry in operations], lambda out: out.table(columns, rows))


def _since(entry: OperationEntry) -> str:
    """Returns the version that added an operation, with the first of its systems."""
    return f"{entry.since} ({entry.systems.partition(' / ')[0]})" if entry.systems else entry.since


def write_answer(
    answer: Answer,
    findings: Sequence[Diagnostic],
    verb: str,
    out: Terminal,
    err: Terminal,
    is_json: bool,
    most: int | None = MOST_FINDINGS,
) -> int:
    """Writes an answer and returns the exit status. A terminal shows no more than `most` findings."""
    with quiet_pipes():
        if is_json:
            out.raw(envelope(answer, findings, verb))
        else:
            limit = MOST_LISTED if most is None or not err.is_terminal else most
            shown = limit if len(findings) > limit + 1 else len(findings)
            for finding in findings[:shown]:
                write_finding(finding, err)
            if shown < len(findings):
                more = plural(len(findings) - shown, "finding")
                way = "" if limit == MOST_LISTED else ": `cir check --all`, or redirect them to a file"
                err.line(f"and {more} more{way}", Style.STRONG)
            answer.write(out)
        out.stream.flush()
    return int(answer.status)


def envelope(answer: Answer, findings: Sequence[Diagnostic], verb: str) -> str:
    """Returns the JSON document of an answer."""
    # Only `--json` pays for this import.
    import json  # noqa: PLC0415

    document: dict[str, object] = {
        "schema": f"commonir.{verb}/{_SCHEMA_VERSION}",
        "ok": answer.status is ExitStatus.YES,
        "result": _plain(answer.result),
        "diagnostics": [finding.to_json(in_python=False) for finding in findings[:MOST_LISTED]],
    }
    if len(findings) > MOST_LISTED:
        document["more_diagnostics"] = len(findings) - MOST_LISTED
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def _plain(value: JsonValue) -> JsonValue:
    """Replaces numbers that JSON cannot represent by `"nan"`, `"inf"`, `"-inf"`."""
    match value:
        case float() if not isfinite(value):
            return str(value)
        case dict():
            return {key: _plain(part) for key, part in value.items()}
        case list() | tuple():
            return [_plain(part) for part in value]
        case _:
            return value
