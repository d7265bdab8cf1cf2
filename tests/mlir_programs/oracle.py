"""Results of mlir-opt for many programs at once, and ours for one."""

from __future__ import annotations

import re
import subprocess
from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from commonir.base.diagnostics import DiagnosticError
from commonir.ods import Dialects
from commonir.ods.verify import verify
from commonir.text.parser import parse_module
from commonir.text.printer import Naming, print_module

from tests.oracles import mlir_opt

SEPARATOR = "// -----"
GENERIC = "--mlir-print-op-generic"
LOCATIONS = "--mlir-print-debuginfo"
_BASE = ("--allow-unregistered-dialect", "--split-input-file")
DIALECTS = Dialects()


class Answer(NamedTuple):
    """The result of mlir-opt for a program: the text it prints, None when it refuses; its message then."""

    text: str | None
    message: str


def ask(sources: Sequence[str], *options: str) -> list[Answer]:
    """Returns what mlir-opt makes of each of some programs. One that makes it crash is refused."""
    if not sources:
        return []
    joined = f"\n{SEPARATOR}\n".join(sources)
    # Its own verification of what it prints is off: programs that are wrong are to be refused while they are read.
    result = subprocess.run([mlir_opt(), *_BASE, *options], input=joined, capture_output=True, text=True, check=False)
    parts = result.stdout.split(f"{SEPARATOR}\n")
    if len(parts) != len(sources) or result.returncode < 0:
        if len(sources) == 1:
            return [Answer(None, f"crashed: {result.returncode}")]
        middle = len(sources) // 2
        return [*ask(sources[:middle], *options), *ask(sources[middle:], *options)]
    messages = _messages(result.stderr, sources)
    return [Answer(p if p.strip() else None, m) for p, m in zip(parts, messages, strict=True)]


_PLACE = re.compile(r"^<stdin>:(\d+):\d+: error: (.*)$", re.MULTILINE)


def first_place(source: str) -> tuple[int, int] | None:
    """The line and column of the first error of a program."""
    result = subprocess.run([mlir_opt(), *_BASE], input=source, capture_output=True, text=True, check=False)
    place = re.search(r"^<stdin>:(\d+):(\d+): error: ", result.stderr, re.MULTILINE)
    return None if place is None else (int(place[1]), int(place[2]))


def _messages(stderr: str, sources: Sequence[str]) -> list[str]:
    """The first error of each program, found by its line."""
    out = [""] * len(sources)
    starts = lines_before(sources)
    for match in _PLACE.finditer(stderr):
        number = bisect_left(starts, int(match[1])) - 1
        out[number] = out[number] or match[2]
    return out


def lines_before(sources: Sequence[str]) -> list[int]:
    """How many lines stand before each of some programs where mlir-opt is given them together."""
    out = [0]
    for s in sources[:-1]:
        out.append(out[-1] + s.count("\n") + 2)
    return out


def ours(source: str, *, generic: bool = False, locations: bool = False, before: int = 0) -> str:
    """How we print a program, `before` lines into its file. Raises: DiagnosticError when it cannot be read."""
    module = parse_module(source, DIALECTS, file="<stdin>", lines_before=before)
    return print_module(module, generic=generic, locations=locations, elide=None, naming=Naming.MLIR, dialects=DIALECTS)


def findings(source: str) -> list[str]:
    """Returns our findings for a program; unknown operations are allowed, as by the option of mlir-opt."""
    try:
        diagnostics = verify(parse_module(source, DIALECTS), DIALECTS)
    except DiagnosticError as error:
        return [str(d.message) for d in error.diagnostics]
    return [d.message for d in diagnostics if "unknown operation" not in d.message]
