"""The cases that are known not to pass, each with its reason, as `remaining.toml` lists them by way of running."""

from __future__ import annotations

import json
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.onnx_suite.outcomes import Outcome, Verdict

_FILE = Path(__file__).with_name("remaining.toml")
_HEADER = """\
# Cases of the suite that do not pass, by way of running them and by reason. A case that passes must not be listed.
# `python -m tests.onnx_suite [--to ROUTE] --remember` brings the file up to date and keeps the reasons it has.
"""


def remaining(route: str) -> dict[str, str]:
    """The reasons by name of case, for one way of running them."""
    return _read().get(_key(route), {})


def remember(route: str, outcomes: Iterable[Outcome]) -> None:
    """Writes which of some cases do not pass; those that had a reason keep it."""
    every = _read()
    known = every.setdefault(_key(route), {})
    for outcome in outcomes:
        if outcome.verdict is Verdict.PASS:
            known.pop(outcome.case.name, None)
        else:
            known.setdefault(outcome.case.name, outcome.reason)
    _FILE.write_text(_HEADER + "".join(_section(key, reasons) for key, reasons in sorted(every.items())))


def _key(route: str) -> str:
    return route or "run"


def _read() -> dict[str, dict[str, str]]:
    """The reasons by way of running and name of case. Raises: ValueError for a case that is listed twice."""
    results: dict[str, dict[str, str]] = {}
    for route, entries in tomllib.loads(_FILE.read_text()).items():
        reasons = results.setdefault(route, {})
        for entry in entries:
            for name in entry["cases"]:
                if name in reasons:
                    raise ValueError(f"{_FILE.name}: {name} is listed twice")
                reasons[name] = entry["reason"]
    return results


def _section(route: str, reasons: Mapping[str, str]) -> str:
    groups: dict[str, list[str]] = defaultdict(list)
    for name, reason in sorted(reasons.items()):
        groups[reason].append(name)
    lines: list[str] = []
    for reason, names in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])):
        lines += ["", f"[[{route}]]", f"reason = {json.dumps(reason)}", "cases = ["]
        lines += [f"    {json.dumps(name)}," for name in names]
        lines.append("]")
    return "\n".join(lines) + "\n"
