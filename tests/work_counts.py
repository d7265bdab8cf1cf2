"""Counts what a piece of work takes in calls or lines: the same in every run, which seconds are not."""

from __future__ import annotations

import sys
from collections.abc import Callable
from cProfile import Profile
from types import FrameType
from typing import Any

from commonir.base.collecting import no_collection


def calls_of(work: Callable[[], object]) -> int:
    """How many functions are called."""
    profile = Profile()
    # What is called when something goes that tests before this one left behind does not count.
    with no_collection():
        profile.enable()
        try:
            work()
        finally:
            profile.disable()
    return sum(entry.callcount for entry in profile.getstats())


def lines_of(work: Callable[[], object]) -> int:
    """How many lines of Python run, each round of a loop or a comprehension counted."""
    count = 0

    def trace(_frame: FrameType, event: str, _given: object) -> Callable[[FrameType, str, object], Any]:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    with no_collection():
        sys.settrace(trace)
        try:
            work()
        finally:
            sys.settrace(before)
    return count
