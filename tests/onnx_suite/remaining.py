"""The cases that are known not to pass, each with its reason, as `remaining.toml` lists them."""

from __future__ import annotations

import tomllib
from pathlib import Path

_FILE = Path(__file__).with_name("remaining.toml")


def remaining(route: str) -> dict[str, str]:
    """The reasons by name of case, for one way of running them.

    Raises: ValueError for a case that is listed twice.
    """
    reasons: dict[str, str] = {}
    for entry in tomllib.loads(_FILE.read_text()).get(route, []):
        for name in entry["cases"]:
            if name in reasons:
                raise ValueError(f"{_FILE.name}: {name} is listed twice")
            reasons[name] = entry["reason"]
    return reasons
