"""How a stage of a file ended."""

from __future__ import annotations

import re
from enum import Enum
from typing import NamedTuple

from tests.wild.files import Case

_LONGEST = 110


class Verdict(Enum):
    """How a stage ended, from good to bad."""

    RIGHT = "right"
    """It did what it should; numbers agree with the oracle's."""
    OTHERS = "others"
    """The oracle refuses the file too, or what we wrote would need an input that it refuses."""
    REFUSED = "refused"
    """The tool says why it does not do this."""
    WRONG = "wrong"
    """Another result than the oracle's."""
    CRASH = "crash"
    """An exception without a finding, or the end of the process."""
    HANG = "hang"
    """No end in time."""


class Outcome(NamedTuple):
    """The outcome of a case. `measures` are numbers of the stage, such as counts of nodes and seconds by engine."""

    case: Case
    verdict: Verdict
    reason: str = ""
    seconds: float = 0.0
    measures: dict[str, float] = {}  # noqa: RUF012  never changed

    @property
    def kind_of_reason(self) -> str:
        """The reason without what belongs to one file: names, paths and numbers."""
        text = re.sub(r"'[^']*'|\"[^\"]*\"|%[\w.]+|/\S+", "_", self.reason)
        return re.sub(r"\d+(\.\d+)?(e[-+]?\d+)?", "#", text.partition("\n")[0])[:_LONGEST]


def ended(case: Case, reason: str) -> Outcome:
    """The outcome of a case whose process ended or was ended."""
    return Outcome(case, Verdict.HANG if reason.startswith("no end") else Verdict.CRASH, reason)
