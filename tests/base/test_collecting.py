"""When the search for cycles runs."""

from __future__ import annotations

import gc
import subprocess
import sys
from weakref import ref

from commonir.base.collecting import no_collection

from tests.cli.conftest import environment


def test_no_search_runs_where_it_is_put_off_and_it_is_on_again_afterwards() -> None:
    assert gc.isenabled()
    with no_collection():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_unreferenced_programs_are_collected_though_collection_is_deferred() -> None:
    class Cycle:
        """Refers to itself, and to much."""

        def __init__(self) -> None:
            self.own = self
            self.held: list[list[int]] = [[] for _ in range(10_000)]

    gc.collect()
    results: list[ref[Cycle]] = []
    for _ in range(100):
        with no_collection():
            results.append(ref(Cycle()))
    assert len([r for r in results if r() is not None]) < 50


def test_a_program_is_old_at_once_in_a_process_of_our_own() -> None:
    program = """
import gc
from commonir.base.collecting import no_collection, search_rarely
for own in (False, True):
    if own:
        search_rarely()
    with no_collection():
        built = [[]]
    print(any(o is built for o in gc.get_objects(generation=2)))
"""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, env=environment(), text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


def test_a_process_of_our_own_searches_rarely_and_another_as_it_likes() -> None:
    other = str(gc.get_threshold()[0])
    for module, expected in (("commonir.__main__", "200000"), ("commonir.cli.main", other)):
        program = f"import gc, sys\nfrom {module} import main\nsys.argv = ['cir', '--version']\nmain()\n"
        done = subprocess.run(
            [sys.executable, "-c", program + "print(gc.get_threshold()[0])"],
            capture_output=True,
            env=environment(),
            text=True,
            check=True,
        )
        assert done.stdout.splitlines()[-1] == expected
