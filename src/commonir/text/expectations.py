"""Expected diagnostics in comments of a text, as for mlir-opt's option `--verify-diagnostics`.

    // expected-error@+1 {{a part of the message}}

A comment is on the line of the finding, or names the line: `@+N`, `@-N`, `@above` and `@below` (the nearest
line without such a comment), `@unknown` (anywhere). `-re` after the kind makes the text in inner `{{..}}` a regular
expression. An expected note is found among the notes of any finding.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from commonir.base.diagnostics import Diagnostic, Severity
from commonir.base.file_codes import EXPECTATION_NOT_MET, MALFORMED_EXPECTATION
from commonir.base.lazy import lazy_pattern
from commonir.base.tuples import NamedTuple
from commonir.text.pieces import Piece

_COMMENT = lazy_pattern(
    r"expected-(?P<kind>error|warning|remark|note)(?P<pattern>-re)?[ \t]*"
    r"(?:@(?P<place>[+-]\d{1,9}|above|below|unknown))?[ \t]*\{\{(?P<text>.*)\}\}[ \t]*\r?$",
    re.MULTILINE,
)

_SEVERITIES = {"error": Severity.ERROR, "warning": Severity.WARNING, "remark": Severity.NOTE}


class Expectation(NamedTuple):
    """An expected finding."""

    kind: str
    message: re.Pattern[str]
    text: str
    stated_at: int
    """The line of the comment."""
    line: int | None
    """The line of the finding; None: any."""

    def is_met_by(self, found: Diagnostic) -> bool:
        """Returns whether a diagnostic is the expected one."""
        if self.kind == "note":
            return any(self.message.search(note) for note in found.notes)
        is_there = self.line is None or self.line == found.line
        return is_there and found.severity is _SEVERITIES[self.kind] and bool(self.message.search(found.message))


def unexpected(piece: Piece, found: Iterable[Diagnostic], file: str) -> list[Diagnostic]:
    """Returns the unexpected findings of a program, and a finding for each comment that is not met (E0247) or
    malformed (E0248).
    """
    expected, wrong = _expectations(piece, file)
    left = [e for e in expected if e.kind != "note"]
    others: list[Diagnostic] = []
    everything = list(found)
    for diagnostic in everything:
        met = next((e for e in left if e.is_met_by(diagnostic)), None)
        if met is None:
            others.append(diagnostic)
        else:
            left.remove(met)
    left += [e for e in expected if e.kind == "note" and not any(map(e.is_met_by, everything))]
    for missing in sorted(left, key=lambda e: e.stated_at):
        text = f'expected {missing.kind} "{missing.text}" was not found'
        where = "" if missing.line is None else f"expected on line {missing.line}"
        wrong.append(Diagnostic(EXPECTATION_NOT_MET, text, file=file, line=missing.stated_at, where=where))
    return [*others, *wrong]


def _expectations(piece: Piece, file: str) -> tuple[list[Expectation], list[Diagnostic]]:
    lines = piece.text.split("\n")
    announcing = [_COMMENT.search(line) for line in lines]
    out: list[Expectation] = []
    wrong: list[Diagnostic] = []
    for index, comment in enumerate(announcing):
        if comment is None:
            continue
        stated_at = piece.lines_before + index + 1
        text = comment["text"]
        try:
            message = re.compile(_expression(text) if comment["pattern"] else re.escape(text))
        except re.error as error:
            problem = f"'{text}' is not a regular expression: {error}"
            wrong.append(Diagnostic(MALFORMED_EXPECTATION, problem, file=file, line=stated_at))
            continue
        target = _target_line(comment["place"], index, announcing)
        line = None if target is None else piece.lines_before + target + 1
        out.append(Expectation(comment["kind"], message, text, stated_at, line))
    return out, wrong


def _expression(text: str) -> str:
    """Returns the regular expression of a message whose parts in `{{..}}` are regular expressions."""
    out, rest = "", text
    while rest:
        before, opening, after = rest.partition("{{")
        out += re.escape(before)
        if not opening:
            break
        inner, closing, rest = after.partition("}}")
        if not closing:
            return out + re.escape(opening + after)
        out += f"(?:{inner})"
    return out


def _target_line(place: str | None, index: int, announcing: Sequence[re.Match[str] | None]) -> int | None:
    """Returns the index of the line that a comment refers to; None for any."""
    match place:
        case None:
            return index
        case "unknown":
            return None
        case "above" | "below":
            step = -1 if place == "above" else 1
            at = index + step
            while 0 <= at < len(announcing) and announcing[at] is not None:
                at += step
            return at
        case _:
            return index + int(place)
