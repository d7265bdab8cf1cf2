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


def test_what_was_made_meanwhile_is_old_and_is_found_by_a_search_of_all() -> None:
    class Circle:
        """Refers to itself."""

        def __init__(self) -> None:
            self.own = self

    gc.collect()
    with no_collection():
        found = ref(Circle())
    gc.collect(1)
    assert found() is not None
    gc.collect()
    assert found() is None


def test_a_process_of_our_own_searches_rarely_and_another_as_it_likes() -> None:
    for arguments, expected in (("None", "200000"), ("['--version']", str(gc.get_threshold()[0]))):
        program = (
            f"import gc, sys\nfrom commonir.cli.main import main\nsys.argv = ['cir', '--version']\nmain({arguments})\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", program + "print(gc.get_threshold()[0])"],
            capture_output=True,
            env=environment(),
            text=True,
            check=True,
        )
        assert done.stdout.splitlines()[-1] == expected
