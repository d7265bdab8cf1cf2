"""Suggests the nearest valid names, for messages about a name that does not exist.

It never changes what is accepted: a near miss is still an error, with a hint.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from commonir.base.text import escape

# difflib compares every pair of characters; longer names are never typing errors.
_MAX_LENGTH = 100
# A beginning of so many characters stands for the whole name.
_MIN_PREFIX = 3


def nearest(name: str, candidates: Iterable[str], limit: int = 3) -> tuple[str, ...]:
    """Returns the candidates most like a name, best first.

    Candidates that differ only in case, in `-` and `_`, or in the dialect or module prefix come before those that
    have a similar spelling.

    Example:
        >>> nearest("mil.convv", ["mil.conv", "mil.add", "mil.conv_transpose"], limit=1)
        ('mil.conv',)
        >>> nearest("Conv", ["core.conv", "mil.conv"])
        ('core.conv', 'mil.conv')
    """
    if not name or len(name) > _MAX_LENGTH:
        return ()
    pool = dict.fromkeys(candidates)
    expected = _folded(name)
    same = [candidate for candidate in pool if expected in (_folded(candidate), _folded(candidate.rpartition(".")[2]))]
    if len(expected) >= _MIN_PREFIX:
        same += (each for each in pool if _folded(each).startswith(expected) and each not in same)
    if len(same) < limit:
        # Only a message about a misspelt name pays for this import.
        from difflib import get_close_matches  # noqa: PLC0415

        same += (candidate for candidate in get_close_matches(name, pool, limit) if candidate not in same)
    return tuple(same[:limit])


def did_you_mean(name: str, candidates: Iterable[str]) -> str | None:
    """Returns a help line that offers the nearest names, or None when nothing is near.

    Example:
        >>> did_you_mean("convert_", ["convert", "run"])
        "did you mean 'convert'?"
    """
    return offered(nearest(name, candidates))


def did_you_mean_file(path: str) -> str | None:
    """Returns a help line that offers the files of a folder with names like that of a file that does not exist."""
    folder, name = os.path.split(path)
    try:
        return did_you_mean(name, [escape(each) for each in os.listdir(folder or ".")])
    except OSError:
        return None


def offered(names: Iterable[str]) -> str | None:
    """Returns a help line that offers names, or None when there are none."""
    quoted = [f"'{name}'" for name in names]
    if not quoted:
        return None
    return f"did you mean {' or '.join(filter(None, [', '.join(quoted[:-1]), quoted[-1]]))}?"


def _folded(name: str) -> str:
    return name.lower().replace("-", "_")
