"""Settings that hold for all tests."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Generator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import settings

from tests import time_limit
from tests.passed_tests import PassedTests

_ROOT = Path(__file__).parents[1]

# A busy machine is not a fault of the code; examples that failed are reprinted in full.
settings.register_profile("everything", deadline=None, print_blob=True)
# The selection without slow tests looks at a quarter of the examples.
settings.register_profile("fast", settings.get_profile("everything"), max_examples=25)

# Processes that tests start would compile the tree anew each time, which takes longer than what most of them do.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Tests say themselves where compiled code is stored.
os.environ["COMMONIR_CACHE_MB"] = "0"

# What a shell starts in the background ignores the key that interrupts, and so would what tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config: pytest.Config) -> None:
    """Chooses how many examples properties have, gives child processes the tree, and limits the time of fast tests."""
    is_fast = config.getoption("markexpr") == "not slow"
    settings.load_profile("fast" if is_fast else "everything")
    tree = [str(_ROOT / "src"), str(_ROOT)]
    others = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path and path not in tree]
    os.environ["PYTHONPATH"] = os.pathsep.join([*tree, *others])
    if is_fast:
        config.pluginmanager.register(time_limit, "time_limit")
    config.pluginmanager.register(PassedTests(config), "passed_tests")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    """Marks cases as slow that `slow_cases` names or `fast_every` leaves out, before `-m` selects."""
    for item in items:
        if isinstance(item, pytest.Function) and hasattr(item, "callspec"):
            patterns = [p for mark in item.iter_markers("slow_cases") for p in mark.args]
            steps = [mark.args[0] for mark in item.iter_markers("fast_every")]
            if any(fnmatchcase(item.callspec.id, p) for p in patterns) or any(_number_of(item) % n for n in steps):
                item.add_marker(pytest.mark.slow)


def _number_of(item: pytest.Function) -> int:
    """Returns a number of a case: of several parametrizations the sum, and from a number that differs between tests.

    It is the same whichever tests are collected. Tests of the same cases so keep different ones.
    """
    names = [mark.args[0] for mark in item.iter_markers("parametrize")]
    first = [name.split(",")[0].strip() if isinstance(name, str) else name[0] for name in names]
    return sum([item.callspec.indices[name] for name in first], crc32(item.originalname.encode()))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Leaves the tests themselves, which stay, out of every search for garbage.

    A quarter of the time of collecting them would go into such searches.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()
