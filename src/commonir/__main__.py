"""`cir` and `python -m commonir` are the command line."""

from __future__ import annotations

import sys

from commonir.base.collecting import end_without_search, search_rarely


def main() -> int:
    """Runs the command line of this process and returns its exit status."""
    search_rarely()
    end_without_search()
    # Loading the commands makes many objects, too.
    from commonir.cli.main import main as run  # noqa: PLC0415

    return run()


if __name__ == "__main__":
    sys.exit(main())
